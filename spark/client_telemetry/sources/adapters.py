"""All kinds of sources."""

from client_telemetry.sources.adapter import Adapter
from client_telemetry.sources.otlp.adapter import OtlpAdapter
from client_telemetry.sources.request_log.adapter import RequestLogAdapter

_ALL: list[Adapter] = [RequestLogAdapter(), OtlpAdapter()]
ADAPTERS = {format_: adapter for adapter in _ALL for format_ in adapter.formats}
"""By the formats that they read."""
