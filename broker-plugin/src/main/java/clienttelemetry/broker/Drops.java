package clienttelemetry.broker;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;

/** What was lost, by reason, since the start. Any thread counts. */
final class Drops {
    enum Reason {
        /** Records came faster than they could be written. */
        QUEUE_FULL("queue_full"),
        /** The spool had its maximum, its disk was full, or writing failed. */
        SPOOL_FULL("spool_full"),
        /** Longer than the contract allows. */
        OVERSIZED("oversized"),
        /** More open connections than the registry holds. */
        REGISTRY_FULL("registry_full"),
        /** An error of this plugin; the log has it. */
        FAILED("failed");

        final String text;

        Reason(String text) {
            this.text = text;
        }
    }

    private final LongAdder[] counts = new LongAdder[Reason.values().length];

    Drops() {
        for (int i = 0; i < counts.length; i++) {
            counts[i] = new LongAdder();
        }
    }

    void count(Reason reason, long records) {
        counts[reason.ordinal()].add(records);
    }

    long of(Reason reason) {
        return counts[reason.ordinal()].sum();
    }

    /** By the contract's names, in order. */
    Map<String, Long> totals() {
        Map<String, Long> totals = new LinkedHashMap<>();
        for (Reason reason : Reason.values()) {
            totals.put(reason.text, of(reason));
        }
        return totals;
    }
}
