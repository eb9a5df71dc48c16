"""decode: raw objects to pushes, points and connection events.

spark-submit spark/jobs/decode.py --cluster C --days D[,D] --raw URL --lake URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("decode")

if __name__ == "__main__":
    job("decode")
