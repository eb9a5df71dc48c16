"""The message to one owner: what stops and when, what to change, how to check it, what to answer."""

from collections import Counter
from collections.abc import Sequence

from client_telemetry.console.counted import counted
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.markdown import bullets, code, prose, section
from client_telemetry.reports.outcomes import SAFE_SO_FAR, split_safe
from client_telemetry.reports.upgrade import wording, written_ticket
from client_telemetry.reports.upgrade.changes import (
    NO_CHANGE,
    certainties_of,
    clients_of,
    inferred,
    needs_more,
)
from client_telemetry.reports.upgrade.model import (
    CERTAINTIES,
    FIXES,
    Application,
    Change,
    OwnerStake,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.owner_message import ASKER, owner_message
from client_telemetry.reports.upgrade.questions import owner_questions
from client_telemetry.reports.upgrade.release_comparison import target_differences
from client_telemetry.reports.upgrade.sections import needs_work, sections
from client_telemetry.reports.upgrade.ticket_cells import (
    ASKED,
    COLUMNS,
    OF_A_CHANGE,
    application_table,
    client_cards,
    edit_line,
    failed_login_rows,
    first_few,
    small_enough,
)
from client_telemetry.reports.upgrade.ticket_sections import (
    difference,
)
from client_telemetry.reports.wording import minute

_STAKE_WORDS = {
    "breaks_at_once": (
        "stops working as soon as brokers run {to}",
        "stop working as soon as brokers run {to}",
    ),
    "breaks_latent": (
        "stops working later, when the event named below occurs",
        "stop working later, when the event named below occurs",
    ),
    "insufficient_evidence": ("cannot be judged yet", "cannot be judged yet"),
    "degrades": ("loses a function", "lose a function"),
    "unsupported": ("works but is unsupported", "work but are unsupported"),
    "safe": ("is safe", "are safe"),
    SAFE_SO_FAR: ("is safe so far", "are safe so far"),
}


def owner_ticket(report: UpgradeReport, stake: OwnerStake) -> str:
    """A message to one owner, below LARGEST characters: what stops, when, which clients, what to change, how to check it."""
    subject = owner_message(report, stake).subject
    return small_enough(lambda most: _owner_ticket(report, stake, subject, most))


def _owner_ticket(report: UpgradeReport, stake: OwnerStake, subject: str, most: int) -> str:
    question, applications = report.question, report.of_owner.get(stake.owner, [])
    name = "applications without an owner" if stake.owner is None else prose(stake.owner)
    to = f"{name}{f' ({prose(stake.contact)})' if stake.contact else ''}"
    asker = prose(report.asked_by) if report.asked_by else ASKER
    broken = [each for each in applications if each.verdict == Verdict.BREAKS]
    change, done = ("rollback", "rolled back") if report.is_rollback else ("upgrade", "upgraded")
    when = f"planned for {report.planned_for}" if report.planned_for else "date not set"
    lines = [
        f"# What the {change} of {code(question.cluster_name)} to {question.to_release} means for {name}",
        "",
        f"- **Subject:** {prose(subject)}",
        f"- **To:** {to if stake.owner else 'whoever runs these applications: no owner rule matches them'}",
        f"- **From:** {asker}",
        f"- **Date:** {question.created_at:%Y-%m-%d}; {change} {when}",
        "",
        f"The Kafka brokers of this cluster will be {done} from {question.from_release} to {question.to_release}. "
        f"{_stake_sentence(stake, question.to_release)}",
        "",
        f"{_request(report, applications, asker)} Questions and answers go to {asker}.",
        "",
    ]
    if broken:
        lines += [
            "Kafka clients send each request in a particular version. A client that needs a version that "
            f"{question.to_release} does not accept stops working, although nobody changed the client.",
            "",
        ]
    for place, (fix, group) in enumerate(_by_change(report, stake, broken), start=1):
        lines += _change_section(place, fix, group, most, asker)
    better = [each for each in target_differences(broken) if not each.there.startswith("breaks")]
    lines += _lists_of_the_owner(applications, most)
    lines += section("On other releases", list(map(difference, better)))
    if stake.owner is not None:
        lines += failed_login_rows(
            [login for login in report.failed_logins if login.owner == stake.owner], most
        )
    lines += written_ticket.of_owner(report.written, stake.owner, most)
    if any(_certainty(each) != "none" for each in broken):
        lines += section("How to check that it worked", _checks(broken, asker))
    lines += [
        "## Evidence",
        "",
        *bullets(report.evidence),
        f"- Report {code(question.report_id)}, {minute(question.created_at)}. Times are in UTC.",
        "- All of your clients, including the safe ones, are in clients.csv next to this file; clients_full.csv has every column.",
        "",
    ]
    return "\n".join(lines)


def failed_logins_ticket(report: UpgradeReport, owner: str) -> str:
    """For an owner of whom nothing was seen but failed logins."""
    question = report.question
    logins = [login for login in report.failed_logins if login.owner == owner]
    return _ticket_of_unseen(
        report,
        f"Clients of {prose(owner)} cannot log in to {code(question.cluster_name)}",
        "No client of yours was seen to work in the days of the report, so what the upgrade to "
        f"{question.to_release} means for you is not known.",
        [
            *failed_login_rows(logins, len(logins)),
            *written_ticket.of_owner(report.written, owner, len(logins) + 100),
        ],
    )


def written_only_ticket(report: UpgradeReport, owner: str) -> str:
    """For an owner of whom nothing was seen that needs work, and something is written that does."""
    question = report.question
    return _ticket_of_unseen(
        report,
        f"What is written for {prose(owner)} and the upgrade of {code(question.cluster_name)} to {question.to_release}",
        "No broker saw these clients in the days of the report. If they run at all, such as once a month, the upgrade concerns them.",
        written_ticket.of_unseen(report.written, owner),
    )


def _ticket_of_unseen(report: UpgradeReport, title: str, sentence: str, rows: Sequence[str]) -> str:
    question = report.question
    lines = [
        f"# {title}",
        "",
        f"- **From:** {prose(report.asked_by) if report.asked_by else ASKER}",
        f"- **Date:** {question.created_at:%Y-%m-%d}",
        "",
        sentence,
        "",
        *rows,
        "## Evidence",
        "",
        f"- Report {code(question.report_id)}, {minute(question.created_at)}. Times are in UTC.",
        "",
    ]
    return "\n".join(lines)


def _certainty(application: Application) -> str:
    """How much is known of the changes of an application that breaks: a key of CERTAINTIES, the surest of its clients'."""
    of_clients = certainties_of(application)
    return next(certainty for certainty in CERTAINTIES if certainty in of_clients)


def _request(report: UpgradeReport, applications: Sequence[Application], asker: str) -> str:
    """What the owner is asked for, and by when."""
    broken = [each for each in applications if each.verdict == Verdict.BREAKS]
    before = f"before {'the rollback' if report.is_rollback else 'the upgrade'}"
    deadline = f"{before} on {report.planned_for}" if report.planned_for else before
    if not broken:
        if any(map(owner_questions, applications)):
            return f"Please answer the questions below {deadline}, one line for each: no application of yours is known to stop."
        if sum(map(needs_work, applications)) == 1:
            return f"Please check the application below {deadline}: it is not known to stop."
        return f"Please check the applications below {deadline}: none of them is known to stop."
    with_client = Counter(certainty for each in broken for certainty in certainties_of(each))
    sentences = []
    if any(with_client[certainty] for certainty in FIXES):
        sentences += [f"Please make the changes below {deadline}."]
    if many := with_client["open"]:
        which = "the application" if many == 1 else f"the {many:,} applications"
        use = "uses" if many == 1 else "use"
        sentences += [
            f'Please tell us {deadline} which client library {which} under "Library not identified" {use}.'
        ]
    if many := with_client["none"]:
        sentences += [f"No fix is known yet for {counted(many, 'application')}; contact {asker} {deadline}."]
    return " ".join(sentences)


def _by_change(
    report: UpgradeReport, stake: OwnerStake, broken: Sequence[Application]
) -> list[tuple[Change, list[Application]]]:
    """The report's changes that concern the owner, with the owner's applications, those that fix most of them first."""
    mine = {id(each) for each in broken}
    groups = [
        (change, [each for each in change.applications if id(each) in mine])
        for change in report.changes
        if stake.owner in change.owners
    ]
    sureness = list(CERTAINTIES)
    return sorted(
        (pair for pair in groups if pair[1]),
        key=lambda pair: (sureness.index(pair[0].certainty), -len(pair[1])),
    )


def _change_section(
    number: int, change: Change, applications: Sequence[Application], most: int, asker: str
) -> list[str]:
    many = counted(len(applications), "application")
    heading, text = f"Change {number}", prose(wording.sentence_case(change.text))
    if change.certainty == "open":
        heading, text = "Library not identified", "Tell us which client library it is"
    elif not change.is_fix:
        heading = "No fix known"
        text = f"{'No fix is known yet' if change.text == NO_CHANGE else text}; contact {asker}"
    lines = [f"## {heading}: {many}", "", f"{text}.", ""]
    lines += [edit_line(each) for each in change.edits]
    lines += [""] if change.edits else []
    guessed = inferred(change, applications)
    lines += [prose(guessed), ""] if guessed else []
    if change.certainty == "open":
        clients = [(c, each) for each in applications for c in each.clients if c.is_unidentified]
        lines += [*client_cards(clients, most), ""]
    lines += application_table(applications, OF_A_CHANGE, most)
    for each in needs_more(change, applications)[:most]:
        names = first_few(clients_of(change, each), lambda client: code(client.client_id or ""))
        lines += [
            "",
            f"In {code(each.name)}, this is for {names} only; its other clients that break "
            "need another change.",
        ]
    return [*lines, ""]


def _lists_of_the_owner(applications: Sequence[Application], most: int) -> list[str]:
    """What else the owner has to know or to answer."""
    lines: list[str] = []
    for part in sections(applications):
        if part.key in ("must-act", "unidentified", "safe", "rare"):
            continue
        heads = ASKED if part.key in ("insufficient_evidence", "open_questions") else COLUMNS
        listed = part.applications
        if part.key == "open_questions":
            listed = tuple(filter(owner_questions, listed))
        if listed:
            lines += section(part.heading, application_table(listed, heads[1:], most))
    return lines


def _stake_sentence(stake: OwnerStake, to: str) -> str:
    """
    >>> _stake_sentence(OwnerStake("a", None, "a", True, 4, 5, {"breaks_at_once": 1, "safe": 3}, 1, None, 0), "4.0.0")
    'Of your 4 applications, 1 stops working as soon as brokers run 4.0.0, 2 are safe, 1 is safe so far.'
    >>> _stake_sentence(OwnerStake("a", None, "a", True, 3, 5, {"breaks_at_once": 0, "safe": 3}, 0, None, 0), "4.0.0")
    'Your 3 applications are safe.'
    >>> _stake_sentence(OwnerStake("a", None, "a", True, 1, 5, {"breaks_at_once": 1, "safe": 0}, 0, None, 0), "4.0.0")
    'Your application stops working as soon as brokers run 4.0.0.'
    """
    parts = [
        (count, _STAKE_WORDS[outcome][count != 1].format(to=to))
        for outcome, count in split_safe(stake.counts, stake.safe_so_far).items()
        if count
    ]
    many = stake.applications
    if len(parts) == 1:
        return f"Your {f'{many:,} applications' if many != 1 else 'application'} {parts[0][1]}."
    return f"Of your {many:,} applications, {', '.join(f'{count:,} {words}' for count, words in parts)}."


def _checks(broken: list[Application], asker: str) -> list[str]:
    lines = [
        "1. Restart the changed client against the cluster as it is now, and let it run until it has done "
        "everything that it normally does.",
        f"2. Ask {asker} for a new report with the evidence since the change. The client must be listed as safe, with "
        "its new software, and must no longer send the requests named above.",
    ]
    if any(each.outcome == "breaks_latent" for each in broken):
        lines += ["3. For a client that stops later: trigger it in a test environment on the new release."]
    return lines
