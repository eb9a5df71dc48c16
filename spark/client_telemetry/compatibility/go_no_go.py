"""Whether verdicts stop an upgrade, as an exit code for a pipeline."""

import argparse
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from client_telemetry.console.counted import counted
from client_telemetry.formats.report_file import Report
from client_telemetry.formats.written_file import Written, not_seen
from client_telemetry.knowledge.vocabulary import PRECEDENCE, Verdict

GO: Final = 0
NO_GO: Final = 3
CANNOT_TELL: Final = 4


def decide(
    verdicts: Mapping[str, int], fail_on: Sequence[str], *, each: str = "application"
) -> tuple[int, str]:
    """Exit code and sentence. `verdicts`: verdict -> count; `each`: what is counted. NO_GO: at least one has a verdict
    of `fail_on`; CANNOT_TELL: none has, but at least one lacks evidence, or there is none at all.

    >>> decide({"breaks": 2, "safe": 5}, ["breaks"])
    (3, 'no-go: 2 applications with the verdict breaks')
    """
    if stopping := sum(verdicts.get(verdict, 0) for verdict in fail_on):
        return NO_GO, f"no-go: {counted(stopping, each)} with the verdict {' or '.join(fail_on)}"
    if lacking := verdicts.get(Verdict.INSUFFICIENT_EVIDENCE):
        return (
            CANNOT_TELL,
            f"cannot tell: {counted(lacking, each)} {'lacks' if lacking == 1 else 'lack'} evidence",
        )
    if not sum(verdicts.values()):
        return CANNOT_TELL, f"cannot tell: there is no {each}"
    return GO, "go"


def worse_of(seen: tuple[int, str], unseen: tuple[int, str]) -> tuple[int, str]:
    """Of decisions on what was seen and on what is only written: the worse code, and both sentences.

    >>> worse_of((0, "go"), (3, "no-go: 1 artefact with the verdict breaks"))
    (3, 'seen: go; written, not seen: no-go: 1 artefact with the verdict breaks')
    """
    worse = next(each for each in (NO_GO, CANNOT_TELL, GO) if each in (seen[0], unseen[0]))
    return worse, f"seen: {seen[1]}; written, not seen: {unseen[1]}"


def decide_unseen(verdicts: Mapping[str, int], fail_on: Sequence[str]) -> tuple[int, str]:
    """`decide` for artefacts that no seen client comes from, of which there may be none."""
    return decide(verdicts, fail_on, each="artefact") if verdicts else (GO, "go")


def unseen_sentence(verdicts: Mapping[str, int]) -> str:
    """Of artefacts that brokers should have seen and did not, by their verdicts; empty if nothing of them stops an upgrade.

    >>> unseen_sentence({"breaks": 2, "safe": 5}), unseen_sentence({"safe": 5})
    ('Written, and seen by no broker: 2 artefacts would break', '')
    """
    breaking, lacking = (verdicts.get(each, 0) for each in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE))
    parts = [f"{counted(breaking, 'artefact')} would break"] if breaking else []
    if lacking:
        parts.append(f"{counted(lacking, 'artefact')} cannot be judged")
    return f"Written, and seen by no broker: {', '.join(parts)}" if parts else ""


def decide_by_report(
    report: Report, fail_on: Sequence[str], written: Written | None = None
) -> tuple[int, str]:
    """`decide` for a `report.json`, and for what is written beside it. Reports from before there were applications are counted in
    clients. Raises LookupError or TypeError if it is not a report.
    """
    if written is not None:
        return worse_of(decide_by_report(report, fail_on), decide_unseen(not_seen(written), fail_on))
    verdicts = [client["verdict"] for client in report["clients"]]
    each = "application" if "applications" in report else "client"
    together = (
        [[verdicts[place] for place in application["clients"]] for application in report["applications"]]
        if "applications" in report
        else [[verdict] for verdict in verdicts]
    )
    blockers = [note["subject"] for note in report.get("blockers") or ()]
    return decide_by_applications(together, fail_on, blockers, report.get("incomplete"), each=each)


def decide_by_applications(
    applications: Iterable[Collection[str]],
    fail_on: Sequence[str],
    blockers: Sequence[str],
    incomplete: str | None,
    *,
    each: str = "application",
) -> tuple[int, str]:
    """`decide` for the verdicts of the clients of each application, which counts if any of them has such a verdict. NO_GO if the
    setup of the brokers has `blockers`, CANNOT_TELL instead of GO if the evidence is `incomplete`.
    """
    if blockers:
        names = ", ".join(dict.fromkeys(blockers))
        return NO_GO, f"no-go: {counted(len(blockers), 'blocker')} in the setup of the brokers: {names}"
    decisive = (*fail_on, Verdict.INSUFFICIENT_EVIDENCE)
    of_applications = Counter(
        next((verdict for verdict in decisive if verdict in of_one), "") for of_one in applications
    )
    code, sentence = decide(of_applications, fail_on, each=each)
    if code == GO and incomplete:
        return CANNOT_TELL, f"cannot tell: {incomplete}"
    return code, sentence


def add_fail_on(parser: argparse.ArgumentParser, *, default: tuple[str, ...] | None) -> None:
    """The option --fail-on. Without a `default` the exit code does not depend on verdicts unless it is given."""
    without = default[0] if default else "verdicts do not change the exit code"
    parser.add_argument(
        "--fail-on",
        type=_verdicts,
        default=default,
        metavar="VERDICT[,VERDICT]",
        help=f"verdicts that stop the upgrade, separated by commas: {', '.join(PRECEDENCE)}; the exit code is then 3, or 4 if none has "
        f"such a verdict but some lack evidence or there is no client; default: {without}",
    )


def _verdicts(text: str) -> tuple[str, ...]:
    verdicts = tuple(part.strip() for part in text.split(",") if part.strip())
    unknown = [verdict for verdict in verdicts if verdict not in PRECEDENCE]
    if unknown or not verdicts:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not a list of verdicts: use {', '.join(PRECEDENCE)}, separated by commas"
        )
    return verdicts
