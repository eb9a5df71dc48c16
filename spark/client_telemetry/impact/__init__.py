"""From an upgrade question to verdicts."""
