"""From brokers' request logs (kafka.request.logger) to contract v1 dumps."""
