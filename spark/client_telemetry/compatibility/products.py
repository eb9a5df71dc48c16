"""Products and frameworks behind client ids: product_client_ids.csv names them, products.csv has the fix that is theirs.

A client id is evidence of a product only where the product sets it itself; a person can configure any other.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry.compatibility import apis
from client_telemetry.compatibility.knowledge import DamagedKnowledge, due, rows

IDS_FILE = "product_client_ids.csv"
IDS_COLUMNS = ("client_id_pattern", "product", "kind", "library", "brings_default_ids", "source")
FILE = "products.csv"
COLUMNS = ("product", "library", "apis", "advice", "source", "confidence")
LONGEST_CLIENT_ID = 256
"""Characters; longer ones are nobody's own, and a hostile one must not keep a regular expression busy."""

ADMIN_CLIENT_TOOLS = "kafka-consumer-groups, kafka-delete-records or kafka-broker-api-versions"
"""The product whose own client id is admin-<n>, in product_client_ids.csv: the tools that have kafka.admin.AdminClient (Scala, up
to 2.x)."""
KINDS = ("streams", "connect", "mirrormaker", "tool", "product")
_SASL_AUTHENTICATE = 36
CONFIDENCES = ("lock file", "documentation", "source code", "real runs")


@dataclass(frozen=True)
class ProductId:
    """One line of product_client_ids.csv."""

    pattern: re.Pattern[str]
    product: str
    kind: str
    library: str
    """Library inside; several are separated by a bar where the release decides; empty = not one alone."""
    brings_default_ids: bool
    """Whether its process also has clients with the default ids of that library."""


class Product(NamedTuple):
    """What a client id says. `application`: the part of it that names the application (of Kafka Streams the
    application.id, of Connect the group.id), None where it has none."""

    name: str
    kind: str
    library: str
    brings_default_ids: bool
    application: str | None


class Advice(NamedTuple):
    library: str
    api_keys: frozenset[int]
    """Empty: any refused API."""
    text: str


@lru_cache(maxsize=65536)
def by_client_id(client_id: str | None) -> Product | None:
    """The product whose own client id this is, the first line that matches."""
    if not client_id or len(client_id) > LONGEST_CLIENT_ID:
        return None
    for each in _ids():
        if match := each.pattern.fullmatch(client_id):
            application = match.groupdict().get("application")
            return Product(each.product, each.kind, each.library, each.brings_default_ids, application)
    return None


@cache
def named(name: str) -> Product | None:
    """The product of this name; None where no client id is known to be its own."""
    found = next((each for each in _ids() if each.product == name), None)
    if found is None:
        return None
    return Product(found.product, found.kind, found.library, found.brings_default_ids, None)


def is_known(name: str) -> bool:
    """Whether there is anything about a product of this name."""
    return name in advices() or named(name) is not None


@cache
def _ids() -> tuple[ProductId, ...]:
    found = []
    for line, (pattern, product, kind, library, brings, source) in rows(IDS_FILE, IDS_COLUMNS):
        due(IDS_FILE, line, client_id_pattern=pattern, product=product, source=source)
        if kind not in KINDS:
            raise DamagedKnowledge(IDS_FILE, line, f"kind {kind!r} is none of {', '.join(KINDS)}")
        if brings not in ("yes", "no"):
            raise DamagedKnowledge(IDS_FILE, line, "brings_default_ids is yes or no")
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            raise DamagedKnowledge(IDS_FILE, line, f"client_id_pattern: {error}") from error
        found.append(ProductId(compiled, product, kind, library, brings == "yes"))
    return tuple(found)


@cache
def advices() -> dict[str, tuple[Advice, ...]]:
    """Product -> what to do where its requests are refused."""
    found: dict[str, tuple[Advice, ...]] = {}
    for line, (product, library, names, text, source, confidence) in rows(FILE, COLUMNS):
        due(FILE, line, product=product, advice=text, source=source)
        if confidence not in CONFIDENCES:
            raise DamagedKnowledge(
                FILE, line, f"confidence {confidence!r} is none of {', '.join(CONFIDENCES)}"
            )
        try:
            keys = frozenset(apis.find(name).key for name in names.split())
        except ValueError as error:
            raise DamagedKnowledge(FILE, line, str(error)) from error
        found[product] = (*found.get(product, ()), Advice(library, keys, text))
    return found


def advice(product: str | None, refused: Collection[int]) -> str:
    """What to do with a product whose requests of these APIs are refused; empty = nothing is known."""
    fitting = (
        each.text
        for each in advices().get(product or "", ())
        if not each.api_keys or each.api_keys & set(refused)
    )
    return next(fitting, "")


def advice_on_scram(product: str | None) -> str:
    """What to do with a product that cannot log in with SCRAM because of its library; empty = nothing is known."""
    is_known = any(_SASL_AUTHENTICATE in each.api_keys for each in advices().get(product or "", ()))
    return advice(product, (_SASL_AUTHENTICATE,)) if is_known else ""
