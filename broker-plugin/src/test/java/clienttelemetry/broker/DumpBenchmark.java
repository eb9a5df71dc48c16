package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.OperatingSystemMXBean;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.server.telemetry.ClientTelemetryPayload;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Not a test of every build: {@code make bench-plugin} runs it. It prints what docs/broker-plugin.md publishes. */
class DumpBenchmark {
    private static final int PUSHES = 100_000;

    @TempDir
    Path folder;

    /** Real payloads one after the other, which is a payload again, with numbers of its own in each push. */
    private static byte[] payload() throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        Path payloads = Path.of("../tests/data/payloads");
        while (payload.size() < 30_000) {
            payload.write(Files.readAllBytes(payloads.resolve("java-4.3.1-producer-all-delta.none.bin")));
            payload.write(Files.readAllBytes(payloads.resolve("java-4.3.1-consumer-all-delta.none.bin")));
        }
        return Arrays.copyOf(payload.toByteArray(), 30_000);
    }

    private static void report(String text, Object... values) {
        System.out.println("BENCHMARK " + String.format(Locale.ROOT, text, values));
    }

    /** The first fifth is the compiler's. */
    private static long[] settled(long[] nanos) {
        long[] sorted = Arrays.copyOfRange(nanos, nanos.length / 5, nanos.length);
        Arrays.sort(sorted);
        return sorted;
    }

    private static long median(long[] nanos) {
        long[] sorted = settled(nanos);
        return sorted[sorted.length / 2];
    }

    private static String microseconds(long[] nanos) {
        long[] sorted = settled(nanos);
        return String.format(Locale.ROOT, "median %.1f µs, 99 %% below %.1f µs", median(nanos) / 1e3, sorted[sorted.length * 99 / 100] / 1e3);
    }

    @Test
    void pushes() throws Exception {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        Dump dump = new Dump(TestBroker.BROKER, TestBroker.settings(folder), new FolderStore(folder.resolve("raw")), new BrokerMetrics(),
                null, null, Clock.systemUTC());
        dump.start();
        byte[] content = payload();
        RequestContext context = TestBroker.context("app", "127.0.0.1:9092-10.0.0.7:50123-0-1");
        long[] took = new long[PUSHES];
        Random random = new Random(1);
        byte[] value = new byte[6];
        long cpu = system.getProcessCpuTime();
        long maxQueued = 0;
        for (int i = 0; i < took.length; i++) {
            while (dump.queue.bytes() > 32 << 20) { // on a busy machine the writer may not get its core
                Thread.sleep(1);
            }
            for (int at = 100; at + value.length < content.length; at += 120) { // about each point has another value
                random.nextBytes(value);
                System.arraycopy(value, 0, content, at, value.length);
            }
            ClientTelemetryPayload payload = TestBroker.payload(content);
            long now = TestBroker.nanos(Instant.now());
            long before = System.nanoTime();
            dump.queue.offer(BrokerReporter.record(context, payload, 1000, now));
            took[i] = System.nanoTime() - before;
            maxQueued = Math.max(maxQueued, dump.queue.bytes());
        }
        dump.stop();
        double microseconds = (system.getProcessCpuTime() - cpu) / 1e3 / took.length;
        long stored = 0;
        for (String key : TestBroker.keys(folder.resolve("raw"))) {
            stored += key.endsWith(".zst") ? Files.size(folder.resolve("raw").resolve(key)) : 0;
        }
        report("a push of 30 kB on the request thread: %s", microseconds(took));
        report("all threads together: %.0f µs of CPU time for each, the benchmark's own load included: one core carries %.0f pushes "
                + "a second; %.1f times smaller in the spool; at most %d MB queued",
                microseconds, 1e6 / microseconds, (double) took.length * content.length / stored, maxQueued >> 20);
        assertEquals(0, dump.drops.of(Drops.Reason.QUEUE_FULL) + dump.drops.of(Drops.Reason.SPOOL_FULL));
        assertTrue(median(took) <= 20_000);
        assertTrue(microseconds <= 100);
    }

    @Test
    void lines() {
        ConnectionRegistry registry = new ConnectionRegistry(record -> { }, new Drops(), Set.of("CONTROLLER"), true, 600_000);
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
                        + "\"User:orders\",\"listener\":\"CLIENTS\",\"clientInformation\":{\"softwareName\":\"apache-kafka-java\",\"softwareVersion\":\"3.9.1\"}}";
            }
            long[] took = new long[1_000_000 / (key + 1)];
            for (int i = 0; i < took.length; i++) {
                long before = System.nanoTime();
                registry.request(lines[i % lines.length], i);
                took[i] = System.nanoTime() - before;
            }
            report("a line of the request log of %d characters: %s", lines[0].length(), microseconds(took));
            assertTrue(median(took) <= 10_000);
        }
    }
}
