package clienttelemetry.broker;

/**
 * The registry of connections without pushes, for {@code metric.reporters} in place of {@link ClientTelemetryReporter}: a
 * broker offers KIP-714 only where a reporter takes pushes, and Kafka 3.8.0 to 4.3.0 decompress what a client pushes
 * without a bound, before any plugin sees it.
 */
public final class ConnectionsReporter extends BrokerReporter {}
