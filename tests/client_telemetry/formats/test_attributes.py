import math

import pytest
from client_telemetry.formats.otlp.attributes import as_text, attribute_map
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue, KeyValueList

NAN, INFINITY = math.nan, math.inf


def array(*values: AnyValue) -> AnyValue:
    return AnyValue(array_value=ArrayValue(values=values))


def pairs(**values: AnyValue) -> AnyValue:
    return AnyValue(kvlist_value=KeyValueList(values=[KeyValue(key=k, value=v) for k, v in values.items()]))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (AnyValue(string_value="as it is\n\u2028"), "as it is\n\u2028"),
        (AnyValue(string_value=""), ""),
        (AnyValue(), ""),
        (AnyValue(bool_value=True), "true"),
        (AnyValue(bool_value=False), "false"),
        (AnyValue(int_value=0), "0"),
        (AnyValue(int_value=-(2**63)), "-9223372036854775808"),
        (AnyValue(double_value=1), "1.0"),
        (AnyValue(double_value=0.1), "0.1"),
        (AnyValue(double_value=-0.0), "-0.0"),
        (AnyValue(double_value=NAN), "NaN"),
        (AnyValue(double_value=INFINITY), "Infinity"),
        (AnyValue(double_value=-INFINITY), "-Infinity"),
        (AnyValue(bytes_value=b"\x00\xff\xfe"), "AP/+"),
        (array(), "[]"),
        (array(AnyValue(string_value='a"b'), AnyValue(int_value=1), AnyValue()), '["a\\"b",1,null]'),
        (array(AnyValue(double_value=NAN), AnyValue(double_value=-INFINITY)), '["NaN","-Infinity"]'),
        (pairs(z=AnyValue(bool_value=True), a=array(AnyValue(string_value="Ä"))), '{"a":["Ä"],"z":true}'),
    ],
)
def test_texts_of_values(value, text):
    assert as_text(value) == text


def test_the_last_of_two_equal_names_stays():
    attributes = [
        KeyValue(key="a", value=AnyValue(int_value=1)),
        KeyValue(key="b", value=AnyValue(string_value="x")),
        KeyValue(key="a", value=AnyValue(int_value=2)),
        KeyValue(key="c"),
    ]
    assert attribute_map(attributes) == {"a": "2", "b": "x", "c": ""}
