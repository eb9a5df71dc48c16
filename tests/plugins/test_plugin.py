"""What Airflow loads in every process, and what only its API server does."""

import importlib
import sys


def test_the_plugin_is_light_until_it_is_asked(monkeypatch):
    monkeypatch.delitem(sys.modules, "telemetry_pages.app", raising=False)
    monkeypatch.delitem(sys.modules, "client_telemetry_pages", raising=False)
    plugin = importlib.import_module("client_telemetry_pages").ClientTelemetryPages
    assert "telemetry_pages.app" not in sys.modules
    (mounted,) = plugin.fastapi_apps
    assert all(view["href"].startswith(mounted["url_prefix"] + "/") for view in plugin.external_views)


def test_airflow_mounts_it_and_it_answers(clusters_file):
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    (mounted,) = importlib.import_module("client_telemetry_pages").ClientTelemetryPages.fastapi_apps
    root = FastAPI()
    root.mount(mounted["url_prefix"], mounted["app"])
    assert TestClient(root).get(mounted["url_prefix"] + "/").status_code == 401
