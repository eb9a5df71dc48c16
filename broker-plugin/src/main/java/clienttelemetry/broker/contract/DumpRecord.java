package clienttelemetry.broker.contract;

/**
 * A record on its way to the spool. The writer adds the fields that all records share: cluster, broker, incarnation
 * and sequence.
 */
public final class DumpRecord {
    public final Dataset dataset;
    /** Unix time in nanoseconds by the broker's clock; its hour is the hour of the record. */
    public final long timeNanos;
    /** The encoded fields from number 5 on, but for the payload and its checksum. */
    public final byte[] fields;
    /** Of a push; null for a connection event. */
    public final byte[] payload;

    public DumpRecord(Dataset dataset, long timeNanos, byte[] fields, byte[] payload) {
        this.dataset = dataset;
        this.timeNanos = timeNanos;
        this.fields = fields;
        this.payload = payload;
    }

    /** Bytes in memory, near enough for a bound. */
    public int size() {
        return 64 + fields.length + (payload == null ? 0 : payload.length);
    }
}
