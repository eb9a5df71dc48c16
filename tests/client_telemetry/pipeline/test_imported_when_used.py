import subprocess
import sys

PROGRAM = """
import sys
from client_telemetry.pipeline import quality

quality.import_great_expectations()
assert not {"scipy.stats._stats_py", "altair.vegalite"} & sys.modules.keys()
import altair
from scipy import stats
from scipy.stats import norm
assert stats.norm.cdf(0) == norm.cdf(0) == 0.5
assert altair.Chart.__name__ == "Chart"
assert sys.modules["scipy.stats"].norm is norm
"""


def test_gates_do_not_import_what_no_suite_uses_and_it_can_be_used():
    """Each stage is a process of its own, which pays for its imports."""
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
