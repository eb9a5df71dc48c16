"""Both images of the Dockerfile, built by its own steps in a clean folder as their own user, and what they run: the sample, too."""

from pathlib import Path

import pytest

from tests.end_to_end.images import build, stages_of, why_not
from tests.end_to_end.lake.servers import CHECKOUT, free_port

pytestmark = pytest.mark.end_to_end

DECODER = "PYTHONPATH=/opt/client-telemetry/packages /opt/client-telemetry/python -c 'import client_telemetry.decode.worker'"
PORT = free_port()
MASTER = f"""/opt/client-telemetry/spark.sh master --host 127.0.0.1 --port {PORT} --webui-port 0 & master=$!
while kill -0 $master && ! (exec 3<>/dev/tcp/127.0.0.1/{PORT}) 2>/dev/null; do sleep 0.2; done
kill $master && {{ wait $master || :; }}"""
SAMPLE = """export AIRFLOW_HOME=/state/airflow CLIENT_TELEMETRY_CLUSTERS=/state/clusters.yaml
include/airflow.sh include/spark_connect.sh python -m include.command sample_run"""
NOT_WRITABLE = "! touch /opt/client-telemetry/packages/client_telemetry/x"
CHECKS = {
    "executor": (NOT_WRITABLE, DECODER, MASTER, "touch /work/x"),
    "airflow": (
        ".venv/bin/client-telemetry --version",
        ".venv/bin/python -c 'import client_telemetry.decode.worker'",
        # What the image's command does before it starts Airflow.
        'sed "s|^exec .*|exec include/airflow.sh airflow dags list --local --output plain|" include/container.sh >include/listed.sh && bash include/listed.sh',
        "test -s /state/clusters.yaml",
        SAMPLE,
    ),
}


@pytest.fixture(scope="module")
def images(tmp_path_factory) -> dict[tuple[str, str], tuple[int, str]]:
    if reason := why_not():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("images")
    text, found = build(folder, CHECKS)
    kept = CHECKOUT / "var" / "e2e" / "images.log"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(text, encoding="utf-8")
    return found


@pytest.mark.long
@pytest.mark.parametrize(("stage", "check"), [(s, c) for s, checks in CHECKS.items() for c in checks])
def test_what_an_image_runs_works_as_its_user(images, stage, check):
    code, output = images[stage, check]
    assert code == 0, output[-2000:]
    assert "machine code of the decoder cannot be kept" not in output
    if check == SAMPLE:
        assert "Report: /state/published/upgrade_impact/fleet/" in output
    if "dags list" in check:
        assert "client_telemetry_daily" in output and "broker_upgrade_impact" in output


def test_commands_of_the_images_are_there():
    """Without building: what CMD and ENTRYPOINT name is in the checkout or packed."""
    stages = {stage.name: dict(stage.steps) for stage in stages_of((CHECKOUT / "Dockerfile").read_text())}
    assert (CHECKOUT / stages["airflow"]["CMD"].strip('["]')).exists()
    packed = Path(stages["executor"]["ENTRYPOINT"].strip('["]'))
    assert (CHECKOUT / "spark/executors" / packed.name).exists()
