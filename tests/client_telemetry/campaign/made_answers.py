"""Short answers for tests: applications with one client each, seen on the answer's day unless said otherwise."""

import datetime as dt

from client_telemetry.campaign.answers import Answer, Application, Client
from client_telemetry.campaign.plan import Campaign

START = dt.date(2026, 11, 1)


def day(number: int) -> dt.date:
    return START + dt.timedelta(days=number)


def at(number: int, hour: int = 12) -> dt.datetime:
    return dt.datetime.combine(day(number), dt.time(hour), dt.UTC)


def client(
    verdict: str, seen: int, client_id: str = "orders", *, since: int | None = None, **fields
) -> Client:
    rules = fields.pop("rules", ("observed_version_refused",) if verdict == "breaks" else ())
    return Client(
        "User:a",
        client_id,
        fields.pop("software", ""),
        verdict,
        rules,
        f"it {verdict}",
        "upgrade it" if verdict == "breaks" else None,
        at(seen if since is None else since, 1),
        at(seen, fields.pop("hour", 12)),
    )


def application(name: str, *clients: Client, owner: str | None = "shop") -> Application:
    order = ("breaks", "insufficient_evidence", "degrades", "unsupported", "safe")
    worst_first = tuple(sorted(clients, key=lambda each: order.index(each.verdict)))
    return Application(name, "User:a", owner, "shop@example.com", worst_first)


def answer(number: int, *applications: Application, version: int = 0, **fields) -> Answer:
    """Of day `number`; `version`: a later one replaces an earlier one."""
    values = {
        "cluster": "east",
        "to_release": "4.0.1",
        "knowledge_version": "k1",
        "complete_share": 1.0,
        "unseen_brokers": (),
        "blockers": (),
        "incomplete": None,
    }
    return Answer(
        day=day(number),
        created_at=at(number + 1, 3) + dt.timedelta(hours=version),
        report_id=f"r{number}-{version}",
        applications=applications,
        **(values | fields),
    )


def plan(*statements, **fields) -> Campaign:
    values = {"clusters": ("east",), "to_release": "4.0.1", "date": day(60), "contact": "kafka@example.com"}
    return Campaign("orders-4.0", statements=statements, **(values | fields))
