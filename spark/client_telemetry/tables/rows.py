"""Rows of the tables as dicts, for mypy: lake.rows gives them and branch.replace_rows writes them. Written by
`make generated` from the schemas beside this file.

A column that may be null is `| None`. Files of an older version may lack a column that has come since: it is null
whatever stands here."""

from datetime import date, datetime
from typing import TypedDict


class ApiVersionRecord(TypedDict):
    api_key: int
    min_version: int
    max_version: int


class FeatureLevelRecord(TypedDict):
    at: datetime
    levels: dict[str, int]


class ListenerRecord(TypedDict):
    name: str
    security_protocol: str
    sasl_mechanisms: list[str]


class SubscriptionRecord(TypedDict):
    name: str
    interval_ms: int
    metrics: list[str]
    match: dict[str, str]


class ScramUserRecord(TypedDict):
    principal: str | None
    mechanisms: list[str]


class RequestsCountedRecord(TypedDict):
    api_key: int
    version: int
    requests: int


class ConnectionsCountedRecord(TypedDict):
    software_name: str
    software_version: str
    connections: int


class ApiUseRecord(TypedDict):
    api_key: int
    version: int
    requests: int
    rejected: int
    first_request_at: datetime | None
    last_request_at: datetime | None


class ApiErrorRecord(TypedDict):
    api_key: int
    version: int
    error_code: int
    requests: int


class RelatedRecord(TypedDict):
    relation: str
    client_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    because: str


class ConnectionsCountedOnlyRecord(TypedDict):
    software_name: str | None
    software_version: str | None
    connections: int
    is_judged: bool


class TargetRecord(TypedDict):
    to_release: str
    breaks_at_once: int
    breaks_latent: int
    insufficient_evidence: int
    degrades: int
    unsupported: int
    safe: int
    works_again: int


class StepRecord(TypedDict):
    step: str
    verdict: str
    when: str | None
    explanation: str


class OtherTargetRecord(TypedDict):
    to_release: str
    verdict: str
    when: str | None
    reason: str


class RateRecord(TypedDict):
    function: str
    before: float | None
    after: float | None


class NameRecord(TypedDict):
    kind: str
    value: str
    written_in: str


class PinnedVersionRecord(TypedDict):
    value: str
    release: str | None
    written_in: str


class SaslMechanismRecord(TypedDict):
    mechanism: str
    written_in: str


class RawObjectRow(TypedDict):
    """One row per raw object."""

    cluster_id: str
    dt: date
    object_key: str
    dataset: str
    hour: int
    broker_id: int
    broker_incarnation: str | None
    first_sequence: int | None
    last_sequence: int | None
    bytes: int
    modified_at: datetime | None
    sha256: str | None
    status: str
    error: str | None
    records: int | None
    rows: int | None
    duplicates: int | None
    undecodable: int | None
    points: int | None
    flags: list[str]
    collected_at: datetime | None


class BrokerRow(TypedDict):
    """One row per broker incarnation and day."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    software_name: str | None
    software_version: str | None
    releases: list[str] | None
    releases_known_by: str | None
    started_at: datetime | None
    last_evidence_at: datetime | None
    api_versions: list[ApiVersionRecord] | None
    finalized_features: dict[str, int] | None
    feature_levels: list[FeatureLevelRecord] | None
    listeners: list[ListenerRecord] | None
    subscriptions: list[SubscriptionRecord] | None
    scram_users: list[ScramUserRecord] | None
    failed_logins: int | None
    settings: dict[str, str] | None


class BrokerHourRow(TypedDict):
    """One row per broker and hour of the day, for every broker named by a manifest or an object of the day."""

    cluster_id: str
    dt: date
    broker_id: int
    hour: int
    completeness: list[str]
    incarnations: list[str]
    objects: int
    pushes_expected: int | None
    pushes_read: int | None
    connection_events_expected: int | None
    connection_events_read: int | None
    dropped: dict[str, int]
    requests_counted: list[RequestsCountedRecord] | None
    registry_mode: str | None
    registry_windows: list[str] | None
    connections_missed: int | None
    connections_counted: list[ConnectionsCountedRecord] | None
    requests_missed: int | None


class UndecodableRecordRow(TypedDict):
    """One row per record, tail or object that could not be read."""

    cluster_id: str
    dt: date
    dataset: str
    source_object: str
    source_offset: int
    stage: str
    error_class: str
    message: str
    bytes: bytes
    bytes_total: int
    broker_id: int | None
    broker_incarnation: str | None
    sequence: int | None
    client_instance_id: bytes | None


class ClientPushRow(TypedDict):
    """One row per PushTelemetry request that a broker passed on (KIP-714)."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    sequence: int
    received_at: datetime
    client_instance_id: bytes | None
    instance_id: str | None
    client_id: str | None
    principal: str | None
    client_address: str | None
    client_port: int | None
    listener_name: str | None
    security_protocol: str | None
    connection_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    sent_software_name: str | None
    sent_software_version: str | None
    api_versions_error: int | None
    terminating: bool
    content_type: str | None
    compression_type: int
    payload_bytes: int
    points: int
    histogram_points: int
    resources: list[dict[str, str]]
    scope_name: str | None
    scope_version: str | None
    push_interval_ms: int | None
    subscription_id: int | None
    error_code: int | None
    clock_skew_ms: int | None
    flags: list[str]
    source_object: str
    source_offset: int


class ClientMetricRow(TypedDict):
    """One row per number data point."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    sequence: int
    point_index: int
    client_instance_id: bytes | None
    received_at: datetime
    metric: str
    kind: str
    temporality: str | None
    is_monotonic: bool | None
    attributes: dict[str, str]
    start_time: datetime | None
    time: datetime | None
    value: float | None
    value_int: int | None
    resource_index: int


class ClientMetricHistogramRow(TypedDict):
    """One row per histogram, exponential histogram or summary point."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    sequence: int
    point_index: int
    client_instance_id: bytes | None
    received_at: datetime
    metric: str
    kind: str
    temporality: str | None
    attributes: dict[str, str]
    start_time: datetime | None
    time: datetime | None
    count: int
    sum: float | None
    min: float | None
    max: float | None
    explicit_bounds: list[float] | None
    bucket_counts: list[int] | None
    scale: int | None
    zero_count: int | None
    positive_offset: int | None
    positive_counts: list[int] | None
    negative_offset: int | None
    negative_counts: list[int] | None
    quantiles: list[float] | None
    quantile_values: list[float] | None
    resource_index: int


class ConnectionEventRow(TypedDict):
    """One row per event of the connection registry."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    sequence: int
    observed_at: datetime
    kind: str
    client_id: str | None
    principal: str | None
    client_address: str | None
    client_port: int | None
    listener_name: str | None
    security_protocol: str | None
    connection_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    sent_software_name: str | None
    sent_software_version: str | None
    api_versions_error: int | None
    opened_at: datetime
    last_request_at: datetime | None
    api_uses: list[ApiUseRecord]
    group_ids: list[str]
    transactional_ids: list[str]
    failure_reason: str | None
    connections: int | None
    cut_fields: list[str]
    sasl_mechanism: str | None
    given_instance_ids: list[bytes] | None
    topics: list[str] | None
    api_errors: list[ApiErrorRecord] | None
    flags: list[str]
    source_object: str
    source_offset: int


class ClientConnectionRow(TypedDict):
    """One row per connection and day with an event."""

    cluster_id: str
    dt: date
    broker_id: int
    broker_incarnation: str
    opened_at: datetime
    first_seen_at: datetime
    last_seen_at: datetime
    closed_at: datetime | None
    end_known_by: str
    client_id: str | None
    principal: str | None
    client_address: str | None
    client_port: int | None
    listener_name: str | None
    security_protocol: str | None
    connection_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    sent_software_name: str | None
    sent_software_version: str | None
    api_versions_error: int | None
    broker_software_version: str | None
    api_uses: list[ApiUseRecord]
    uses_object: str
    uses_sequence: int
    group_ids: list[str]
    transactional_ids: list[str]
    given_instance_ids: list[bytes] | None
    topics: list[str] | None
    api_errors: list[ApiErrorRecord] | None
    client_instance_id: bytes | None
    link: str
    link_rule: str
    link_candidates: int
    connections: int
    sasl_mechanism: str | None
    events: int
    source_objects: list[str]
    first_sequence: int
    last_sequence: int
    flags: list[str]


class ClientSessionRow(TypedDict):
    """One row per client instance and day on which it pushed."""

    cluster_id: str
    dt: date
    client_instance_id: bytes
    instance_id: str | None
    first_evidence_at: datetime
    last_evidence_at: datetime
    started_at: datetime | None
    started_before: datetime | None
    ended_at: datetime | None
    end_reason: str
    pushes: int
    terminating_pushes: int
    rejected_pushes: int
    points: int
    gaps: int
    gap_seconds: float
    push_interval_ms: int | None
    push_interval_source: str | None
    subscription_changes: int
    clock_skew_ms: int | None
    broker_ids: list[int]
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    client_addresses: list[str]
    flags: list[str]


class ClientRow(TypedDict):
    """One row per client and day."""

    cluster_id: str
    cluster_name: str | None
    dt: date
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    client_id_sanitized: str | None
    client_id_jmx: str | None
    client_family: str | None
    family_masks: list[str]
    library: str | None
    library_version: str | None
    library_version_numbers: list[int] | None
    binding: str | None
    identified_as: str | None
    looks_like: str | None
    looks_like_because: list[str]
    roles: list[str]
    related: list[RelatedRecord]
    application: str
    application_kind: str
    product: str | None
    application_notes: list[str]
    instances: int
    short_lived_instances: int
    median_instance_seconds: float | None
    connections: int
    short_lived_connections: int
    median_connection_seconds: float | None
    refusals: int
    addresses: int
    address_sample: list[str]
    listeners: list[str]
    security_protocols: list[str]
    api_uses: list[ApiUseRecord]
    request_versions: list[str] | None
    group_ids: list[str]
    transactional_ids: list[str]
    broker_software_versions: list[str]
    first_seen_at: datetime
    last_seen_at: datetime
    owner: str | None
    owner_contact: str | None
    owner_rule: str | None
    topics: list[str] | None
    flags: list[str]


class UpgradeReportRow(TypedDict):
    """One row per upgrade question."""

    cluster_id: str
    cluster_name: str | None
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
    already_failing: int
    connections: int
    connections_elsewhere: int | None
    connections_unidentified: int
    connections_counted_only: list[ConnectionsCountedOnlyRecord] | None
    targets: list[TargetRecord]
    knowledge_version: str
    knowledge_built_at: datetime | None
    measured_targets: list[str] | None
    knowledge_gaps: str | None
    snapshots: dict[str, int]
    is_latest: bool | None
    code_version: str
    created_at: datetime


class UpgradeVerdictRow(TypedDict):
    """One row per upgrade question and client."""

    cluster_id: str
    report_id: str
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    program: str | None
    verdict: str
    confidence: str
    when: str | None
    roles: list[str]
    explanation: str
    fix: str | None
    missing: list[str]
    identified_as: str | None
    condition: str | None
    already_failing: bool
    works_again: bool
    as_before: bool
    steps: list[StepRecord]
    rollback_verdict: str | None
    rollback_explanation: str | None
    mixed_verdict: str
    mixed_explanation: str
    other_targets: list[OtherTargetRecord]
    owner: str | None
    owner_contact: str | None
    application: str
    application_kind: str
    product: str | None
    application_notes: list[str]
    connections: int
    requests: int
    broker_ids: list[int]
    first_seen_at: datetime
    last_seen_at: datetime
    well_observed: bool


class UpgradeFindingRow(TypedDict):
    """One row per upgrade question, client, rule and API."""

    cluster_id: str
    report_id: str
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    program: str | None
    finding: int
    rule_id: str
    verdict: str
    confidence: str
    when: str | None
    trigger: str | None
    condition: str | None
    condition_met: str | None
    settled_by: str | None
    api_key: int | None
    api_name: str | None
    versions: str | None
    requests: int | None
    first_seen_at: datetime | None
    last_seen_at: datetime | None
    broker_ids: list[int]
    source_objects: list[str]
    source_sequences: list[int]
    explanation: str
    fix: str | None
    source: str


class UpgradeOutcomeRow(TypedDict):
    """One row per review of an upgrade, client and phase."""

    cluster_id: str
    review_id: str
    from_release: str
    to_release: str
    report_id: str | None
    client_id: str | None
    principal: str | None
    client_software_name: str | None
    client_software_version: str | None
    addresses: list[str]
    phase: str
    phase_from: datetime
    phase_until: datetime
    predicted: str | None
    predicted_when: str | None
    rules: list[str]
    outcome: str
    kind: str | None
    since: datetime | None
    confidence: str
    comparison: str
    lost_functions: list[str]
    api_keys: list[int]
    api_names: list[str] | None
    reasons: list[str]
    rates: list[RateRecord]
    fix: str | None
    owner: str | None
    owner_contact: str | None
    reviewed_at: datetime


class MetricChangeRow(TypedDict):
    """One row per review of an upgrade, group of clients and metric."""

    cluster_id: str
    review_id: str
    scope: str
    client_id: str | None
    principal: str | None
    client_instance_id: bytes | None
    instance_id: str | None
    client_software_name: str | None
    client_software_version: str | None
    owner: str | None
    metric: str
    unit: str
    form: str
    before_from: datetime
    before_until: datetime
    after_from: datetime
    after_until: datetime
    before: float
    after: float
    estimate: float
    low: float
    high: float
    instances: int
    p_value: float
    changed: bool
    direction: str
    worse: bool


class RuleRecordRow(TypedDict):
    """One row per review of an upgrade and rule that predicted harm."""

    cluster_id: str
    review_id: str
    from_release: str
    to_release: str
    rule_id: str
    predicted: int
    happened: int
    did_not_happen: int
    not_triggered: int
    cannot_tell: int
    missed: int
    reviewed_at: datetime


class ArtefactRow(TypedDict):
    """One row per Kafka client library that an artefact (SBOM, image, folder of a repository) names, and one per artefact that names none."""

    cluster_id: str
    dt: date
    artefact: str
    kind: str
    digests: list[str]
    image_names: list[str]
    repository: str | None
    owner: str | None
    library: str | None
    library_version: str | None
    why_unknown: str | None
    purl: str | None
    file: str | None
    line: int | None
    inside: str | None
    client_ids: list[str]
    group_ids: list[str]
    principals: list[str]
    seen_on: list[str] | None
    version_from: str | None
    names: list[NameRecord] | None
    code_was_read: bool | None
    pinned_versions: list[PinnedVersionRecord] | None
    sasl_mechanisms: list[SaslMechanismRecord] | None
    doubt: str | None
    left_out: str | None


class CampaignStateRow(TypedDict):
    """One row per change of an application's state in a planned upgrade."""

    cluster_id: str
    campaign: str
    cluster: str
    principal: str
    application: str
    day: date
    revision: int
    recorded_on: date
    state: str
    before: str | None
    why: str
    by: str | None
    until: date | None
    owner: str | None
    owner_contact: str | None
    verdict: str
    fix: str | None
    rules: list[str]
    report_id: str
    affected_since: date
    formerly: list[str]


class QualityResultRow(TypedDict):
    """One row per gate, table and expectation."""

    cluster_id: str
    run_id: str
    stage: str
    dt: date
    table_name: str
    expectation: str
    severity: str
    success: bool
    observed_value: str
    rows: int
    unexpected_count: int | None
    description: str
    result: str | None
    evaluated_at: datetime


class PublicationRow(TypedDict):
    """One row per stage that published."""

    cluster_id: str
    run_id: str
    stage: str
    days: list[date]
    snapshots: dict[str, int]
    published_at: datetime
