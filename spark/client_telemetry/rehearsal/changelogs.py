"""What the changelog of a library says of a release, beside that of an earlier one: what is new in it, and which lines of that smell of
compatibility. For a person to read: no rule follows from it.

Changelogs are read from the artefact that the registry has. Nothing of it is executed or written anywhere.
"""

import io
import json
import re
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from client_telemetry.knowledge_package import fetching
from client_telemetry.rehearsal.library_programs import BY_NAME, go_module
from client_telemetry.rehearsal.workplace import NotInstalled, Workplace

MOST_BYTES = 64 * 2**20
"""Of an artefact."""
MOST_TEXT = 8 * 2**20
_FILE = re.compile(
    r"(change(s|log|_log)?|history|news|release[-_]?notes)(\.(md|rst|txt|markdown))?", re.IGNORECASE
)
_DEEPEST = 3
"""Folders and file: `package/docs/CHANGES.rst`."""
_SMELLS = re.compile(
    r"""\b(?:
    incompatib\w+ | compatib\w+ | breaking | deprecat\w+ | remov(?:e|ed|es|al) | drop(?:s|ped)?\ (?:support|compat\w*)
    | no\ longer | minimum | require[sd]? | negotiat\w+ | handshake | downgrad\w+ | default(?:s|ed)?\ (?:to|value|is|changed)
    | api[\ _]?versions? | protocol | kip-\d+ | kafka[\ _-]?\d+(?:\.\d+)+ | brokers?\ (?:v?\d|version|older|newer|before)
    | (?:un)?supported\ version\w* | produce|fetch|joingroup|offsetcommit|offsetfetch|listoffsets|metadata\ v\d
    | sasl\w* | scram\w* | oauthbearer | gssapi | client[\ _-]?id | (?:client_)?software[\ _-]name | zookeeper | kraft
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)


class NoChangelog(ValueError):
    """An artefact that has none; the message has one line."""


def smells(line: str) -> bool:
    """
    >>> smells("* Drop support for brokers before 0.11 (#123)"), smells("* Fix a typo in the README")
    (True, False)
    """
    return _SMELLS.search(line) is not None


def new_lines(old: str, new: str) -> list[str]:
    """Lines of the new changelog that the old one does not have, in order, without blank ones.

    >>> new_lines("# 1.0\\n* first\\n", "# 1.1\\n* second\\n* first\\n\\n# 1.0\\n* first\\n")
    ['# 1.1', '* second', '* first']
    """
    left = Counter(line.strip() for line in old.splitlines())
    found = []
    for line in reversed(new.splitlines()):
        text = line.strip()
        if left[text] > 0:
            left[text] -= 1
        elif text:
            found.append(text)
    return found[::-1]


def changelog(program: str, version: str, cache: Path) -> str:
    """Of one version of a library. Raises NoChangelog, NotInstalled or NotFetched."""
    read = _READERS.get(BY_NAME[program].source)
    package = PACKAGES.get(program)
    if read is None or package is None:
        raise NoChangelog("its artefact has no changelog")
    folder = cache / "changelogs" / program
    folder.mkdir(parents=True, exist_ok=True)
    return read(Workplace(folder, cache), package, version)


PACKAGES = {
    "confluent-kafka-python": "confluent-kafka",
    "kafka-python": "kafka-python",
    "aiokafka": "aiokafka",
    "pykafka": "pykafka",
    "confluent-kafka-go": "github.com/confluentinc/confluent-kafka-go",
    "sarama": "github.com/IBM/sarama",
    "franz-go": "github.com/twmb/franz-go",
    "kafka-go": "github.com/segmentio/kafka-go",
    "kafkajs": "kafkajs",
    "platformatic-kafka": "@platformatic/kafka",
    "kafka-node": "kafka-node",
}
"""Program -> what its registry calls the library. The jars of Kafka have no changelog, and crates are not read."""


def _of_python(at: Workplace, package: str, version: str) -> str:
    """pip lists where the source distribution is; to download it by pip would execute its build."""
    if not (at.folder / "venv/bin/python").exists():
        at.do(sys.executable, "-m", "venv", "venv")
    said = at.do("venv/bin/python", "-m", "pip", "index", "versions", "-vvv", package)
    name = re.sub(r"[-_.]+", "[-_.]", package)
    for url in re.findall(r"Found link (\S+?)(?:#\S*)? \(", said):
        if re.fullmatch(rf"{name}-{re.escape(version)}\.tar\.gz", url.rpartition("/")[2], re.IGNORECASE):
            return _in_tar(fetching.content(url, MOST_BYTES))
    raise NoChangelog(f"version {version} has no source distribution")


def _of_node(at: Workplace, package: str, version: str) -> str:
    said = at.do("npm", "pack", "--ignore-scripts", "--json", f"{package}@{version}")
    file = at.folder / Path(json.loads(said[said.index("[") :])[0]["filename"]).name
    try:
        return _in_tar(file.read_bytes())
    finally:
        file.unlink()


def _of_go(at: Workplace, package: str, version: str) -> str:
    said = at.do("go", "mod", "download", "-json", f"{go_module(package, version)}@v{version}")
    folder = Path(json.loads(said[said.index("{") :])["Dir"])
    files = [each for each in folder.iterdir() if _FILE.fullmatch(each.name) and each.is_file()]
    if not files:
        raise NoChangelog("its module has no changelog")
    return min(files).read_bytes()[:MOST_TEXT].decode(errors="replace")


_READERS: dict[str, Callable[[Workplace, str, str], str]] = {
    "python": _of_python,
    "node": _of_node,
    "go": _of_go,
}
"""By the folder of the programs."""


def _in_tar(content: bytes) -> str:
    """The changelog nearest to the root of a tar.gz. Raises NoChangelog or NotInstalled."""
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as archive:
            shallow = [each for each in archive if each.isfile() and each.name.count("/") < _DEEPEST]
            found = [each for each in shallow if _FILE.fullmatch(each.name.rpartition("/")[2])]
            if not found:
                raise NoChangelog("its artefact has no changelog")
            nearest = min(found, key=lambda each: (each.name.count("/"), each.name))
            file = archive.extractfile(nearest)
            return file.read(MOST_TEXT).decode(errors="replace") if file else ""
    except (tarfile.TarError, EOFError, OSError) as error:
        raise NotInstalled(f"its artefact cannot be read: {error}") from error
