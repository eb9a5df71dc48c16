package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.registry.ConnectionRegistryTest;
import clienttelemetry.broker.spool.RecordQueue;
import clienttelemetry.broker.upload.FolderStore;
import com.sun.management.OperatingSystemMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Random;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Not a test of every build: {@code make bench-plugin} runs it, on one core, and keeps what it prints: one JSON object a
 * line. Times in microseconds.
 */
class DumpBenchmark {
    private static final int PUSHES = 100_000;
    private static final int PUSHES_A_SECOND = 10_000;
    /** Together more than the compressor's window, so that no push is found whole in an earlier one. */
    private static final int PAYLOADS = 100;

    @TempDir
    Path folder;

    /** Real payloads one after the other, which is a payload again, with numbers of its own in each push. */
    private static ClientTelemetryPayload[] payloads() throws IOException {
        ByteArrayOutputStream real = new ByteArrayOutputStream();
        Path payloads = Path.of("../tests/data/payloads");
        while (real.size() < 30_000) {
            real.write(Files.readAllBytes(payloads.resolve("java-4.3.1-producer-all-delta.none.bin")));
            real.write(Files.readAllBytes(payloads.resolve("java-4.3.1-consumer-all-delta.none.bin")));
        }
        Random random = new Random(1);
        byte[] value = new byte[6];
        ClientTelemetryPayload[] all = new ClientTelemetryPayload[PAYLOADS];
        for (int i = 0; i < all.length; i++) {
            byte[] content = Arrays.copyOf(real.toByteArray(), 30_000);
            for (int at = 100; at + value.length < content.length; at += 120) { // about each point has another value
                random.nextBytes(value);
                System.arraycopy(value, 0, content, at, value.length);
            }
            all[i] = TestBroker.payload(content);
        }
        return all;
    }

    private static void report(String what, Object... namesAndValues) {
        StringBuilder row = new StringBuilder("BENCHMARK {\"what\": \"" + what + "\"");
        for (int i = 0; i < namesAndValues.length; i += 2) {
            row.append(String.format(Locale.ROOT, ", \"%s\": %s", namesAndValues[i], namesAndValues[i + 1]));
        }
        System.out.println(row.append("}"));
    }

    /** The first fifth is the compiler's. */
    private static long[] settled(long[] nanos) {
        long[] sorted = Arrays.copyOfRange(nanos, nanos.length / 5, nanos.length);
        Arrays.sort(sorted);
        return sorted;
    }

    private static double reportTimes(String what, long[] nanos) {
        long[] sorted = settled(nanos);
        double median = sorted[sorted.length / 2] / 1e3;
        report(what, "median", median, "p99", sorted[sorted.length * 99 / 100] / 1e3);
        return median;
    }

    @Test
    void pushesAtAGivenRate() throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Dump dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder), new FolderStore(folder.resolve("raw"), false), new BrokerMetrics(),
                java.util.Map.of(), null, BrokerClock.SYSTEM);
        dump.start();
        ClientTelemetryPayload[] payloads = payloads();
        RequestContext context = TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1");
        long[] took = new long[PUSHES];
        int compiled = PUSHES / 5;
        long start = 0;
        long cpuBefore = 0;
        long maxQueued = 0;
        for (int i = 0; i < PUSHES; i++) {
            if (i == compiled) {
                awaitEmpty(dump.queue);
                start = System.nanoTime();
                cpuBefore = system.getProcessCpuTime();
            }
            long due = start + (i - compiled) * (1_000_000_000L / PUSHES_A_SECOND) - System.nanoTime();
            while (i < compiled ? dump.queue.bytes() > 32 << 20 : due > 1_000_000) {
                Thread.sleep(1);
                due -= 1_000_000;
            }
            long now = TestBroker.nanos(Instant.now());
            long before = System.nanoTime();
            dump.queue.offer(BrokerReporter.record(IdentifierRules.CLEAR, context, payloads[i % payloads.length], 1000, now));
            took[i] = System.nanoTime() - before;
            maxQueued = i < compiled ? 0 : Math.max(maxQueued, dump.queue.bytes());
        }
        awaitEmpty(dump.queue);
        int counted = PUSHES - compiled;
        double seconds = (System.nanoTime() - start) / 1e9;
        double cpu = (system.getProcessCpuTime() - cpuBefore) / 1e3 / counted;
        dump.stop();
        long stored = 0;
        for (String key : TestBroker.keys(folder.resolve("raw"))) {
            stored += key.endsWith(".zst") ? Files.size(folder.resolve("raw").resolve(key)) : 0;
        }
        long dropped = dump.drops.of(Drops.Reason.QUEUE_FULL) + dump.drops.of(Drops.Reason.SPOOL_FULL);
        double median = reportTimes("a push of 30 kB, on the request thread", took);
        report("pushes of 30 kB on one core", "a_second", Math.round(counted / seconds), "dropped", dropped, "cpu", cpu,
                "queued_mb", maxQueued >> 20, "smaller", PUSHES * 30_000.0 / stored);
        assertEquals(0, dropped);
        assertTrue(median <= 20);
        assertTrue(cpu <= 100, cpu + " µs");
    }

    private static void awaitEmpty(RecordQueue queue) throws InterruptedException {
        while (queue.records() > 0) {
            Thread.sleep(1);
        }
    }

    @Test
    void lines() {
        ConnectionRegistry registry = ConnectionRegistryTest.registry(record -> { }, new Drops(), 64 << 20, System::nanoTime);
        String filler = "{\"name\":\"orders\",\"partitions\":[{\"index\":0,\"sizeInBytes\":1000}]},".repeat(9);
        String push = Base64.getEncoder().encodeToString(new byte[30_000]);
        for (String request : new String[] {"{\"transactionalId\":null,\"acks\":-1,\"topics\":[" + filler + "{}]}", "{\"metrics\":\"" + push + "\"}"}) {
            int key = request.startsWith("{\"t") ? 0 : 72;
            String[] lines = new String[500];
            for (int i = 0; i < lines.length; i++) {
                lines[i] = "Completed request:{\"isForwarded\":false,\"requestHeader\":{\"requestApiKey\":" + key
                        + ",\"requestApiVersion\":11,\"correlationId\":1,\"clientId\":\"orders-producer-1\",\"requestApiKeyName\":\"PRODUCE\"},\"request\":"
                        + request + ",\"response\":{\"throttleTimeMs\":0,\"errorCode\":0},\"connection\":\"127.0.0.1:9092-10.0.0.7:" + (40_000 + i)
                        + "-0-" + i + "\",\"totalTimeMs\":1.8,\"requestQueueTimeMs\":0.129,\"localTimeMs\":1.078,\"remoteTimeMs\":0.0,"
                        + "\"throttleTimeMs\":0,\"responseQueueTimeMs\":0.392,\"sendTimeMs\":0.199,\"securityProtocol\":\"SASL_SSL\",\"principal\":"
                        + "\"User:orders\",\"listener\":\"CLIENTS\","
                        + "\"clientInformation\":{\"softwareName\":\"apache-kafka-java\",\"softwareVersion\":\"3.9.1\"}}";
            }
            long[] took = new long[1_000_000 / (key + 1)];
            for (int i = 0; i < took.length; i++) {
                long before = System.nanoTime();
                registry.request(lines[i % lines.length], i);
                took[i] = System.nanoTime() - before;
            }
            double median = reportTimes("a request log line of " + lines[0].length() + " characters, on the logging thread", took);
            assertTrue(median <= 10);
        }
    }
}
