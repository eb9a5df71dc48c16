import re

from client_telemetry.reports.names import LONGEST_FOLDER_NAME, folder_name
from hypothesis import given
from hypothesis import strategies as st


@given(st.text(max_size=200))
def test_any_name_gives_a_portable_folder(name):
    folder = folder_name(name)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", folder)
    assert len(folder) <= LONGEST_FOLDER_NAME + 9 and not folder.endswith(".")


def test_what_looks_alike_stays_apart():
    names = ["a:b", "a+b", "a-b", "a b", "", ".", "..", "../..", "a/b", "é", "_a", "a"]
    assert len({folder_name(name) for name in names}) == len(names)


def test_a_good_name_stays():
    assert folder_name("scheduled__2026-11-21") == "scheduled__2026-11-21"
