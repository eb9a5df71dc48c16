"""profile: connections and sessions to clients: who is out there, and who owns it.

spark-submit spark/jobs/profile.py --cluster C --days D[,D] --lake URL [--owners FILE]
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("profile")

if __name__ == "__main__":
    job("profile")
