"""Ports for brokers that are started a moment later."""

import socket
import subprocess
import sys

import pytest
from client_telemetry.rehearsal import sandbox_broker
from client_telemetry.rehearsal.sandbox_broker import free_ports


def test_no_port_is_given_twice_and_none_is_of_outgoing_connections():
    given = [port for _ in range(200) for port in free_ports(3)]
    assert len(set(given)) == len(given) == 600
    assert all(15_000 <= port < 31_000 for port in given)


def test_a_port_that_is_taken_is_not_given(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", free_ports(1)[0]))
        port = taken.getsockname()[1]
        monkeypatch.setattr(sandbox_broker.random, "sample", lambda ports, _: [port])
        monkeypatch.setattr(sandbox_broker, "_given", set())
        with pytest.raises(RuntimeError, match="no 1 free ports"):
            free_ports(1)


def test_processes_that_follow_each_other_draw_from_different_thousands():
    program = "import os; from client_telemetry.rehearsal.sandbox_broker import free_ports; print(os.getpid(), *free_ports(9))"
    for _ in range(2):
        command = [sys.executable, "-c", program]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        pid, *ports = map(int, printed.split())
        assert {(port - 15_000) // 1000 for port in ports} == {pid % 16}
