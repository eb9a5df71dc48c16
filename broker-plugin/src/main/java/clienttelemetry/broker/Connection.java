package clienttelemetry.broker;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A connection as far as the log tells of it. Guarded by its own monitor. */
final class Connection {
    /** The contract's numbers. */
    enum Event {
        OPENED(1),
        ACTIVE(2),
        CLOSED(3);

        private final int number;

        Event(int number) {
            this.number = number;
        }
    }

    private static final int MAX_IDS = 16;

    final ClientConnection client = new ClientConnection();
    final long openedNanos;
    /** A client of a broker itself, which is left out. */
    boolean isOfBroker;
    long lastRequestNanos;
    /** Null while it is open, as far as is known. */
    Long closedNanos;
    boolean hasNewRequests;
    private final List<ApiUse> uses = new ArrayList<>(8);
    private final Set<String> groups = new LinkedHashSet<>(2);
    private final Set<String> transactionalIds = new LinkedHashSet<>(2);

    Connection(String id, long openedNanos) {
        client.connectionId(id);
        this.openedNanos = openedNanos;
    }

    boolean hasRequests() {
        return !uses.isEmpty();
    }

    void count(int apiKey, int version, boolean isRejected, long nanos) {
        lastRequestNanos = Math.max(lastRequestNanos, nanos);
        hasNewRequests = true;
        ApiUse use = use(apiKey, version, nanos);
        if (isRejected) {
            use.rejected++;
        } else {
            use.requests++;
        }
        use.lastNanos = Math.max(use.lastNanos, nanos);
    }

    private ApiUse use(int apiKey, int version, long nanos) {
        for (ApiUse each : uses) {
            if (each.apiKey == apiKey && each.version == version) {
                return each;
            }
        }
        ApiUse use = new ApiUse(apiKey, version, nanos);
        uses.add(use);
        return use;
    }

    void addGroup(String id) {
        add(groups, id);
    }

    void addTransactionalId(String id) {
        add(transactionalIds, id);
    }

    private static void add(Set<String> ids, String id) {
        if (id != null && !id.isEmpty() && ids.size() < MAX_IDS) {
            ids.add(id);
        }
    }

    DumpRecord event(Event kind, long observedNanos) {
        ProtobufWriter out = new ProtobufWriter(512);
        out.fixed64(5, observedNanos)
                .message(6, client.encode())
                .varint(7, kind.number)
                .fixed64(8, openedNanos)
                .fixed64(9, lastRequestNanos);
        if (kind != Event.OPENED) {
            for (ApiUse use : uses) {
                out.message(10, use.encode());
            }
            groups.forEach(id -> out.presentString(11, id));
            transactionalIds.forEach(id -> out.presentString(12, id));
        }
        return new DumpRecord(Dataset.CONNECTIONS, observedNanos, out.toBytes(), null);
    }

    private static final class ApiUse {
        final int apiKey;
        final int version;
        final long firstNanos;
        long lastNanos;
        long requests;
        long rejected;

        ApiUse(int apiKey, int version, long nanos) {
            this.apiKey = apiKey;
            this.version = version;
            firstNanos = nanos;
        }

        ProtobufWriter encode() {
            return new ProtobufWriter(48)
                    .varint(1, apiKey)
                    .varint(2, version)
                    .varint(3, requests)
                    .varint(4, rejected)
                    .fixed64(5, firstNanos)
                    .fixed64(6, lastNanos);
        }
    }
}
