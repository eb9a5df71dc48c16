"""The fleet of one day as HTML, CSV and JSON. Pure: no Spark, no Airflow."""
