"""Pages inside Airflow's user interface: fleet pages, upgrade reports, quality, coverage, search, and a form that asks
an upgrade question; and the notes of runs. What pages show are files that jobs published; both are in the package
telemetry_pages. Airflow learns here, too, in which order tasks start."""

from typing import Any, ClassVar

from airflow.plugins_manager import AirflowPlugin
from include.run_priority import TodayFirst

from telemetry_pages import PREFIX, run_notes


async def pages(scope: Any, receive: Any, send: Any) -> None:
    """The application, imported when it is first asked: tasks and the DAG processor load every plugin, too."""
    from telemetry_pages.app import app

    await app(scope, receive, send)


class ClientTelemetryPages(AirflowPlugin):
    name = "client_telemetry_pages"
    listeners: ClassVar = [run_notes]
    priority_weight_strategies: ClassVar = [TodayFirst]
    fastapi_apps: ClassVar = [{"app": pages, "url_prefix": PREFIX, "name": "Client telemetry"}]
    external_views: ClassVar = [
        {
            "name": "Client telemetry",
            "href": f"{PREFIX}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "client_telemetry",
        },
        {
            "name": "Published pages",
            "href": f"{PREFIX}/runs/{{DAG_ID}}/{{RUN_ID}}",
            "destination": "dag_run",
            "url_route": "published_pages",
        },
    ]
