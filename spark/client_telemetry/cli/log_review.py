"""The review of an upgrade from request logs and the server.log files next to them (`client-telemetry review LOG …`)."""

import argparse
import sys
from datetime import UTC, datetime

from client_telemetry.activity.log_evidence import from_logs
from client_telemetry.activity.records import Evidence
from client_telemetry.cli.log_times import spelled
from client_telemetry.compatibility.listener_mechanisms import (
    by_security_protocol,
    check_listeners,
    listener_mechanisms,
)
from client_telemetry.compatibility.own_knowledge import use_folder
from client_telemetry.compatibility.target_argument import named
from client_telemetry.console.counted import counted
from client_telemetry.identity.owner_hints import rule_hints
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.identity.scram_users import scram_principals
from client_telemetry.knowledge.releases import exact, upgrade
from client_telemetry.knowledge_package import jars
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.folder import PAGE
from client_telemetry.reports.review.publish import publish
from client_telemetry.reports.review.report import report_of
from client_telemetry.review import decision
from client_telemetry.review.applications import of_tracks, with_applications
from client_telemetry.review.in_parts import assembled, part, setting
from client_telemetry.review.metric_review import metric_review
from client_telemetry.review.phases import upgrades
from client_telemetry.sources.log_files import find_logs, stored_bytes


def review(args: argparse.Namespace) -> int:
    """Exit code of a review with the arguments of `client-telemetry review`. Raises Unusable, and OSError of a file."""
    for sentence in jars.use(args.jar):
        _say(sentence)
    use_folder(args.knowledge)
    source, target = upgrade(exact(named(args.from_release)), exact(named(args.to_release)))
    scram_users = (
        read_text_file(args.scram_users, "SCRAM users", scram_principals) if args.scram_users else None
    )
    rules = read_text_file(args.owners, "owner rules", load_owner_rules) if args.owners else ()
    for hint in rule_hints(rules):
        print(f"client-telemetry review: warning: {hint}", file=sys.stderr, flush=True)
    logs = find_logs(args.logs)
    _say(f"{counted(len(logs), 'file')}, {stored_bytes(logs) / 1e6:.1f} MB")
    evidence = from_logs(logs, args.zone, _say, args.year)
    offered = _offered(args.mechanisms, evidence)
    common = setting(evidence, source, target, owner_rules=rules, scram_users=scram_users, offered=offered)
    reviewed_part, tracks = part(evidence.activities, common)
    log_review, comparisons, curves = assembled([reviewed_part], evidence, common)
    names = of_tracks(tracks, common.upgrade.old)
    log_review = with_applications(log_review, names)
    name = args.name or log_review.cluster_id or "unknown"
    began = datetime.fromtimestamp(log_review.upgrade.began, UTC)
    metrics = metric_review(log_review, common, comparisons, curves, lambda clients: tracks)
    review_id = f"{source}_to_{target}_{began:%Y%m%dT%H%M%SZ}"
    report = report_of(log_review, review_id, name, datetime.now(UTC), metrics)
    folder = publish(report, args.publish)
    began_at = [change.began for change in upgrades(evidence.runs) if change[:2] == (source, target)]
    if len(began_at) > 1:
        times = ", ".join(f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S}" for at in began_at)
        _say(f"{len(began_at)} upgrades from {source} to {target}, begun at {times} UTC: this is the last")
    if log_review.upgrade.is_mixed:
        for decided in report.decisions:
            _say(f"broker {decided.broker_id}: {decided.decision.replace('_', ' ')}: {decided.reason}")
    _say(report.sentence)
    _say(f"Review: {folder / PAGE}")
    if not log_review.upgrade.is_mixed:
        return 0
    return decision.EXIT_CODES[decision.overall(report.decisions)]


def _offered(stated: str | None, evidence: Evidence) -> dict[str, tuple[str, ...]]:
    """What listeners offer, by security protocol. Raises BadMechanisms."""
    if not stated:
        return {}
    offered = listener_mechanisms(stated)
    check_listeners(offered, [name for names in evidence.listeners.values() for name in names])
    return by_security_protocol(offered, evidence.listeners)


def _say(text: str) -> None:
    print(spelled(text), flush=True)
