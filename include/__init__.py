"""What DAGs and plugins share: where things are, and the one way to submit a Spark job.

Nothing here computes: no Spark, no tables, no verdicts.
"""
