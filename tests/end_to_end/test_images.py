"""Both images of the Dockerfile, built by include/build_images.sh as a user without rights, and what they run: the sample, too."""

import getpass
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.end_to_end.lake.servers import CHECKOUT, free_port

pytestmark = pytest.mark.end_to_end

BUILDER = "client-telemetry-images"
DECODER = "PYTHONPATH=/opt/client-telemetry/packages /opt/client-telemetry/python -c 'import client_telemetry.decode.worker'"
PORT = free_port()
MASTER = f"""/opt/client-telemetry/spark.sh master --host 127.0.0.1 --port {PORT} --webui-port 0 & master=$!
while kill -0 $master && ! (exec 3<>/dev/tcp/127.0.0.1/{PORT}) 2>/dev/null; do sleep 0.2; done
kill $master && {{ wait $master || :; }}"""
SAMPLE = """export AIRFLOW_HOME=/state/airflow CLIENT_TELEMETRY_CLUSTERS=/state/clusters.yaml
include/airflow.sh include/warm.sh python -m include.command sample_run"""
AS_USER = 'test "$(id -un)" = client-telemetry'
CHECKS = {
    "client-telemetry-executor": (
        AS_USER,
        "! touch /opt/client-telemetry/packages/client_telemetry/x",
        DECODER,
        MASTER,
        "touch /work/x",
    ),
    "client-telemetry": (
        AS_USER,
        ".venv/bin/client-telemetry --version",
        ".venv/bin/python -c 'import client_telemetry.decode.worker'",
        # What the image's command does before it starts Airflow.
        'sed "s|^exec .*|exec include/airflow.sh airflow dags list --local --output plain|" include/container.sh >include/listed.sh && bash include/listed.sh',
        "test -s /state/clusters.yaml",
        SAMPLE,
    ),
}


class Builder:
    """Who builds: this user, or one without rights if this user is root."""

    def __init__(self, name: str, home: Path) -> None:
        self.name, self.home = name, home
        self.as_user = [] if name == getpass.getuser() else ["runuser", "-u", name, "--"]

    def run(self, command: str) -> subprocess.CompletedProcess[str]:
        """What it printed, errors too."""
        own = {"HOME": str(self.home), "STORAGE_DRIVER": "overlay"}
        environment = {key: value for key, value in os.environ.items() if key != "TMPDIR"} | own
        return subprocess.run(
            [*self.as_user, "bash", "-c", command],
            cwd=self.home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run_in(self, image: str, command: str) -> subprocess.CompletedProcess[str]:
        """The command in a container of the image, which stays for the next command."""
        container = f"of-{image}"
        within = shlex.join(["buildah", "run", "--isolation", "chroot", "--uts", "host", "--network", "host"])
        return self.run(
            f"buildah inspect {container} >/dev/null 2>&1 || buildah from --name {container} localhost/{image} >/dev/null; "
            f"{within} {container} -- bash -c {shlex.quote(command)}"
        )


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Builder]:
    if missing := [each for each in ("buildah", "mmdebstrap", "newuidmap") if not shutil.which(each)]:
        pytest.skip(f"{', '.join(missing)}: not installed")
    if os.geteuid() != 0:
        yield Builder(getpass.getuser(), tmp_path_factory.mktemp("images"))
        return
    subprocess.run(["useradd", "--create-home", BUILDER], check=True)
    try:
        yield Builder(BUILDER, Path("/home", BUILDER))
    finally:
        subprocess.run(["userdel", "--remove", BUILDER], check=True, capture_output=True)


@pytest.fixture(scope="module")
def images(builder: Builder) -> Builder:
    checkout = builder.home / "checkout"
    checkout.mkdir()
    files = "git ls-files -z --cached --others --exclude-standard | tar --null --files-from=- --create"
    subprocess.run(["bash", "-c", f"{files} | tar -C {checkout} --extract"], cwd=CHECKOUT, check=True)
    shutil.chown(builder.home, builder.name)
    subprocess.run(["chown", "--recursive", builder.name, checkout], check=True)
    built = builder.run("checkout/include/build_images.sh")
    kept = CHECKOUT / "var" / "e2e" / "images.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(built.stdout, encoding="utf-8")
    assert built.returncode == 0, built.stdout[-3000:]
    return builder


@pytest.mark.long
@pytest.mark.parametrize(
    ("image", "check"), [(image, check) for image, checks in CHECKS.items() for check in checks]
)
def test_what_an_image_runs_works_as_its_user(images, image, check):
    done = images.run_in(image, check)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "machine code of the decoder cannot be kept" not in done.stdout
    if check == SAMPLE:
        assert "Report: /state/published/upgrade_impact/fleet/" in done.stdout
    if "dags list" in check:
        assert "client_telemetry_daily" in done.stdout and "broker_upgrade_impact" in done.stdout


def test_files_that_the_images_start_are_there():
    """Without building: what CMD and ENTRYPOINT name is in the checkout or packed."""
    named = re.findall(
        r'^(?:CMD|ENTRYPOINT) \["([^"]*/[^"]*)"',
        (CHECKOUT / "Dockerfile").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    assert len(named) == 2
    for each in named:
        assert (CHECKOUT / each).exists() or (CHECKOUT / "spark/executors" / Path(each).name).exists()
