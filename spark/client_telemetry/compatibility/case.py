"""One client and one upgrade: what the rules look at."""

from collections.abc import Mapping
from dataclasses import dataclass

from client_telemetry.compatibility import apis, client_ranges, roles, served, software
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, versions_in_use
from client_telemetry.compatibility.served import BrokerApi, Versions
from client_telemetry.compatibility.software import Identity


@dataclass(frozen=True)
class Case:
    evidence: ClientEvidence
    source: str
    """The release that the brokers run, exact."""
    target: str
    """The release that they are to run, exact."""
    uses: Mapping[int, list[ApiUse]]
    """API key -> versions in use."""
    identity: Identity | None
    seen_roles: tuple[str, ...]
    roles: tuple[str, ...]
    """The seen ones; where none was seen, those that a client of a known library is assumed to have."""
    contradiction: str
    """Why the declared software does not explain what was seen; empty when it does."""

    @classmethod
    def of(cls, evidence: ClientEvidence, source: str, target: str) -> "Case":
        uses, identity = versions_in_use(evidence), software.identify(evidence)
        seen = roles.seen_in(uses)
        assumed = roles.ASSUMED if identity else ()
        return cls(
            evidence, source, target, uses, identity, seen, seen or assumed, _contradiction(identity, uses)
        )

    @property
    def dropped(self) -> frozenset[int]:
        """APIs of which the target refuses versions that the source serves: the only ones that can hurt."""
        return served.dropped(self.source, self.target)

    def target_api(self, key: int) -> BrokerApi | None:
        return served.by(self.target).get(key)

    def source_api(self, key: int) -> BrokerApi | None:
        return served.by(self.source).get(key)

    def declared(self, key: int) -> Versions | None:
        """The versions of an API that name and version tell; None where they tell none."""
        return None if self.contradiction else _declared(self.identity, key)

    def never_used(self, key: int) -> bool:
        """Whether a library that is known API by API has no such request at all, in no role that was seen."""
        identity = self.identity
        return (
            not self.seen_roles
            and identity is not None
            and identity.version is not None
            and identity.version_decides
            and client_ranges.covers(identity.library, identity.version)
            and _declared(identity, key) is None
        )


def _declared(identity: Identity | None, key: int) -> Versions | None:
    if identity is None or identity.version is None or not identity.version_decides:
        return None
    found = client_ranges.of(identity.library, identity.version, key)
    return found.versions if found else None


def _contradiction(identity: Identity | None, uses: Mapping[int, list[ApiUse]]) -> str:
    """A request that the declared library and version cannot send: then its ranges say nothing of this client.

    Applications may declare any name (client.software.name of librdkafka), and proxies speak for others.
    """
    for key, of_api in uses.items():
        declared = _declared(identity, key) if key != apis.API_VERSIONS else None
        for use in of_api:
            if declared and not declared.min <= use.version <= declared.max:
                newer = identity is not None and client_ranges.is_newer_than_known(identity)
                if use.version < declared.min or not newer:
                    text = identity.text if identity else ""
                    return f"it sends {apis.name(key)} {use.version}, which {text} cannot ({declared})"
    return ""
