"""report.md: the answer for a ticket."""

from collections.abc import Mapping
from typing import Any

from client_telemetry.knowledge.kip511 import NO_SOFTWARE, software
from client_telemetry.reports.markdown import bullets, code, prose, row
from client_telemetry.reports.subscription.content import size
from client_telemetry.reports.subscription.page import COMMANDS

CLIENTS_SHOWN = 50


def ticket(found: Mapping[str, Any]) -> str:
    lines = [
        f"# Change of subscriptions on {prose(found['cluster_name'])}: {found['answer']}",
        "",
        prose(found["sentence"]),
        "",
    ]
    lines += [
        f"Brokers: Kafka {found['release']}. Evidence: {found['first_day']} to {found['last_day']}.",
        "",
        *_refused(found),
        *_listed("Note", found["remarks"]),
    ]
    if found["harms"]:
        lines += [
            "## Harmed clients",
            "",
            row(("Clients", "What happens", "Instances")),
            row(("---",) * 3),
        ]
        for each in found["harms"]:
            ids = ", ".join(code(name) for name in each["client_ids"][:10])
            lines.append(row((ids, prose(each["explanation"]), str(each["instances"]))))
        lines.append("")
    if found["silent"]:
        lines += ["## Clients that stay silent", "", row(("Clients", "Why", "Instances")), row(("---",) * 3)]
        for each in found["silent"]:
            ids = ", ".join(code(name) for name in each["client_ids"][:10])
            lines.append(row((ids, prose(each["explanation"]), str(each["instances"]))))
        lines.append("")
    lines += [
        "## Clients",
        "",
        row(("Client", "Software", "Subscriptions", "Interval", "Pushes per day", "Payload per day")),
    ]
    lines.append(row(("---",) * 6))
    for each in found["clients"][:CLIENTS_SHOWN]:
        lines.append(
            row(
                (
                    code(str(each["client_id"])),
                    _software(each),
                    ", ".join(code(name) for name in each["subscriptions"]) or "none",
                    ", ".join(f"{ms:,} ms" for ms in each["push_interval_ms"])
                    if each["subscriptions"]
                    else "",
                    f"{each['pushes_per_day']:,.0f}",
                    size(each["bytes_per_day"]),
                )
            )
        )
    if len(found["clients"]) > CLIENTS_SHOWN:
        lines.append(f"\n{len(found['clients']) - CLIENTS_SHOWN:,} more in clients.csv.")
    lines += ["", "## Commands", ""]
    for title, name in COMMANDS:
        if found["commands"][name]:
            lines += [f"{title}:", "", "```", *found["commands"][name], "```", ""]
    lines.append(f"Knowledge base {found['knowledge_version']}, code version {found['code_version']}.")
    return "\n".join(lines) + "\n"


def _refused(found: Mapping[str, Any]) -> list[str]:
    return _listed(
        "Kafka refuses",
        [
            f"{each['name']}: {each['error']}: {each['message']}. {each['instead']}"
            for each in found["refused"]
        ],
    )


def _listed(title: str, sentences: list[str]) -> list[str]:
    return [f"## {title}", "", *bullets(sentences), ""] if sentences else []


def _software(client: Mapping[str, Any]) -> str:
    text = software(client["client_software_name"], client["client_software_version"])
    return text if text == NO_SOFTWARE else code(text)
