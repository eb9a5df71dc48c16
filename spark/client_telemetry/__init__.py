"""Which Kafka clients a broker upgrade breaks, from what the brokers saw."""
