"""Runs what the knowledge base recommends: real clients against a real broker, into benchmarks/fixes/fixes.csv.

    python -m benchmarks.fixes --broker 4.0.1 [--program sarama ...] [--again]

A client that has a row for this broker is not run again, unless --again asks for it. Rows that plan.csv no longer
has go. One run at a time: each writes the table whole.
"""

import argparse
import datetime as dt
import os
import signal
import sys
from dataclasses import asdict

from client_telemetry.rehearsal import sandbox_broker

from benchmarks.fixes import clients, table
from benchmarks.fixes.table import Plan, Result


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fixes", description=__doc__)
    parser.add_argument("--broker", required=True, help="exact release of the target, such as 4.0.1")
    parser.add_argument("--program", nargs="*", default=[], help="only these programs")
    parser.add_argument("--again", action="store_true", help="also what has been run already")
    args = parser.parse_args(arguments)
    plans = [each for each in table.plans() if each.program]
    known = {(each.client, release) for each in plans for release in each.releases}
    done = {key: each for each in table.results() if (key := (each.client, each.broker)) in known}
    planned = {
        each.client: each
        for each in plans
        if args.broker in each.releases
        and (not args.program or each.program in args.program)
        and (args.again or (each.client, args.broker) not in done)
    }
    if not planned:
        print(f"nothing to run against {args.broker}")
        return 0
    # Whoever ends the run ends the broker too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with sandbox_broker.running(args.broker, clients.CACHE) as broker:
        for number, plan in enumerate(planned.values()):
            result = _run(plan, args.broker, broker, f"{os.getpid()}-{number}")
            print(
                f"{' '.join(filter(None, plan.client))} on {args.broker}: {result.error or 'works'}",
                flush=True,
            )
            done[plan.client, args.broker] = result
            table.write(done.values())
    return 0


def _run(plan: Plan, release: str, broker: sandbox_broker.Broker, unique: str) -> Result:
    environment = {
        **broker.settings(plan.mechanism),
        "TOPIC": f"topic-{unique}",
        "GROUP": f"group-{unique}",
        "CONFIGURATION": plan.configuration,
    }
    try:
        outcomes = clients.run(plan.program, plan.version, environment)
    except clients.NotInstalled as reason:
        outcomes = {"connect": f"not installed: {reason}"}
    said = {
        step: outcome for step, outcome in outcomes.items() if outcome not in ("ok", "n/a", "not reached")
    }
    steps = {step: _word(outcomes.get(step, "")) for step in clients.STEPS}
    client = {name: value for name, value in asdict(plan).items() if name in Result.__dataclass_fields__}
    error = next((f"{step}: {words}" for step, words in said.items()), "")
    return Result(**client, broker=release, **steps, error=error, ran_on=str(dt.datetime.now(dt.UTC).date()))


def _word(outcome: str) -> str:
    return outcome if outcome in ("ok", "n/a", "") else "" if outcome == "not reached" else "failed"


if __name__ == "__main__":
    sys.exit(main())
