"""compose.yaml follows the Compose Specification, and what its services name is there. There is no Docker here."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

CHECKOUT = Path(__file__).parents[1]
SCHEMA = Path(__file__).parent / "data" / "compose-spec.json"
"""As the PyPI package check-jsonschema 0.39.0 has it, builtin_schemas/vendor (Compose Specification, Apache-2.0)."""
COMPOSE = yaml.safe_load((CHECKOUT / "compose.yaml").read_text())
SERVICES = COMPOSE["services"]
PLUGIN = (CHECKOUT / "docs" / "broker-plugin.md").read_text()


def errors(document: object) -> list[str]:
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    return [f"{list(each.path)}: {each.message}" for each in validator.iter_errors(document)]


def test_it_follows_the_specification():
    assert errors(COMPOSE) == []
    assert errors({"services": {"broker": {"imge": "apache/kafka:3.9.1"}}})


def test_services_wait_for_services_that_there_are():
    for service in SERVICES.values():
        for name, wait in service.get("depends_on", {}).items():
            assert wait["condition"] != "service_healthy" or "healthcheck" in SERVICES[name]


def test_images_have_a_tag_or_are_built_here():
    built = {each["image"] for each in SERVICES.values() if "build" in each and "image" in each}
    named = {each["image"] for each in SERVICES.values() if "image" in each} - built
    assert all(re.fullmatch(r"[a-z]+(/[a-z]+)?:v?\d[\w.-]*", each) for each in named), named


def test_files_and_stages_that_are_built_and_mounted_are_there():
    stages = set(re.findall(r"^FROM .* AS (\S+)$", (CHECKOUT / "Dockerfile").read_text(), re.M))
    for service in SERVICES.values():
        if "build" in service:
            context = CHECKOUT / service["build"]["context"]
            inline = service["build"].get("dockerfile_inline", "")
            for copied in re.findall(r"^COPY (.*) /$", inline, re.M):
                assert all((context / name).is_file() for name in copied.split())
            assert inline or (context / service["build"].get("dockerfile", "Dockerfile")).is_file()
            assert service["build"].get("target", "airflow") in stages
        for mounted in service.get("volumes", ()):
            source = mounted.partition(":")[0]
            assert (CHECKOUT / source).exists() if source.startswith("./") else source in COMPOSE["volumes"]


@pytest.mark.parametrize(
    "name", [name for name in SERVICES["broker"]["environment"] if "CLIENT_TELEMETRY" in name]
)
def test_the_broker_has_settings_of_the_plugin(name):
    """As Kafka's image turns variables into settings."""
    setting = name.removeprefix("KAFKA_CLIENT_TELEMETRY_DUMP_").lower().replace("_", ".")
    assert f"`{setting}`" in PLUGIN


def test_the_clusters_file_is_about_this_broker_and_store():
    (cluster,) = yaml.safe_load((CHECKOUT / "include/compose/clusters.yaml").read_text())["clusters"]
    environment = SERVICES["broker"]["environment"]
    assert cluster["cluster_id"] == environment["CLUSTER_ID"]
    assert cluster["raw"].startswith(environment["KAFKA_CLIENT_TELEMETRY_DUMP_LOCATION"] + "?")
    endpoint = environment["KAFKA_CLIENT_TELEMETRY_DUMP_S3_ENDPOINT"].removeprefix("http://")
    assert (
        f"endpoint_override={endpoint}&" in cluster["raw"] and SERVICES["bucket"]["command"][-2] == endpoint
    )
