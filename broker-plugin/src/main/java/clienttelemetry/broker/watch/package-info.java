/** Listens to the broker's loggers, when the settings say so. */
package clienttelemetry.broker.watch;
