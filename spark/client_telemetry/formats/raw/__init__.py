"""Reading and writing raw dumps (contract v1). Pure: no Spark, no Airflow."""
