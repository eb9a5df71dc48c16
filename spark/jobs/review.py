"""review: what an upgrade of the brokers did to each client, and what was predicted.

spark-submit spark/jobs/review.py --cluster C --from V --to V [--day D] [--review-id ID] --lake URL --publish URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("review")

if __name__ == "__main__":
    job("review")
