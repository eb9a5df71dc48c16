"""What a library does on brokers that offer less: its program is run against proxies that stand for releases (offering_proxy.py), and
the lowest version of each request, what works, and the library's own words are noted.
"""

import hashlib
import json
import time
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from client_telemetry.console.output_file import replace_file
from client_telemetry.knowledge import releases, served
from client_telemetry.rehearsal import client_runs, offering_proxy, sandbox_broker
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.measured import WIDEST, measuring_release
from client_telemetry.rehearsal.offering_proxy import OfferingProxy, Sent
from client_telemetry.rehearsal.rehearsing import control
from client_telemetry.rehearsal.sandbox_broker import Broker
from client_telemetry.rehearsal.subjects import Subject
from client_telemetry.rehearsal.workplace import PROGRAMS

LINES = ("0.10.0", "0.10.2", "0.11.0", "1.0", "2.0", "2.1", "2.4", "2.8", "3.0", "3.9", "4.0", "4.4")
"""Lines of Kafka whose newest release stands for what brokers have offered over time."""
_LEFT_OVER_S = 1.0


@dataclass(frozen=True)
class OnRelease:
    """One run. `steps`: as they were reached; `sent`: each request version once."""

    release: str
    steps: Mapping[str, str]
    sent: tuple[Sent, ...]


def offered_releases() -> list[str]:
    """The newest known release of each of LINES."""
    newest = {".".join(map(str, releases.line(release))): release for release in releases.known()}
    return [newest[line] for line in LINES if line in newest]


class Measuring:
    """Brokers with a proxy for each release, started when something has to be run."""

    def __init__(self, cache: Path, jobs: int, ending: ExitStack) -> None:
        self.cache, self.jobs, self._ending = cache, jobs, ending
        self._proxies: dict[str, tuple[Broker, OfferingProxy]] = {}

    def run(self, subject: Subject) -> list[OnRelease]:
        """Oldest release first. Raises NotInstalled or BrokerDidNotStart."""
        found = {release: self._kept(subject, release) for release in offered_releases()}
        missing = [release for release, kept in found.items() if kept is None]
        if missing:
            folder = client_runs.install(
                subject.program, BY_NAME[subject.program], subject.version, self.cache
            )
            topics = {release: f"topic-{uuid4().hex[:8]}" for release in missing}
            self._start()
            for broker in {id(broker): broker for broker, _ in self._proxies.values()}.values():
                broker.seed(list(topics.values()))
            with ThreadPoolExecutor(max(1, self.jobs)) as pool:
                run = pool.map(lambda each: self._run(subject, each, topics[each], folder), missing)
                found |= dict(zip(missing, run, strict=True))
        return [each for each in found.values() if each is not None]

    def _run(self, subject: Subject, release: str, topic: str, folder: Path) -> OnRelease:
        broker, proxy = self._proxies[release]
        configuration = subject.configuration or WIDEST.get(subject.program, "")
        settings = broker.settings() | client_runs.settings(topic, configuration)
        settings["BOOTSTRAP"] = proxy.address
        time.sleep(_LEFT_OVER_S)
        proxy.sent.clear()
        steps = client_runs.steps(BY_NAME[subject.program], folder, settings)
        result = OnRelease(release, steps, tuple(sorted(set(proxy.sent))))
        content = {
            "subject": asdict(subject),
            "release": release,
            "steps": dict(steps),
            "sent": [list(each) for each in result.sent],
        }
        file = self._file(subject, release)
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(content, indent=1).encode())
        return result

    def _kept(self, subject: Subject, release: str) -> OnRelease | None:
        try:
            kept = json.loads(self._file(subject, release).read_text(encoding="utf-8"))
            return OnRelease(release, kept["steps"], tuple(Sent(*each) for each in kept["sent"]))
        except (OSError, ValueError, TypeError, LookupError):
            return None

    def _file(self, subject: Subject, release: str) -> Path:
        program = client_runs.digest(PROGRAMS / BY_NAME[subject.program].source)
        key = json.dumps([asdict(subject), release, _behind(release), program])
        return self.cache / "offered" / f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"

    def _start(self) -> None:
        if self._proxies:
            return
        behind: dict[str, list[str]] = {}
        for release in offered_releases():
            behind.setdefault(_behind(release), []).append(release)
        for started, standing_for in behind.items():
            ports = sandbox_broker.free_ports(len(standing_for))
            addresses = {f"OFFERS{place}": f"127.0.0.1:{port}" for place, port in enumerate(ports)}
            broker = self._ending.enter_context(
                sandbox_broker.running(started, self.cache, proxies=addresses)
            )
            for (listener, address), release in zip(addresses.items(), standing_for, strict=True):
                proxy = OfferingProxy(address, served.by(release), broker.addresses[listener])
                self._ending.enter_context(offering_proxy.running(proxy))
                self._proxies[release] = broker, proxy


@contextmanager
def measuring(cache: Path, jobs: int = 3) -> Iterator[Measuring]:
    with ExitStack() as ending:
        yield Measuring(cache, jobs, ending)


def _behind(release: str) -> str:
    """The real broker: the newest 3.x, which has the old requests, or the newest release."""
    return control().release if releases.parse(release) < (4, 0) else measuring_release()


def lowest_versions(runs: Iterable[OnRelease]) -> dict[int, int]:
    """API key -> the lowest version that was sent and accepted."""
    found: dict[int, int] = {}
    for run in runs:
        for each in run.sent:
            if each.is_accepted:
                found[each.api_key] = min(each.version, found.get(each.api_key, each.version))
    return dict(sorted(found.items()))
