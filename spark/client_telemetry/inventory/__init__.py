"""What is written about clients (artefacts: repositories, SBOMs, images) joined with what brokers saw of them (an upgrade
report), by way of what runs where (workloads). Pure: no Spark, no Airflow, no network.

`written` groups what a scan finds into artefacts, `workloads` says which image ran at which address, `seen` reads the report, `links`
matches them, each match with its certainty, and `joined` draws the conclusions.
"""
