package clienttelemetry.broker;

/** What JMX shows, as {@code client.telemetry.dump:type=status}. Counts are since the start of the broker. */
public interface DumpStatusMBean {
    /** Pushes that the broker handed over. */
    long getPushes();

    /** Connections that the registry knows of. */
    int getConnections();

    int getQueuedRecords();

    long getQueuedBytes();

    long getDroppedQueueFull();

    long getDroppedSpoolFull();

    long getDroppedOversized();

    long getDroppedRegistryFull();

    /** Records and log lines that an error of the plugin lost; the log has it. */
    long getDroppedFailed();

    long getSpoolBytes();

    long getUploadedFiles();

    long getUploadedBytes();

    long getFailedUploads();

    int getWaitingFiles();

    /** How long the oldest finished file has been waiting for its upload. */
    double getUploadLagSeconds();

    String getIncarnation();
}
