package clienttelemetry.broker;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * What the broker itself counts, for the manifest: its KIP-511 gauges, its requests by version, and how its side of
 * KIP-714 fares. Counters are given as increases within the hour.
 */
final class BrokerMetrics {
    private static final String CLIENT_METRICS = "client-metrics";
    /** Of org.apache.kafka.metadata.BrokerState. */
    private static final int SHUTTING_DOWN = 7;
    private static final String SOFTWARE_NAME = "clientSoftwareName";

    private final Set<KafkaMetric> metrics = ConcurrentHashMap.newKeySet();
    private Map<Object, Double> before = new HashMap<>();
    private Map<Object, Double> now = new HashMap<>();
    private boolean isStateTold;

    void add(KafkaMetric metric) {
        MetricName name = metric.metricName();
        boolean isSoftware = name.group().equals("socket-server-metrics") && name.name().equals("connections")
                && name.tags().containsKey(SOFTWARE_NAME);
        if (isSoftware || name.group().equals(CLIENT_METRICS)) {
            metrics.add(metric);
        }
    }

    void remove(KafkaMetric metric) {
        metrics.remove(metric);
    }

    /** Begins another hour: counters count from the last {@link #describe} on. */
    void nextHour() {
        before = now;
    }

    /** Puts {@code connections}, {@code requests} and {@code client_metrics}, as they are now, into a manifest. */
    void describe(ObjectNode manifest) {
        if (manifest.has("connections") && isShuttingDown()) {
            return; // it closes connections and takes its metrics away, one by one: the values from before count
        }
        now = new HashMap<>();
        connections(manifest.putArray("connections"));
        clientMetrics(manifest.putObject("client_metrics"));
        ArrayNode requests = requests();
        if (requests != null) {
            manifest.set("requests", requests);
        }
    }

    /** False where the broker never told its state. */
    private boolean isShuttingDown() {
        try {
            Object state = ManagementFactory.getPlatformMBeanServer()
                    .getAttribute(new ObjectName("kafka.server:type=KafkaServer,name=BrokerState"), "Value");
            isStateTold = true;
            return state instanceof Number && ((Number) state).intValue() == SHUTTING_DOWN;
        } catch (JMException | JMRuntimeException e) {
            return isStateTold; // this metric is taken away, too
        }
    }

    /** Sums the gauges of all network processors. */
    private void connections(ArrayNode out) {
        Map<String, ObjectNode> sums = new TreeMap<>();
        for (KafkaMetric metric : metrics) {
            Map<String, String> tags = metric.metricName().tags();
            Double count = value(metric);
            if (tags.containsKey(SOFTWARE_NAME) && count != null && count > 0) {
                String name = tags.get(SOFTWARE_NAME);
                String version = tags.get("clientSoftwareVersion");
                String listener = tags.get("listener");
                ObjectNode sum = sums.computeIfAbsent(listener + "\n" + name + "\n" + version, key -> Manifests.JSON.createObjectNode()
                        .put("listener", listener)
                        .put("client_software_name", name)
                        .put("client_software_version", version)
                        .put("count", 0L));
                sum.put("count", sum.get("count").asLong() + count.longValue());
            }
        }
        sums.values().forEach(out::add);
    }

    private void clientMetrics(ObjectNode out) {
        Map<String, Double> counts = new TreeMap<>();
        double timeSum = 0;
        int times = 0;
        double timeMax = 0;
        for (KafkaMetric metric : metrics) {
            MetricName name = metric.metricName();
            Double value = name.group().equals(CLIENT_METRICS) ? value(metric) : null;
            if (value == null) {
                continue;
            }
            if (name.name().equals("instance-count")) {
                out.put("instance_count", value.longValue());
            } else if (name.name().endsWith("-count")) {
                counts.merge(name.name(), increase(name, value), Double::sum);
            } else if (name.name().equals("plugin-export-time-avg")) {
                timeSum += value;
                times++;
            } else if (name.name().equals("plugin-export-time-max")) {
                timeMax = Math.max(timeMax, value);
            }
        }
        counts.forEach((name, value) -> {
            String key = name.startsWith("unknown-subscription-request") ? "unknown_subscription_request_count"
                    : name.replace('-', '_');
            out.put(key, value.longValue());
        });
        if (times > 0) {
            out.put("plugin_export_time_avg_ms", timeSum / times);
            out.put("plugin_export_time_max_ms", timeMax);
        }
    }

    /**
     * From {@code kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Fetch,version=17}; brokers' own requests
     * count too. Null where they are not known.
     */
    private ArrayNode requests() {
        Map<String, Short> keys = new HashMap<>();
        for (ApiKeys key : ApiKeys.values()) {
            keys.put(key.name, key.id);
        }
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ArrayNode requests = Manifests.JSON.createArrayNode();
        boolean isAny = false;
        try {
            for (ObjectName bean : server.queryNames(new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,*"), null)) {
                Short key = keys.get(bean.getKeyProperty("request"));
                String version = bean.getKeyProperty("version");
                if (key == null || version == null) {
                    continue;
                }
                double increase = increase(bean, ((Number) server.getAttribute(bean, "Count")).doubleValue());
                isAny = true;
                if (increase > 0) {
                    requests.add(Manifests.JSON.createArrayNode().add(key).add(Integer.parseInt(version)).add((long) increase));
                }
            }
        } catch (JMException | JMRuntimeException | NumberFormatException e) { // others' code answers
            return null;
        }
        return isAny ? requests : null;
    }

    private double increase(Object counter, double value) {
        now.put(counter, value);
        return Math.max(0, value - before.getOrDefault(counter, 0.0));
    }

    /** Null for what is no finite number. */
    private static Double value(KafkaMetric metric) {
        try {
            Object value = metric.metricValue();
            double number = value instanceof Number ? ((Number) value).doubleValue() : Double.NaN;
            return Double.isNaN(number) || Double.isInfinite(number) ? null : Double.valueOf(number);
        } catch (RuntimeException e) {
            return null; // removed meanwhile
        }
    }
}
