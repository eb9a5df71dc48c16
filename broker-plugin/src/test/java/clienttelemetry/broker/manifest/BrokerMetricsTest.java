package clienttelemetry.broker.manifest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.identifiers.BoundedText;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Set;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.Measurable;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.utils.Time;
import org.junit.jupiter.api.Test;

class BrokerMetricsTest {
    private static KafkaMetric metric(String group, String name, Object value, Map<String, String> tags) {
        return new KafkaMetric(new Object(), new MetricName(name, group, "", tags), (Gauge<Object>) (config, now) -> value,
                new MetricConfig(), Time.SYSTEM);
    }

    private static KafkaMetric connections(String processor, int count) {
        return metric("socket-server-metrics", "connections", count, Map.of("clientSoftwareName", "apache-kafka-java",
                "clientSoftwareVersion", "3.9.1", "listener", "CLIENTS", "networkProcessor", processor));
    }

    private static KafkaMetric throttled(double[] count) {
        return new KafkaMetric(new Object(), new MetricName("throttle-count", "client-metrics", "", Map.of("client_instance_id", "x")),
                (Measurable) (config, now) -> count[0], new MetricConfig(), Time.SYSTEM);
    }

    private static int throttles(ObjectNode manifest) {
        return manifest.at("/client_metrics/throttle_count").asInt();
    }

    @Test
    void gaugesAreSummedAndCountersCountWithinTheHour() {
        BrokerMetrics metrics = new BrokerMetrics();
        metrics.add(connections("0", 2));
        metrics.add(connections("1", 3));
        double[] count = {5};
        metrics.add(throttled(count));
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        metrics.describe(manifest);
        assertEquals(5, manifest.at("/connections/0/count").asInt());
        assertEquals(5, throttles(manifest));
        count[0] = 6;
        metrics.describe(manifest);
        assertEquals(6, throttles(manifest), "the hour's sum");

        count[0] = 8;
        ObjectNode next = Json.MAPPER.createObjectNode();
        metrics.add(metric("client-metrics", "instance-count", Double.NaN, Map.of()));
        metrics.describe(next);
        metrics.describe(next);
        assertEquals(2, throttles(next));
    }

    /** Kafka takes an instance's meters away when it disconnects: 0.1 then missed what they had counted since its last look. */
    @Test
    void whatAnInstanceCountedBeforeItLeftIsNotLost() {
        BrokerMetrics metrics = new BrokerMetrics();
        double[] count = {0};
        KafkaMetric first = throttled(count);
        metrics.add(first);
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        metrics.describe(manifest);
        count[0] = 1;
        metrics.remove(first);
        metrics.describe(manifest);
        assertEquals(1, throttles(manifest));
        double[] again = {3};
        metrics.add(throttled(again));
        metrics.describe(manifest);
        assertEquals(4, throttles(manifest), "the same instance again, on another connection");
        double[] old = {100};
        KafkaMetric existing = throttled(old);
        metrics.addExisting(existing);
        old[0] = 101;
        metrics.describe(manifest);
        assertEquals(5, throttles(manifest), "what was counted before the plugin came is of no hour");
    }

    /** Kafka's gauges take software names of 32 kB, a hundred for each network thread, and manifests are written all the time. */
    @Test
    void longNamesOfSoftwareAreCutInTheManifest() {
        BrokerMetrics metrics = new BrokerMetrics();
        for (int i = 0; i < 300; i++) {
            metrics.add(metric("socket-server-metrics", "connections", 1, Map.of("clientSoftwareName", i + "x".repeat(32_000),
                    "clientSoftwareVersion", "1".repeat(32_000), "listener", "CLIENTS", "networkProcessor", "0")));
        }
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        metrics.describe(manifest);
        assertEquals(300, manifest.get("connections").size());
        assertTrue(manifest.toString().length() < 300 * 1000, manifest.toString().length() + " characters");
        assertTrue(BoundedText.isCut(manifest.at("/connections/7/client_software_name").asText()));
    }

    @Test
    void ofListenersThatAreLeftOutNothingIsTold() {
        BrokerMetrics metrics = new BrokerMetrics();
        metrics.leaveOut(Set.of("CLIENTS"));
        metrics.add(connections("0", 2));
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        metrics.describe(manifest);
        assertEquals(0, manifest.get("connections").size());
        assertEquals(2, metrics.connectionsBySoftware(listener -> false).values().iterator().next(), "and they are compared all the same");
    }

    /** As Kafka registers its meters and its state. */
    public interface YammerMBean {
        long getCount();

        Object getValue();
    }

    private static final class Yammer implements YammerMBean {
        private final Object value;

        Yammer(Object value) {
            this.value = value;
        }

        @Override
        public long getCount() {
            return ((Number) value).longValue();
        }

        @Override
        public Object getValue() {
            return value;
        }
    }

    @Test
    void aStoppingBrokerTakesItsMetricsAwayAndTheLastValuesStay() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName state = new ObjectName("kafka.server:type=KafkaServer,name=BrokerState");
        ObjectName produced = new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=11");
        ObjectName fetched = new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Fetch,version=17");
        BrokerMetrics metrics = new BrokerMetrics();
        KafkaMetric gauge = connections("0", 2);
        metrics.add(gauge);
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        try {
            server.registerMBean(new Yammer((byte) 3), state);
            server.registerMBean(new Yammer(5), produced);
            server.registerMBean(new Yammer(6), fetched);
            metrics.describe(manifest);
            server.unregisterMBean(state);
            server.registerMBean(new Yammer((byte) 7), state);
            server.unregisterMBean(produced);
            metrics.remove(gauge);
            assertFalse(metrics.describe(manifest), "what it counts now is no comparison for the registry either");
            server.unregisterMBean(state);
            metrics.describe(manifest);
        } finally {
            for (ObjectName each : server.queryNames(new ObjectName("kafka.*:*"), null)) {
                server.unregisterMBean(each);
            }
        }
        assertEquals(2, manifest.at("/connections/0/count").asInt());
        assertEquals(Set.of("[0,11,5]", "[1,17,6]"),
                Set.of(manifest.at("/requests/0").toString(), manifest.at("/requests/1").toString()));
    }

    /** Kafka has a meter for each version that a client makes up: one connection made 32,000 rows in each manifest. */
    @Test
    void versionsThatNobodyHasGetNoRows() throws Exception {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        BrokerMetrics metrics = new BrokerMetrics();
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        try {
            for (int version : new int[] {-7, 0, 4, 9, 99, 32_767}) {
                server.registerMBean(new Yammer(1), new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=ApiVersions,version="
                        + version));
            }
            metrics.describe(manifest);
            assertEquals(6, metrics.requestsCounted(), "they count as requests all the same");
        } finally {
            for (ObjectName each : server.queryNames(new ObjectName("kafka.*:*"), null)) {
                server.unregisterMBean(each);
            }
        }
        assertEquals("[[18,0,1],[18,4,1],[18,9,1]]", manifest.get("requests").toString());
    }
}
