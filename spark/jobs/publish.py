"""publish: an answered upgrade question as HTML, JSON, CSV and Markdown.

spark-submit spark/jobs/publish.py --cluster C --report-id ID --publish URL [--cluster-name NAME] --lake URL
"""

from client_telemetry.pipeline.stages import job, main_of

main = main_of("publish")

if __name__ == "__main__":
    job("publish")
