"""A user's own folder, as docs/knowledge-base.md tells to write one: the example there, and mistakes in it."""

import csv
import re
import shlex
import shutil
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from client_telemetry import knowledge
from client_telemetry.cli.__main__ import main as client_telemetry_command
from client_telemetry.cli.compatibility import main as judge_list
from client_telemetry.compatibility import ClientEvidence, judge, parse_api_uses
from client_telemetry.compatibility.own_knowledge import main, use_folder
from client_telemetry.knowledge import DamagedKnowledge, advice, products, software

EXAMPLE = Path(__file__).parents[3] / "docs/examples/knowledge"


@pytest.fixture(autouse=True)
def shipped_alone() -> Iterator[None]:
    yield
    knowledge.use(None)


def verdict(client_id: str, uses: str, name: str = "", version: str = ""):
    return judge(ClientEvidence(name, version, client_id, parse_api_uses(uses)), "3.9.1", "4.0.1")


def test_the_example_adds_a_product_a_library_an_issue_and_an_alias():
    shipped, without = knowledge.version(), verdict("shopbus-eu", "Produce:2 Metadata:5")
    use_folder(EXAMPLE)
    assert knowledge.version() != shipped, "reports say which rules they used"
    of_product = verdict("shopbus-eu", "Produce:2 Metadata:5")
    assert of_product.fix == "upgrade the shop bus to 2.4 (it contains sarama 1.43)" != without.fix
    assert of_product.identified_as.endswith("in Shop bus")
    assert verdict("a", "Produce:2", "shop-kafka", "1.4.0").fix == "upgrade shop-kafka to 2.0.0 or later"
    issue = verdict("a", "Produce:7", "shop-kafka", "2.1.0")
    assert (issue.verdict, issue.findings[0].rule_id) == ("degrades", "shop_kafka_zstd")
    assert verdict("a", "Produce:7", "shop-kafka", "nightly").identified_as == "shop-kafka 2.3.0"
    use_folder(None)
    assert verdict("shopbus-eu", "Produce:2 Metadata:5") == without and knowledge.version() == shipped


def test_the_documentation_alone_is_enough(tmp_path, monkeypatch, capsys):
    """Its files are written, its commands run."""
    monkeypatch.chdir(tmp_path)
    text = (EXAMPLE.parents[1] / "knowledge-base.md").read_text(encoding="utf-8")
    text = text.partition("### An example from scratch")[2].partition("\n### ")[0]
    for name, content in re.findall(r"^`([\w/]+\.csv)`.*?^```csv\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content, encoding="utf-8")
    (commands,) = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    for command in commands.splitlines():
        assert client_telemetry_command(shlex.split(command)[1:]) == 0, capsys.readouterr().err
    printed = capsys.readouterr().out
    assert "product_client_ids.csv: 2 rows" in printed and "known_issues.csv: 1 row" in printed
    with Path("verdicts.csv").open(encoding="utf-8", newline="") as opened:
        rows = {
            row["client"]: (row["verdict"], row["fix"], row["explanation"]) for row in csv.DictReader(opened)
        }
    assert {name: verdict for name, (verdict, _, _) in rows.items()} == {
        "the bus": "breaks",
        "metrics": "breaks",
        "old shop": "breaks",
        "new shop": "degrades",
    }
    assert rows["the bus"][1] == "upgrade the shop bus to 2.4"
    assert rows["metrics"][1].startswith("upgrade Telegraf to 1.29.0 or later and set kafka_version")
    assert rows["old shop"][1] == "upgrade shop-kafka to 2.0.0 or later"
    assert "uncompressed" in rows["new shop"][2]
    mistake = Path("mine/products.csv")
    mistake.write_text(mistake.read_text().replace("Shop bus", "Shop buss"))
    assert client_telemetry_command(shlex.split(commands.splitlines()[0])[1:]) == 2
    assert capsys.readouterr().err.strip() in text.replace("`", "\n").splitlines()


FREE = frozenset(
    (
        "source",
        "explanation",
        "workaround",
        "advice",
        "configuration",
        "binding",
        "rule_id",
        "reported_version",
    )
)
"""Columns in which any text means something."""
A_NAME_BEGINS = {("client_api_versions.csv", "library"), ("product_client_ids.csv", "client_id_pattern")}
"""Another text there is another library or client id."""
MAY_BE_EMPTY = {
    ("client_software.csv", "negotiates_since"),
    ("client_software.csv", "names_every_connection_since"),
    ("known_issues.csv", "roles"),
    ("product_client_ids.csv", "library"),
    ("products.csv", "library"),
}


def _mistakes() -> Iterator[tuple[str, int, str, str]]:
    """File, line, column and what stands there: each cell of the example emptied, and each that is no free text made one."""
    for path in sorted(EXAMPLE.iterdir()):
        for line, row in enumerate(csv.DictReader(path.read_text().splitlines()), start=2):
            for column in (column for column, text in row.items() if text):
                place = path.name, column
                if place not in MAY_BE_EMPTY:
                    yield path.name, line, column, ""
                if column not in FREE and place not in A_NAME_BEGINS:
                    yield path.name, line, column, "§"


@pytest.mark.parametrize(("file", "line", "column", "bad"), tuple(_mistakes()))
def test_every_cell_that_cannot_be_is_an_error_with_its_place(tmp_path, file, line, column, bad):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    rows = list(csv.DictReader((folder / file).read_text().splitlines()))
    rows[line - 2][column] = bad
    with (folder / file).open("w", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(DamagedKnowledge) as error:
        use_folder(folder)
    assert error.value.line >= 2
    # A name that another file refers to is missed there.
    assert Path(error.value.file) == folder / file or column in ("product", "software_name")


@pytest.mark.parametrize(
    ("file", "old", "new", "line", "reason"),
    [
        ("product_client_ids.csv", "shopbus-.+", "shopbus-(", 2, "client_id_pattern"),
        ("product_client_ids.csv", "bus,product,", "bus,thing,", 2, "kind 'thing' is none of"),
        ("products.csv", "documentation", "hearsay", 2, "confidence 'hearsay' is none of"),
        ("products.csv", "product,library", "name,library", 1, "columns are name"),
        ("client_api_versions.csv", "0,Produce,0,7", "0,Produce,7", 3, "11 cells, expected 12"),
        ("client_software.csv", "yes", "perhaps", 2, "version_decides is yes or no"),
        ("known_issues.csv", "degrades", "annoys", 2, "annoys"),
        ("known_issues.csv", ",producer,", ",writer,", 2, "roles: writer is none of producer, "),
        ("known_issues.csv", "2.0.0,2.2.0", "2.2.0,2.0.0", 2, "version_from 2.2.0 is above version_to 2.0.0"),
        (
            "known_issues.csv",
            "shop_kafka_zstd",
            "librdkafka_list_offsets_0",
            2,
            "is already that of a shipped issue",
        ),
        ("client_api_versions.csv", "0,Produce,0,7", "1,Produce,0,7", 3, "not in apis.csv: 1 is Fetch"),
        ("client_api_versions.csv", "Produce,0,7", "Produce,8,7", 3, "min_version 8 is above max_version 7"),
        (
            "client_api_versions.csv",
            "1.0.0,1.9.0",
            "1.9.0,1.0.0",
            2,
            "version_from 1.9.0 is above version_to 1.0.0",
        ),
        (
            "products.csv",
            "upgrade the",
            "upgrade, or restart, the",
            2,
            "8 cells, expected 6; a text with a comma",
        ),
        ("products.csv", "bus,sarama", "bus,samara", 2, "library samara is not in"),
        ("products.csv", "documentation", "documen\0tation", 2, "has a NUL character"),
        ("products.csv", "platform team wiki", "", 2, "source is required"),
    ],
)
def test_a_mistake_is_an_error_with_file_line_and_reason(tmp_path, file, old, new, line, reason):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    with pytest.raises(DamagedKnowledge) as error:
        use_folder(folder)
    assert (error.value.file, error.value.line) == (str(folder / file), line)
    assert reason in error.value.reason
    assert knowledge.in_use() == knowledge.InUse(), "nothing of it is in force"


@pytest.mark.parametrize(
    ("content", "line", "reason"),
    [
        (b"", 1, "is empty; the first line must be product,library,"),
        (
            b"product;library;apis;advice;source;confidence\n",
            1,
            "separated by semicolons: save the file with commas",
        ),
        (
            b"product\tlibrary\tapis\tadvice\tsource\tconfidence\n",
            1,
            "separated by tabs: save the file with commas",
        ),
        ("a,b\nB\u00fcs,\n".encode("latin-1"), 2, "not UTF-8 (byte 0xfc): save the file as UTF-8"),
        ("product,library\n".encode("utf-16"), 1, "not UTF-8 (byte 0xff): save the file as UTF-8"),
        (None, 0, "cannot be read: Is a directory"),
    ],
)
def test_what_is_no_such_file_is_an_error_with_file_line_and_reason(tmp_path, content, line, reason):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    (folder / "products.csv").unlink()
    if content is None:
        (folder / "products.csv").mkdir()
    else:
        (folder / "products.csv").write_bytes(content)
    with pytest.raises(DamagedKnowledge) as error:
        use_folder(folder)
    assert (error.value.file, error.value.line) == (str(folder / "products.csv"), line)
    assert reason in error.value.reason


@pytest.mark.parametrize(
    "file", ["products.csv", "product_client_ids.csv", "client_software.csv", "known_issues.csv"]
)
def test_a_row_that_never_counts_is_an_error(tmp_path, file):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    lines = (folder / file).read_text().splitlines()
    (folder / file).write_text("\n".join([*lines, "", lines[1]]))
    with pytest.raises(DamagedKnowledge, match=r"never matches|occurs twice") as error:
        use_folder(folder)
    assert error.value.line == len(lines) + 2


@pytest.mark.parametrize("file", ["library_advice.csv", "default_client_ids.csv"])
def test_a_row_twice_in_a_file_that_the_example_lacks_is_an_error(tmp_path, file):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    header, row = (files("client_telemetry.knowledge") / file).read_text().splitlines()[:2]
    (folder / file).write_text("\n".join([header, row, row]))
    with pytest.raises(DamagedKnowledge, match=r"never matches") as error:
        use_folder(folder)
    assert error.value.line == 3


def test_a_mistake_is_in_the_line_where_its_row_begins(tmp_path):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    with (folder / "products.csv").open("a") as opened:
        opened.write('"Shop\nbus",sarama\n')
    with pytest.raises(DamagedKnowledge, match=r"products\.csv line 3: 2 cells, expected 6"):
        use_folder(folder)


@pytest.mark.parametrize(
    ("file", "pattern", "copy"),
    [
        ("product_client_ids.csv", "shopbus-.+", "(?!x)shopbus-.+"),
        ("client_software.csv", r"v?(?P<library>\d+(?:\.\d+)+).*", r"v?(?P<library>\d+)(?=-).*"),
    ],
)
def test_a_pattern_that_re2_does_not_know_is_refused_with_its_line(tmp_path, file, pattern, copy):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    text = (folder / file).read_text()
    assert pattern in text
    (folder / file).write_text(text.replace(pattern, copy))
    with pytest.raises(DamagedKnowledge, match=rf"{file} line 2: .*has no lookaround and no backreferences"):
        use_folder(folder)


def test_no_client_keeps_a_pattern_of_ones_own_busy(tmp_path):
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    ids, names = folder / "product_client_ids.csv", folder / "client_software.csv"
    ids.write_text(ids.read_text().replace("shopbus-.+", "(?:[a-z]+-?)+[0-9]"))
    names.write_text(
        names.read_text().replace(r"v?(?P<library>\d+(?:\.\d+)+).*", r"(?P<library>(?:\d+\.?)+)x")
    )
    use_folder(folder)
    began = time.process_time()
    assert products.by_client_id("a" * 200) is None
    assert software.identify_name("shop-kafka", "1" * 10_000).version is None
    assert time.process_time() - began < 0.5


def test_a_file_that_nobody_reads_is_an_error(tmp_path):
    (tmp_path / "prodcuts.csv").write_text("product\n")
    with pytest.raises(DamagedKnowledge, match="not a file of your own knowledge, which can be: "):
        use_folder(tmp_path)
    with pytest.raises(DamagedKnowledge, match="there is no such folder"):
        use_folder(tmp_path / "nowhere")


def test_by_command(tmp_path, capsys):
    clients, verdicts = tmp_path / "clients.csv", tmp_path / "verdicts.csv"
    clients.write_text(
        "client,client_software_name,client_software_version,client_id,api_uses\nbus,,,shopbus-eu,Produce:2 Metadata:5\n"
    )
    asked = ["--from", "3.9.1", "--to", "4.0.1", "--input", str(clients), "--output", str(verdicts)]
    assert judge_list([*asked, "--knowledge", str(EXAMPLE)]) == 0
    (row,) = csv.DictReader(verdicts.read_text().splitlines())
    assert row["fix"] == "upgrade the shop bus to 2.4 (it contains sarama 1.43)"
    assert judge_list([*asked, "--knowledge", str(tmp_path / "nowhere")]) == 2
    assert main([str(EXAMPLE)]) == 0
    said = capsys.readouterr().out
    assert "known_issues.csv: 1 row" in said and "not read" not in said
    folder = shutil.copytree(EXAMPLE, tmp_path / "own")
    (folder / "issues.yaml").write_text("- rule_id: mine\n")
    assert main([str(folder)]) == 0
    assert "not read: issues.yaml" in capsys.readouterr().out


def test_rows_in_force_are_told_from_others():
    assert knowledge.use(None) is False
    own = knowledge.OwnKnowledge("own", {})
    assert [knowledge.use_own(own), knowledge.use_own(own), knowledge.use(None)] == [True, False, True]


def test_a_mistake_in_the_ranges_of_clients_without_a_name_is_an_error(tmp_path):
    header, row = (EXAMPLE / "client_api_versions.csv").read_text().splitlines()[:2]
    own = tmp_path / "unnamed_client_api_versions.csv"
    own.write_text(f"{header}\n{row}\n")
    use_folder(tmp_path)
    own.write_text(f"{header}\n{row.replace('Produce', 'Prodcue')}\n")
    with pytest.raises(
        DamagedKnowledge, match=r"unnamed_client_api_versions\.csv line 2: api 0 Prodcue is not in"
    ):
        use_folder(tmp_path)


@pytest.mark.parametrize(
    ("version", "helps"), [("Fetch:3", False), ("Fetch:4", True), ("Fetch:17", True), ("Fetch:18", False)]
)
def test_advice_counts_where_the_target_serves_what_it_needs(tmp_path, version, helps):
    """4.0.1 serves Fetch 4 to 17."""
    (tmp_path / "library_advice.csv").write_text(
        f"library,apis,where_served,advice,source\nsarama,Produce,{version},set it to the newest,our wiki\n"
    )
    use_folder(tmp_path)
    assert ("set it to the newest" in advice.on("sarama", [0], "4.0.1")) == helps
    assert "set it to the newest" not in advice.on("sarama", [11], "4.0.1"), "of another API"


def test_a_mistake_is_told_by_the_command(tmp_path, capsys):
    (tmp_path / "products.csv").write_text("product\n")
    assert main([str(tmp_path)]) == 2
    printed = capsys.readouterr()
    assert (
        printed.out == ""
        and "products.csv line 1: columns are product, expected product,library" in printed.err
    )


def test_every_file_that_can_be_ones_own_is_read(tmp_path, capsys):
    """Those of clients and products, and none of what brokers serve."""
    named = {"client_api_versions", "client_software", "default_client_ids", "known_issues", "library_advice"}
    named |= {"product_client_ids", "products", "unnamed_client_api_versions", "version_aliases"}
    for name in named:
        shipped = files(knowledge).joinpath(f"{name}.csv").read_text(encoding="utf-8")
        (tmp_path / f"{name}.csv").write_text(shipped.partition("\n")[0] + "\n")
    assert main([str(tmp_path)]) == 0
    assert sorted(capsys.readouterr().out.splitlines()) == sorted(f"{name}.csv: 0 rows" for name in named)
    (tmp_path / "releases.csv").write_text("release\n")
    assert main([str(tmp_path)]) == 2


@pytest.mark.parametrize(("row", "hint"), [("a", False), ("a,b", True)])
def test_a_row_of_too_few_cells(tmp_path, row, hint):
    """Of one cell no comma can be too many."""
    header = (EXAMPLE / "products.csv").read_text().splitlines()[0]
    (tmp_path / "products.csv").write_text(f"{header}\n{row}\n")
    with pytest.raises(DamagedKnowledge) as error:
        use_folder(tmp_path)
    assert ("a text with a comma or a line break stands in quotes" in error.value.reason) == hint


def dated(folder: Path, checked_on: str) -> None:
    """The example with the day of the last check."""
    shutil.copytree(EXAMPLE, folder)
    header, row = (folder / "products.csv").read_text().splitlines()
    (folder / "products.csv").write_text(f"{header},checked_on\n{row},{checked_on}\n")


@pytest.mark.parametrize(
    "checked_on, says",
    [
        ("2026-11-30", None),
        ("", None),
        ("2020-02-29", "products.csv line 2: last checked on 2020-02-29, more than 365 days ago"),
    ],
)
def test_ones_own_rows_may_say_when_they_were_last_checked(checked_on, says, tmp_path, capsys):
    dated(tmp_path / "mine", checked_on)
    assert main([str(tmp_path / "mine")]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line for line in printed if "last checked" in line] == ([says] if says else [])
    assert products.advices()["Shop bus"]


@pytest.mark.parametrize(
    "checked_on, says",
    [
        ("2026-11-31", "checked_on '2026-11-31' is not a date: write it as 2026-11-30"),
        ("30.11.2026", "checked_on '30.11.2026' is not a date: write it as 2026-11-30"),
        ("20261130", "checked_on '20261130' is not a date: write it as 2026-11-30"),
        ("2026-11-30 ", "checked_on '2026-11-30 ' is not a date: write it as 2026-11-30"),
        ("2999-01-01", "checked_on 2999-01-01 is in the future"),
    ],
)
def test_a_day_that_is_none_or_has_not_come_is_refused(checked_on, says, tmp_path, capsys):
    dated(tmp_path / "mine", checked_on)
    assert main([str(tmp_path / "mine")]) == 2
    assert (
        capsys.readouterr().err
        == f"client-telemetry knowledge-check: {tmp_path}/mine/products.csv line 2: {says}\n"
    )


def test_only_files_that_people_write_say_when_they_were_last_checked(tmp_path, capsys):
    shutil.copytree(EXAMPLE, tmp_path / "mine")
    file = tmp_path / "mine/client_api_versions.csv"
    file.write_text("\n".join(f"{line},2026-11-30" for line in file.read_text().splitlines()) + "\n")
    assert main([str(tmp_path / "mine")]) == 2
    assert "client_api_versions.csv line 1: columns are " in capsys.readouterr().err
