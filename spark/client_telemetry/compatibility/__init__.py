"""Which requests a client and a broker release agree on, and the verdict that follows. Pure: no Spark, no Airflow.

`judge` is the engine for a pair of releases, newer or older. `judge_mixed_window` and `judge_rollback` add what happens
during a rolling upgrade and when it is rolled back. `releases` says which upgrades can be asked about; `knowledge`
holds the data files.
"""

from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, parse_api_uses
from client_telemetry.compatibility.judgement import judge, judge_rollback
from client_telemetry.compatibility.mixed_window import judge_mixed_window
from client_telemetry.compatibility.verdict import ClientVerdict, Finding, Outlook
from client_telemetry.knowledge.releases import UnusableRelease

__all__ = [
    "ApiUse",
    "ClientEvidence",
    "ClientVerdict",
    "Finding",
    "Outlook",
    "UnusableRelease",
    "judge",
    "judge_mixed_window",
    "judge_rollback",
    "parse_api_uses",
]
