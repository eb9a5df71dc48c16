"""The page of a planned upgrade, and what lies beside it: JSON, Markdown, CSV, OpenMetrics."""
