from datetime import timedelta

from client_telemetry.reports.cluster_states import release
from client_telemetry.reports.coverage import coverage


def test_a_rolling_upgrade_is_a_sequence_of_states(rows):
    def broker(number, version, minute, **columns):
        life = {"broker_incarnation": f"{number:016x}{minute:016x}"}
        return rows.broker(number, version, rows.START + timedelta(minutes=minute)) | life | columns

    lives = [broker(1, "3.9.1", 0), broker(2, "3.9.1", 1), broker(2, "4.0.0", 30), broker(1, "3.9.1", 35)]
    lives += [broker(1, "4.0.0", 40), broker(3, "4.0.0", 50, started_at=None)]
    states = coverage(rows.DAY, rows.DAY, None, [], lives).cluster_states
    assert [(state.since - rows.START) // timedelta(minutes=1) for state in states] == [0, 30, 40]
    releases = [[(each.release, each.broker_ids) for each in state.releases] for state in states]
    assert releases == [[("3.9.1", (1, 2))], [("3.9.1", (1,)), ("4.0.0", (2,))], [("4.0.0", (1, 2))]]


def test_a_guess_reads_as_a_guess(rows):
    def release_text(*releases, **changes):
        known_by = "guessed" if releases else None
        row = rows.broker(1, "", releases=list(releases), **{"releases_known_by": known_by, **changes})
        return release(coverage(rows.DAY, rows.DAY, None, [], [row]).brokers[0])

    assert release_text("3.9.0", "3.9.1") == "not reported (offers the request versions of 3.9.0 or 3.9.1)"
    assert release_text("4.4.0") == "not reported (offers the request versions of 4.4.0 or a later patch)"
    assert release_text(software_name="redpanda", software_version="v25.1") == "redpanda v25.1"
    assert release_text() == "not reported"
    strange = "not reported (offers the request versions of no known release of Apache Kafka)"
    assert release_text(releases_known_by="none_explains") == strange
    platform = {"software_version": "7.6.1-ccs", "releases_known_by": "confluent_platform"}
    assert release_text("3.6.0", "3.6.1", "3.6.2", **platform) == "7.6.1-ccs (built on 3.6.0 to 3.6.2)"
