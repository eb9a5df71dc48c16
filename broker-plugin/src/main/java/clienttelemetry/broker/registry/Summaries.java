package clienttelemetry.broker.registry;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.identifiers.IdentifierRules;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Connections that are not told one by one, summed up by client: those of a storm, and those that the registry has no
 * room for. Any thread adds; the writer takes.
 */
final class Summaries {
    private static final long MAX_BYTES = 8 << 20;

    private final Map<String, Summary> summaries = new HashMap<>();
    private final Drops drops;
    private final IdentifierRules identifiers;
    private long bytes;

    private static final class Summary {
        final ClientConnection client;
        final ClientUse use = new ClientUse();
        long connections;
        long openedNanos = Long.MAX_VALUE;
        long lastRequestNanos;

        Summary(ClientConnection client) {
            this.client = client;
        }

        int heapBytes() {
            return 200 + client.heapBytes() + use.heapBytes();
        }
    }

    Summaries(Drops drops, IdentifierRules identifiers) {
        this.drops = drops;
        this.identifiers = identifiers;
    }

    /**
     * Adds a connection, or a part of one: then `connections` may be 0. Where there are too many clients, those of one
     * address and software are added up, and each is counted as not kept.
     */
    synchronized void add(Connection connection, long connections) {
        Summary summary = summary(connection.client);
        if (summary == null) {
            drops.count(Drops.Reason.REGISTRY_FULL, Math.max(1, connections));
            return;
        }
        bytes -= summary.heapBytes();
        summary.connections += connections;
        summary.openedNanos = Math.min(summary.openedNanos, connection.openedNanos);
        summary.lastRequestNanos = Math.max(summary.lastRequestNanos, connection.lastRequestNanos);
        summary.use.add(connection.use);
        bytes += summary.heapBytes();
    }

    private Summary summary(ClientConnection client) {
        String software = client.listenerName + "\n" + client.clientAddress + "\n" + client.softwareName + "\n" + client.softwareVersion
                + "\n" + client.sentSoftwareName + "\n" + client.sentSoftwareVersion;
        String key = software + "\n" + client.principal + "\n" + client.clientId;
        Summary known = summaries.get(key);
        if (known != null) {
            return known;
        }
        if (bytes < MAX_BYTES) {
            return begin(key, client.withoutConnection());
        }
        drops.count(Drops.Reason.REGISTRY_FULL_CLIENTS, 1);
        known = summaries.get(software);
        if (known != null || bytes > 2 * MAX_BYTES) {
            return known;
        }
        ClientConnection many = client.withoutConnection();
        many.clientId = null;
        many.principal = null;
        return begin(software, many);
    }

    private Summary begin(String key, ClientConnection client) {
        Summary summary = new Summary(client);
        summaries.put(key, summary);
        bytes += 100 + 2L * key.length() + summary.heapBytes();
        return summary;
    }

    /** All of them, as events; begins anew. */
    synchronized List<DumpRecord> take(long nowNanos) {
        List<DumpRecord> records = new ArrayList<>();
        for (Summary summary : summaries.values()) {
            ConnectionEvent event = new ConnectionEvent(ConnectionEvent.Kind.SUMMARY, nowNanos, summary.client);
            event.openedNanos = summary.openedNanos;
            event.lastRequestNanos = summary.lastRequestNanos;
            event.use = summary.use;
            event.connections = Math.max(1, summary.connections);
            records.add(event.record(identifiers));
        }
        summaries.clear();
        bytes = 0;
        return records;
    }
}
