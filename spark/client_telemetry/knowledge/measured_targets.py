"""Brokers that `client-telemetry probe` has measured, as targets: what they accept is known, and their bugs are not.

A measured target has a name of its own (`measured-1f2e3d4c`, after the digest of its file), which stands wherever the name of a
release may. `use` makes it known to this process, and the knowledge in use takes it to workers.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.formats import target_file
from client_telemetry.formats.target_file import UnusableTarget, parse_ranges
from client_telemetry.knowledge import MeasuredTarget, Range

_PREFIX = "measured-"


def use(target: MeasuredTarget) -> None:
    """Make it known, beside the releases."""
    in_use = knowledge.in_use()
    if target not in in_use.targets:
        knowledge.use(replace(in_use, targets=(*in_use.targets, target)))


def is_measured(*names: str) -> bool:
    """Whether any of them is a measured target."""
    return any(knowledge.measured_target(name) for name in names)


def may_be(name: str, possible: Collection[str]) -> bool:
    """Whether brokers that can be each of these releases may be what is named: that release, or the measured target whose answers
    are those of one of them. A measured target that no release explains may be brokers that none explains.
    """
    target = knowledge.measured_target(name)
    if target is None:
        return name in possible
    return not possible if not target.answers_like else not set(possible).isdisjoint(target.answers_like)


def texts(*names: str) -> list[str]:
    """What tables keep of those that are measured targets."""
    return [target.text for target in map(knowledge.measured_target, names) if target is not None]


def use_texts(kept: Iterable[str] | None) -> None:
    """The reverse of `texts`; None: of a row that is older than measured targets. Raises UnusableTarget."""
    for text in kept or ():
        use(of_text(text, "a stored measured target"))


def is_file(text: str) -> bool:
    """Whether a text that names a release or a target names a file."""
    return text.endswith(".json") or Path(text).is_file()


def read(path: Path) -> MeasuredTarget:
    """Raises UnusableTarget."""
    return _of_content(target_file.read(path), str(path))


def of_text(text: str, name: str) -> MeasuredTarget:
    """`text`: of a target file; `name`: what messages call it. Raises UnusableTarget."""
    return _of_content(target_file.parse(text, name), name)


def _of_content(content: target_file.Content, name: str) -> MeasuredTarget:
    try:
        return _target(content)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, UnusableTarget):
            raise UnusableTarget(f"{name}: {error}") from error
        raise UnusableTarget(f"{name}: not a file that this version of `client-telemetry` reads") from error


def _target(content: target_file.Content) -> MeasuredTarget:
    answers = content["answers"]
    names = {int(name.partition(" ")[0]): name for name in answers[0]}
    served: dict[int, Range] = {}
    advertised: dict[int, Range] = {}
    not_asked = []
    for key, name in names.items():
        entries = [of_brokers.get(name, {}) for of_brokers in answers]
        common = _by_all(set(parse_ranges(entry.get("advertised", ""))) for entry in entries)
        if common:
            advertised[key] = (min(common), max(common))
        common_versions = _by_all(accepted(entry) for entry in entries)
        if common_versions:
            served[key] = _one_range(name, common_versions)
        if common_versions - _by_all(set(parse_ranges(entry.get("answered", ""))) for entry in entries):
            not_asked.append(key)
    return MeasuredTarget(
        _PREFIX + content["sha256"][:8],
        str(content["measured_at"]),
        str(content["bootstrap"]),
        tuple(content["answers_like"]),
        served,
        advertised,
        tuple(content["mechanisms"]),
        {name: _levels(levels) for name, levels in content["features"].items()},
        tuple(not_asked),
        {str(kind): str(outcome) for kind, outcome in content.get("scram_nonce", {}).items()},
        str(content.get("product", "")),
        target_file.text({key: value for key, value in content.items() if key != "sha256"}),
    )


def _by_all(of_brokers: Iterable[set[int]]) -> set[int]:
    return set[int].intersection(*of_brokers)


def accepted(entry: Mapping[str, str]) -> set[int]:
    """Versions that were answered, and advertised ones of which nothing else is known."""
    refused = {*parse_ranges(entry.get("closed", "")), *parse_ranges(entry.get("refused", ""))}
    return {*parse_ranges(entry.get("answered", "")), *parse_ranges(entry.get("advertised", ""))} - refused


def _one_range(name: str, versions: Iterable[int]) -> Range:
    numbers = sorted(versions)
    if len(numbers) != numbers[-1] - numbers[0] + 1:
        raise UnusableTarget(
            f"{name} is answered in versions {target_file.ranges(numbers)}, with a gap: no verdict on that is possible"
        )
    return numbers[0], numbers[-1]


def _levels(levels: target_file.Level) -> tuple[int, int, int]:
    """A feature whose supported levels the broker does not tell has just the finalized one."""
    finalized = int(levels["finalized"])
    supported = parse_ranges(levels["supported"] or "") or (finalized,)
    return min(supported), max(*supported, finalized), finalized
