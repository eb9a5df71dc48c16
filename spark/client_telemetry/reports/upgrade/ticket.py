"""report.md: the report as a ticket, for the whole cluster and for one owner. Tables and code spans are those of
GitHub Flavored Markdown. Client-supplied text stands in code spans only, where it is neither link nor HTML."""

from collections import Counter
from collections.abc import Callable, Sequence

from client_telemetry.console.counted import counted
from client_telemetry.knowledge import age, kip511
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.reports.client_strings import client_label
from client_telemetry.reports.markdown import bullets, code, prose, row
from client_telemetry.reports.outcomes import SAFE_SO_FAR, SAFE_SO_FAR_MEANING, split_safe
from client_telemetry.reports.upgrade import failed_logins, wording
from client_telemetry.reports.upgrade.changes import (
    NO_CHANGE,
    by_candidate,
    clients_of,
    inferred,
    needs_more,
    of_fix,
)
from client_telemetry.reports.upgrade.model import (
    CERTAINTIES,
    FIXES,
    Application,
    Change,
    ClientVerdict,
    ClusterQuestion,
    Edit,
    FailedLogin,
    OwnerStake,
    Question,
    Section,
    UpgradeReport,
)
from client_telemetry.reports.upgrade.owner_message import ASKER, owner_message
from client_telemetry.reports.upgrade.questions import library_question, own_gaps, owner_questions
from client_telemetry.reports.upgrade.release_comparison import target_differences
from client_telemetry.reports.upgrade.sections import needs_work, sections
from client_telemetry.reports.upgrade.ticket_sections import (
    LISTED,
    OUTCOME_COLUMNS,
    comparison,
    difference,
    outcome_cells,
    the_change_itself,
)
from client_telemetry.reports.wording import brokers, minute, number
from client_telemetry.tables.quality_findings import failed_check

COLUMNS = ("Owner", "Application", "Software", "What happens", "Why", "Change", "Seen")
UNJUDGED = ("Owner", "Application", "Software", "What is not known, and what would settle it", "Seen")
ASKED = ("Owner", "Application", "Software", "Question", "Seen")
NOTHING_TO_ANSWER = (
    "None: the team that runs the brokers finds out, or it shows when the application is seen for longer."
)
OF_A_CHANGE = ("Application", "Software", "What happens", "Why", "Groups and addresses", "Seen")
LARGEST = 32_000
"""Characters of a ticket: GitHub, GitLab and Jira take no more than 65,536, 1,000,000 and 32,767."""
_ROWS = (5000, 300, 100, 40, 15, 6, 2, 1)
"""Rows of each table that are tried, until the whole is small enough."""
IDS_NAMED = 3
CANDIDATES_NAMED = 3
_OWN = ("Application", "Seen", "Groups and addresses")
"""Columns in which applications that are alike may differ."""
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


def report_ticket(report: UpgradeReport) -> str:
    """The whole report, below LARGEST characters: of a long table the first rows, the others are in clients.csv. Safe
    applications are only counted, but for those with a question left open."""
    return _small_enough(lambda most: _report_ticket(report, most))


def owner_ticket(report: UpgradeReport, stake: OwnerStake) -> str:
    """A message to one owner, below LARGEST characters: what stops, when, which clients, what to change, how to check it."""
    subject = owner_message(report, stake).subject
    return _small_enough(lambda most: _owner_ticket(report, stake, subject, most))


def _small_enough(text_with: Callable[[int], str]) -> str:
    text = ""
    for most in _ROWS:
        text = text_with(most)
        if len(text) < LARGEST:
            return text
    end = "\n\nTruncated here: everything is in clients.csv.\n"
    return text[: LARGEST - len(end) - 1] + end


def _report_ticket(report: UpgradeReport, most: int) -> str:
    question = report.question
    lines = [
        f"# {'Rollback' if report.is_rollback else 'Upgrade'} of {code(question.cluster_name)} "
        f"from {question.from_release} to {question.to_release}",
        "",
        prose(report.sentence),
        *([prose(report.better_target)] if report.better_target else []),
        "",
        f"{prose(wording.plan(report.planned_for, report.asked_by))}.",
        "",
        prose(_knowledge(question)),
        "",
        *([prose(report.since.sentence), ""] if report.since else []),
        *bullets(report.evidence),
        "",
        "Times are in UTC.",
        "",
        *_blockers(report),
        *_cluster_questions(report.cluster_questions, most),
        *_changes(report.changes, most),
        *comparison(report),
        *_owner_table(report, most),
        *_failed_logins(report.failed_logins, most),
    ]
    for section in report.sections:
        lines += _report_section(section, most)
    lines += [*_quality(report), *the_change_itself(report, min(most, LISTED))]
    lines += ["## Not assessed", "", *bullets(report.not_assessed), ""]
    lines += ["## Method", "", *bullets(_method(report)), ""]
    return "\n".join(lines)


def _blockers(report: UpgradeReport) -> list[str]:
    if not report.blockers:
        return []
    lines = bullets(
        f"{note.what} ({note.subject} on {brokers(note.broker_ids)}.) Source: {note.source}."
        for note in report.blockers
    )
    return ["## Blockers", "", *lines, ""]


def _cluster_questions(questions: Sequence[ClusterQuestion], most: int) -> list[str]:
    """For whoever asks for the upgrade."""
    if not questions:
        return []
    lines = ["## Questions about the cluster", ""]
    for question in questions[:most]:
        names = [_short_name(each) for each in question.applications[:IDS_NAMED]]
        more = (
            f" and {len(question.applications) - IDS_NAMED:,} more"
            if len(question.applications) > IDS_NAMED
            else ""
        )
        lines += [f"- {', '.join(names)}{more}: {prose(question_in_words(question))}"]
    return [*lines, *_more(len(questions), most, "report.json"), ""]


def question_in_words(question: ClusterQuestion) -> str:
    look = f" What shows it: {question.settled_by}." if question.settled_by else ""
    return f"{question.condition}: yes or no? If yes: {question.consequence}.{look}"


def _short_name(application: Application) -> str:
    return code(application.name) if application.name else client_label(application.name)


def _report_section(section: Section, most: int) -> list[str]:
    many = counted(len(section.applications), "application")
    if section.key == "safe":
        so_far = sum(each.safe_so_far for each in section.applications)
        of_them = f", {so_far:,} of them {SAFE_SO_FAR} ({SAFE_SO_FAR_MEANING})" if so_far else ""
        return [f"## {section.heading}", "", f"{many}{of_them}; their clients are listed in clients.csv.", ""]
    if section.key == "unidentified":
        clients = [(c, each) for each in section.applications for c in each.clients if c.is_unidentified]
        return [f"## {section.heading}: {len(clients):,}", "", *_cards(clients, most), ""]
    if section.key == "rare":
        lines = [f"- {_name(each)}: {prose(each.seen_rarely or '')}" for each in section.applications[:most]]
        return [f"## {section.heading}: {many}", "", *lines, *_more(len(section.applications), most), ""]
    heads = UNJUDGED if section.key in ("insufficient_evidence", "open_questions") else COLUMNS
    return [f"## {section.heading}", "", *_table(section.applications, heads, most), ""]


def _owner_ticket(report: UpgradeReport, stake: OwnerStake, subject: str, most: int) -> str:
    question, applications = report.question, report.of_owner.get(stake.owner, [])
    name = "applications without an owner" if stake.owner is None else prose(stake.owner)
    to = f"{name}{f' ({prose(stake.contact)})' if stake.contact else ''}"
    asker = prose(report.asked_by) if report.asked_by else ASKER
    broken = [each for each in applications if each.verdict == Verdict.BREAKS]
    change = "rollback" if report.is_rollback else "upgrade"
    when = f"planned for {report.planned_for}" if report.planned_for else "date not set"
    lines = [
        f"# What the {change} of {code(question.cluster_name)} to {question.to_release} means for {name}",
        "",
        f"- **Subject:** {prose(subject)}",
        f"- **To:** {to if stake.owner else 'whoever runs these applications: no owner rule matches them'}",
        f"- **From:** {asker}",
        f"- **Date:** {question.created_at:%Y-%m-%d}; {change} {when}",
        "",
        f"The Kafka brokers of this cluster will {_are_to(report)}. {_stake_sentence(stake, report.question.to_release)}",
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
    lines += [*_lists_of_the_owner(applications, most), *_on_other_releases(broken)]
    if stake.owner is not None:
        lines += _failed_logins([login for login in report.failed_logins if login.owner == stake.owner], most)
    if any(_certainty(each) != "none" for each in broken):
        lines += ["## How to check that it worked", "", *_checks(broken, asker), ""]
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
    lines = [
        f"# Clients of {prose(owner)} cannot log in to {code(question.cluster_name)}",
        "",
        f"- **From:** {prose(report.asked_by) if report.asked_by else ASKER}",
        f"- **Date:** {question.created_at:%Y-%m-%d}",
        "",
        "No client of yours was seen to work in the days of the report, so what the upgrade to "
        f"{question.to_release} means for you is not known.",
        "",
        *_failed_logins(logins, len(logins)),
        "## Evidence",
        "",
        f"- Report {code(question.report_id)}, {minute(question.created_at)}. Times are in UTC.",
        "",
    ]
    return "\n".join(lines)


def _on_other_releases(broken: Sequence[Application]) -> list[str]:
    """Where applications do not break, of the releases near the one that was asked about."""
    better = [each for each in target_differences(broken) if not each.there.startswith("breaks")]
    return ["## On other releases", "", *map(difference, better), ""] if better else []


def _are_to(report: UpgradeReport) -> str:
    question = report.question
    done = "be rolled back" if report.is_rollback else "be upgraded"
    return f"{done} from {question.from_release} to {question.to_release}"


def _certainty(application: Application) -> str:
    """How much is known of the changes of an application that breaks: a key of CERTAINTIES, the surest of its clients'."""
    of_clients = _certainties(application)
    return next(certainty for certainty in CERTAINTIES if certainty in of_clients)


def _certainties(application: Application) -> set[str]:
    """Of the changes of all its clients that break."""
    return {
        of_fix(client.fix).certainty for client in application.clients if client.verdict == Verdict.BREAKS
    }


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
    with_client = Counter(certainty for each in broken for certainty in _certainties(each))
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
    lines += [_edit(each) for each in change.edits]
    lines += [""] if change.edits else []
    guessed = inferred(change, applications)
    lines += [prose(guessed), ""] if guessed else []
    if change.certainty == "open":
        clients = [(c, each) for each in applications for c in each.clients if c.is_unidentified]
        lines += [*_cards(clients, most), ""]
    lines += _table(applications, OF_A_CHANGE, most)
    for each in needs_more(change, applications)[:most]:
        names = [code(client.client_id or "") for client in clients_of(change, each)]
        more = f" and {len(names) - IDS_NAMED:,} more" if len(names) > IDS_NAMED else ""
        lines += [
            "",
            f"In {code(each.name)}, this is for {', '.join(names[:IDS_NAMED])}{more} only; its other clients that break "
            "need another change.",
        ]
    return [*lines, ""]


def _edit(edit: Edit) -> str:
    notes = f" ([release notes]({edit.release_notes}))" if edit.release_notes else ""
    either = "or " if edit.alternative else ""
    return f"- {either}{prose(edit.file)}: {code(edit.line, 200)}{notes}"


def _changes(changes: Sequence[Change], most: int) -> list[str]:
    if not changes:
        return []
    head = ["Change", "Owners", "Fixes", "Still break"]
    lines = ["## Changes", "", row(head), row(["---", "---", "---:", "---:"])]
    for change in changes[:most]:
        edits = "".join(f"<br>{_edit(edit)[2:]}" for edit in change.edits)
        owners = ", ".join(_owner(owner) for owner in change.owners[:IDS_NAMED])
        if len(change.owners) > IDS_NAMED:
            owners += f" and {len(change.owners) - IDS_NAMED:,} more"
        guessed = inferred(change, change.applications)
        text = (
            f"{prose(wording.sentence_case(change.text))}{edits}{f'<br>{prose(guessed)}' if guessed else ''}"
        )
        many = f"{len(change.applications):,}"
        if not change.is_fix:
            many = f"0 of {many}"
        elif needs_more(change):
            many += f" ({len(needs_more(change)):,} only in part)"
        lines += [row([text, owners, many, f"{change.applications_left:,}"])]
    return [*lines, *_more(len(changes), most, "report.json"), ""]


def _cards(clients: Sequence[tuple[ClientVerdict, Application]], most: int) -> list[str]:
    """What is known of clients whose library is not identified, and what to ask; no more of it than makes a ticket too long."""
    lines: list[str] = []
    length = 0
    for client, application in clients[:most]:
        if length > LARGEST:
            break
        before = len(lines)
        lines += [f"- {_client_name(client)}: {prose(library_question(client, application))}"]
        likely = ", ".join(each.versions for each in client.candidates[:CANDIDATES_NAMED])
        lines += [f"  - Candidates: {prose(likely)}."] if likely else []
        advice = by_candidate(client.fix)
        lines += [f"  - If it is {prose(library)}: {prose(text)}." for library, text in advice.items()]
        named = [each for each in client.related if each.relation == "two_applications"][:1]
        lines += [
            f"  - Not the program that declares itself as {code(each.client_software_name or '')} "
            f"{code(each.client_software_version or '')}, with the same principal and client id."
            for each in named
        ]
        where = _where(application.clients)
        lines += [f"  - {where}, {wording.seen(client)}." if where else f"  - {wording.seen(client)}."]
        length += sum(map(len, lines[before:]))
    return [*lines, *_more(len(clients), most)]


def _client_name(client: ClientVerdict) -> str:
    label = code(client.client_id) if client.client_id else client_label(client.client_id)
    return f"{label}, {code(client.principal)}" if client.principal else label


def _where(clients: Sequence[ClientVerdict]) -> str:
    """Groups, transactional ids and addresses, the first few of each."""
    parts = []
    for one, many, values in (
        ("group", "groups", sorted({each for client in clients for each in client.group_ids})),
        (
            "transactional id",
            "transactional ids",
            sorted({each for client in clients for each in client.transactional_ids}),
        ),
        ("topic", "topics", sorted({each for client in clients for each in client.topics})),
        ("from", "from", sorted({each for client in clients for each in client.address_sample})),
        ("host", "hosts", sorted({each for client in clients for each in client.hosts})),
    ):
        if values:
            more = f" and {len(values) - IDS_NAMED:,} more" if len(values) > IDS_NAMED else ""
            named = ", ".join(map(code, values[:IDS_NAMED]))
            parts.append(f"{one if len(values) == 1 else many} {named}{more}")
    return "; ".join(parts)


def _lists_of_the_owner(applications: Sequence[Application], most: int) -> list[str]:
    """What else the owner has to know or to answer."""
    lines: list[str] = []
    for section in sections(applications):
        if section.key in ("must-act", "unidentified", "safe", "rare"):
            continue
        heads = ASKED if section.key in ("insufficient_evidence", "open_questions") else COLUMNS
        listed = section.applications
        if section.key == "open_questions":
            listed = tuple(filter(owner_questions, listed))
        if listed:
            lines += [f"## {section.heading}", "", *_table(listed, heads[1:], most), ""]
    return lines


def _failed_logins(logins: Sequence[FailedLogin], most: int) -> list[str]:
    if not logins:
        return []
    lines = [
        "## Cannot log in today",
        "",
        *bullets(prose(failed_logins.login_in_words(login)) for login in logins[:most]),
    ]
    if len(logins) > most:
        lines += [f"- {len(logins) - most:,} more in report.json."]
    return [*lines, ""]


def _more(count: int, most: int, file: str = "clients.csv") -> list[str]:
    return ["", f"{count - most:,} more in {file}."] if count > most else []


def _owner(owner: str | None) -> str:
    return "no owner" if owner is None else prose(owner)


def _quality(report: UpgradeReport) -> list[str]:
    if not report.quality_warnings:
        return []
    lines = ["## Data quality", ""]
    for w in report.quality_warnings:
        lines += [f"- {prose(w.table_name)}, {w.dt}: {prose(failed_check(w))}"]
    return [*lines, ""]


def _owner_table(report: UpgradeReport, most: int) -> list[str]:
    if not report.owners:
        return []
    head = ["Owner", "Applications", *OUTCOME_COLUMNS, "First change"]
    lines = ["## Owners", "", row(head), row(["---", *["---:"] * (1 + len(OUTCOME_COLUMNS)), "---"])]
    for stake in report.owners[:most]:
        helped = counted(stake.first_fix_applications, "application")
        first = f"{prose(wording.sentence_case(stake.first_fix))} ({helped})" if stake.first_fix else ""
        numbers = [number(stake.applications), *outcome_cells(stake)]
        lines += [row([_owner(stake.owner), *numbers, first])]
    return [*lines, *_more(len(report.owners), most, "report.json"), ""]


def _table(applications: Sequence[Application], columns: tuple[str, ...], most: int) -> list[str]:
    """One row for applications that differ in name only, `most` rows, or as many as make a ticket too long."""
    groups: dict[object, list[Application]] = {}
    shared = [_CELLS[column] for column in columns if column not in _OWN]
    for each in applications:
        alike = tuple(cell(each) for cell in shared) if most < _ROWS[0] else id(each)
        groups.setdefault(alike, []).append(each)
    rows = [row(columns), row(["---"] * len(columns))]
    length = 0
    for group in list(groups.values())[:most]:
        if length > LARGEST:
            break
        cells = {column: _CELLS[column](group[0]) for column in columns}
        if len(group) > 1:
            names = ", ".join(code(each.name) for each in group[:IDS_NAMED])
            more = f" and {len(group) - IDS_NAMED:,} more" if len(group) > IDS_NAMED else ""
            requests = counted(sum(each.requests for each in group), "request")
            cells |= {"Application": names + more, "Seen": requests, "Groups and addresses": ""}
        rows += [row(cells[column] for column in columns)]
        length += len(rows[-1])
    return [*rows, *_more(len(groups), most)]


def _name(application: Application) -> str:
    """Name, product, principal and, where there are several, how many clients."""
    label = code(application.name) if application.name else client_label(application.name)
    if application.product and application.product != application.name:
        label += f" ({prose(application.product)})"
    if application.principal:
        label += f", {code(application.principal)}"
    many = len(application.clients)
    return f"{label}, {many:,} clients" if many > 1 else label


def _software(application: Application) -> str:
    """As declared; otherwise what the requests are those of."""
    software = wording.software(application)
    if software != kip511.NO_SOFTWARE:
        return code(software)
    identified = wording.identified(application)
    return f"{software}; {prose(identified)}" if identified else software


_CELLS: dict[str, Callable[[Application], str]] = {
    "Owner": lambda each: _owner(each.owner),
    "Application": _name,
    "Software": _software,
    "What happens": lambda each: f"{prose(wording.happens(each))} ({each.confidence})",
    "Why": lambda each: prose(each.explanation),
    "Change": lambda each: prose(wording.sentence_case("; ".join(each.changes) or each.fix or "")),
    UNJUDGED[3]: lambda each: prose("; ".join(own_gaps(each)) or each.explanation),
    ASKED[3]: lambda each: prose(" ".join(owner_questions(each)) or NOTHING_TO_ANSWER),
    "Seen": wording.seen,
    "Groups and addresses": lambda each: _where(each.clients),
}
"""Columns of a table of applications."""


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


def _knowledge(question: Question) -> str:
    built_at, at = question.knowledge_built_at, question.created_at
    sentence = age.sentence(question.knowledge_version, built_at, at, question.knowledge_gaps)
    return ". ".join(filter(None, (sentence, age.warning(built_at, at)))) + "."


def _method(report: UpgradeReport) -> list[str]:
    question = report.question
    snapshots = ", ".join(f"{table} {snapshot}" for table, snapshot in question.snapshots.items())
    return [
        f"Code version {question.code_version}.",
        f"Snapshots read: {snapshots or 'none'}.",
        f"Report {question.report_id}, created {minute(question.created_at)}.",
    ]
