"""spark-submit spark/jobs/upgrade_campaign.py --help. Written by `make generated`."""

import os
import sys
from pathlib import Path

# In a new interpreter: in this one, jobs/profile.py hides the module `profile` of the standard library.
script = Path(__file__).resolve().parents[1] / "run_stage.py"
os.execv(sys.executable, [sys.executable, str(script), "upgrade_campaign", *sys.argv[1:]])
