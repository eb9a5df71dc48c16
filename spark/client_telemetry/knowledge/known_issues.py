"""Documented problems of client versions with broker releases that request versions alone do not reveal.

An issue belongs to an upgrade or a rollback if the target is among its broker releases and the source is not: what was
so before is not caused by it.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest

from client_telemetry.formats.target_file import NONCE_FOREIGN, NONCE_TWICE, REFUSED
from client_telemetry.knowledge import (
    DamagedKnowledge,
    apis,
    client_ranges,
    client_versions,
    conditions,
    due,
    features,
    measured_target,
    one_of,
    releases,
    roles,
    rows,
    whole,
)
from client_telemetry.knowledge.conditions import Circumstances, Condition
from client_telemetry.knowledge.vocabulary import Verdict, When

FILE = "known_issues.csv"
ANY_LIBRARY = "*"
"""Stands for any library that was seen to use the issue's API."""
UNKNOWN_LIBRARY = "?"
"""Stands for any library missing from the knowledge base: what brokers refuse at login since some release."""
COLUMNS = (
    "rule_id",
    "library",
    "version_from",
    "version_to",
    "broker_from",
    "broker_to",
    "roles",
    "api_key",
    "versions",
    "condition",
    "condition_test",
    "verdict",
    "when",
    "trigger",
    "explanation",
    "fixed_in",
    "workaround",
    "learned_from_runs",
    "source",
)
NEWEST = client_versions.parse("9999")
"""In version_to: an issue that no version has fixed."""


_NONCES = {
    "librdkafka_scram_nonce": NONCE_TWICE,
    "unknown_library_scram_nonce_twice": NONCE_TWICE,
    "franz_go_scram_nonce": NONCE_FOREIGN,
    "brod_scram_nonce": NONCE_FOREIGN,
    "unknown_library_scram_nonce": NONCE_FOREIGN,
}
"""Issue -> the wrong nonce that its libraries send: what a measured target does with it was tried."""


@dataclass(frozen=True)
class KnownIssue:
    rule_id: str
    library: str
    version_from: tuple[int, ...]
    version_to: tuple[int, ...]
    brokers: frozenset[str]
    roles: frozenset[str]
    """Empty: any role."""
    api_key: int | None
    versions: str
    condition: str
    """In words; empty: unconditional."""
    condition_test: Condition
    verdict: Verdict
    when: When
    trigger: str
    explanation: str
    fixed_in: str
    """Library and version; empty if no version helps."""
    workaround: str
    """What else helps, in words."""
    source: str

    def concerns(
        self,
        library: str,
        oldest: tuple[int, ...],
        newest: tuple[int, ...],
        client_roles: Collection[str],
        target: str,
    ) -> bool:
        """Whether every version of a library from `oldest` to `newest` has this issue with brokers on the target."""
        return (
            self.library in (library, ANY_LIBRARY)
            and self.version_from <= oldest
            and newest <= self.version_to
            and self.is_in(target)
            and (not self.roles or bool(self.roles & set(client_roles)))
        )

    def is_in(self, release: str) -> bool:
        """Whether brokers of a release have it, or those of a measured target may."""
        target = measured_target(release)
        if target is None:
            return release in self.brokers
        if (login := target.scram_nonce.get(_NONCES.get(self.rule_id, ""))) is not None:
            return login == REFUSED
        return not self.brokers.isdisjoint(target.answers_like)

    @property
    def is_about_connecting(self) -> bool:
        """Whether it keeps every client of its versions from connecting, so that no request could show it."""
        return (
            self.verdict == Verdict.BREAKS and self.api_key is None and not self.condition and not self.roles
        )

    def condition_met(self, circumstances: Circumstances) -> str | None:
        """None without a condition; otherwise yes, no, or unknown if the evidence cannot show it."""
        return self.condition_test.met(circumstances) if self.condition else None


@cache
def known() -> tuple[KnownIssue, ...]:
    issues: dict[str, KnownIssue] = {}
    for line, cells in rows(FILE, COLUMNS):
        row = dict(zip(COLUMNS, cells, strict=True))
        _check_words(line, row)
        if row["rule_id"] in issues:
            raise DamagedKnowledge(FILE, line, f"rule {row['rule_id']} occurs twice")
        issue = _issue(line, row)
        if (
            row["library"] == ANY_LIBRARY
            and issue.api_key is None
            and not issue.condition_test.is_about_login
        ):
            raise DamagedKnowledge(
                FILE, line, "an issue of any library has the API that shows it, or is about logging in"
            )
        if row["library"] == UNKNOWN_LIBRARY and not issue.condition_test.is_about_login:
            raise DamagedKnowledge(FILE, line, "an issue of unknown libraries is about logging in")
        issues[issue.rule_id] = issue
    return tuple(issues.values())


def _check_words(line: int, row: Mapping[str, str]) -> None:
    """Columns that have one of some words, and those that must not be empty."""
    for column, allowed in (
        ("verdict", (Verdict.BREAKS, Verdict.DEGRADES, Verdict.UNSUPPORTED)),
        ("when", (When.AT_ONCE, When.LATENT)),
        ("learned_from_runs", ("yes", "no")),
    ):
        one_of(FILE, line, column, row[column], allowed)
    due(FILE, line, rule_id=row["rule_id"])
    if unknown := sorted(set(row["roles"].split()) - set(roles.ROLES)):
        raise DamagedKnowledge(FILE, line, f"roles: {', '.join(unknown)} is none of {', '.join(roles.ROLES)}")
    if row["library"] not in (ANY_LIBRARY, UNKNOWN_LIBRARY) and not client_ranges.named(row["library"]):
        raise DamagedKnowledge(
            FILE,
            line,
            f"library {row['library']} is not in {client_ranges.FILE} or {client_ranges.UNNAMED_FILE}",
        )
    if (row["when"] == When.LATENT) != bool(row["trigger"]):
        raise DamagedKnowledge(FILE, line, "a latent issue has a trigger, one at once has none")
    if not (row["source"] and row["explanation"] and (row["fixed_in"] or row["workaround"])):
        raise DamagedKnowledge(FILE, line, "explanation, fixed_in or workaround, and source are required")


def _issue(line: int, row: Mapping[str, str]) -> KnownIssue:
    try:
        brokers = _brokers(row["broker_from"].split(), row["broker_to"].split())
    except releases.UnusableRelease as error:
        raise DamagedKnowledge(FILE, line, str(error)) from error
    since, until = client_versions.range_of(FILE, line, row["version_from"], row["version_to"])
    if row["fixed_in"]:
        library, _, version = row["fixed_in"].partition(" ")
        client_versions.of_cell(
            FILE, line, f"fixed_in is a library and its version; after {library!r}", version
        )
    key = whole(FILE, line, "api_key", row["api_key"]) if row["api_key"] else None
    for version in row["versions"].split():
        whole(FILE, line, "versions", version)
    if key is not None and key not in apis.by_key():
        raise DamagedKnowledge(FILE, line, f"api {key} is not in {apis.FILE}")
    as_written = (
        *("rule_id", "library", "versions", "condition", "trigger"),
        *("explanation", "fixed_in", "workaround", "source"),
    )
    return KnownIssue(
        **{column: row[column] for column in as_written},
        version_from=since,
        version_to=until,
        brokers=brokers,
        roles=frozenset(row["roles"].split()),
        api_key=key,
        condition_test=_condition(line, row["condition"], row["condition_test"], brokers),
        verdict=Verdict(row["verdict"]),
        when=When(row["when"]),
    )


def _brokers(first: list[str], last: list[str]) -> frozenset[str]:
    """Releases of one or more ranges; the last range may be open."""
    if not first or not len(first) - 1 <= len(last) <= len(first):
        raise releases.UnusableRelease("broker_to has an end for each broker_from, but perhaps the last")
    ranges = zip_longest(first, last, fillvalue="")
    return frozenset[str]().union(*(releases.between(low, high) for low, high in ranges))


def _condition(line: int, words: str, test: str, brokers: frozenset[str]) -> Condition:
    if bool(words) != bool(test.strip()):
        raise DamagedKnowledge(FILE, line, "condition and condition_test go together, or are both empty")
    try:
        condition = conditions.parse(test)
    except conditions.UnreadableCondition as error:
        raise DamagedKnowledge(FILE, line, f"condition_test: {error}") from error
    for feature in condition.features:
        if not any(feature in features.supported().get(release, {}) for release in brokers):
            raise DamagedKnowledge(
                FILE,
                line,
                f"condition_test: no release of broker_from to broker_to has the feature {feature}",
            )
    return condition


@cache
def brought_by(source: str, target: str) -> tuple[KnownIssue, ...]:
    """The issues that brokers on the target have and brokers on the source do not. What a vendor's build lacks comes with
    the move to it, whatever the release.
    """
    return tuple(
        issue
        for issue in known()
        if issue.is_in(target)
        and (not issue.is_in(source) or issue.condition_test.is_about_vendor)
        # What a vendor's build lacks is no question where it was measured.
        and not (issue.condition_test.is_about_vendor and measured_target(target))
    )


@cache
def kept_by(source: str, target: str) -> tuple[KnownIssue, ...]:
    """The issues that brokers of both releases have: an upgrade between them neither causes nor fixes these."""
    return tuple(
        issue
        for issue in known()
        if issue.is_in(target) and issue.is_in(source) and not issue.condition_test.is_about_vendor
    )


@cache
def refused_by(release: str) -> frozenset[int]:
    """The APIs that brokers of a release have and refuse by default, whatever the library: previews."""
    return frozenset(
        issue.api_key
        for issue in known()
        if issue.library == ANY_LIBRARY
        and issue.api_key is not None
        and not (issue.condition or issue.versions)
        and issue.verdict == Verdict.BREAKS
        and issue.when == When.AT_ONCE
        and release in issue.brokers
    )


@cache
def _waiting(target: str) -> tuple[KnownIssue, ...]:
    return tuple(issue for issue in known() if issue.is_in(target) and issue.condition_test.features)


def wait_for_features(libraries: Collection[str], tried: Collection[int], target: str) -> bool:
    """Whether on the target some issue of these libraries, or an issue of any library with an API that was requested
    (`tried`), depends on feature levels.
    """
    return any(
        issue.api_key in tried if issue.library == ANY_LIBRARY else issue.library in libraries
        for issue in _waiting(target)
    )


@cache
def of_library(library: str, target: str) -> tuple[KnownIssue, ...]:
    """The issues that break clients of a library on a target, whatever their version."""
    return tuple(
        issue
        for issue in known()
        if issue.library == library and issue.verdict == Verdict.BREAKS and issue.is_in(target)
    )


@cache
def login_rules() -> frozenset[str]:
    """The issues because of which a client cannot log in, by rule id."""
    return frozenset(issue.rule_id for issue in known() if issue.condition_test.is_about_login)


def versions_of(issue: KnownIssue) -> str:
    """'2.6.0', '0.11.0 to 1.7.0', '4.0.0 and later'."""
    oldest, newest = client_versions.text(issue.version_from), client_versions.text(issue.version_to)
    if issue.version_to >= NEWEST:
        return f"{oldest} and later"
    return oldest if oldest == newest else f"{oldest} to {newest}"
