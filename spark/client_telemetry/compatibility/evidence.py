"""What is known about one client: the input of the verdict engine.

Only connections to brokers that run the from-release are evidence. Nothing here is looked up or guessed.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import apis, kip511, software
from client_telemetry.knowledge.logins import Login, mechanisms_in, possible_mechanisms


class UnreadableApiUses(ValueError):
    """A text of API uses that is not of the form `Produce:3-7 Fetch:4,11`."""


class ApiUse(NamedTuple):
    """Requests of one API in one version. Times are microseconds since 1970 by the broker's clock."""

    api_key: int
    version: int
    requests: int = 1
    """Requests that the broker answered. Refused ones are in `rejected`: they do not prove that anything works."""
    rejected: int = 0
    first_seen: int | None = None
    last_seen: int | None = None
    often: bool | None = None
    """Whether it was sent continually rather than at an occasional event; None = decided by counts and times."""

    @property
    def is_frequent(self) -> bool:
        """At least ten times and once a minute, over half a minute or more; fifty times if no times are known."""
        if self.often is not None:
            return self.often
        count = self.requests + self.rejected
        if self.first_seen is None or self.last_seen is None:
            return count >= 50
        seconds = (self.last_seen - self.first_seen) / 1e6
        return count >= 10 and seconds >= 30 and count * 60 >= seconds


Uses = Mapping[int, list[ApiUse]]
"""API key -> its uses, lowest version first."""
Requests = tuple[tuple[int, tuple[int, ...]], ...]
"""API keys, sorted, with the versions in which each was used."""


def requests_of(uses: Uses) -> Requests:
    return tuple(sorted((key, tuple(use.version for use in of_api)) for key, of_api in uses.items()))


class ApiError(NamedTuple):
    """Answers of one API in one version in which nothing succeeded. They count in `ApiUse.requests`, too."""

    api_key: int
    version: int
    code: int
    requests: int = 1


class FailedApi(NamedTuple):
    """An API whose requests got no answer but errors; `code`: the most frequent one."""

    api_key: int
    code: int


@dataclass(frozen=True)
class ClientEvidence:
    client_software_name: str | None = None
    """As the broker registered it (KIP-511); None, empty and `unknown` all mean: not declared."""
    client_software_version: str | None = None
    client_id: str | None = None
    api_uses: tuple[ApiUse, ...] = ()
    sasl_mechanism: str | None = None
    """The mechanism that it logs in with; None = unknown."""
    security_protocol: str | None = None
    """PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL; None = unknown."""
    subscriptions: tuple[str, ...] | None = None
    """Metric prefixes of the KIP-714 subscriptions that match this client; () = none matches, None = unknown."""

    also_declared: tuple[tuple[str, str], ...] = ()
    """Names and versions that other clients with the same principal and client id declared in the same window:
    some libraries name only a part of their connections."""

    offered_sasl_mechanisms: tuple[str, ...] | None = None
    """What its listeners offer (sasl.enabled.mechanisms); None = unknown."""
    principal_has_scram: bool | None = None
    """Whether the cluster has SCRAM credentials for its principal (DescribeUserScramCredentials); None = unknown."""
    uses_elsewhere: tuple[tuple[str, ApiUse], ...] = ()
    """(exact release, requests) that brokers of other releases answered: no evidence of what the source accepts, but of
    what the client sends."""
    product: str | None = None
    """Product behind its client id, where that id itself is left out (product_client_ids.csv), or as a person says it
    (products.csv)."""
    other_logins: tuple[Login, ...] = ()
    """How connections log in that do not log in as `security_protocol`, `sasl_mechanism` and `offered_sasl_mechanisms` say,
    unknown ones included."""
    source_features: tuple[tuple[str, int], ...] | None = None
    """Features and levels that are finalized on the source, as its brokers report them: one that is missing has level 0. None =
    not known."""
    failed_apis: tuple[FailedApi, ...] = ()
    """APIs that were answered with errors only (failed_apis.py); () also if the source does not know answers."""
    written: software.WrittenLibrary | None = None
    """Its library by what is written, for a client that no broker has seen; None for one that was seen."""

    @property
    def declares_software(self) -> bool:
        return kip511.is_known(self.client_software_name)

    @property
    def logins(self) -> tuple[Login, ...]:
        """How its connections log in, each way once."""
        own = Login(self.security_protocol, self.sasl_mechanism, self.offered_sasl_mechanisms)
        return (own, *self.other_logins)

    @cached_property
    def possible_mechanisms(self) -> tuple[frozenset[str] | None, ...]:
        """Of each of `logins`, the SASL mechanisms that it may be; empty if it does not use SASL, None if it could be any."""
        known = frozenset[str]().union(*(mechanisms_in(login.sasl_mechanism) for login in self.logins))
        return tuple(possible_mechanisms(login, self.principal_has_scram, known) for login in self.logins)


def declared_library(evidence: ClientEvidence) -> software.Identity | None:
    """The library behind the declared software, or the written one; None if there is none or the name is unknown."""
    if evidence.written is not None:
        return software.identify_written(evidence.written)
    if not evidence.declares_software:
        return None
    return software.identify_name(evidence.client_software_name or "", evidence.client_software_version or "")


def versions_in_use(evidence: ClientEvidence) -> dict[int, list[ApiUse]]:
    """API key -> its uses that the broker answered, lowest version first.

    A request that was always refused (error 35 to ApiVersions: the client is newer than the broker) does not count as a
    version in use.
    """
    uses_by_key: dict[int, list[ApiUse]] = {}
    for use in sorted((ApiUse(*use) for use in evidence.api_uses), key=lambda use: use[:2]):
        if use.requests > 0:
            uses_by_key.setdefault(use.api_key, []).append(use)
    return uses_by_key


def parse_api_uses(text: str) -> tuple[ApiUse, ...]:
    """`Produce:3-7 Fetch:4,11x120 11:5` -> one use per API and version.

    API as Kafka's name, enum name or key; versions as ranges or lists; `x120` is how many requests (default
    1). A range stands for every version in it.
    """
    uses: dict[tuple[int, int], ApiUse] = {}
    for word in text.replace(";", " ").split():
        api_text, colon, versions_text = word.rpartition(":")
        if not colon:
            raise UnreadableApiUses(f"{word!r} is not API:versions, like Produce:3-7")
        try:
            key = apis.find(api_text).key
        except apis.UnknownApi as unknown:
            raise UnreadableApiUses(str(unknown)) from unknown
        for part in versions_text.split(","):
            match = re.fullmatch(r"(\d{1,3})(?:[-–](\d{1,3}))?(?:x(\d{1,18}))?", part)
            if not match or int(match[2] or match[1]) < int(match[1]):
                raise UnreadableApiUses(f"{part!r} in {word!r} is not a version or range of versions")
            for version in range(int(match[1]), int(match[2] or match[1]) + 1):
                before = uses.get((key, version), ApiUse(key, version, 0))
                uses[key, version] = before._replace(requests=before.requests + int(match[3] or 1))
    return tuple(sorted(uses.values()))


def format_versions(versions: list[int]) -> str:
    """[3, 4, 5, 7] -> '3–5, 7'."""
    return _format_versions(tuple(versions))


@lru_cache(maxsize=4096)
def _format_versions(versions: tuple[int, ...]) -> str:
    runs: list[list[int]] = []
    for version in sorted(set(versions)):
        if runs and version == runs[-1][1] + 1:
            runs[-1][1] = version
        else:
            runs.append([version, version])
    return ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in runs)


def earliest(uses: Iterable[ApiUse]) -> int | None:
    return min((use.first_seen for use in uses if use.first_seen is not None), default=None)


def latest(uses: Iterable[ApiUse]) -> int | None:
    return max((use.last_seen for use in uses if use.last_seen is not None), default=None)
