"""Verdicts for a list of clients, without data from a cluster.

client-telemetry compatibility --from 3.9.1 --to 4.0.1 --input clients.csv --output verdicts.csv
    [--features transaction.version=0,group.version=1] [--vendor confluent]
    [--knowledge FOLDER] [--jar kafka-clients-4.5.0.jar] [--fail-on breaks]

Prints the number of clients with each verdict to standard error. Exit code 0; 1 if some rows could not be judged (the
others were); with --fail-on 3 for no-go, 4 for cannot tell; 2 for arguments or files that cannot be used. Columns are described in docs/knowledge-base.md, an example is docs/examples/clients.csv.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from client_telemetry.compatibility import client_list
from client_telemetry.compatibility.client_list import BadRow, Entry
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.go_no_go import add_fail_on, decide
from client_telemetry.compatibility.judgement import judge
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.compatibility.target_argument import named, without_knowledge
from client_telemetry.compatibility.verdict import ClientVerdict
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.knowledge import features, measured_targets, products, releases, software
from client_telemetry.knowledge.conditions import APACHE_KAFKA, VENDORS
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict
from client_telemetry.knowledge_package import jars

if TYPE_CHECKING:
    from client_telemetry.artefacts.found import Judged


@refuses("compatibility")
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Arguments(
        "compatibility", "Verdicts for a list of clients: which break when their Kafka brokers are upgraded."
    )
    parser.add_argument(
        "--from",
        dest="source",
        required=True,
        metavar="V",
        help="exact release that the brokers run, a file of `client-telemetry probe`, or a profile",
    )
    parser.add_argument(
        "--to",
        dest="target",
        required=True,
        metavar="V",
        help="exact release to upgrade to, a file of `client-telemetry probe`, or a profile",
    )
    parser.add_argument("--input", required=True, type=Path, metavar="FILE", help="clients, .csv or .json")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="verdicts, .csv or .json")
    parser.add_argument(
        "--features",
        default="",
        metavar="FEATURE=LEVEL,…",
        help="feature levels that stay finalized after the upgrade, such as transaction.version=0; default: the newest ones "
        "of the target",
    )
    parser.add_argument(
        "--vendor",
        default=APACHE_KAFKA,
        choices=VENDORS,
        help="vendor of the target's build, where the target is a release; default: %(default)s",
    )
    parser.add_argument(
        "--knowledge",
        metavar="FOLDER",
        help="folder of your own products, libraries, issues and aliases",
    )
    jars.add_option(parser)
    add_fail_on(parser, default=None)
    args = parser.parse_args(arguments)
    with Progress(f"reading {args.input}") as progress:
        return _judge_all(args, progress)


def _judge_all(args: argparse.Namespace, progress: Progress) -> int:
    added = jars.use(args.jar)
    use_folder(args.knowledge)
    source, target = releases.upgrade(named(args.source), named(args.target))
    levels = features.parse(args.features, target)
    entries = client_list.read(args.input)
    for sentence in added:
        print(sentence, file=sys.stderr)
    way = releases.not_one_rolling_upgrade(source, target)
    not_known = "" if measured_targets.is_measured(target) else without_knowledge(args.vendor)
    rows: list[tuple[str, ...]] = []
    verdicts: list[ClientVerdict | Judged] = []
    owners, bad = [], 0
    # Lists have many clients alike.
    verdict_of = cache(lambda alike: _verdict(alike, source, target, levels, args.vendor))
    for entry in progress.counted("judging clients", entries):
        if isinstance(entry, BadRow):
            print(entry, file=sys.stderr)
            bad += 1
            continue
        verdict = verdict_of(replace(entry, client="", owner=None))
        if not_known and verdict.verdict != Verdict.BREAKS:
            verdict = replace(verdict, condition="; ".join(filter(None, (verdict.condition, not_known))))
        verdicts.append(verdict)
        owners.append(entry.owner)
        rows.append(verdict_row(entry.client, verdict))
    progress(f"writing {args.output}")
    has_owners = any(owner is not None for owner in owners)
    client_list.write(args.output, rows, [owner or "" for owner in owners] if has_owners else None)
    # The verdicts may go to standard output.
    print(_counts(verdicts), *filter(None, (way, not_known)), sep="\n", file=sys.stderr)
    if bad:
        return 1
    if args.fail_on is None:
        return 0
    code, decision = decide(Counter(verdict.verdict for verdict in verdicts), args.fail_on, each="client")
    print(decision, file=sys.stderr)
    return code


def _verdict(
    entry: Entry, source: str, target: str, levels: Mapping[str, int], vendor: str
) -> "ClientVerdict | Judged":
    """That of the judge, or, where the list names the library as people do, that of a library that is written down."""
    evidence = entry.evidence
    if entry.library:
        from client_telemetry.artefacts import judged, named_client
        from client_telemetry.artefacts.code import CodeSeen

        client = named_client.named(entry.library, entry.library_version)
        by_name = None if client.library else _by_name(entry)
        if by_name is None:
            seen = replace(evidence, client_software_name=None, client_software_version=None)
            found = [
                judged.of(each, source, target, CodeSeen(), seen, levels, vendor)
                for each in named_client.releases_of(entry.library, entry.library_version) or [client]
            ]
            if len({each.verdict for each in found}) > 1:  # which release it is decides
                found = [judged.of(client, source, target, CodeSeen(), seen, levels, vendor)]
            longest = max(found, key=lambda each: len(each.condition))
            return longest if longest.identified_as else replace(longest, identified_as=client.text)
        evidence = by_name
    return judge(evidence, source, target, features=levels, vendor=vendor)


def _by_name(entry: Entry) -> ClientEvidence | None:
    """The client as the judge knows the name: as declared software, or as a product; None if it does not."""
    name, evidence = entry.library, entry.evidence
    if name in software.known():
        return replace(evidence, client_software_name=name, client_software_version=entry.library_version)
    if product := products.called(name):
        return replace(evidence, product=evidence.product or product)
    return evidence if evidence.client_software_name == name else None


def verdict_row(client: str, verdict: "ClientVerdict | Judged") -> tuple[str, ...]:
    """One line of client_list.VERDICT_COLUMNS."""
    return (
        client,
        verdict.verdict,
        verdict.confidence,
        " ".join(verdict.rules),
        verdict.explanation,
        verdict.fix,
        verdict.identified_as,
        verdict.when or "",
        "yes" if verdict.already_failing else "no",
        "yes" if verdict.works_again else "no",
        verdict.condition,
    )


def _counts(verdicts: "Sequence[ClientVerdict | Judged]") -> str:
    """`7 clients: 5 breaks, 1 insufficient_evidence, 1 safe`, and what a list cannot show about safe ones."""
    counted = Counter(verdict.verdict for verdict in verdicts)
    counts = ", ".join(f"{counted[word]} {word}" for word in PRECEDENCE if counted[word]) or "no verdict"
    failing = sum(verdict.already_failing for verdict in verdicts)
    more = f"; {failing} already failing" if failing else ""
    so_far = "\nA list does not show how long clients were watched: safe holds only for the requests that it contains."
    return f"{len(verdicts):,} client{'s' * (len(verdicts) != 1)}: {counts}{more}{so_far if counted[Verdict.SAFE] else ''}"
