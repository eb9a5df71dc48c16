package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.upload.FolderStore;
import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Somebody clears the spool's disk under a running broker. */
class LostSpoolTest {
    @TempDir
    Path folder;

    private long ticks;
    private Dump dump;

    private void pass(int seconds) throws Exception {
        for (int i = 0; i < seconds; i++) {
            ticks += 1_000_000_000L;
            dump.step(0);
            while (dump.uploads.attemptOne()) {
                // as the thread would
            }
        }
    }

    private void push(int count) {
        for (int i = 0; i < count; i++) {
            dump.queue.offer(TestBroker.push(Instant.now(), new byte[] {(byte) i}));
        }
    }

    private static void delete(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).collect(Collectors.toList())) {
                Files.delete(each);
            }
        }
    }

    @Test
    void itBeginsAnewAndCountsWhatWasLost() throws Exception {
        Path spool = folder.resolve("spool");
        Path raw = folder.resolve("raw");
        dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder, "roll.ms", "60000"), new FolderStore(raw, false), new BrokerMetrics(), Map.of(), null,
                new BrokerClock(Clock.systemUTC(), () -> ticks));
        dump.begin();
        push(5);
        pass(2);
        delete(spool);
        pass(2);
        push(7);
        pass(70);
        assertTrue(Files.exists(spool.resolve(TestBroker.BROKER.id).resolve("broker.json")), "a successor can read it");
        dump.finish();
        pass(2);
        assertEquals(7, TestBroker.pushes(raw).size(), "it takes records again");
        long lost = 0;
        for (String key : TestBroker.keys(raw)) {
            if (key.endsWith(".json")) {
                JsonNode manifest = Json.MAPPER.readTree(Files.readAllBytes(raw.resolve(key)));
                lost += manifest.at("/dropped/spool_full").asLong();
                for (JsonNode file : manifest.get("files")) {
                    assertTrue(Files.exists(raw.resolve(file.get("key").asText())), "a manifest lists what there is");
                }
            }
        }
        assertEquals(5, lost, "what was in it is counted");
        List<Long> sequences = TestBroker.pushes(raw).stream().map(each -> each.getSequence()).sorted().collect(Collectors.toList());
        assertEquals(List.of(5L, 6L, 7L, 8L, 9L, 10L, 11L), sequences);
        assertFalse(Files.exists(folder.resolve("spool").resolve("lock")));
    }
}
