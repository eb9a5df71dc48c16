"""Packages of a database that rpm wrote itself (tests/data/artefacts/rpm), and of damaged and hostile ones."""

import gzip
import io
import sqlite3
import struct
from pathlib import Path
from random import Random

import pytest
from client_telemetry.artefacts.binaries import installed, rpm_database
from client_telemetry.artefacts.libraries import of
from client_telemetry.artefacts.packages import UNREAD, Unreadable

RPMDB = gzip.decompress((Path(__file__).parents[2] / "data/artefacts/rpm/rpmdb.sqlite.gz").read_bytes())
PATH = "var/lib/rpm/rpmdb.sqlite"


def read(path: str, content: bytes):
    return list(installed.read(path, io.BytesIO(content), len(content)))


def database(*statements: str, headers: tuple[object, ...] = ()) -> bytes:
    connection = sqlite3.connect(":memory:")
    for statement in statements or ("CREATE TABLE Packages (hnum INTEGER PRIMARY KEY, blob BLOB NOT NULL)",):
        connection.execute(statement)
    for header in headers:
        connection.execute("INSERT INTO Packages (blob) VALUES (?)", (header,))
    connection.commit()
    return connection.serialize()


def header(*entries: tuple[int, int, int, int], data: bytes = b"", length: int | None = None) -> bytes:
    counts = struct.pack(">II", len(entries), len(data) if length is None else length)
    return counts + b"".join(struct.pack(">IIII", *entry) for entry in entries) + data


def test_packages_of_an_image_are_those_that_rpm_lists():
    packages = read(PATH, RPMDB)
    assert [(each.type, each.name, each.version, each.inside) for each in packages] == [
        ("rpm", "librdkafka", "1.6.1-1.el9", PATH),
        ("rpm", "filesystem", "3.16-5.el9", PATH),
    ]
    assert of(packages[0]).text == "librdkafka 1.6.1"


@pytest.mark.parametrize(
    "path, reason",
    [
        ("var/lib/rpm/Packages", "(Berkeley DB)"),
        ("usr/lib/sysimage/rpm/Packages.db", "(ndb)"),
        ("usr/lib/sysimage/rpm/rpmdb.sqlite-wal", "changes to the rpm database"),
    ],
)
def test_a_database_of_another_form_is_not_read_and_said(path, reason):
    (package,) = read(path, b"something")
    assert package.type == UNREAD and reason in package.why_unknown


def test_an_empty_log_beside_the_database_says_nothing():
    assert read(f"{PATH}-wal", b"") == []


@pytest.mark.parametrize(
    "hostile, reason",
    [
        (b"", "not a database of rpm"),
        (b"SQLite format 3\0" + b"\xff" * 500, "not a database of rpm"),
        (database("CREATE TABLE other (a)"), "it has no table Packages"),
        (
            database(
                "CREATE VIEW Packages AS WITH RECURSIVE c(blob) AS (SELECT 1 UNION ALL SELECT blob + 1 FROM c) SELECT * FROM c"
            ),
            "it has no table Packages",
        ),
        (database(headers=("text",)), "no binary"),
        (database(headers=(b"\0",)), "cut off"),
        (database(headers=(header(length=2**31),)), "longer than it is"),
        (database(headers=(struct.pack(">II", 2**32 - 1, 0) + b"\0" * 64,)), "longer than it is"),
        (database(headers=(header((1000, 6, 99, 1), data=b"a\0"),)), "does not end"),
        (database(headers=(header((1000, 6, 0, 1), data=b"abc"),)), "does not end"),
        (database(headers=(header((1000, 6, 0, 1), data=b"abc\0"),)), "no name and version"),
    ],
)
def test_a_hostile_database_is_refused_with_its_reason(hostile, reason):
    *_, last = read(PATH, hostile)
    assert last.type == UNREAD and reason in last.why_unknown


def test_damage_is_never_a_traceback_and_never_an_empty_list():
    random = Random(1)
    for _ in range(200):
        content = bytearray(RPMDB)
        for _ in range(50):
            content[random.randrange(len(content))] = random.randrange(256)
        try:
            assert list(rpm_database.read(bytes(content)))
        except Unreadable:
            pass


def test_an_empty_database_has_no_packages():
    assert read(PATH, database()) == []
