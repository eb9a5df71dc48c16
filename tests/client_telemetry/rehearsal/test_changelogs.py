"""Changelogs in artefacts of registries, without a network: the registries' own tools are replaced."""

import io
import tarfile

import pytest
from client_telemetry.cli import knowledge, knowledge_changelogs
from client_telemetry.rehearsal import changelogs, newer
from client_telemetry.rehearsal.changelogs import NoChangelog
from client_telemetry.rehearsal.workplace import NotInstalled

OLD = "# 1.0\n* Requires brokers 0.10 or later\n"
NEW = f"""# 1.1
* Drop support for Python 2
* Produce v2 is no longer sent; KIP-896
* A nicer logo\x1b[31m
{OLD}"""


def artefact(**files: str | None) -> bytes:
    """A tar.gz; a file without content is a link that leads out of it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name.replace("__", "/").replace("_md", ".md"))
            if text is None:
                member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
            member.size = len((text or "").encode())
            archive.addfile(member, io.BytesIO((text or "").encode()))
    return out.getvalue()


def test_the_changelog_nearest_to_the_root_is_read():
    content = artefact(package__docs__HISTORY_md="docs", package__CHANGELOG_md="root", package__news_py="no")
    assert changelogs._in_tar(content) == "root"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (artefact(package__README_md="x"), NoChangelog),
        (artefact(package__CHANGELOG_md=None), NoChangelog),
        (artefact(a__b__c__d__CHANGELOG_md="far down"), NoChangelog),
        (b"<html>not found</html>", NotInstalled),
        (artefact(package__CHANGELOG_md="x" * 10_000)[:60], NotInstalled),
    ],
)
def test_an_artefact_without_a_changelog_or_half_of_one_is_said(content, reason):
    with pytest.raises(reason):
        changelogs._in_tar(content)


@pytest.mark.parametrize(
    ("line", "smells"),
    [
        ("Default value of `group.protocol` is now consumer (KIP-848)", True),
        ("Kafka 4.0 support", True),
        ("fetch v3 removed", True),
        ("client_software_name is sent", True),
        ("Compatible with brokers before 0.10.0", True),
        ("Faster compression", False),
        ("Update documentation", False),
    ],
)
def test_what_smells_of_compatibility(line, smells):
    assert changelogs.smells(line) == smells


@pytest.fixture
def registry(monkeypatch, tmp_path):
    """Two versions of kafkajs with these changelogs."""
    texts = {"2.2.4": OLD, "2.3.0": NEW}

    def read(program, version, cache):
        if program != "kafkajs":
            raise NoChangelog("its artefact has no changelog")
        return texts[version]

    monkeypatch.setattr(newer, "published", lambda program, cache: [*texts])
    monkeypatch.setattr(newer, "newest_known", lambda program: (2, 2, 4, 0))
    monkeypatch.setattr(knowledge_changelogs.changelogs, "changelog", read)
    return texts


def run(*arguments: str, cache) -> int:
    return knowledge.main(["changelogs", *arguments, "--cache", str(cache)])


def test_new_lines_about_compatibility_are_listed(registry, capsys, tmp_path):
    assert run("--library", "kafkajs", cache=tmp_path) == 0
    assert capsys.readouterr().out.splitlines() == [
        "kafkajs 2.2.4 to 2.3.0: 4 new lines in its changelog, 2 about compatibility:",
        "  * Drop support for Python 2",
        "  * Produce v2 is no longer sent; KIP-896",
    ]


def test_what_cannot_be_compared_is_said(registry, capsys, tmp_path):
    registry["2.3.0"] = OLD
    assert run("--library", "kafkajs", "--library", "sarama", cache=tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "kafkajs 2.2.4 to 2.3.0: its changelog says nothing about these versions",
        "sarama: its changelog was not read: its artefact has no changelog",
    ]
    del registry["2.3.0"]
    assert run("--library", "kafkajs", cache=tmp_path) == 0
    assert capsys.readouterr().out == "kafkajs: nothing newer than 2.2.4\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--since", "latest", "--library", "kafkajs"], "'latest' is not an exact version"),
        (["--since", "2.0.0"], "--since is about one library"),
        (["--library", "java"], "invalid choice: 'java'"),
    ],
)
def test_arguments_that_cannot_be_used(registry, capsys, tmp_path, arguments, said):
    with pytest.raises(SystemExit) as ended:
        run(*arguments, cache=tmp_path)
    assert ended.value.code == 2 and said in capsys.readouterr().err
