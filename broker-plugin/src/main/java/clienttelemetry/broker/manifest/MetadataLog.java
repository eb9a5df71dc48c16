package clienttelemetry.broker.manifest;

import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Listeners;
import clienttelemetry.broker.settings.Settings;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.EOFException;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What only the metadata log says, which each broker of a KRaft cluster has on its own disk: snapshots and segments of
 * {@code __cluster_metadata-0}, in Kafka's record format. So it needs no client, no credentials and no permissions. Kept
 * are, of ConfigRecord (KIP-631; API key 4), subscriptions to client metrics (KIP-714) and this plugin's own settings;
 * and of UserScramCredentialRecord and RemoveUserScramCredentialRecord (11 and 22, KIP-900) the names of users and their
 * mechanisms. Salts and keys of credentials are passed over. Reads only what is new since the last time. For one thread.
 */
public final class MetadataLog {
    private static final Logger LOG = LoggerFactory.getLogger(MetadataLog.class);
    private static final Pattern SNAPSHOT = Pattern.compile("(\\d{20})-\\d{10}\\.checkpoint");
    private static final Pattern SEGMENT = Pattern.compile("(\\d{20})\\.log");
    /** Base offset (8), length of what follows (4). */
    private static final int BATCH_START = 12;
    /** Up to and with the number of records. */
    private static final int BATCH_HEADER = 61;
    private static final int ATTRIBUTES_AT = 21;
    private static final int LAST_OFFSET_DELTA_AT = 23;
    private static final int RECORDS_AT = 57;
    private static final int COMPRESSED_OR_CONTROL = 0x27;
    private static final int LARGEST_BATCH = 64 << 20;
    private static final int CONFIG_RECORD = 4;
    private static final int SCRAM_RECORD = 11;
    private static final int REMOVED_SCRAM_RECORD = 22;
    /** Types of resources that have settings. */
    private static final int BROKER = 4;
    private static final int CLIENT_METRICS = 16;
    /** By the code of org.apache.kafka.clients.admin.ScramMechanism. */
    private static final List<String> MECHANISMS = List.of("UNKNOWN", "SCRAM-SHA-256", "SCRAM-SHA-512");
    /** As Kafka's own principal builder calls whoever logs in by SCRAM. */
    private static final String PRINCIPAL_TYPE = "User:";
    private static final int DEFAULT_INTERVAL_MS = 300_000;

    private final Path folder;
    private final Map<String, Map<String, String>> configs = new TreeMap<>();
    /** This plugin's settings by broker id; those for all brokers under "". */
    private final Map<String, Map<String, String>> settings = new TreeMap<>();
    private final Map<String, Set<String>> scramUsers = new TreeMap<>();
    private boolean isKnown;
    private long nextOffset = -1;
    private Path segment;
    private long position;
    private boolean isErrorReported;

    MetadataLog(Path folder) {
        this.folder = folder;
    }

    /** Where a broker with this configuration has it. */
    public static MetadataLog of(Map<String, ?> configuration) {
        for (String key : new String[] {"metadata.log.dir", "log.dirs", "log.dir"}) {
            String text = Listeners.text(configuration, key);
            if (!text.isBlank()) {
                return new MetadataLog(Path.of(text.split(",")[0].trim(), "__cluster_metadata-0"));
            }
        }
        return new MetadataLog(Path.of("/tmp/kafka-logs/__cluster_metadata-0")); // Kafka's default of log.dir
    }

    /** Reads what is new. */
    public void look() {
        try {
            isKnown = read();
        } catch (IOException | RuntimeException e) {
            isKnown = false;
            if (!isErrorReported) {
                isErrorReported = true;
                LOG.warn("Subscriptions to client metrics and users with SCRAM credentials cannot be read from {}; manifests do not have them.",
                        folder, e);
            }
        }
    }

    /** What `kafka-configs.sh` set for this broker and for all, of this plugin's names. */
    public Map<String, String> settings(int brokerId) {
        Map<String, String> all = new TreeMap<>(settings.getOrDefault("", Map.of()));
        all.putAll(settings.getOrDefault(String.valueOf(brokerId), Map.of()));
        return all;
    }

    /** For the manifest; null where they are not known. Users whose names are not to be written are counted only. */
    public ArrayNode scramUsers(IdentifierRules identifiers) {
        if (!isKnown) {
            return null;
        }
        ArrayNode all = Json.MAPPER.createArrayNode();
        scramUsers.forEach((user, mechanisms) -> {
            String principal = identifiers.treated(IdentifierRules.Kind.PRINCIPAL, BoundedText.principal(PRINCIPAL_TYPE + user));
            ArrayNode names = all.addObject().put("principal", principal).putArray("mechanisms");
            mechanisms.forEach(names::add);
        });
        return all;
    }

    /** For the manifest; null where they are not known. */
    public ArrayNode subscriptions() {
        if (!isKnown) {
            return null;
        }
        ArrayNode all = Json.MAPPER.createArrayNode();
        configs.forEach((name, config) -> {
            ObjectNode one = all.addObject().put("name", name).put("interval_ms", interval(config));
            ArrayNode metrics = one.putArray("metrics");
            parts(config.get("metrics")).forEach(metrics::add);
            ObjectNode match = one.putObject("match");
            for (String pair : parts(config.get("match"))) {
                int equals = pair.indexOf('=');
                if (equals > 0) {
                    match.put(pair.substring(0, equals).trim(), pair.substring(equals + 1).trim());
                }
            }
        });
        return all;
    }

    private static int interval(Map<String, String> config) {
        String text = config.get("interval.ms");
        return text == null ? DEFAULT_INTERVAL_MS : Integer.parseInt(text.trim());
    }

    private static List<String> parts(String text) {
        return text == null || text.isBlank() ? List.of()
                : Arrays.stream(text.split(",")).map(String::trim).filter(part -> !part.isEmpty()).collect(Collectors.toList());
    }

    /** False where there is no such log. */
    private boolean read() throws IOException {
        TreeMap<Long, Path> snapshots = files(SNAPSHOT);
        TreeMap<Long, Path> segments = files(SEGMENT);
        if (segments.isEmpty()) {
            return false;
        }
        boolean isBehind = nextOffset < segments.firstKey() && !snapshots.isEmpty();
        if (nextOffset < 0 || isBehind) { // what was between is in a snapshot only
            configs.clear();
            settings.clear();
            scramUsers.clear();
            segment = null;
            nextOffset = 0;
            if (!snapshots.isEmpty()) {
                readBatches(snapshots.lastEntry().getValue(), 0, Long.MIN_VALUE);
                nextOffset = snapshots.lastKey();
            }
        }
        Long floor = segments.floorKey(nextOffset);
        for (Path file : segments.tailMap(floor == null ? segments.firstKey() : floor).values()) {
            if (!file.equals(segment)) {
                segment = file;
                position = 0;
            }
            position = readBatches(file, position, nextOffset);
        }
        return true;
    }

    private TreeMap<Long, Path> files(Pattern pattern) throws IOException {
        TreeMap<Long, Path> found = new TreeMap<>();
        if (!Files.isDirectory(folder)) {
            return found;
        }
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.collect(Collectors.toList())) {
                Matcher name = pattern.matcher(file.getFileName().toString());
                if (name.matches()) {
                    found.put(Long.parseLong(name.group(1)), file);
                }
            }
        }
        return found;
    }

    /** Whole batches from a position on; gives the position behind them. Those before the offset are passed over. */
    private long readBatches(Path file, long from, long fromOffset) throws IOException {
        long at = from;
        try (FileChannel channel = FileChannel.open(file)) {
            ByteBuffer header = ByteBuffer.allocate(BATCH_HEADER);
            while (at + BATCH_HEADER <= channel.size()) {
                fill(channel, header, at);
                long baseOffset = header.getLong(0);
                int length = header.getInt(8);
                if (length < BATCH_HEADER - BATCH_START || length > LARGEST_BATCH || at + BATCH_START + length > channel.size()) {
                    break; // it is being written
                }
                long lastOffset = baseOffset + header.getInt(LAST_OFFSET_DELTA_AT);
                boolean isData = (header.getShort(ATTRIBUTES_AT) & COMPRESSED_OR_CONTROL) == 0;
                if (isData && lastOffset >= fromOffset) {
                    ByteBuffer records = ByteBuffer.allocate(BATCH_START + length - BATCH_HEADER);
                    fill(channel, records, at + BATCH_HEADER);
                    records.flip();
                    records(records, header.getInt(RECORDS_AT));
                }
                nextOffset = Math.max(nextOffset, fromOffset == Long.MIN_VALUE ? nextOffset : lastOffset + 1);
                at += BATCH_START + length;
            }
        }
        return at;
    }

    private static void fill(FileChannel channel, ByteBuffer buffer, long at) throws IOException {
        buffer.clear();
        long position = at;
        while (buffer.hasRemaining()) {
            int read = channel.read(buffer, position);
            if (read < 0) {
                throw new EOFException("the metadata log became shorter");
            }
            position += read;
        }
    }

    private void records(ByteBuffer in, int count) {
        for (int i = 0; i < count; i++) {
            int length = (int) zigzag(in);
            int end = in.position() + length;
            in.get(); // attributes
            zigzag(in); // timestamp
            zigzag(in); // offset
            int key = (int) zigzag(in);
            in.position(in.position() + Math.max(0, key));
            int value = (int) zigzag(in);
            if (value > 0) {
                ByteBuffer message = in.slice();
                message.limit(value);
                message(message);
            }
            in.position(end);
        }
    }

    private void message(ByteBuffer in) {
        long frame = unsigned(in);
        long apiKey = unsigned(in);
        long version = unsigned(in);
        if (frame != 1 || version != 0) {
            return;
        }
        if (apiKey == CONFIG_RECORD) {
            config(in);
        } else if (apiKey == SCRAM_RECORD) {
            scramUsers.computeIfAbsent(string(in), each -> new TreeSet<>()).add(mechanism(in.get()));
        } else if (apiKey == REMOVED_SCRAM_RECORD) {
            String user = string(in);
            scramUsers.getOrDefault(user, new TreeSet<>()).remove(mechanism(in.get()));
            scramUsers.values().removeIf(Set::isEmpty);
        }
    }

    private void config(ByteBuffer in) {
        byte type = in.get();
        String resource = string(in);
        String name = string(in);
        if (type == CLIENT_METRICS) {
            put(configs, resource, name, string(in));
        } else if (type == BROKER && name.startsWith(Settings.PREFIX)) {
            put(settings, resource, name, string(in));
        }
    }

    private static void put(Map<String, Map<String, String>> all, String resource, String name, String value) {
        if (value != null) {
            all.computeIfAbsent(resource, each -> new TreeMap<>()).put(name, value);
        } else if (all.containsKey(resource)) {
            all.get(resource).remove(name);
            all.values().removeIf(Map::isEmpty);
        }
    }

    private static String mechanism(int code) {
        return code > 0 && code < MECHANISMS.size() ? MECHANISMS.get(code) : MECHANISMS.get(0);
    }

    /** A compact nullable string. */
    private static String string(ByteBuffer in) {
        int length = (int) unsigned(in) - 1;
        if (length < 0) {
            return null;
        }
        byte[] utf8 = new byte[length];
        in.get(utf8);
        return new String(utf8, StandardCharsets.UTF_8);
    }

    private static long unsigned(ByteBuffer in) {
        long value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            byte next = in.get();
            value |= (long) (next & 0x7F) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new BufferUnderflowException();
    }

    private static long zigzag(ByteBuffer in) {
        long value = unsigned(in);
        return value >>> 1 ^ -(value & 1);
    }
}
