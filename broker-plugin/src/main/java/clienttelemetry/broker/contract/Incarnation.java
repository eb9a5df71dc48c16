package clienttelemetry.broker.contract;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;

/** One life of the broker process, and which broker of which cluster it is. */
public final class Incarnation {
    public final String clusterId;
    public final int brokerId;
    /** 32 lower-case hex digits. */
    public final String id;
    public final Instant startedAt;
    public final String softwareVersion;

    public Incarnation(String clusterId, int brokerId, String id, Instant startedAt, String softwareVersion) {
        this.clusterId = clusterId;
        this.brokerId = brokerId;
        this.id = id;
        this.startedAt = startedAt;
        this.softwareVersion = softwareVersion;
    }

    public static Incarnation starting(String clusterId, int brokerId, Instant startedAt, String softwareVersion) {
        String id = UUID.randomUUID().toString().replace("-", "");
        return new Incarnation(clusterId, brokerId, id, startedAt, softwareVersion);
    }

    /** The 16 bytes that records carry. */
    byte[] bytes() {
        return ByteBuffer.allocate(16)
                .putLong(Long.parseUnsignedLong(id.substring(0, 16), 16))
                .putLong(Long.parseUnsignedLong(id.substring(16), 16))
                .array();
    }
}
