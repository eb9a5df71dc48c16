"""upgrade_campaign: a planned upgrade on one of its clusters: states of its applications, and the campaign's page.

Reads the campaigns file and the published reports, computes the whole history of states, and adds to the table
campaign_states what it does not have yet. Runs may come in any order and repeatedly.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from pathlib import Path

from client_telemetry import knowledge
from client_telemetry.campaign import recorded
from client_telemetry.campaign.answers import Answer, NotAReport
from client_telemetry.campaign.corrections import NotAHistory
from client_telemetry.campaign.gate import WORDS, Decision, Knowledge, decide
from client_telemetry.campaign.plan import BadCampaign, Campaign
from client_telemetry.campaign.plan_file import named, read_campaigns
from client_telemetry.campaign.recorded import Recorded
from client_telemetry.campaign.report_files import reports
from client_telemetry.campaign.states import StateChange, current, history
from client_telemetry.console.arguments import day
from client_telemetry.console.counted import counted
from client_telemetry.knowledge import releases
from client_telemetry.pipeline.fetched_folder import NoFolder, fetched
from client_telemetry.pipeline.place import published_place
from client_telemetry.pipeline.stage import BadArguments, Outcome, Slice, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.reports.campaign.publish import FOLDER, PAGE, before, publish
from client_telemetry.reports.campaign.view import view
from client_telemetry.reports.names import folder_name
from client_telemetry.tables import campaign_states as campaign_states_suite
from client_telemetry.tables.campaign_states import CAMPAIGN_STATES
from client_telemetry.tables.rows import CampaignStateRow

SUITES = (campaign_states_suite.SUITE,)
_LARGEST_REPORT_BYTES = 2**30


def upgrade_campaign(stage: Stage) -> Outcome:
    args = stage.arguments
    campaign = _campaign(args.campaigns, args.campaign)
    if args.cluster_name not in campaign.clusters:
        raise BadArguments(f"campaign {campaign.name!r} is not about cluster {args.cluster_name!r}")
    branch = stage.branch((CAMPAIGN_STATES,))
    until = args.day or dt.datetime.now(dt.UTC).date()
    answers = [answer for name in campaign.clusters for answer in _answers(args.publish, name, campaign)]
    changes = history(campaign, answers, until)
    where = {"cluster_id": stage.cluster, "campaign": campaign.name}
    rows = stage.lake.rows(CAMPAIGN_STATES, **where)
    of_cluster = [change for change in changes if change.cluster == args.cluster_name]
    new = recorded.added(map(_recorded, rows), of_cluster, until)
    branch.replace_rows(CAMPAIGN_STATES, [*rows, *(_row(stage.cluster, row) for row in new)], **where)
    stage.publish(branch, [Slice(suite, where, {"recorded": len(rows)}) for suite in SUITES], [until])
    facts = Knowledge(knowledge.version(), releases.newest_day())
    decision = decide(campaign, changes, answers, facts, until)
    page, sentence = _publish(args.publish, campaign, changes, answers, decision, until)
    return _outcome(stage, campaign, changes, new, decision, page, sentence)


def _campaign(location: str, name: str) -> Campaign:
    campaigns = read_text_file(location, "planned upgrades", read_campaigns)
    try:
        return named(campaigns, name)
    except BadCampaign as error:
        raise BadArguments(f"{location}: {error}") from None


def _answers(publish: str, cluster: str, campaign: Campaign) -> Iterator[Answer]:
    """Of the published reports of one cluster about the campaign's target; none if none is published."""
    location = f"{publish.rstrip('/')}/upgrade_impact/{folder_name(cluster)}"
    try:
        with fetched(location, "reports", _is_read, _LARGEST_REPORT_BYTES) as (root, _):
            yield from reports(root, campaign)
    except NoFolder:
        return
    except NotAReport as error:
        raise BadArguments(str(error)) from None


def _is_read(name: str) -> bool:
    return Path(name).name in ("report.json", "summary.json") and not name.startswith(".")


def _publish(
    location: str,
    campaign: Campaign,
    changes: Sequence[StateChange],
    answers: Sequence[Answer],
    decision: Decision,
    until: dt.date,
) -> tuple[str, str]:
    """Where the page is, and its first sentence."""
    folder = f"{FOLDER}/{folder_name(campaign.name)}"
    with published_place(location, folder, folder) as place:
        try:
            published = before(campaign.name, place.root)
        except NotAHistory as error:
            raise BadArguments(str(error)) from None
        shown = view(campaign, changes, answers, decision, until, published)
        return place.shown(publish(shown, place.root) / PAGE), shown.sentence


def _outcome(
    stage: Stage,
    campaign: Campaign,
    changes: Sequence[StateChange],
    new: Sequence[Recorded],
    decision: Decision,
    page: str,
    sentence: str,
) -> Outcome:
    states: dict[str, int] = {}
    for change in current(change for change in changes if change.cluster == stage.arguments.cluster_name):
        states[change.state] = states.get(change.state, 0) + 1
    corrected = sum(row.revision > 1 for row in new)
    counts = {"changes": len(new) - corrected, "corrections": corrected, **states}
    added = f"{counted(counts['changes'], 'change')} of state, {counted(corrected, 'correction')}"
    message = (
        f"upgrade_campaign: {campaign.name} on {stage.arguments.cluster_name}: {added}. {sentence}\n{page}"
    )
    details = {"report": page, "sentence": sentence, "decision": WORDS[decision.code], "code": decision.code}
    return Outcome(message, counts, details)


def _row(cluster_id: str, row: Recorded) -> CampaignStateRow:
    change = row.change
    return {
        "cluster_id": cluster_id,
        "campaign": change.campaign,
        "cluster": change.cluster,
        "principal": change.principal or "",
        "application": change.application,
        "day": change.day,
        "revision": row.revision,
        "recorded_on": row.recorded_on,
        "state": change.state,
        "before": change.before or None,
        "why": change.why,
        "by": change.by or None,
        "until": change.until,
        "owner": change.owner,
        "owner_contact": change.contact,
        "verdict": change.verdict,
        "fix": change.fix,
        "rules": list(change.rules),
        "report_id": change.report_id,
        "affected_since": change.affected_since,
        "formerly": list(change.formerly),
    }


def _recorded(row: CampaignStateRow) -> Recorded:
    change = StateChange(
        campaign=row["campaign"],
        cluster=row["cluster"],
        principal=row["principal"] or None,
        application=row["application"],
        owner=row["owner"],
        contact=row["owner_contact"],
        day=row["day"],
        state=row["state"],
        before=row["before"] or "",
        why=row["why"],
        by=row["by"] or "",
        until=row["until"],
        verdict=row["verdict"],
        fix=row["fix"],
        rules=tuple(row["rules"]),
        report_id=row["report_id"],
        affected_since=row["affected_since"],
        formerly=tuple(row["formerly"]),
    )
    return Recorded(change, row["revision"], row["recorded_on"])


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("upgrade_campaign", __doc__)
    arguments.add_argument(
        "--cluster-name", required=True, help="name of the cluster, as in the campaigns file"
    )
    arguments.add_argument(
        "--campaigns", required=True, help="file or URL of planned upgrades (docs/campaigns.md)"
    )
    arguments.add_argument("--campaign", required=True, help="name of the planned upgrade")
    arguments.add_argument("--publish", required=True, help="folder or URL of published reports and pages")
    arguments.add_argument("--day", type=day, help="UTC day up to which states are computed; default: today")
    return run(arguments, upgrade_campaign, argv, starts_spark="never")
