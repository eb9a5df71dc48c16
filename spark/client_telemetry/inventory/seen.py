"""The clients that brokers saw, from the report.json of an upgrade report."""

import datetime as dt
from dataclasses import dataclass

from client_telemetry.formats import report_file
from client_telemetry.formats.report_file import NotAReport
from client_telemetry.knowledge import client_versions, software
from client_telemetry.knowledge.vocabulary import PRECEDENCE


@dataclass(frozen=True)
class Client:
    """One row of a report. `library`, `version`: as declared (KIP-511), empty if they are not; `candidates`: libraries that its
    requests may be of, most likely first. `addresses`: how many; the report lists the first five of them.
    """

    client_id: str | None
    principal: str | None
    application: str
    owner: str | None
    verdict: str
    explanation: str
    identified_as: str
    is_unidentified: bool
    library: str
    version: str
    candidates: tuple[str, ...]
    addresses: int
    listed_addresses: tuple[str, ...]
    hosts: tuple[str, ...]
    groups: tuple[str, ...]
    first_seen_at: dt.datetime
    last_seen_at: dt.datetime
    anchor: str
    software_version: str = ""
    """As it is declared."""
    roles: tuple[str, ...] = ()

    @property
    def application_key(self) -> tuple[str, str, str]:
        """As reports count applications: by principal, owner and name."""
        return self.principal or "", self.owner or "", self.application


@dataclass(frozen=True)
class Seen:
    """`cluster`, releases and days of the report's question."""

    cluster: str
    report_id: str
    source: str
    target: str
    last_day: dt.date
    clients: tuple[Client, ...]


def from_report(document: report_file.Report) -> Seen:
    """From the content of report.json, schema version 3. Raises NotAReport."""
    try:
        question = document["question"]
        return Seen(
            cluster=str(question["cluster_name"]),
            report_id=str(question["report_id"]),
            source=str(question["from_release"]),
            target=str(question["to_release"]),
            last_day=dt.date.fromisoformat(question["last_dt"]),
            clients=tuple(map(_client, document["clients"])),
        )
    except (LookupError, TypeError, ValueError, AttributeError):
        raise NotAReport("not the report.json of an upgrade report, schema version 3") from None


def _client(row: report_file.Client) -> Client:
    if row["verdict"] not in PRECEDENCE:
        raise ValueError(row["verdict"])
    name, version = row["client_software_name"] or "", row["client_software_version"] or ""
    identity = software.identify_name(name, version) if name else None
    number = client_versions.text(identity.version) if identity and identity.version else ""
    return Client(
        client_id=row["client_id"],
        principal=row["principal"],
        application=str(row["application"]),
        owner=row["owner"],
        verdict=row["verdict"],
        explanation=str(row["explanation"]),
        identified_as=str(row["identified_as"] or ""),
        is_unidentified=bool(row["is_unidentified"]),
        library=identity.library if identity else "",
        version=number if identity and identity.version_decides else "",
        candidates=tuple(str(each["library"]) for each in row["candidates"]),
        addresses=int(row["addresses"] or 0),
        listed_addresses=tuple(row["address_sample"] or ()),
        hosts=tuple(row["hosts"] or ()),
        groups=tuple(row["group_ids"] or ()),
        first_seen_at=dt.datetime.fromisoformat(row["first_seen_at"]),
        last_seen_at=dt.datetime.fromisoformat(row["last_seen_at"]),
        anchor=str(row["anchor"]),
        software_version=version,
        roles=tuple(row["roles"] or ()),
    )
