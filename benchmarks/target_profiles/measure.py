"""Measures the profiles of brokers that ship with the knowledge base: starts each from its registry and probes it.

    .venv/bin/python -m benchmarks.target_profiles.measure [NAME …] --cache FOLDER

NAME: one of target_profiles.csv, such as kroxylicious-0.12.0; default: all that can be measured. Installs and runs packages of
others, as a rehearsal does. The answers replace those of the profile in target_profile_lines.csv.
"""

import argparse
import csv
import io
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from client_telemetry.console.output_file import replace_file
from client_telemetry.formats import target_file
from client_telemetry.knowledge import target_profiles
from client_telemetry.knowledge.target_profiles import Profile
from client_telemetry.knowledge_package import confinement
from client_telemetry.probe import measurement
from client_telemetry.probe.probing import Limits
from client_telemetry.rehearsal import client_runs, sandbox_broker
from client_telemetry.rehearsal.library_programs import BY_NAME
from client_telemetry.rehearsal.workplace import Workplace

HERE = Path(__file__).parent
KNOWLEDGE = Path(target_profiles.__file__).parent
FRANZ_GO = "github.com/twmb/franz-go"
BEHIND_THE_PROXY = "4.4.0"
START_S = 60


@contextmanager
def apache_kafka(version: str, cache: Path) -> Iterator[str]:
    with sandbox_broker.running(version, cache) as broker:
        broker.seed(["a"])
        yield broker.addresses["PLAINTEXT"]


@contextmanager
def librdkafka_mock(version: str, cache: Path) -> Iterator[str]:
    """`version`: of confluent-kafka, which has librdkafka of the same version."""
    folder = client_runs.install("confluent-kafka-python", BY_NAME["confluent-kafka-python"], version, cache)
    with _printing([folder / "venv/bin/python", HERE / "mock.py"], folder, r"[\d.]+:\d+") as address:
        yield address


@contextmanager
def kfake(version: str, cache: Path) -> Iterator[str]:
    """`version`: of franz-go, and of kfake, which has no releases: `1.22.3+0.0.0-20260918054303-01f206a7e32c`."""
    folder = cache / "profiles" / f"kfake-{version}"
    if not (folder / "kfake").exists():
        _empty(folder)
        shutil.copy(HERE / "kfake.go", folder)
        at, (library, own) = Workplace(folder, cache), version.split("+")
        at.do("go", "mod", "init", "kfake")
        at.do("go", "get", f"{FRANZ_GO}@v{library}", f"{FRANZ_GO}/pkg/kfake@v{own}")
        at.do("go", "build", "-o", "kfake", ".")
    with _printing([folder / "kfake"], folder, r"[\d.]+:\d+") as address:
        yield address


@contextmanager
def kroxylicious(version: str, cache: Path) -> Iterator[str]:
    """Without filters of its own, in front of one broker of Apache Kafka."""
    folder = cache / "profiles" / f"kroxylicious-{version}"
    if not (folder / "jars").exists():
        _empty(folder)
        what = (f"-Dproxy.version={version}", f"-DoutputDirectory={folder}/jars")
        Workplace(folder, cache).do(
            "mvn", "-q", "-B", "-f", HERE / "proxy.pom.xml", "dependency:copy-dependencies", *what
        )
    with apache_kafka(BEHIND_THE_PROXY, cache) as behind:
        (port,) = sandbox_broker.free_ports(1)
        gateway = f"{{name: default, portIdentifiesNode: {{bootstrapAddress: '127.0.0.1:{port}'}}}}"
        cluster = f"{{name: one, targetCluster: {{bootstrapServers: '{behind}'}}, gateways: [{gateway}]}}"
        (folder / "proxy.yaml").write_text(f"virtualClusters: [{cluster}]\n", encoding="utf-8")
        java = ["java", "-cp", f"{folder}/jars/*", str(HERE / "Proxy.java"), str(folder / "proxy.yaml")]
        with _printing(java, folder, "started"):
            yield f"127.0.0.1:{port}"


START: dict[str, Callable[[str, Path], object]] = {
    "apache-kafka": apache_kafka,
    "librdkafka-mock": librdkafka_mock,
    "kfake": kfake,
    "kroxylicious": kroxylicious,
}
"""By the name of a profile without its version."""


def _empty(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


@contextmanager
def _printing(command: list[str | Path], folder: Path, expected: str) -> Iterator[str]:
    """A program that has printed what is expected, while the block runs."""
    output = folder / "output"
    with ExitStack() as ending:
        file = ending.enter_context(output.open("w"))
        process = ending.enter_context(
            confinement.started(command, confinement.of_programs(folder / "home"), folder, file.fileno())
        )
        deadline = time.monotonic() + START_S
        while not (found := re.search(rf"^{expected}$", output.read_text(), re.MULTILINE)):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} did not start: {output.read_text()[-1000:]}")
            time.sleep(0.1)
        yield found[0]


def measured(profile: Profile, cache: Path) -> str:
    """The text of its target file."""
    start = START[profile.name.removesuffix(f"-{profile.version.partition('+')[0]}")]
    with start(profile.version, cache) as address:  # type: ignore[attr-defined]
        bootstrap = measurement.bootstrap_listeners(address, {})
        answers = measurement.measure(bootstrap, Limits(1000), lambda _: None)
        return target_file.text({**measurement.content(answers, bootstrap), "product": profile.product})


def _write(texts: Mapping[str, str]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(target_profiles.LINES_COLUMNS)
    for profile in target_profiles.known():
        writer.writerows((profile.name, line) for line in texts.get(profile.name, "").splitlines())
    replace_file(KNOWLEDGE / target_profiles.LINES_FILE, out.getvalue().encode())


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--cache", type=Path, required=True)
    args = parser.parse_args(argv)
    chosen = [
        each
        for each in target_profiles.known()
        if each.version and (not args.names or each.name in args.names)
    ]
    texts = dict(target_profiles.texts())
    for profile in chosen:
        texts[profile.name] = measured(profile, args.cache.absolute())
        _write(texts)
        print(profile.name, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
