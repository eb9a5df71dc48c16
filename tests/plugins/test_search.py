"""A client instance is found by any form of its id; clients by a part of their id or by address."""

import base64
import uuid

import pytest

from tests.plugins.conftest import DAY, INSTANCE


def kafka(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


KAFKA = kafka(INSTANCE)


@pytest.fixture
def found(published):
    from telemetry_pages.published import Published
    from telemetry_pages.search import search

    return lambda query, days=7: search(Published(str(published)), query, ["east"], days)[0]


@pytest.mark.parametrize(
    "form",
    [
        base64.urlsafe_b64encode(INSTANCE).decode().rstrip("="),
        base64.urlsafe_b64encode(INSTANCE).decode(),
        base64.b64encode(INSTANCE).decode(),
        base64.b64encode(INSTANCE).decode().rstrip("="),
        str(uuid.UUID(bytes=INSTANCE)),
        str(uuid.UUID(bytes=INSTANCE)).upper(),
        INSTANCE.hex(),
        f"  {INSTANCE.hex()}  ",
        f"{{{uuid.UUID(bytes=INSTANCE)}}}",
        f"0x{INSTANCE.hex()}",
        INSTANCE.hex(":"),
        f'"{base64.b64encode(INSTANCE).decode()}",',
        f"clientInstanceId={base64.urlsafe_b64encode(INSTANCE).decode().rstrip('=')},",
        f"client_instance_id: {uuid.UUID(bytes=INSTANCE)}",
    ],
)
def test_any_form_of_an_instance_id(found, form):
    hits = found(form)
    assert (hits.day, len(hits.instances), hits.clients) == (DAY, 1, [])


@pytest.mark.parametrize(
    ("case", "query", "instances", "clients"),
    [
        ("a part of a client id", "ORD", 1, 1),
        ("an address", "10.0.0.1", 0, 1),
        ("as a log prints it", "/10.0.0.1:9092", 0, 1),
        ("as Java prints it with a host name", "web-7/10.0.0.1:9092", 0, 1),
        ("IPv4 within IPv6", "::ffff:10.0.0.1", 0, 1),
        ("IPv6 in another spelling", "2001:0db8:0::0001", 1, 0),
        ("IPv6 with a port", "[2001:db8::1]:9092", 1, 0),
        ("a part of an address is none", "10.0.0", 0, 0),
        ("nothing", "nothing-like-this", 0, 0),
        ("a pattern is no pattern", ".*", 0, 0),
    ],
)
def test_clients_and_addresses(found, case, query, instances, clients):
    hits = found(query)
    assert (len(hits.instances), len(hits.clients)) == (instances, clients), case


def test_the_latest_day_with_a_hit_is_shown(found):
    assert found("only-yesterday").day == "2026-11-20"
    assert found("only-yesterday", days=1).day is None


def test_days_that_cannot_be_searched_are_named(published, tmp_path):
    """Of an older version, which published no search.json, or one without groups, applications and the index; and a damaged
    one."""
    import json
    import shutil

    from telemetry_pages.published import Published
    from telemetry_pages.search import search

    shutil.copytree(published / "fleet", tmp_path / "fleet", symlinks=True)
    for day, text in (("2026-11-18", None), ("2026-11-19", '{"clients": [')):
        (tmp_path / "fleet/east" / day).mkdir()
        if text:
            (tmp_path / "fleet/east" / day / "search.json").write_text(text)
    entry = {"client_id": "new", "principal": None, "addresses": [], "group_ids": ["payments"]}
    (tmp_path / "fleet/east/2026-11-22").mkdir()
    (tmp_path / "fleet/east/2026-11-22/search.json").write_text(
        json.dumps({"clients": [entry], "instances": []})
    )
    hits = search(Published(str(tmp_path)), "orders-group", ["east"], 7)[0]
    assert (hits.day, hits.searched) == (None, ["2026-11-22", DAY, "2026-11-20"])
    assert hits.without_groups == [DAY, "2026-11-20"]
    assert hits.not_covered == ["2026-11-19", "2026-11-18"]


def test_a_day_of_an_older_version_has_ids_in_hex(published, tmp_path):
    import json
    import shutil

    from telemetry_pages.published import Published
    from telemetry_pages.search import forms, search

    shutil.copytree(published / "fleet", tmp_path / "fleet", symlinks=True)
    file = tmp_path / "fleet/east" / DAY / "search.json"
    document = json.loads(file.read_text())
    document["instances"][0]["client_instance_id"] = INSTANCE.hex()
    file.write_text(json.dumps(document))
    (hits,) = search(Published(str(tmp_path)), KAFKA, ["east"], 7)
    assert [forms(each["client_instance_id"])["Kafka"] for each in hits.instances] == [KAFKA]


@pytest.mark.parametrize("text", ["", "x", "A" * 21, "A" * 23, "!" * 22, "0" * 31, "g" * 32])
def test_what_is_no_instance_id(text):
    from telemetry_pages.search import instance_id

    assert instance_id(text) is None


@pytest.mark.parametrize("query", ["User:A", "payments-group", "TX-1", "eu-west", "web-7.exam"])
def test_principal_group_transactional_id_rack_and_host_name(query):
    from telemetry_pages.search import _matches

    entry = {
        "client_id": None,
        "principal": "User:a",
        "addresses": [],
        "group_ids": ["payments-group"],
        "transactional_ids": ["tx-1"],
        "racks": ["eu-west-1a"],
        "hosts": ["Web-7.example.com"],
    }
    assert _matches(entry, None, None, query.casefold())
    assert not _matches(entry, None, None, "orders")


def _indexed(folder, ids, names):
    from telemetry_pages.published import Published

    day = folder / "fleet" / "east" / DAY
    day.mkdir(parents=True, exist_ok=True)
    (day / "search.instances.txt").write_text("".join(f"{each}\n" for each in sorted(ids)))
    (day / "search.names.txt").write_text("\n" + "".join(f"{each}\n" for each in names))
    return Published(str(folder))


def test_a_day_is_read_only_if_its_index_has_the_query(tmp_path, monkeypatch):
    from telemetry_pages.search import may_match

    published = _indexed(tmp_path, [KAFKA], ["orders-1", "10.0.0.1"])

    def asked(id_=None, address_=None, text=""):
        return may_match(published, "east", DAY, id_, address_, text)

    assert asked(id_=KAFKA)
    assert asked(text="ders")
    assert asked(address_="10.0.0.1")
    assert not asked(id_="A" * 22)
    assert not asked(text="payments")
    assert not asked(address_="10.0.0.10")
    assert not asked(address_="0.0.0.1")


@pytest.mark.parametrize("skew", ["random", "zeros", "ends"])
def test_an_id_is_found_by_reading_a_part_of_the_sorted_ids(tmp_path, skew):
    import random

    from telemetry_pages.search import has_id

    numbers = random.Random(7)
    ids = {kafka(numbers.randbytes(16)) for _ in range(20_000)}
    if skew == "zeros":
        ids |= {kafka(n.to_bytes(16)) for n in range(20_000)}
    if skew == "ends":
        ids |= {kafka((2**128 - 1 - n).to_bytes(16)) for n in range(20_000)}
    file, _ = _indexed(tmp_path, ids, []).search_index("east", DAY)
    absent = [kafka(numbers.randbytes(16)) for _ in range(50)]
    assert all(has_id(file, each) for each in numbers.sample(sorted(ids), 200))
    assert not any(has_id(file, each) for each in absent)
    empty, _ = _indexed(tmp_path / "none", [], []).search_index("east", DAY)
    assert not has_id(empty, absent[0])


def test_what_the_job_writes_and_what_the_search_reads_agree(tmp_path):
    """Every name, address and id of search.json passes the index."""
    import json

    from telemetry_pages.published import Published
    from telemetry_pages.search import _names, address, may_match

    from tests.end_to_end.test_airflow_pages import _published

    _published(tmp_path)
    published = Published(str(tmp_path))
    (day,) = published.days("fleet")
    document = json.loads((tmp_path / "fleet" / "fleet" / day / "search.json").read_text())
    for entry in document["clients"] + document["instances"]:
        for name in _names(entry):
            assert may_match(published, "fleet", day, None, None, name.casefold())
        for each in entry["addresses"]:
            assert may_match(published, "fleet", day, None, address(each), "")
        if "client_instance_id" in entry:
            assert may_match(published, "fleet", day, entry["client_instance_id"], None, "")
    assert not may_match(published, "fleet", day, None, None, "nobody")
