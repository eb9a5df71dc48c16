"""0 differences to Kafka's own classes of five releases, over more than 100,000 answers; a tenth of them for each change."""

import random
from pathlib import Path

import pytest
from client_telemetry.subscriptions.java_runtime import JavaRuntime

from tests.end_to_end.subscriptions.kafka_classes import JARS, RELEASES, Play, differences, kafkas_answers

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(
        not JARS.exists(), reason="no classes of Kafka: make e2e gets them where there are Maven and a JDK"
    ),
]
SEED = 714


@pytest.mark.parametrize(
    ("brokers", "answered", "refusals"),
    [(3, 10_000, 100), pytest.param(32, 100_000, 1000, marks=pytest.mark.long)],
)
def test_answers_of_kafkas_classes(tmp_path: Path, brokers: int, answered: int, refusals: int) -> None:
    with JavaRuntime() as java:
        plays = []
        for release in RELEASES:
            play = Play(release, random.Random(f"{SEED} {release}"), java)
            for _ in range(brokers):
                play.broker(changes=30, requests=28)
            if release in (RELEASES[0], RELEASES[-1]) or brokers == 32:
                play.full_cache()
            plays.append(play)
        answers = kafkas_answers(plays, tmp_path)
        found = [
            each for play, lines in zip(plays, answers, strict=True) for each in differences(play, lines)
        ]
    assert not found, "\n".join(found[:10])
    count = sum(map(len, answers))
    refused = sum(line.startswith("refused") for lines in answers for line in lines)
    print(f"{count} answers of Kafka's classes, {refused} configurations refused, 0 differences")
    assert count > answered and refused > refusals
