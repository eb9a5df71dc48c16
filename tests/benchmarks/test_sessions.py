"""The benchmark of sessions runs; what it measures on little data says nothing."""

import json
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
LITTLE = """
import json
from benchmarks import sessions
sessions.SIZES = {"1 k pushes": 1_000, "2 k pushes": 2_000}
sessions.ONE_INSTANCE = 1_000
[section] = sessions.run()
print(json.dumps([row["case"] for row in section.rows]))
"""


def test_every_case_is_measured():
    ran = subprocess.run(
        [sys.executable, "-c", LITTLE], cwd=CHECKOUT, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout.splitlines()[-1]) == [
        "peer, 1 k pushes",
        "sessions, 1 k pushes",
        "peer, 2 k pushes",
        "sessions, 2 k pushes",
        "sessions, 10 M pushes, half of them of one instance",
        "peer, each push beyond 1 k",
        "sessions, each push beyond 1 k",
    ]
