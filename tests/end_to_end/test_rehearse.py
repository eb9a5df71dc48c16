"""`client-telemetry rehearse` with real libraries from their registries and a real broker."""

import json
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from client_telemetry.cli import knowledge
from client_telemetry.cli.rehearse import main

CHECKOUT = Path(__file__).parents[2]
JARS = CHECKOUT / "var" / "end_to_end" / "jars" / "broker-4"
TARGET = "4.4.0"
CACHE = CHECKOUT / "var" / "e2e" / "rehearsal"

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not (shutil.which("java") and shutil.which("mvn")), reason="needs Java and Maven"),
]
PINNED = {0: "2", 1: "3", 2: "1"}


def _client(
    name: str, version: str, identified_as: str, verdict: str, seen: dict[int, str]
) -> dict[str, Any]:
    return {
        "client_software_name": name,
        "client_software_version": version,
        "identified_as": identified_as,
        "verdict": verdict,
        "when": "at_once" if verdict == "breaks" else None,
        "trigger": None,
        "roles": ["producer"],
        "findings": [
            {"rule_id": "observed_version_served", "api_key": key, "versions": versions}
            for key, versions in seen.items()
        ],
    }


def _application(place: int, name: str, outcome: str) -> dict[str, Any]:
    return {
        "anchor": f"application-{place}",
        "name": name,
        "owner": "team",
        "outcome": outcome,
        "safe_so_far": outcome == "safe",
        "clients": [place],
    }


def _report(folder: Path, clients: list[dict[str, Any]], applications: list[dict[str, Any]]) -> Path:
    # From a release in ZooKeeper mode: there is one broker to run against, with the features of the target.
    question = {"report_id": "r", "cluster_id": "c", "from_release": "2.8.2", "to_release": TARGET}
    folder.mkdir()
    content = {"question": question, "clients": clients, "applications": applications}
    (folder / "report.json").write_text(json.dumps(content))
    return folder


def _cache() -> Path:
    """With the broker's jars that `make e2e` has fetched already."""
    place = CACHE / "brokers" / TARGET
    if JARS.exists() and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(JARS)
    return CACHE


def test_a_pinned_library_is_refused_and_a_current_one_works(tmp_path, capsys):
    clients = [
        _client("unknown", "unknown", "probably kafka-python 2.0.2", "breaks", PINNED),
        _client("confluent-kafka-python", "2.8.0-rdkafka-2.8.0", "", "safe", {}),
        _client("unknown", "unknown", "not identified, candidates: brod or sarama", "safe", {}),
    ]
    applications = [
        _application(0, "pinned", "breaks_at_once"),
        _application(1, "current", "safe"),
        _application(2, "unknown", "safe"),
    ]
    report = _report(tmp_path / "report", clients, applications)
    assert main([str(report), "--cache", str(_cache())]) == 3
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(
        f"pinned (kafka-python 2.0.2 (api_version=0.10.1)) ran on {TARGET}: refused at produce: "
    )
    assert printed[1] == f"current (confluent-kafka-python 2.8.0) ran on {TARGET}: works"
    assert printed[2] == "not rehearsed: unknown: its library is not known"
    assert printed[3].startswith(f"1 of 2 safe applications rehearsed on {TARGET}; 2 of 2 whose library")
    assert printed[4] == "0 contradictions with the report"
    content = json.loads((report / "rehearsal.json").read_text())
    assert [each["outcome"] for each in content["applications"]] == ["refused", "works", "not_rehearsed"]
    assert content["ran_on"] == [TARGET, f"{TARGET}, restarted"]
    current = next(each for each in content["libraries"] if each["library"] == "confluent-kafka-python")
    assert current["steps"][f"{TARGET}, restarted"] == current["steps"][TARGET]
    pinned = next(each for each in content["libraries"] if each["library"] == "kafka-python")
    assert pinned["steps"][TARGET]["produce"] != "ok" and pinned["control"]["produce"] == "ok"


@pytest.mark.long
def test_many_libraries(tmp_path, capsys):
    """Java, JavaScript, Go and Python, with a login; the second rehearsal runs nothing."""
    software = [
        ("apache-kafka-java", "3.6.2", ""),
        ("kgo", "v1.22.2", ""),
        ("sarama", "v1.45.1", ""),
        ("unknown", "unknown", "probably kafkajs 2.2.4"),
        ("kafka-python", "3.0.11", ""),
        ("librdkafka", "2.8.0", ""),
    ]
    clients = [_client(*each, "safe", {}) for each in software]
    applications = [_application(place, each[0], "safe") for place, each in enumerate(software)]
    report = _report(tmp_path / "report", clients, applications)
    arguments = [str(report), "--cache", str(_cache()), "--mechanism", "SCRAM-SHA-256"]
    assert main(arguments) == 0
    assert "6 of 6 safe applications rehearsed" in capsys.readouterr().out
    assert main([*arguments, "--budget-minutes", "0.001"]) == 0


@pytest.mark.long
def test_the_sample(tmp_path, capsys):
    """The report in docs/examples: three quarters of the applications of a known library run, and who is refused is not safe."""
    with zipfile.ZipFile(CHECKOUT / "docs" / "examples" / "sample_report.zip") as sample:
        report = Path(sample.extract("sample_report/report.json", tmp_path)).parent
    limits = ["--budget-minutes", "60", "--budget-gb", "20"]
    assert main([str(report), "--to", "4.3.1", "--cache", str(CACHE), *limits]) == 3
    print(capsys.readouterr().out)
    content = json.loads((report / "rehearsal.json").read_text())
    known = content["with_known_library"]
    assert known["works"] + known["refused"] >= 0.75 * sum(known.values())
    verdicts = {each["anchor"]: each["verdict_outcome"] for each in content["applications"]}
    refused = [each["anchor"] for each in content["applications"] if each["outcome"] == "refused"]
    assert refused and all(verdicts[anchor].startswith("breaks") for anchor in refused)


@pytest.mark.long
def test_libraries_log_in_with_tokens(tmp_path, capsys):
    """OAUTHBEARER with unsecured tokens; of those without a program for it, that is said."""
    software = [
        ("apache-kafka-java", "3.6.2", ""),
        ("kgo", "v1.22.2", ""),
        ("unknown", "unknown", "probably kafkajs 2.2.4"),
        ("kafka-python", "3.0.11", ""),
        ("unknown", "unknown", "probably kafka-python 2.0.2"),
        ("unknown", "unknown", "probably aiokafka 0.12.0"),
        ("librdkafka", "2.8.0", ""),
        ("sarama", "v1.45.1", ""),
    ]
    report = _safe(tmp_path, software)
    assert main([str(report), "--cache", str(_cache()), "--mechanism", "OAUTHBEARER"]) == 4
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "works" not in line][:2] == [
        "not rehearsed: sarama: there is no program for sarama that logs in with OAUTHBEARER",
        f"7 of 8 safe applications rehearsed on {TARGET}; 7 of 7 whose library and version are known or inferred",
    ]


WITH_TLS = (
    ("apache-kafka-java", "3.6.2", ""),
    ("unknown", "unknown", "probably kafka-clients 2.3.1"),
    ("librdkafka", "2.8.0", ""),
    ("confluent-kafka-go", "2.8.0-rdkafka-2.8.0", ""),
    ("kgo", "v1.22.2", ""),
    ("sarama", "v1.45.1", ""),
    ("unknown", "unknown", "probably kafka-go 0.4.50"),
    ("unknown", "unknown", "probably kafkajs 2.2.4"),
    ("kafka-python", "3.0.11", ""),
    ("unknown", "unknown", "probably aiokafka 0.12.0"),
)


@pytest.mark.long
@pytest.mark.parametrize("mechanism", ["", "SCRAM-SHA-512"])
def test_libraries_connect_with_tls(tmp_path, capsys, mechanism):
    """With a client certificate, which the listener wants, or with a login over TLS."""
    report = _safe(tmp_path, WITH_TLS)
    arguments = [str(report), "--cache", str(_cache()), "--tls"]
    assert main([*arguments, *(["--mechanism", mechanism] if mechanism else [])]) == 0
    way = f"{mechanism}, TLS" if mechanism else "client certificate"
    printed = capsys.readouterr().out
    assert f"kafka-clients 3.6.2 ({way})) ran on {TARGET}: works" in printed
    assert f"{len(WITH_TLS)} of {len(WITH_TLS)} safe applications rehearsed" in printed


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("krb5-config"), reason="needs libkrb5-dev: gssapi is compiled")
@pytest.mark.parametrize("over_tls", [False, True])
def test_libraries_log_in_with_kerberos(tmp_path, capsys, over_tls):
    """At a Kerberos server of the sandbox; of those without a program for it, that is said."""
    software = [
        ("apache-kafka-java", "3.6.2", ""),
        ("kgo", "v1.22.2", ""),
        ("sarama", "v1.46.1", ""),
        ("kafka-python", "3.0.11", ""),
        ("unknown", "unknown", "probably aiokafka 0.12.0"),
        ("librdkafka", "2.8.0", ""),
        ("unknown", "unknown", "probably kafkajs 2.2.4"),
    ]
    arguments = [str(_safe(tmp_path, software)), "--cache", str(_cache()), "--mechanism", "GSSAPI"]
    assert main([*arguments, *(["--tls"] if over_tls else [])]) == 4
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "works" not in line][:3] == [
        "not rehearsed: librdkafka: there is no program for librdkafka that logs in with GSSAPI",
        "not rehearsed: probably kafkajs 2.2.4: there is no program for kafkajs that logs in with GSSAPI",
        f"5 of 7 safe applications rehearsed on {TARGET}; 5 of 5 whose library and version are known or inferred",
    ]


def _safe(folder: Path, software: Sequence[tuple[str, str, str]]) -> Path:
    """A report with a safe application of each library."""
    clients = [_client(*each, "safe", {}) for each in software]
    applications = [_application(place, each[2] or each[0], "safe") for place, each in enumerate(software)]
    return _report(folder / "report", clients, applications)


@pytest.mark.long
def test_a_login_that_4_x_refuses(tmp_path, capsys):
    """librdkafka before 2.6.1 sends its SCRAM nonce twice (confluentinc/librdkafka#4895), which 4.x does not take."""
    report = _report(
        tmp_path / "report",
        [_client("librdkafka", "2.3.0", "", "breaks", {})],
        [_application(0, "old", "breaks_at_once")],
    )
    assert main([str(report), "--cache", str(_cache()), "--mechanism", "SCRAM-SHA-256"]) == 3
    (first, *_) = capsys.readouterr().out.splitlines()
    assert first.startswith(
        f"old (confluent-kafka-python 2.3.0 (SCRAM-SHA-256)) ran on {TARGET}: refused at connect: "
    )


@pytest.mark.long
def test_a_library_is_measured(tmp_path, capsys):
    """The versions that a registry has and the knowledge base has are measured to be the same, or said to differ."""
    package = tmp_path / "package"
    with_library = ["build", "--out", str(package), "--cache", str(_cache()), "--library", "franz-go==1.22.3"]
    assert knowledge.main(with_library) in (0, 1)  # 1: Maven has a release whose jar cannot be read
    # Heartbeat is the fourteenth, where the group lasts longer than its interval.
    assert re.search(r"^franz-go 1\.22\.3: 1[34] APIs as franz-go ", capsys.readouterr().out, re.MULTILINE)
    assert (package / "client_api_versions.csv").is_file()
