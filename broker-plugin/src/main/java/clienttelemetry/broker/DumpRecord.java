package clienttelemetry.broker;

/**
 * A record on its way to the spool. The writer adds the fields that all records share: cluster, broker, incarnation
 * and sequence.
 */
final class DumpRecord {
    final Dataset dataset;
    /** Unix time in nanoseconds by the broker's clock; its hour is the hour of the record. */
    final long timeNanos;
    /** The encoded fields from number 5 on, but for the payload and its checksum. */
    final byte[] fields;
    /** Of a push; null for a connection event. */
    final byte[] payload;

    DumpRecord(Dataset dataset, long timeNanos, byte[] fields, byte[] payload) {
        this.dataset = dataset;
        this.timeNanos = timeNanos;
        this.fields = fields;
        this.payload = payload;
    }

    /** Bytes in memory, near enough for a bound. */
    int size() {
        return 64 + fields.length + (payload == null ? 0 : payload.length);
    }
}
