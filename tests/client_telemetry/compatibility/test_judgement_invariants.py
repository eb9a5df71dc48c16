"""What must hold for any evidence, also a hostile one. Seeded, so that a failure can be repeated."""

import dataclasses
import random
import re

import pytest
from client_telemetry.compatibility import ApiUse, ClientEvidence, judge, judge_mixed_window, judge_rollback
from client_telemetry.knowledge import apis, served
from client_telemetry.knowledge.vocabulary import CONFIDENCES, PRECEDENCE

BARE_VERSION = re.compile(rf"\b({'|'.join(api.name for api in apis.by_key().values())}) \d|\bserves\b")
"""A request version without its v (`Produce 2`), and what brokers do with it in another word than `accepts`."""
NAMES = (
    (None, None),
    ("unknown", "unknown"),
    ("librdkafka", "1.7.0"),
    ("confluent-kafka-python", "2.3.0-rdkafka-2.3.0"),
    ("apache-kafka-java", "3.6.2"),
    ("apache-kafka-java", "7.6.1-ccs"),
    ("sarama", "dev"),
    ("kgo", "v1.15.4"),
    ("kafka-python", "9" * 5000),
    ("x'; --", "\x00\u202e"),
)
CLIENT_IDS = (
    None,
    "",
    "rdkafka",
    "consumer-1",
    "kafka-python-2.0.2",
    "a@" * 20_000 + " (github.com/segmentio/kafka-go",
    "\n",
)
RELEASES = ("2.4.1", "2.8.2", "3.9.1", "4.0.0", "4.0.1", "4.4.0")


def any_evidence(chance: random.Random) -> ClientEvidence:
    name, version = chance.choice(NAMES)
    keys = [*apis.by_key(), 200, 32767]
    uses = [
        ApiUse(
            chance.choice(keys), chance.randint(0, 14), chance.choice((0, 1, 10**12)), chance.choice((0, 3))
        )
        for _ in range(chance.randint(0, 12))
    ]
    return ClientEvidence(
        name,
        version,
        chance.choice(CLIENT_IDS),
        tuple(uses),
        chance.choice((None, "PLAIN", "GSSAPI", "")),
        chance.choice((None, "SSL", "SASL_SSL", "strange")),
        chance.choice((None, (), ("*",), ("org.apache.kafka.consumer.",))),
        chance.choice(((), (("kgo", "v1.15.4"),), (("apache-kafka-java", "3.9.1"), ("kgo", "x")))),
    )


def any_change(chance: random.Random) -> tuple[str, str]:
    """An upgrade or a rollback."""
    source, target = chance.sample(RELEASES, 2)
    return source, target


@pytest.mark.parametrize("seed", range(20))
def test_any_evidence_gets_a_complete_verdict(seed):
    chance = random.Random(seed)
    for _ in range(100):
        evidence, (source, target) = any_evidence(chance), any_change(chance)
        verdict = judge(evidence, source, target)
        assert verdict.verdict in PRECEDENCE and verdict.confidence in CONFIDENCES
        assert verdict.explanation.endswith(".") and "\n" not in verdict.explanation
        assert bool(verdict.fix) == (verdict.verdict in ("breaks", "degrades", "unsupported"))
        assert (verdict.when is None) == (verdict.verdict in ("safe", "insufficient_evidence"))
        if verdict.confidence == "none" and verdict.verdict != "insufficient_evidence":
            assert not served.dropped(source, target)
        for finding in verdict.findings:
            assert finding.confidence != "observed" or finding.requests > 0
            assert re.fullmatch(r"(\d+(–\d+)?(, \d+(–\d+)?)*)?", finding.versions)
            assert bool(finding.condition) == (finding.condition_met is not None)
        outlooks = (
            judge_mixed_window(source, target, verdict),
            judge_rollback(evidence, source, target, verdict),
        )
        texts = [verdict.explanation, verdict.fix, *verdict.missing]
        texts += [each.explanation for each in (*verdict.findings, *outlooks)]
        assert not [each for each in texts if BARE_VERSION.search(each)]
        for outlook in outlooks:
            assert outlook.verdict in PRECEDENCE and outlook.confidence in CONFIDENCES
            assert outlook.explanation.endswith(".") and "\n" not in outlook.explanation
            assert (outlook.when is None) == (outlook.verdict in ("safe", "insufficient_evidence"))
        deciding = [each.verdict for each in verdict.findings if each.decides]
        assert not deciding or PRECEDENCE.index(verdict.verdict) <= min(map(PRECEDENCE.index, deciding))
        assert judge(evidence, source, target) == verdict
        assert (
            judge(dataclasses.replace(evidence, api_uses=evidence.api_uses[::-1]), source, target) == verdict
        )


@pytest.mark.parametrize("seed", range(20))
def test_safe_never_covers_a_request_that_the_target_refuses_and_the_source_did_not(seed):
    """Produce 2 is the sharpest case: advertised by 4.x, answered by 3.x, refused by 4.x."""
    chance = random.Random(1000 + seed)
    for _ in range(50):
        evidence = any_evidence(chance)
        evidence = dataclasses.replace(evidence, api_uses=(*evidence.api_uses, ApiUse(0, 2, 5)))
        assert judge(evidence, "3.9.1", "4.0.1").verdict == "breaks"


@pytest.mark.parametrize("target", ["3.6.2", "3.9.1"])
@pytest.mark.parametrize("seed", range(5))
def test_no_rollback_below_4_0_is_safe_for_a_group_of_the_new_protocol(seed, target):
    chance = random.Random(3000 + seed)
    for _ in range(50):
        evidence = any_evidence(chance)
        evidence = dataclasses.replace(evidence, api_uses=(*evidence.api_uses, ApiUse(68, 1, 5)))
        assert judge(evidence, "4.0.1", target).verdict == "breaks"


@pytest.mark.parametrize("seed", range(10))
def test_an_upgrade_that_drops_nothing_breaks_nobody_whose_requests_work_today(seed):
    chance = random.Random(2000 + seed)
    today = served.by("4.0.0")
    for _ in range(50):
        evidence = any_evidence(chance)
        working = tuple(
            use._replace(requests=max(use.requests, 1), rejected=0)
            for use in (*evidence.api_uses, ApiUse(3, 5))
            if use.api_key in today
            and today[use.api_key].served.min <= use.version <= today[use.api_key].served.max
        )
        verdict = judge(dataclasses.replace(evidence, api_uses=working), "4.0.0", "4.0.1")
        assert verdict.verdict == "safe" or verdict.already_failing or verdict.as_before
