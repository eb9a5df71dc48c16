package clienttelemetry.broker.contract;

import java.io.IOException;
import java.io.OutputStream;
import java.util.zip.CRC32C;

/** Writes records as the contract frames them: a big-endian length, then the message. For one thread. */
public final class RecordEncoder {
    /** A reader takes a longer one for damage. */
    public static final int MAX_RECORD_BYTES = 16 << 20;

    private static final int PAYLOAD = 11;
    private static final int PAYLOAD_CRC32C = 12;

    private final byte[] origin;
    private final ProtobufWriter head = new ProtobufWriter(4096);
    private final ProtobufWriter tail = new ProtobufWriter(16);

    public RecordEncoder(Incarnation broker) {
        origin = new ProtobufWriter(128)
                .string(1, broker.clusterId)
                .varint(2, broker.brokerId)
                .bytes(3, broker.bytes())
                .toBytes();
    }

    public static boolean isOversized(DumpRecord record) {
        return isOversized(record.size());
    }

    /** @param bytes of a record's fields and payload, or of its payload alone before there is a record */
    public static boolean isOversized(int bytes) {
        return bytes > MAX_RECORD_BYTES - 256;
    }

    public void write(DumpRecord record, long sequence, OutputStream out) throws IOException {
        head.clear();
        head.reserve(4);
        head.encoded(origin).varint(4, sequence).encoded(record.fields);
        byte[] payload = record.payload;
        if (payload == null) {
            head.setInt(0, head.size() - 4);
            out.write(head.buffer(), 0, head.size());
            return;
        }
        CRC32C checksum = new CRC32C();
        checksum.update(payload, 0, payload.length);
        tail.clear();
        tail.fixed32(PAYLOAD_CRC32C, (int) checksum.getValue());
        head.lengthOf(PAYLOAD, payload.length);
        head.setInt(0, head.size() - 4 + payload.length + tail.size());
        out.write(head.buffer(), 0, head.size());
        out.write(payload, 0, payload.length);
        out.write(tail.buffer(), 0, tail.size());
    }
}
