"""collect: what it says of what arrived, and of what did not."""

import datetime as dt
import shutil

from client_telemetry.formats.raw.location import RawLocation
from client_telemetry.jobs.collect import TABLES
from client_telemetry.lake.files import PartitionFile
from client_telemetry.tables.broker_hours import BROKER_HOURS
from client_telemetry.tables.brokers import BROKERS
from client_telemetry.tables.client_pushes import CLIENT_PUSHES
from client_telemetry.tables.raw_objects import RAW_OBJECTS
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

from tests.jobs.conftest import CLUSTER, DAY, NOON, event, push


def hours(pipeline) -> dict[int, dict]:
    return {row["hour"]: row for row in pipeline.rows(BROKER_HOURS, cluster_id=CLUSTER, dt=DAY)}


def written(pipeline, dataset="client_pushes"):
    return sorted(pipeline.raw.rglob(f"v1/dataset={dataset}/**/*.*"))


def test_an_hour_with_a_manifest_is_complete_and_the_others_are_unknown(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
        out.append_connection_event(event(1))
    code, result = pipeline.run("collect", day=DAY)
    assert code == 0
    assert result["decode_days"] == result["derive_days"] == ["2026-11-21"]
    found = hours(pipeline)
    assert {hour for hour, row in found.items() if row["completeness"] == ["complete"]} == {12}
    assert {tuple(row["completeness"]) for hour, row in found.items() if hour != 12} == {("no_manifest",)}
    assert (found[12]["pushes_expected"], found[12]["pushes_read"]) == (1, None)
    assert result["counts"]["broker_hours_complete"] == 1
    (broker,) = pipeline.rows(BROKERS)
    assert (broker["software_version"], broker["started_at"]) == ("3.9.1", NOON - dt.timedelta(hours=1))


def test_files_whose_names_are_not_of_the_contract_are_counted(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    (good,) = written(pipeline)
    for strange in ("hour=5/broker=3", "hour=05/broker=abc"):
        folder = good.parents[2] / strange
        folder.mkdir(parents=True)
        shutil.copy(good, folder)
    code, result = pipeline.run("collect", day=DAY)
    (warning,) = result["warnings"]
    assert code == 0 and warning.startswith(
        "2 files in the raw location are not read, such as not a key of contract"
    )
    assert "hour=05/broker=abc" in warning or "hour=5/broker=3" in warning


def test_a_day_without_data_says_so_and_succeeds(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    code, result = pipeline.run("collect", day="2026-10-01")
    assert code == 0
    assert result["decode_days"] == []
    assert "no data on 2026-10-01" in result["message"]


def test_an_unknown_cluster_is_refused_with_the_clusters_that_there_are(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    code, result = pipeline.run("collect", cluster="nobody", day=DAY)
    assert (code, result["status"]) == (2, "bad_arguments")
    assert "'nobody'" in result["message"] and CLUSTER in result["message"]


def test_an_empty_raw_location_asks_whether_it_is_the_right_folder(pipeline):
    pipeline.raw.mkdir()
    code, result = pipeline.run("collect", day=DAY)
    assert code == 2
    assert "no cluster at all" in result["message"]


def test_a_day_that_is_none_is_refused(pipeline, capsys):
    from client_telemetry.jobs import collect as collect

    arguments = ["--cluster=c", "--raw=r", "--lake=l", "--day=21.11.2026"]
    assert collect.main(arguments) == 2
    assert "write it as 2026-11-21" in capsys.readouterr().err


def test_faults_of_manifests_and_objects_are_coverage_facts(pipeline, dump):
    with dump(pipeline) as out:
        for minute in (0, 20, 40):
            out.append_push(push(NOON + dt.timedelta(minutes=minute)))
    first, second, third = written(pipeline)
    second.unlink()
    third.write_bytes(third.read_bytes() + b"\0")
    third.with_name("copied-by-hand.zst").write_bytes(third.read_bytes())
    code, result = pipeline.run("collect", day=DAY)
    assert code == 0
    assert hours(pipeline)[12]["completeness"] == ["missing_objects", "sequence_gap"]
    flags = {row["object_key"].rpartition("/")[2]: row["flags"] for row in pipeline.rows(RAW_OBJECTS)}
    assert flags[first.name] == []
    assert flags[third.name] == ["size_mismatch"]
    assert flags["copied-by-hand.zst"] == ["name_not_by_contract", "no_manifest"]
    assert any("objects_match_manifests" in warning for warning in result["warnings"])


def test_a_manifest_that_is_no_json_leaves_the_hour_unknown(pipeline, dump):
    with dump(pipeline) as out:
        out.append_push(push())
    (manifest,) = written(pipeline, "manifests")
    manifest.write_text("{not json")
    code, _ = pipeline.run("collect", day=DAY)
    assert code == 0
    assert hours(pipeline)[12]["completeness"] == ["bad_manifest", "no_manifest"]
    rows = {row["dataset"]: row for row in pipeline.rows(RAW_OBJECTS)}
    assert rows["manifests"]["status"] == "unreadable"
    assert "not JSON" in rows["manifests"]["error"]
    assert rows["client_pushes"]["flags"] == ["no_manifest"]


def test_drops_and_a_registry_that_did_not_watch_are_reported(pipeline, dump):
    fields = {"dropped": {"queue_full": 3}, "registry": {"mode": "deprecated_only"}}
    with dump(pipeline) as out:
        out.append_push(push())
        out.describe_hour(NOON, fields)
    pipeline.run("collect", day=DAY)
    row = hours(pipeline)[12]
    assert row["completeness"] == ["dropped_records", "registry_not_watching"]
    assert row["dropped"]["queue_full"] == 3


def test_late_objects_of_earlier_days_are_found_and_unchanged_days_are_not_decoded_again(pipeline, dump):
    two_days_ago = NOON - dt.timedelta(days=2)
    with dump(pipeline) as out:
        out.append_push(push(two_days_ago))
    for stage, day in (("collect", {"day": two_days_ago.date()}), ("decode", {"days": two_days_ago.date()})):
        code, result = pipeline.run(stage, **day)
        assert code == 0, result["message"]
    with dump(pipeline, incarnation=bytes(16 * [7])) as out:
        out.append_push(push())
    code, result = pipeline.run("collect", day=DAY)
    assert code == 0
    assert result["decode_days"] == ["2026-11-21"]
    with dump(pipeline, incarnation=bytes(16 * [8])) as out:
        out.append_push(push(two_days_ago))
    code, result = pipeline.run("collect", day=DAY)
    assert result["decode_days"] == ["2026-11-19", "2026-11-21"]
    assert result["derive_days"] == ["2026-11-19", "2026-11-21"]


def test_days_that_run_in_their_order_are_decoded_once_each(pipeline, dump):
    """As nightly runs do after the first one."""
    days = [NOON - dt.timedelta(days=n) for n in range(4, -1, -1)]
    for number, each in enumerate(days):
        with dump(pipeline, incarnation=bytes(16 * [number])) as out:
            out.append_push(push(each))
    decoded = []
    for each in days[1:]:
        result = pipeline.done("collect", day=each.date())
        pipeline.done("decode", days=",".join(result["decode_days"]))
        decoded += result["decode_days"]
    assert decoded == [str(each.date()) for each in days]


def test_days_of_a_backfill_are_decoded_once_each_in_any_order(pipeline, dump):
    """As its runs come when several are under way at once: all collect before any decodes. Without the options of such runs
    (include/run_day.py) each of them takes the three days before, too."""
    days = [NOON - dt.timedelta(days=n) for n in range(5)]
    for number, each in enumerate(days):
        with dump(pipeline, incarnation=bytes(16 * [number])) as out:
            out.append_push(push(each))
    of_a_backfill = {"late_days": 0, "too_late_days": 0}
    usual, decoded = [], []
    for each in days:
        decoded += pipeline.done("collect", day=each.date(), **of_a_backfill)["decode_days"]
    for each in days:
        usual += pipeline.done("collect", day=each.date())["decode_days"]
    assert sorted(decoded) == sorted(str(each.date()) for each in days)
    assert max(map(usual.count, usual)) == 4


def test_what_the_ledger_knows_is_not_read_again(pipeline, dump, monkeypatch):
    """A night lists the days before and reads the manifests of its own day; those of earlier ones only if one changed."""
    yesterday = NOON - dt.timedelta(days=1)
    with dump(pipeline) as out:
        out.append_push(push(yesterday))
    pipeline.run_day(yesterday.date())
    before = {table: pipeline.rows(table, dt=yesterday.date()) for table in TABLES}
    with dump(pipeline, incarnation=bytes(16 * [7])) as out:
        out.append_push(push())
    read = []
    opened = RawLocation.read
    monkeypatch.setattr(RawLocation, "read", lambda raw, key: read.append(key) or opened(raw, key))
    pipeline.done("collect", day=DAY)
    assert len(read) == 1 and f"dt={DAY}" in read[0]
    assert {table: pipeline.rows(table, dt=yesterday.date()) for table in TABLES} == before
    with dump(pipeline, incarnation=bytes(16 * [8])) as out:
        out.append_push(push(yesterday))
    read.clear()
    assert pipeline.done("collect", day=DAY)["decode_days"] == [str(yesterday.date()), str(DAY)]
    assert len(read) == 3


def test_the_ledger_of_a_day_is_not_opened_if_nothing_came(pipeline, dump, monkeypatch):
    old, at = DAY - dt.timedelta(days=5), NOON - dt.timedelta(days=5)
    with dump(pipeline) as out:
        out.append_push(push(at))
    pipeline.done("collect", day=old)
    opened = []
    row_groups = PartitionFile.row_groups
    monkeypatch.setattr(
        PartitionFile,
        "row_groups",
        lambda file, *args, **named: opened.append(file.url) or row_groups(file, *args, **named),
    )
    assert pipeline.done("collect", day=DAY)["counts"]["objects_too_late"] == 0
    assert not [url for url in opened if f"dt={old}" in url]
    for folder in pipeline.raw.glob(f"v1/dataset=*/cluster=*/dt={old}"):
        shutil.rmtree(folder)
    with dump(pipeline, broker_id=2) as out:  # as many objects as before
        out.append_push(push(at))
    assert pipeline.done("collect", day=DAY)["counts"]["objects_too_late"] == 2


def test_keys_in_the_locations_of_a_source_are_refused_and_not_shown(pipeline, capsys):
    source = '{"format": "request_log", "files": ["1=s3://mine:hidden@bucket/logs"]}'
    code, result = pipeline.run("collect", day=DAY, source=source)
    assert code == 2 and "s3://bucket/logs has a user or password" in result["message"]
    said = capsys.readouterr()
    assert "hidden" not in said.out + said.err + result["message"]


def test_objects_that_came_too_late_are_recorded_with_how_to_read_them_and_read_then(pipeline, dump):
    old = DAY - dt.timedelta(days=5)
    at = NOON - dt.timedelta(days=5)
    with dump(pipeline) as out:
        out.append_push(push(at))
    pipeline.run("collect", day=old)
    with dump(pipeline, broker_id=2) as out:
        out.append_push(push(at))
    code, result = pipeline.run("collect", day=DAY)
    assert code == 0
    assert result["counts"]["objects_too_late"] == 2  # the object and its manifest
    assert any(f"client_telemetry_daily and the day {old}" in warning for warning in result["warnings"])
    late = [row for row in pipeline.rows(RAW_OBJECTS, dt=old) if row["status"] == "too_late"]
    assert {row["broker_id"] for row in late} == {2}
    assert all(f"run client_telemetry_daily with the day {old}" in row["error"] for row in late)
    code, again = pipeline.run("collect", day=DAY)
    assert again["counts"]["objects_too_late"] == 0  # said once
    code, read = pipeline.run("collect", day=old)
    assert read["decode_days"] == [str(old)]
    assert {row["status"] for row in pipeline.rows(RAW_OBJECTS, dt=old)} == {"new", "decoded"}


def test_days_with_quarantined_records_are_read_again_on_demand(pipeline, dump):
    """A damaged object is restored: its records move from the quarantine to their table."""
    old = DAY - dt.timedelta(days=9)
    with dump(pipeline, ending=".bin") as out:
        for minute in range(3):
            out.append_push(push(NOON - dt.timedelta(days=9) + dt.timedelta(minutes=minute)))
    (path,) = written(pipeline)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 2 // 3] + bytes(len(whole) // 3))
    pipeline.run("collect", day=old)
    pipeline.run("decode", days=old)
    assert len(pipeline.rows(UNDECODABLE_RECORDS)) >= 1
    before = len(pipeline.rows(CLIENT_PUSHES))

    path.write_bytes(whole)
    code, usual = pipeline.run("collect", day=DAY)
    assert str(old) not in usual["decode_days"]
    code, result = pipeline.run("collect", day=DAY, again="quarantined")
    assert code == 0
    assert result["decode_days"] == [str(old)]
    assert result["counts"]["quarantined_records_to_read_again"] >= 1
    pipeline.run("decode", days=old)
    assert (before, len(pipeline.rows(CLIENT_PUSHES))) == (before, 3)
    assert before < 3 and pipeline.rows(UNDECODABLE_RECORDS) == []

    path.write_bytes(whole[:100])
    pipeline.run("collect", day=old)
    pipeline.run("decode", days=old)
    path.unlink()
    code, gone = pipeline.run("collect", day=DAY, again="quarantined")
    assert gone["decode_days"] == []
    assert any("no longer in the raw location" in warning for warning in gone["warnings"])
