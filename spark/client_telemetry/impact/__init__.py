"""An upgrade question to verdicts."""
