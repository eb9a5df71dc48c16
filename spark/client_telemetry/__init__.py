"""What the executors need: from raw dumps to upgrade verdicts."""

import sys
from pathlib import Path

# spark-submit puts the folder of the job first on the path, and there the job `profile` would stand in front of
# Python's own module of that name, which pyspark needs (through cProfile).
sys.path[:] = [entry for entry in sys.path if not Path(entry).match("spark/jobs")]
