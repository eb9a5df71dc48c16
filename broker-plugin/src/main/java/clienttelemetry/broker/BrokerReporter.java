package clienttelemetry.broker;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.ProtobufWriter;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.identifiers.BoundedText;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.registry.ClientConnection;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.settings.Listeners;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.upload.ObjectStores;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigException;
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
public abstract class BrokerReporter implements MetricsReporter {
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
    /** In the names of the threads that serve requests, those of operators too ({@code data-plane-kafka-request-handler-0}). */
    private static final String REQUEST_HANDLER = "request-handler";

    private final BrokerMetrics metrics = new BrokerMetrics();
    private volatile Map<String, ?> configuration = Map.of();
    private volatile Settings settings;
    private volatile Dump dump;
    private DumpStatus status;
    private volatile boolean isErrorReported;
    /** How long it waits before it looks again whether the spool's disk takes anything. */
    long retryMillis = 60_000;
    private Thread retries;
    private volatile boolean isClosed;

    @Override
    public void configure(Map<String, ?> configs) {
        configuration = configs;
        try {
            settings = new Settings(configs);
        } catch (RuntimeException e) {
            LOG.error("Client telemetry is not dumped: {}", e.getMessage());
        } catch (LinkageError e) {
            LOG.error("Client telemetry is not dumped: this broker lacks a class that the plugin needs.", e);
        }
    }

    @Override
    public Set<String> reconfigurableConfigs() {
        return Settings.DEFINITION.names();
    }

    /**
     * Refuses what only a restart can change; what is not about this plugin is none of its business. Kafka asks when an
     * operator wants a change, and again when it applies what is stored, at each start too: an exception then would keep
     * all other dynamic settings of the broker from being applied ({@code DynamicBrokerConfig.updateCurrentConfig}).
     */
    @Override
    public void validateReconfiguration(Map<String, ?> configs) {
        if (Thread.currentThread().getName().contains(REQUEST_HANDLER)) {
            validate(configs);
        }
    }

    private void validate(Map<String, ?> configs) {
        List<String> changed = Settings.changed(configuration, configs);
        if (changed.isEmpty()) {
            return;
        }
        if (dump == null) {
            throw new ConfigException(changed.get(0) + " cannot be changed while the dump of client telemetry does not run: see the "
                    + "broker's log from its start, set it in server.properties and restart the broker");
        }
        Settings.Watch wanted = new Settings(configs).watch;
        if (wanted != Settings.Watch.OFF && !dump.canWatch()) {
            throw new ConfigException("connections cannot be watched with the logging of this process: see the broker's log from its start");
        }
        for (String setting : changed) {
            if (!Settings.DYNAMIC.contains(setting)) {
                throw new ConfigException(setting + " needs a restart of the broker; without one, " + Settings.DYNAMIC + " can be changed");
            }
        }
    }

    /** Applies what can be applied, and throws nothing: see {@link #validateReconfiguration}. */
    @Override
    public void reconfigure(Map<String, ?> configs) {
        Dump current = dump;
        List<String> changed = Settings.changed(configuration, configs);
        if (current == null || changed.isEmpty()) {
            return;
        }
        List<String> ignored = changed.stream().filter(name -> !Settings.DYNAMIC.contains(name)).collect(Collectors.toList());
        if (!ignored.isEmpty()) {
            LOG.error("Dynamic settings that are not applied, because they do not exist or need a restart: {}", ignored);
        }
        try {
            Map<String, Object> applied = new HashMap<>(configuration);
            applied.keySet().removeAll(Settings.DYNAMIC);
            Settings.DYNAMIC.stream().filter(configs::containsKey).forEach(name -> applied.put(name, configs.get(name)));
            Settings next = new Settings(applied);
            configuration = applied;
            settings = next;
            current.watch(next);
            LOG.info("Connections are watched {} from now on.", next.watch.text());
        } catch (RuntimeException e) {
            LOG.error("Connections are watched as before: {}", e.getMessage());
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
        } else if ("controller".equals(Listeners.text(configuration, "process.roles"))) {
            LOG.info("Client telemetry is not dumped: this process is a controller only, and has no clients.");
        } else if (!ACTIVE.compareAndSet(null, this)) {
            LOG.error("Client telemetry is dumped already: name only one of the plugin's classes in metric.reporters.");
        } else {
            start(clusterId, brokerId);
        }
    }

    private void start(String clusterId, String brokerId) {
        try {
            begin(clusterId, brokerId);
        } catch (IOException e) { // a disk that is full or away at the broker's start need not be so until its next one
            LOG.error("Client telemetry is not dumped: {}. The broker goes on without it; this is tried again every {} s.", e.getMessage(),
                    retryMillis / 1000, e);
            retries = new Thread(() -> retry(clusterId, brokerId), "client-telemetry-start");
            retries.setDaemon(true);
            retries.start();
        } catch (Exception | LinkageError | OutOfMemoryError e) { // an OutOfMemoryError is what a refused thread is, too
            givenUp(e);
        }
    }

    private void retry(String clusterId, String brokerId) {
        while (!isClosed && dump == null) {
            try {
                Thread.sleep(retryMillis);
                begin(clusterId, brokerId);
            } catch (IOException e) {
                LOG.debug("Client telemetry is not dumped yet", e);
            } catch (InterruptedException e) {
                return;
            } catch (Exception | LinkageError | OutOfMemoryError e) {
                givenUp(e);
                return;
            }
        }
    }

    private void givenUp(Throwable error) {
        ACTIVE.compareAndSet(this, null);
        LOG.error("Client telemetry is not dumped: {}. The broker goes on without it.", error.getMessage() == null ? error.toString() : error.getMessage(),
                error);
    }

    private synchronized void begin(String clusterId, String brokerId) throws IOException {
        if (isClosed) {
            return;
        }
        Instant startedAt = Instant.ofEpochMilli(ManagementFactory.getRuntimeMXBean().getStartTime());
        Incarnation broker = Incarnation.starting(clusterId, Integer.parseInt(brokerId), startedAt, kafkaVersion());
        metrics.leaveOut(settings.leftOut);
        Dump started = new Dump(broker, settings, ObjectStores.at(settings), metrics, configuration, this::registry, BrokerClock.SYSTEM);
        started.start();
        status = DumpStatus.register(started);
        dump = started;
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
        long idle = DEFAULT_IDLE_MILLIS;
        try {
            idle = Long.parseLong(Listeners.text(configuration, "connections.max.idle.ms"));
        } catch (NumberFormatException e) {
            LOG.debug("connections.max.idle.ms has its default");
        }
        return new ConnectionRegistry(sink, drops, Listeners.of(configuration), settings.identifiers, settings.leftOut, idle,
                settings.registryMaxBytes, System::nanoTime);
    }

    /** A push, on the broker's request thread: what this throws would reach the client, which then never pushes again. */
    final void push(AuthorizableRequestContext context, ClientTelemetryPayload payload) {
        Dump current = dump;
        if (current == null) {
            return;
        }
        try {
            Instant now = Instant.now();
            if (isLeftOut(context)) {
                return;
            }
            if (RecordEncoder.isOversized(payload.data().remaining())) { // not copied first: it may be gigabytes of zeros
                current.drops.count(Drops.Reason.OVERSIZED, 1);
                return;
            }
            int interval = current.pushIntervalMs(payload.clientInstanceId());
            current.queue.offer(record(settings.identifiers, context, payload, interval, now.getEpochSecond() * 1_000_000_000L + now.getNano()));
            status.pushes.increment();
        } catch (Throwable e) {
            current.drops.count(Drops.Reason.FAILED, 1);
            if (!isErrorReported) {
                isErrorReported = true;
                LOG.error("A push of client telemetry is lost, and counted as failed. Further ones are not logged.", e);
            }
        }
    }

    private boolean isLeftOut(AuthorizableRequestContext context) {
        Set<String> leftOut = settings.leftOut;
        return !leftOut.isEmpty() && (leftOut.contains(context.listenerName()) || leftOut.contains(String.valueOf(context.principal())));
    }

    /** @param pushIntervalMs -1 where it is not known */
    public static DumpRecord record(IdentifierRules identifiers, AuthorizableRequestContext context, ClientTelemetryPayload payload, int pushIntervalMs, long nanos) {
        // The buffer is shared with other plugins and belongs to the request: its position stays, its bytes are copied.
        ByteBuffer data = payload.data().duplicate();
        byte[] bytes = new byte[data.remaining()];
        data.get(bytes);
        Uuid id = payload.clientInstanceId();
        ProtobufWriter fields = new ProtobufWriter(384);
        fields.fixed64(5, nanos)
                .message(6, client(context).encode(identifiers))
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
        client.clientId = BoundedText.name(context.clientId());
        client.principal = context.principal() == null ? null : BoundedText.principal(context.principal().toString());
        client.listenerName = context.listenerName();
        client.securityProtocol = context.securityProtocol() == null ? null : context.securityProtocol().name;
        if (context instanceof RequestContext) { // not part of Kafka's public interface; the same since 3.7
            RequestContext request = (RequestContext) context;
            if (request.connectionId != null) {
                client.connectionId(request.connectionId);
            }
            if (request.clientInformation != null) {
                client.softwareName = BoundedText.name(request.clientInformation.softwareName());
                client.softwareVersion = BoundedText.name(request.clientInformation.softwareVersion());
            }
        }
        if (context.clientAddress() != null) {
            client.clientAddress = context.clientAddress().getHostAddress();
        }
        return client;
    }

    @Override
    public void init(List<KafkaMetric> existing) {
        existing.forEach(metrics::addExisting);
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
        synchronized (this) {
            isClosed = true;
        }
        if (retries != null) {
            retries.interrupt();
        }
        Dump current = dump;
        dump = null; // Kafka goes on calling a reporter that was removed while it runs
        if (current != null) {
            try {
                current.stop();
            } catch (RuntimeException | Error e) { // other reporters are closed after this one
                LOG.error("The dump of client telemetry did not end in order; the next start of the broker uploads what the spool holds.", e);
            }
            status.unregister();
        }
        ACTIVE.compareAndSet(this, null);
    }
}
