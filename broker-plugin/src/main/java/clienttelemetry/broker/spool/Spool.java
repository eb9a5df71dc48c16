package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.BrokerClock;
import clienttelemetry.broker.contract.Dataset;
import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import clienttelemetry.broker.contract.Hour;
import clienttelemetry.broker.contract.Incarnation;
import clienttelemetry.broker.contract.RecordEncoder;
import clienttelemetry.broker.settings.Settings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The open objects of one incarnation: gives records their sequence and ends objects by size, age and hour. For one thread. */
public final class Spool {
    private static final Logger LOG = LoggerFactory.getLogger(Spool.class);
    private static final long PAUSE_MILLIS = 10_000;

    /** Takes each object when it is whole. */
    public interface Finished {
        void object(SpooledObject object) throws IOException;
    }

    private final Path folder;
    private final Settings settings;
    private final BrokerClock clock;
    private final Drops drops;
    private final SpoolRoom room;
    private final Finished finished;
    private final RecordEncoder encoder;
    private final Map<Dataset, SpoolFile> open = new EnumMap<>(Dataset.class);
    private final Map<Dataset, Long> nextSequence = new EnumMap<>(Dataset.class);
    private long pausedUntil = Long.MIN_VALUE;
    private long reportedFullAt;
    private boolean isFullReported;

    public Spool(Path folder, Settings settings, Incarnation broker, BrokerClock clock, Drops drops, SpoolRoom room, Finished finished) {
        this.folder = folder;
        this.settings = settings;
        this.clock = clock;
        this.drops = drops;
        this.room = room;
        this.finished = finished;
        encoder = new RecordEncoder(broker);
        for (Dataset dataset : Dataset.values()) {
            nextSequence.put(dataset, 0L);
        }
    }

    public void append(DumpRecord record) {
        if (RecordEncoder.isOversized(record)) {
            drops.count(Drops.Reason.OVERSIZED, 1);
            return;
        }
        long now = clock.millis();
        if (now < pausedUntil || room.isFull()) {
            drops.count(Drops.Reason.SPOOL_FULL, 1);
            reportFull(now, null);
            return;
        }
        Hour hour = Hour.ofNanos(record.timeNanos);
        SpoolFile file = open.get(record.dataset);
        if (file != null && (!file.name.hour.equals(hour) || file.storedBytes() >= settings.rollBytes)) {
            finish(record.dataset);
            file = null;
        }
        try {
            long sequence = nextSequence.get(record.dataset);
            if (file == null) {
                file = new SpoolFile(new SpoolName(folder, record.dataset, hour, sequence), now);
                open.put(record.dataset, file);
            }
            long before = file.storedBytes();
            nextSequence.put(record.dataset, sequence + 1);
            file.append(record, sequence, encoder);
            room.add(file.storedBytes() - before);
        } catch (IOException e) {
            drops.count(Drops.Reason.SPOOL_FULL, file == null ? 1 : 0);
            failed(record.dataset, e);
        }
    }

    /** Hands what was appended to the operating system. */
    public void flush() {
        for (Map.Entry<Dataset, SpoolFile> each : List.copyOf(open.entrySet())) {
            try {
                long before = each.getValue().storedBytes();
                each.getValue().flush();
                room.add(each.getValue().storedBytes() - before);
            } catch (IOException e) {
                failed(each.getKey(), e);
            }
        }
    }

    /** Ends objects that are old enough, and those of other hours than these. */
    public void roll(Hour... hours) {
        long oldest = clock.millis() - settings.rollAge.toMillis();
        for (SpoolFile file : List.copyOf(open.values())) {
            if (file.createdMillis <= oldest || !List.of(hours).contains(file.name.hour)) {
                finish(file.name.dataset);
            }
        }
    }

    public void finishAll() {
        new ArrayList<>(open.keySet()).forEach(this::finish);
    }

    /** What was appended to objects that are not finished is lost with their files. */
    public void lose() {
        for (SpoolFile file : open.values()) {
            drops.count(Drops.Reason.SPOOL_FULL, file.records());
            file.abandon();
        }
        open.clear();
    }

    private void finish(Dataset dataset) {
        SpoolFile file = open.remove(dataset);
        try {
            long before = file.storedBytes();
            SpooledObject object = file.finish();
            room.add(object.bytes - before);
            finished.object(object);
        } catch (IOException e) {
            open.put(dataset, file);
            failed(dataset, e);
        }
    }

    /** Keeps what was flushed, counts the rest as lost, and leaves the disk alone for a while. */
    private void failed(Dataset dataset, IOException error) {
        long now = clock.millis();
        pausedUntil = now + PAUSE_MILLIS;
        reportFull(now, error);
        SpoolFile file = open.remove(dataset);
        if (file == null) {
            return;
        }
        long appended = file.records();
        try {
            SpooledObject kept = file.cut();
            long keptRecords = kept == null ? 0 : kept.span.records;
            drops.count(Drops.Reason.SPOOL_FULL, appended - keptRecords);
            nextSequence.put(dataset, file.name.firstSequence + keptRecords);
            if (kept != null) {
                finished.object(kept);
            }
        } catch (IOException e) {
            drops.count(Drops.Reason.SPOOL_FULL, file.unflushed());
            nextSequence.put(dataset, file.name.firstSequence + appended - file.unflushed());
            LOG.error("The spool file of {} in {} could not be ended; the next start of the broker uploads what it holds.",
                    dataset.folder(), folder, e);
        }
    }

    private void reportFull(long now, IOException error) {
        if (!isFullReported || now - reportedFullAt > 60_000) {
            isFullReported = true;
            reportedFullAt = now;
            LOG.error("The spool in {} takes no more records: {}. They are dropped and counted as spool_full in the manifest. "
                    + "See whether the store can be reached and whether the disk has room.", folder,
                    error == null ? room.describe() : error.toString());
        }
    }
}
