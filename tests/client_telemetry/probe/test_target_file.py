"""Target files are read back only as they were written."""

import json

import pytest
from client_telemetry.formats import target_file
from client_telemetry.formats.target_file import UnusableTarget, parse_ranges, ranges, read, text
from client_telemetry.probe.listener import read_properties

CONTENT = {"format": target_file.FORMAT, "answers": [{"0 Produce": {"answered": "3-12", "closed": "0-2"}}]}


def test_a_file_is_read_back(tmp_path):
    file = tmp_path / "target.json"
    file.write_text(text(CONTENT))
    assert {key: value for key, value in read(file).items() if key != "sha256"} == CONTENT
    assert '  "0 Produce": {"answered": "3-12", "closed": "0-2"}\n' in text(CONTENT)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "not a file that `client-telemetry probe` wrote"),
        ("[1]", "not a file that `client-telemetry probe` wrote"),
        ("{", "not a file that `client-telemetry probe` wrote"),
        (text(CONTENT).replace("3-12", "0-12"), "it was edited after it was measured"),
        (json.dumps(CONTENT), "it was edited after it was measured"),
    ],
)
def test_what_is_not_such_a_file_is_refused(tmp_path, content, said):
    file = tmp_path / "target.json"
    file.write_text(content)
    with pytest.raises(UnusableTarget, match=said):
        read(file)


def test_ranges_are_read_back():
    versions = [0, 1, 2, 5, 7, 8]
    assert parse_ranges(ranges(versions)) == tuple(versions)


def test_properties_are_read_as_java_reads_them(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text(
        "# a comment\n! another\nsecurity.protocol : SASL_SSL\n\nsasl.mechanism PLAIN\n"
        'sasl.jaas.config=org.example.Login required \\\n    username="a\\=b";\nempty\nssl.truststore.location=C:\\\\ca.pem\n'
    )
    assert read_properties(file) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": 'org.example.Login required username="a=b";',
        "empty": "",
        "ssl.truststore.location": "C:\\ca.pem",
    }
