"""Who is asked what. What is not known of a client is for its owner to answer; what concerns brokers, features of the cluster
and the network between is for whoever asks for the upgrade, once for all applications. Every question can be answered in one line.
"""

from collections.abc import Iterable, Iterator

from client_telemetry.compatibility.explanations import ASK
from client_telemetry.console.grouped import grouped
from client_telemetry.knowledge.conditions import SETTLED_BY_OPERATORS
from client_telemetry.reports.upgrade.model import Application, ClientVerdict, ClusterQuestion, Finding
from client_telemetry.reports.upgrade.wording import either, sentence_case

_WHICH_LIBRARY = "Which Kafka client library does it use, in which version, and does its configuration pin a protocol version (yes or no)?"


def cluster_questions(applications: Iterable[Application]) -> tuple[ClusterQuestion, ...]:
    """One for each condition, those of most applications first."""
    asked = [
        (finding, application)
        for application in applications
        for finding in _unknown(application)
        if _is_of_operators(finding)
    ]
    questions = [
        ClusterQuestion(
            condition,
            alike[0][0].explanation,
            settled_by,
            tuple({id(each): each for _, each in alike}.values()),
        )
        for (condition, settled_by), alike in grouped(
            asked, lambda pair: (pair[0].condition or "", pair[0].settled_by or "")
        ).items()
    ]
    return tuple(sorted(questions, key=lambda question: (-len(question.applications), question.condition)))


def owner_questions(application: Application) -> tuple[str, ...]:
    """What only the owner of an application can answer."""
    findings = _by_gap(application)
    questions = (_owner_question(gap, findings.get(gap), application) for gap in application.missing)
    return tuple(dict.fromkeys(filter(None, questions)))


def _owner_question(gap: str, finding: Finding | None, application: Application) -> str:
    """Empty for what others know, and for what only happens or does not."""
    if finding is not None:
        is_asked = _is_of_the_owner(finding)
        return f"{_yes_or_no(finding.condition or '')} If yes: {finding.explanation}." if is_asked else ""
    if gap.endswith(ASK):
        asked = (client.owner_question for client in application.clients if client.owner_question)
        return next(asked, _WHICH_LIBRARY)
    return (
        _yes_or_no(gap.removeprefix("whether ")) if gap.startswith("whether ") else sentence_case(f"{gap}?")
    )


def _yes_or_no(clause: str) -> str:
    """
    >>> _yes_or_no("it uses SCRAM")
    'It uses SCRAM: yes or no?'
    """
    return f"{sentence_case(clause)}: yes or no?"


def library_question(client: ClientVerdict, application: Application) -> str:
    """For the owner of an unidentified client: of an application whose other clients have a change, whether it is as they are."""
    known = sorted(
        {
            (other.identified_as or "").removeprefix("probably ")
            for other in application.clients
            if other.change and not other.is_unidentified
        }
        - {""}
    )
    if not known:
        return client.owner_question or ""
    return f"Is it {either(known)}, as other clients of this application: yes or no? If no, which library and version?"


def own_gaps(application: Application) -> tuple[str, ...]:
    """What is not known of an application, without what is asked once for the cluster."""
    findings = _by_gap(application)
    return tuple(
        gap for gap in application.missing if gap not in findings or not _is_of_operators(findings[gap])
    )


def _by_gap(application: Application) -> dict[str, Finding]:
    """The findings behind what is not known, by its words (compatibility/explanations.py)."""
    return {
        f"whether {finding.condition}; if so: {finding.explanation}"
        + (f"; settled by {finding.settled_by}" if finding.settled_by else ""): finding
        for finding in _unknown(application)
    }


def _unknown(application: Application) -> Iterator[Finding]:
    """Findings whose condition is not known."""
    for client in application.clients:
        yield from (finding for finding in client.findings if finding.condition_met == "unknown")


def _is_of_the_owner(finding: Finding) -> bool:
    """What nothing settles only happens or does not, except which library it is."""
    can_be_known = finding.settled_by or (finding.condition or "").startswith("it is ")
    return bool(can_be_known) and not _is_of_operators(finding)


def _is_of_operators(finding: Finding) -> bool:
    parts = (finding.settled_by or "").split("; ")
    return all(part in SETTLED_BY_OPERATORS for part in parts)
