package clienttelemetry.broker;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/** What the operator wrote into server.properties, under {@code client.telemetry.dump.}. */
final class Settings {
    /** When the registry watches connections. */
    enum Watch {
        /** Every request. */
        CONTINUOUS,
        /** Every request of the first minutes of each hour. */
        SAMPLED,
        /** Requests of deprecated versions only, which Kafka logs at INFO since 3.9.1. */
        DEPRECATED_ONLY,
        OFF;

        /** As the manifest spells it. */
        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    static final String PREFIX = "client.telemetry.dump.";
    /** An object goes to the store in one PUT, of which S3 takes 5 GiB: it may pass its end by a record, not by more. */
    private static final long LARGEST_OBJECT = 1L << 30;
    private static final String LOCATION = PREFIX + "location";
    private static final String SPOOL = PREFIX + "spool.dir";
    private static final String SPOOL_MAX = PREFIX + "spool.max.bytes";
    private static final String SPOOL_MIN_FREE = PREFIX + "spool.min.free.bytes";
    private static final String QUEUE_MAX = PREFIX + "queue.max.bytes";
    private static final String ROLL_BYTES = PREFIX + "roll.bytes";
    private static final String ROLL_MS = PREFIX + "roll.ms";
    private static final String CONNECTIONS = PREFIX + "connections";
    private static final String SAMPLED_MINUTES = PREFIX + "connections.sampled.minutes";
    private static final String SHUTDOWN_MS = PREFIX + "shutdown.timeout.ms";
    private static final String S3_REGION = PREFIX + "s3.region";
    private static final String S3_ENDPOINT = PREFIX + "s3.endpoint";
    private static final String S3_PATH_STYLE = PREFIX + "s3.path.style";
    private static final String S3_ENCRYPTION = PREFIX + "s3.server.side.encryption";
    private static final String S3_KMS_KEY = PREFIX + "s3.kms.key.id";

    static final ConfigDef DEFINITION = new ConfigDef()
            .define(LOCATION, Type.STRING, ConfigDef.NO_DEFAULT_VALUE, Importance.HIGH,
                    "Where dumps go: s3://bucket/prefix, or file:///folder for a mounted folder. `v1/` comes below it.")
            .define(SPOOL, Type.STRING, ConfigDef.NO_DEFAULT_VALUE, Importance.HIGH,
                    "Local folder for what is not uploaded yet. It has to survive a restart of the broker.")
            .define(SPOOL_MAX, Type.LONG, 2L << 30, Range.atLeast(1 << 20), Importance.MEDIUM,
                    "Bytes that the spool may take; when they are used up, records are dropped and counted.")
            .define(SPOOL_MIN_FREE, Type.LONG, 256L << 20, Range.atLeast(0), Importance.MEDIUM,
                    "Bytes that stay free on the spool's disk, whatever its maximum says.")
            .define(QUEUE_MAX, Type.LONG, 64L << 20, Range.atLeast(1 << 20), Importance.LOW,
                    "Bytes in memory between the broker's threads and the spool.")
            .define(ROLL_BYTES, Type.LONG, 64L << 20, Range.between(1024, LARGEST_OBJECT), Importance.LOW,
                    "Compressed bytes at which an object ends.")
            .define(ROLL_MS, Type.LONG, 15 * 60_000L, Range.between(100, 3_600_000), Importance.LOW,
                    "Age at which an object ends. Objects also end with the hour.")
            .define(CONNECTIONS, Type.STRING, "sampled",
                    ValidString.in("continuous", "sampled", "deprecated_only", "off"), Importance.HIGH,
                    "When connections are watched.")
            .define(SAMPLED_MINUTES, Type.INT, 5, Range.between(1, 59), Importance.MEDIUM,
                    "Minutes of each hour for `sampled`, from the beginning of the hour on.")
            .define(SHUTDOWN_MS, Type.LONG, 10_000L, Range.between(0, 300_000), Importance.LOW,
                    "How long the broker's shutdown may wait for the last upload; what is left goes with the next start.")
            .define(S3_REGION, Type.STRING, "", Importance.MEDIUM,
                    "Region of the bucket; empty: AWS_REGION or AWS_DEFAULT_REGION, else us-east-1.")
            .define(S3_ENDPOINT, Type.STRING, "", Importance.MEDIUM,
                    "URL of an S3-compatible store; empty: that of AWS in the region.")
            .define(S3_PATH_STYLE, Type.BOOLEAN, false, Importance.MEDIUM,
                    "Put the bucket into the path instead of the host name.")
            .define(S3_ENCRYPTION, Type.STRING, "", ValidString.in("", "AES256", "aws:kms", "aws:kms:dsse"),
                    Importance.MEDIUM, "Server-side encryption to ask for.")
            .define(S3_KMS_KEY, Type.STRING, "", Importance.MEDIUM, "Key for aws:kms; empty: the bucket's own.");

    final URI location;
    final Path spoolFolder;
    final long spoolMaxBytes;
    final long spoolMinFreeBytes;
    final long queueMaxBytes;
    final long rollBytes;
    final Duration rollAge;
    final Watch watch;
    final int sampledMinutes;
    final Duration shutdownTimeout;
    final String s3Region;
    final String s3Endpoint;
    final boolean s3PathStyle;
    final String s3Encryption;
    final String s3KmsKey;

    /** Throws {@link ConfigException}, which names the setting and what it may be. */
    Settings(Map<String, ?> configuration) {
        AbstractConfig config = new AbstractConfig(DEFINITION, configuration, false);
        location = location(config.getString(LOCATION));
        spoolFolder = Path.of(config.getString(SPOOL));
        spoolMaxBytes = config.getLong(SPOOL_MAX);
        spoolMinFreeBytes = config.getLong(SPOOL_MIN_FREE);
        queueMaxBytes = config.getLong(QUEUE_MAX);
        rollBytes = config.getLong(ROLL_BYTES);
        rollAge = Duration.ofMillis(config.getLong(ROLL_MS));
        watch = Watch.valueOf(config.getString(CONNECTIONS).toUpperCase(Locale.ROOT));
        sampledMinutes = config.getInt(SAMPLED_MINUTES);
        shutdownTimeout = Duration.ofMillis(config.getLong(SHUTDOWN_MS));
        s3Region = config.getString(S3_REGION);
        s3Endpoint = config.getString(S3_ENDPOINT);
        s3PathStyle = config.getBoolean(S3_PATH_STYLE);
        s3Encryption = config.getString(S3_ENCRYPTION);
        s3KmsKey = config.getString(S3_KMS_KEY);
    }

    private static URI location(String text) {
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(LOCATION, text, "not a URL: " + e.getMessage());
        }
        boolean isS3 = "s3".equals(uri.getScheme()) && uri.getAuthority() != null;
        boolean isFolder = "file".equals(uri.getScheme()) && uri.getPath() != null && uri.getPath().startsWith("/");
        if (!isS3 && !isFolder) {
            throw new ConfigException(LOCATION, text, "must be s3://bucket/prefix or file:///folder");
        }
        return uri;
    }
}
