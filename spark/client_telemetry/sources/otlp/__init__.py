"""From OpenTelemetry metric files and streams to contract v1 dumps."""
