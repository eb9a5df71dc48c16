"""An answered upgrade question as HTML, JSON, CSV and Markdown. Pure: no Spark, no Airflow."""
