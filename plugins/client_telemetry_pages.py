"""Pages inside Airflow's user interface: fleet pages, upgrade reports, quality, coverage, search, and a form that asks
an upgrade question. What they show are files that jobs published; the pages are in the package telemetry_pages."""

from airflow.plugins_manager import AirflowPlugin

from telemetry_pages.app import PREFIX, app


class ClientTelemetryPages(AirflowPlugin):
    name = "client_telemetry_pages"
    fastapi_apps = [{"app": app, "url_prefix": PREFIX, "name": "Client telemetry"}]  # noqa: RUF012
    external_views = [  # noqa: RUF012
        {
            "name": "Client telemetry",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "client_telemetry",
        },
        {
            "name": "Upgrade report",
            "href": f"{PREFIX}/runs/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "upgrade_report",
        },
    ]
