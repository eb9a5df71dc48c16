package clienttelemetry.broker;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.Json;
import clienttelemetry.broker.contract.Times;
import clienttelemetry.broker.identifiers.IdentifierRules;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.manifest.MetadataLog;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.registry.Reconciliation;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.upload.Uploads;
import clienttelemetry.broker.watch.ConnectionWatch;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The hours of a dump, each with its manifest: which one it is, and what is said of it. The time of day may step: then
 * the hour that was ends, and the one that is begins, even if it was there before; hours in between had nobody to tell of
 * them, and get no manifest. For one thread.
 */
final class Hours {
    private static final Logger LOG = LoggerFactory.getLogger(Hours.class);
    /** A push that another thread still hands over belongs to the hour in which it was received. */
    private static final Duration GRACE = Duration.ofSeconds(2);
    /** A busy machine is late by less. */
    private static final Duration STEP = Duration.ofSeconds(30);

    private final Incarnation broker;
    private final Path folder;
    private final BrokerClock clock;
    private final Manifests manifests;
    private final Uploads uploads;
    private final Drops drops;
    private final BrokerMetrics metrics;
    private final ArrayNode listeners;
    private final MetadataLog metadataLog;
    private final IdentifierRules identifiers;
    /** These three are null if connections are not watched. */
    private final ConnectionRegistry registry;
    private final ConnectionWatch watch;
    private final Reconciliation reconciliation;
    private Hour hour;
    private Instant lastNow;
    private long lastTicks;
    private boolean hasStepped;
    private Map<String, Long> savedDrops = Map.of();
    private boolean isErrorReported;
    /** Names that the log has told of. */
    private volatile Set<String> ignoredSettings = Set.of();

    Hours(Incarnation broker, Path folder, BrokerClock clock, Manifests manifests, Uploads uploads, Drops drops, BrokerMetrics metrics,
            ArrayNode listeners, MetadataLog metadataLog, IdentifierRules identifiers,
            ConnectionRegistry registry, ConnectionWatch watch, Reconciliation reconciliation) {
        this.broker = broker;
        this.folder = folder;
        this.clock = clock;
        this.manifests = manifests;
        this.uploads = uploads;
        this.drops = drops;
        this.metrics = metrics;
        this.listeners = listeners;
        this.metadataLog = metadataLog;
        this.identifiers = identifiers;
        this.registry = registry;
        this.watch = watch;
        this.reconciliation = reconciliation;
    }

    void begin(Instant now) {
        hour = Hour.of(now);
        lastNow = now;
        lastTicks = clock.ticks();
    }

    Hour current() {
        return hour;
    }

    /**
     * What time of the current hour it is: that of the last call where the time of day has stepped, or where the hour is
     * over.
     */
    Instant within(Instant now) {
        return Hour.of(now).equals(hour) ? now : Hour.of(lastNow).equals(hour) ? lastNow : hour.end().minusMillis(1);
    }

    /** Whether the current hour is over, which it is some seconds after its end, or when the time of day has stepped. */
    boolean isOver(Instant now) {
        long ticks = clock.ticks();
        Duration passed = Duration.ofNanos(ticks - lastTicks);
        Duration shown = Duration.between(lastNow, now);
        hasStepped = shown.minus(passed).abs().compareTo(STEP) > 0;
        if (hasStepped) {
            LOG.warn("The time of day stepped from {} to {}.", lastNow.plus(passed), now);
        }
        boolean isOver = !Hour.of(now).equals(hour) && (hasStepped || now.isBefore(hour.start()) || !now.isBefore(hour.end().plus(GRACE)));
        if (!isOver) {
            remember(now, ticks);
        }
        return isOver;
    }

    /** Whether {@link #isOver} just found that the time of day had stepped. */
    boolean hasStepped() {
        return hasStepped;
    }

    private void remember(Instant now, long ticks) {
        if (Hour.of(now).equals(hour)) {
            lastNow = now;
            lastTicks = ticks;
        }
    }

    /** Ends the hour and goes on with the one of now. */
    void next(Instant now, boolean isStopping) {
        save(within(now), isStopping);
        uploads.manifest(Manifests.path(folder, hour), hour, broker);
        manifests.told(hour);
        if (watch != null) {
            reconciliation.nextHour();
        }
        hour = Hour.of(now);
        lastNow = now;
        lastTicks = clock.ticks();
        if (watch != null) {
            watch.forgetBefore(hour);
        }
    }

    boolean hasNewDrops() {
        return !drops.totals().equals(savedDrops);
    }

    /** Into the spool, where a successor finds it. */
    void save(Instant now, boolean isStopping) {
        savedDrops = drops.totals();
        manifests.addDropped(hour, savedDrops);
        ObjectNode manifest = manifests.of(hour).put("alive_at", Times.text(now));
        if (watch != null && watch.modeOfHour() != Settings.Watch.OFF) {
            ObjectNode told = manifest.putObject("registry").put("mode", watch.modeOfHour().text());
            ArrayNode windows = told.putArray("windows");
            watch.windows(hour, now).forEach(window -> windows.addArray().add(window[0]).add(window[1]));
            manifests.addFailedLogins(hour, registry.failedLogins());
        }
        try {
            if (!isStopping) { // then the broker's listeners and gauges are gone, and the last values count
                boolean isReliable = metrics.describe(manifest);
                if (isReliable && watch != null && (watch.mode() == Settings.Watch.CONTINUOUS || watch.mode() == Settings.Watch.SAMPLED)) {
                    reconciliation.describe(manifest);
                }
            }
            describeBroker(manifest);
            manifests.save(hour);
            isErrorReported = false;
        } catch (IOException e) {
            if (!isErrorReported) { // it is tried again at each count of a dropped record
                isErrorReported = true;
                LOG.error("The manifest of {} could not be written into {}; it is tried again.", hour, folder, e);
            }
        }
    }

    /**
     * Kafka stores a dynamic setting of any name, and asks a plugin only about names that the plugin has: so a misspelt one
     * is answered "completed", and this is where it is noticed.
     */
    private void tellIgnoredSettings() {
        SortedMap<String, String> unknown = Settings.unknown(metadataLog.settings(broker.brokerId).keySet());
        unknown.forEach((name, sentence) -> {
            if (!ignoredSettings.contains(name)) {
                LOG.error("{} It was set by kafka-configs.sh and does nothing: take it away with --delete-config {}.", sentence.endsWith("?") ? sentence : sentence + ".", name);
            }
        });
        ignoredSettings = Set.copyOf(unknown.keySet());
    }

    /** How many settings of this plugin's prefix were set while the broker ran that are none. */
    int ignoredSettings() {
        return ignoredSettings.size();
    }

    /** Listeners; and API versions and features as the broker told them to the last client that asked. */
    private void describeBroker(ObjectNode manifest) throws IOException {
        if (listeners != null) {
            manifest.set("listeners", listeners);
        }
        manifest.set("identifiers", identifiers.describe());
        metadataLog.look();
        ArrayNode subscriptions = metadataLog.subscriptions();
        if (subscriptions != null) {
            manifest.set("subscriptions", subscriptions);
            manifest.set("scram_users", metadataLog.scramUsers(identifiers));
        }
        tellIgnoredSettings();
        String line = registry == null ? null : registry.takeApiVersionsLine();
        if (line == null) {
            return;
        }
        JsonNode response = Json.MAPPER.readTree(line.substring(line.indexOf('{'))).path("response");
        ArrayNode versions = manifest.putArray("api_versions");
        for (JsonNode api : response.path("apiKeys")) {
            versions.addArray().add(api.get("apiKey")).add(api.get("minVersion")).add(api.get("maxVersion"));
        }
        ObjectNode features = manifest.putObject("finalized_features");
        for (JsonNode feature : response.path("finalizedFeatures")) {
            features.set(feature.get("name").asText(), feature.get("maxVersionLevel"));
        }
    }
}
