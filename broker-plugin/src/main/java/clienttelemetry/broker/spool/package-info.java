/** The local disk between the broker and the store. */
package clienttelemetry.broker.spool;
