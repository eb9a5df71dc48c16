package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.settings.Listeners;
import clienttelemetry.broker.settings.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.metrics.KafkaMetricsContext;
import org.apache.kafka.common.metrics.MetricsReporter;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerReporterTest {
    @TempDir
    Path folder;

    private Map<String, Object> configuration() {
        return Map.of("client.telemetry.dump.location", folder.resolve("raw").toUri().toString(),
                "client.telemetry.dump.spool.dir", folder.resolve("spool").toString(),
                "client.telemetry.dump.spool.min.free.bytes", 0L,
                "client.telemetry.dump.connections", "off",
                "listeners", "CLIENTS://:9092,CONTROLLER://:9093",
                "listener.security.protocol.map", "CLIENTS:SASL_SSL,CONTROLLER:PLAINTEXT",
                "sasl.enabled.mechanisms", List.of("SCRAM-SHA-512", "PLAIN"));
    }

    private static KafkaMetricsContext context() {
        return new KafkaMetricsContext("kafka.server", Map.of("kafka.cluster.id", "kQ7x0RvXTs-Y2r0m3Jw0zA", "kafka.node.id", "3"));
    }

    @Test
    void pushArrivesByteForByte() throws IOException {
        byte[] content = {10, 0, (byte) 0xFF, 7};
        ClientTelemetryPayload payload = TestBroker.payload(content);
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(configuration());
        reporter.contextChange(context());
        reporter.init(List.of());
        reporter.clientReceiver().exportMetrics(TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1"), payload);
        reporter.close();

        ClientPush push = TestBroker.pushes(folder.resolve("raw")).get(0);
        assertArrayEquals(content, push.getPayload().toByteArray());
        assertEquals(0, payload.data().position(), "other plugins get the same buffer");
        CRC32C checksum = new CRC32C();
        checksum.update(content);
        assertEquals((int) checksum.getValue(), push.getPayloadCrc32C());
        assertEquals(3, push.getBrokerId());
        assertEquals(0, push.getSequence());
        assertArrayEquals(ByteBuffer.allocate(16).putLong(1).putLong(2).array(), push.getClientInstanceId().toByteArray());
        assertTrue(push.getTerminating());
        assertEquals("OTLP", push.getContentType());
        assertEquals(0, push.getCompressionType());
        assertFalse(push.hasPushIntervalMs());
        assertEquals("app", push.getClient().getClientId());
        assertEquals("User:alice", push.getClient().getPrincipal());
        assertEquals("10.0.0.7", push.getClient().getClientAddress());
        assertEquals(50123, push.getClient().getClientPort());
        assertEquals("CLIENTS", push.getClient().getListenerName());
        assertEquals("SASL_SSL", push.getClient().getSecurityProtocol());
        assertEquals("apache-kafka-java", push.getClient().getClientSoftwareName());
        assertEquals("3.9.1", push.getClient().getClientSoftwareVersion());
        String hour = Hour.ofNanos(push.getReceivedAtNanos()).toString().substring(11);
        assertEquals("[\"SCRAM-SHA-512\",\"PLAIN\"]",
                TestBroker.manifest(folder.resolve("raw"), hour).at("/listeners/0/sasl_mechanisms").toString());
    }

    @Test
    void nullClientIdIsAbsent() throws IOException {
        ClientPush push = ClientPush.parseFrom(BrokerReporter.record(IdentifierRules.CLEAR,
                TestBroker.context(null, "[odd]"), TestBroker.payload(new byte[] {1}), 5000, 7).fields);
        assertFalse(push.getClient().hasClientId());
        assertFalse(push.getClient().hasClientPort());
        assertEquals(5000, push.getPushIntervalMs());
        assertEquals(-1, push.getCompressionType(), "Kafka 3.7 does not decompress");
    }

    @Test
    void badSettingsStopThePluginAndNotTheBroker() {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        assertDoesNotThrow(() -> {
            reporter.configure(Map.of("client.telemetry.dump.location", "somewhere"));
            reporter.contextChange(context());
            reporter.init(List.of());
            reporter.clientReceiver().exportMetrics(null, null);
            reporter.close();
        });
    }

    /** A disk that was full when the broker started kept the plugin out until its next start. */
    @Test
    void aDiskThatComesBackIsUsed() throws Exception {
        Path notYet = Files.createFile(folder.resolve("disk"));
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.retryMillis = 50;
        reporter.configure(with("spool.dir", notYet.resolve("spool").toString()));
        reporter.contextChange(context());
        assertFalse(Files.exists(notYet.resolve("spool")));
        Files.delete(notYet);
        for (int i = 0; i < 100 && !Files.exists(notYet.resolve("spool")); i++) {
            Thread.sleep(50);
        }
        assertTrue(Files.exists(notYet.resolve("spool")));
        reporter.close();

        ClientTelemetryReporter closed = new ClientTelemetryReporter();
        closed.retryMillis = 50;
        Path never = Files.createFile(folder.resolve("never"));
        closed.configure(with("spool.dir", never.resolve("spool").toString()));
        closed.contextChange(context());
        closed.close();
        Files.delete(never);
        Thread.sleep(200);
        assertFalse(Files.exists(never), "a broker that stopped begins nothing");
        ClientTelemetryReporter next = new ClientTelemetryReporter();
        next.configure(configuration());
        next.contextChange(context());
        assertTrue(Files.exists(folder.resolve("spool")), "and leaves its place to others");
        next.close();
    }

    @Test
    void aPushThatCannotBeReadIsNotTheClientsFault() {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(configuration());
        reporter.contextChange(context());
        assertDoesNotThrow(() -> reporter.clientReceiver().exportMetrics(null, null));
        reporter.close();
    }

    /** Kafka bounds what a client sends, not what it becomes: 1 MiB of zstd is gigabytes of zeros, on the broker's heap already. */
    @Test
    void aPushThatIsTooLongIsNotCopied() throws IOException {
        byte[] bomb = new byte[RecordEncoder.MAX_RECORD_BYTES + 1];
        bomb[0] = 10;
        ClientTelemetryPayload payload = TestBroker.payload(bomb);
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(configuration());
        reporter.contextChange(context());
        com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
        reporter.clientReceiver().exportMetrics(TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1"), payload);
        long allocated = threads.getThreadAllocatedBytes(Thread.currentThread().getId()) - before;
        reporter.close();
        assertTrue(allocated < 1 << 20, allocated + " bytes allocated on the request thread");
        String key = TestBroker.keys(folder.resolve("raw")).stream().filter(each -> each.contains("manifests")).findFirst().orElseThrow();
        String dropped = Json.MAPPER.readTree(Files.readAllBytes(folder.resolve("raw").resolve(key))).get("dropped").toString();
        assertTrue(dropped.contains("\"oversized\":1"), dropped);
    }

    /**
     * Brokers before 4.2 lack the interfaces of KIP-1217, and do not start if a class cannot be loaded; the name that 0.1
     * wanted on newer ones stopped a broker that was downgraded.
     */
    @ParameterizedTest
    @ValueSource(classes = {ClientTelemetryReporter.class, ClientTelemetryExporterReporter.class})
    void everyBrokerLoadsBothNames(Class<?> name) throws Exception {
        try (Hiding loader = new Hiding("ClientTelemetryExporter")) {
            Class<?> reporter = loader.loadClass(name.getName());
            assertNotNull(reporter.getDeclaredConstructor().newInstance());
            assertTrue(MetricsReporter.class.isAssignableFrom(reporter));
            reporter.getMethods(); // links every signature
        }
    }

    private Map<String, Object> with(String... more) {
        Map<String, Object> all = new HashMap<>(configuration());
        for (int i = 0; i < more.length; i += 2) {
            all.put("client.telemetry.dump." + more[i], more[i + 1]);
        }
        return all;
    }

    @Test
    void aMisspeltSettingIsAnErrorThatNamesTheNearest() {
        ConfigException refused = assertThrows(ConfigException.class, () -> new Settings(with("conections", "continuous")));
        assertEquals("client.telemetry.dump.conections is not a setting of the dump of client telemetry; do you mean "
                + "client.telemetry.dump.connections?", refused.getMessage());
        refused = assertThrows(ConfigException.class, () -> new Settings(with("something.else.altogether", "x")));
        assertFalse(refused.getMessage().contains("do you mean"), refused.getMessage());
    }

    @Test
    void aMisspeltPrefixIsAnErrorToo() {
        for (String name : new String[] {"client.telemtry.dump.connections", "client.telemetry.dumps.connections", "Client.Telemetry.Dump.Connections"}) {
            Map<String, Object> all = with();
            all.put(name, "continuous");
            ConfigException refused = assertThrows(ConfigException.class, () -> new Settings(all), name);
            assertTrue(refused.getMessage().endsWith("do you mean client.telemetry.dump.connections?"), refused.getMessage());
        }
        Map<String, Object> others = with();
        others.put("telemetry.max.bytes", "5");
        others.put("client.quota.callback.class", "x");
        others.put("client.telemetry.other.plugin", "x");
        assertDoesNotThrow(() -> new Settings(others));
    }

    /** A listener that is excluded under a name that it does not have would be told of. */
    @Test
    void excludedListenersAreThoseOfTheBroker() {
        assertEquals(Set.of("CLIENTS"), new Settings(with("exclude.listeners", "clients")).leftOut);
        ConfigException refused = assertThrows(ConfigException.class, () -> new Settings(with("exclude.listeners", "CLIENT")));
        assertTrue(refused.getMessage().contains("client.telemetry.dump.exclude.listeners") && refused.getMessage().contains("CLIENTS, CONTROLLER"),
                refused.getMessage());
        Map<String, Object> lowerCase = new HashMap<>(with("exclude.listeners", "CLIENTS"));
        lowerCase.put("listeners", "clients://:9092,controller://:9093");
        lowerCase.put("controller.listener.names", "controller");
        assertEquals(Set.of("CLIENTS"), new Settings(lowerCase).leftOut);
        assertTrue(Listeners.of(lowerCase).isOfControllers("CONTROLLER"), "as the request log spells it");
        assertEquals("CLIENTS", Listeners.of(lowerCase).onPort(9092).name);
    }

    /** What `kafka-configs.sh` says is so: a change is applied, or refused. */
    @Test
    void aDynamicChangeIsAppliedOrRefused() throws Exception {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(with("connections", "off"));
        reporter.contextChange(context());
        try {
            assertTrue(reporter.reconfigurableConfigs().contains("client.telemetry.dump.connections"));
            Map<String, Object> minutes = with("connections", "off", "connections.sampled.minutes", "7");
            ask(reporter, minutes);
            reporter.reconfigure(minutes);
            assertThrows(ConfigException.class, () -> ask(reporter, with("connections", "sometimes")));
            ConfigException refused = assertThrows(ConfigException.class,
                    () -> ask(reporter, with("connections", "off", "roll.ms", "1000")));
            assertTrue(refused.getMessage().startsWith("client.telemetry.dump.roll.ms needs a restart")
                    || refused.getMessage().startsWith("client.telemetry.dump.connections.sampled"), refused.getMessage());
            refused = assertThrows(ConfigException.class, () -> ask(reporter, with("connections", "continuous")));
            assertTrue(refused.getMessage().contains("logging of this process"), "this test has neither log4j 2 nor reload4j bound");
            Map<String, Object> others = new HashMap<>(minutes);
            others.put("log.retention.ms", "5");
            ask(reporter, others);
        } finally {
            reporter.close();
        }
    }

    /** As Kafka does it on the thread that serves the operator's request. */
    private static void ask(ClientTelemetryReporter reporter, Map<String, ?> configuration) throws Exception {
        AtomicReference<ConfigException> refused = new AtomicReference<>();
        Thread handler = new Thread(() -> {
            try {
                reporter.validateReconfiguration(configuration);
            } catch (ConfigException e) {
                refused.set(e);
            }
        }, "data-plane-kafka-request-handler-3");
        handler.start();
        handler.join();
        if (refused.get() != null) {
            throw refused.get();
        }
    }

    /**
     * Kafka validates once more when it applies what is stored, also at a start; an exception then keeps every other dynamic
     * setting of the broker from being applied. What is stored may be wrong: Kafka does not ask about names that the plugin
     * does not have, and brokers without the plugin take anything.
     */
    @Test
    void whatIsStoredNeverKeepsOtherSettingsFromBeingApplied() {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(with("connections", "sampled"));
        reporter.contextChange(context());
        try {
            for (Map<String, Object> stored : List.of(with("conections", "off", "connections", "off"), with("connections", "sometimes"),
                    with("connections", "off", "roll.ms", "7"))) {
                assertDoesNotThrow(() -> reporter.validateReconfiguration(stored));
                assertDoesNotThrow(() -> reporter.reconfigure(stored));
            }
        } finally {
            reporter.close();
        }
    }

    /** A change of other settings is not refused because the plugin has bad ones. */
    @Test
    void badSettingsDoNotStandInTheWayOfOtherChanges() {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(with("location", "somewhere"));
        reporter.contextChange(context());
        Map<String, Object> others = with("location", "somewhere");
        others.put("log.retention.ms", "5");
        assertDoesNotThrow(() -> ask(reporter, others));
        assertDoesNotThrow(() -> reporter.reconfigure(others));
        ConfigException refused = assertThrows(ConfigException.class, () -> ask(reporter, configuration()));
        assertTrue(refused.getMessage().contains("does not run"), refused.getMessage());
    }

    @Test
    void spoolAndObjectsAreForTheBrokersUserAlone() throws Exception {
        ClientTelemetryReporter reporter = new ClientTelemetryReporter();
        reporter.configure(configuration());
        reporter.contextChange(context());
        reporter.clientReceiver().exportMetrics(TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1"), TestBroker.payload(new byte[] {1}));
        for (int i = 0; i < 50 && modes(folder.resolve("spool")).size() < 4; i++) {
            Thread.sleep(100);
        }
        assertEquals(Set.of("rwx------ folder", "rw------- file"), Set.copyOf(modes(folder.resolve("spool")).values()));
        reporter.close();
        assertEquals(Set.of("rwx------ folder", "rw------- file"), Set.copyOf(modes(folder.resolve("raw")).values()));
    }

    private static Map<String, String> modes(Path root) throws IOException {
        Map<String, String> modes = new HashMap<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.collect(Collectors.toList())) {
                modes.put(each.toString(), PosixFilePermissions.toString(Files.getPosixFilePermissions(each))
                        + (Files.isDirectory(each) ? " folder" : " file"));
            }
        }
        return modes;
    }

    /** Loads the plugin's classes itself, and finds no Kafka class with this in its name. */
    private static final class Hiding extends ClassLoader implements AutoCloseable {
        private final String hidden;

        Hiding(String hidden) {
            super(BrokerReporterTest.class.getClassLoader());
            this.hidden = hidden;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (name.startsWith("org.apache.kafka") && name.contains(hidden)) {
                throw new ClassNotFoundException(name);
            }
            if (!name.startsWith("clienttelemetry.")) {
                return super.loadClass(name, resolve);
            }
            Class<?> loaded = findLoadedClass(name);
            if (loaded == null) {
                try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
                    byte[] content = file.readAllBytes();
                    loaded = defineClass(name, content, 0, content.length);
                } catch (IOException e) {
                    throw new ClassNotFoundException(name, e);
                }
            }
            resolveClass(loaded);
            return loaded;
        }

        @Override
        public void close() {
            // nothing is open
        }
    }
}
