"""What a client's error codes say about it."""

import pytest
from client_telemetry.compatibility import parse_api_uses
from client_telemetry.compatibility.evidence import ApiError, FailedApi
from client_telemetry.compatibility.failed_apis import failed_apis
from client_telemetry.knowledge import DamagedKnowledge, error_codes

HEARTBEAT, METADATA, PRODUCE, INIT_PRODUCER_ID = 12, 3, 0, 22


def failed(
    uses: str, *errors: tuple[int, int, int, int], seconds: int | None = None
) -> tuple[FailedApi, ...]:
    seen = [
        use if seconds is None else use._replace(first_seen=0, last_seen=seconds * 1_000_000)
        for use in parse_api_uses(uses)
    ]
    return failed_apis(seen, [ApiError(*error) for error in errors])


@pytest.mark.parametrize(("case", "uses", "errors", "seconds", "expected"), [
    ("no permission, every time", "Produce:7x223 Metadata:9x227", [(0, 7, 29, 223)], 360, [(0, 29)]),
    ("one success is enough", "Produce:7x223", [(0, 7, 29, 222)], 360, []),
    ("in another version, too", "Produce:7x223 Produce:8x1", [(0, 7, 29, 223)], 360, []),
    ("an error that stays needs no more than two", "ConsumerGroupHeartbeat:0x2", [(68, 0, 35, 2)], 1, [(68, 35)]),
    ("one may be an attempt", "ConsumerGroupHeartbeat:0x1", [(68, 0, 35, 1)], 1, []),
    ("a group that rebalances", "Heartbeat:4x9", [(12, 4, 27, 9)], 360, []),
    ("not yet a minute", "Heartbeat:4x20", [(12, 4, 27, 20)], 59, []),
    ("a group that never ends to", "Heartbeat:4x20", [(12, 4, 27, 20)], 60, [(12, 27)]),
    ("lists have no times", "Heartbeat:4x20", [(12, 4, 25, 20)], None, [(12, 25)]),
    ("the most frequent code", "InitProducerId:4x30", [(22, 4, 51, 20), (22, 4, 16, 10)], 90, [(22, 51)]),
    ("a code that is not known may pass", "InitProducerId:4x5", [(22, 4, 9999, 5)], 90, []),
    ("topics that do not exist; the first request names none", "Metadata:9x20 ApiVersions:3x1", [(3, 9, 3, 19)], 90, [(3, 3)]),
    ("of one of several topics", "Metadata:9x20 Produce:9x5", [(3, 9, 3, 19)], 90, []),
    ("refused, not answered", "", [(0, 7, 29, 5)], 90, []),
])  # fmt: skip
def test_an_api_failed_if_it_got_nothing_but_errors(case, uses, errors, seconds, expected):
    assert failed(uses, *errors, seconds=seconds) == tuple(FailedApi(*api) for api in expected)


@pytest.mark.parametrize(("column", "value", "says"), [
    ("code", "x", "is not a number"), ("stays", "maybe", "are yes or no"), ("means", "", "means is required"),
])  # fmt: skip
def test_damage_is_refused_with_its_line(damaged, column, value, says):
    damaged(error_codes, 0, column, value)
    with pytest.raises(DamagedKnowledge, match=r"error_codes\.csv line 2: ") as refused:
        error_codes.known()
    assert says in str(refused.value)


def test_every_code_that_the_rules_name_is_known():
    codes = error_codes.known()
    assert {*error_codes.NOT_AUTHORIZED, error_codes.KafkaError.UNSUPPORTED_VERSION} <= codes.keys()
    assert all(codes[code].stays for code in error_codes.NOT_AUTHORIZED)
