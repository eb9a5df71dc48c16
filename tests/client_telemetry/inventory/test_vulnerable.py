"""Known vulnerabilities by application that brokers saw: by version, by role, by what is declared or written."""

import datetime as dt
import json

import pytest
from client_telemetry import knowledge
from client_telemetry.artefacts.scan import scan
from client_telemetry.cli import scan as command
from client_telemetry.inventory.joined import join
from client_telemetry.inventory.seen import Client, Seen
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.inventory.written import collect
from client_telemetry.knowledge import DamagedKnowledge, Package, vulnerabilities
from client_telemetry.reports.inventory import document, markdown, text
from client_telemetry.reports.upgrade.written_note import _lists

DAY = dt.datetime(2026, 11, 21, tzinfo=dt.UTC)


def client(
    name: str, version: str = "", roles: tuple[str, ...] = (), library: str = "kafka-clients"
) -> Client:
    return Client(
        client_id=name,
        principal=f"User:{name}",
        application=name,
        owner="team",
        verdict="safe",
        explanation="",
        identified_as=f"{library} {version}" if version else "not identified",
        is_unidentified=not version,
        library=library if version else "",
        version=version,
        candidates=(),
        addresses=1,
        listed_addresses=("10.0.0.1",),
        hosts=(),
        groups=(),
        first_seen_at=DAY,
        last_seen_at=DAY,
        anchor=f"client-{name}",
        software_version=version,
        roles=roles,
    )


def rows(tmp_path, *clients: Client):
    seen = Seen("c", "r", "3.9.1", "4.3.1", DAY.date(), clients)
    joined = join(collect([tmp_path], "3.9.1", "4.3.1"), seen, Workloads())
    return joined, [(each.application, each.vulnerability.id, each.certainty) for each in joined.vulnerable]


def test_a_consumer_is_not_hit_by_what_hits_producers(tmp_path):
    _, found = rows(
        tmp_path,
        client("writer", "4.1.1", ("producer",)),
        client("exact", "4.1.1", ("transactional_producer",)),
        client("reader", "4.1.1", ("group_consumer",)),
        client("silent", "4.1.1"),
        client("fixed", "4.1.2", ("producer",)),
    )
    assert found == [
        ("exact", "CVE-2026-35554", "declared"),
        ("silent", "CVE-2026-35554", "declared"),
        ("writer", "CVE-2026-35554", "declared"),
    ]


def test_what_hits_kafka_connect_alone_hits_no_other_client(tmp_path):
    _, found = rows(tmp_path, client("a", "3.9.0", ("group_consumer",)))
    assert [vulnerability for _, vulnerability, _ in found] == ["CVE-2026-33558", "CVE-2025-27817"]
    (tmp_path / "pom.xml").write_text(
        "<project><dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>connect-runtime</artifactId>"
        "<version>3.9.0</version></dependency></dependencies></project>"
    )
    (worker,) = scan([tmp_path / "pom.xml"], "3.9.1", "4.3.1").found
    assert "CVE-2025-27818" in [each.id for each in worker.vulnerabilities]
    (tmp_path / "gradle.lockfile").write_text(
        "org.apache.kafka:connect-runtime:3.9.0=runtime\norg.apache.kafka:kafka-clients:3.9.0=runtime\n"
    )
    (locked,) = scan([tmp_path / "gradle.lockfile"], "3.9.1", "4.3.1").found
    assert "CVE-2025-27818" in [each.id for each in locked.vulnerabilities]


@pytest.mark.parametrize("version", ["7.6.1-ccs", "3.8.0.redhat-00001", "unknown", ""])
def test_a_build_of_a_vendor_is_not_compared(version):
    assert vulnerabilities.of("kafka-clients", version) == ()
    assert vulnerabilities.of("librdkafka", "3.8.0") == ()


def test_a_client_that_declares_nothing_has_those_of_the_library_that_is_written(tmp_path):
    (tmp_path / "erp").mkdir()
    (tmp_path / "erp/pom.xml").write_text(
        "<project><dependencies><dependency><groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId>"
        "<version>2.0.1</version></dependency></dependencies></project>"
    )
    (tmp_path / "erp/client.properties").write_text("bootstrap.servers=k:9092\nclient.id=erp\n")
    joined, found = rows(tmp_path, client("erp"), client("other"))
    assert found == [("erp", "CVE-2026-33558", "likely"), ("erp", "CVE-2021-38153", "likely")]
    assert joined.vulnerable[0].evidence.endswith("erp/pom.xml:1")


def test_an_application_is_listed_once_and_escaped_everywhere(tmp_path):
    name = "<script>x</script>"
    joined, found = rows(
        tmp_path, client(name, "4.0.1", ("producer",)), client(name, "4.0.1", ("group_consumer",))
    )
    assert found == [(name, "CVE-2026-35554", "declared")]
    as_document = document.as_json(joined, ())
    assert json.loads(json.dumps(as_document))["vulnerabilities"][0]["fixed_in"] == "4.0.2"
    page = str(_lists(as_document))
    assert "CVE-2026-35554" in page and "&lt;script&gt;" in page and "<script>" not in page
    assert any("CVE-2026-35554" in line for line in markdown.lines(joined, ()))
    assert any("producers: records can be delivered" in line for line in text.lines(joined, ()))


def test_a_scan_names_them_and_stops_only_where_it_is_asked_to(tmp_path, capsys):
    (tmp_path / "gradle.lockfile").write_text("org.apache.kafka:kafka-clients:3.9.1=runtimeClasspath\n")
    arguments = [str(tmp_path), "--to", "4.3.1"]
    assert command.main(arguments) == 0
    assert "CVE-2026-35554: producers: records can be delivered" in capsys.readouterr().out
    assert command.main([*arguments, "--fail-on-vulnerable"]) == 3
    assert "no-go: 1 Kafka client with a known vulnerability" in capsys.readouterr().err
    (tmp_path / "gradle.lockfile").write_text("org.apache.kafka:kafka-clients:4.3.1=runtimeClasspath\n")
    assert command.main([*arguments, "--fail-on-vulnerable"]) == 0


@pytest.mark.parametrize(
    "column, cell, reason",
    [
        ("hits", "consumer", "hits 'consumer' is none of"),
        ("fixed_in", "3.0.0", "are not in this order"),
        ("id", "", "id is required"),
    ],
)
def test_a_damaged_row_is_named(column, cell, reason):
    lines = knowledge.shipped_texts()[vulnerabilities.FILE].splitlines()
    cells = lines[1].split(",")
    cells[vulnerabilities.COLUMNS.index(column)] = cell
    texts = {**knowledge.shipped_texts(), vulnerabilities.FILE: "\n".join((lines[0], ",".join(cells)))}
    try:
        knowledge.use_package(Package.of_texts("a copy", knowledge.shipped_built_at(), texts))
        with pytest.raises(DamagedKnowledge, match=reason):
            vulnerabilities.every()
    finally:
        knowledge.use(None)
