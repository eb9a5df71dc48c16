"""The audit in a process of its own."""

import subprocess
import sys

AT_ONCE = """
from concurrent.futures import ThreadPoolExecutor
from client_telemetry.pipeline import quality
from client_telemetry.tables.brokers import BROKERS

quality.import_in_background()
rows = BROKERS.arrow_schema.empty_table()
with ThreadPoolExecutor(4) as pool:
    found = [pool.submit(quality.validate_rows, rows, BROKERS, {}) for _ in range(4)]
    assert len({len(each.result()) for each in found}) == 1
"""


def test_the_first_audits_of_a_process_may_be_at_once():
    """Modules of Great Expectations import each other in a circle, which threads may enter at several places."""
    done = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
