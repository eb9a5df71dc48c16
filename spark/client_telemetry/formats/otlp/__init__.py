"""From the OTLP payloads of KIP-714 pushes to data points. Pure: no Spark, no Airflow."""
