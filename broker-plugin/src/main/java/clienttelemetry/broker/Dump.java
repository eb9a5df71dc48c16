package clienttelemetry.broker;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dump of one incarnation: takes records from the broker's threads and writes them, on a thread of its own, into
 * the spool, with snapshots of the registry and the manifests of the hours.
 */
final class Dump {
    private static final Logger LOG = LoggerFactory.getLogger(Dump.class);
    private static final long TICK_MILLIS = 1000;
    private static final long FLUSH_NANOS = 100_000_000;
    private static final Duration SNAPSHOT = Duration.ofMinutes(5);
    /** The snapshot that tells one hour from the next is taken so long before the hour ends. */
    private static final Duration BEFORE_THE_HOUR = Duration.ofSeconds(2);
    /** A push that another thread still hands over belongs to the hour in which it was received. */
    private static final Duration AFTER_THE_HOUR = Duration.ofSeconds(2);
    /** How old the gauges and counts may be that a killed broker leaves in its manifest. */
    private static final Duration SAVE = Duration.ofSeconds(10);

    final Incarnation broker;
    final Drops drops = new Drops();
    final RecordQueue queue;
    final SpoolRoom room;
    final Uploads uploads;
    private final Settings settings;
    private final Clock clock;
    private final Path folder;
    private final FileLock lock;
    private final Manifests manifests;
    private final Spool spool;
    private final BrokerMetrics metrics;
    private final ArrayNode listeners;
    private final ConnectionRegistry registry;
    private final ConnectionWatch watch;
    private final Thread thread = new Thread(this::run, "client-telemetry-writer");
    private volatile boolean isStopping;
    private Hour hour;
    private boolean isHourSnapshotTaken;
    private Instant nextSnapshot;
    private Instant nextSave;
    private Map<String, Long> savedDrops = Map.of();

    /**
     * Makes the incarnation's folder in the spool; throws if the disk does not allow it.
     *
     * @param listeners for the manifest; may be null
     * @param registry null if connections are not watched
     */
    Dump(Incarnation broker, Settings settings, ObjectStore store, BrokerMetrics metrics, ArrayNode listeners,
            RegistryFactory registry, Clock clock) throws IOException {
        this.broker = broker;
        this.settings = settings;
        this.clock = clock;
        this.metrics = metrics;
        this.listeners = listeners;
        queue = new RecordQueue(settings.queueMaxBytes, drops);
        folder = settings.spoolFolder.resolve(broker.id);
        lock = Recovery.claim(folder, broker);
        room = new SpoolRoom(settings.spoolFolder, settings.spoolMaxBytes, settings.spoolMinFreeBytes);
        uploads = new Uploads(store);
        manifests = new Manifests(broker, folder);
        spool = new Spool(folder, settings, broker, clock, drops, room, manifests, uploads);
        this.registry = registry == null ? null : registry.create(queue::offer, drops);
        watch = watch(settings, this.registry);
        thread.setDaemon(true);
    }

    /** Null if connections are not watched. */
    private static ConnectionWatch watch(Settings settings, ConnectionRegistry registry) {
        try {
            return registry == null ? null : new ConnectionWatch(settings, registry, LogTap::on);
        } catch (IllegalStateException e) {
            LOG.error("Connections are not watched, pushes are dumped all the same: {}", e.getMessage());
            return null;
        }
    }

    /** Makes the registry that hands its events to this dump. */
    interface RegistryFactory {
        ConnectionRegistry create(Consumer<DumpRecord> sink, Drops drops);
    }

    void start() {
        Instant now = clock.instant();
        hour = Hour.of(now);
        nextSnapshot = now.plus(SNAPSHOT);
        nextSave = now.plus(SAVE);
        if (watch != null) {
            watch.adjust(now);
        }
        uploads.then(() -> Recovery.recover(settings.spoolFolder, folder, uploads));
        uploads.start();
        thread.start();
        LOG.info("Dumping client telemetry to {} as incarnation {}, by way of {}; connections: {}.", settings.location, broker.id,
                folder, settings.watch.text());
    }

    private void run() {
        saveManifest(clock.instant());
        long nextTick = 0;
        long lastFlush = System.nanoTime();
        while (!isStopping) {
            try {
                DumpRecord record = queue.poll(100);
                for (int i = 0; record != null && i < 1000; i++) {
                    spool.append(record);
                    record = queue.poll(0);
                }
                if (record != null) {
                    spool.append(record);
                }
                if (System.nanoTime() - lastFlush >= FLUSH_NANOS) {
                    spool.flush();
                    lastFlush = System.nanoTime();
                }
                if (clock.millis() >= nextTick) {
                    nextTick = clock.millis() + TICK_MILLIS;
                    tick(clock.instant());
                }
            } catch (InterruptedException e) {
                return;
            } catch (Throwable e) { // this thread is all there is: it goes on
                drops.count(Drops.Reason.FAILED, 1);
                LOG.error("Error in the dump of client telemetry; a record or a snapshot is lost.", e);
            }
        }
    }

    /** Once a second: what is due. */
    private void tick(Instant now) {
        room.look();
        boolean hasWindowEnded = watch != null && watch.adjust(now);
        if (registry != null) {
            boolean isHourEnding = !isHourSnapshotTaken && !now.isBefore(hour.end().minus(BEFORE_THE_HOUR));
            if (isHourEnding || hasWindowEnded || !now.isBefore(nextSnapshot)) {
                Instant time = isHourEnding && !now.isBefore(hour.end()) ? hour.end().minusMillis(1) : now;
                registry.snapshot(isHourEnding, time.toEpochMilli(), spool::append);
                nextSnapshot = now.plus(SNAPSHOT);
                isHourSnapshotTaken |= isHourEnding;
            }
        }
        if (!now.isBefore(hour.end().plus(AFTER_THE_HOUR))) {
            spool.roll(Hour.of(now));
            while (hour.compareTo(Hour.of(now)) < 0) {
                endHour(now);
            }
            saveManifest(now);
        }
        spool.roll(hour);
        if (!now.isBefore(nextSave) || !drops.totals().equals(savedDrops)) { // a killed broker leaves what it counted
            nextSave = now.plus(SAVE);
            saveManifest(now);
        }
    }

    private void endHour(Instant now) {
        saveManifest(now);
        uploads.manifest(Manifests.path(folder, hour), hour, broker);
        metrics.nextHour();
        hour = hour.next();
        isHourSnapshotTaken = false;
        if (watch != null) {
            watch.forgetBefore(hour);
        }
    }

    /** Into the spool, where a successor finds it. */
    private void saveManifest(Instant now) {
        savedDrops = drops.totals();
        manifests.addDropped(hour, savedDrops);
        ObjectNode manifest = manifests.of(hour);
        if (watch != null) {
            ObjectNode told = manifest.putObject("registry").put("mode", watch.mode().text());
            ArrayNode windows = told.putArray("windows");
            watch.windows(hour, now).forEach(window -> windows.addArray().add(window[0]).add(window[1]));
        }
        try {
            if (!isStopping) { // then the broker's listeners and gauges are gone, and the last values count
                metrics.describe(manifest);
            }
            describeBroker(manifest);
            manifests.save(hour);
        } catch (IOException e) {
            LOG.error("The manifest of {} could not be written into {}.", hour, folder, e);
        }
    }

    /** Listeners; and API versions and features as the broker told them to the last client that asked. */
    private void describeBroker(ObjectNode manifest) throws IOException {
        if (listeners != null) {
            manifest.set("listeners", listeners);
        }
        String line = registry == null ? null : registry.takeApiVersionsLine();
        if (line == null) {
            return;
        }
        JsonNode response = Manifests.JSON.readTree(line.substring(line.indexOf('{'))).path("response");
        ArrayNode versions = manifest.putArray("api_versions");
        for (JsonNode api : response.path("apiKeys")) {
            versions.addArray().add(api.get("apiKey")).add(api.get("minVersion")).add(api.get("maxVersion"));
        }
        ObjectNode features = manifest.putObject("finalized_features");
        for (JsonNode feature : response.path("finalizedFeatures")) {
            features.set(feature.get("name").asText(), feature.get("maxVersionLevel"));
        }
    }

    int connections() {
        return registry == null ? 0 : registry.size();
    }

    /** Writes and uploads what it has, within the timeout; what does not go in time goes with the next start. */
    void stop() {
        try {
            long deadline = System.nanoTime() + settings.shutdownTimeout.toNanos();
            if (watch != null) {
                watch.stop();
            }
            isStopping = true;
            thread.join(Math.max(1000, settings.shutdownTimeout.toMillis() / 2));
            if (thread.isAlive()) {
                LOG.warn("The spool did not end in time; the next start of the broker uploads what it holds.");
                thread.interrupt();
                return;
            }
            finish();
            Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
            boolean isAllUploaded = uploads.stop(left);
            lock.channel().close();
            if (isAllUploaded) {
                Recovery.delete(folder);
            } else {
                LOG.warn("{} files are not uploaded yet; the next start of the broker does it.", uploads.waiting());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.warn("The spool in {} could not be cleaned up; the next start of the broker does it.", folder, e);
        }
    }

    /** The last records, the last snapshot and the last manifest. */
    private void finish() throws InterruptedException, IOException {
        for (DumpRecord record = queue.poll(0); record != null; record = queue.poll(0)) {
            spool.append(record);
        }
        Instant now = clock.instant();
        if (registry != null) {
            registry.snapshot(false, now.toEpochMilli(), spool::append);
        }
        spool.finishAll();
        while (hour.compareTo(Hour.of(now)) <= 0) {
            endHour(now);
        }
        Recovery.markStopped(folder);
    }
}
