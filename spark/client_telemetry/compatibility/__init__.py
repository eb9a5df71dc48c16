"""What a client and a broker release can say to each other, and the verdict. Pure: no Spark, no Airflow."""
