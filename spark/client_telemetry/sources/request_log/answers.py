"""What a broker answered, from the body of a response in a request log (request_entry.py). Pure."""

from collections.abc import Iterable, Mapping


def answer(response: Mapping[str, object]) -> tuple[bool, list[int]]:
    """Whether at least part of the request succeeded, and the error codes, sorted.

    >>> answer({"errorCode": 51}), answer({"responses": [{"partitions": [{"errorCode": 6}, {"errorCode": 0}]}]})
    ((False, [51]), (True, [6]))
    """
    own = response.get("errorCode")
    if isinstance(own, int) and own:
        return False, [own]
    codes = list(_codes(value for key, value in response.items() if key != "errorCode"))
    if not codes:
        return True, []
    return 0 in codes, sorted({code for code in codes if code})


def failure(response: Mapping[str, object]) -> int | None:
    """The error code of an answer in which nothing succeeded, the smallest positive one of several; None of all others.

    >>> failure({"errorCode": 51}), failure({"topics": [{"errorCode": -1}, {"errorCode": 29}]}), failure({"errorCode": 0})
    (51, 29, None)
    """
    succeeded, codes = answer(response)
    return None if succeeded else min(codes, key=lambda code: (code < 0, code))


def _codes(values: Iterable[object]) -> Iterable[int]:
    for value in values:
        if isinstance(value, dict):
            code = value.get("errorCode")
            if isinstance(code, int):
                yield code
            yield from _codes(
                inner for key, inner in value.items() if key != "errorCode" and isinstance(inner, dict | list)
            )
        elif isinstance(value, list):
            yield from _codes(value)
