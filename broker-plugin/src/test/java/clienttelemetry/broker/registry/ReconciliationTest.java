package clienttelemetry.broker.registry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.manifest.BrokerMetrics;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import javax.management.ObjectName;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.metrics.Gauge;
import org.apache.kafka.common.metrics.KafkaMetric;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.utils.Time;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Where the broker counts what the registry did not hear of, it is told. */
class ReconciliationTest {
    /** As Kafka registers its meters. */
    public interface CounterMBean {
        long getCount();
    }

    private static final class Counter implements CounterMBean {
        private final AtomicLong count;

        Counter(AtomicLong count) {
            this.count = count;
        }

        @Override
        public long getCount() {
            return count.get();
        }
    }

    private final AtomicLong counted = new AtomicLong(1000);
    private final AtomicLong gauge = new AtomicLong();
    private final BrokerMetrics metrics = new BrokerMetrics();
    private final ConnectionRegistry registry =
            ConnectionRegistryTest.registry(record -> { }, new Drops(), 1 << 20, System::nanoTime);
    private final Reconciliation reconciliation = new Reconciliation(metrics, registry);
    private ObjectName bean;

    @BeforeEach
    void register() throws Exception {
        bean = new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=Produce,version=11");
        ManagementFactory.getPlatformMBeanServer().registerMBean(new Counter(counted), bean);
        gauge("CLIENTS", gauge);
        gauge("CONTROLLER", new AtomicLong(7));
    }

    private void gauge(String listener, AtomicLong value) {
        metrics.add(new KafkaMetric(new Object(), new MetricName("connections", "socket-server-metrics", "", Map.of("clientSoftwareName", "lib",
                "clientSoftwareVersion", "lib", "listener", listener, "networkProcessor", "0")),
                (Gauge<Object>) (config, now) -> (int) value.get(), new MetricConfig(), Time.SYSTEM));
    }

    @AfterEach
    void unregister() throws Exception {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(bean);
    }

    private void requests(int count, boolean areLogged, int connection) {
        for (int i = 0; i < count; i++) {
            counted.incrementAndGet();
            if (areLogged) {
                registry.request(ConnectionRegistryTest.line(0, 11, "\"app\"", "{}", "{}", "10.0.0.1:9092-10.0.0.2:" + connection + "-0-1", "lib"), 1);
            }
        }
    }

    private String looked() {
        ObjectNode manifest = Json.MAPPER.createObjectNode();
        reconciliation.describe(manifest);
        reconciliation.describe(manifest); // a connection is missed that is missed at two looks
        return manifest.get("reconciliation").toString();
    }

    private static String figures(long byGauge, long known, long byCounter, long logged) {
        return "{\"connections_by_gauge\":" + byGauge + ",\"connections_in_registry\":" + known + ",\"requests_by_counter\":" + byCounter
                + ",\"requests_in_registry\":" + logged + "}";
    }

    @Test
    void whatAddsUp() {
        reconciliation.watchBegins();
        requests(50, true, 1001);
        requests(50, true, 1002);
        gauge.set(2);
        assertEquals(figures(2, 2, 100, 100), looked());
        assertEquals(0, reconciliation.missedRequests());
    }

    /** Kafka registers a counter with the first request of its kind, which comes after the plugin. */
    @Test
    void countersThatComeLater() throws Exception {
        ManagementFactory.getPlatformMBeanServer().unregisterMBean(bean);
        reconciliation.watchBegins();
        counted.set(0);
        ManagementFactory.getPlatformMBeanServer().registerMBean(new Counter(counted), bean);
        requests(60, true, 1001);
        assertEquals(figures(0, 0, 60, 60), looked());
    }

    /** As when the operator, or a new release, took the log away. */
    @Test
    void requestsThatWereNotLogged() {
        reconciliation.watchBegins();
        requests(10, true, 1001);
        requests(90, false, 1002);
        gauge.set(2);
        assertEquals(figures(2, 1, 100, 10), looked());
        assertEquals(90, reconciliation.missedRequests());
        assertEquals(1, reconciliation.missedConnections());
        reconciliation.nextHour();
        requests(5, true, 1002);
        assertEquals(figures(2, 2, 5, 5), looked());
    }

    @Test
    void onlyTheWindowsOfSamplingCount() {
        requests(100, false, 1001);
        assertFalse(looked().contains("requests"));
        reconciliation.watchBegins();
        requests(10, true, 1001);
        reconciliation.watchEnds();
        requests(100, false, 1001);
        gauge.set(1);
        assertEquals(figures(1, 1, 10, 10), looked());
    }

    /** The gauges count it until the broker closes it, a moment after it said that the login failed. */
    @Test
    void aFailedLoginIsNotMissed() {
        reconciliation.watchBegins();
        gauge.set(1);
        registry.selected("[SocketServer listenerType=BROKER, nodeId=1] Failed authentication with /10.0.0.2 "
                + "(channelId=10.0.0.1:9092-10.0.0.2:1001-0-1) (SSL handshake failed)", null, 1);
        assertEquals(figures(1, 1, 0, 0), looked());
    }

    @Test
    void aConnectionThatJustOpensIsNotMissed() {
        reconciliation.watchBegins();
        registry.accepted("Accepted connection from /10.0.0.2:1001 on /10.0.0.1:9092 and assigned it to processor 0", 1);
        gauge.set(1);
        assertEquals(figures(1, 1, 0, 0), looked());
    }
}
