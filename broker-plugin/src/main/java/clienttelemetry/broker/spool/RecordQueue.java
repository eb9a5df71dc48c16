package clienttelemetry.broker.spool;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.DumpRecord;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Between the broker's threads and the writer: bounded in records and bytes; what does not fit is counted. */
public final class RecordQueue {
    private static final int MAX_RECORDS = 50_000;

    private final ArrayBlockingQueue<DumpRecord> records = new ArrayBlockingQueue<>(MAX_RECORDS);
    private final AtomicLong bytes = new AtomicLong();
    private final long maxBytes;
    private final Drops drops;

    public RecordQueue(long maxBytes, Drops drops) {
        this.maxBytes = maxBytes;
        this.drops = drops;
    }

    /** Never blocks but for the moment of the queue's lock. */
    public void offer(DumpRecord record) {
        int size = record.size();
        if (bytes.get() + size > maxBytes || !records.offer(record)) {
            drops.count(Drops.Reason.QUEUE_FULL, 1);
        } else {
            bytes.addAndGet(size);
        }
    }

    /** The next record; null if none came in that time. */
    public DumpRecord poll(long millis) throws InterruptedException {
        DumpRecord record = millis == 0 ? records.poll() : records.poll(millis, TimeUnit.MILLISECONDS);
        if (record != null) {
            bytes.addAndGet(-record.size());
        }
        return record;
    }

    public int records() {
        return records.size();
    }

    public long bytes() {
        return bytes.get();
    }
}
