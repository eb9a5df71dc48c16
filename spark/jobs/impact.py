"""impact: which clients an upgrade of the brokers breaks.

spark-submit spark/jobs/impact.py --cluster C --report-id ID --to V [--from V] [--day D] [--window N] --lake URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("impact")

if __name__ == "__main__":
    job("impact")
