"""Answers for machines from published files, read-only."""
