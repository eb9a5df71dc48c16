"""What upgrades and rollbacks between releases bring, and who a broker is by what it declares and offers, as
tests/data/compatibility/ keeps them."""

from itertools import pairwise

from client_telemetry.compatibility import cluster_notes, targets
from client_telemetry.knowledge import advice, apis, broker_guess, features, known_issues, releases, served

ONE_BY_ONE = (
    "2.4.1",
    "2.8.2",
    "3.0.2",
    "3.3.2",
    "3.6.2",
    "3.9.1",
    "4.0.0",
    "4.0.1",
    "4.1.1",
    "4.2.0",
    "4.3.1",
)
PAIRS = (
    *pairwise(ONE_BY_ONE),
    *((new, old) for old, new in pairwise(ONE_BY_ONE)),
    ("2.4.1", "4.0.1"),
    ("3.9.1", "4.2.0"),
)

ISSUES = (
    "librdkafka_list_offsets_0",
    "librdkafka_no_leader_epoch",
    "librdkafka_producer_fenced",
    "java_read_committed",
    "java_transaction_version_lowered",
    "sarama_alter_configs_2",
    "brod_member_id_required",
    "brod_scram_nonce",
    "franz_go_api_versions_4",
    "kafka_14422",
    "redpanda_consumer_group",
    "azure_event_hubs_transactions",
    "unknown_library_scram_nonce",
)
"""One of each kind of range: open, closed, several, of old brokers alone, of a vendor, of any library."""
NOTES = (
    *("zookeeper_removed", "join_group_0_1", "tls_1_2", "client_software_names", "idempotent_write_acl"),
    *("kafka_15353", "kafka_20254", "transaction_verification", "simple_acl_authorizer"),
)


def of(chosen: tuple[str, ...], found) -> str:
    """Only what this test is about: a row that somebody appends is not."""
    return ", ".join(rule for rule in found if rule in chosen)


def told(make) -> str:
    try:
        return str(make())
    except ValueError as error:
        return f"{type(error).__name__}: {error}"


def change(source: str, target: str) -> list[str]:
    before = features.not_finalized(source, target)
    gone = served.dropped(source, target)
    notes = cluster_notes.for_rollback if releases.is_rollback(source, target) else cluster_notes.for_upgrade
    ranges = {key: (served.by(source)[key].served, served.by(target).get(key)) for key in sorted(gone)}
    closed = features.closed(target, before)
    shut = {gate.api_key: served.without(target, closed)[gate.api_key].served for gate in closed}
    return [
        f"# {source} to {target}",
        f"refuses: {'; '.join(f'{apis.name(key)} {a} to {b.served if b else None}' for key, (a, b) in ranges.items())}",
        f"false alarms: {'; '.join(f'{apis.name(k)} {v}' for k, v in served.falsely_deprecated(source, target).items())}",
        f"levels: {features.text(before)}; then {features.text(features.newest(target))}",
        f"differ: {', '.join(features.differing(before, features.newest(target)))}",
        f"closed until then: {'; '.join(f'{apis.name(key)} {versions}' for key, versions in shut.items())}",
        f"refuses until then: {', '.join(apis.name(key) for key in sorted(served.dropped(source, target, closed) - gone))}",
        f"nearby: {', '.join(targets.nearby(source, target))}",
        f"to skip: {', '.join(f'{each.release} ({each.note.note_id})' for each in targets.skipped(source, target))}",
        f"notes: {of(NOTES, (note.note_id for note in notes(source, target)))}",
        f"issues: {of(ISSUES, (issue.rule_id for issue in known_issues.brought_by(source, target)))}",
        f"kept issues: {of(ISSUES, (issue.rule_id for issue in known_issues.kept_by(source, target)))}",
        f"advice: {advice.on('sarama', gone, target)}; {advice.on('kafka-python', gone, target)}",
    ]


def test_changes_of_release(same_as_kept):
    lines = [line for pair in PAIRS for line in change(*pair)]
    for text in ("4.0", "4", "3.9.9", "9.9.9", "0.1", "", "x", " 4.0.1 ", "4.0.1-rc1"):
        lines.append(f"{text!r}: {told(lambda text=text: releases.exact(text))}")
    between = sorted(releases.between("3.8.1", "4.0.0"), key=releases.parse)
    lines += [f"between: {', '.join(between)}", f"newer: {', '.join(releases.newer_than('4.0.1'))}"]
    with_it = [release for release in releases.newer_than("3.9.1") if served.serves(release, 11, 1)]
    lines.append(f"JoinGroup 1 after 3.9.1: {', '.join(with_it)}")
    for text in ("", "transaction.version=0", "transaction.version=9", "transaction.version", "=1", "group.version=x",
                 "group.version=1, transaction.version=1", "group.version=1,group.version=1", "grup.version=1",
                 "luck=1", "luck=0", "share.version=0", "share.version=1", "metadata.version=1"):  # fmt: skip
        for release in ("3.9.1", "4.0.1", "4.2.0", "2.8.2"):
            lines.append(
                f"{text!r} of {release}: {told(lambda text=text, release=release: features.parse(text, release))}"
            )
    uses = ((0, 12), (68, 0), (68, 1), (76, 1), (22, 6), (88, 0))
    for release in ONE_BY_ONE:
        proven = [f"{apis.name(key)} {features.proven(release, [(key, version)])}" for key, version in uses]
        lines.append(f"{release}, proven: {'; '.join(proven)}")
    raised = features.raised(
        features.not_finalized("3.9.1", "4.0.1"), {"transaction.version": 9, "group.version": 1}, "4.0.1"
    )
    lines.append(f"raised: {features.text(raised)}")
    same_as_kept("compatibility", {"releases.txt": "\n".join(lines) + "\n"})


def test_who_a_broker_is(same_as_kept):
    lines = []
    versions = (
        "4.0.1", "7.6.1-ccs", "7.6.1-ce", "7.99.0-ccs", "3.9.0.redhat-00001", "3.9.1-IV1", "4.1.0-SNAPSHOT", "4.1.0-rc1", "0.11.0.3-x",
        "25.1.1", "", None, "3.9.9.amzn-1", "4.0.1.nightly",
    )  # fmt: skip
    for name in (None, "", "apache-kafka", "redpanda"):
        for version in versions:
            known = broker_guess.possible_releases(name, version)
            declared = broker_guess.declared(name, version)
            lines.append(f"{name} {version}: {known.known_by} {', '.join(known.releases)}; {declared}; "
                         f"{broker_guess.oldest_release(declared)}")  # fmt: skip
    for release in ONE_BY_ONE:
        offered = {key: api.advertised for key, api in served.by(release).items()}
        data = [key for key in offered if apis.by_key()[key].used_by == "data"]
        for what, changed in (
            ("all", offered),
            ("without data", {key: each for key, each in offered.items() if key != data[-1]}),
            (
                "without conditions",
                {key: each for key, each in offered.items() if not served.by(release)[key].condition},
            ),
            ("without admin", {k: v for k, v in offered.items() if apis.by_key()[k].used_by != "admin"}),
            ("higher", offered | {0: (offered[0][0], 99)}),
            ("of brokers", offered | {4: (0, 99)}),
            ("a strange one", offered | {999: (0, 1)}),
        ):
            given = [(key, *each) for key, each in changed.items()]
            for levels in (
                None,
                {"metadata.version": 21},
                {"transaction.version": 2, "luck": 0},
                {"luck": 1},
            ):
                known = broker_guess.possible_releases(None, None, given, levels)
                lines.append(f"{release} {what} {levels}: {known.known_by} {', '.join(known.releases)}")
    same_as_kept("compatibility", {"brokers.txt": "\n".join(lines) + "\n"})
