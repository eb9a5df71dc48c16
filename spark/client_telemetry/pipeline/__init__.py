"""How a stage runs: write, audit, publish; the quality gate; Spark's Python workers. What a stage computes is
elsewhere.
"""
