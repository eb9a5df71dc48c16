"""Evidence of the review in one line: `Produce:9@0-900/2` is Produce v9 from second 0 to 900, every 2 seconds; `!6` answered
with error 6, `x` refused. Three brokers are exchanged at 300, 340 and 380; features are raised at 600; the end is 900."""

import re
from collections.abc import Iterator

from client_telemetry.activity.records import (
    Activity,
    BrokerRun,
    Client,
    Evidence,
    FailedLogin,
    FeatureLevels,
    UnnamedRefusal,
)
from client_telemetry.knowledge import apis

STOPS = {3: 300.0, 2: 340.0, 1: 380.0}
DOWN = 8.0
FINALIZED_AT = 600.0
END = 900.0
SLOT = 10.0
ADDRESS = "10.0.0.7"

_DID = re.compile(r"(\w+):(\d+)@([\d.]+)-([\d.]+)/([\d.]+)(?:!(\d+))?(x?)")


def runs(from_release: str = "3.9.1", to_release: str = "4.0.1") -> list[BrokerRun]:
    found = []
    for broker, stop in STOPS.items():
        found.append(BrokerRun(broker, f"{broker}-old", (from_release,), -5.0, stop))
        found.append(BrokerRun(broker, f"{broker}-new", (to_release,), stop + DOWN, END, True))
    return found


def features() -> list[FeatureLevels]:
    return [
        FeatureLevels(-1.0, {"metadata.version": 21}),
        FeatureLevels(FINALIZED_AT, {"metadata.version": 25, "transaction.version": 2}),
    ]


def client(client_id: str = "orders", software: str = "unknown", protocol: str = "PLAINTEXT") -> Client:
    name, _, version = software.partition(" ")
    return Client(client_id, "User:orders", ADDRESS, name, version, protocol)


def activities(who: Client, did: str) -> list[Activity]:
    found: dict[tuple[str, int], Activity] = {}
    for api, version, at, broker, error, is_refused in requests(did):
        key, slot = apis.find(api).key, int(at // SLOT)
        incarnation = f"{broker}-{'old' if at < STOPS[broker] else 'new'}"
        activity = found.setdefault(
            (incarnation, slot), Activity(who, broker, incarnation, slot * SLOT, (slot + 1) * SLOT)
        )
        use = activity.use(key, int(version))
        if is_refused:
            use.add_failed(at, refused=True)
        elif error:
            use.add_failed(at)
            activity.errors[key, int(error)] = activity.errors.get((key, int(error)), 0) + 1
        else:
            use.add_answered(at)
    return list(found.values())


def requests(did: str) -> Iterator[tuple[str, str, float, int, str, bool]]:
    """API, version, time, broker, error code and whether it was refused; they take turns among the brokers that run."""
    for api, version, since, until, every, error, refused in _DID.findall(did):
        at, turn = float(since), 0
        while at <= float(until):
            broker, incarnation = _broker(turn, at, refused=bool(refused))
            turn += 1
            if incarnation:
                yield api, version, at, broker, error, bool(refused)
            at += float(every)


def _broker(turn: int, at: float, *, refused: bool) -> tuple[int, str]:
    running = [
        (broker, f"{broker}-{'old' if at < stop else 'new'}")
        for broker, stop in STOPS.items()
        if not stop <= at < stop + DOWN
    ]
    if refused and at >= min(STOPS.values()):
        running = [each for each in running if each[1].endswith("new")]
    elif not refused and min(STOPS.values()) <= at < max(STOPS.values()) + DOWN:
        # What an old broker still does counts there, so that a request that upgraded ones refuse may go on.
        running = [each for each in running if each[1].endswith("old")] or running
    return running[turn % len(running)] if running else (0, "")


def refusals(text: str) -> list[UnnamedRefusal]:
    found = []
    for api, version, since, until, every, _, _ in _DID.findall(text):
        at = float(since)
        while at <= float(until):
            found.append(UnnamedRefusal(ADDRESS, 3, "3-new", apis.find(api).key, int(version), at, at, 1))
            at += float(every)
    return found


def failed_logins(text: str) -> list[FailedLogin]:
    found = []
    for since, until, every in re.findall(r"([\d.]+)-([\d.]+)/([\d.]+)", text):
        at = float(since)
        while at <= float(until):
            found.append(FailedLogin(ADDRESS, 3, "3", "SCRAM-SHA-256", "invalid credentials", at, at, 1))
            at += float(every)
    return found


def evidence(clients: list[tuple[Client, str]], unnamed_refusals: str = "", logins: str = "") -> Evidence:
    return Evidence(
        "cluster",
        runs(),
        features(),
        [activity for who, did in clients for activity in activities(who, did)],
        refusals(unnamed_refusals),
        failed_logins(logins),
        SLOT,
    )
