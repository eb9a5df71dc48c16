"""The client programs: how each library is installed at a version, away from everything else, and run."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fixes.broker import CHECKOUT, WORK

PROGRAMS = Path(__file__).parent / "programs"
INSTALL_SECONDS, RUN_SECONDS = 540, 240
STEPS = ("connect", "produce", "consume", "group", "commit", "txn", "create")
"""create: a topic, where a recommendation is about that (kafka-go)."""


class NotInstalled(RuntimeError):
    """A library at a version that cannot be had here, with the line that said so."""


def run(program: str, version: str, environment: dict[str, str]) -> dict[str, str]:
    """Step -> ok, n/a, or the library's error. Raises NotInstalled."""
    command = _installed(program, version)
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
        )
        output, errors = done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        output = (late.stdout or b"").decode() if isinstance(late.stdout, bytes) else (late.stdout or "")
        errors = f"ended after {RUN_SECONDS} s"
    outcomes: dict[str, str] = {}
    for line in output.splitlines():
        if line.startswith('{"'):
            said = json.loads(line)
            outcomes[said["step"]] = "n/a" if said["outcome"].endswith("n/a") else said["outcome"]
    if not outcomes:
        outcomes["connect"] = (errors.strip().splitlines() or ["no output"])[-1]
    if "commit" in outcomes and "group" not in outcomes:
        outcomes["group"], outcomes["commit"] = outcomes["commit"], "not reached"
    return outcomes


def _installed(program: str, version: str) -> list[str]:
    folder = WORK / "clients" / program / version
    how = _PROGRAMS[program]
    made_of, current = folder / "made_of", _digest(PROGRAMS / how.source)
    if not (made_of.exists() and made_of.read_text() == current):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        how.install(folder, version)
        made_of.write_text(current)
    return how.command(folder)


def _digest(folder: Path) -> str:
    """Changes when a program does: what was installed before is made anew."""
    return hashlib.sha256(b"".join(each.read_bytes() for each in sorted(folder.iterdir()))).hexdigest()


def _do(*command: str | Path, folder: Path) -> None:
    environment = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=INSTALL_SECONDS,
    )
    if done.returncode:
        lines = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        saying = [line for line in lines if re.search(r"no matching|not found|undefined|cannot", line, re.I)]
        raise NotInstalled((saying or lines[-1:] or [f"{command[0]} failed"])[0])


def _go(source: str, module: str, *more: str) -> Callable[[Path, str], None]:
    def install(folder: Path, version: str) -> None:
        path = _go_module(module, version)
        for file in (PROGRAMS / source).glob("*.go"):
            (folder / file.name).write_text(file.read_text().replace(f'"{module}', f'"{path}'))
        _do("go", "mod", "init", "fixes", folder=folder)
        _do("go", "get", f"{path}@v{version}", *more, folder=folder)
        _do("go", "build", "-o", "client", ".", folder=folder)

    return install


def _go_module(module: str, version: str) -> str:
    """Module paths change with the library: confluent-kafka-go is /v2 from 2.0 on, Sarama was Shopify's before 1.40."""
    major, minor = (int(each) for each in version.split(".")[:2])
    if module.endswith("confluent-kafka-go") and major >= 2:
        return f"{module}/v2"
    if module == "github.com/IBM/sarama" and (major, minor) < (1, 40):
        return "github.com/Shopify/sarama"
    return module


def _pip(package: str, *more: str) -> Callable[[Path, str], None]:
    def install(folder: Path, version: str) -> None:
        _do(sys.executable, "-m", "venv", "--without-pip", "--copies", "venv", folder=folder)
        _do(
            CHECKOUT / "var" / "uv" / "bin" / "uv",
            "pip",
            "install",
            "--python",
            "venv/bin/python",
            f"{package}=={version}",
            *more,
            folder=folder,
        )
        for file in (PROGRAMS / "python").glob("*.py"):
            shutil.copy(file, folder)

    return install


def _npm(package: str, node: str = "") -> Callable[[Path, str], None]:
    def install(folder: Path, version: str) -> None:
        (folder / "package.json").write_text("{}")
        packages = [f"{package}@{version}", *([f"node@{node}"] if node else [])]
        _do("npm", "install", "--no-audit", "--no-fund", *packages, folder=folder)
        for file in (PROGRAMS / "node").iterdir():
            shutil.copy(file, folder)

    return install


def _cargo(folder: Path, version: str) -> None:
    _do("cargo", "init", "-q", "--vcs", "none", "--name", "client", folder=folder)
    _do(
        "cargo",
        "add",
        "-q",
        f"kafka@={version}",
        "--no-default-features",
        "--features",
        "gzip",
        folder=folder,
    )
    shutil.copy(PROGRAMS / "kafka_rust" / "main.rs", folder / "src")
    _do("cargo", "build", "-q", folder=folder)
    shutil.copy(folder / "target" / "debug" / "client", folder)


def _brod(folder: Path, version: str) -> None:
    """From its sources, with the compilers alone: rebar3 takes the parts of a build from hex."""
    _clone("kafka4beam/brod", version, folder / "lib" / "brod")
    wanted = dict(
        re.findall(
            r'{(kafka_protocol|supervisor3|snappyer), "([^"]+)"}',
            (folder / "lib/brod/rebar.config").read_text(),
        )
    )
    _clone("kafka4beam/kafka_protocol", wanted["kafka_protocol"], folder / "lib" / "kafka_protocol")
    if _needs(folder, "supervisor3"):
        _clone("klarna/supervisor3", wanted["supervisor3"], folder / "lib" / "supervisor3")
    if _needs(folder, "snappyer"):  # started and not called: its C++ is not compiled
        _clone("kafka4beam/snappyer", wanted["snappyer"], folder / "lib" / "snappyer")
    # The checksum in C, of one version: it computes the same in all of them, and this one has every function.
    _clone("kafka4beam/crc32cer", "1.1.3", folder / "lib" / "crc32cer")
    _do("git", "submodule", "-q", "update", "--init", folder=folder / "lib" / "crc32cer")
    _do("cmake", "-S", "lib/crc32cer", "-B", "crc32cer", folder=folder)
    _do("cmake", "--build", "crc32cer", "--target", "crc32cer_nif", folder=folder)
    for each in ("supervisor3", "snappyer", "crc32cer", "kafka_protocol", "brod"):
        _erlc(folder, folder / "lib" / each)
    _do("erlc", *(PROGRAMS / "erlang").glob("*.erl"), folder=folder)


def _needs(folder: Path, application: str) -> bool:
    return application in (folder / "lib/brod/src/brod.app.src").read_text()


def _clone(repository: str, tag: str, into: Path) -> None:
    url = f"https://github.com/{repository}"
    _do("git", "clone", "-q", "--depth", "1", "--branch", tag, url, into, folder=into.parents[1])


def _erlc(folder: Path, application: Path) -> None:
    """Compiles an Erlang application into its ebin/."""
    if not application.exists():
        return
    (application / "ebin").mkdir()
    resources = application / "src" / f"{application.name}.app.src"
    (application / "ebin" / f"{application.name}.app").write_text(
        resources.read_text().replace("vsn,git", 'vsn,"0"')
    )
    sources = sorted((application / "src").glob("*.erl"))
    _do(
        "erlc",
        "-I",
        application / "include",
        "-I",
        folder / "lib",
        "-o",
        application / "ebin",
        *sources,
        folder=folder,
    )


def _maven(folder: Path, version: str) -> None:
    copying = [
        "dependency:copy-dependencies",
        f"-Dkafka.version={version}",
        f"-DoutputDirectory={folder}/jars",
    ]
    _do("mvn", "-q", "-B", "-f", PROGRAMS / "java" / "pom.xml", *copying, folder=folder)
    _do("javac", "-nowarn", "-cp", "jars/*", "-d", ".", PROGRAMS / "java" / "JavaClient.java", folder=folder)


def _binary(folder: Path) -> list[str]:
    return [str(folder / "client")]


def _script(*command: str) -> Callable[[Path], list[str]]:
    return lambda folder: [str(folder / command[0]), *(str(folder / each) for each in command[1:])]


def _erl(folder: Path) -> list[str]:
    code = [str(folder), *(str(each) for each in sorted(folder.glob("lib/*/ebin")))]
    return [
        "erl",
        "-noshell",
        "-kernel",
        "logger_level",
        "none",
        "-pa",
        *code,
        "-s",
        "brod_client_steps",
        "main",
    ]


@dataclass(frozen=True)
class _Program:
    source: str
    """Folder of programs/."""
    install: Callable[[Path, str], None]
    """Installs a version of the library, and the program, into a folder."""
    command: Callable[[Path], list[str]]
    """What runs it from there."""


_PROGRAMS = {
    "confluent-kafka-go": _Program(
        "librdkafka", _go("librdkafka", "github.com/confluentinc/confluent-kafka-go"), _binary
    ),
    "sarama": _Program(
        "sarama", _go("sarama", "github.com/IBM/sarama", "github.com/xdg-go/scram@v1.1.2"), _binary
    ),
    "franz-go": _Program("franz_go", _go("franz_go", "github.com/twmb/franz-go"), _binary),
    "kafka-go": _Program("kafka_go", _go("kafka_go", "github.com/segmentio/kafka-go"), _binary),
    "kafka-python": _Program(
        "python", _pip("kafka-python", "six"), _script("venv/bin/python", "kafka_python.py")
    ),
    # Up to 0.8 it takes parts of kafka-python that later versions of that do not have any more.
    "aiokafka": _Program(
        "python", _pip("aiokafka", "kafka-python==2.0.2"), _script("venv/bin/python", "aio_kafka.py")
    ),
    "kafkajs": _Program("node", _npm("kafkajs"), lambda folder: ["node", str(folder / "kafkajs.js")]),
    "platformatic-kafka": _Program(
        "node",
        _npm("@platformatic/kafka", node="22"),
        _script("node_modules/.bin/node", "platformatic.mjs"),
    ),
    "kafka-node": _Program(
        "node", _npm("kafka-node"), lambda folder: ["node", str(folder / "kafka_node.js")]
    ),
    "pykafka": _Program(
        "python", _pip("pykafka", "setuptools<81"), _script("venv/bin/python", "py_kafka.py")
    ),
    "kafka-rust": _Program("kafka_rust", _cargo, _binary),
    "brod": _Program("erlang", _brod, _erl),
    "kafka-clients": _Program(
        "java", _maven, lambda folder: ["java", "-cp", f"{folder}:{folder}/jars/*", "JavaClient"]
    ),
}
