"""Request logs of brokers (kafka.request.logger) to contract v1 dumps."""
