"""The words of a verdict: what a client gets told, why, how surely and when."""

from dataclasses import dataclass, field

BREAKS = "breaks"
INSUFFICIENT_EVIDENCE = "insufficient_evidence"
DEGRADES = "degrades"
UNSUPPORTED = "unsupported"
SAFE = "safe"
PRECEDENCE = (BREAKS, INSUFFICIENT_EVIDENCE, DEGRADES, UNSUPPORTED, SAFE)
"""The first of these that any deciding finding has is the client's verdict."""

OBSERVED, DECLARED, INFERRED, NONE = "observed", "declared", "inferred", "none"
CONFIDENCES = (OBSERVED, DECLARED, INFERRED, NONE)
"""Surest first."""

AT_ONCE, LATENT = "at_once", "latent"

YES, NO, CONDITION_UNKNOWN = "yes", "no", "unknown"


@dataclass(frozen=True)
class Finding:
    """One reason, with evidence, why a client is or is not affected."""

    rule_id: str
    verdict: str
    confidence: str
    explanation: str
    """Plain words that a person can act on."""
    source: str
    """Where the rule comes from: a KIP, an issue, a Kafka class, a file of the knowledge base."""
    when: str | None = None
    """at_once or latent; None where nothing happens."""
    trigger: str = ""
    """The event that a latent finding waits for."""
    condition: str = ""
    """What else must be true for it, empty for an unconditional finding."""
    condition_met: str | None = None
    """yes, no, unknown; None without a condition. Unknown and no never decide the verdict."""
    api_key: int | None = None
    api_name: str = ""
    versions: str = ""
    """Request versions that the finding is about, as text ('0', '3–7')."""
    requests: int = 0
    """Answered requests behind it; 0 where nothing was observed."""
    first_seen: int | None = None
    """Microseconds since 1970, broker clock."""
    last_seen: int | None = None
    fix: str = ""

    @property
    def decides(self) -> bool:
        return self.condition_met in (None, YES)


@dataclass(frozen=True)
class ClientVerdict:
    verdict: str
    confidence: str
    when: str | None
    roles: tuple[str, ...]
    findings: tuple[Finding, ...]
    explanation: str
    fix: str
    missing: tuple[str, ...] = field(default=())
    """What is not known, each with what would settle it."""
    identified_as: str = ""
    """Library and version as resolved; empty where the client told nothing that is known."""


@dataclass(frozen=True)
class Outlook:
    """What happens to a client at another point of an upgrade: on the way back, or while brokers differ."""

    verdict: str
    confidence: str
    explanation: str
    when: str | None
    """at_once or latent; None where nothing happens."""
