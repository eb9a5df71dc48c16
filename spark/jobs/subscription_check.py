"""subscription_check: what a change of KIP-714 subscriptions would do, before it is applied.

spark-submit spark/jobs/subscription_check.py --cluster C --report-id ID --publish URL --lake URL (--action A ... | --goal JSON)
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("subscription_check")

if __name__ == "__main__":
    job("subscription_check")
