"""Documented troubles of client versions with broker releases, which request versions alone do not tell.

An issue belongs to an upgrade or a rollback when the target is among its broker releases and the source is not: what was
already so before is not its doing.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache

from client_telemetry.compatibility import (
    apis,
    client_ranges,
    client_versions,
    releases,
    roles,
    telemetry_metrics,
)
from client_telemetry.compatibility.evidence import ClientEvidence
from client_telemetry.compatibility.knowledge import DamagedKnowledge, rows, whole
from client_telemetry.compatibility.verdict import (
    AT_ONCE,
    BREAKS,
    CONDITION_UNKNOWN,
    DEGRADES,
    LATENT,
    NO,
    UNSUPPORTED,
    YES,
)

FILE = "known_issues.csv"
ANY_LIBRARY = "*"
"""Stands for whatever library was seen to use the issue's API."""
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
"""Stands in version_to for an issue that no version has left behind."""
CONDITION_TESTS = ("", "sasl_mechanism=GSSAPI", "subscriptions_match_none")
"""What can be asked of the evidence; an empty one is a condition that no evidence shows."""


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
    condition_test: str
    verdict: str
    when: str
    trigger: str
    explanation: str
    fixed_in: str
    """Library and version; empty where no version helps."""
    workaround: str
    """What else helps, in words."""
    source: str

    def concerns(
        self,
        library: str,
        oldest: tuple[int, ...],
        newest: tuple[int, ...],
        client_roles: Collection[str],
        source: str,
        target: str,
    ) -> bool:
        """Whether an upgrade brings this issue to every version of a library from `oldest` to `newest`."""
        return (
            self.library in (library, ANY_LIBRARY)
            and self.version_from <= oldest
            and newest <= self.version_to
            and target in self.brokers
            and source not in self.brokers
            and (not self.roles or bool(self.roles & set(client_roles)))
        )

    def condition_met(self, evidence: ClientEvidence, client_roles: Collection[str]) -> str | None:
        """None without a condition; otherwise yes, no, or unknown where the evidence cannot show it."""
        if not self.condition:
            return None
        if self.condition_test == "subscriptions_match_none" and evidence.subscriptions is not None:
            none_matches = telemetry_metrics.subscription_matches_none(evidence.subscriptions, client_roles)
            return {True: YES, False: NO, None: CONDITION_UNKNOWN}[none_matches]
        if self.condition_test.startswith("sasl_mechanism="):
            wanted = self.condition_test.partition("=")[2]
            if evidence.sasl_mechanism:
                return YES if evidence.sasl_mechanism.upper() == wanted else NO
            if evidence.security_protocol and not evidence.security_protocol.upper().startswith("SASL"):
                return NO
        return CONDITION_UNKNOWN


@cache
def known() -> tuple[KnownIssue, ...]:
    found: list[KnownIssue] = []
    for line, cells in rows(FILE, COLUMNS):
        row = dict(zip(COLUMNS, cells, strict=True))
        for column, allowed in (
            ("verdict", (BREAKS, DEGRADES, UNSUPPORTED)),
            ("when", (AT_ONCE, LATENT)),
            ("condition_test", CONDITION_TESTS),
            ("learned_from_runs", ("yes", "no")),
        ):
            if row[column] not in allowed:
                raise DamagedKnowledge(
                    FILE, line, f"{column} {row[column]!r} is none of {', '.join(allowed)}"
                )
        of_roles = frozenset(row["roles"].split())
        if of_roles - set(roles.ROLES):
            raise DamagedKnowledge(FILE, line, f"roles {row['roles']!r} has one that is not known")
        if row["library"] != ANY_LIBRARY and not client_ranges.known(row["library"]):
            raise DamagedKnowledge(FILE, line, f"library {row['library']} is not in {client_ranges.FILE}")
        if (row["when"] == LATENT) != bool(row["trigger"]):
            raise DamagedKnowledge(FILE, line, "a latent issue has a trigger, one at once has none")
        if row["library"] == ANY_LIBRARY and not row["api_key"]:
            raise DamagedKnowledge(FILE, line, "an issue of any library has the API that shows it")
        if any(each.rule_id == row["rule_id"] for each in found):
            raise DamagedKnowledge(FILE, line, f"rule {row['rule_id']} occurs twice")
        if not (row["source"] and row["explanation"] and (row["fixed_in"] or row["workaround"])):
            raise DamagedKnowledge(FILE, line, "explanation, fixed_in or workaround, and source are due")
        try:
            brokers = releases.between(row["broker_from"], row["broker_to"])
        except releases.UnusableRelease as error:
            raise DamagedKnowledge(FILE, line, str(error)) from error
        key = whole(FILE, line, "api_key", row["api_key"]) if row["api_key"] else None
        for version in row["versions"].split():
            whole(FILE, line, "versions", version)
        if key is not None and key not in apis.by_key():
            raise DamagedKnowledge(FILE, line, f"api {key} is not in {apis.FILE}")
        found.append(
            KnownIssue(
                rule_id=row["rule_id"],
                library=row["library"],
                version_from=client_versions.parse(row["version_from"]),
                version_to=client_versions.parse(row["version_to"]),
                brokers=brokers,
                roles=of_roles,
                api_key=key,
                versions=row["versions"],
                condition=row["condition"],
                condition_test=row["condition_test"],
                verdict=row["verdict"],
                when=row["when"],
                trigger=row["trigger"],
                explanation=row["explanation"],
                fixed_in=row["fixed_in"],
                workaround=row["workaround"],
                source=row["source"],
            )
        )
    return tuple(found)


@cache
def brought_by(source: str, target: str) -> tuple[KnownIssue, ...]:
    """The issues that brokers on the target have and brokers on the source have not."""
    return tuple(issue for issue in known() if target in issue.brokers and source not in issue.brokers)


def versions_of(issue: KnownIssue) -> str:
    """'2.6.0', '0.11.0 to 1.7.0', '4.0.0 and later'."""
    oldest, newest = client_versions.text(issue.version_from), client_versions.text(issue.version_to)
    if issue.version_to >= NEWEST:
        return f"{oldest} and later"
    return oldest if oldest == newest else f"{oldest} to {newest}"
