/**
 * What a broker is configured with, under names that stay: {@link clienttelemetry.broker.ClientTelemetryReporter} and the
 * command {@link clienttelemetry.broker.Identifiers}. It puts the packages below it together; their classes are public
 * to each other, not to others. They import downwards only, in this order: watch, registry, upload, manifest, spool,
 * settings, identifiers, contract.
 */
package clienttelemetry.broker;
