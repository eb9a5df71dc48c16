/** Connections, and what each client sent, from the broker's log lines. */
package clienttelemetry.broker.registry;
