"""Adds a statement to the text of a campaigns file; comments and layout stay as they are."""

import json
from dataclasses import replace

import yaml

from client_telemetry.campaign.plan import BadCampaign, Statement
from client_telemetry.campaign.plan_file import (
    TARGETS,
    Naming,
    check_statement,
    named,
    read_campaigns,
    read_entries,
)
from client_telemetry.campaign.yaml_entry import Entry, bad
from client_telemetry.compatibility import target_argument


def add_statement(text: str, name: str, statement: Statement, naming: Naming = target_argument.named) -> str:
    """The new text. Raises BadCampaign: the file or the statement cannot be used, there is no such campaign, or its entry is written
    in a way that takes no further line.
    """
    if mistake := check_statement(statement):
        raise BadCampaign(mistake)
    entries = read_entries(text, naming)
    expected = [
        replace(campaign, statements=(*campaign.statements, statement)) if campaign.name == name else campaign
        for campaign, _ in entries
    ]
    said = named([campaign for campaign, _ in entries], name)
    entry = next(entry for campaign, entry in entries if campaign is said)
    line, column, with_key = _place(entry)
    written = _written(statement, column)
    if with_key:
        written.insert(0, " " * entry.node.start_mark.column + "statements:")
    lines = text.splitlines(keepends=True)
    if not lines[line - 1].endswith("\n"):
        lines[line - 1] += "\n"
    changed = "".join([*lines[:line], *(f"{each}\n" for each in written), *lines[line:]])
    if list(read_campaigns(changed, naming)) != expected:
        raise bad(entry.node, f"{entry.what} is written in a way that takes no further line: add it by hand")
    return changed


def _place(entry: Entry) -> tuple[int, int, bool]:
    """After which line (from 1), in which column, and whether the key `statements` is to be written, too."""
    mapping = entry.node
    if "statements" in entry:
        node = entry.value("statements")
        if not _is_flow(node) and list(entry.items("statements")):
            return _last_line(node), node.start_mark.column, False
    elif not _is_flow(mapping) and "statements" not in entry.names():
        return _last_line(mapping), mapping.start_mark.column + 2, True
    raise bad(
        mapping, f"{entry.what} has braces or an empty list where a line is to be added: add it by hand"
    )


def _is_flow(node: yaml.Node) -> bool:
    return bool(getattr(node, "flow_style", False))


def _last_line(node: yaml.Node) -> int:
    """The last line with something of the node, from 1. A block's own end mark stands at what follows it."""
    if isinstance(node, yaml.MappingNode) and not _is_flow(node) and node.value:
        return max(_last_line(value) for _, value in node.value)
    if isinstance(node, yaml.SequenceNode) and not _is_flow(node) and node.value:
        return max(map(_last_line, node.value))
    end = node.end_mark
    return int(end.line + (1 if end.column else 0))


def _written(statement: Statement, column: int) -> list[str]:
    """Lines of a block mapping. Texts are quoted as JSON, which YAML reads alike."""
    values = {
        "kind": statement.kind,
        **{
            key: json.dumps(value, ensure_ascii=False)
            for key in TARGETS
            if (value := getattr(statement.target, key)) is not None
        },
        "by": json.dumps(statement.by, ensure_ascii=False),
        "on": str(statement.on),
    }
    if statement.until is not None:
        values["until"] = str(statement.until)
    if statement.text:
        values["text"] = json.dumps(statement.text, ensure_ascii=False)
    lines = [f"{key}: {value}" for key, value in values.items()]
    return [f"{' ' * column}- {lines[0]}", *(f"{' ' * column}  {line}" for line in lines[1:])]
