package clienttelemetry.broker;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.UUID;

/** One life of the broker process, and which broker of which cluster it is. */
final class Incarnation {
    final String clusterId;
    final int brokerId;
    /** 32 lower-case hex digits. */
    final String id;
    final Instant startedAt;
    final String softwareVersion;

    Incarnation(String clusterId, int brokerId, String id, Instant startedAt, String softwareVersion) {
        this.clusterId = clusterId;
        this.brokerId = brokerId;
        this.id = id;
        this.startedAt = startedAt;
        this.softwareVersion = softwareVersion;
    }

    static Incarnation starting(String clusterId, int brokerId, Instant startedAt, String softwareVersion) {
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
