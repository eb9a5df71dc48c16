package clienttelemetry.broker;

import org.apache.kafka.server.telemetry.ClientTelemetry;
import org.apache.kafka.server.telemetry.ClientTelemetryReceiver;

/**
 * To be named in {@code metric.reporters}, on every Kafka from 3.7 on. Names nothing that one of them lacks: a broker does
 * not start with a class that cannot be loaded, so a class for the interface of 4.2 (KIP-1217) would stop a broker that
 * is downgraded.
 */
@SuppressWarnings("removal")
public class ClientTelemetryReporter extends BrokerReporter implements ClientTelemetry {
    @Override
    public ClientTelemetryReceiver clientReceiver() {
        return this::push;
    }
}
