"""publish_fleet: the fleet of a day as HTML, CSV and JSON, and what a client instance is found by.

spark-submit spark/jobs/publish_fleet.py --cluster C --days D[,D] --publish URL [--cluster-name NAME] --lake URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("publish_fleet")

if __name__ == "__main__":
    job("publish_fleet")
