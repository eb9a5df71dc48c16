package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.registry.ConnectionRegistryTest;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.upload.FolderStore;
import clienttelemetry.broker.upload.Recovery;
import clienttelemetry.broker.upload.Uploads;
import clienttelemetry.broker.watch.LogTap;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the next start uploads after kill -9, of clients that come faster than they are told of one by one. */
class KilledBrokerTest {
    private static final Duration STEP = Duration.ofMillis(100);
    /** What a killed broker may lose. */
    private static final int UNSAVED_STEPS = 20;

    @TempDir
    Path folder;

    private final TestClock timeOfDay = new TestClock();
    private long ticks = 1_000_000_000L;
    private ConnectionRegistry registry;
    private Dump dump;

    /** Of the test, which calls it as the broker's loggers would. */
    private final class Registry implements Dump.RegistryFactory {
        @Override
        public ConnectionRegistry create(Consumer<DumpRecord> sink, Drops drops) {
            registry = ConnectionRegistryTest.registry(sink, drops, 64 << 20, () -> ticks);
            return registry;
        }

        @Override
        public LogTap tap(String logger, LogTap.Listener listener) {
            return new LogTap() {
                @Override
                public void listen(Detail detail) {
                    // the test calls the registry itself
                }

                @Override
                public void remove() {
                    // nothing to leave behind
                }
            };
        }
    }

    private void start() throws IOException {
        Settings settings = TestBroker.settings(folder, "connections", "continuous");
        dump = new Dump(TestBroker.BROKER, settings, new FolderStore(folder.resolve("raw"), false), new BrokerMetrics(), Map.of(), new Registry(),
                new BrokerClock(timeOfDay, () -> ticks));
        dump.begin();
    }

    private static String id(int client) {
        return "10.0.0.1:29200-10.9.9.9:" + (1000 + client) + "-0-" + client;
    }

    private void open(int client) {
        registry.request(ConnectionRegistryTest.line(18, 4, "\"app-" + client + "\"",
                "{\"clientSoftwareName\":\"lib\",\"clientSoftwareVersion\":\"1.0\"}", "{\"errorCode\":0,\"apiKeys\":[]}", id(client), "unknown"),
                timeOfDay.now.toEpochMilli());
    }

    private void close(int client) {
        registry.selected("[SocketServer listenerType=BROKER, nodeId=3] Connection with /10.9.9.9 (channelId=" + id(client) + ") disconnected",
                null, timeOfDay.now.toEpochMilli());
    }

    /** What the killed process left, recovered by another one. */
    private Set<String> recovered() throws Exception {
        Path left = folder.resolve("left");
        Path of = left.resolve(TestBroker.BROKER.id);
        Files.createDirectories(of);
        for (Path file : Recovery.list(folder.resolve("spool").resolve(TestBroker.BROKER.id))) {
            Files.copy(file, of.resolve(file.getFileName()));
        }
        Uploads uploads = new Uploads(new FolderStore(folder.resolve("recovered"), false), BrokerClock.SYSTEM);
        assertEquals(0, Recovery.recover(left, left.resolve("own"), TestBroker.BROKER, uploads));
        uploads.start();
        assertTrue(uploads.stop(Duration.ofSeconds(20)));
        return TestBroker.events(folder.resolve("recovered")).stream().map(event -> event.getClient().getClientId()).collect(Collectors.toSet());
    }

    /** A NAT gateway or a Kubernetes node: 0.1 lost 1,493 of 2,493 clients. */
    @ParameterizedTest
    @CsvSource({"2493, 1, 23", "2493, 1, 37", "100, 25, 60", "100, 40, 95"})
    void clientsBehindOneAddressAreOnDiskWithinTwoSeconds(int clientsAtOnce, int bursts, int killedAfterSteps) throws Exception {
        start();
        List<Integer> saved = new ArrayList<>();
        for (int step = 0; step < killedAfterSteps; step++) {
            for (int client = step * clientsAtOnce; step < bursts && client < (step + 1) * clientsAtOnce; client++) {
                open(client);
                if (client % 3 == 0) { // the others last
                    close(client);
                }
                if (step < killedAfterSteps - UNSAVED_STEPS) {
                    saved.add(client);
                }
            }
            timeOfDay.now = timeOfDay.now.plus(STEP);
            ticks += STEP.toNanos();
            dump.step(0);
        }
        Set<String> recovered = recovered();
        List<Integer> lost = saved.stream().filter(client -> !recovered.contains("app-" + client)).collect(Collectors.toList());
        assertTrue(saved.size() > 1000, saved.size() + " clients");
        assertTrue(lost.isEmpty(), lost.size() + " of " + saved.size() + " are lost");
        assertEquals(0, dump.drops.totals().values().stream().mapToLong(Long::longValue).sum());
    }
}
