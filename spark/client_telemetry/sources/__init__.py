"""Converts what brokers and collectors recorded in other formats into contract v1 dumps. Pure: no Spark, no Airflow."""
