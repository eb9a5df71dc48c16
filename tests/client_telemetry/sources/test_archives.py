"""Archives are read as the folder would be that they were made of."""

import gzip
import io
import os
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import lz4.frame
import pytest
import zstandard
from client_telemetry import knowledge
from client_telemetry.sources import archives
from client_telemetry.sources.archives import NOTHING_READ, UNREAD
from client_telemetry.sources.compression import CutOff
from client_telemetry.sources.log_files import NoLogs, find_logs, lines
from client_telemetry.sources.request_log.broker_releases import BrokerReleases
from client_telemetry.sources.request_log.broker_survey import survey
from client_telemetry.sources.request_log.conversion import convert

from .conftest import METADATA, json_line, metadata

BROKERS = (1, 2, 3)


def _tar(folder: Path, mode: str = "w", prefix: str = "") -> bytes:
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode=mode) as archive:
        archive.add(folder, arcname=f"{prefix}.")
    return stored.getvalue()


def _zip(folder: Path) -> bytes:
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as archive:
        for file in sorted(path for path in folder.rglob("*") if path.is_file()):
            archive.write(file, file.relative_to(folder))
    return stored.getvalue()


def _each_packed(
    folder: Path, ending: str, pack: Callable[[Path], bytes], pack_all: Callable[[Path], bytes]
) -> bytes:
    """Each of the files and folders in a folder as an archive, as support bundles have one for each broker."""
    with TemporaryDirectory() as packed:
        for part in folder.iterdir():
            (Path(packed) / f"{part.name}.{ending}").write_bytes(pack(part))
        return pack_all(Path(packed))


def _packed_file(file: Path) -> bytes:
    """A rotated file in an archive of its own."""
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w:gz") as archive:
        archive.add(file, arcname=file.name)
    return stored.getvalue()


ARCHIVES: dict[str, Callable[[Path], bytes]] = {
    "bundle.tar": _tar,
    "bundle.tar.gz": lambda folder: _tar(folder, "w:gz"),
    "bundle.tgz": lambda folder: gzip.compress(_tar(folder, prefix="var/log/kafka/")),
    "bundle.tar.zst": lambda folder: zstandard.compress(_tar(folder)),
    "bundle.tar.lz4": lambda folder: lz4.frame.compress(_tar(folder)),
    "bundle": lambda folder: _tar(folder, "w:xz"),
    "bundle.zip": _zip,
    "bundle.zip.gz": lambda folder: gzip.compress(_zip(folder)),
    "tar of tars.tar": lambda folder: _each_packed(folder, "tar.gz", lambda one: _tar(one, "w:gz"), _tar),
    "tar of bzip2.tgz": lambda folder: _each_packed(folder, "tbz", lambda one: _tar(one, "w:bz2"), _tar),
    "tar of zips.tar": lambda folder: _each_packed(folder, "zip", _zip, _tar),
    "zip of tars.zip": lambda folder: _each_packed(folder, "tgz", lambda one: _tar(one, "w:gz"), _zip),
    "zip of zips.zip": lambda folder: _each_packed(folder, "zip", _zip, _zip),
    "three deep.tar": lambda folder: _each_packed(
        folder, "zip", lambda one: _each_packed(one, "gz", _packed_file, _zip), _tar
    ),
}


def _logs(folder: Path) -> Path:
    """Of three brokers that a mask makes look alike: only the folders tell them apart. One log is rotated."""
    for broker in BROKERS:
        entries = [
            json_line(
                second, METADATA, {}, metadata({}), connection=f"<ip>:9092-<ip>:{40000 + broker}-0-{second}"
            )
            for second in range(10 * broker)
        ]
        place = folder / f"kafka-{broker}"
        place.mkdir(parents=True)
        (place / "kafka-request.log").write_bytes(b"\n".join(entries[5:]) + b"\n")
        (place / "kafka-request.log.2026-11-21-11.gz").write_bytes(
            gzip.compress(b"\n".join(entries[:5]) + b"\n")
        )
        (place / ".kafka-request.log.swp").write_bytes(b"hidden")
    return folder


def _seen(location: Path) -> list[tuple[object, ...]]:
    found = survey(find_logs([str(location)]))
    return sorted((b.broker_id, b.id_known_by, b.entries, b.first, b.last) for b in found.brokers)


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_of_several_brokers_is_read_as_its_folder(tmp_path, name):
    folder = _logs(tmp_path / "logs")
    archive = tmp_path / name
    archive.write_bytes(ARCHIVES[name](folder))
    expected = _seen(folder)
    assert [entries for _, _, entries, *_ in expected] == [10, 20, 30]
    assert _seen(archive) == expected


def test_each_file_has_a_location_of_its_own(tmp_path):
    archive = tmp_path / "bundle.tar.gz"
    archive.write_bytes(_tar(_logs(tmp_path / "logs"), "w:gz"))
    found = [str(log.file).removeprefix(str(tmp_path)) for log in find_logs([str(archive)])]
    assert found[:2] == [
        "/bundle.tar.gz!/kafka-1/kafka-request.log",
        "/bundle.tar.gz!/kafka-1/kafka-request.log.2026-11-21-11.gz",
    ]
    assert len(found) == 6
    written = convert(survey(find_logs([str(archive)])), BrokerReleases.parse("3.9.1"), "x", tmp_path / "raw")
    assert written.entries == 60


def test_an_archive_that_is_written_again_is_read_again(tmp_path):
    archive = tmp_path / "bundle.tgz"
    for broker, entries in enumerate((10, 20), 1):
        folder = tmp_path / str(broker)
        folder.mkdir()
        (folder / "a.log").write_bytes(b"\n".join([json_line(s, METADATA) for s in range(entries)]) + b"\n")
        archive.write_bytes(_tar(folder, "w:gz"))
        assert [entry for _, _, entry, *_ in _seen(archive)] == [entries]


def test_files_of_one_name_are_one_and_names_lead_nowhere(tmp_path):
    """`tar r` appends a file that has grown or was rotated meanwhile. Links and devices have no contents."""
    stored = io.BytesIO()
    with tarfile.open(fileobj=stored, mode="w") as archive:
        for name, kind in (
            ("../../etc/a.log", tarfile.REGTYPE),
            ("/etc/./a.log", tarfile.REGTYPE),
            ("etc/current.log", tarfile.SYMTYPE),
            ("etc/device", tarfile.CHRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.size = kind, "/etc/passwd", 4 * (kind == tarfile.REGTYPE)
            archive.addfile(member, io.BytesIO(b"one\n"))
    path = tmp_path / "kafka.tar"
    path.write_bytes(stored.getvalue())
    (log,) = find_logs([str(path)])
    assert log.file.location == f"{path}!/etc/a.log"
    assert [line for _, line in lines(log, CutOff())] == [b"one", b"one"]


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_what_an_archive_that_ends_early_has_is_read_and_the_rest_is_said(tmp_path, kept):
    data = b"".join(b"%d %s\n" % (n, os.urandom(40).hex().encode()) for n in range(9000))
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_bytes(data)
    whole = _tar(folder, "w:gz")
    path = tmp_path / "kafka.tgz"
    path.write_bytes(whole[: int(len(whole) * kept)])
    (log,) = find_logs([str(path)])
    *read, said = [line for _, line in lines(log, CutOff()) if line]
    assert data.startswith(b"\n".join(read)) and len(read) > 9000 * kept / 2
    assert b"a damaged archive: " in said


def test_an_archive_that_is_damaged_before_its_first_file_is_not_left_out(tmp_path):
    path = tmp_path / "kafka.tar"
    path.write_bytes(b"x" * 257 + b"ustar" + b"y" * 2000)
    (log,) = find_logs([str(path)])
    assert log.file.name == NOTHING_READ
    assert b"a damaged archive: " in b"".join(line for _, line in lines(log, CutOff()))


def test_an_archive_in_an_archive_that_cannot_be_read_stops_nothing_else(tmp_path):
    """The others are read, and each reason is said where it stands."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.log").write_bytes(b"one\n")
    whole = _zip(folder)
    encrypted = bytearray(whole)
    encrypted[6] |= 1
    encrypted[whole.index(b"PK\x01\x02") + 8] |= 1
    (folder / "b.zip").write_bytes(whole[:-10])
    (folder / "c.zip").write_bytes(encrypted)
    deep = _packed_file(folder / "a.log")
    for _ in range(5):
        (folder / "d.tgz").write_bytes(deep)
        deep = _packed_file(folder / "d.tgz")
    path = tmp_path / "all.tar"
    path.write_bytes(_tar(folder))
    said = {
        log.file.location.removeprefix(str(path)): b"".join(line for _, line in lines(log, CutOff())).decode()
        for log in find_logs([str(path)])
    }
    assert said.pop("!/a.log") == "one"
    assert {place: text.removeprefix(UNREAD) for place, text in said.items()} == {
        "!/b.zip": "a damaged zip archive (File is not a zip file)",
        "!/c.zip": "an encrypted zip archive: extract it first",
        f"!/{'!/'.join(['d.tgz'] * 5)}": "an archive in an archive, 5 times: extract it",
    }


def test_a_damaged_file_of_a_zip_is_read_as_far_as_it_goes_and_the_others_whole(tmp_path):
    stored = io.BytesIO()
    text = b"".join(b"%d\n" % number for number in range(100_000))
    with zipfile.ZipFile(stored, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.log", "b.log"):
            archive.writestr(name, text)
    content = bytearray(stored.getvalue())
    content[len(content) // 4] ^= 255
    path = tmp_path / "bundle.zip"
    path.write_bytes(content)
    first, second = ([line for _, line in lines(log, CutOff()) if line] for log in find_logs([str(path)]))
    assert second == text.split() and text.startswith(b"\n".join(first[:-2])) and len(first) > 10_000
    assert first[-1].decode().startswith(f"{UNREAD}a damaged archive: ")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_damaged_file_of_a_zip_is_said_however_it_is_compressed(tmp_path, method):
    stored = io.BytesIO()
    text = b"".join(b"%d\n" % number for number in range(100_000))
    with zipfile.ZipFile(stored, "w", method) as archive:
        for name in ("a.log", "b.log"):
            archive.writestr(name, text)
    content = bytearray(stored.getvalue())
    content[len(content) // 4] ^= 255
    path = tmp_path / "bundle.zip"
    path.write_bytes(content)
    first, second = ([line for _, line in lines(log, CutOff()) if line] for log in find_logs([str(path)]))
    assert second == text.split()
    assert first[-1].decode().startswith(f"{UNREAD}a damaged archive: ")


def test_a_file_that_decompresses_for_ever_ends(tmp_path):
    data = b"one\n"
    for _ in range(6):
        data = gzip.compress(data)
    path = tmp_path / "kafka.log.gz"
    path.write_bytes(data)
    cut = CutOff()
    (log,) = find_logs([str(path)])
    assert list(lines(log, cut)) == [] and cut.reason == "compressed more than 4 times"


def test_a_full_temporary_folder_is_the_reason(tmp_path, monkeypatch):
    archive = tmp_path / "bundle.tgz"
    archive.write_bytes(_tar(_logs(tmp_path / "logs"), "w:gz"))
    with Path("/dev/full").open("r+b", buffering=0) as full:
        monkeypatch.setattr(archives, "_spool", lambda: archives._Spool(full))
        with pytest.raises(
            NoLogs, match=r"bundle\.tgz: no room for its files in .* \(No space left on device\)"
        ):
            find_logs([str(archive)])


def test_other_knowledge_drops_no_file_that_was_unpacked(tmp_path, monkeypatch):
    """It clears what is cached in all modules."""
    archive = tmp_path / "bundle.tgz"
    archive.write_bytes(_tar(_logs(tmp_path / "logs"), "w:gz"))
    log, *_ = find_logs([str(archive)])
    knowledge.use_own(knowledge.OwnKnowledge("somewhere", {}))
    knowledge.use_own(None)
    monkeypatch.setattr(archives, "open_decompressed", lambda *_: pytest.fail("unpacked again"))
    assert len(list(lines(log, CutOff()))) == 5
