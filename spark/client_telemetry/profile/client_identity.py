"""What a client's strings and requests reveal about it: masked ids, family, owner, library, roles. Used by clients.py:
Python decides for each client, so that masks, rules and knowledge are those of the commands that try them.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TypedDict

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, StructField, StructType

from client_telemetry import knowledge
from client_telemetry.compatibility import fingerprints, identification
from client_telemetry.compatibility.evidence import ApiUse
from client_telemetry.identity.client_families import family
from client_telemetry.identity.kip190 import jmx_sanitize, sanitize
from client_telemetry.identity.owners import OwnerRule, first_match
from client_telemetry.knowledge import apis, broker_guess, client_versions, kip511, releases, roles, software
from client_telemetry.pipeline.queries import Work
from client_telemetry.profile.related_clients import Asked
from client_telemetry.tables.clients import APPLICATION, CLIENTS
from client_telemetry.tables.table import BOOLEAN, INT, STRING, STRINGS, struct

_OF_CLIENTS = {column.name: column.kind for column in CLIENTS.columns}


def fields(*names: str, **others: DataType) -> list[StructField]:
    """Columns of `clients` by their names, and others."""
    return [
        StructField(name, kind)
        for name, kind in ({name: _OF_CLIENTS[name] for name in names} | others).items()
    ]


ADDED = StructType(
    fields(
        *("client_id_sanitized", "client_id_jmx", "client_family", "family_masks"),
        *("owner", "owner_contact", "owner_rule"),
        *("library", "library_version", "binding", "identified_as", "library_version_numbers"),
        *("looks_like", "looks_like_because", "roles", "request_versions"),
        default_id_of=STRING,
        could_be=STRINGS,
    )
)
"""`default_id_of` and `could_be` are not stored: the library whose default the client id is, and the libraries that can
have sent an unnamed client's requests.
"""

_EVIDENCE = (
    "principal",
    "client_id",
    "group_ids",
    "client_addresses",
    "client_software_name",
    "client_software_version",
    "answered",
    "api_uses",
)


OF_RELATIVES = ("related", *(column.name for column in APPLICATION), "cluster_name")
"""Columns that `applications_of` (clients.py) adds."""
_COMPUTED_LAST = ("addresses", "address_sample", "flags")
"""Those that clients.py computes of all the others."""
_KNOWN = StructType(
    fields(
        *(name for name in _OF_CLIENTS if name not in {*ADDED.names, *OF_RELATIVES, *_COMPUTED_LAST}),
        client_addresses=STRINGS,
        name_refused=BOOLEAN,
        crowded_address=BOOLEAN,
        answered=ArrayType(struct(api_key=INT, version=INT, releases=STRINGS)),
    )
)
"""What connections and sessions tell of a client (clients.py)."""
WITH_IDENTITY = to_arrow_schema(StructType([*_KNOWN.fields, *ADDED.fields]))


def identifier(rules: tuple[OwnerRule, ...]) -> Work:
    """Adds the columns of ADDED."""
    own = knowledge.in_use()

    def identify(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        knowledge.use(own)
        for batch in batches:
            clients = zip(*(batch.column(name).to_pylist() for name in _EVIDENCE), strict=True)
            identities = [_identity(rules, **dict(zip(_EVIDENCE, client, strict=True))) for client in clients]
            columns = [batch.column(name) for name in _KNOWN.names]
            columns += [
                pa.array([row[name] for row in identities], WITH_IDENTITY.field(name).type)
                for name in ADDED.names
            ]
            rows = pa.Table.from_arrays(columns, WITH_IDENTITY.names).cast(WITH_IDENTITY)
            yield from rows.to_batches()

    return identify


class Answered(TypedDict):
    """An element of `answered`: an API that brokers of these releases answered to."""

    api_key: int
    version: int
    releases: list[str]


def _identity(
    rules: tuple[OwnerRule, ...],
    principal: str | None,
    client_id: str | None,
    group_ids: list[str],
    client_addresses: list[str],
    client_software_name: str | None,
    client_software_version: str | None,
    answered: Sequence[Answered] | None,
    api_uses: Sequence[Asked],
) -> dict[str, object]:
    """One client's values of ADDED."""
    rule = first_match(rules, principal, client_id, group_ids, client_addresses)
    masked = None if client_id is None else family(client_id)
    release, uses = _uses_on_one_release(answered or ())
    name = client_software_name if kip511.is_known(client_software_name) else ""
    declared = software.identify_name(name, client_software_version or "") if name else None
    guess = identification.of(client_id, uses, release) if release and not declared else None
    return {
        "client_id_sanitized": None if client_id is None else sanitize(client_id),
        "client_id_jmx": None if client_id is None else jmx_sanitize(client_id),
        "client_family": masked and masked.text,
        "family_masks": list(masked.masks) if masked else [],
        "owner": rule and rule.owner,
        "owner_contact": rule and rule.contact,
        "owner_rule": rule and rule.name,
        "library": declared and declared.library,
        "library_version": client_versions.text(declared.version) if declared and declared.version else None,
        "library_version_numbers": list(declared.version) if declared and declared.version else None,
        "binding": (declared and declared.binding) or None,
        "identified_as": declared and declared.text,
        "looks_like": guess and guess.text,
        "looks_like_because": list(guess.reasons) if guess else [],
        "roles": sorted(roles.seen_in({use["api_key"] for use in answered or ()})),
        "default_id_of": fingerprints.by_client_id(client_id)[0],
        "could_be": sorted(fingerprints.libraries_that_explain(uses, release))
        if release and not name
        else [],
        "request_versions": [f"{apis.name(use['api_key'])} v{use['version']}" for use in api_uses],
    }


def _uses_on_one_release(answered: Sequence[Answered]) -> tuple[str | None, dict[int, list[ApiUse]]]:
    """The release on which most APIs were used (the oldest of several), among the known releases of the brokers that
    the client talked to, and the uses there: what a library chooses depends on the release.
    """
    on: dict[str, dict[int, list[ApiUse]]] = {}
    for use in answered:
        for release in filter(None, map(broker_guess.oldest_release, use["releases"])):
            if use["version"] not in (each.version for each in on.get(release, {}).get(use["api_key"], ())):
                uses = on.setdefault(release, {}).setdefault(use["api_key"], [])
                uses.append(ApiUse(use["api_key"], use["version"]))
    if not on:
        return None, {}
    release = min(on, key=lambda release: (-len(on[release]), releases.parse(release)))
    return release, {key: sorted(of_api) for key, of_api in on[release].items()}
