"""A mapping of a YAML file that people write, read with line numbers and without YAML's guesses: `4.10` stays text, not 4.1."""

import datetime as dt
from collections.abc import Collection, Iterator

import yaml

from client_telemetry.campaign.plan import BadCampaign

_NULL = "tag:yaml.org,2002:null"
_LARGEST_FILE = 4 * 2**20


def document(text: str) -> yaml.Node | None:
    """The root of the only document; None if the text is empty. Raises BadCampaign."""
    if len(text) > _LARGEST_FILE:
        raise BadCampaign(f"the file has more than {_LARGEST_FILE:,} characters: it is not a campaigns file")
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        where = f"line {mark.line + 1}: " if mark else ""
        raise BadCampaign(f"{where}not valid YAML: {error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadCampaign(f"not valid YAML: {' '.join(str(error).split()) or 'nested too deeply'}") from None


class Entry:
    """One mapping. `what` names it in messages: `campaign 'orders'`."""

    def __init__(self, node: yaml.Node, what: str, keys: Collection[str] | None) -> None:
        """`keys`: those that are known; None: any. Raises BadCampaign for another kind of node, unknown and repeated keys."""
        if not isinstance(node, yaml.MappingNode):
            raise bad(node, f"{what} is not a mapping: write it as `key: value`")
        self.node, self.what = node, what
        self._values: dict[str, yaml.Node] = {}
        for key, value in node.value:
            name = scalar(key)
            if keys is not None and name not in keys:
                raise bad(key, f"{what} has the unknown key {name!r}; known are {', '.join(keys)}")
            if name in self._values:
                raise bad(key, f"{what} has {name!r} twice")
            self._values[name] = value

    def names(self) -> Collection[str]:
        return self._values.keys()

    def __contains__(self, key: str) -> bool:
        return key in self._values and self._values[key].tag != _NULL

    def value(self, key: str) -> yaml.Node:
        if key not in self:
            raise bad(self.node, f"{self.what} has no {key!r}")
        return self._values[key]

    def text(self, key: str) -> str:
        text = scalar(self.value(key)).strip()
        if not text:
            raise bad(self._values[key], f"{self.what}: {key!r} is empty")
        return text

    def text_or_none(self, key: str) -> str | None:
        return self.text(key) if key in self else None

    def day(self, key: str) -> dt.date:
        text = self.text(key)
        try:
            return dt.datetime.strptime(text, "%Y-%m-%d").date()  # noqa: DTZ007
        except ValueError:
            raise bad(
                self._values[key], f"{self.what}: {key!r} is not a date: {text!r}; write it as 2026-12-05"
            ) from None

    def items(self, key: str) -> Iterator[yaml.Node]:
        """The items of a list; nothing if the key is absent."""
        if key not in self:
            return
        node = self._values[key]
        if not isinstance(node, yaml.SequenceNode):
            raise bad(
                node, f"{self.what}: {key!r} is not a list: write each item on a line of its own after `- `"
            )
        yield from node.value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts, or one text."""
        if isinstance(self.value(key), yaml.ScalarNode):
            return (self.text(key),)
        texts = tuple(scalar(node).strip() for node in self.items(key))
        if not texts or not all(texts):
            raise bad(self._values[key], f"{self.what}: {key!r} is empty")
        return texts

    def number(self, key: str, least: float, most: float) -> float:
        text = self.text(key)
        try:
            number = float(text)
        except ValueError:
            number = float("nan")
        if not least <= number <= most:
            raise bad(
                self._values[key],
                f"{self.what}: {key!r} is {text!r}; write a number from {least:g} to {most:g}",
            )
        return number


def scalar(node: yaml.Node) -> str:
    """The text as it is written. Raises BadCampaign for a list or mapping."""
    if not isinstance(node, yaml.ScalarNode):
        raise bad(node, "a text is expected here, not a list or mapping; put text with `: ` or `[` in quotes")
    return "" if node.tag == _NULL else str(node.value)


def bad(node: yaml.Node, message: str) -> BadCampaign:
    return BadCampaign(f"line {node.start_mark.line + 1}: {message}")
