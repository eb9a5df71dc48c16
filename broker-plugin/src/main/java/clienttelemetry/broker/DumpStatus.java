package clienttelemetry.broker;

import clienttelemetry.broker.contract.Drops;
import clienttelemetry.broker.contract.PluginVersion;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The figures of a running dump, as JMX shows them. Counts are since the start of the broker. */
final class DumpStatus implements DynamicMBean {
    private static final Logger LOG = LoggerFactory.getLogger(DumpStatus.class);
    private static final String NAME = "client.telemetry.dump:type=status";

    final LongAdder pushes = new LongAdder();
    private final Map<String, Supplier<?>> figures = new LinkedHashMap<>();
    private final Map<String, MBeanAttributeInfo> attributes = new LinkedHashMap<>();

    private DumpStatus(Dump dump) {
        show("Version", String.class, "Of the plugin", () -> PluginVersion.VERSION);
        show("Incarnation", String.class, "As keys and manifests spell it", () -> dump.broker.id);
        show("Pushes", Long.class, "Pushes that the broker handed over", pushes::sum);
        show("Connections", Integer.class, "Connections that the registry knows of", dump::connections);
        show("RegistryBytes", Long.class, "Bytes that the registry takes in memory", dump::registryBytes);
        show("MissedRequests", Long.class, "Requests of this hour that the broker counted and the registry did not see while it watched all",
                dump::missedRequests);
        show("MissedConnections", Long.class, "Open connections by the broker's gauges that the registry does not know",
                dump::missedConnections);
        show("IgnoredSettings", Integer.class, "Settings that kafka-configs.sh stored under this plugin's prefix and that do not exist",
                dump::ignoredSettings);
        show("WriterLagSeconds", Double.class, "How long ago the dump last looked whether something is due; it does each second",
                dump::writerLagSeconds);
        show("QueuedRecords", Integer.class, "Records on their way to the spool", dump.queue::records);
        show("QueuedBytes", Long.class, "Their bytes in memory", dump.queue::bytes);
        for (Drops.Reason reason : Drops.Reason.values()) {
            show("Dropped" + reason.figure, Long.class, reason.description, () -> dump.drops.of(reason));
        }
        show("SpoolBytes", Long.class, "Bytes of the spool, other incarnations' included", dump.room::usedBytes);
        show("UploadedFiles", Long.class, "Objects and manifests that the store took", dump.uploads.uploaded::get);
        show("UploadedBytes", Long.class, "Their bytes", dump.uploads.uploadedBytes::get);
        show("FailedUploads", Long.class, "Attempts that failed; each was or will be repeated", dump.uploads.failures::get);
        show("RefusedFiles", Integer.class, "Of the waiting files those that the store refused while it took others", dump.uploads::refused);
        show("StuckFolders", Integer.class, "Folders of earlier processes in the spool that could not be uploaded; the broker's log says why",
                dump::stuckFolders);
        show("WaitingFiles", Integer.class, "Finished files that are not uploaded yet", dump.uploads::waiting);
        show("UploadLagSeconds", Double.class, "How long the oldest of them has been waiting", dump.uploads::lagSeconds);
    }

    private void show(String name, Class<?> type, String description, Supplier<?> figure) {
        figures.put(name, figure);
        attributes.put(name, new MBeanAttributeInfo(name, type.getName(), description, true, false, false));
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
    public Object getAttribute(String name) throws AttributeNotFoundException {
        Supplier<?> figure = figures.get(name);
        if (figure == null) {
            throw new AttributeNotFoundException(name);
        }
        return figure.get();
    }

    @Override
    public AttributeList getAttributes(String[] names) {
        AttributeList found = new AttributeList();
        for (String name : names) {
            Supplier<?> figure = figures.get(name);
            if (figure != null) {
                found.add(new Attribute(name, figure.get()));
            }
        }
        return found;
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        return new MBeanInfo(getClass().getName(), "The dump of client telemetry", attributes.values().toArray(new MBeanAttributeInfo[0]),
                null, null, null);
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException {
        throw new AttributeNotFoundException(attribute.getName() + " cannot be set");
    }

    @Override
    public AttributeList setAttributes(AttributeList attributes) {
        return new AttributeList();
    }

    @Override
    public Object invoke(String action, Object[] arguments, String[] signature) {
        throw new UnsupportedOperationException(action);
    }
}
