"""report.md: the answer for a ticket."""

from collections.abc import Mapping, Sequence
from typing import Any

from client_telemetry.knowledge.kip511 import NO_SOFTWARE, software
from client_telemetry.reports.markdown import bullets, code, prose, section, table
from client_telemetry.reports.subscription.content import COMMANDS, size

CLIENTS_SHOWN = 50


def ticket(found: Mapping[str, Any]) -> str:
    lines = [
        f"# Change of subscriptions on {prose(found['cluster_name'])}: {found['answer']}",
        "",
        prose(found["sentence"]),
        "",
        f"Brokers: Kafka {found['release']}. Evidence: {found['first_day']} to {found['last_day']}.",
        "",
        *section("Kafka refuses", bullets(map(_refusal, found["refused"]))),
        *section("Note", bullets(found["remarks"])),
    ]
    lines += _explained("Harmed clients", "What happens", found["harms"])
    lines += _explained("Clients that stay silent", "Why", found["silent"])
    columns = ("Client", "Software", "Subscriptions", "Interval", "Pushes per day", "Payload per day")
    lines += ["## Clients", "", *table(columns, map(_cells, found["clients"][:CLIENTS_SHOWN]))]
    if len(found["clients"]) > CLIENTS_SHOWN:
        lines.append(f"\n{len(found['clients']) - CLIENTS_SHOWN:,} more in clients.csv.")
    lines += ["", "## Commands", ""]
    for title, name in COMMANDS:
        if found["commands"][name]:
            lines += [f"{title}:", "", "```", *found["commands"][name], "```", ""]
    lines.append(f"Knowledge base {found['knowledge_version']}, code version {found['code_version']}.")
    return "\n".join(lines) + "\n"


def _explained(title: str, what: str, rows: Sequence[Mapping[str, Any]]) -> list[str]:
    cells = [
        (", ".join(map(code, each["client_ids"][:10])), prose(each["explanation"]), str(each["instances"]))
        for each in rows
    ]
    return section(title, table(("Clients", what, "Instances"), cells) if rows else ())


def _cells(client: Mapping[str, Any]) -> tuple[str, ...]:
    intervals = client["push_interval_ms"] if client["subscriptions"] else ()
    return (
        code(str(client["client_id"])),
        _software(client),
        ", ".join(map(code, client["subscriptions"])) or "none",
        ", ".join(f"{ms:,} ms" for ms in intervals),
        f"{client['pushes_per_day']:,.0f}",
        size(client["bytes_per_day"]),
    )


def _refusal(of: Mapping[str, Any]) -> str:
    return f"{of['name']}: {of['error']}: {of['message']}. {of['instead']}"


def _software(client: Mapping[str, Any]) -> str:
    text = software(client["client_software_name"], client["client_software_version"])
    return text if text == NO_SOFTWARE else code(text)
