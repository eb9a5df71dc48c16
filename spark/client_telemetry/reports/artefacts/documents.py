"""The result of a scan as data: JSON, and SARIF 2.1.0 for code review."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from urllib.parse import quote

from client_telemetry.artefacts.found import Found, Result
from client_telemetry.artefacts.libraries import Client
from client_telemetry.artefacts.packages import Place
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import without_invisible

FORMAT = 1
_HOME = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: dict[str, str] = {
    Verdict.BREAKS: "error",
    Verdict.INSUFFICIENT_EVIDENCE: "note",
    Verdict.DEGRADES: "warning",
    Verdict.UNSUPPORTED: "warning",
    Verdict.SAFE: "none",
}
_MEANINGS: dict[str, str] = {
    Verdict.BREAKS: "The client stops working when the brokers are upgraded.",
    Verdict.INSUFFICIENT_EVIDENCE: "What is written does not say whether the client keeps working.",
    Verdict.DEGRADES: "The client keeps working, with less than before.",
    Verdict.UNSUPPORTED: "The client works, but Kafka no longer supports its version.",
    Verdict.SAFE: "The client keeps working.",
}


def as_json(result: Result, source: str, target: str, decision: str) -> dict[str, object]:
    """The names of packages and files as they are written: whoever shows them has to escape them."""
    return {
        "format": FORMAT,
        "from": source,
        "to": target,
        "decision": decision,
        "files_read": result.read,
        "clients": [_client(found) for found in result.found],
        "development": [
            {**_named(each.client, each.place), "said_by": each.said_by} for each in result.development
        ],
        "settings": [setting._asdict() for setting in result.settings],
        "images_not_read": [image._asdict() for image in result.images],
        "not_read": [{"file": unread.file, "reason": unread.reason} for unread in result.unread],
    }


def _named(client: Client, place: Place) -> dict[str, object]:
    written = client.written
    return {
        "client": client.text,
        "library": client.library or None,
        "library_version": written.version if written else None,
        "package_type": client.package.type,
        "package": client.package.name,
        "package_version": client.package.version,
        "file": place.file,
        "line": place.line,
        "inside": place.inside or None,
    }


def _client(found: Found) -> dict[str, object]:
    judged = found.judged
    return {
        "verdict": judged.verdict,
        "confidence": judged.confidence,
        "when": judged.when,
        **_named(found.client, found.place),
        "explanation": judged.explanation,
        "condition": judged.condition,
        "fix": judged.fix,
        "diff": found.diff or None,
        "vulnerabilities": [each.id for each in found.vulnerabilities],
        "owner": found.owner or None,
        "owner_source": found.owner_source or None,
    }


def as_sarif(result: Result, version: str) -> dict[str, object]:
    """Safe clients are left out: code review shows what needs a person."""
    shown = [found for found in result.found if found.judged.verdict != Verdict.SAFE]
    rules = list(dict.fromkeys(found.judged.verdict for found in shown))
    return {
        "$schema": _HOME,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "client-telemetry",
                        "version": version,
                        "rules": [
                            {"id": f"kafka-client-{rule}", "shortDescription": {"text": _MEANINGS[rule]}}
                            for rule in rules
                        ],
                    }
                },
                "invocations": [
                    {"executionSuccessful": True, "toolExecutionNotifications": list(_notifications(result))}
                ],
                "results": [_result(found, rules.index(found.judged.verdict)) for found in shown],
            }
        ],
    }


def _notifications(result: Result) -> Iterator[dict[str, object]]:
    for unread in result.unread:
        yield {
            "level": "warning",
            "message": {"text": f"not read: {_plain(unread.reason)}"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": _uri(unread.file)}}}],
        }


def _result(found: Found, rule: int) -> dict[str, object]:
    judged = found.judged
    fix = f" Fix: {judged.fix}." if judged.fix else ""
    owner = f" Owner: {found.owner}." if found.owner else ""
    inside = f" ({found.place.inside})" if found.place.inside else ""
    location: dict[str, object] = {"artifactLocation": {"uri": _uri(found.place.file)}}
    if found.place.line:
        location["region"] = {"startLine": found.place.line}
    return {
        "ruleId": f"kafka-client-{judged.verdict}",
        "ruleIndex": rule,
        "level": _LEVELS[judged.verdict],
        "message": {"text": _plain(f"{found.client.text}{inside}: {judged.explanation}{fix}{owner}")},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {
            "client/v1": f"{found.place.file}:{found.place.inside}:{found.client.package.name}"
        },
    }


def _uri(file: str) -> str:
    """Relative to the folder that the scan was started in, as uploads to code review expect it."""
    return quote(PurePosixPath(file).as_posix().removeprefix("./"))


def _plain(text: str) -> str:
    """SARIF messages may have links in square brackets: names of strangers make none."""
    return without_invisible(text).replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
