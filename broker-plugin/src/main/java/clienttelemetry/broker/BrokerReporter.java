package clienttelemetry.broker;

import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricsContext;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.authorizer.AuthorizableRequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part of the plugin that every Kafka from 3.7 on can load. Kafka creates it by name ({@code metric.reporters}) and
 * calls configure, contextChange, init and then the method that gives the receiver of pushes.
 *
 * <p>Nothing here may stop the broker: what goes wrong is logged, and the plugin does nothing then.
 */
abstract class BrokerReporter implements MetricsReporter {
    private static final Logger LOG = LoggerFactory.getLogger(BrokerReporter.class);
    private static final AtomicReference<BrokerReporter> ACTIVE = new AtomicReference<>();
    /**
     * What MetricsData begins with, and no compressed form of it. Kafka 3.7, and what vendors make of it, hands over what
     * the client sent, compressed as it may be, without saying how.
     */
    private static final byte RESOURCE_METRICS = 0x0A;
    private static final int NOT_COMPRESSED = 0;
    private static final int NOT_KNOWN = -1;
    private static final long DEFAULT_IDLE_MILLIS = 600_000;
    private static final long LONG_IDLE_MILLIS = 3 * 3_600_000L;

    private final BrokerMetrics metrics = new BrokerMetrics();
    private Map<String, ?> configuration = Map.of();
    private Settings settings;
    private volatile Dump dump;
    private DumpStatus status;
    private volatile boolean isErrorReported;

    @Override
    public void configure(Map<String, ?> configs) {
        configuration = configs;
        try {
            settings = new Settings(configs);
        } catch (RuntimeException e) {
            LOG.error("Client telemetry is not dumped: {}", e.getMessage());
        }
    }

    @Override
    public void contextChange(MetricsContext context) {
        if (settings == null || dump != null) {
            return;
        }
        Map<String, String> labels = context.contextLabels();
        String clusterId = labels.get("kafka.cluster.id");
        String brokerId = labels.getOrDefault("kafka.node.id", labels.get("kafka.broker.id"));
        if (clusterId == null || brokerId == null) {
            LOG.error("Client telemetry is not dumped: Kafka does not say which cluster and broker this is ({}).", labels);
        } else if ("controller".equals(text("process.roles"))) {
            LOG.info("Client telemetry is not dumped: this process is a controller only, and has no clients.");
        } else if (!ACTIVE.compareAndSet(null, this)) {
            LOG.error("Client telemetry is dumped already: name only one of the plugin's classes in metric.reporters.");
        } else {
            start(clusterId, Integer.parseInt(brokerId));
        }
    }

    private void start(String clusterId, int brokerId) {
        try {
            Instant startedAt = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
            Incarnation broker = Incarnation.starting(clusterId, brokerId, startedAt, kafkaVersion());
            Dump started = new Dump(broker, settings, ObjectStore.at(settings), metrics, listeners(),
                    settings.watch == Settings.Watch.OFF ? null : this::registry, Clock.systemUTC());
            started.start();
            status = DumpStatus.register(started);
            dump = started;
        } catch (Exception | LinkageError e) {
            ACTIVE.set(null);
            LOG.error("Client telemetry is not dumped, and the broker goes on without it.", e);
        }
    }

    /** The release, from the file that every Kafka ships; Kafka's own reader of it moved in 4.4. */
    private static String kafkaVersion() {
        Properties properties = new Properties();
        try (InputStream file = MetricsReporter.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            if (file != null) {
                properties.load(file);
            }
        } catch (IOException e) {
            LOG.warn("The release of this broker is not known", e);
        }
        return properties.getProperty("version", "unknown").trim();
    }

    private ConnectionRegistry registry(Consumer<DumpRecord> sink, Drops drops) {
        Set<String> controllers = new HashSet<>(Arrays.asList(text("controller.listener.names").split("\\s*,\\s*")));
        boolean isContinuous = settings.watch == Settings.Watch.CONTINUOUS;
        long idle = DEFAULT_IDLE_MILLIS;
        try {
            idle = Long.parseLong(text("connections.max.idle.ms"));
        } catch (NumberFormatException e) {
            LOG.debug("connections.max.idle.ms has its default");
        }
        // Where requests are seen at times only, silence says nothing.
        long forgetAfter = isContinuous && idle > 0 ? idle + 60_000 : Math.max(LONG_IDLE_MILLIS, 2 * idle);
        return new ConnectionRegistry(sink, drops, controllers, isContinuous, forgetAfter);
    }

    /** The listeners of the broker, for the manifest; null if the configuration does not have them in the usual form. */
    private ArrayNode listeners() {
        Map<String, String> protocols = new HashMap<>();
        for (String pair : text("listener.security.protocol.map").split(",")) {
            int colon = pair.indexOf(':');
            if (colon > 0) {
                protocols.put(pair.substring(0, colon).trim(), pair.substring(colon + 1).trim());
            }
        }
        ArrayNode all = Manifests.JSON.createArrayNode();
        for (String listener : text("listeners").split(",")) {
            int colon = listener.indexOf(':');
            if (colon <= 0) {
                return null;
            }
            String name = listener.substring(0, colon).trim();
            String protocol = protocols.getOrDefault(name, name);
            ArrayNode mechanisms = all.addObject().put("name", name).put("security_protocol", protocol).putArray("sasl_mechanisms");
            if (protocol.startsWith("SASL")) {
                String own = text("listener.name." + name.toLowerCase(Locale.ROOT) + ".sasl.enabled.mechanisms");
                String mechanism = own.isEmpty() ? text("sasl.enabled.mechanisms") : own;
                for (String each : (mechanism.isEmpty() ? "GSSAPI" : mechanism).split("\\s*,\\s*")) {
                    mechanisms.add(each.trim());
                }
            }
        }
        return all;
    }

    private String text(String key) {
        Object value = configuration.get(key);
        if (value instanceof List) {
            return String.join(",", ((List<?>) value).stream().map(String::valueOf).toArray(String[]::new));
        }
        return value == null ? "" : value.toString();
    }

    /**
     * A push, on the broker's request thread: what this throws would reach the client, which then never pushes again.
     *
     * @param pushIntervalMs -1 where the broker does not tell
     */
    final void push(AuthorizableRequestContext context, ClientTelemetryPayload payload, int pushIntervalMs) {
        Dump current = dump;
        if (current == null) {
            return;
        }
        try {
            Instant now = Instant.now();
            current.queue.offer(record(context, payload, pushIntervalMs, now.getEpochSecond() * 1_000_000_000L + now.getNano()));
            status.pushes.increment();
        } catch (Throwable e) {
            current.drops.count(Drops.Reason.FAILED, 1);
            if (!isErrorReported) {
                isErrorReported = true;
                LOG.error("A push of client telemetry is lost, and counted as failed. Further ones are not logged.", e);
            }
        }
    }

    static DumpRecord record(AuthorizableRequestContext context, ClientTelemetryPayload payload, int pushIntervalMs, long nanos) {
        // The buffer is shared with other plugins and belongs to the request: its position stays, its bytes are copied.
        ByteBuffer data = payload.data().duplicate();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        Uuid id = payload.clientInstanceId();
        ProtobufWriter fields = new ProtobufWriter(384);
        fields.fixed64(5, nanos)
                .message(6, client(context).encode())
                .bytes(7, ByteBuffer.allocate(16)
                        .putLong(id.getMostSignificantBits()).putLong(id.getLeastSignificantBits()).array())
                .varint(8, payload.isTerminating() ? 1 : 0)
                .string(9, payload.contentType())
                .varint(10, bytes.length == 0 || bytes[0] == RESOURCE_METRICS ? NOT_COMPRESSED : NOT_KNOWN);
        if (pushIntervalMs >= 0) {
            fields.present(13, pushIntervalMs);
        }
        return new DumpRecord(Dataset.CLIENT_PUSHES, nanos, fields.toBytes(), bytes);
    }

    private static ClientConnection client(AuthorizableRequestContext context) {
        ClientConnection client = new ClientConnection();
        client.clientId = context.clientId();
        client.principal = context.principal() == null ? null : context.principal().toString();
        client.listenerName = context.listenerName();
        client.securityProtocol = context.securityProtocol() == null ? null : context.securityProtocol().name;
        if (context instanceof RequestContext) { // not part of Kafka's public interface; the same since 3.7
            RequestContext request = (RequestContext) context;
            if (request.connectionId != null) {
                client.connectionId(request.connectionId);
            }
            if (request.clientInformation != null) {
                client.softwareName = request.clientInformation.softwareName();
                client.softwareVersion = request.clientInformation.softwareVersion();
            }
        }
        if (context.clientAddress() != null) {
            client.clientAddress = context.clientAddress().getHostAddress();
        }
        return client;
    }

    @Override
    public void init(List<KafkaMetric> existing) {
        existing.forEach(metrics::add);
    }

    @Override
    public void metricChange(KafkaMetric metric) {
        metrics.add(metric);
    }

    @Override
    public void metricRemoval(KafkaMetric metric) {
        metrics.remove(metric);
    }

    @Override
    public void close() {
        Dump current = dump;
        dump = null; // Kafka goes on calling a reporter that was removed while it runs
        if (current != null) {
            current.stop();
            status.unregister();
            ACTIVE.compareAndSet(this, null);
        }
    }
}
