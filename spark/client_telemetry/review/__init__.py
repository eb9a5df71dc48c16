"""review: what was predicted for an upgrade and what happened to each client. The core is pure; table_evidence.py
adapts the tables to it.
"""
