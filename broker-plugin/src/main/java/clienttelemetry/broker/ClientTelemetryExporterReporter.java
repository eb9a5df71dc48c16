package clienttelemetry.broker;

import org.apache.kafka.server.telemetry.ClientTelemetryExporter;
import org.apache.kafka.server.telemetry.ClientTelemetryExporterProvider;

/**
 * To be named in {@code metric.reporters} of Kafka 4.2 and newer (KIP-1217). An older broker does not start with it,
 * since it lacks the interface.
 */
public final class ClientTelemetryExporterReporter extends BrokerReporter implements ClientTelemetryExporterProvider {
    @Override
    public ClientTelemetryExporter clientTelemetryExporter() {
        return (context, payload) -> push(context.authorizableRequestContext(), payload, context.pushIntervalMs());
    }
}
