"""Which pages the stages of a run published, from the results that they left in Airflow's database."""

from collections.abc import Iterable, Iterator
from typing import Any

from airflow.models.xcom import XComModel
from airflow.utils.session import create_session

from telemetry_pages.published import CAMPAIGNS, FLEET, PAGE, REVIEWS

Place = tuple[str, ...]
"""Kind, cluster, and day or review; kind and campaign."""


def pages_of_run(dag_id: str, run_id: str, task_id: str | None, map_index: int | None) -> list[Place]:
    """In the order of the stages; of one task, or of one of the clusters for which it ran, where these are given."""
    with create_session() as session:
        query = XComModel.get_many(
            run_id=run_id, key="return_value", dag_ids=dag_id, task_ids=task_id, map_indexes=map_index
        )
        rows = session.scalars(query.order_by(None).order_by(XComModel.timestamp))
        return pages_in([XComModel.deserialize_value(row) for row in rows])


def pages_in(results: Iterable[Any]) -> list[Place]:
    """Of results of stages: fleet pages, reviews and campaigns that they name by their paths.

    >>> pages_in([{"page": "s3://b/p/fleet/east/2026-11-20/index.html", "reviews": [{"review": None}]}])
    [('fleet', 'east', '2026-11-20')]
    >>> pages_in([{"report": "/p/upgrade_campaign/orders-4.0/index.html"}])
    [('upgrade_campaign', 'orders-4.0')]
    """
    found: dict[Place, None] = {}
    for text in _texts(list(results)):
        kind, cluster, entry, page = ["", "", "", "", *text.split("/")][-4:]
        if page == PAGE and kind in (FLEET, REVIEWS):
            found[kind, cluster, entry] = None
        elif page == PAGE and cluster == CAMPAIGNS:
            found[cluster, entry] = None
    return list(found)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
