"""What must hold for an answered upgrade question."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, every
from client_telemetry.tables.upgrade_reports import UPGRADE_REPORTS

SUITE = Suite(
    UPGRADE_REPORTS,
    (
        RowRule("days_are_a_range", "first_dt <= last_dt", "critical", "the first day is not after the last"),
        RowRule(
            "evidence_is_before_the_cut",
            "evidence_from is null or evidence_until is null or evidence_from < evidence_until",
            "critical",
            "no evidence is from after evidence_until",
        ),
        RowRule(
            "clients_were_seen", "clients > 0", "warning", "at least one client was seen on the from-release"
        ),
        RowRule(
            "parts_are_clients",
            "already_failing <= clients and clients_by_pushes_only <= clients",
            "critical",
            "subsets of the clients are not larger than their total",
        ),
        RowRule(
            "asked_release_is_compared",
            "size(filter(targets, t -> t.to_release = to_release)) = 1",
            "critical",
            "the target release is one of those compared",
        ),
        RowRule(
            "targets_add_up",
            every(
                "targets",
                "t",
                "t.breaks_at_once + t.breaks_latent + t.insufficient_evidence + t.degrades + t.unsupported + t.safe = clients",
            ),
            "critical",
            "every client has a verdict for every compared release",
        ),
        SliceRule("one_row", "count(*)", "critical", "a report has one row", minimum=1, maximum=1),
    ),
)
