/** Finished files on their way to the store, those of earlier processes included. */
package clienttelemetry.broker.upload;
