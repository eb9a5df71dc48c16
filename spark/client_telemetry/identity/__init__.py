"""Names of clients: KIP-511, KIP-190, owners. Pure: no Spark, no Airflow."""
