"""Files of the checkout that are written from the code or the README, and whether they are current.

python spark/generated_files.py            writes them
python spark/generated_files.py --check    exit code 1 and a line for each that differs; writes nothing
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import library_page
from client_telemetry.knowledge import apis, releases
from client_telemetry.knowledge_package import shipped
from client_telemetry.lake import table_list
from client_telemetry.tables import row_types, table_documentation
from client_telemetry.tables.stages import STAGES, UPKEEP

CHECKOUT = Path(__file__).resolve().parents[1]
README = CHECKOUT / "README.md"
PROTO = CHECKOUT / "include/contracts/raw_dump_v1.proto"
PROTO_CLASSES = Path("spark/client_telemetry/formats/raw")

OLDEST = "2.4.0"
"""What is older is not offered; the command line and the jobs still take it."""


def releases_for_forms() -> str:
    """include/releases.py: the releases that the trigger forms offer."""
    offered = [
        release for release in reversed(releases.known()) if releases.parse(release) >= releases.parse(OLDEST)
    ]
    lines = [
        '"""The Kafka releases that the trigger forms offer, newest first.',
        "",
        f"Generated from spark/client_telemetry/knowledge/releases.csv (releases since {OLDEST}) and never edited",
        "by hand: DAG files must neither read files nor import the job side while they are parsed. A test holds the two",
        "together (tests/include/test_releases.py).",
        '"""',
        "",
        "RELEASES: tuple[str, ...] = (",
        *(f'    "{release}",' for release in offered),
        ")",
    ]
    return "\n".join(lines) + "\n"


def _api_keys() -> str:
    """API keys as an enumeration for code."""
    members = "\n".join(f"    {api.enum_name} = {key}" for key, api in sorted(apis.by_key().items()))
    return f'''"""Kafka's API keys by their names in ApiKeys.java. Written by `make generated` from apis.csv."""

from enum import IntEnum


class ApiKey(IntEnum):
{members}
'''


def _broker_apis() -> str:
    """The set that a plugin needs which sees connections but no replica ids."""
    keys = ", ".join(str(key) for key, api in sorted(apis.by_key().items()) if api.used_by == "broker")
    return f"""package clienttelemetry.broker.registry;

/** APIs that only brokers and controllers send. Written by `make generated` from apis.csv. */
final class BrokerApis {{

    static final int[] KEYS = {{{keys}}};

    private BrokerApis() {{
    }}
}}
"""


FROM_CODE: Mapping[str, Callable[[], str]] = {
    "docs/tables.md": table_documentation.page,
    "docs/libraries.md": library_page.text,
    "include/releases.py": releases_for_forms,
    "spark/client_telemetry/knowledge/api_key.py": _api_keys,
    "broker-plugin/src/main/java/clienttelemetry/broker/registry/BrokerApis.java": _broker_apis,
    "spark/client_telemetry/knowledge/manifest.json": shipped.text,
    "include/tables.py": table_list.text,
    "spark/client_telemetry/tables/rows.py": row_types.text,
}


JOB = '''"""spark-submit spark/jobs/{stage}.py --help. Written by `make generated`."""

import os
import sys
from pathlib import Path

# In a new interpreter: in this one, jobs/profile.py hides the module `profile` of the standard library.
script = Path(__file__).resolve().parents[1] / "run_stage.py"
os.execv(sys.executable, [sys.executable, str(script), "{stage}", *sys.argv[1:]])
'''


def contents() -> dict[str, str]:
    """Path in the checkout to the text that belongs there."""
    texts = {path: text() for path, text in FROM_CODE.items()}
    return texts | {"docs/index.md": _first_page()} | _jobs() | _proto_classes()


def _first_page() -> str:
    """The README as the first page of the documentation's site."""
    text = README.read_text(encoding="utf-8")
    return text.replace("](docs/", "](").replace('="docs/', '="')


def _jobs() -> dict[str, str]:
    return {f"spark/jobs/{stage.name}.py": JOB.format(stage=stage.name) for stage in (*STAGES, UPKEEP)}


def outdated(checkout: Path) -> list[str]:
    """Paths of the files that are missing or have another text."""
    return [path for path, text in contents().items() if _text(checkout / path) != text]


def _text(file: Path) -> str | None:
    return file.read_text(encoding="utf-8") if file.exists() else None


def _proto_classes() -> dict[str, str]:
    from grpc_tools import protoc

    with tempfile.TemporaryDirectory() as folder:
        options = [f"--proto_path={PROTO.parent}", f"--python_out={folder}", f"--pyi_out={folder}"]
        if protoc.main(["protoc", *options, str(PROTO)]):
            raise SystemExit(f"protoc cannot read {PROTO}")
        return {str(PROTO_CLASSES / file.name): file.read_text() for file in sorted(Path(folder).iterdir())}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing")
    args = parser.parse_args(argv)
    if args.check:
        differing = outdated(CHECKOUT)
        for path in differing:
            print(f"{path} is not current: run `make generated`", file=sys.stderr)
        return bool(differing)
    for path, text in contents().items():
        (CHECKOUT / path).parent.mkdir(parents=True, exist_ok=True)
        (CHECKOUT / path).write_text(text, encoding="utf-8")
    return os.EX_OK


if __name__ == "__main__":
    raise SystemExit(main())
