"""Attributes as text: one `map<string, string>` for values that OTLP types in six ways."""

import base64
import json
import math
from collections.abc import Iterable

from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue


def attribute_map(attributes: Iterable[KeyValue]) -> dict[str, str]:
    """Name -> text. A name that occurs twice keeps its last value: OTLP forbids duplicates and says no more."""
    return {
        attribute.key: attribute.value.string_value or as_text(attribute.value) for attribute in attributes
    }


def as_text(value: AnyValue) -> str:
    """The text form that OpenTelemetry's specification defines ("AnyValue representation for non-OTLP protocols"):
    strings as they are, `true` and `false`, decimal integers, the shortest decimal that reads back as the same
    double (`NaN`, `Infinity`, `-Infinity`), base64 of bytes, and an empty text for an empty value. Arrays and maps
    are JSON without spaces, names sorted, the last of two equal names kept; inside them NaN and the infinities are
    strings and an empty value is null.
    """
    if value.WhichOneof("value") in ("array_value", "kvlist_value"):
        return json.dumps(
            _as_json(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True, allow_nan=False
        )
    plain = _as_json(value)
    if plain is None:
        return ""
    return plain if isinstance(plain, str) else json.dumps(plain)


def _as_json(value: AnyValue) -> str | bool | int | float | list[object] | dict[str, object] | None:
    kind = value.WhichOneof("value")
    if kind == "array_value":
        return [_as_json(element) for element in value.array_value.values]
    if kind == "kvlist_value":
        return {pair.key: _as_json(pair.value) for pair in value.kvlist_value.values}
    if kind == "bytes_value":
        return base64.b64encode(value.bytes_value).decode("ascii")
    if kind == "double_value" and not math.isfinite(value.double_value):
        return json.dumps(value.double_value)
    return getattr(value, kind) if kind else None
