"""A source adapter as docs/extend.md writes one: the page's example is taken as it stands there."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from client_telemetry.raw.envelopes import parse_connection_event
from client_telemetry.raw.errors import UnreadableSource
from client_telemetry.raw.object_key import parse_object_key
from client_telemetry.raw.reader import RecordReader
from client_telemetry.sources import adapters
from client_telemetry.sources.conversion import UnusableSource, convert_new, declared

PAGE = Path(__file__).parents[3] / "docs/extend.md"


@pytest.fixture
def proxy(monkeypatch):
    """The example's adapter, with its line in sources/adapters.py."""
    page = PAGE.read_text()
    code = re.search(r"## Add a source\n.*?```python\n(.*?)```", page, re.DOTALL)[1]
    module: dict = {"__name__": "proxy_adapter"}
    exec(compile(code, str(PAGE), "exec"), module)
    monkeypatch.setattr(adapters, "ADAPTERS", [*adapters.ADAPTERS, module["ProxyAdapter"]()])


def test_the_example_of_the_page_is_a_source(proxy, tmp_path):
    log = tmp_path / "logs/proxy.csv"
    log.parent.mkdir()
    log.write_text("1795262400,orders,User:orders,10.0.0.1,0,9,17\nnonsense\n")
    source = declared(f'{{"format": "proxy_csv", "files": ["3={log}"]}}')

    done = convert_new(source, "c", tmp_path / "raw", timedelta(0))
    assert done.counts == {"converted_connections": 1, "converted_unreadable": 1, "converted_files": 1}
    assert convert_new(source, "c", tmp_path / "raw", timedelta(0)).counts == {"converted_files": 0}

    events, unreadable = [], []
    for path in (tmp_path / "raw").glob("v1/dataset=connections/**/*.zst"):
        key = parse_object_key(str(path))
        with path.open("rb") as stored:
            for record in RecordReader(stored, path.name):
                try:
                    events.append(parse_connection_event(record.data, key))
                except UnreadableSource as error:
                    unreadable.append(error)
    (event,), (error,) = events, unreadable
    assert (event.broker_id, event.client.client_id, event.api_uses[0].requests) == (3, "orders", 17)
    assert error.data == b"nonsense"


def test_options_that_an_adapter_does_not_take_are_refused(proxy):
    with pytest.raises(UnusableSource, match="release and zone are of request_log, not of proxy_csv"):
        declared('{"format": "proxy_csv", "files": ["a"], "zone": "UTC"}')
