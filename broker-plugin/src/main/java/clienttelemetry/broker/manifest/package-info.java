/** What the manifest of an hour says, from the broker's gauges and its metadata log. */
package clienttelemetry.broker.manifest;
