"""The probe logs in with Kerberos: a broker and a Kerberos server of a sandbox, and the package gssapi, which is compiled here."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from client_telemetry.formats import target_file
from client_telemetry.rehearsal import client_runs, sandbox_broker
from client_telemetry.rehearsal.library_programs import BY_NAME

CHECKOUT = Path(__file__).parents[2]
JARS = CHECKOUT / "var" / "end_to_end" / "jars"
CACHE = CHECKOUT / "var" / "e2e" / "rehearsal"
RELEASE = "4.4.0"
KAFKA_PYTHON = "3.0.12"
"""As the extra `probe` pins it."""

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.skipif(not (shutil.which("java") and shutil.which("mvn")), reason="needs Java and Maven"),
    pytest.mark.skipif(not shutil.which("krb5-config"), reason="needs libkrb5-dev: gssapi is compiled"),
]


@pytest.fixture(scope="module")
def python() -> Path:
    """One that has kafka-python and gssapi, and of this project only the sources."""
    program = BY_NAME["kafka-python"]
    folder = client_runs.install("kafka-python", program, KAFKA_PYTHON, CACHE)
    client_runs.install_gssapi(program, folder, CACHE)
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def broker() -> Iterator[sandbox_broker.Broker]:
    jars = CACHE / "brokers" / RELEASE
    if (JARS / "broker-4").exists() and not jars.exists():
        jars.parent.mkdir(parents=True, exist_ok=True)
        jars.symlink_to(JARS / "broker-4")
    with sandbox_broker.running(RELEASE, CACHE, tls=True, kerberos=True) as started:
        yield started


def probe(
    python: Path, folder: Path, way_in: Mapping[str, str], variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    settings = folder / "client.properties"
    settings.write_text(
        f"security.protocol={way_in['PROTOCOL']}\nsasl.mechanism=GSSAPI\nsasl.kerberos.service.name=kafka\n"
        f"ssl.truststore.location={way_in['CA']}\n"
    )
    command = [python, "-m", "client_telemetry.probe.command_line", way_in["BOOTSTRAP"], "--rate=1000"]
    output = [f"--command-config={settings}", f"--output={folder / 'target.json'}"]
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(CHECKOUT / "spark"), **variables}
    return subprocess.run([*command, *output], env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("tls", [False, True])
def test_a_listener_with_kerberos_is_probed(python, broker, tmp_path, tls):
    way_in = broker.settings("GSSAPI", tls=tls)
    ended = probe(python, tmp_path, way_in, way_in)
    assert ended.returncode == 0, ended.stderr
    target = target_file.read(tmp_path / "target.json")
    assert target["mechanisms"] == ["GSSAPI"]
    assert RELEASE in target["answers_like"]
    (answers,) = target["answers"]
    assert answers["0 Produce"]["answered"] == "3-13"


def test_without_a_ticket_it_is_a_line(python, broker, tmp_path):
    way_in = broker.settings("GSSAPI")
    ticketless = {"KRB5_CONFIG": way_in["KRB5_CONFIG"], "KRB5CCNAME": f"FILE:{tmp_path / 'none'}"}
    ticketless["KRB5_KTNAME"] = ticketless["KRB5_CLIENT_KTNAME"] = f"FILE:{tmp_path / 'no.keytab'}"
    ended = probe(python, tmp_path, way_in, ticketless)
    assert ended.returncode == 2
    (line,) = [each for each in ended.stderr.splitlines() if "GSSAPI" in each]
    assert "Traceback" not in ended.stderr and "kinit" in line
    assert not (tmp_path / "target.json").exists()
