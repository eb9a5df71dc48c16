"""scenarios.py is beside the tests: what a client did, in one line."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
