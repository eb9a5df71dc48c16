"""How the states of applications in planned upgrades changed, and why."""

from client_telemetry.tables import rows
from client_telemetry.tables.suite import aggregate_is, rows_satisfy
from client_telemetry.tables.table import CLUSTER_ID, DATE, INT, STRING, STRINGS, Column, Table, required

_STATES = "'open', 'new', 'acknowledged', 'promised', 'waived', 'quiet', 'fixed', 'regressed', 'renamed', 'withdrawn'"

CAMPAIGN_STATES: "Table[rows.CampaignStateRow]" = Table(
    name="campaign_states",
    comment="One row per change of an application's state in a planned upgrade. Rows are added and never changed: what a later run "
    "computes otherwise is a further revision.",
    columns=(
        CLUSTER_ID,
        required("campaign", STRING, "Name of the planned upgrade in the campaigns file"),
        required("cluster", STRING, "Name of the cluster in the clusters file"),
        required("principal", STRING, "Of the application; empty = not known"),
        required("application", STRING, "As in the reports"),
        required("day", DATE, "UTC day since which the state holds"),
        required("revision", INT, "From 1; the newest of an application and day counts"),
        required("recorded_on", DATE, "UTC day up to which the run that added the row computed states"),
        required(
            "state",
            STRING,
            "open, new, acknowledged, promised, waived, quiet, fixed, regressed or renamed (docs/campaigns.md); withdrawn: a later "
            "run did not confirm the change",
        ),
        Column("before", STRING, "State until then; null = none"),
        required("why", STRING, "Evidence, or what somebody said"),
        Column("by", STRING, "Who said so; null = the reports prove it"),
        Column("until", DATE, "Last day of a promise or waiver; null = it is none"),
        Column("owner", STRING, "As in the report; null = none"),
        Column("owner_contact", STRING, "Likewise"),
        required("verdict", STRING, "Of its worst affected client"),
        Column("fix", STRING, "Of its worst affected client; null = none is known"),
        required("rules", STRINGS, "Rules by which its clients are affected, sorted"),
        required("report_id", STRING, "Report that the state is from"),
        required("affected_since", DATE, "UTC day since which it is affected"),
        required("formerly", STRINGS, "Names under which its history began"),
    ),
    key=("cluster_id", "campaign", "principal", "application", "day", "revision"),
    partition=("cluster_id", "campaign"),
    expectations=lambda: {
        "state_is_known": rows_satisfy(f"state in ({_STATES})", "the state is one of the vocabulary"),
        "revisions_are_counted": rows_satisfy("revision >= 1", "revisions count from 1"),
        "statements_have_authors": rows_satisfy(
            "state not in ('acknowledged', 'promised', 'waived') or by is not null",
            "what somebody said has somebody who said it",
        ),
        "promises_and_waivers_end": rows_satisfy(
            "state not in ('promised', 'waived') or until >= day",
            "a promise or waiver has a last day, not before the change",
        ),
        "states_are_not_of_the_future": rows_satisfy(
            "day <= recorded_on", "a run records no state after the day that it computes"
        ),
        "nothing_recorded_is_lost": aggregate_is(
            "count(*) - {recorded}", "all rows that were there before are there", at_least=0
        ),
    },
)
