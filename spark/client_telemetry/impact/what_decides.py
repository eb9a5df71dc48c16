"""The part of a client's evidence that a verdict depends on, except its client id, as a text: clients with the same
text are alike and are judged once. It leaves out when, and rounds how often to a power of ten.
"""

import datetime as dt
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from client_telemetry.compatibility.evidence import ApiError, ApiUse, FailedApi
from client_telemetry.compatibility.failed_apis import failed_apis
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.logins import Login, settled
from client_telemetry.workers.columns import Vector, integers, lengths, micros_of, starts

_POWERS = 10 ** np.arange(19)
Software = tuple[str | None, str | None]


class Mechanisms(NamedTuple):
    """`offered`: listener -> the SASL mechanisms that it offers. `scram_users`: principals with SCRAM credentials; None
    = unknown.
    """

    offered: Mapping[str, tuple[str, ...]]
    scram_users: frozenset[str] | None = None


def alike(clients: pa.Table, mechanisms: Mechanisms) -> pa.ChunkedArray:
    """The JSON text of each client. `clients`: rows of evidence (client_evidence.py), which must include all clients
    that share a principal and client id.
    """
    texts: dict[_Decides, str] = {}
    scram_users = mechanisms.scram_users
    principals = clients["principal"].to_pylist()
    client_texts = []
    for decides in map(
        _Decides,
        clients["client_software_name"].to_pylist(),
        clients["client_software_version"].to_pylist(),
        _uses(clients["uses"].combine_chunks()),
        [_logins(logins or (), mechanisms.offered) for logins in _tuples(clients["logins"].combine_chunks())],
        [
            None if scram_users is None or (scram_users and principal is None) else principal in scram_users
            for principal in principals
        ],
        _also_declared(clients),
        _tuples(clients["uses_elsewhere"].combine_chunks()),
        _failed_apis(clients),
    ):
        if decides not in texts:
            texts[decides] = json.dumps(decides.values())
        client_texts.append(texts[decides])
    return pa.chunked_array([pa.array(client_texts, pa.string())])


class _Decides(NamedTuple):
    name: str | None
    version: str | None
    uses: bytes
    """int64[n, 4]: API, version, and powers of ten of answered and rejected requests."""
    logins: tuple[Login, ...]
    has_scram: bool | None
    also_declared: tuple[Software, ...]
    elsewhere: tuple[tuple[object, ...], ...] | None
    failed_apis: tuple[FailedApi, ...]

    def values(self) -> dict[str, object]:
        names = ("release", "api_key", "version")
        elsewhere = self.elsewhere
        return {
            "client_software_name": self.name,
            "client_software_version": self.version,
            "api_uses": np.frombuffer(self.uses, np.int64).reshape(-1, 4).tolist(),
            "logins": self.logins,
            "principal_has_scram": self.has_scram,
            "also_declared": self.also_declared,
            "failed_apis": self.failed_apis,
            "uses_elsewhere": elsewhere and [dict(zip(names, use, strict=True)) for use in elsewhere],
        }


def _logins(seen: Iterable[tuple[Any, ...]], offered: Mapping[str, tuple[str, ...]]) -> tuple[Login, ...]:
    """`seen`: listener, security protocol, SASL mechanism and number of connections. What the listener offers counts only
    where the mechanism is not known.
    """
    logins = []
    for listener, protocol, mechanism, connections in seen:
        login = Login(protocol or None, mechanism or None)
        if login.uses_sasl is not False and not mechanism:
            login = login._replace(offered=offered.get(listener or ""))
        logins.append((login, connections))
    return tuple(sorted(settled(logins), key=repr))


def _uses(lists: pa.Array) -> list[bytes]:
    use = pc.list_flatten(lists)
    api_key, version, requests, rejected = (
        integers(pc.struct_field(use, name)) for name in ("api_key", "version", "requests", "rejected")
    )
    numbers = np.stack([api_key, version, _power_of_ten(requests), _power_of_ten(rejected)], axis=1)
    bounds = starts(lengths(lists)).tolist()
    return [numbers[begin:end].tobytes() for begin, end in pairwise(bounds)]


def _failed_apis(clients: pa.Table) -> list[tuple[FailedApi, ...]]:
    """From exact counts and times, which the text has not."""
    failed: list[tuple[FailedApi, ...]] = [()] * len(clients)
    errors, uses = clients["errors"].combine_chunks(), clients["uses"]
    for place in np.flatnonzero(lengths(errors)).tolist():
        failed[place] = failed_apis(
            [
                ApiUse(
                    use["api_key"],
                    use["version"],
                    use["requests"],
                    first_seen=_micros(use["first_request_at"]),
                    last_seen=_micros(use["last_request_at"]),
                )
                for use in uses[place].as_py() or ()
            ],
            [ApiError(*error.values()) for error in errors[place].as_py()],
        )
    return failed


def _micros(at: dt.datetime | None) -> int | None:
    return None if at is None else micros_of(at)


def _power_of_ten(counts: Vector) -> Vector:
    """The largest power of ten up to a count; 0 for 0."""
    powers: Vector = np.where(counts > 0, _POWERS[np.searchsorted(_POWERS, counts, "right") - 1], 0)
    return powers


def _tuples(lists: pa.Array) -> list[tuple[tuple[object, ...], ...] | None]:
    """Lists of structs as tuples of tuples."""
    structs = pc.list_flatten(lists)
    fields = (pc.struct_field(structs, place).to_pylist() for place in range(structs.type.num_fields))
    items = list(zip(*fields, strict=True))
    bounds = pairwise(starts(lengths(lists)).tolist())
    is_valid = lists.is_valid().to_pylist()
    return [
        tuple(items[begin:end]) if valid else None
        for (begin, end), valid in zip(bounds, is_valid, strict=True)
    ]


def _also_declared(clients: pa.Table) -> list[tuple[Software, ...]]:
    """Software declared by other clients with the principal and client id, sorted: some libraries declare their name on
    only some connections. Without a principal or client id connections have nothing in common.
    """
    names = ("principal", "client_id", "client_software_name", "client_software_version")
    rows = list(zip(*(clients[name].to_pylist() for name in names), strict=True))
    declared: dict[tuple[str, str], set[Software]] = {}
    for principal, client_id, *software in rows:
        if principal and client_id and kip511.is_known(software[0]):
            declared.setdefault((principal, client_id), set()).add((software[0], software[1]))
    return [
        tuple(
            sorted(
                declared.get((principal, client_id), set()) - {tuple(own)},
                key=lambda software: [(text is not None, text) for text in software],
            )
        )
        for principal, client_id, *own in rows
    ]
