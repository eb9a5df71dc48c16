"""sessionize: pushes and connection events to sessions and connections: client_sessions and client_connections.

spark-submit spark/jobs/sessionize.py --cluster C --days D[,D] --lake URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("sessionize")

if __name__ == "__main__":
    job("sessionize")
