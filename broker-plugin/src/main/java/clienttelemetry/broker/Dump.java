package clienttelemetry.broker;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.PluginVersion;
import clienttelemetry.broker.identifiers.TreatedPayload;
import clienttelemetry.broker.manifest.BrokerMetrics;
import clienttelemetry.broker.manifest.Manifests;
import clienttelemetry.broker.manifest.MetadataLog;
import clienttelemetry.broker.registry.ConnectionRegistry;
import clienttelemetry.broker.registry.Reconciliation;
import clienttelemetry.broker.settings.Listeners;
import clienttelemetry.broker.settings.Settings;
import clienttelemetry.broker.spool.RecordQueue;
import clienttelemetry.broker.spool.Spool;
import clienttelemetry.broker.spool.SpoolRoom;
import clienttelemetry.broker.spool.SpooledObject;
import clienttelemetry.broker.upload.ObjectStore;
import clienttelemetry.broker.upload.Recovery;
import clienttelemetry.broker.upload.Uploads;
import clienttelemetry.broker.watch.ConnectionWatch;
import clienttelemetry.broker.watch.LogTap;
import clienttelemetry.broker.watch.LogTaps;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The dump of one incarnation: takes records from the broker's threads and writes them, on a thread of its own, into
 * the spool, with snapshots of the registry and the manifests of the hours. What comes round again does so by a clock
 * that never steps; the time of day only says to which hour things belong.
 */
public final class Dump {
    private static final Logger LOG = LoggerFactory.getLogger(Dump.class);
    private static final long TICK_MILLIS = 1000;
    private static final long FLUSH_MILLIS = 100;
    private static final long SNAPSHOT_MILLIS = 5 * 60_000;
    /** A killed broker loses what is in memory only: the clients of a storm, and repetitions of failed logins. */
    private static final long STORMS_MILLIS = 500;
    private static final long FAILED_LOGINS_MILLIS = 1_800;
    /** How old the gauges and counts may be that a killed broker leaves in its manifest. */
    private static final long SAVE_MILLIS = 10_000;
    /** The snapshot that tells one hour from the next is taken so long before the hour ends. */
    private static final Duration BEFORE_THE_HOUR = Duration.ofSeconds(2);

    private volatile int stuckFolders;
    final Incarnation broker;
    final Drops drops = new Drops();
    final RecordQueue queue;
    final SpoolRoom room;
    final Uploads uploads;
    private final Settings settings;
    private final BrokerClock clock;
    private final TreatedPayload payloads;
    private final Path folder;
    private FileLock lock;
    private final Manifests manifests;
    private final Spool spool;
    private final Hours hours;
    private final BrokerMetrics metrics;
    /** These three are null if connections are not watched. */
    private final ConnectionRegistry registry;
    private final ConnectionWatch watch;
    private final Reconciliation reconciliation;
    private final Thread thread = new Thread(this::run, "client-telemetry-writer");
    private final AtomicReference<Settings> changedWatch = new AtomicReference<>();
    private volatile boolean isStopping;
    private boolean isEveryRequestWatched;
    private boolean isHourSnapshotTaken;
    private long nextFlush;
    private volatile long lastTick;
    private long nextSnapshot;
    private long nextSave;
    private long nextStorms;
    private long nextFailedLogins;
    private boolean isLossReported;

    /**
     * Makes the incarnation's folder in the spool; throws if the disk does not allow it.
     *
     * @param configuration the broker's, for the manifest
     * @param registry null if connections are not watched
     */
    public Dump(Incarnation broker, Settings settings, ObjectStore store, BrokerMetrics metrics, Map<String, ?> configuration,
            RegistryFactory registry, BrokerClock clock) throws IOException {
        this.broker = broker;
        this.settings = settings;
        this.clock = clock;
        this.metrics = metrics;
        payloads = new TreatedPayload(settings.identifiers);
        queue = new RecordQueue(settings.queueMaxBytes, drops);
        folder = settings.spoolFolder.resolve(broker.id);
        lock = Recovery.claim(folder, broker);
        room = new SpoolRoom(settings.spoolFolder, settings.spoolMaxBytes, settings.spoolMinFreeBytes);
        uploads = new Uploads(store, clock);
        manifests = new Manifests(broker, folder);
        spool = new Spool(folder, settings, broker, clock, drops, room, this::finished);
        ConnectionRegistry made = registry == null ? null : registry.create(queue::offer, drops);
        watch = made == null ? null : watch(settings, broker.brokerId, made, registry);
        this.registry = watch == null ? null : made;
        reconciliation = watch == null ? null : new Reconciliation(metrics, made);
        hours = new Hours(broker, folder, clock, manifests, uploads, drops, metrics, Listeners.of(configuration).describe(), MetadataLog.of(configuration),
                settings.identifiers, this.registry, watch, reconciliation);
        thread.setDaemon(true);
    }

    private void finished(SpooledObject object) throws IOException {
        manifests.add(object);
        uploads.object(object, broker);
    }

    /** Null if connections cannot be watched. */
    private static ConnectionWatch watch(Settings settings, int brokerId, ConnectionRegistry registry, RegistryFactory factory) {
        try {
            return new ConnectionWatch(settings, brokerId, registry, factory::tap);
        } catch (IllegalStateException e) {
            LOG.error("Connections are not watched, pushes are dumped all the same: {}", e.getMessage());
            return null;
        }
    }

    /** Makes the registry that hands its events to this dump. */
    interface RegistryFactory {
        ConnectionRegistry create(Consumer<DumpRecord> sink, Drops drops);

        /** What listens to a logger for it. */
        default LogTap tap(String logger, LogTap.Listener listener) {
            return LogTaps.on(logger, listener);
        }
    }

    void start() {
        begin();
        uploads.then(null, () -> stuckFolders = Recovery.recover(settings.spoolFolder, folder, broker, uploads));
        uploads.start();
        thread.start();
        LOG.info("{} {}: dumping client telemetry to {} as incarnation {}, by way of {}; connections: {}.", PluginVersion.NAME,
                PluginVersion.VERSION, settings.location, broker.id, folder, settings.watch.text());
    }

    /** What {@link #start} does but for the threads. */
    void begin() {
        Instant now = clock.now();
        hours.begin(now);
        nextSnapshot = clock.millis() + SNAPSHOT_MILLIS;
        nextSave = clock.millis() + SAVE_MILLIS;
        lastTick = clock.millis();
        metrics.begin();
        adjustWatch(now);
        hours.save(now, false);
    }

    private void run() {
        while (!isStopping) {
            try {
                step(100);
            } catch (InterruptedException e) {
                return;
            } catch (Throwable e) { // this thread is all there is: it goes on
                drops.count(Drops.Reason.FAILED, 1);
                LOG.error("Error in the dump of client telemetry; a record or a snapshot is lost.", e);
            }
        }
    }

    /** Writes what has come, waiting for it so long at most; and does what is due. */
    void step(long waitMillis) throws InterruptedException {
        DumpRecord record = queue.poll(waitMillis);
        for (int i = 0; record != null && i < 1000; i++) {
            spool.append(treated(record));
            record = queue.poll(0);
        }
        if (record != null) {
            spool.append(treated(record));
        }
        long millis = clock.millis();
        if (millis >= nextFlush) {
            spool.flush();
            nextFlush = millis + FLUSH_MILLIS;
            if (watch != null) {
                watch.hold();
            }
        }
        if (millis - lastTick >= TICK_MILLIS) {
            lastTick = millis;
            tick(clock.now(), millis);
        }
        if (registry != null) {
            tellWhatIsInMemoryOnly(millis);
        }
    }

    private void tellWhatIsInMemoryOnly(long millis) {
        if (millis >= nextStorms) {
            registry.tellStorms(hours.within(clock.now()).toEpochMilli(), spool::append);
            nextStorms = millis + STORMS_MILLIS;
        }
        if (millis >= nextFailedLogins) {
            registry.tellFailedLogins(spool::append);
            nextFailedLogins = millis + FAILED_LOGINS_MILLIS;
        }
    }

    /** With the identifiers in its payload as the settings want them; without payload where they cannot be found in it. */
    private DumpRecord treated(DumpRecord record) {
        if (record.payload == null || settings.identifiers.arePayloadsClear()) {
            return record;
        }
        byte[] payload = payloads.of(record.payload);
        if (payload == null) {
            drops.count(Drops.Reason.PAYLOAD_OMITTED, 1);
        }
        return new DumpRecord(record.dataset, record.timeNanos, record.fields, payload);
    }

    /** Once a second: what is due. */
    private void tick(Instant now, long millis) {
        keepFolder();
        room.look();
        boolean isOver = hours.isOver(now);
        boolean hasWindowEnded = adjustWatch(now);
        if (registry != null) {
            registry.drain();
            boolean isHourEnding = !isHourSnapshotTaken && (isOver || !now.isBefore(hours.current().end().minus(BEFORE_THE_HOUR)));
            if (isHourEnding || hasWindowEnded || millis >= nextSnapshot) {
                registry.snapshot(isHourEnding, hours.within(now).toEpochMilli(), spool::append);
                nextSnapshot = millis + SNAPSHOT_MILLIS;
                isHourSnapshotTaken |= isHourEnding;
            }
        }
        if (isOver) {
            spool.roll(Hour.of(now));
            hours.next(now, false);
            isHourSnapshotTaken = false;
            hours.save(now, false);
        }
        spool.roll(hours.current(), Hour.of(now));
        tellManifests(hours.current(), Hour.of(now));
        if (millis >= nextSave || hours.hasNewDrops()) { // a killed broker leaves what it counted
            nextSave = millis + SAVE_MILLIS;
            hours.save(hours.within(now), false);
        }
    }

    /** Somebody may clear the spool's disk while the broker runs. */
    private void keepFolder() {
        if (Files.isDirectory(folder)) {
            isLossReported = false;
            return;
        }
        if (!isLossReported) {
            isLossReported = true;
            LOG.error("The folder {} was taken away while the broker runs. What it held and was not uploaded yet is lost; it is made anew.", folder);
            spool.lose();
        }
        try {
            lock.channel().close();
            lock = Recovery.claim(folder, broker);
        } catch (IOException e) {
            LOG.debug("The next second may do", e);
        }
    }

    /** Gives whether a window of sampling has just ended. */
    private boolean adjustWatch(Instant now) {
        if (watch == null) {
            return false;
        }
        Settings changed = changedWatch.getAndSet(null);
        if (changed != null) {
            watch.configure(changed);
        }
        boolean isEveryRequest = watch.isForEveryRequest(now);
        if (isEveryRequestWatched && !isEveryRequest) {
            reconciliation.watchEnds();
        }
        boolean hasWindowEnded = watch.adjust(now, hours.hasStepped());
        if (isEveryRequest && !isEveryRequestWatched) {
            reconciliation.watchBegins();
        }
        isEveryRequestWatched = isEveryRequest;
        return hasWindowEnded;
    }

    /** Files that were finished late, or that a stepping clock put into other hours than these. */
    private void tellManifests(Hour... but) {
        for (Hour hour : manifests.untold(but)) {
            try {
                uploads.manifest(manifests.save(hour), hour, broker);
                manifests.told(hour);
            } catch (IOException e) {
                LOG.error("The manifest of {} could not be written into {}.", hour, folder, e);
            }
        }
    }

    boolean canWatch() {
        return watch != null;
    }

    /** Watches connections as these settings say, from the next second on. */
    void watch(Settings changed) {
        changedWatch.set(changed);
    }

    /** -1 where it is not known. */
    int pushIntervalMs(Uuid instance) {
        return registry == null ? -1 : registry.pushIntervalMs(instance);
    }

    int connections() {
        return registry == null ? 0 : registry.size();
    }

    long registryBytes() {
        return registry == null ? 0 : registry.heldBytes();
    }

    long missedRequests() {
        return reconciliation == null ? 0 : reconciliation.missedRequests();
    }

    long missedConnections() {
        return reconciliation == null ? 0 : reconciliation.missedConnections();
    }

    int stuckFolders() {
        return stuckFolders;
    }

    int ignoredSettings() {
        return hours.ignoredSettings();
    }

    double writerLagSeconds() {
        return (clock.millis() - lastTick) / 1000.0;
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

    /** The last records, the last snapshot and the last manifests. */
    void finish() throws InterruptedException, IOException {
        for (DumpRecord record = queue.poll(0); record != null; record = queue.poll(0)) {
            spool.append(treated(record));
        }
        Instant now = clock.now();
        if (registry != null) {
            registry.drainAll();
            registry.snapshot(false, hours.within(now).toEpochMilli(), spool::append);
        }
        spool.finishAll();
        if (!Hour.of(now).equals(hours.current())) {
            hours.next(now, true);
        }
        hours.next(now, true);
        tellManifests();
        Recovery.markStopped(folder);
    }
}
