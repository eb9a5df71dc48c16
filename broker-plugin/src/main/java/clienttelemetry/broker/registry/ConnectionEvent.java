package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.identifiers.IdentifierRules;
import java.util.List;

/** Encodes the contract's message of that name, from field 5 on. */
final class ConnectionEvent {
    /** The contract's numbers. */
    enum Kind {
        OPENED(1),
        ACTIVE(2),
        CLOSED(3),
        AUTHENTICATION_FAILED(4),
        SUMMARY(5);

        private final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    private final Kind kind;
    private final long observedNanos;
    private final ClientConnection client;
    long openedNanos;
    long lastRequestNanos;
    /** Null: none of it is told. */
    ClientUse use;
    String failureReason;
    /** How many connections or failures it stands for; 0 where that is not said. */
    long connections;

    ConnectionEvent(Kind kind, long observedNanos, ClientConnection client) {
        this.kind = kind;
        this.observedNanos = observedNanos;
        this.client = client;
    }

    DumpRecord record(IdentifierRules identifiers) {
        ProtobufWriter out = new ProtobufWriter(512);
        out.fixed64(5, observedNanos)
                .message(6, client.encode(identifiers))
                .varint(7, kind.number)
                .fixed64(8, openedNanos)
                .fixed64(9, lastRequestNanos);
        List<String> cut = client.cutFields();
        if (use != null) {
            use.encode(out, identifiers);
            use.cutFields(cut);
        }
        out.presentString(13, failureReason);
        if (connections > 0) {
            out.present(14, connections);
        }
        cut.forEach(field -> out.presentString(15, field));
        return new DumpRecord(Dataset.CONNECTIONS, observedNanos, out.toBytes(), null);
    }
}
