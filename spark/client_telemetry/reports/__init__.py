"""Reports as HTML, JSON, CSV and Markdown: `upgrade` and `fleet` are equals, what they share is here. Pure: no Spark, no Airflow."""
