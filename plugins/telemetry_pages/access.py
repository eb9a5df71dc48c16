"""Who sees what, by Airflow's auth manager: whoever may read a DAG sees what it published, and, of a cluster to which the clusters
file gives a team, only who is of that team. What was shown and what was refused is in the audit log."""

from collections.abc import Iterable
from functools import cached_property
from typing import Annotated, Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails, TeamDetails
from airflow.api_fastapi.core_api.security import GetUserDep
from fastapi import Depends, HTTPException, Request
from include.clusters import ClustersFileError, read_clusters

from telemetry_pages import audit_log

DAILY, IMPACT, REVIEW = "client_telemetry_daily", "broker_upgrade_impact", "broker_upgrade_review"
SUBSCRIPTIONS = "telemetry_subscription_check"
CAMPAIGN = "upgrade_campaign"

OWNERS = "owners"
"""Folder of a report or review with a folder for each owner."""


class Reader:
    """Who asks for a page, and for which."""

    def __init__(self, user: GetUserDep, request: Request) -> None:
        self.user = user
        self.request = request

    def may_read(self, dag_id: str) -> bool:
        details = DagDetails(id=dag_id)
        return bool(get_auth_manager().is_authorized_dag(method="GET", user=self.user, details=details))

    def is_of(self, team: str) -> bool:
        """Raises HTTPException if the auth manager has no teams."""
        details = TeamDetails(name=team)
        try:
            return bool(get_auth_manager().is_authorized_team(method="GET", user=self.user, details=details))
        except NotImplementedError:
            raise HTTPException(
                403, "The clusters file has teams, and Airflow's auth manager has none (docs/airflow.md)."
            ) from None

    def sees(self, cluster: str) -> bool:
        return self._reason_against(cluster) is None

    def sees_all(self, clusters: Iterable[str]) -> bool:
        return all(map(self.sees, clusters))

    def check(self, dag_id: str, *place: str) -> None:
        """`place`: cluster, report or day, and the path of a file in it, as far as the page has one. Raises HTTPException."""
        reason = None
        if not self.may_read(dag_id):
            reason = f"These pages need read access to the DAG {dag_id}."
        elif place and not self._is_own_message(place):
            reason = self._reason_against(place[0])
        audit_log.record(self.user, self.request, dag_id, is_refused=reason is not None)
        if reason:
            raise HTTPException(403, reason)

    def _reason_against(self, cluster: str) -> str | None:
        teams = self._teams
        if not any(teams.values()):
            return None
        if cluster not in teams:
            return (
                f"The team of cluster {cluster!r} is not known: the clusters file does not name the cluster."
            )
        team = teams[cluster]
        return None if team is None or self.is_of(team) else f"These pages are for the team {team}."

    def _is_own_message(self, place: tuple[str, ...]) -> bool:
        """Messages to an owner are for the team of that name, too."""
        return len(place) > 4 and place[2] == OWNERS and any(self._teams.values()) and self.is_of(place[3])

    @cached_property
    def _teams(self) -> dict[str, str | None]:
        try:
            return read_clusters().teams
        except ClustersFileError as error:
            raise HTTPException(500, str(error)) from None


ReaderDep = Annotated[Reader, Depends()]


def reader_of(dag_id: str) -> Any:
    """The dependency of a route whose pages the DAG published."""

    def check(reader: ReaderDep, request: Request) -> None:
        parts = request.path_params
        place = [parts["cluster"]] if "cluster" in parts else parts.get("path", "").split("/")
        reader.check(dag_id, *[name for name in place if name])

    return Depends(check)
