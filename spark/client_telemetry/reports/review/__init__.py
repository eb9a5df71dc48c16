"""The review of an upgrade as a page, JSON and CSV."""
