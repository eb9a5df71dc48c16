"""What each client instance of a list is asked to push, without data from a cluster.

client-telemetry subscription-check --configured subscriptions.json --clients clients.csv --broker 4.3.1 \
    --output answers.csv

Exit code 0; 1 when Kafka refuses some of the subscriptions (the answers are then those of the others); 2 for arguments
or files that cannot be used; 4 when it cannot be told whether a selector matches.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from client_telemetry.console.arguments import Arguments
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.knowledge import releases
from client_telemetry.subscriptions import client_file, configured_file
from client_telemetry.subscriptions.advice import instead
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions
from client_telemetry.subscriptions.client_file import ClientFile, UnreadableClients
from client_telemetry.subscriptions.configuration import SELECTORS, RefusedByKafka, Subscription, parse
from client_telemetry.subscriptions.instances import is_address
from client_telemetry.subscriptions.java_runtime import (
    JavaRuntime,
    UnsureMatch,
    follows_the_java_release,
)

PROGRAM = "client-telemetry subscription-check"
FIRST_RELEASE = (3, 7)
ANSWER_COLUMNS = ("subscriptions", "push_interval_ms", "requested_metrics", "subscription_id")


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
        clients = client_file.read(args.clients)
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
        client_file.write(args.output, (*_kept(clients), *ANSWER_COLUMNS), rows)
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
