package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import client_telemetry.raw.v1.RawDumpV1.ClientPush;
import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.upload.FolderStore;
import clienttelemetry.broker.upload.ObjectStore;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A dump on a time of day that steps, and on simulated days, without threads. */
class SteppingClockTest {
    @TempDir
    Path folder;

    private final TestClock timeOfDay = new TestClock();
    private long ticks = 1_000_000_000L;
    private boolean isStoreDown;
    private int pushed;
    private int puts;
    private final List<String> stored = new ArrayList<>();
    private Dump dump;

    private Path raw() {
        return folder.resolve("raw");
    }

    private void start(String... settings) throws Exception {
        FolderStore store = new FolderStore(raw(), false);
        ObjectStore unreliable = (key, file, sha256) -> {
            puts++;
            if (isStoreDown) {
                throw new IOException("the store is down");
            }
            store.put(key, file, sha256);
            stored.add(key);
        };
        dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder, settings), unreliable, new BrokerMetrics(), java.util.Map.of(), null,
                new BrokerClock(timeOfDay, () -> ticks));
        dump.begin();
    }

    /** Time goes on, second by second. */
    private void pass(Duration time) throws Exception {
        for (long second = 0; second < time.toSeconds(); second++) {
            timeOfDay.now = timeOfDay.now.plusSeconds(1);
            ticks += 1_000_000_000L;
            dump.step(0);
            while (dump.uploads.attemptOne()) {
                // as the thread would
            }
        }
    }

    private void push() {
        dump.queue.offer(TestBroker.push(timeOfDay.now, new byte[] {(byte) pushed, (byte) (pushed >> 8), (byte) (pushed >> 16)}));
        pushed++;
    }

    private void finish() throws Exception {
        dump.finish();
        while (dump.uploads.attemptOne()) {
            // until all has gone
        }
    }

    private void nothingIsLostOrTwice() throws IOException {
        List<Long> sequences = TestBroker.pushes(raw()).stream().map(ClientPush::getSequence).sorted().collect(Collectors.toList());
        assertEquals(LongStream.range(0, pushed).boxed().collect(Collectors.toList()), sequences);
        Set<String> listed = new HashSet<>();
        Set<String> objects = new HashSet<>();
        int entries = 0;
        for (String key : TestBroker.keys(raw())) {
            if (key.endsWith(".json")) {
                for (JsonNode file : Json.MAPPER.readTree(Files.readAllBytes(raw().resolve(key))).get("files")) {
                    listed.add(file.get("key").asText());
                    entries++;
                }
            } else {
                objects.add(key);
            }
        }
        assertEquals(objects, listed, "manifests list what there is");
        assertEquals(objects.size(), entries, "each once");
    }

    private long manifests() throws IOException {
        return TestBroker.keys(raw()).stream().filter(key -> key.endsWith(".json")).count();
    }

    /** 0.1 stopped uploads, manifests and the end of sampling for an hour, with every gauge green. */
    @Test
    void backAnHour() throws Exception {
        timeOfDay.now = Instant.parse("2026-11-20T13:10:00Z");
        start("roll.ms", "60000");
        push();
        pass(Duration.ofMinutes(2));
        int before = stored.size();
        assertEquals(1, before);
        timeOfDay.now = timeOfDay.now.minus(Duration.ofHours(1));
        push();
        pass(Duration.ofSeconds(2));
        assertTrue(TestBroker.keys(raw()).stream().anyMatch(key -> key.contains("/hour=13/") && key.endsWith(".json")), "the hour ended");
        pass(Duration.ofMinutes(2));
        assertTrue(stored.stream().anyMatch(key -> key.contains("client_pushes") && key.contains("/hour=12/")), stored.toString());
        assertTrue(dump.writerLagSeconds() < 2);
        assertEquals(0, dump.uploads.lagSeconds());
        pass(Duration.ofMinutes(90)); // through 13 o'clock once more
        push();
        finish();
        nothingIsLostOrTwice();
        assertEquals(2, manifests());
        assertEquals(2, TestBroker.manifest(raw(), "13").get("files").size());
    }

    /** 0.1 wrote 9,600 manifests of hours that never were, and then nothing. */
    @Test
    void forward400Days() throws Exception {
        start("roll.ms", "60000");
        push();
        pass(Duration.ofMinutes(1));
        timeOfDay.now = timeOfDay.now.plus(Duration.ofDays(400));
        push();
        pass(Duration.ofMinutes(61));
        push();
        finish();
        nothingIsLostOrTwice();
        assertEquals(3, manifests());
        assertTrue(TestBroker.keys(raw()).stream().anyMatch(key -> key.contains("dt=2027-12-25/hour=13") && key.endsWith(".json")),
                TestBroker.keys(raw()).toString());
        assertTrue(dump.writerLagSeconds() < 2);
    }

    @Test
    void forwardWithinTheHourAndOverItsEdge() throws Exception {
        start();
        push();
        timeOfDay.now = timeOfDay.now.plus(Duration.ofMinutes(20));
        pass(Duration.ofSeconds(5));
        timeOfDay.now = timeOfDay.now.plus(Duration.ofMinutes(50));
        push();
        pass(Duration.ofSeconds(5));
        assertEquals(1, manifests(), "the hour that was left ended at once");
        finish();
        nothingIsLostOrTwice();
        assertEquals(2, manifests());
    }

    @Test
    void backSomeSecondsOverTheEdgeOfTheHour() throws Exception {
        timeOfDay.now = Instant.parse("2026-11-20T13:00:02Z");
        start();
        push();
        pass(Duration.ofSeconds(5));
        timeOfDay.now = timeOfDay.now.minusSeconds(10);
        push();
        pass(Duration.ofSeconds(30));
        push();
        finish();
        nothingIsLostOrTwice();
    }

    @Test
    void theLagIsTrueOverSteps() throws Exception {
        start("roll.ms", "10000");
        isStoreDown = true;
        push();
        pass(Duration.ofMinutes(2));
        timeOfDay.now = timeOfDay.now.minus(Duration.ofDays(2));
        pass(Duration.ofMinutes(1));
        double lag = dump.uploads.lagSeconds();
        assertTrue(lag > 160 && lag < 190, lag + " s");
        timeOfDay.now = timeOfDay.now.plus(Duration.ofDays(300));
        pass(Duration.ofMinutes(1));
        lag = dump.uploads.lagSeconds();
        assertTrue(lag > 220 && lag < 250, lag + " s");
        isStoreDown = false;
        pass(Duration.ofMinutes(2));
        assertTrue(dump.uploads.lagSeconds() < 10);
        finish();
        nothingIsLostOrTwice();
    }

    /** A day, of which the store is away for minutes every two hours and for three hours once. */
    @Test
    void aDayWithOutages() throws Exception {
        start();
        for (int minute = 0; minute < 24 * 60; minute++) {
            isStoreDown = minute % 120 >= 110 || minute >= 600 && minute < 780;
            push();
            pass(Duration.ofSeconds(30));
            push();
            pass(Duration.ofSeconds(30));
        }
        isStoreDown = false;
        pass(Duration.ofMinutes(3));
        push();
        finish();
        nothingIsLostOrTwice();
        assertEquals(25, manifests());
        assertTrue(puts > stored.size(), "there were outages");
        assertEquals(stored.size(), new HashSet<>(stored).size() + repeatedManifests(), "objects were put once");
        assertEquals(0, dump.uploads.waiting());
    }

    /** The manifest in the spool says until when the broker ran, for the successor of one that is killed; no record has to come. */
    @Test
    void anIdleBrokerIsKnownToRun() throws Exception {
        start();
        pass(Duration.ofMinutes(7));
        Path manifest = Manifests.path(folder.resolve("spool").resolve(TestBroker.BROKER.id), Hour.of(timeOfDay.now));
        Instant alive = Instant.parse(Json.MAPPER.readTree(Files.readAllBytes(manifest)).get("alive_at").asText());
        assertTrue(Duration.between(alive, timeOfDay.now).compareTo(Duration.ofSeconds(11)) <= 0, alive + " is long before " + timeOfDay.now);
    }

    private int repeatedManifests() {
        List<String> manifests = stored.stream().filter(key -> key.endsWith(".json")).collect(Collectors.toList());
        return manifests.size() - new HashSet<>(manifests).size();
    }
}
