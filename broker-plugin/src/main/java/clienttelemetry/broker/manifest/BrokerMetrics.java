package clienttelemetry.broker.manifest;

import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.identifiers.BoundedText;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.protocol.ApiKeys;

/**
 * What the broker itself counts, for the manifest: its KIP-511 gauges, its requests by version, and how its side of
 * KIP-714 fares. Counters are added to a manifest as increases since the last look, so an hour that a clock goes through
 * twice has the sum; and those of a client instance that leaves, whose metrics Kafka takes away, are not lost.
 */
public final class BrokerMetrics {
    private static final String CLIENT_METRICS = "client-metrics";
    /** Of org.apache.kafka.metadata.BrokerState. */
    private static final int SHUTTING_DOWN = 7;
    private static final String SOFTWARE_NAME = "clientSoftwareName";
    private static final String SOFTWARE_VERSION = "clientSoftwareVersion";

    private final Set<KafkaMetric> metrics = ConcurrentHashMap.newKeySet();
    /** Guards itself and {@link #departed}. */
    private final Map<KafkaMetric, Double> lastOfClientMetrics = new IdentityHashMap<>();
    private final Map<String, Double> departed = new HashMap<>();
    private final Map<String, Long> lastOfRequests = new HashMap<>();
    /** How much newer than all that the broker knows a version may be to have a row of its own: Kafka counts whatever clients send. */
    private static final int NEWER_VERSIONS = 20;

    private boolean isStateTold;
    /** Names of listeners, among others, whose clients are not told of. */
    private volatile Set<String> leftOut = Set.of();

    public void leaveOut(Set<String> listeners) {
        leftOut = listeners;
    }

    /** A metric that was there before the plugin: what it counted is of earlier. */
    public void addExisting(KafkaMetric metric) {
        add(metric);
        if (isCounter(metric)) {
            synchronized (lastOfClientMetrics) {
                lastOfClientMetrics.put(metric, value(metric));
            }
        }
    }

    public void add(KafkaMetric metric) {
        MetricName name = metric.metricName();
        boolean isSoftware = name.group().equals("socket-server-metrics") && name.name().equals("connections")
                && name.tags().containsKey(SOFTWARE_NAME);
        if (isSoftware || name.group().equals(CLIENT_METRICS)) {
            metrics.add(metric);
        }
    }

    private static boolean isCounter(KafkaMetric metric) {
        MetricName name = metric.metricName();
        return name.group().equals(CLIENT_METRICS) && name.name().endsWith("-count") && !name.name().equals("instance-count");
    }

    /** Kafka removes those of a client instance when it disconnects; their last values still count. */
    public void remove(KafkaMetric metric) {
        if (metrics.remove(metric) && isCounter(metric)) {
            Double last = value(metric);
            synchronized (lastOfClientMetrics) {
                Double before = lastOfClientMetrics.remove(metric);
                if (last != null) {
                    departed.merge(metric.metricName().name(), last - (before == null ? 0 : before), Double::sum);
                }
            }
        }
    }

    /** What was counted until now is of no hour. */
    public void begin() {
        lastOfRequests.putAll(requestCounters());
    }

    /**
     * Adds {@code requests} and {@code client_metrics} of since the last call to a manifest, and sets {@code connections}.
     * Gives whether the broker's figures can still be relied on.
     */
    public boolean describe(ObjectNode manifest) {
        if (manifest.has("connections") && isShuttingDown()) {
            return false; // it closes connections and takes its metrics away, one by one: the values from before count
        }
        connections(manifest.putArray("connections"));
        clientMetrics(manifest.withObject("/client_metrics"));
        requests(manifest);
        return true;
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
            Double count = tags.containsKey(SOFTWARE_NAME) && !leftOut.contains(tags.get("listener")) ? value(metric) : null;
            if (count != null && count > 0) {
                String name = BoundedText.name(tags.get(SOFTWARE_NAME));
                String version = BoundedText.name(tags.get(SOFTWARE_VERSION));
                String listener = tags.get("listener");
                ObjectNode sum = sums.computeIfAbsent(listener + "\n" + name + "\n" + version, key -> Json.MAPPER.createObjectNode()
                        .put("listener", listener)
                        .put("client_software_name", name)
                        .put("client_software_version", version)
                        .put("count", 0L));
                sum.put("count", sum.get("count").asLong() + count.longValue());
            }
        }
        sums.values().forEach(out::add);
    }

    /** Open connections by {@link #software}, but for listeners that are left out. */
    public Map<String, Long> connectionsBySoftware(Predicate<String> isLeftOut) {
        Map<String, Long> sums = new HashMap<>();
        for (KafkaMetric metric : metrics) {
            Map<String, String> tags = metric.metricName().tags();
            Double count = tags.containsKey(SOFTWARE_NAME) && !isLeftOut.test(tags.get("listener")) ? value(metric) : null;
            if (count != null && count > 0) {
                sums.merge(software(tags.get(SOFTWARE_NAME), tags.get(SOFTWARE_VERSION)), count.longValue(), Long::sum);
            }
        }
        return sums;
    }

    static String software(String name, String version) {
        return BoundedText.name(name) + "\n" + BoundedText.name(version);
    }

    private void clientMetrics(ObjectNode out) {
        Map<String, Double> increases = new TreeMap<>();
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
            } else if (isCounter(metric)) {
                increases.merge(name.name(), increase(metric, value), Double::sum);
            } else if (name.name().equals("plugin-export-time-avg")) {
                timeSum += value;
                times++;
            } else if (name.name().equals("plugin-export-time-max")) {
                timeMax = Math.max(timeMax, value);
            }
        }
        synchronized (lastOfClientMetrics) {
            departed.forEach((name, more) -> increases.merge(name, more, Double::sum));
            departed.clear();
        }
        increases.forEach((name, more) -> {
            String key = name.startsWith("unknown-subscription-request") ? "unknown_subscription_request_count"
                    : name.replace('-', '_');
            out.put(key, out.path(key).asLong() + more.longValue());
        });
        if (times > 0) {
            out.put("plugin_export_time_avg_ms", timeSum / times);
            out.put("plugin_export_time_max_ms", timeMax);
        }
    }

    private double increase(KafkaMetric counter, double value) {
        synchronized (lastOfClientMetrics) {
            if (!metrics.contains(counter)) {
                return 0; // removed meanwhile, and counted there
            }
            Double before = lastOfClientMetrics.put(counter, value);
            return Math.max(0, value - (before == null ? 0 : before));
        }
    }

    private void requests(ObjectNode manifest) {
        Map<String, Long> counters = requestCounters();
        if (counters.isEmpty()) {
            return;
        }
        TreeMap<String, Long> sums = new TreeMap<>();
        for (JsonNode each : manifest.path("requests")) {
            sums.put(each.get(0).asInt() + " " + each.get(1).asInt(), each.get(2).asLong());
        }
        counters.forEach((counter, value) -> {
            long more = value - lastOfRequests.getOrDefault(counter, 0L);
            if (more > 0 && isPlausible(counter)) {
                sums.merge(counter, more, Long::sum);
            }
        });
        lastOfRequests.putAll(counters);
        ArrayNode out = manifest.putArray("requests");
        sums.forEach((counter, value) -> {
            int blank = counter.indexOf(' ');
            out.addArray().add(Integer.parseInt(counter.substring(0, blank))).add(Integer.parseInt(counter.substring(blank + 1))).add(value);
        });
    }

    private static boolean isPlausible(String counter) {
        int blank = counter.indexOf(' ');
        int version = Integer.parseInt(counter.substring(blank + 1));
        return version >= 0 && version <= ApiKeys.forId(Integer.parseInt(counter.substring(0, blank))).latestVersion() + NEWER_VERSIONS;
    }

    /** All requests that the broker has counted, its own and those of other brokers too; 0 as long as it has no counter. */
    public long requestsCounted() {
        return requestCounters().values().stream().mapToLong(Long::longValue).sum();
    }

    /**
     * From {@code kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Fetch,version=17}, by API key and version;
     * empty where they are not known.
     */
    private static Map<String, Long> requestCounters() {
        Map<String, Short> keys = new HashMap<>();
        for (ApiKeys key : ApiKeys.values()) {
            keys.put(key.name, key.id);
        }
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        Map<String, Long> counters = new HashMap<>();
        try {
            for (ObjectName bean : server.queryNames(new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,*"), null)) {
                Short key = keys.get(bean.getKeyProperty("request"));
                String version = bean.getKeyProperty("version");
                if (key != null && version != null) {
                    counters.put(key + " " + Integer.parseInt(version), ((Number) server.getAttribute(bean, "Count")).longValue());
                }
            }
        } catch (JMException | JMRuntimeException | NumberFormatException e) { // others' code answers
            return Map.of();
        }
        return counters;
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
