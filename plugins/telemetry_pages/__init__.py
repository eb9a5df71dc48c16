"""The pages behind the plugin: published files, shown. They compute nothing and import nothing of the jobs."""

PREFIX = "/client-telemetry"
"""Where Airflow mounts them."""
