"""What brokers and collectors recorded in other forms than the contract's, read and written as a contract v1 dump.
Pure: no Spark, no Airflow."""
