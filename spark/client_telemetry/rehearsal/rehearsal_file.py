"""What `rehearsal.json` says of a report (client_telemetry.formats.trial_file reads it again)."""

import datetime as dt
from collections.abc import Mapping, Sequence

from client_telemetry.formats import trial_file
from client_telemetry.formats.report_file import Application, Report
from client_telemetry.formats.trial_file import SCHEMA_VERSION, Rehearsal
from client_telemetry.formats.trial_file import Application as RehearsedApplication
from client_telemetry.knowledge.vocabulary import KnownBy, Verdict
from client_telemetry.rehearsal import conclusions
from client_telemetry.rehearsal.conclusions import NOT_REHEARSED, REFUSED, WORKS, ClientResult
from client_telemetry.rehearsal.outcomes import Sandbox
from client_telemetry.rehearsal.rehearsing import Alternatives, Outcome
from client_telemetry.rehearsal.subjects import Wanted


def document(
    report: Report,
    target: str,
    sandboxes: Sequence[Sandbox],
    wanted: Sequence[Wanted],
    outcomes: Mapping[Alternatives, Outcome],
) -> Rehearsal:
    """`wanted`: of each client of the report. A rehearsal on another release than the report's contradicts nothing."""
    of_clients = [
        conclusions.of_client(client, each, outcomes)
        for client, each in zip(report["clients"], wanted, strict=True)
    ]
    is_of_target = target == report["question"]["to_release"]
    applications = [
        _application(application, [of_clients[place] for place in application["clients"]], is_of_target)
        for application in report["applications"]
    ]
    known = [
        any(not wanted[place].reason for place in application["clients"])
        for application in report["applications"]
    ]
    return {
        "schema_version": SCHEMA_VERSION,
        "report_id": report["question"]["report_id"],
        "cluster_id": report["question"]["cluster_id"],
        "target": target,
        "ran_on": [sandbox.text for sandbox in sandboxes],
        "rehearsed_at": dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "counts": _counts(applications),
        "with_known_library": _counts(
            [each for each, is_known in zip(applications, known, strict=True) if is_known]
        ),
        "safe": _counts([each for each in applications if each["verdict_outcome"] == Verdict.SAFE]),
        "applications": applications,
        "libraries": [_library(each) for each in sorted(outcomes.values(), key=lambda each: each.subject)],
    }


def _application(
    application: Application, of_clients: Sequence[ClientResult], is_of_target: bool
) -> RehearsedApplication:
    result = conclusions.of_application(of_clients)
    return trial_file.tried(
        application,
        result.outcome,
        result.said,
        known_by=[KnownBy.RULE, *([KnownBy.REHEARSED] if result.outcome != NOT_REHEARSED else [])],
        contradicts=result.contradicts and is_of_target,
        ran=result.ran,
    )


def _counts(applications: Sequence[RehearsedApplication]) -> dict[str, int]:
    return trial_file.counts(applications, (WORKS, REFUSED, NOT_REHEARSED))


def _library(outcome: Outcome) -> dict[str, object]:
    subject = outcome.subject
    return {
        "library": subject.program,
        "version": subject.version,
        "configuration": subject.configuration,
        "mechanism": subject.mechanism,
        "not_run": outcome.not_run,
        "steps": {sandbox.text: steps for sandbox, steps in outcome.steps.items()},
        "control": outcome.control,
    }
