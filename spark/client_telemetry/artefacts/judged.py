"""The verdict on a client library that is written down: that of the judge for a client that declares it and shows no role.

Where a setting in the code decides (written_configurations.csv: sarama Version, kafka-python api_version), what the code
says counts; where no code was read, a client that could be held back by it is not called safe.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import NamedTuple

from client_telemetry.artefacts.code import CodeSeen, Pin
from client_telemetry.artefacts.found import Judged
from client_telemetry.artefacts.libraries import Client
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.judgement import judge
from client_telemetry.compatibility.verdict import ClientVerdict
from client_telemetry.knowledge import client_ranges, client_versions, due, releases, rows, software
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.conditions import APACHE_KAFKA
from client_telemetry.knowledge.software import WrittenLibrary
from client_telemetry.knowledge.vocabulary import Confidence, Verdict

FILE = "written_configurations.csv"
_OLDEST = "2.1.0"
"""The oldest release whose clients Kafka 4 supports (KIP-896)."""
COLUMNS = ("library", "version_from", "version_to", "configuration", "pinned_by", "safe_from", "source")


class Configuration(NamedTuple):
    """What a library sends unless its setting says otherwise."""

    library: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    configuration: str
    pinned_by: str
    """The setting that pins a protocol version; empty if there is none."""
    safe_from: str
    """Pinned to this release or a later one it works with 4.x as by default; empty if that is not known."""


@cache
def configurations() -> tuple[Configuration, ...]:
    read = []
    for line, (library, since, until, configuration, pinned_by, safe_from, source) in rows(FILE, COLUMNS):
        due(FILE, line, library=library, source=source)
        versions = client_versions.range_of(FILE, line, since, until)
        read.append(Configuration(library, *versions, configuration, pinned_by, safe_from))
    return tuple(read)


@dataclass(frozen=True)
class Upgrade:
    """What is asked: of an upgrade between two exact releases, and of a client of which `seen` is known besides its library."""

    source: str
    target: str
    seen: ClientEvidence
    features: tuple[tuple[str, int], ...]
    vendor: str | None


@cache
def _judge(written: WrittenLibrary, upgrade: Upgrade, mechanism: str | None = None) -> ClientVerdict:
    """Repositories name the same client in many files."""
    evidence = replace(upgrade.seen, written=written)
    if mechanism is not None:
        evidence = replace(evidence, sasl_mechanism=mechanism)
    levels = dict(upgrade.features) or None
    return judge(evidence, upgrade.source, upgrade.target, features=levels, vendor=upgrade.vendor)


def _configuration(library: str, version: tuple[int, ...]) -> Configuration | None:
    of_library = (row for row in configurations() if row.library == library)
    return next((row for row in of_library if row.version_from <= version <= row.version_to), None)


def of(
    client: Client,
    source: str,
    target: str,
    code: CodeSeen,
    seen: ClientEvidence | None = None,
    features: Mapping[str, int] | None = None,
    vendor: str | None = APACHE_KAFKA,
) -> Judged:
    """The verdict for an upgrade between two exact releases. `seen`: what else is known of the client; `features` and `vendor`
    as for `judge`.
    """
    levels = tuple(sorted((features or {}).items()))
    judged = _of(client, Upgrade(source, target, seen or ClientEvidence(), levels, vendor), code)
    if not client.may_differ:
        return judged
    takes = "it runs with, if it does" if client.package.doubt else "the build takes"
    condition = f"which version of {client.library} {takes}"
    if judged.verdict == Verdict.BREAKS:
        condition = "; ".join(filter(None, (judged.condition, condition)))
        return replace(judged, confidence=Confidence.INFERRED, condition=condition)
    return _unsettled(judged, f"{client.text}, and {client.may_differ}. {judged.explanation}", condition)


def _of(client: Client, upgrade: Upgrade, code: CodeSeen) -> Judged:
    if client.written is None:
        return _of_unknown_version(client, upgrade)
    version = client_versions.parse(client.written.version)
    row = _configuration(client.library, version)
    written = client.written._replace(configuration=row.configuration) if row else client.written
    by_default = _judge(written, upgrade)
    if row is None or not row.pinned_by:
        judged = _held_back(client, _judged(client, by_default), code)
        return _with_mechanisms(client, judged, written, upgrade, code)
    pins = [pin for pin in code.pins if pin.library == client.library]
    if pins:
        return _pinned(client, written, row, pins, upgrade)
    judged = _judged(client, by_default)
    if judged.verdict in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE) or client.library in code.libraries:
        return judged
    return _unsettled(
        judged,
        f"Works with {upgrade.target} unless the code pins an old protocol version ({row.pinned_by}), and no code was "
        f"scanned. {judged.explanation}",
        condition=f"whether the code sets {row.pinned_by}; settled by scanning its sources",
    )


def _held_back(client: Client, judged: Judged, code: CodeSeen) -> Judged:
    """A library that speaks the newest protocol unless its code limits it: what it sends at an old limit is not known."""
    limits = [
        pin
        for pin in code.pins
        if pin.library == client.library
        and (pin.release is None or client_versions.parse(pin.release) < client_versions.parse(_OLDEST))
    ]
    if not limits or judged.verdict in (Verdict.BREAKS, Verdict.INSUFFICIENT_EVIDENCE):
        return judged
    limit = limits[0]
    return _unsettled(
        judged,
        f"Its protocol version is limited to {limit.text} in {limit.where}, and what {client.text} sends then is not known.",
        condition="what its code limits it to",
    )


def _with_mechanisms(
    client: Client, judged: Judged, written: WrittenLibrary, upgrade: Upgrade, code: CodeSeen
) -> Judged:
    """A mechanism that is written down can break a client. It keeps none safe: another may be set elsewhere."""
    if judged.verdict == Verdict.BREAKS:
        return judged
    for mechanism, where in code.mechanisms:
        verdict = _judge(written, upgrade, mechanism)
        if verdict.verdict == Verdict.BREAKS:
            worse = _judged(client, verdict)
            return replace(
                worse, explanation=f"sasl.mechanism is {mechanism} in {where}. {worse.explanation}"
            )
    return judged


def _pinned(
    client: Client, written: WrittenLibrary, row: Configuration, pins: list[Pin], upgrade: Upgrade
) -> Judged:
    """The worst that a pin in the code does: which of several is that of this client is not known."""
    default = _judged(client, _judge(written, upgrade))
    unknown = [pin for pin in pins if pin.release is None]
    old = [
        pin
        for pin in pins
        if pin.release
        and (not row.safe_from or client_versions.parse(pin.release) < client_versions.parse(row.safe_from))
    ]
    breaking = []
    for pin in old:
        pinned = _judge(written._replace(pinned_to=exact_release(pin.release or "")), upgrade)
        if pinned.verdict == Verdict.BREAKS:
            breaking.append((pin, pinned))
    if breaking:
        pin, pinned = breaking[0]
        judged = _judged(client, pinned)
        fix = f"raise {row.pinned_by} to {row.safe_from} or later" if row.safe_from else ""
        fix = (
            "; ".join(filter(None, (default.fix if default.verdict == Verdict.BREAKS else "", fix)))
            or judged.fix
        )
        where = f"{row.pinned_by} is {pin.text} in {pin.where}"
        if _is_above_default(pin, row):
            where += f". By default ({row.configuration}) this holds, and what of it is left at {pin.text} is not known: "
            judged = replace(judged, confidence=Confidence.INFERRED, condition=f"what it sends at {pin.text}")
        else:
            where += ". "
        return replace(judged, explanation=where + judged.explanation, fix=fix)
    if default.verdict == Verdict.BREAKS or not (unknown or old):
        return default
    pin = (unknown or old)[0]
    return _unsettled(
        default,
        f"{row.pinned_by} is {pin.text} in {pin.where}, and what {client.text} sends then is not known.",
        condition=f"what {row.pinned_by} is",
    )


def _unsettled(judged: Judged, explanation: str, condition: str) -> Judged:
    """Not safe, for a reason that would settle it."""
    return replace(
        judged,
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        confidence="none",
        when=None,
        explanation=explanation,
        condition=condition,
        rules=(),
        works_again=False,
    )


def _requests_are_known(client: Client) -> bool:
    """Whether the knowledge base has rows for the version: every client asks for Metadata."""
    if client.written is None:
        return False
    version = client_versions.parse(client.written.version)
    identity = software.identify_written(client.written)
    declared = client_ranges.of(client.library, version, ApiKey.METADATA)
    return bool(declared or (identity and client_ranges.of_unnamed(identity, ApiKey.METADATA)))


def _is_above_default(pin: Pin, row: Configuration) -> bool:
    """Whether the code has a library speak a newer protocol than it does by default."""
    default = row.configuration.rpartition(" ")[2]
    return bool(pin.release and default) and client_versions.parse(pin.release or "") > client_versions.parse(
        default
    )


def exact_release(release: str) -> str:
    """The newest known release of a line that a setting names: `0.10.1` and `2.1` are lines; empty if there is none."""
    numbers = releases.parse(release)
    while numbers and numbers[-1] == 0 and len(numbers) > 2:
        numbers = numbers[:-1]
    of_line = [known for known in releases.known() if releases.parse(known)[: len(numbers)] == numbers]
    return of_line[0] if of_line else ""


def _judged(client: Client, verdict: ClientVerdict) -> Judged:
    explanation = verdict.explanation
    if (
        verdict.verdict == Verdict.INSUFFICIENT_EVIDENCE
        and re.match(r"Not known: which version", explanation)
        and not _requests_are_known(client)
    ):
        explanation = (
            f"{client.text} is older than what is known of {client.library}, or its requests are not known."
        )
    if re.match(r"[a-z]+s ", explanation) and not explanation.startswith(f"{client.library} "):
        explanation = f"It {explanation}"
    shared = {field.name: getattr(verdict, field.name) for field in fields(Judged)}
    return Judged(**shared | {"explanation": explanation})


def _of_unknown_version(client: Client, upgrade: Upgrade) -> Judged:
    """Not known, except where no version of the library works with the target."""
    why = f"{client.why_unknown[:1].upper()}{client.why_unknown[1:]}."
    if client.library and client.itself and (worst := _no_version_works(client.library, upgrade)):
        return Judged(
            Verdict.BREAKS,
            f"{why} No version of {client.library} works: {worst.explanation}",
            worst.fix,
            Confidence.INFERRED,
            worst.when,
        )
    return Judged(Verdict.INSUFFICIENT_EVIDENCE, why, condition="its library and version")


@cache
def _no_version_works(library: str, upgrade: Upgrade) -> ClientVerdict | None:
    """The verdict on the newest version if every known one breaks; None if one does not, or the library is not known."""
    versions = sorted(
        {
            version
            for file in (client_ranges.FILE, client_ranges.UNNAMED_FILE)
            for row in client_ranges.read(file)
            if row.library == library
            for version in (row.version_from, row.version_to)
        }
    )
    worst = None
    for version in versions:
        row = _configuration(library, version)
        if row and row.pinned_by:
            return None
        text = client_versions.text(version)
        written = WrittenLibrary(library, text, configuration=row.configuration if row else "")
        worst = _judge(written, upgrade)
        if worst.verdict != Verdict.BREAKS:
            return None
    return worst
