"""Verdicts: the conclusion about a client, with the findings behind it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from client_telemetry.knowledge.vocabulary import Answer, Confidence, Verdict, When

NOT_IDENTIFIED = "library not identified"
"""How `fix` begins if the owner first has to say which library it is."""
ASKED_ONCE = "asked_once"
"""Rule of findings about libraries that keep the versions of their first broker (asked_once.py)."""
PINNED = "if the application pins a protocol version (sarama Version, kafka-python api_version), raise it"
"""What `fix` advises for requests that an application pinned."""


@dataclass(frozen=True)
class Finding:
    """One reason, with evidence, why a client is or is not affected."""

    rule_id: str
    verdict: Verdict
    confidence: Confidence
    explanation: str
    """Plain words that somebody can act on."""
    source: str
    """Where the rule comes from: a KIP, an issue, a Kafka class, a file of the knowledge base."""
    when: When | None = None
    """at_once or latent; None where nothing happens."""
    trigger: str = ""
    """The event that a latent finding waits for."""
    condition: str = ""
    """What else must be true for it, empty for an unconditional finding."""
    condition_met: str | None = None
    """yes, no, unknown; None without a condition. No never decides the verdict; unknown keeps it from being safe
    where `could_be_met`."""
    could_be_met: bool = False
    """The condition is unknown and depends only on what the client is and how it and its brokers are set up today. Of the
    issues of a known version, only those that break a client are weighed so."""
    settled_by: str = ""
    """What would show whether the condition is met."""
    api_key: int | None = None
    api_name: str = ""
    versions: str = ""
    """Request versions that the finding is about, as text ('0', '3–7')."""
    requests: int = 0
    """Requests behind the finding, answered or, if the source already refuses them, refused; 0 if none was observed."""
    first_seen: int | None = None
    """Microseconds since 1970, broker clock."""
    last_seen: int | None = None
    fix: str = ""
    already: bool = False
    """Also true on the source release, and nothing that was seen refutes it."""
    as_before: bool = False
    """It waits for an event on the source release as on the target: not caused by the upgrade."""

    @property
    def decides(self) -> bool:
        return self.condition_met in (None, Answer.YES)


@dataclass(frozen=True)
class Outlook:
    """What happens to a client at another stage of an upgrade: after a rollback, or while brokers run both releases."""

    verdict: Verdict
    confidence: Confidence
    explanation: str
    when: When | None
    """at_once or latent; None where nothing happens."""


@dataclass(frozen=True)
class ClientVerdict:
    verdict: Verdict
    confidence: Confidence
    when: When | None
    roles: tuple[str, ...]
    findings: tuple[Finding, ...]
    explanation: str
    fix: str
    missing: tuple[str, ...] = field(default=())
    """What is unknown, each with what would settle it."""
    identified_as: str = ""
    """Library and version as resolved; empty if the client declared nothing known."""

    already_failing: bool = False
    """On the source release its main job is already refused, or it cannot log in."""
    works_again: bool = False
    """Already failing on the source, but not on the target."""
    as_before: bool = False
    """The verdict rests only on what awaits the client on the source release too."""
    condition: str = ""
    """The unknown conditions that it depends on, and what would settle them; empty if there are none."""
    steps: Mapping[str, Outlook] = field(default_factory=dict)
    """Step (STEPS) -> what happens to the client then. Empty for a rollback: there `judge` answers for the end state."""

    @property
    def outlook(self) -> Outlook:
        return Outlook(self.verdict, self.confidence, self.explanation, self.when)

    @property
    def rules(self) -> tuple[str, ...]:
        """Those of the deciding findings that have the client's verdict."""
        deciding = (each for each in self.findings if each.decides and each.verdict == self.verdict)
        return tuple(dict.fromkeys(finding.rule_id for finding in deciding))
