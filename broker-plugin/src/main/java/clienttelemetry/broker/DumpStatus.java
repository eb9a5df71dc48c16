package clienttelemetry.broker;

import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.LongAdder;
import javax.management.JMException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The figures of a running dump. */
final class DumpStatus implements DumpStatusMBean {
    private static final Logger LOG = LoggerFactory.getLogger(DumpStatus.class);
    private static final String NAME = "client.telemetry.dump:type=status";

    final LongAdder pushes = new LongAdder();
    private final Dump dump;

    private DumpStatus(Dump dump) {
        this.dump = dump;
    }

    static DumpStatus register(Dump dump) {
        DumpStatus status = new DumpStatus(dump);
        try {
            ManagementFactory.getPlatformMBeanServer().registerMBean(status, new ObjectName(NAME));
        } catch (JMException e) {
            LOG.warn("{} is not shown in JMX", NAME, e);
        }
        return status;
    }

    void unregister() {
        try {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(new ObjectName(NAME));
        } catch (JMException e) {
            LOG.debug("{} was not there", NAME, e);
        }
    }

    @Override
    public long getPushes() {
        return pushes.sum();
    }

    @Override
    public int getConnections() {
        return dump.connections();
    }

    @Override
    public int getQueuedRecords() {
        return dump.queue.records();
    }

    @Override
    public long getQueuedBytes() {
        return dump.queue.bytes();
    }

    @Override
    public long getDroppedQueueFull() {
        return dump.drops.of(Drops.Reason.QUEUE_FULL);
    }

    @Override
    public long getDroppedSpoolFull() {
        return dump.drops.of(Drops.Reason.SPOOL_FULL);
    }

    @Override
    public long getDroppedOversized() {
        return dump.drops.of(Drops.Reason.OVERSIZED);
    }

    @Override
    public long getDroppedRegistryFull() {
        return dump.drops.of(Drops.Reason.REGISTRY_FULL);
    }

    @Override
    public long getDroppedFailed() {
        return dump.drops.of(Drops.Reason.FAILED);
    }

    @Override
    public long getSpoolBytes() {
        return dump.room.usedBytes();
    }

    @Override
    public long getUploadedFiles() {
        return dump.uploads.uploaded.get();
    }

    @Override
    public long getUploadedBytes() {
        return dump.uploads.uploadedBytes.get();
    }

    @Override
    public long getFailedUploads() {
        return dump.uploads.failures.get();
    }

    @Override
    public int getWaitingFiles() {
        return dump.uploads.waiting();
    }

    @Override
    public double getUploadLagSeconds() {
        return dump.uploads.lagSeconds();
    }

    @Override
    public String getIncarnation() {
        return dump.broker.id;
    }
}
