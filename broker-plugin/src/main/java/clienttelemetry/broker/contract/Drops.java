package clienttelemetry.broker.contract;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What was lost, by reason, since the start. Any thread counts. */
public final class Drops {
    public enum Reason {
        QUEUE_FULL("queue_full", "QueueFull", "Records that came faster than they could be written"),
        SPOOL_FULL("spool_full", "SpoolFull", "Records that came while the spool had its maximum or its disk took no more"),
        OVERSIZED("oversized", "Oversized", "Records longer than the contract allows"),
        REGISTRY_FULL("registry_full", "RegistryFull", "Requests and failed logins that the registry had no room to count"),
        REGISTRY_FULL_CLIENTS("registry_full_clients", "RegistryFullClients",
                "Connections of clients that the registry had no room to name; they are counted by address and software"),
        PAYLOAD_OMITTED("payload_omitted", "PayloadOmitted",
                "Payloads left out because identifiers are not to leave the broker and cannot be found in them (compressed, on Kafka 3.7)"),
        FAILED("failed", "Failed", "Records and log lines that an error of the plugin lost; the log has it");

        /** As the contract spells it. */
        public final String text;
        /** As JMX spells it, behind {@code Dropped}. */
        public final String figure;
        public final String description;

        Reason(String text, String figure, String description) {
            this.text = text;
            this.figure = figure;
            this.description = description;
        }
    }

    private final LongAdder[] counts = new LongAdder[Reason.values().length];

    public Drops() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    public void count(Reason reason, long records) {
        counts[reason.ordinal()].add(records);
    }

    public long of(Reason reason) {
        return counts[reason.ordinal()].sum();
    }

    /** By the contract's names, in order. */
    public Map<String, Long> totals() {
        Map<String, Long> totals = new LinkedHashMap<>();
        for (Reason reason : Reason.values()) {
            totals.put(reason.text, of(reason));
        }
        return totals;
    }
}
