"""What must hold for broker incarnations."""

from client_telemetry.expectations.suite import RowRule, Suite
from client_telemetry.tables.brokers import BROKERS

SUITE = Suite(
    BROKERS,
    (
        RowRule(
            "incarnation_is_hex",
            "broker_incarnation rlike '^[0-9a-f]{{32}}$'",
            "critical",
            "incarnation is 32 hex digits",
        ),
        RowRule(
            "release_is_declared",
            "software_version is not null and software_version <> ''",
            "warning",
            "the broker reports its release; an upgrade question cannot use brokers that do not",
        ),
        RowRule(
            "releases_have_a_reason",
            "if(coalesce(size(releases), 0) = 0, coalesce(releases_known_by = 'none_explains', true), "
            "coalesce(releases_known_by in ('declared', 'confluent_platform', 'vendor_build', 'guessed'), false))",
            "critical",
            "possible releases of a broker are given together with how they are known",
        ),
        RowRule(
            "evidence_follows_the_start",
            "last_evidence_at is null or started_at is null or last_evidence_at >= started_at - interval 5 minutes",
            "warning",
            "no evidence is older than the start of the broker; otherwise its clock or its manifest is wrong",
        ),
    ),
)
