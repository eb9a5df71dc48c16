"""A user's own products, libraries, issues and aliases, beside the shipped knowledge base.

    client-telemetry knowledge check FOLDER      (or: python -m client_telemetry.compatibility.own_knowledge FOLDER)

prints what the folder adds, or the first mistake with file, line and reason. docs/knowledge-base.md explains how to write one.
"""

import datetime as dt
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.compatibility import cluster_notes, fingerprints, mixed_window
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.refusal import refuses
from client_telemetry.knowledge import (
    DamagedKnowledge,
    OwnKnowledge,
    advice,
    broker_classes,
    broker_configuration,
    broker_metrics,
    carried_versions,
    checked,
    client_ranges,
    client_versions,
    features,
    known_issues,
    known_packages,
    products,
    releases,
    removed_settings,
    roles,
    served,
    software,
    version_negotiation,
)


def use_folder(folder: Path | str | None) -> OwnKnowledge | None:
    """Read, check and activate a user's folder; None: the shipped knowledge base alone. Raises DamagedKnowledge with
    file, line and reason, in which case nothing of the folder is active.
    """
    if not folder:
        knowledge.use_own(None)
        return None
    own = knowledge.read_folder(Path(folder))
    knowledge.use_own(own)
    try:
        check()
    except ValueError:
        knowledge.use_own(None)
        raise
    return own


def check() -> None:
    """Make every module read its files: each checks those it owns. Raises DamagedKnowledge."""
    releases.unreviewed()
    served.by(releases.known()[-1])
    broker_configuration.ever(broker_configuration.BROKER)
    broker_classes.ever()
    removed_settings.known()
    broker_metrics.check()
    features.closed(releases.known()[-1], features.newest(releases.known()[-1]))
    roles.needs()
    cluster_notes.known()
    mixed_window.known()
    client_ranges.read(client_ranges.FILE)
    client_ranges.read(fingerprints.UNNAMED_FILE)
    software.check()
    fingerprints.by_client_id("x")
    products.by_client_id("x")
    products.advices()
    advice.on("x", (), "4.0.0")
    _check_packages()
    _check_rule_ids()
    known_issues.known()
    version_negotiation.every()
    _check_libraries()
    _check_duplicates()
    checked.refuse_future(checked.own(), dt.datetime.now(dt.UTC))


def _check_libraries() -> None:
    """Libraries that the user's rows name must be known: a misspelt one would silently never match."""
    for file, columns in (
        (software.FILE, software.COLUMNS),
        (products.IDS_FILE, products.IDS_COLUMNS),
        (products.FILE, products.COLUMNS),
        (advice.FILE, advice.COLUMNS),
        (known_packages.FILE, known_packages.COLUMNS),
        (version_negotiation.FILE, version_negotiation.COLUMNS),
    ):
        for line, row in _own_rows(file, columns):
            for library in filter(None, row["library"].split("|")):
                if not client_ranges.named(library):
                    where = f"{client_ranges.FILE} or {fingerprints.UNNAMED_FILE}"
                    raise DamagedKnowledge(file, line, f"library {library} is not in {where}")
    for line, (product, *_) in knowledge.own_rows(products.FILE, products.COLUMNS):
        if products.named(product) is None:
            raise DamagedKnowledge(
                products.FILE, line, f"product {product} has no client ids in {products.IDS_FILE}"
            )


def _own_rows(file: str, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    return (
        (line, dict(zip(columns, cells, strict=True))) for line, cells in knowledge.own_rows(file, columns)
    )


def _check_packages() -> None:
    """A package or release of the user's that could never match is a mistake."""
    known = {(package.type, package.name): package for package in known_packages.every()}
    for line, row in _own_rows(known_packages.FILE, known_packages.COLUMNS):
        binding = row["binding"]
        if binding and binding not in software.bindings():
            reason = f"binding {binding} is none of {', '.join(software.bindings())}"
            raise DamagedKnowledge(known_packages.FILE, line, reason)
    carried_versions.check()
    for line, carried in carried_versions.own():
        file = carried_versions.FILE
        client_versions.of_cell(file, line, "library_version", carried.library_version)
        package = known.get((carried.type, carried.name))
        if package is None or package.contains not in (known_packages.BRINGS, known_packages.MANAGES):
            lacks = f"no row in {known_packages.FILE} that says brings or manages"
            raise DamagedKnowledge(file, line, f"{carried.type} {carried.name} has {lacks}")
        if package.library != carried.library:
            reason = f"library {carried.library} is {package.library!r} in {known_packages.FILE}"
            raise DamagedKnowledge(file, line, reason)


def _check_rule_ids() -> None:
    """Every issue needs a rule id of its own: it identifies findings."""
    shipped = {cells[0] for _, cells in knowledge.shipped_rows(known_issues.FILE, known_issues.COLUMNS)}
    for line, (rule_id, *_) in knowledge.own_rows(known_issues.FILE, known_issues.COLUMNS):
        if rule_id in shipped:
            raise DamagedKnowledge(
                known_issues.FILE, line, f"rule_id {rule_id} is already that of a shipped issue: use another"
            )


def _check_duplicates() -> None:
    """Every row of the user's must be able to match: where the first match counts, an earlier row with the same key
    would hide it.
    """
    for file, columns, key in _FIRST_MATCH_COUNTS:
        first: dict[tuple[str, ...], int] = {}
        for line, row in _own_rows(file, columns):
            key_cells = tuple(row[column] for column in key)
            if first.setdefault(key_cells, line) != line:
                reason = f"{' and '.join(key)} as in line {first[key_cells]}, so this row never matches"
                raise DamagedKnowledge(file, line, reason)


_FIRST_MATCH_COUNTS = (
    (products.IDS_FILE, products.IDS_COLUMNS, ("client_id_pattern",)),
    (products.FILE, products.COLUMNS, ("product", "library", "apis")),
    (advice.FILE, advice.COLUMNS, ("library", "apis", "where_served")),
    (fingerprints.FILE, fingerprints.COLUMNS, ("client_id_pattern",)),
    (version_negotiation.FILE, version_negotiation.COLUMNS, ("library", "version_from")),
)
"""Files, their columns, and those that identify a row."""


def overridden() -> Iterator[str]:
    """One sentence for each of the user's rows that stands in for one of the package."""
    keys = (
        *_FIRST_MATCH_COUNTS,
        (software.FILE, software.COLUMNS, ("software_name",)),
        (software.ALIASES_FILE, software.ALIASES_COLUMNS, ("software_name", "reported_version")),
        (known_packages.FILE, known_packages.COLUMNS, ("type", "name")),
    )
    for file, columns, key in keys:
        places = [columns.index(column) for column in key]
        shipped = {
            tuple(cells[place] for place in places)
            for _, cells in knowledge.shipped_rows_if_there(file, columns)
        }
        for line, cells in knowledge.own_rows(file, columns):
            if (name := tuple(cells[place] for place in places)) in shipped:
                yield f"{file} line {line}: overrides the row of {' '.join(filter(None, name))}"


def main(argv: Sequence[str] | None = None, subcommand: str = "knowledge-check") -> int:
    """`subcommand`: what it was called by."""
    return refuses(subcommand)(lambda argv: _checked(argv, subcommand))(argv)


def _checked(argv: Sequence[str] | None, subcommand: str) -> int:
    parser = Arguments(subcommand, "Check a folder of your own knowledge.")
    parser.add_argument("folder", metavar="FOLDER", help="folder of CSV files (docs/knowledge-base.md)")
    own = use_folder(parser.parse_args(argv).folder)
    for name, text in sorted(own.texts.items() if own else ()):
        rows = sum(1 for line in text.splitlines()[1:] if line.strip())
        print(f"{name}: {rows} row{'s' * (rows != 1)}")
    for sentence in overridden():
        print(sentence)
    for row in checked.stale(checked.own(), dt.datetime.now(dt.UTC).date()):
        print(
            f"{Path(row.file).name} line {row.line}: last checked on {row.checked_on}, more than {checked.STALE_DAYS} days ago"
        )
    folder = Path(own.folder if own else "")
    if unread := sorted(path.name for path in folder.iterdir() if own and path.name not in own.texts):
        print(f"not read: {', '.join(unread)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
