package clienttelemetry.broker.spool;

/** How many records an object has, and the times between which they lie. */
public final class RecordSpan {
    public long records;
    long minNanos = Long.MAX_VALUE;
    long maxNanos = Long.MIN_VALUE;

    public void add(long timeNanos) {
        records++;
        minNanos = Math.min(minNanos, timeNanos);
        maxNanos = Math.max(maxNanos, timeNanos);
    }

    RecordSpan copy() {
        RecordSpan copy = new RecordSpan();
        copy.records = records;
        copy.minNanos = minNanos;
        copy.maxNanos = maxNanos;
        return copy;
    }
}
