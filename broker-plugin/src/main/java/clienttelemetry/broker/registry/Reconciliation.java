package clienttelemetry.broker.registry;

import clienttelemetry.broker.manifest.BrokerMetrics;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds what the registry heard against what the broker itself counts: requests while all of them were watched, and the
 * connections of its KIP-511 gauges, by software. Where a logger says nothing any more, or another name has been given to
 * it, this is what notices. For one thread; the figures are for any.
 */
public final class Reconciliation {
    private static final Logger LOG = LoggerFactory.getLogger(Reconciliation.class);
    /** Requests that may be counted and not logged yet: the network threads do one right after the other. */
    private static final long ON_THEIR_WAY = 16;
    private static final long ONE_OF = 1000;

    private final BrokerMetrics metrics;
    private final ConnectionRegistry registry;
    private long countedBefore;
    private long loggedBefore;
    private boolean isWatching;
    private long counted;
    private long logged;
    private Map<String, Long> missingBefore = Map.of();
    private boolean isReported;
    private volatile long missedRequests;
    private volatile long missedConnections;

    public Reconciliation(BrokerMetrics metrics, ConnectionRegistry registry) {
        this.metrics = metrics;
        this.registry = registry;
    }

    /** Every request is logged from before this call on. */
    public void watchBegins() {
        loggedBefore = registry.requests();
        countedBefore = metrics.requestsCounted();
        isWatching = true;
    }

    /** Every request was logged until after this call. */
    public void watchEnds() {
        if (isWatching) {
            counted += Math.max(0, metrics.requestsCounted() - countedBefore);
            logged += registry.requests() - loggedBefore;
            isWatching = false;
        }
    }

    /** Puts the figures of the hour until now into its manifest. */
    public void describe(ObjectNode manifest) {
        boolean wasWatching = isWatching;
        long countedNow = counted;
        long loggedNow = logged;
        if (wasWatching) {
            countedNow += Math.max(0, metrics.requestsCounted() - countedBefore);
            loggedNow += registry.requests() - loggedBefore;
        }
        Map<String, Long> gauges = metrics.connectionsBySoftware(registry::isOfControllers);
        Map<String, Long> open = registry.openBySoftware();
        Map<String, Long> missing = new HashMap<>();
        long byGauge = 0;
        long missed = -registry.withoutRequests();
        for (Map.Entry<String, Long> gauge : gauges.entrySet()) {
            byGauge += gauge.getValue();
            long less = gauge.getValue() - open.getOrDefault(gauge.getKey(), 0L);
            if (less > 0) {
                missing.put(gauge.getKey(), less);
                missed += Math.min(less, missingBefore.getOrDefault(gauge.getKey(), 0L)); // at two looks: not just being opened
            }
        }
        missingBefore = missing;
        missedConnections = Math.max(0, Math.min(missed, byGauge));
        missedRequests = Math.max(0, countedNow - loggedNow);
        ObjectNode out = manifest.putObject("reconciliation")
                .put("connections_by_gauge", byGauge)
                .put("connections_in_registry", byGauge - missedConnections);
        if (wasWatching || countedNow > 0) {
            out.put("requests_by_counter", countedNow).put("requests_in_registry", countedNow - missedRequests);
        }
        report(countedNow, byGauge);
    }

    private void report(long countedNow, long byGauge) {
        if (!isReported && isIncomplete(countedNow)) {
            isReported = true;
            LOG.warn("The registry of connections missed {} of {} requests and {} of {} connections of this hour: what it says of "
                    + "clients is incomplete. See whether something else changes the logging of this broker.", missedRequests, countedNow,
                    missedConnections, byGauge);
        }
    }

    private boolean isIncomplete(long countedNow) {
        return missedRequests > ON_THEIR_WAY + countedNow / ONE_OF || isWatching && missedConnections > 0;
    }

    /** Begins another hour. */
    public void nextHour() {
        boolean goesOn = isWatching;
        watchEnds();
        counted = 0;
        logged = 0;
        isReported = false;
        if (goesOn) {
            watchBegins();
        }
    }

    public long missedRequests() {
        return missedRequests;
    }

    public long missedConnections() {
        return missedConnections;
    }
}
