"""What each client did, by API, version and time slot: one record type, read from tables or from brokers' logs."""
