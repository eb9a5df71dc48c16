package clienttelemetry.broker;

/** The name that 0.1 wanted on Kafka 4.2 and newer; the same as {@link ClientTelemetryReporter} now, so that brokers start. */
public final class ClientTelemetryExporterReporter extends ClientTelemetryReporter {}
