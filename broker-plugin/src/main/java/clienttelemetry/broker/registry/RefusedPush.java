package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.identifiers.IdentifierRules;
import java.nio.ByteBuffer;
import org.apache.kafka.common.Uuid;

/**
 * A push that the broker refused before any plugin saw it, from its line in the request log: which client, which
 * instance, and the error code of KIP-714. Its payload is not kept.
 */
final class RefusedPush {
    private static final int NOT_KNOWN = -1;

    private RefusedPush() {}

    /** Null for a push that was taken, which the plugin got itself. */
    static DumpRecord of(RequestLogLine line, ClientConnection client, long nanos, IdentifierRules identifiers) {
        int error = line.errorCode();
        if (error <= 0) {
            return null;
        }
        ProtobufWriter fields = new ProtobufWriter(384);
        fields.fixed64(5, nanos).message(6, client.encode(identifiers));
        byte[] instance = instance(line.textInRequest("\"clientInstanceId\":"));
        fields.bytes(7, instance)
                .varint(8, line.requestHas("\"terminating\":true") ? 1 : 0)
                .string(9, "OTLP");
        int compression = line.numberIn("\"request\":{", "\"compressionType\":");
        fields.varint(10, compression < 0 ? NOT_KNOWN : compression);
        Integer subscription = line.signedIn("\"request\":{", "\"subscriptionId\":");
        if (subscription != null) {
            fields.present(14, subscription);
        }
        fields.present(15, error);
        return new DumpRecord(Dataset.CLIENT_PUSHES, nanos, fields.toBytes(), null);
    }

    /** 16 bytes; none where the text is no UUID of Kafka's form. */
    private static byte[] instance(String text) {
        try {
            Uuid id = Uuid.fromString(text);
            return ByteBuffer.allocate(16).putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).array();
        } catch (RuntimeException e) {
            return new byte[0];
        }
    }
}
