"""The command `client-telemetry`, with one subcommand per kind of question.

    client-telemetry compatibility --from 3.9.1 --to 4.0.1 --input clients.csv --output verdicts.csv
    client-telemetry --help

Exit codes of commands that judge: 0 go, 3 no-go, 4 cannot tell. Of every command: 2 for unusable arguments or files, with
one line that says what to write instead; 130 if it was interrupted.
"""

import importlib
import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from typing import Final, NamedTuple

from client_telemetry import Unusable
from client_telemetry.cli.interrupt import INTERRUPTED, ended_at_once
from client_telemetry.console.refusal import BAD_ARGUMENTS, refused
from client_telemetry.knowledge import DamagedKnowledge
from client_telemetry.knowledge_package import store


class Subcommand(NamedTuple):
    """`extra`: what to install for it. `module`: where its `main(argv) -> exit code` is, if not in this package under its own name; it is
    imported when the subcommand is run.
    """

    summary: str
    extra: str = "spark"
    module: str = ""


SUBCOMMANDS: Final = {
    "compatibility": Subcommand("verdicts for a list of clients, without data from a cluster"),
    "scan": Subcommand("verdicts for the Kafka clients that lock files, SBOMs and images name", extra="scan"),
    "join": Subcommand("lock files, SBOMs and images beside the clients that brokers saw", extra="scan"),
    "report": Subcommand("the upgrade report from brokers' request logs"),
    "review": Subcommand("what an upgrade did to each client, from brokers' logs or a cluster's tables"),
    "run": Subcommand("process the bundled sample through Airflow, to its report"),
    "ask": Subcommand("an upgrade question of a cluster's tables, through Airflow"),
    "ui": Subcommand("Airflow with the fleet's pages and reports, until Ctrl-C"),
    "requarantine": Subcommand("reprocess days that have quarantined records, through Airflow"),
    "subscription-check": Subcommand(
        "which client instances a KIP-714 subscription reaches, and what they are asked to push",
        module="subscriptions.command_line",
    ),
    "probe": Subcommand(
        "ask brokers which requests they answer, and change nothing", module="probe.command_line"
    ),
    "replay": Subcommand("which requests of a fleet other brokers would refuse, and whose they are"),
    "rehearse": Subcommand(
        "install and run the client libraries of a report against a broker of the target release",
        extra="knowledge",
    ),
    "gate": Subcommand("go or no-go of an upgrade report or a planned upgrade, as an exit code"),
    "campaign": Subcommand("a planned upgrade until its day: states, pace, gate, and what owners say"),
    "tickets": Subcommand("one ticket for each owner and fix, as CSV or in an issue tracker"),
    "notify": Subcommand("tell owners and operators what is new, once"),
    "mcp": Subcommand("answers about published upgrades for programs, by MCP", extra="mcp"),
    "history": Subcommand(
        "when each application or client was first and last seen, and since when it is gone"
    ),
    "lake-copy": Subcommand("copy a lake to another place, or restore a backup of it there"),
    "knowledge": Subcommand(
        "the knowledge base: show, update, verify, diff, check, build", extra="knowledge"
    ),
    "knowledge-check": Subcommand("the former name of knowledge check", module="compatibility.own_knowledge"),
    "owners": Subcommand("try owner rules on the clients of a day"),
    "convert": Subcommand("convert request logs or OpenTelemetry files to a raw dump"),
    "show-record": Subcommand("print the record of a raw dump that a finding cites"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a subcommand and returns its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    match arguments[:1]:
        case [] | ["-h" | "--help" | "help"]:
            print(_usage())
            return 0 if arguments else BAD_ARGUMENTS
        case ["--version"]:
            return _version()
        case [name] if name in SUBCOMMANDS:
            return _run(name, arguments[1:])
        case [name]:
            refused("client-telemetry", f"unknown subcommand {name!r}: use one of {', '.join(SUBCOMMANDS)}")
    return BAD_ARGUMENTS


def _version() -> int:
    from client_telemetry.knowledge import age

    print(f"client-telemetry {version('client-telemetry')}")
    with ended_at_once("client-telemetry: interrupted"):
        try:
            store.activate()
        except ValueError as error:
            return refused("client-telemetry", error)
        print(age.in_use())
    return 0


def _run(name: str, arguments: Sequence[str]) -> int:
    program = f"client-telemetry {name}"
    try:
        with ended_at_once(f"{program}: interrupted"):
            module = SUBCOMMANDS[name].module or f"cli.{name.replace('-', '_')}"
            run = importlib.import_module(f"client_telemetry.{module}").main
            if name != "knowledge":
                store.activate()
        code: int = run(arguments)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.startswith("client_telemetry"):
            raise
        return refused(
            program,
            f"the package {missing.name.partition('.')[0]} is not installed: "
            f"run pip install 'client-telemetry[{_extra(name, missing.name)}]'",
        )
    except DamagedKnowledge as damaged:
        return refused(program, f"knowledge base: {damaged}")
    except Unusable as unusable:
        return refused(program, unusable)
    except (NotADirectoryError, PermissionError) as error:
        return refused(program, f"{error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        print(f"{program}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has closed it. Python would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _extra(subcommand: str, module: str) -> str:
    """The extra of the package that has a missing module: any subcommand may read a kept package of the knowledge base."""
    return "knowledge" if module.startswith("cryptography") else SUBCOMMANDS[subcommand].extra


def _usage() -> str:
    width = max(map(len, SUBCOMMANDS))
    lines = [f"  {name:<{width}}  {subcommand.summary}" for name, subcommand in SUBCOMMANDS.items()]
    return "\n".join(
        [
            "usage: client-telemetry SUBCOMMAND [arguments]",
            "",
            *lines,
            "",
            "client-telemetry SUBCOMMAND --help lists its arguments; client-telemetry --version prints the version.",
        ]
    )


if __name__ == "__main__":
    ended = main()
    if ended == INTERRUPTED:
        # After `python -m`, an interrupt that passed through Python code run by a C extension makes CPython's own exit one by
        # the signal, whatever the code (unhandled_keyboard_interrupt in Python/pythonrun.c).
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended)
    sys.exit(ended)
