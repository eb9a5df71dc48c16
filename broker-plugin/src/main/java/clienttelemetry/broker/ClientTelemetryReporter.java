package clienttelemetry.broker;

import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/** To be named in {@code metric.reporters} of Kafka 3.7 to 4.1. Names nothing that they lack (KIP-714). */
@SuppressWarnings("removal")
public final class ClientTelemetryReporter extends BrokerReporter implements ClientTelemetry {
    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return (context, payload) -> push(context, payload, -1);
    }
}
