"""What a client and a broker release can say to each other, and the verdict. Pure: no Spark, no Airflow.

`judge` is the engine; `releases` says which upgrades can be asked about; `knowledge` holds the data files.
"""

from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence, parse_api_uses
from client_telemetry.compatibility.judgement import judge
from client_telemetry.compatibility.releases import UnusableRelease
from client_telemetry.compatibility.verdict import ClientVerdict, Finding

__all__ = [
    "ApiUse",
    "ClientEvidence",
    "ClientVerdict",
    "Finding",
    "UnusableRelease",
    "judge",
    "parse_api_uses",
]
