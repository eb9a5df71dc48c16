"""The pages behind the plugin: published files, shown. They compute nothing. Of the jobs' package they import the
questions to what is published (rest.py), and take modules that need nothing else (light.py)."""

PREFIX = "/client-telemetry"
"""Where Airflow mounts them."""
