"""Which packages of an SPDX document only tests or development need, by its relationships."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from client_telemetry.artefacts.readers import json_text, purposes

_DEVELOPMENT: Final = {
    "DEV_DEPENDENCY_OF",
    "DEV_TOOL_OF",
    "TEST_DEPENDENCY_OF",
    "TEST_TOOL_OF",
    "TEST_OF",
}
_APPLICATION: Final = {
    "DEPENDENCY_OF",
    "RUNTIME_DEPENDENCY_OF",
    "OPTIONAL_DEPENDENCY_OF",
    "PROVIDED_DEPENDENCY_OF",
    "BUILD_DEPENDENCY_OF",
    "PREREQUISITE_FOR",
}
_TURNED: Final = {"DEPENDS_ON", "DYNAMIC_LINK", "STATIC_LINK", "HAS_PREREQUISITE"}
"""Those that name what needs something before what is needed. CONTAINS says nothing of what it is for."""
_LIFECYCLE: Final = {"development", "test"}

_Need = tuple[str, str, str]
"""What is needed, what needs it, and what says that it is for development; empty if nothing does."""


def of_relationships(relationships: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Of SPDX 2: ids of packages that development alone needs, also through others, with the relationship that says so."""
    return _only_development(_needs(relationships))


def _needs(relationships: Iterable[Mapping[str, object]]) -> Iterator[_Need]:
    for each in relationships:
        kind = str(each.get("relationshipType"))
        one, other = str(each.get("spdxElementId")), str(each.get("relatedSpdxElement"))
        if kind in _DEVELOPMENT:
            yield one, other, kind
        elif kind in _APPLICATION:
            yield one, other, ""
        elif kind in _TURNED:
            yield other, one, ""


def of_elements(elements: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """Of SPDX 3: the same by `dependsOn` with a lifecycle scope."""
    return _only_development(
        (str(needed), str(element.get("from")), _lifecycle(element))
        for element in elements
        if element.get("relationshipType") == "dependsOn"
        for needed in json_text.elements(element.get("to"))
    )


def _lifecycle(element: Mapping[str, object]) -> str:
    scope = str(element.get("scope"))
    return f"scope {scope}" if scope in _LIFECYCLE else ""


def _only_development(needs: Iterable[_Need]) -> dict[str, str]:
    by_application: dict[str, set[str]] = defaultdict(set)
    by_any: dict[str, set[str]] = defaultdict(set)
    said: dict[str, str] = {}
    for needed, by, why in needs:
        by_any[by].add(needed)
        if why:
            said.setdefault(needed, why)
        else:
            by_application[by].add(needed)
    if not said:
        return {}
    everything = set().union(*by_any.values())
    tops = (set(by_any) - everything) or {by for by in by_any if by not in said}
    application = purposes.all_needed(tops, by_application)
    # What stands in circles that nothing leads into is left as the application's.
    development = purposes.all_needed(set(said), by_any) - application
    return {key: said.get(key, "needed by what is for development only") for key in development}
