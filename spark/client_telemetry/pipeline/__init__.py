"""How a stage runs: write, audit, publish; the quality gate; Spark's Python workers. Not: what a stage computes."""
