"""When broker processes began, from connections, answers and server logs; and a real rolling upgrade."""

import json
from collections import Counter
from pathlib import Path

import pytest
import zstandard
from client_telemetry.formats.raw.envelopes import parse_connection_event
from client_telemetry.formats.raw.object_key import parse_object_key
from client_telemetry.formats.raw.raw_dump_v1_pb2 import ConnectionEvent
from client_telemetry.formats.raw.reader import RecordReader
from client_telemetry.sources.log_files import find_logs
from client_telemetry.sources.request_log.broker_releases import BrokerReleases, release_to_leave
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert
from client_telemetry.sources.request_log.incarnations import ConnectionSegments, Offer, incarnations
from client_telemetry.sources.request_log.server_log import ServerEvent

ROLL = Path(__file__).parents[3] / "data/roll"
SECOND = 10**9


def log(*lines: tuple[float, str]) -> ConnectionSegments:
    segments = ConnectionSegments()
    for second, connection in lines:
        segments.add(f"10.0.0.9:9092-10.0.1.1:{connection}", "CLIENTS", int(second * SECOND))
    return segments


def begins(*logs: ConnectionSegments, events: tuple[ServerEvent, ...] = ()) -> list[float]:
    return [incarnation.since / SECOND for incarnation in incarnations(logs, [], events)]


def test_numbers_that_begin_again_after_a_silence_are_a_restart():
    assert begins(log((0, "1-0-5"), (1, "2-0-6"), (9, "3-0-0"), (10, "4-0-1"))) == [0, 9]


def test_a_connection_that_goes_on_is_no_restart_whatever_the_numbers_are():
    assert begins(log((0, "1-0-5"), (9, "3-0-0"), (10, "1-0-5"))) == [0]


def test_numbers_that_rise_are_no_restart():
    """A monitor that connects once a minute."""
    assert begins(log(*((60 * n, f"{n}-0-{n}") for n in range(9)))) == [0]


def test_each_processor_counts_for_itself_since_4_0():
    assert begins(log((0, "1-0-5"), (1, "2-0-6"), (9, "3-1-0"))) == [0]


def test_without_silence_there_is_no_restart():
    assert begins(log((0, "1-0-5"), (0.5, "3-0-0"), (1, "4-0-1"))) == [0]


def test_a_log_that_goes_on_in_another_folder():
    assert begins(log((0, "1-0-5"), (1, "2-0-6")), log((9, "3-0-7"), (10, "1-0-5"))) == [0]
    assert begins(log((0, "1-0-5"), (1, "2-0-6")), log((9, "3-0-0"), (10, "4-0-1"))) == [0, 9]


def test_a_start_in_the_server_log_is_when_it_began():
    start = (
        ServerEvent(4 * SECOND, "starting", 1, "controller"),
        ServerEvent(5 * SECOND, "starting", 1, "broker"),
        ServerEvent(6 * SECOND, "release", None, "4.0.1"),
    )
    lines = log((0, "1-0-5"), (9, "3-0-0"))
    assert begins(lines, events=start) == [0, 4]
    found = incarnations([lines], [], start)
    assert [(incarnation.release, incarnation.is_start) for incarnation in found] == [
        (None, False),
        ("4.0.1", True),
    ]


def test_processes_that_end_before_they_are_up_count():
    starts = [ServerEvent(n * SECOND, "starting", 1, "broker") for n in (10, 20)]
    assert begins(log((0, "1-0-5"), (31, "2-0-0")), events=tuple(starts)) == [0, 10, 20]


# --- a real rolling upgrade


@pytest.fixture(scope="module")
def rolled(tmp_path_factory):
    raw = tmp_path_factory.mktemp("roll")
    seen = survey(find_logs([f"{ROLL}/node*/*.zst"]))
    done = convert(seen, release_to_leave(seen, None)[0], seen.cluster_id, raw)
    return seen, done, raw


def events(raw: Path) -> list[ConnectionEvent]:
    found = []
    for path in sorted(raw.glob("v1/dataset=connections/**/*.zst")):
        with path.open("rb") as source:
            key = parse_object_key(str(path))
            found += [parse_connection_event(r.data, key) for r in RecordReader(source, path.name)]
    return found


def truth() -> dict[tuple[int, str], int]:
    """(node, release) to the millisecond in which it was started."""
    rows = [json.loads(line) for line in (ROLL / "truth.jsonl").read_text().splitlines()]
    return {(r["node"], r["version"]): r["at_ms"] for r in rows if r["event"] == "broker-start"}


def test_incarnations_of_the_roll_have_their_releases_and_features(rolled):
    seen, _, raw = rolled
    found = {
        (b.broker_id, incarnation.release): incarnation
        for b in seen.brokers
        for incarnation in b.incarnations
    }
    assert found.keys() == truth().keys()
    assert all(0 <= incarnation.since / 10**6 - truth()[who] < 15_000 for who, incarnation in found.items())
    manifests = [json.loads(p.read_text()) for p in raw.glob("v1/dataset=manifests/**/*.json")]
    levels = {(m["broker_software_version"], m["finalized_features"]["metadata.version"]) for m in manifests}
    assert levels == {("3.9.1", 21), ("4.0.1", 25)}


def test_incarnations_of_the_roll_without_its_server_logs():
    """The answers follow the active controller: they change more often than the brokers do."""
    seen = survey(find_logs([f"{ROLL}/*/request.log*"]))
    assert {
        b.broker_id: [incarnation.candidates for incarnation in b.incarnations] for b in seen.brokers
    } == {broker: [("3.9.0", "3.9.1", "3.9.2"), ("4.0.1", "4.0.2")] for broker in (1, 2, 3)}
    releases, source = release_to_leave(seen, "3.9.1,4.0.1")
    assert source == "3.9.1"
    assert {
        tuple(releases.of(b.broker_id, incarnation) for incarnation in b.incarnations) for b in seen.brokers
    } == {("3.9.1", "4.0.1")}
    of_one = BrokerReleases.parse("1=3.9.2,1=4.0.2,3.9.1,4.0.1")
    assert [of_one.of(1, incarnation) for incarnation in seen.brokers[0].incarnations] == ["3.9.2", "4.0.2"]


def test_no_connection_of_the_roll_is_split_and_none_is_a_controllers(rolled):
    _, done, raw = rolled
    of_connections = [e for e in events(raw) if e.kind != ConnectionEvent.AUTHENTICATION_FAILED]
    incarnations_of: dict[str, set[bytes]] = {}
    for event in of_connections:
        incarnations_of.setdefault(event.client.connection_id, set()).add(event.incarnation)
    assert len(incarnations_of) == done.connections
    assert all(len(each) == 1 for each in incarnations_of.values())
    assert {e.client.listener_name for e in of_connections} == {"PLAINTEXT", "SASL_PLAINTEXT"}
    assert not {e.client.client_id for e in of_connections} & {"1", "2", "3", "raft-client-1"}
    assert done.of_controllers > 100


def test_refusals_and_failed_logins_of_the_roll(rolled):
    _, done, raw = rolled
    assert (done.refused, done.failed_logins) == (13_329, 1_635)
    kinds = Counter(event.kind for event in events(raw))
    assert kinds[ConnectionEvent.AUTHENTICATION_FAILED] == 1_635
    refused = [e for e in events(raw) if e.kind == ConnectionEvent.CLOSED]
    assert sum(use.rejected for e in refused for use in e.api_uses) == 13_329
    manifests = [json.loads(file.read_bytes()) for file in raw.glob("v1/dataset=manifests/**/*.json")]
    assert sum(manifest["failed_logins"] for manifest in manifests) == 1_635
    # Old clients whose earlier requests on the same connection were answered are known by name.
    assert {"search-pinned", "kafka_exporter"} <= {e.client.client_id for e in refused}
    failed = next(e for e in events(raw) if e.kind == ConnectionEvent.AUTHENTICATION_FAILED)
    assert (failed.client.client_address, failed.client.listener_name) == ("127.0.0.1", "SASL_PLAINTEXT")
    assert failed.failure_reason and failed.client.client_port


def test_the_console_has_the_lines_of_the_file(tmp_path):
    """kafkaServer.out beside server.log: each event counts once."""
    for name in ("request.log.zst", "server.log.zst"):
        (tmp_path / name).write_bytes((ROLL / "node1" / name).read_bytes())
    text = zstandard.ZstdDecompressor(max_window_size=2**27).decompress(
        (ROLL / "node1/server.log.zst").read_bytes(), 2**26
    )
    (tmp_path / "kafkaServer.out.zst").write_bytes(zstandard.compress(b"a line of the JVM\n" + text))
    seen = survey(find_logs([str(tmp_path)]))
    done = convert(seen, release_to_leave(seen, None)[0], "c", tmp_path / "raw")
    assert (done.refused, done.failed_logins) == (1_804, 393)
    assert [incarnation.release for incarnation in seen.brokers[0].incarnations] == ["4.0.1"]


def test_after_a_restart_that_only_numbers_show_a_repeated_answer_keeps_what_is_known():
    answer = Offer(0, ((0, 0, 11), (1, 4, 17)), {"metadata.version": 21}, repeated=10 * SECOND)
    segments = log((0, "1-0-5"), (1, "2-0-6"), (9, "3-0-0"), (10, "4-0-1"))
    before, after = incarnations([segments], [answer], [ServerEvent(0, "release", text="3.9.1")])
    assert (after.since, after.api_versions, after.release) == (9 * SECOND, before.api_versions, "3.9.1")
    assert after.features == ((9 * SECOND, {"metadata.version": 21}),)


def test_without_an_answer_since_the_restart_the_release_is_unknown():
    answer = Offer(0, ((0, 0, 11), (1, 4, 17)), {}, repeated=1 * SECOND)
    segments = log((0, "1-0-5"), (1, "2-0-6"), (9, "3-0-0"), (10, "4-0-1"))
    _, after = incarnations([segments], [answer], [ServerEvent(0, "release", text="3.9.1")])
    assert (after.api_versions, after.release) == (None, None)
