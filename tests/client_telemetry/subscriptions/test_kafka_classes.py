"""A short comparison with Kafka's own classes, where their jars are already there; all of it is in
tests/end_to_end/subscriptions."""

import random
from pathlib import Path

import pytest
from client_telemetry.subscriptions.java_runtime import JavaRuntime

from tests.end_to_end.subscriptions.kafka_classes import JARS, RELEASES, Play, differences, kafkas_answers


@pytest.mark.skipif(not (JARS / "classes").exists(), reason="Kafka's classes are fetched by make e2e")
def test_answers_of_kafkas_classes(java: JavaRuntime, tmp_path: Path) -> None:
    plays = [Play(release, random.Random(f"short {release}"), java) for release in RELEASES]
    for play in plays:
        play.broker(changes=12, requests=20)
    for play, answers in zip(plays, kafkas_answers(plays, tmp_path), strict=True):
        assert list(differences(play, answers)) == []
