/** What the operator configured, and where it is refused. */
package clienttelemetry.broker.settings;
