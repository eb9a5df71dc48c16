"""What each client instance of a list is asked to push, without data from a cluster.

client-telemetry subscription-check --configured subscriptions.json --clients clients.csv --broker 4.3.1 \
    --output answers.csv

Exit code 0; 1 when Kafka refuses some of the subscriptions (the answers are then those of the others); 2 for arguments
or files that cannot be used; 4 when it cannot be told whether a selector matches.
"""

import argparse
import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from client_telemetry import Unusable
from client_telemetry.console.arguments import Arguments
from client_telemetry.console.formulas import guarded
from client_telemetry.console.output_file import whole_file, write_csv
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.knowledge import releases
from client_telemetry.subscriptions import configured_file
from client_telemetry.subscriptions.advice import instead
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import SELECTORS, RefusedByKafka, Subscription, parse
from client_telemetry.subscriptions.instances import (
    NO_INSTANCE_ID,
    BadInstanceId,
    ClientInstance,
    instance_id_of,
    is_address,
)
from client_telemetry.subscriptions.java_runtime import (
    JavaRuntime,
    UnsureMatch,
    follows_the_java_release,
)

PROGRAM = "client-telemetry subscription-check"
FIRST_RELEASE = (3, 7)
ANSWER_COLUMNS = ("subscriptions", "push_interval_ms", "requested_metrics", "subscription_id")

COLUMNS = ("client_instance_id", *(field.name for field in fields(ClientInstance)[1:]))
"""That a file of clients has to have."""


class UnreadableClients(Unusable):
    """The file is unusable; one line with the file and the reason."""


@dataclass(frozen=True)
class ClientFile:
    """`columns`: COLUMNS, and further ones, which are kept."""

    columns: tuple[str, ...]
    rows: list[dict[str, str]]
    instances: list[ClientInstance]


def read_clients(path: Path) -> ClientFile:
    """A blank field is an attribute that the broker does not have. Raises UnreadableClients."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            columns = tuple(reader.fieldnames or ())
            _check_columns(path, columns)
            rows, instances = [], []
            for row in reader:
                if None in row or None in row.values():
                    raise UnreadableClients(
                        f"{path}: line {reader.line_num} does not have {len(columns)} fields, as the first line has"
                    )
                try:
                    instances.append(instance_of(row))
                except ValueError as error:
                    raise UnreadableClients(f"{path}: line {reader.line_num}: {error}") from error
                rows.append(row)
    except OSError as error:
        raise UnreadableClients(f"{path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableClients(f"{path} is not UTF-8: save it as UTF-8") from error
    except csv.Error as error:
        raise UnreadableClients(f"{path}: {error}") from error
    return ClientFile(columns, rows, instances)


def _check_columns(path: Path, columns: tuple[str, ...]) -> None:
    missing = [column for column in COLUMNS if column not in columns]
    if len(columns) == 1 and missing and re.search("[;\t]", columns[0]):
        raise UnreadableClients(
            f"{path}: fields are separated by {columns[0][len(COLUMNS[0])]!r}: use commas"
        )
    if missing:
        raise UnreadableClients(f"{path}: no column {missing[0]}: the file needs {', '.join(COLUMNS)}")
    for column in columns:
        if columns.count(column) > 1:
            raise UnreadableClients(f"{path}: column {column} occurs more than once")


def instance_of(row: Mapping[str, str]) -> ClientInstance:
    """The all-zero id means that a client has none yet: a broker assigns it a random one. Raises ValueError."""
    port = row["source_port"]
    if port and not (port.isascii() and port.isdigit() and len(port) < 6 and int(port) < 65536):
        raise ValueError(f"source_port {port!r} is not a port")
    try:
        instance_id = instance_id_of(row["client_instance_id"])
    except BadInstanceId as error:
        raise ValueError(f"client_instance_id {error}") from error
    return ClientInstance(
        None if instance_id == NO_INSTANCE_ID else instance_id,
        row["client_id"] or None,
        row["software_name"] or None,
        row["software_version"] or None,
        row["source_address"] or None,
        int(port) if port else None,
    )


@refuses("subscription-check")
def main(arguments: Sequence[str] | None = None) -> int:
    parser = Arguments(
        "subscription-check",
        "Which client instances of a list the configured KIP-714 subscriptions reach, and what they are asked to push.",
    )
    add_arguments(parser)
    args = parser.parse_args(arguments)
    with Progress(f"reading {args.clients}") as progress:
        return run(args, progress)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--configured", required=True, type=Path, metavar="FILE", help="configured subscriptions, .json"
    )
    parser.add_argument("--clients", required=True, type=Path, metavar="FILE", help="client instances, .csv")
    parser.add_argument("--broker", required=True, metavar="V", help="exact release of the brokers")
    parser.add_argument("--output", required=True, type=Path, metavar="FILE", help="answers, .csv")


def run(args: argparse.Namespace, progress: Progress) -> int:
    try:
        release = releases.parse(releases.exact(args.broker))
        if release[:2] < FIRST_RELEASE:
            raise releases.UnknownRelease(
                f"Kafka {args.broker} has no client metrics subscriptions: they exist since 3.7.0"
            )
        for option, path in (("--configured", args.configured), ("--clients", args.clients)):
            if args.output.exists() and path.exists() and args.output.samefile(path):
                raise UnreadableClients(f"--output is also the file of {option}: name another")
        resources = configured_file.read(args.configured)
        clients = read_clients(args.clients)
        progress("starting Java")
        with JavaRuntime() as java:
            subscriptions, refused = [], 0
            for resource in resources:
                try:
                    subscriptions.append(parse(resource.name, resource.properties, release, java))
                except RefusedByKafka as error:
                    refused += 1
                    print(f"{refusal(error)}. {instead(error, resource)}", file=sys.stderr)
            progress("matching clients with subscriptions")
            _warn_of_blank_client_ids(subscriptions, clients, java)
            _warn_of_addresses(subscriptions, clients)
            rows = _answer_rows(ConfiguredSubscriptions(subscriptions, release, java), clients, progress)
        _warn_of_java_releases(subscriptions, clients, release)
        progress(f"writing {args.output}")
        columns = (*_kept(clients), *ANSWER_COLUMNS)
        with whole_file(args.output) as opened:
            write_csv(opened, columns, ([guarded(row[column]) for column in columns] for row in rows))
    except UnsureMatch as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        return 4
    return 1 if refused else 0


def _kept(clients: ClientFile) -> tuple[str, ...]:
    return tuple(column for column in clients.columns if column not in ANSWER_COLUMNS)


def _answer_rows(
    configured: ConfiguredSubscriptions, clients: ClientFile, progress: Progress
) -> list[dict[str, str]]:
    names = [subscription.name for subscription in configured.subscriptions]
    extra_columns = _kept(clients)
    rows = []
    answers = configured.answers(clients.instances)
    for row, answer in zip(progress.counted("answering clients", clients.rows), answers, strict=True):
        answered = {column: row[column] for column in extra_columns}
        answered["subscriptions"] = " ".join(names[index] for index in answer.subscriptions)
        answered["push_interval_ms"] = str(answer.push_interval_ms)
        answered["requested_metrics"] = " ".join(answer.metrics)
        answered["subscription_id"] = "" if answer.subscription_id is None else str(answer.subscription_id)
        rows.append(answered)
    return rows


def refusal(error: RefusedByKafka) -> str:
    consequence = "Kafka refuses it"
    if not error.by_controller:
        consequence = "the controller accepts it and every broker fails to apply it"
    return f"subscription {error.name!r}: {consequence}: {error.error}: {error.message}"


def _warn_of_blank_client_ids(
    subscriptions: Sequence[Subscription], clients: ClientFile, java: JavaRuntime
) -> None:
    """Warns about blank fields: they are missing ids, which no selector matches. An empty text would be an id, but a
    CSV file cannot distinguish the two.
    """
    blank = sum(instance.client_id is None for instance in clients.instances)
    if not blank:
        return
    empty = java.texts([""])
    for subscription in subscriptions:
        for selector in subscription.selectors:
            if selector.attribute == "client_id" and empty.matching(selector.pattern):
                print(
                    f"subscription {subscription.name!r}: {selector.regex!r} does not match clients without a client_id ({blank}); "
                    "an empty client id would match",
                    file=sys.stderr,
                )


def _warn_of_addresses(subscriptions: Sequence[Subscription], clients: ClientFile) -> None:
    """Brokers match selectors against InetAddress.getHostAddress, so they never see another form."""
    if not any(
        selector.attribute == "client_source_address"
        for subscription in subscriptions
        for selector in subscription.selectors
    ):
        return
    invalid_addresses = [
        instance.source_address
        for instance in clients.instances
        if instance.source_address is not None and not is_address(instance.source_address)
    ]
    if invalid_addresses:
        print(
            f"{len(invalid_addresses)} values of source_address are not IP addresses, the first {invalid_addresses[0]!r}: brokers have "
            "addresses as 10.1.2.3, so write those",
            file=sys.stderr,
        )


def _warn_of_java_releases(
    subscriptions: Sequence[Subscription], clients: ClientFile, release: tuple[int, ...]
) -> None:
    """One line per selector whose answer may depend on the brokers' Java release."""
    selectors = {
        (subscription.name, selector.attribute, selector.regex)
        for subscription in subscriptions
        for selector in subscription.selectors
    }
    suspects = [entry for entry in sorted(selectors) if follows_the_java_release(entry[2], "é")]
    for name, attribute, regex in suspects:
        at = SELECTORS.index(attribute)
        values = {instance.attributes(release)[at] for instance in clients.instances}
        beyond = sum(follows_the_java_release(regex, value) for value in values if value is not None)
        if beyond:
            print(
                f"subscription {name!r}: {attribute}={regex}: {beyond} values are not ASCII, where Java releases differ "
                "in this regex; answered with the Java of this machine",
                file=sys.stderr,
            )
