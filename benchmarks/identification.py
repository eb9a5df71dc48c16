"""How right it is about who a client is: libraries of clients that declare none, and which clients are one program.

    python -m benchmarks.identification [--write docs/identification.md]

Clients of benchmarks/matrix (one library each, all default client ids) and of benchmarks/programs (whole programs). Each
is identified as the product does it, with its client id and without; then once more with its library taken out of the
knowledge base: whoever is named then is wrong. Exit code 1 when a goal is missed.
"""

import argparse
import csv
import datetime as dt
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.compatibility import fingerprints, identification, parse_api_uses
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, versions_in_use
from client_telemetry.compatibility.identification import Identification
from client_telemetry.identity.applications import Client, applications
from client_telemetry.identity.broker_clients import is_broker
from client_telemetry.knowledge import client_versions, kip511

from benchmarks import whole_runs
from benchmarks.leave_one_out import LIBRARY_OF

FOLDER = Path(__file__).parent
NOON = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)
OLD_BROKERS = ("A", "A2")
"""Runs of benchmarks/programs on 3.9.1."""
OF_THE_RIG = frozenset(("feeder", "precreate", "check-rsl"))


@dataclass(frozen=True)
class Case:
    text: str
    library: str
    version: tuple[int, ...]
    client_id: str | None
    release: str
    uses: tuple[ApiUse, ...]

    def identified(self) -> Identification | None:
        uses = versions_in_use(ClientEvidence(api_uses=self.uses))
        return identification.of(self.client_id, uses, self.release)


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def of_the_matrix(with_client_id: bool) -> Iterator[Case]:
    for row in _rows("matrix/evidence.csv"):
        if row["client_software_name"]:
            continue
        library = LIBRARY_OF.get(row["library"], row["library"])
        text = f"{row['library']} {row['version']} {row['configuration']}"
        for client_id in row["client_ids"].split("|") if with_client_id else (None,):
            uses = parse_api_uses(row["api_uses"])
            yield Case(text, library, client_versions.parse(row["version"]), client_id, row["brokers"], uses)


def of_programs(with_client_id: bool) -> Iterator[Case]:
    truth = {row["case"]: row for row in _rows("programs/libraries.csv")}
    for row in _clients_of_programs():
        known = truth.get(row["case"])
        if known is None or kip511.is_known(row["client_software_name"]):
            continue
        uses = parse_api_uses(row["api_uses"])
        client_id = row["client_id"] if with_client_id else None
        text = f"{row['case']} {row['client_id']}"
        yield Case(
            text, known["library"], client_versions.parse(known["version"]), client_id, row["release"], uses
        )


def _clients_of_programs() -> Iterator[dict[str, str]]:
    for row in _rows("programs/evidence.csv"):
        keys = frozenset(use.api_key for use in parse_api_uses(row["api_uses"]))
        ours = row["client_id"] in OF_THE_RIG or row["client_id"].isdigit()
        ours |= (row["case"], row["client_id"]) == (
            "kafka-rust-09",
            "kafkajs",
        )  # the last request of the case before
        if row["run"] in OLD_BROKERS and not ours and not is_broker(row["client_id"], keys):
            yield row


@contextmanager
def without(library: str) -> Iterator[None]:
    """The knowledge base as if nothing were known of this library; its own client ids lead nowhere then."""
    everything = fingerprints.profiles
    identification.fingerprints.profiles = lambda kept=True: tuple(  # type: ignore[assignment]
        each for each in everything(kept) if each.library != library
    )
    _forget()
    try:
        yield
    finally:
        identification.fingerprints.profiles = everything
        _forget()


def _forget() -> None:
    for each in vars(identification).values():
        if hasattr(each, "cache_clear") and each.__module__ == identification.__name__:
            each.cache_clear()


class Score:
    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.misses: list[tuple[str, str]] = []

    def add(self, case: Case) -> None:
        self.count["clients"] += 1
        who = case.identified()
        if who is None:
            self.misses.append((case.text, "nothing"))
            return
        among = [each for each in who.candidates if each.library == case.library]
        self.count["among"] += bool(among)
        if not among:
            self.misses.append((case.text, who.text))
        if who.named is None:
            return
        self.count["named"] += 1
        if who.named.library != case.library:
            self.count["wrong"] += 1
            self.misses.append((case.text, who.text))
        elif not who.named.includes(case.version):
            self.count["excluded"] += 1
            self.misses.append((case.text, who.text))

    def cells(self) -> str:
        c = self.count
        share = f"{100 * c['among'] / c['clients']:.1f} %" if c["clients"] else "–"
        return f"{c['clients']} | {c['named']} | {c['wrong']} | {c['excluded']} | {share}"


def scores() -> dict[str, Score]:
    found: dict[str, Score] = {}
    for name, cases in (("libraries", of_the_matrix), ("programs", of_programs)):
        for with_id in (True, False):
            score = found.setdefault(f"{name}, {'with' if with_id else 'without'} client id", Score())
            for case in cases(with_id):
                score.add(case)
    return found


def left_out() -> Score:
    """Every client by its requests alone, its library unknown: all names are wrong."""
    score, by_library = Score(), defaultdict(list)
    for case in (*of_the_matrix(False), *of_programs(False)):
        by_library[case.library].append(case)
    for library, cases in by_library.items():
        with without(library):
            for case in cases:
                score.add(case)
    return score


def programs_and_rows() -> list[tuple[str, int, int]]:
    """Case, client rows, applications: of each program alone."""
    clients: dict[str, list[Client]] = defaultdict(list)
    for row in _clients_of_programs():
        versions: dict[int, set[int]] = defaultdict(set)
        for use in parse_api_uses(row["api_uses"]):
            versions[use.api_key].add(use.version)
        sent = {key: frozenset(of_api) for key, of_api in versions.items()}
        key = (
            row["principal"],
            row["client_id"],
            row["client_software_name"],
            row["client_software_version"],
        )
        clients[row["case"]].append(Client(*key, None, NOON, NOON, frozenset(("127.0.0.1",)), versions=sent))
    return [
        (
            case,
            len(of_case),
            len({(c.principal, a.name) for c, a in zip(of_case, applications(of_case), strict=True)}),
        )
        for case, of_case in sorted(clients.items())
    ]


def whole_runs_section() -> tuple[list[str], list[str]]:
    """Lines of the page, and goals that are missed: rows over programs within 10 %, no two in one row without a note."""
    rows = whole_runs.rows()
    lines, missed, totals = [], [], Counter[str]()
    lines += [
        "| run | cases | programs | rows | rows over programs | rows of several programs, without a note |"
    ]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    for run in sorted({row.run for row in rows}):
        of_run = [row for row in rows if row.run == run]
        cases = {case for row in of_run for case in row.cases}
        programs = sum(whole_runs.PROCESSES.get(case, 1) for case in cases)
        unsaid = [row for row in of_run if len(row.cases) > 1 and not row.notes]
        share = 100 * len(of_run) / programs - 100
        lines.append(
            f"| {run} | {len(cases)} | {programs} | {len(of_run)} | {share:+.0f} % | {len(unsaid)} |"
        )
        totals += Counter(cases=len(cases), programs=programs, rows=len(of_run))
        missed += [f"{row.name}: {', '.join(sorted(row.cases))} in one row without a note" for row in unsaid]
    share = 100 * totals["rows"] / totals["programs"] - 100
    by_case = 100 * totals["rows"] / totals["cases"] - 100
    lines += [
        "",
        f"Together {totals['rows']} rows for {totals['programs']} programs ({share:+.1f} %), or {by_case:+.1f} % over the cases.",
    ]
    if max(abs(share), abs(by_case)) > 10:
        missed.append(
            f"{totals['rows']} rows for {totals['programs']} programs of {totals['cases']} cases, within 10 %"
        )
    lines += ["", "| row of several programs | programs | its notes |", "|---|---|---|"]
    lines += [
        f"| {row.run}: {row.name} | {', '.join(sorted(row.cases))} | {'; '.join(row.notes)} |"
        for row in rows
        if len(row.cases) > 1
    ]
    by_program: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in rows:
        for case in row.cases:
            by_program[row.run, case].append(row.name)
    lines += ["", "| program of several rows | rows |", "|---|---|"]
    lines += [
        f"| {run}: {case} | {', '.join(names)} |"
        for (run, case), names in sorted(by_program.items())
        if len(names) > whole_runs.PROCESSES.get(case, 1)
    ]
    lines += ["", *_mixed_lines(missed)]
    return lines, missed


def _mixed_lines(missed: list[str]) -> list[str]:
    two, one_id = whole_runs.overlaid(), whole_runs.with_one_client_id()
    if two["unsaid"]:
        missed.append(f"{two['unsaid']} rows of two programs at one place without a note")
    wrong = 100 * one_id["wrong"] / one_id["connections"]
    return [
        "Programs that share more than in these runs:",
        "",
        f"* All pairs of programs at one address, with one principal, within twenty seconds: {two['pairs']:,} pairs have "
        f"{two['rows']:,} rows, and {two['rows_apart']:,} in separate reports. {two['of_both']} rows contain clients of both, "
        f"{two['unsaid']} of these without a note.",
        f"* All pairs of kafka-clients clients with one client id, likewise: {one_id['told_apart']:,} of {one_id['pairs']:,} "
        f"pairs with different request versions are told apart; {one_id['wrong']:,} of {one_id['connections']:,} connections "
        f"({wrong:.1f} %) are assigned to the other program.",
    ]


def report() -> tuple[str, list[str]]:
    found, out, programs = scores(), left_out(), programs_and_rows()
    of_runs, missed = whole_runs_section()
    rows, apps = sum(each[1] for each in programs), sum(each[2] for each in programs)
    total, named = Counter[str](), Counter[str]()
    for score in found.values():
        total += score.count
    named["all"] = total["named"] + out.count["named"]
    wrong = total["wrong"] + out.count["wrong"]
    lines = ["# Who a client is, and how often that is right", "", *_INTRODUCTION]
    lines += [
        "| clients | number | named | wrong library | range excludes the truth | true library among the candidates |"
    ]
    lines += ["|---|---:|---:|---:|---:|---:|"]
    lines += [f"| {name} | {score.cells()} |" for name, score in found.items()]
    lines += [
        f"| its library taken out of the knowledge base | {out.count['clients']} | {out.count['named']} | {out.count['wrong']} | – | – |",
        "",
    ]
    lines += [
        f"Wrong library: {wrong} of {named['all']} names, {100 * wrong / max(named['all'], 1):.2f} %.",
        "",
    ]
    lines += [
        "## Programs and rows",
        "",
        *_PROGRAMS,
        f"{len(programs)} programs: {rows} client rows, {apps} applications.",
        "",
    ]
    lines += ["| program | client rows | applications |", "|---|---:|---:|"]
    lines += [f"| {case} | {before} | {after} |" for case, before, after in programs if before > 1]
    lines += ["", "## Rows of a report", "", *_WHOLE_RUNS, *of_runs]
    misses = [(name, *miss) for name, score in found.items() for miss in dict.fromkeys(score.misses)]
    misses += [
        ("its library taken out", *miss) for miss in dict.fromkeys(out.misses) if "probably" in miss[1]
    ]
    lines += ["", "## Misses", ""]
    lines += (
        [
            "| clients | client | identified as |",
            "|---|---|---|",
            *(f"| {' | '.join(each)} |" for each in misses),
        ]
        if misses
        else ["None."]
    )
    if wrong > 0.01 * named["all"]:
        missed.append(f"{wrong} of {named['all']} names are of the wrong library, at most 1 %")
    if total["excluded"]:
        missed.append(f"{total['excluded']} ranges exclude the truth")
    if total["among"] < 0.98 * total["clients"]:
        missed.append(
            f"{total['among']} of {total['clients']} times the true library is among the candidates, at least 98 %"
        )
    return "\n".join(lines) + "\n", missed


_INTRODUCTION = (
    "Generated by `python -m benchmarks.identification --write docs/identification.md`, which fails if a goal is missed: at most",
    "1 % of the names are of a wrong library, no range excludes the true version, and the true library is among the candidates",
    "in 98 % of the cases. The clients declare no software name; they are from real libraries (benchmarks/matrix, brokers 2.8.2 to 3.9.1)",
    "and from whole programs (benchmarks/programs, brokers 3.9.1). *Named*: one library with a version range; otherwise all candidates",
    "are listed, most likely first. In the last line, nothing is known about the client's own library, so every name is",
    "wrong: this is the result for a library that is not in the knowledge base. The rules are in `compatibility/identification.py`.",
    "",
)
_PROGRAMS = (
    "Each program's request log separately, with its clients grouped by `identity/applications.py`. Some cases are several programs: a",
    "console producer and a console consumer, a tool that was run with two client ids.",
    "",
)


_WHOLE_RUNS = (
    "All programs of a run together, as in a report on the brokers' request logs: client ids are shared, and the programs",
    "behind one client id are separated (`identity/programs.py`). A console consumer and a console producer of one case are two programs.",
    "",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.identification", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the whole report there as Markdown")
    given = parser.parse_args()
    text, missed = report()
    if given.write:
        given.write.write_text(text, encoding="utf-8")
    print(text.partition("## Misses")[0])
    print("\n".join(missed) if missed else "All goals are reached.")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
