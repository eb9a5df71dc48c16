"""upgrade_campaign: a planned upgrade on one of its clusters: states of its applications, and the campaign's page.

Reads the campaigns file and the published reports that are new since the run before, continues the history of states, and adds to the
table campaign_states what it does not have yet. Runs may come in any order and repeatedly.
"""

import datetime as dt
from collections.abc import Sequence
from functools import partial

from client_telemetry import knowledge
from client_telemetry.campaign.gate import WORDS, Knowledge, decide
from client_telemetry.campaign.plan import BadCampaign, Campaign
from client_telemetry.campaign.plan_file import beside, named, read_campaigns
from client_telemetry.campaign.recorded import added as added_to
from client_telemetry.campaign.state_rows import counts, recorded_state, state_row
from client_telemetry.console.arguments import day
from client_telemetry.console.counted import counted
from client_telemetry.jobs.campaign_pages import publish_page, standing_of
from client_telemetry.knowledge import releases
from client_telemetry.pipeline import target_folder
from client_telemetry.pipeline.options import add_options
from client_telemetry.pipeline.stage import BadArguments, Outcome, Slice, Stage, parser, run
from client_telemetry.pipeline.text_file import read_text_file
from client_telemetry.tables.campaign_states import CAMPAIGN_STATES


def upgrade_campaign(stage: Stage) -> Outcome:
    args = stage.arguments
    campaign = _campaign(args.campaigns, args.campaign, args.targets)
    if stage.cluster_name not in campaign.clusters:
        raise BadArguments(f"campaign {campaign.name!r} is not about cluster {stage.cluster_name!r}")
    until = args.day or dt.datetime.now(dt.UTC).date()
    standing = standing_of(args.publish, campaign, until)
    where = {"cluster_id": stage.cluster, "campaign": campaign.name}
    rows = stage.lake.rows(CAMPAIGN_STATES, **where)
    of_cluster = [change for change in standing.changes if change.cluster == stage.cluster_name]
    new = added_to(map(recorded_state, rows), of_cluster, until)
    if new:
        branch = stage.branch((CAMPAIGN_STATES,))
        branch.replace_rows(
            CAMPAIGN_STATES, [*rows, *(state_row(stage.cluster, row) for row in new)], **where
        )
        stage.publish(branch, [Slice(CAMPAIGN_STATES, where, {"recorded": len(rows)})], [until])
    facts = Knowledge(knowledge.version(), releases.newest_day())
    decision = decide(campaign, standing.changes, standing.reports, facts, until)
    page, sentence = publish_page(args.publish, campaign, standing, decision, until)
    numbers = counts(of_cluster, new)
    added = (
        f"{counted(numbers['changes'], 'change')} of state, {counted(numbers['corrections'], 'correction')}"
    )
    message = f"upgrade_campaign: {campaign.name} on {stage.cluster_name}: {added}. {sentence}\n{page}"
    details = {"report": page, "sentence": sentence, "decision": WORDS[decision.code], "code": decision.code}
    return Outcome(message, numbers, details)


def _campaign(location: str, name: str, targets: str | None) -> Campaign:
    naming = beside(location, partial(target_folder.named, folder=targets))
    campaigns = read_text_file(location, "planned upgrades", partial(read_campaigns, naming=naming))
    try:
        return named(campaigns, name)
    except BadCampaign as error:
        raise BadArguments(f"{location}: {error}") from None


def main(argv: Sequence[str] | None = None) -> int:
    arguments = parser("upgrade_campaign", __doc__)
    arguments.add_argument("--campaigns", required=True, help="file or URL (docs/campaigns.md)")
    arguments.add_argument("--campaign", required=True, help="name of the planned upgrade")
    add_options(arguments, "--publish", "--targets")
    arguments.add_argument("--day", type=day, help="UTC day up to which states are computed; default: today")
    return run(arguments, upgrade_campaign, argv)
