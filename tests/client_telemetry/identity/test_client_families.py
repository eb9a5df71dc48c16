import csv
import subprocess
import sys
import time
from pathlib import Path

import pytest
from client_telemetry.identity.client_families import MASKS, explained, family

with (Path(__file__).parents[2] / "data/identity/client_families.csv").open(newline="") as table:
    CASES = list(csv.DictReader(table))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_families_by_truth_table(case: dict):
    found = family(case["client_id"])
    assert (found.text, " ".join(found.masks)) == (case["family"], case["masks"])


def test_every_mask_has_a_case():
    seen = {mask for case in CASES for mask in case["masks"].split()}
    assert seen == {mask.name for mask in MASKS}


def test_masked_twice_is_masked_once():
    for case in CASES:
        once = family(case["client_id"]).text
        assert family(once).text in (once, family(case["client_id"]).text), case["case"]


@pytest.mark.parametrize("part", ["1", "a1", "-2x2x2", "spark-kafka-source-", "10.", "f" * 63 + "-", "@ "])
def test_a_long_hostile_id_takes_no_time(part):
    """Eight times the length takes some eight times as long; 64 times, if a mask looks at each pair of places."""

    def seconds(length):
        client_id = part * (length // len(part))
        times = []
        for _ in range(3):
            family.cache_clear()
            began = time.process_time()
            family(client_id)
            times.append(time.process_time() - began)
        return min(times)

    assert seconds(4_000) < 24 * seconds(500)


def test_why_is_reported():
    lines = list(explained(["orders-7d9f8b6c54-x2x7k", "orders"]))
    assert lines[0] == "'orders-7d9f8b6c54-x2x7k'  ->  'orders-{pod}'"
    assert "Kubernetes" in lines[1]
    assert lines[-1].endswith("(nothing is masked)")


def test_command():
    command = [sys.executable, "-m", "client_telemetry.identity.client_families"]
    printed = subprocess.run([*command, "app-3"], capture_output=True, text=True, check=True).stdout
    piped = subprocess.run(command, input="app-3\n", capture_output=True, text=True, check=True).stdout
    assert printed == piped
    assert "'app-3'  ->  'app-{n}'" in printed
