"""Targets that are no broker, or a broken one: a line each, in bounded time and memory."""

import socket
import struct
import subprocess
import sys
import time

import pytest
from client_telemetry.probe import answers, command_line, probing
from client_telemetry.probe.probing import Limits

from tests.client_telemetry.probe.small_server import serving


def closes(connection: socket.socket) -> None:
    connection.recv(1000)


def is_silent(connection: socket.socket) -> None:
    connection.recv(1000)
    time.sleep(30)


def garbage(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(bytes(range(255, 0, -1)) * 10)


def claims_two_gigabytes(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(struct.pack(">i", 2**31 - 1) + bytes(1_000_000))


def drips(connection: socket.socket) -> None:
    """An answer of a kilobyte that comes byte by byte."""
    request = connection.recv(1000)
    for byte in struct.pack(">i", 1000) + request[8:12] + bytes(996):
        connection.sendall(bytes([byte]))
        time.sleep(0.1)


def is_a_web_server(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def speaks_tls(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b"\x15\x03\x03\x00\x02\x02\x46")


def another_request(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(struct.pack(">iihi", 10, 77, 0, 0))


def claims_many_versions(connection: socket.socket) -> None:
    """The list of ApiVersions is as long as the answer says, and ends at once."""
    request = connection.recv(1000)
    connection.sendall(struct.pack(">i", 11) + request[8:12] + b"\0\0" + b"\xff\xff\xff\xff\x07")


def test_texts_of_a_broker_are_no_commands_of_a_terminal():
    name = b"PLAIN\x1b[2J\xe2\x80\xae"
    payload = struct.pack(">ihih", 1, 33, 1, len(name)) + name
    assert answers.mechanisms(payload) == ("PLAIN\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}",)


BOUNDED = """
import resource, sys
from client_telemetry.probe import command_line
from client_telemetry.probe.probing import Limits

class Impatient(Limits):
    def __init__(self, per_second):
        super().__init__(1000, answer_s=0.3)

command_line.Limits = Impatient
resource.setrlimit(resource.RLIMIT_AS, (3 * 2**29, 3 * 2**29))
"""
"""A process of its own, so that 1.5 GB bound what is tested and nothing else."""


def bounded(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", BOUNDED + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def test_what_is_too_much_ends_the_process():
    assert bounded("bytearray(2**30)").returncode == 0
    assert bounded("bytearray(2**31)").stderr.endswith("MemoryError\n")


@pytest.mark.parametrize(
    ("behave", "said"),
    [
        (closes, "the broker closed the connection"),
        (is_silent, "no answer in time"),
        (drips, "no answer in time"),
        (garbage, "the answer claims"),
        (claims_two_gigabytes, "the answer claims 2,147,483,647 bytes: this is not a Kafka broker"),
        (is_a_web_server, "an HTTP server answers, not a Kafka broker"),
        (speaks_tls, "the listener speaks TLS: set security.protocol to SSL or SASL_SSL in --command-config"),
        (another_request, "the answer belongs to request 77, not to request 1: this is not a Kafka broker"),
        (claims_many_versions, "the answer claims"),
    ],
)
def test_a_target_that_is_no_broker_is_a_line(behave, said, tmp_path):
    program = """
import time

begun = time.monotonic()
code = command_line.main(sys.argv[1:])
print(time.monotonic() - begun)
sys.exit(code)
"""
    with serving(behave) as address:
        done = bounded(program, address, f"--output={tmp_path / 'target.json'}")
    assert float(done.stdout) < 5
    (line,) = done.stderr.splitlines()
    assert (done.returncode, line[: len("client-telemetry probe: ") + len(address)]) == (
        2,
        f"client-telemetry probe: {address}",
    )
    assert said in line
    assert not (tmp_path / "target.json").exists()


def test_no_tls_where_tls_was_expected_is_a_line(tmp_path, capsys):
    config = tmp_path / "client.properties"
    config.write_text("security.protocol=SSL\n")
    for behave in (garbage, closes):
        with serving(behave) as address:
            assert (
                command_line.main([address, f"--command-config={config}", f"--output={tmp_path / 'x'}"]) == 2
            )
        (line,) = capsys.readouterr().err.splitlines()
        assert ("TLS" in line and "security.protocol" in line) or "listener one without TLS" in line


def test_nobody_listens(tmp_path, capsys):
    with serving(closes) as address:
        pass
    assert command_line.main([address, f"--output={tmp_path / 'x'}"]) == 2
    assert capsys.readouterr().err == f"client-telemetry probe: {address}: Connection refused\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["kafka", "--output=x"], "'kafka' is not HOST:PORT"),
        (["kafka:99999", "--output=x"], "'kafka:99999' is not HOST:PORT"),
        ([",", "--output=x"], "no address"),
        (["kafka:9092"], "name the file to write"),
        (["kafka:9092", "--output=x", "--rate=0"], "--rate=0 is not"),
        (["kafka:9092", "--output=x", "--command-config=missing"], "missing: No such file"),
    ],
)
def test_an_argument_that_cannot_be_used_is_a_line(arguments, said, capsys):
    try:
        code = command_line.main(arguments)
    except SystemExit as exited:
        code = exited.code
    (line,) = capsys.readouterr().err.splitlines()
    assert code == 2
    assert said in line


def test_a_broker_that_is_overloaded_is_asked_again(monkeypatch):
    """It drops two connections, as a broker does whose queue of connections is full, and then answers."""
    monkeypatch.setattr(probing, "_PAUSES_S", (0.01, 0.01, 0.01))
    dropped = []

    def behave(connection: socket.socket) -> None:
        dropped.append(connection)
        if 1 < len(dropped) < 4:
            return
        while request := connection.recv(1000):
            key, _, correlation_id = struct.unpack_from(">hhi", request, 4)
            if key == 18:
                content = struct.pack(">ihihhh", correlation_id, 0, 1, 18, 0, 0)
            elif len(dropped) == 1:
                return
            else:
                content = struct.pack(">i", correlation_id)
            connection.sendall(struct.pack(">i", len(content)) + content)

    from client_telemetry.probe import measurement, request_bodies

    with serving(behave) as address:
        (entry,) = measurement.bootstrap_listeners(address, {})
        asker = probing.Asker(entry, Limits(1000, answer_s=1))
        outcome, _ = asker.ask(request_bodies.requests()[0, 3])
        asker.close()
    assert outcome == probing.ANSWERED
    assert len(dropped) == 4


def test_a_refusal_is_a_connection_that_is_closed_twice(monkeypatch):
    def behave(connection: socket.socket) -> None:
        while request := connection.recv(1000):
            key, _, correlation_id = struct.unpack_from(">hhi", request, 4)
            if key != 18:
                return
            content = struct.pack(">ihihhh", correlation_id, 0, 1, 18, 0, 0)
            connection.sendall(struct.pack(">i", len(content)) + content)

    from client_telemetry.probe import measurement, request_bodies

    with serving(behave) as address:
        (entry,) = measurement.bootstrap_listeners(address, {})
        asker = probing.Asker(entry, Limits(1000, answer_s=1))
        assert asker.ask(request_bodies.requests()[0, 3])[0] == probing.CLOSED
        asker.close()
