"""What the executors need: from raw dumps to upgrade verdicts."""
