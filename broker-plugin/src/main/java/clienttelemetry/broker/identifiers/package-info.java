/** What of identifiers and of texts that clients choose leaves the broker. */
package clienttelemetry.broker.identifiers;
