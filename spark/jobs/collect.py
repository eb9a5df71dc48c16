"""collect: what arrived, from which broker and hour, and what is missing.

spark-submit spark/jobs/collect.py --cluster C --day D --raw URL --lake URL [--again quarantined] [--source JSON]
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("collect")

if __name__ == "__main__":
    job("collect")
