"""All kinds of sources."""

from client_telemetry.sources.adapter import Adapter
from client_telemetry.sources.otlp.adapter import OtlpAdapter
from client_telemetry.sources.request_log.adapter import RequestLogAdapter

ADAPTERS: list[Adapter] = [RequestLogAdapter(), OtlpAdapter()]


def formats() -> list[str]:
    return [name for adapter in ADAPTERS for name in adapter.formats]


def adapter_of(format_: str) -> Adapter:
    """Raises KeyError."""
    for adapter in ADAPTERS:
        if format_ in adapter.formats:
            return adapter
    raise KeyError(format_)
