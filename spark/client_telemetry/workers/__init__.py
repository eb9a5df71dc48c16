"""What runs in Spark's Python workers, or in one process: how pieces move, what a worker has imported, whether a cluster can run it.
No stage is known here.
"""
