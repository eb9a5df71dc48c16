"""The form of telemetry_subscription_check: what may be asked, and how it reaches the job."""

from typing import Any

from airflow.sdk import Param

from include.run_day import OPTIONAL_DAY, OPTIONAL_RELEASE

_TEXT: dict[str, Any] = {"type": ["null", "string"]}

FORM = {
    "cluster": Param(type="string", minLength=1, description="Name of a cluster in the clusters file"),
    "action": Param("add", enum=["add", "alter", "delete"], description="Change to check"),
    "name": Param(None, **_TEXT, description="Name of the subscription; empty: a generated one"),
    "metrics": Param(None, **_TEXT, description="Prefixes, separated by commas; * for all"),
    "interval_ms": Param(None, type=["null", "integer"], description="Push interval, 100 to 3600000"),
    "match": Param(None, **_TEXT, description="Selectors key=regex, separated by commas; empty: all clients"),
    "changes": Param(
        None,
        type=["null", "array"],
        items={"type": "object"},
        description="Several changes at once: objects with action, name, metrics, interval_ms, match",
    ),
    "goal": Param(
        None,
        type=["null", "object"],
        description="What you want to know, instead of a change: an object with metrics (latency, connections, rebalances, "
        "commits, throttling, upgrade review, or a list of names) and owner, library, client_type, client_ids, interval_ms",
    ),
    "configured": Param(
        None,
        **_TEXT,
        format="multiline",
        description="Output of --describe, if the brokers do not report their subscriptions",
    ),
    "release": Param(None, **OPTIONAL_RELEASE, description="Release that the brokers run"),
    "day": Param(None, **OPTIONAL_DAY, description="Last UTC day of the evidence"),
    "window_days": Param(7, type="integer", minimum=1, maximum=366, description="Days of evidence"),
    "telemetry_max_bytes": Param(
        1_048_576, type="integer", minimum=1, description="telemetry.max.bytes of the brokers"
    ),
}

_PLAIN = ("name", "metrics", "interval_ms", "match", "configured", "release", "day")
_JSON = ("changes", "goal")

QUESTION = {
    **{name.replace("_", "-"): f"{{{{ params.{name} or '' }}}}" for name in _PLAIN},
    **{name: f"{{{{ params.{name} | tojson if params.{name} else '' }}}}" for name in _JSON},
    "action": "{{ '' if params.changes or params.goal else params.action }}",
    "window": "{{ params.window_days }}",
    "telemetry-max-bytes": "{{ params.telemetry_max_bytes }}",
    "report-id": "{{ run_id }}",
}
"""Options of the stage subscription_check; what was not asked is empty, and left out."""
