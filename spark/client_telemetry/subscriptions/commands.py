r"""Commands for a POSIX shell: to apply a change, to look at it, to revert it, and the ACLs that they need.

Source: ClientMetricsCommand; ConfigCommand.parseConfigsToBeAdded, which removes every [ and ] from values and splits at
commas outside them, so that a change with brackets needs a properties file, where backslashes are doubled.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from client_telemetry.subscriptions.configuration import INTERVAL_MS, KEYS, MATCH, METRICS
from client_telemetry.subscriptions.configured_file import Resource
from client_telemetry.subscriptions.proposal import DELETE, Operation

CLIENT_METRICS, CONFIGS, ACLS = "kafka-client-metrics.sh", "kafka-configs.sh", "kafka-acls.sh"
_OPTIONS = {METRICS: "--metrics", INTERVAL_MS: "--interval", MATCH: "--match"}
PRINCIPAL = "User:NAME"


@dataclass(frozen=True)
class Commands:
    """Each a list of commands, using kafka-client-metrics.sh. `apply_with_configs`: the same with kafka-configs.sh."""

    apply: tuple[str, ...]
    apply_with_configs: tuple[str, ...]
    look: tuple[str, ...]
    take_back: tuple[str, ...]
    acls: tuple[str, ...]


def commands(
    operations: Sequence[Operation], before: Sequence[Resource], bootstrap_server: str = "BROKER:9092"
) -> Commands:
    properties_before = {resource.name: resource.properties for resource in before}
    apply, with_configs, look, take_back = [], [], [], []
    for operation in operations:
        if operation.action == DELETE:
            assert operation.name is not None
            old = properties_before.get(operation.name, {})
            apply.append(_line(CLIENT_METRICS, bootstrap_server, "--delete", "--name", operation.name))
            if old:
                with_configs.append(_delete_keys(bootstrap_server, operation.name, list(old)))
                take_back.append(_alter(bootstrap_server, operation.name, old))
            continue
        apply.append(_alter(bootstrap_server, operation.name, operation.properties))
        if operation.name is None:
            take_back.append(
                _line(CLIENT_METRICS, bootstrap_server, "--delete", "--name")
                + " NAME  # the name that the command printed"
            )
            look.append(_line(CLIENT_METRICS, bootstrap_server, "--list"))
            continue
        with_configs += _with_configs(bootstrap_server, operation.name, operation.properties)
        if operation.name in properties_before:
            old = properties_before[operation.name]
            take_back.append(
                _alter(
                    bootstrap_server, operation.name, {key: old.get(key, "") for key in operation.properties}
                )
            )
        else:
            take_back.append(_line(CLIENT_METRICS, bootstrap_server, "--delete", "--name", operation.name))
    names = dict.fromkeys(operation.name for operation in operations if operation.name is not None)
    look = [_line(CLIENT_METRICS, bootstrap_server, "--describe", "--name", name) for name in names] + look
    acls = (
        _line(ACLS, bootstrap_server, "--add", "--allow-principal", PRINCIPAL)
        + " --operation AlterConfigs --operation DescribeConfigs --cluster",
    )
    return Commands(tuple(apply), tuple(with_configs), tuple(look), tuple(reversed(take_back)), acls)


def _alter(server: str, name: str | None, properties: Mapping[str, str]) -> str:
    naming = ["--generate-name"] if name is None else ["--name", name]
    values = [part for key in KEYS if key in properties for part in (_OPTIONS[key], properties[key])]
    return _line(CLIENT_METRICS, server, "--alter", *naming, *values)


def _with_configs(server: str, name: str, properties: Mapping[str, str]) -> list[str]:
    entity = ("--alter", "--entity-type", "client-metrics", "--entity-name", name)
    lines_of_shell = []
    removed = [key for key, value in properties.items() if not value]
    if removed:
        lines_of_shell.append(_delete_keys(server, name, removed))
    added = {key: value for key, value in properties.items() if value}
    if any(character in value for value in added.values() for character in "[]"):
        lines = "\n".join(f"{key}={_in_properties(value)}" for key, value in added.items())
        line = _line(CONFIGS, server, *entity, "--add-config-file", "subscription.properties")
        lines_of_shell.append(f"cat > subscription.properties <<'END'\n{lines}\nEND\n{line}")
    elif added:
        # Without brackets a comma would separate keys, and a second = is refused.
        text = ",".join(f"{key}=[{value}]" for key, value in added.items())
        lines_of_shell.append(_line(CONFIGS, server, *entity, "--add-config", text))
    return lines_of_shell


def _delete_keys(server: str, name: str, keys: Sequence[str]) -> str:
    return _line(
        CONFIGS,
        server,
        *("--alter", "--entity-type", "client-metrics", "--entity-name", name),
        *("--delete-config", ",".join(keys)),
    )


def _in_properties(value: str) -> str:
    r"""A value as java.util.Properties writes it.

    >>> print(_in_properties(r"client_id=[a-z]\d"))
    client_id=[a-z]\\d
    """
    escaped = value.replace("\\", "\\\\")
    return re.sub(
        r"[^\0-\x7f]", lambda one: re.sub("(.{4})", r"\\u\1", one[0].encode("utf-16-be").hex()), escaped
    )


def _line(command: str, server: str, *options: str) -> str:
    return f"{command} --bootstrap-server {shlex.quote(server)} {' '.join(map(shlex.quote, options))}"
