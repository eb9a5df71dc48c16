package clienttelemetry.broker.settings;

import clienttelemetry.broker.identifiers.IdentifierRules;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigDef.Importance;
import org.apache.kafka.common.config.ConfigDef.Range;
import org.apache.kafka.common.config.ConfigDef.Type;
import org.apache.kafka.common.config.ConfigDef.ValidString;
import org.apache.kafka.common.config.ConfigException;

/** What the operator wrote into server.properties, under {@code client.telemetry.dump.}. */
public final class Settings {
    /** When the registry watches connections. */
    public enum Watch {
        /** Every request. */
        CONTINUOUS,
        /** Every request of the first minutes of each hour. */
        SAMPLED,
        /** Requests of deprecated versions only, which Kafka logs at INFO since 3.9.1. */
        DEPRECATED_ONLY,
        OFF;

        /** As the manifest spells it. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public static final String PREFIX = "client.telemetry.dump.";
    /** An object goes to the store in one PUT, of which S3 takes 5 GiB: it may pass its end by a record, not by more. */
    private static final long LARGEST_OBJECT = 1L << 30;
    private static final String LOCATION = PREFIX + "location";
    public static final String SPOOL = PREFIX + "spool.dir";
    private static final String SPOOL_MAX = PREFIX + "spool.max.bytes";
    private static final String SPOOL_MIN_FREE = PREFIX + "spool.min.free.bytes";
    private static final String QUEUE_MAX = PREFIX + "queue.max.bytes";
    private static final String ROLL_BYTES = PREFIX + "roll.bytes";
    private static final String ROLL_MS = PREFIX + "roll.ms";
    private static final String CONNECTIONS = PREFIX + "connections";
    private static final String SAMPLED_MINUTES = PREFIX + "connections.sampled.minutes";
    private static final String SAMPLED_FROM = PREFIX + "connections.sampled.from.minute";
    private static final String GROUP_READABLE = PREFIX + "location.group.readable";
    /** Those that need no restart. */
    public static final List<String> DYNAMIC = List.of(CONNECTIONS, SAMPLED_MINUTES, SAMPLED_FROM);
    private static final int LARGEST_TYPO = 5;
    private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9._-]+");
    private static final String REGISTRY_MAX = PREFIX + "registry.max.bytes";
    private static final String IDENTIFIERS = PREFIX + "identifiers.";
    private static final String KEY_FILE = IDENTIFIERS + "key.file";
    private static final String LEFT_OUT_LISTENERS = PREFIX + "exclude.listeners";
    private static final String LEFT_OUT_PRINCIPALS = PREFIX + "exclude.principals";
    private static final String SHUTDOWN_MS = PREFIX + "shutdown.timeout.ms";
    private static final String S3_REGION = PREFIX + "s3.region";
    private static final String S3_ENDPOINT = PREFIX + "s3.endpoint";
    private static final String S3_PATH_STYLE = PREFIX + "s3.path.style";
    private static final String S3_ENCRYPTION = PREFIX + "s3.server.side.encryption";
    private static final String S3_KMS_KEY = PREFIX + "s3.kms.key.id";
    private static final String S3_PROFILE = PREFIX + "s3.profile";
    private static final String S3_PROFILE_FILE = PREFIX + "s3.profile.file";

    public static final ConfigDef DEFINITION = new ConfigDef()
            .define(LOCATION, Type.STRING, ConfigDef.NO_DEFAULT_VALUE, Importance.HIGH,
                    "Where dumps go: s3://bucket/prefix, or file:///folder for a mounted folder. `v1/` comes below it.")
            .define(SPOOL, Type.STRING, ConfigDef.NO_DEFAULT_VALUE, Importance.HIGH,
                    "Local folder, of its own and outside of Kafka's log dirs, for what is not uploaded yet. It has to survive a "
                            + "restart of the broker.")
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
                    "Minutes of each hour for `sampled`.")
            .define(SAMPLED_FROM, Type.INT, -1, Range.between(-1, 59), Importance.LOW,
                    "Minute of the hour at which sampling begins; -1: another one for each broker, by its id.")
            .define(GROUP_READABLE, Type.BOOLEAN, false, Importance.LOW,
                    "Whether the group may read what goes to a file:/// location (0640 instead of 0600, folders 0750).")
            .define(REGISTRY_MAX, Type.LONG, 64L << 20, Range.between(1 << 20, 1L << 32), Importance.LOW,
                    "Bytes in memory for what is known of connections; above it, requests are summed up by client.")
            .define(KEY_FILE, Type.STRING, "", Importance.MEDIUM,
                    "File with the key for identifiers that are `hmac`: 16 bytes at least, the same on all brokers of a cluster.")
            .define(LEFT_OUT_LISTENERS, Type.LIST, "", Importance.MEDIUM, "Listeners whose clients are not told of.")
            .define(LEFT_OUT_PRINCIPALS, Type.STRING, "", Importance.MEDIUM,
                    "Principals, such as User:alice, whose clients are not told of; separated by semicolons.")
            .define(SHUTDOWN_MS, Type.LONG, 10_000L, Range.between(0, 300_000), Importance.LOW,
                    "How long the broker's shutdown may wait for the last upload; what is left goes with the next start.")
            .define(S3_REGION, Type.STRING, "", Importance.MEDIUM,
                    "Region of the bucket; empty: as the AWS SDK finds it, else us-east-1; a bucket elsewhere is found.")
            .define(S3_ENDPOINT, Type.STRING, "", Importance.MEDIUM,
                    "URL of an S3-compatible store; empty: that of AWS in the region.")
            .define(S3_PATH_STYLE, Type.BOOLEAN, false, Importance.MEDIUM,
                    "Put the bucket into the path instead of the host name.")
            .define(S3_ENCRYPTION, Type.STRING, "", ValidString.in("", "AES256", "aws:kms", "aws:kms:dsse"),
                    Importance.MEDIUM, "Server-side encryption to ask for.")
            .define(S3_KMS_KEY, Type.STRING, "", Importance.MEDIUM, "Key for aws:kms; empty: the bucket's own.")
            .define(S3_PROFILE, Type.STRING, "", Importance.MEDIUM,
                    "Profile whose credentials to use, whatever the environment says; empty: the AWS SDK's default chain.")
            .define(S3_PROFILE_FILE, Type.STRING, "", Importance.LOW,
                    "File of that profile, in the form of ~/.aws/config; empty: the AWS SDK's own files.");

    static {
        for (IdentifierRules.Kind kind : IdentifierRules.Kind.values()) {
            DEFINITION.define(setting(kind), Type.STRING, "clear", ValidString.in("clear", "hmac", "omit"), Importance.MEDIUM,
                    "What becomes of each " + kind.text() + " before it leaves the broker.");
        }
    }

    private static String setting(IdentifierRules.Kind kind) {
        return IDENTIFIERS + kind.text().replace('_', '.');
    }

    public final URI location;
    public final Path spoolFolder;
    public final long spoolMaxBytes;
    public final long spoolMinFreeBytes;
    public final long queueMaxBytes;
    public final long rollBytes;
    public final Duration rollAge;
    public final Watch watch;
    public final int sampledMinutes;
    /** -1: by the broker's id. */
    public final int sampledFromMinute;
    public final boolean isGroupReadable;
    public final long registryMaxBytes;
    public final IdentifierRules identifiers;
    /** Names of listeners and of principals. */
    public final Set<String> leftOut;
    public final Duration shutdownTimeout;
    public final String s3Region;
    public final String s3Endpoint;
    public final boolean s3PathStyle;
    public final String s3Encryption;
    public final String s3KmsKey;
    public final String s3Profile;
    public final String s3ProfileFile;

    /** Throws {@link ConfigException}, which names the setting and what it may be. */
    public Settings(Map<String, ?> configuration) {
        refuseUnknown(configuration);
        AbstractConfig config = new AbstractConfig(DEFINITION, configuration, false);
        location = location(config.getString(LOCATION));
        spoolFolder = SpoolFolder.checked(SPOOL, config.getString(SPOOL), configuration);
        if ("file".equals(location.getScheme())) {
            SpoolFolder.checkLocation(LOCATION, Path.of(location.getPath()), spoolFolder, configuration);
        }
        spoolMaxBytes = config.getLong(SPOOL_MAX);
        spoolMinFreeBytes = config.getLong(SPOOL_MIN_FREE);
        queueMaxBytes = config.getLong(QUEUE_MAX);
        rollBytes = config.getLong(ROLL_BYTES);
        rollAge = Duration.ofMillis(config.getLong(ROLL_MS));
        watch = Watch.valueOf(config.getString(CONNECTIONS).toUpperCase(Locale.ROOT));
        sampledMinutes = config.getInt(SAMPLED_MINUTES);
        sampledFromMinute = config.getInt(SAMPLED_FROM);
        if (sampledFromMinute + sampledMinutes > 60) {
            throw new ConfigException(SAMPLED_FROM, sampledFromMinute, "a window does not reach over the end of the hour, and this one has "
                    + sampledMinutes + " minutes");
        }
        isGroupReadable = config.getBoolean(GROUP_READABLE);
        registryMaxBytes = config.getLong(REGISTRY_MAX);
        identifiers = identifiers(config);
        leftOut = Stream.concat(leftOutListeners(config, configuration).stream(), Arrays.stream(config.getString(LEFT_OUT_PRINCIPALS).split(";")))
                .map(String::trim).filter(each -> !each.isEmpty()).collect(Collectors.toUnmodifiableSet());
        shutdownTimeout = Duration.ofMillis(config.getLong(SHUTDOWN_MS));
        s3Region = config.getString(S3_REGION);
        s3Endpoint = endpoint(config.getString(S3_ENDPOINT));
        s3PathStyle = config.getBoolean(S3_PATH_STYLE);
        s3Encryption = config.getString(S3_ENCRYPTION);
        s3KmsKey = config.getString(S3_KMS_KEY);
        s3Profile = config.getString(S3_PROFILE);
        s3ProfileFile = profileFile(config.getString(S3_PROFILE_FILE), s3Profile);
    }

    private static String endpoint(String text) {
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(S3_ENDPOINT, text, "not a URL: " + e.getMessage());
        }
        if (uri.getRawUserInfo() != null) {
            throw new ConfigException(S3_ENDPOINT + " must not have keys in it: name a profile in " + S3_PROFILE);
        }
        boolean isHttp = ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())) && uri.getHost() != null;
        boolean isWhole = List.of("", "/").contains(uri.getRawPath() == null ? "" : uri.getRawPath()) && uri.getRawQuery() == null;
        if (!text.isEmpty() && !(isHttp && isWhole)) {
            throw new ConfigException(S3_ENDPOINT, text, "must be https://host or https://host:port, without the bucket");
        }
        return text;
    }

    private static String profileFile(String text, String profile) {
        if (!text.isEmpty() && profile.isEmpty()) {
            throw new ConfigException(S3_PROFILE_FILE, text, "is read only for a profile: name it in " + S3_PROFILE);
        }
        if (!text.isEmpty() && !Files.isReadable(Path.of(text))) {
            throw new ConfigException(S3_PROFILE_FILE, text, "does not exist or cannot be read by the broker's user");
        }
        return text;
    }

    /** As Kafka spells them. One that the broker does not have is an error: its clients would be told of. */
    private static List<String> leftOutListeners(AbstractConfig config, Map<String, ?> configuration) {
        List<String> names = Listeners.normalised(config.getList(LEFT_OUT_LISTENERS));
        List<String> known = Listeners.of(configuration).names();
        for (String name : names) {
            if (!known.isEmpty() && !known.contains(name)) {
                throw new ConfigException(LEFT_OUT_LISTENERS, name, "this broker has no such listener, but " + String.join(", ", known));
            }
        }
        return names;
    }

    private static IdentifierRules identifiers(AbstractConfig config) {
        Map<IdentifierRules.Kind, IdentifierRules.Treatment> treatments = new EnumMap<>(IdentifierRules.Kind.class);
        for (IdentifierRules.Kind kind : IdentifierRules.Kind.values()) {
            treatments.put(kind, IdentifierRules.Treatment.valueOf(config.getString(setting(kind)).toUpperCase(Locale.ROOT)));
        }
        String keyFile = config.getString(KEY_FILE);
        if (treatments.containsValue(IdentifierRules.Treatment.HMAC) && keyFile.isEmpty()) {
            throw new ConfigException(KEY_FILE + " is needed where an identifier is hmac");
        }
        return new IdentifierRules(treatments, keyFile.isEmpty() ? null : IdentifierRules.readKey(KEY_FILE, keyFile));
    }

    /** Names of this plugin's settings whose values differ. */
    public static List<String> changed(Map<String, ?> before, Map<String, ?> after) {
        Set<String> names = new TreeSet<>(before.keySet());
        names.addAll(after.keySet());
        return names.stream().filter(name -> name.startsWith(PREFIX))
                .filter(name -> !Objects.equals(text(before, name), text(after, name))).collect(Collectors.toList());
    }

    private static String text(Map<String, ?> configuration, String name) {
        Object value = configuration.get(name);
        return value == null ? null : value.toString();
    }

    /** A misspelt setting would otherwise be one that has its default. */
    private static void refuseUnknown(Map<String, ?> configuration) {
        for (String sentence : unknown(configuration.keySet()).values()) {
            throw new ConfigException(sentence);
        }
    }

    /** Of names those that begin as this plugin's do and are none, each with a sentence that names the nearest one. */
    public static SortedMap<String, String> unknown(Set<String> names) {
        TreeMap<String, String> sentences = new TreeMap<>();
        for (String name : names) {
            boolean isOurs = name.startsWith(PREFIX);
            if (DEFINITION.names().contains(name)) {
                continue;
            }
            String spelt = name.toLowerCase(Locale.ROOT);
            String nearest = DEFINITION.names().stream().min(Comparator.comparingInt(each -> distance(spelt, each))).orElse("");
            boolean isTypo = distance(spelt, nearest) <= LARGEST_TYPO || isMisspeltPrefix(spelt, nearest);
            if (isOurs || isTypo) {
                sentences.put(name, name + " is not a setting of the dump of client telemetry" + (isTypo ? "; do you mean " + nearest + "?" : ""));
            }
        }
        return sentences;
    }

    /** {@code telemetry.dump.location} and {@code kafka.client.telemetry.dump.location}: a setting's name with another beginning. */
    private static boolean isMisspeltPrefix(String name, String nearest) {
        return name.contains("telemetry") && name.endsWith("." + nearest.substring(PREFIX.length()))
                && distance(name, nearest) <= 2 * LARGEST_TYPO;
    }

    /** Letters to insert, delete or replace (Levenshtein). */
    private static int distance(String one, String other) {
        int[] before = new int[other.length() + 1];
        Arrays.setAll(before, i -> i);
        for (int i = 1; i <= one.length(); i++) {
            int[] row = new int[other.length() + 1];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int replaced = before[j - 1] + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                row[j] = Math.min(replaced, 1 + Math.min(before[j], row[j - 1]));
            }
            before = row;
        }
        return before[other.length()];
    }

    private static URI location(String text) {
        URI uri;
        try {
            uri = URI.create(text);
        } catch (IllegalArgumentException e) {
            throw new ConfigException(LOCATION, text, "not a URL: " + e.getMessage());
        }
        if (uri.getRawUserInfo() != null || uri.getRawAuthority() != null && uri.getRawAuthority().contains("@")) {
            throw new ConfigException(LOCATION + " must not have keys in it: name a profile in " + S3_PROFILE); // nor may the log have them
        }
        if ("file".equals(uri.getScheme()) && uri.getRawAuthority() != null) {
            throw new ConfigException(LOCATION, text, "names a machine; the folder is file:///" + uri.getRawAuthority() + uri.getRawPath());
        }
        boolean isS3 = "s3".equals(uri.getScheme()) && uri.getAuthority() != null && BUCKET.matcher(uri.getAuthority()).matches();
        boolean isFolder = "file".equals(uri.getScheme()) && uri.getPath() != null && uri.getPath().startsWith("/") && uri.getPath().indexOf('\0') < 0;
        if (!isS3 && !isFolder || uri.getRawQuery() != null || uri.getRawFragment() != null) {
            throw new ConfigException(LOCATION, text, "must be s3://bucket/prefix or file:///folder");
        }
        return uri;
    }
}
