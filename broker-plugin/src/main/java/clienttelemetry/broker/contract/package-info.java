/** The raw dump contract: datasets, records and their bytes, keys and hours; and how a file of a dump is written. */
package clienttelemetry.broker.contract;
