import builtins
import pickle
import time

import pytest
from client_telemetry.knowledge.user_patterns import BadPattern, UserPattern

EXPLODES = r"(?:[a-z]+-?)+[0-9]"
"""Nested repetition: a backtracking engine needs twice as long for each further letter."""


def test_nested_repetition_takes_no_time():
    began = time.process_time()
    assert UserPattern(EXPLODES).fullmatch("a" * 40) is None
    assert UserPattern(EXPLODES).fullmatch("a" * 32_000) is None
    assert UserPattern(EXPLODES).fullmatch("orders-eu-7") is not None
    assert time.process_time() - began < 0.5


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (r"(?=a)b", "lookaround"),
        (r"(?!a)b", "lookaround"),
        (r"(?<=a)b", "lookaround"),
        (r"(?<!a)b", "lookaround"),
        (r"(a)\1", "backreferences"),
        (r"(?P<x>a)(?P=x)", "backreferences"),
        (r"a\Z", "invalid escape sequence: \\Z"),
        ("a{1001}", "invalid repetition size"),
        ("(", "missing )"),
        ("*-orders", "no argument for repetition operator: *"),
        ("[z-a]", "invalid character class range: z-a"),
        ("\udc80", "not valid Unicode"),
    ],
)
def test_what_the_engine_does_not_know_is_refused_with_the_reason(text, reason, capfd):
    with pytest.raises(BadPattern) as error:
        UserPattern(text)
    assert reason in str(error.value)
    assert capfd.readouterr().err == "", "the engine's own log is silent"


def test_patterns_travel_to_workers_and_are_equal_by_text():
    pattern = UserPattern(r"shop-(?P<application>.+)")
    assert pickle.loads(pickle.dumps(pattern)) == pattern
    match = pattern.fullmatch("shop-cart")
    assert match is not None
    assert match.groupdict() == {"application": "cart"}
    assert pattern.group_names == {"application"}


def test_text_that_is_not_valid_unicode_is_matched_all_the_same():
    assert UserPattern("a.*").fullmatch("a\udc80") is not None
    assert UserPattern("b.*").fullmatch("a\udc80") is None


def test_without_the_engine_the_message_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def missing(name, *arguments, **more):
        if name == "re2":
            raise ModuleNotFoundError(name="re2")
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(BadPattern, match="pip install google-re2"):
        UserPattern("needs-the-engine")
