"""Products and frameworks behind client ids: product_client_ids.csv names them, products.csv has the fixes for them.

A client id is evidence of a product only if the product sets it itself; anybody can configure any other.
"""

import re
from collections.abc import Collection
from functools import cache, lru_cache
from typing import NamedTuple

from client_telemetry.knowledge import DamagedKnowledge, apis, due, one_of, rows
from client_telemetry.knowledge.api_key import ApiKey
from client_telemetry.knowledge.user_patterns import UserPattern, knowledge_pattern

IDS_FILE = "product_client_ids.csv"
IDS_COLUMNS = ("client_id_pattern", "product", "kind", "library", "brings_default_ids", "source")
FILE = "products.csv"
COLUMNS = ("product", "library", "apis", "advice", "source", "confidence")
LONGEST_CLIENT_ID = 256
"""In characters; no product sets longer ones, and a hostile id must not keep a regular expression busy."""

ADMIN_CLIENT_TOOLS = "kafka-consumer-groups, kafka-delete-records or kafka-broker-api-versions"
"""The product whose own client id is admin-<n>, in product_client_ids.csv: the tools that have kafka.admin.AdminClient (Scala, up
to 2.x)."""
KINDS = ("streams", "connect", "mirrormaker", "tool", "product")
CONFIDENCES = ("lock file", "documentation", "source code", "real runs")


class Product(NamedTuple):
    """One line of product_client_ids.csv: what a client id reveals."""

    name: str
    kind: str
    library: str
    """Library inside, alternatives separated by `|` if it depends on the release; empty = more than one."""
    brings_default_ids: bool
    """Whether its process also has clients with the default ids of that library."""
    application: str | None = None
    """The part of the id that names the application (the application.id of Kafka Streams, the group.id of Connect), None if it
    has none.
    """


class Advice(NamedTuple):
    library: str
    api_keys: frozenset[int]
    """Empty: any refused API."""
    text: str


@lru_cache(maxsize=65536)
def by_client_id(client_id: str | None) -> Product | None:
    """The product that sets this client id: the first line that matches."""
    if not client_id or len(client_id) > LONGEST_CLIENT_ID:
        return None
    for pattern, product in _ids():
        if match := pattern.fullmatch(client_id):
            return product._replace(application=match.groupdict().get("application"))
    return None


@cache
def named(name: str) -> Product | None:
    """The product of this name; None if no client ids of it are known."""
    return next((product for _, product in _ids() if product.name == name), None)


def is_known(name: str) -> bool:
    """Whether anything is known about a product of this name."""
    return name in advices() or named(name) is not None


def called(text: str) -> str:
    """The product that people call so, whatever the case, without `Apache` and without what stands in brackets; empty if that
    is none or several.

    >>> called("flink"), called("kafka_exporter"), called("pulsar")
    ('Apache Flink', 'kafka_exporter (danielqsj)', '')
    """
    if is_known(text):
        return text
    wanted = _plain(text)
    known = (*advices(), *(product.name for _, product in _ids()))
    found = {name for name in known if wanted and _plain(name) == wanted}
    return found.pop() if len(found) == 1 else ""


def _plain(name: str) -> str:
    return re.sub(r"\s*\(.*\)|^apache\s+", "", name.strip(), flags=re.IGNORECASE).casefold()


@cache
def _ids() -> tuple[tuple[re.Pattern[str] | UserPattern, Product], ...]:
    ids = []
    for line, (pattern, product, kind, library, brings, source) in rows(IDS_FILE, IDS_COLUMNS):
        due(IDS_FILE, line, client_id_pattern=pattern, product=product, source=source)
        one_of(IDS_FILE, line, "kind", kind, KINDS)
        if brings not in ("yes", "no"):
            raise DamagedKnowledge(IDS_FILE, line, "brings_default_ids is yes or no")
        compiled = knowledge_pattern(IDS_FILE, line, "client_id_pattern", pattern)
        ids.append((compiled, Product(product, kind, library, brings == "yes")))
    return tuple(ids)


@cache
def advices() -> dict[str, tuple[Advice, ...]]:
    """Product -> what to do if its requests are refused."""
    by_product: dict[str, tuple[Advice, ...]] = {}
    for line, (product, library, names, text, source, confidence) in rows(FILE, COLUMNS):
        due(FILE, line, product=product, advice=text, source=source)
        one_of(FILE, line, "confidence", confidence, CONFIDENCES)
        keys = apis.keys_of(FILE, line, names)
        by_product[product] = (*by_product.get(product, ()), Advice(library, keys, text))
    return by_product


def advice(product: str | None, refused: Collection[int]) -> str:
    """What to do with a product whose requests of these APIs are refused; empty = nothing known."""
    fitting = (
        advice.text
        for advice in advices().get(product or "", ())
        if not advice.api_keys or advice.api_keys & set(refused)
    )
    return next(fitting, "")


def advice_on_scram(product: str | None) -> str:
    """What to do with a product whose library prevents it from logging in with SCRAM; empty = nothing known."""
    is_known = any(ApiKey.SASL_AUTHENTICATE in advice.api_keys for advice in advices().get(product or "", ()))
    return advice(product, (ApiKey.SASL_AUTHENTICATE,)) if is_known else ""
