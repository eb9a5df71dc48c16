package clienttelemetry.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Map;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
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

    private static KafkaMetric throttled(double count) {
        return metric("client-metrics", "throttle-count", count, Map.of("client_instance_id", "x"));
    }

    @Test
    void gaugesAreSummedAndCountersCountWithinTheHour() {
        BrokerMetrics metrics = new BrokerMetrics();
        metrics.add(connections("0", 2));
        metrics.add(connections("1", 3));
        KafkaMetric before = throttled(5);
        metrics.add(before);
        ObjectNode manifest = Manifests.JSON.createObjectNode();
        metrics.describe(manifest);
        assertEquals(5, manifest.at("/connections/0/count").asInt());
        assertEquals(5, manifest.at("/client_metrics/throttle_count").asInt());

        metrics.nextHour();
        metrics.remove(before);
        metrics.add(throttled(7));
        metrics.add(metric("client-metrics", "instance-count", Double.NaN, Map.of()));
        ObjectNode next = Manifests.JSON.createObjectNode();
        metrics.describe(next);
        metrics.describe(next);
        assertEquals(2, next.at("/client_metrics/throttle_count").asInt());
    }

    @Test
    void aStoppingBrokerTakesItsGaugesAwayAndTheLastValuesStay() {
        BrokerMetrics metrics = new BrokerMetrics();
        KafkaMetric gauge = connections("0", 2);
        metrics.add(gauge);
        ObjectNode manifest = Manifests.JSON.createObjectNode();
        metrics.describe(manifest);
        metrics.remove(gauge);
        metrics.describe(manifest);
        assertEquals(2, manifest.at("/connections/0/count").asInt());
    }
}
