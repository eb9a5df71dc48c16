"""lake_maintenance: retention, compaction and expiry of all tables; on demand, the erasure of a client.

spark-submit spark/jobs/lake_maintenance.py --lake URL [--retention-days JSON]
spark-submit spark/jobs/lake_maintenance.py --lake URL --erase --cluster C [--client-id ID] [--principal P] [--publish URL]
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("lake_maintenance")

if __name__ == "__main__":
    job("lake_maintenance")
