"""What an upgrade report says. Everything that is shown, counted or compared is a value here; the renderings
(page.py, document.py, spreadsheet.py, ticket.py) choose a form and compute nothing. How the values come about
is in build.py."""

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from client_telemetry.console.grouped import grouped
from client_telemetry.formats.written_file import Written
from client_telemetry.reports.evidence import Coverage, DaySeen, QualityWarning, RelatedClient
from client_telemetry.reports.outcomes import outcome
from client_telemetry.tables.rows import ConnectionsCountedOnlyRecord, UpgradeVerdictRow

SCHEMA_VERSION = 3
"""Of report.json. Goes up when a field is removed, renamed or changes its meaning (docs/report-format.md)."""


STEPS = {
    "rolling": "during the rolling upgrade (mixed versions)",
    "not_finalized": "all brokers upgraded, features not finalized",
    "finalized": "features finalized",
    "rollback_before_finalization": "rolled back before finalization",
    "rollback_after_finalization": "rolled back after finalization",
}
"""Steps of the change in order, with their words."""


CERTAINTIES = {
    "exact": "the change is known",
    "conditional": "the library is known; what to change depends on its configuration",
    "open": "the library is not identified: ask the owner",
    "none": "no change is known",
}
"""How much of a change is known, surest first."""
FIXES = ("exact", "conditional")
"""Of these, what cures a client. Of the others the client goes on to break until more is known."""

CONFIDENCE_MEANINGS = {
    "observed": "requests of that version were seen",
    "declared": "from the software name and version that the client declared (KIP-511)",
    "inferred": "inferred from the pattern of its requests",
    "none": "no evidence",
}


@dataclass(frozen=True)
class Question:
    """What was asked, and which evidence the answer rests on: the row of `upgrade_reports`. Times are UTC."""

    cluster_id: str
    cluster_name: str
    report_id: str
    from_release: str
    to_release: str
    first_dt: date
    last_dt: date
    evidence_from: datetime | None
    evidence_until: datetime | None
    evidence_until_reason: str | None
    clients: int
    clients_by_pushes_only: int
    """Of these, known by their metric pushes alone."""
    already_failing: int
    connections: int
    connections_elsewhere: int | None
    connections_unidentified: int | None
    connections_counted_only: list[ConnectionsCountedOnlyRecord] | None
    """Software and version, connections, and whether a client stands for them; None = no manifest tells."""
    knowledge_version: str
    knowledge_built_at: datetime | None
    """None in rows that were written before it was recorded."""
    knowledge_gaps: str | None
    """What the knowledge base does not know of these releases, in words."""
    snapshots: dict[str, int]
    code_version: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason: the columns of `upgrade_findings` without those that name the question and the client."""

    finding: int
    rule_id: str
    verdict: str
    confidence: str
    when: str | None
    trigger: str | None
    condition: str | None
    condition_met: str | None
    settled_by: str | None
    """What would show whether the condition is met."""
    api_key: int | None
    api_name: str | None
    versions: str | None
    requests: int | None
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    broker_ids: tuple[int, ...]
    source_objects: tuple[str, ...]
    source_sequences: tuple[int, ...]
    """For each of source_objects the sequence of the record in it."""
    explanation: str
    fix: str | None
    source: str


@dataclass(frozen=True, slots=True)
class OtherTarget:
    """A compared release on which a client fares otherwise: an entry of `upgrade_verdicts.other_targets`."""

    to_release: str
    verdict: str
    when: str | None
    reason: str
    """The requests or the rule that make the difference, as `JoinGroup v1`."""

    def __str__(self) -> str:
        return f"{self.to_release}: {outcome(self.verdict, self.when)} ({self.reason})"


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to a client at a step of the change: an entry of `upgrade_verdicts.steps`."""

    step: str
    """A key of STEPS."""
    verdict: str
    when: str | None
    explanation: str

    def __str__(self) -> str:
        return f"{self.step}: {self.verdict} ({self.explanation})"


@dataclass(frozen=True, slots=True)
class CandidateLibrary:
    """A library that a client which declares none can be. `exact`: APIs used with just the version that it takes on these
    brokers."""

    library: str
    versions: str
    """With the library: `sarama 1.17.0 or later`."""
    exact: int

    def __str__(self) -> str:
        return f"{self.versions} ({self.exact} APIs match)"


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """What is said of a client and of an application alike. Of an application: the verdict, and what belongs to it, are those
    of its worst client; what was seen is that of all of its clients."""

    anchor: str
    """Its address on the page, the same in every report: names.anchor."""
    principal: str | None
    owner: str | None
    owner_contact: str | None
    product: str | None
    outcome: str
    """A key of OUTCOMES."""
    verdict: str
    when: str | None
    trigger: str | None
    """What sets off a verdict that is latent, from its first latent finding of that verdict."""
    confidence: str
    explanation: str
    fix: str | None
    missing: tuple[str, ...]
    roles: tuple[str, ...]
    condition: str | None
    """What the verdict depends on that the evidence cannot show, and what would settle it."""
    already_failing: bool
    """On the release that the brokers run today already; of an application: some client is."""
    works_again: bool
    """It is already failing, and the new release serves it."""
    as_before: bool
    """The verdict rests on nothing but what waits for it today too; of an application: so do all of its clients with its
    verdict."""
    steps: tuple[Step, ...]
    """In the order of the change; empty where the question is about an older release."""
    rollback_verdict: str | None
    rollback_explanation: str | None
    mixed_verdict: str | None
    mixed_explanation: str | None
    other_targets: tuple[OtherTarget, ...]
    connections: int
    requests: int
    broker_ids: tuple[int, ...]
    first_seen_at: datetime
    last_seen_at: datetime
    days_seen: tuple[DaySeen, ...]
    safe_so_far: bool
    """Safe, and not well observed; of an application: none of its clients is."""
    seen_rarely: str | None
    """Why it counts as seen rarely, in words; null = it does not."""


@dataclass(frozen=True, kw_only=True)
class ClientProfile:
    """What the table `clients` says of a client: client_profiles.py."""

    candidates: tuple[CandidateLibrary, ...] = ()
    """Likeliest first; empty where it declares a library."""
    candidates_because: tuple[str, ...] = ()
    """What tells them apart."""
    addresses: int = 0
    """Distinct addresses, the most of all days; 0 = the table `clients` says nothing of it."""
    address_sample: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    """Names of these addresses, where the user's file of hosts has them."""
    listeners: tuple[str, ...] = ()
    group_ids: tuple[str, ...] = ()
    transactional_ids: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    """Named in its requests, perhaps not all; empty where the source has no requests."""
    related: tuple[RelatedClient, ...] = ()
    days_seen: tuple[DaySeen, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ClientVerdict(Assessed, ClientProfile):
    """One client: the columns of `upgrade_verdicts` without those that name the question, and what is derived from them.
    Client-supplied strings are exactly as they came."""

    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    program: str | None
    """Which of several programs behind the client id; None = it is one."""
    identified_as: str | None
    application: str
    application_kind: str
    application_notes: tuple[str, ...]
    well_observed: bool
    """Each of its roles was seen for long enough by its own rhythm."""
    priority: int
    """1 = most urgent: the place of its outcome in OUTCOMES; 1 too where it is failing already."""
    change: str | None
    """The change that cures it, as the rows of UpgradeReport.changes group it; null = it does not break."""
    is_unidentified: bool
    """It declares no library, none can be told, no product of its own has advice, and it is not called safe."""
    owner_question: str | None
    """The one question to the owner of an unidentified client."""
    findings: tuple[Finding, ...]


QUESTION_COLUMNS = ("cluster_id", "report_id")
_DERIVED_COLUMNS = (
    "anchor",
    "outcome",
    "priority",
    "trigger",
    "safe_so_far",
    "seen_rarely",
    "change",
    "is_unidentified",
    "candidates",
    "candidates_because",
    "owner_question",
    "addresses",
    "address_sample",
    "hosts",
    "listeners",
    "group_ids",
    "transactional_ids",
    "topics",
    "related",
    "days_seen",
)
CLIENT_COLUMNS = (
    *(name for name in UpgradeVerdictRow.__annotations__ if name not in QUESTION_COLUMNS),
    *_DERIVED_COLUMNS,
)
"""Fields of a client in the order of files: columns of `upgrade_verdicts` but those of the question, then the derived ones, without
`findings`."""


@dataclass(frozen=True, kw_only=True)
class Application(Assessed):
    """What an owner would call one program: the clients with one principal, owner and application."""

    name: str
    kind: str
    """A word of upgrade_verdicts.application_kind."""
    notes: tuple[str, ...]
    """Where putting the clients together is a guess, and where several programs can hide behind one client id."""
    changes: tuple[str, ...]
    """`text` of the changes that its clients which break need."""
    counts: dict[str, int]
    """Its clients per outcome."""
    clients: tuple[ClientVerdict, ...]
    """Worst first. report.json has their places in `clients`."""


@dataclass(frozen=True)
class Edit:
    """A line as it is typed. `file`: what to open; `line`: with a leading `-` one to remove; `release_notes`: a URL, null =
    none known; `alternative`: to be made instead of the one before it, not with it."""

    file: str
    line: str
    release_notes: str | None
    alternative: bool = False


@dataclass(frozen=True)
class Change:
    """One change and whom it cures, or where none is known (`is_fix`), whom that concerns. A client that breaks belongs to
    one change, which is all that it needs."""

    text: str
    certainty: str
    """A key of CERTAINTIES."""
    is_fix: bool
    """Whether it cures its clients: its certainty is in FIXES."""
    instead: tuple[str, ...]
    """Other target releases that cure some of its clients without it, in words."""
    edits: tuple[Edit, ...]
    clients: int
    inferred: int
    """Of these, clients whose library is not declared but as good as certain."""
    owners: tuple[str | None, ...]
    """Of its clients, those with most of them first."""
    applications_left: int
    """Applications that still break after this change and those before it; what is no fix leaves as many as before."""
    applications: tuple[Application, ...]
    """With such clients. report.json has their places in `applications`."""


@dataclass(frozen=True)
class Section:
    """A list of the report. `key`: its address on the page."""

    key: str
    heading: str
    applications: tuple[Application, ...]
    """report.json has their places in `applications`."""


@dataclass(frozen=True)
class Phrase:
    """A piece of the sentence that is the answer. `outcome` names the list that the piece counts."""

    text: str
    outcome: str | None = None


@dataclass(frozen=True)
class Target:
    """A release that was compared, with the applications per outcome."""

    to_release: str
    is_asked: bool
    counts: dict[str, int]
    safe_so_far: int
    """Of the safe ones, those with no client that was well observed."""
    works_again: int
    """Applications that are already failing, with a client that is served there."""


@dataclass(frozen=True)
class TargetDifference:
    """Applications that fare otherwise on these releases than on the one that was asked about."""

    releases: tuple[str, ...]
    asked: str
    """Outcome on the release that was asked about."""
    there: str
    """Outcome on these."""
    reason: str
    well_observed: bool
    """Whether a client of each application was; otherwise where they are safe, they are safe so far."""
    applications: int
    names: tuple[str, ...]
    """The first few; all are among the applications, in `other_targets`."""


@dataclass(frozen=True)
class Outlook:
    """Applications per verdict at another point of the upgrade."""

    counts: dict[str, int]
    sentences: tuple[str, ...]
    differing: int
    """Applications whose verdict differs there, in a way that matters: mixed_and_rollback.py."""


@dataclass(frozen=True)
class ClusterQuestion:
    """What is asked once for the cluster: yes or no. `condition` is a clause in which "it" is each of the applications."""

    condition: str
    consequence: str
    """What happens to the first of the applications if it is so."""
    settled_by: str
    applications: tuple[Application, ...]
    """report.json has their places in `applications`."""


@dataclass(frozen=True)
class ClusterNote:
    """What a pair of releases brings to the cluster itself: a line of cluster_notes.csv."""

    note_id: str
    weight: str
    affected: str
    what: str
    how_to_detect: str
    source: str
    applies: str
    """yes: the setup of a broker shows it; no: that of all brokers rules it out; otherwise unknown."""
    broker_ids: tuple[int, ...]
    """Brokers that show whether it applies."""
    subject: str
    """What shows that it applies, such as the name of a setting; empty otherwise."""


@dataclass(frozen=True)
class SkippedRelease:
    """A release for which another patch release is to be taken, and why."""

    release: str
    what: str
    affected: str
    source: str


@dataclass(frozen=True)
class ConfigurationChange:
    """A configuration key that differs between the releases of the question."""

    scope: str
    """`broker` or `topic`."""
    key: str
    change: str
    """`gone`, `default`, or `valid_range` for numbers."""
    before: str
    after: str
    """Defaults or ranges as in broker_configuration.csv; empty for a key that is gone."""


@dataclass(frozen=True)
class ConfigurationChanges:
    """What differs in the code of the releases, whatever the brokers set."""

    not_known_for: tuple[str, ...]
    """Releases whose configuration is not known; then there are no changes, and null new keys."""
    changes: tuple[ConfigurationChange, ...]
    new_keys: int | None


@dataclass(frozen=True)
class MetricChanges:
    """Metrics of brokers (MBeans) that were seen in running brokers of the releases."""

    not_known_for: tuple[str, ...]
    """Releases of which no broker was run; then there are none, and the counts are null."""
    gone: tuple[str, ...]
    """Seen on the from-release; the jars of the other do not have the name. `domain:type=…,name=…,tag=*`."""
    new: int | None
    not_seen: int | None
    """Seen on the from-release only, although the other may have them."""


@dataclass(frozen=True)
class FalseAlarm:
    """Request versions that the metrics and logs of the old brokers call deprecated although the new ones serve
    them."""

    api_key: int
    api_name: str
    versions: str


@dataclass(frozen=True)
class OwnerStake:
    """What the upgrade means for one owner. `owner` null = the clients that no owner rule matches."""

    owner: str | None
    contact: str | None
    folder: str
    """Name of the owner's pack below `owners/`."""
    has_pack: bool
    """Whether there is one: there is something to do or to answer."""
    applications: int
    clients: int
    counts: dict[str, int]
    """Applications per outcome."""
    safe_so_far: int
    """Of the safe ones, those that are safe so far."""
    first_fix: str | None
    """The first of `changes` that are fixes among those of the owner's clients, by what it cures for this owner; null = none
    breaks, or no fix is known."""
    first_fix_applications: int
    """Applications of the owner with clients that it cures."""


@dataclass(frozen=True)
class SoftwareVersion:
    version: str | None
    clients: int
    counts: dict[str, int]


@dataclass(frozen=True)
class Software:
    """Clients by the software name that they declared, versions in order. `name` null = not declared."""

    name: str | None
    clients: int
    counts: dict[str, int]
    versions: tuple[SoftwareVersion, ...]


@dataclass(frozen=True)
class Rule:
    """A rule that some finding cites."""

    rule_id: str
    source: str
    findings: int


@dataclass(frozen=True)
class FailedLogin:
    """Logins that brokers refused, of one address, principal, mechanism and reason. Null = the broker does not say."""

    client_address: str | None
    host: str | None
    principal: str | None
    sasl_mechanism: str | None
    reason: str | None
    count: int
    first_at: datetime
    last_at: datetime
    owner: str | None
    """Of all clients that were seen from the address, if it is one; without such clients, by the owner rules."""
    has_other_clients: bool
    """Whether clients that do log in were seen from the address."""


@dataclass(frozen=True)
class Decision:
    """Whether the brokers may change, by what stops a pipeline: applications that break, and blockers."""

    code: int
    """The exit code of the gate: 0 go, 3 no-go, 4 cannot tell."""
    gate: str
    """Its sentence."""
    readiness: str
    """In words for people."""
    reasons: tuple[str, ...]
    """What blocks; of what may start, what that rests on."""
    fixable: int
    """Applications that break, and of which all changes are known."""
    waiting: int
    """Those of which an owner has to say which library they use."""
    without_fix: int
    """All others that break."""
    next_steps: tuple[str, ...]
    """These numbers in words, with the owners that have most to answer."""


@dataclass(frozen=True)
class ChangedVerdict:
    """An application whose outcome differs from that of an earlier report; outcomes are keys of OUTCOMES."""

    anchor: str
    name: str
    before: str
    now: str


@dataclass(frozen=True)
class SinceEarlier:
    """What changed since the last published report of the same question. `evidence`, `knowledge`, `rules`: `the same`, or
    `changed` with what did."""

    report_id: str
    created_at: datetime
    sentence: str
    evidence: str
    knowledge: str
    rules: str
    """Those of this program: its version."""
    new_applications: int
    gone_applications: int
    changed: tuple[ChangedVerdict, ...]
    """In the order of the report."""


@dataclass(frozen=True)
class UpgradeReport:
    schema_version: int
    question: Question
    answer: tuple[Phrase, ...]
    sentence: str
    known_by: tuple[str, ...]
    """Words of vocabulary.KnownBy that hold for each of its verdicts. Which applications were rehearsed or replayed, rehearsal.json and replay.json say."""
    decision: Decision
    for_management: tuple[str, ...]
    """The decision as lines of plain text that stands alone."""
    is_rollback: bool
    """Whether an older release was asked about."""
    better_target: str | None
    """The sentence about a nearby release that breaks fewer clients; null = none does."""
    targets: tuple[Target, ...]
    """Oldest release first."""
    target_differences: tuple[TargetDifference, ...]
    evidence: tuple[str, ...]
    """What the answer rests on, in sentences."""
    counts: dict[str, int]
    """Applications per outcome; all of OUTCOMES, in that order. They add up to the applications."""
    client_counts: dict[str, int]
    """Clients per outcome, likewise. They add up to `question.clients`."""
    safe_so_far: int
    """Applications: of `counts.safe`, those with no client that was well observed."""
    already_failing: int
    """Applications that fail on the from-release already, whatever their outcome."""
    works_again: int
    """Of these, those that the release that was asked about serves."""
    coverage: Coverage
    asked_by: str | None
    """Whom owners answer to."""
    planned_for: date | None
    """When the brokers are to change."""
    sections: tuple[Section, ...]
    """The lists of applications, in the order of the page; none is empty."""
    changes: tuple[Change, ...]
    """Surest first, then those that cure most."""
    owners: tuple[OwnerStake, ...]
    """Most at stake first."""
    software: tuple[Software, ...]
    """Most clients first."""
    applications: tuple[Application, ...]
    """By outcome, then owner, software and client id of the worst client."""
    clients: tuple[ClientVerdict, ...]
    """By outcome, then owner, software and client id."""
    failed_logins: tuple[FailedLogin, ...]
    """Most frequent first."""
    cluster_questions: tuple[ClusterQuestion, ...]
    """For whoever asks for the upgrade: about brokers, features and proxies. Those of most applications first."""
    incomplete: str | None
    """What the evidence lacks altogether, so that it never means go; null = nothing known."""
    two_steps: str | None
    """That the brokers get there in two upgrades, and what to ask of each; null = one rolling upgrade or rollback does. Then
    nothing is said of the time while brokers differ and of the way back: each of the two has its own."""
    mixed_window: Outlook | None
    """Null where it takes two upgrades."""
    way_back: Outlook | None
    """Null where it takes two upgrades, or where the question is itself about a rollback."""
    blockers: tuple[ClusterNote, ...]
    """Those of `cluster_notes` that are known to stop the change."""
    cluster_notes: tuple[ClusterNote, ...]
    notes_ruled_out: tuple[ClusterNote, ...]
    """Notes of the pair of releases that do not apply, as the setup of all brokers shows."""
    way_back_notes: tuple[ClusterNote, ...]
    skipped_releases: tuple[SkippedRelease, ...]
    configuration: ConfigurationChanges
    broker_metrics: MetricChanges
    false_alarms: tuple[FalseAlarm, ...]
    quality_warnings: tuple[QualityWarning, ...]
    rules: tuple[Rule, ...]
    not_assessed: tuple[str, ...]
    evidence_digest: str
    """The same as long as the same was seen of clients and brokers (earlier_report.py)."""
    since: SinceEarlier | None = None
    """Known when it is published; null = no earlier report of the question is."""
    written: Written | None = None
    """What artefacts of the lake say beside it, in written.json; null = the lake has none."""

    @cached_property
    def of_owner(self) -> dict[str | None, list[Application]]:
        """`applications` by owner, in their order."""
        return grouped(self.applications, lambda each: each.owner)
