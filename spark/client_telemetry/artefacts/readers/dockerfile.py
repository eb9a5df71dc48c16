"""What a Dockerfile installs by name: literals in its RUN instructions, which are not evaluated."""

import re
from collections.abc import Iterator

from client_telemetry.artefacts.packages import Package, declared
from client_telemetry.artefacts.readers import jar_downloads, librdkafka_sources
from client_telemetry.artefacts.readers.lines import numbered
from client_telemetry.knowledge.known_packages import normal_name

_COMMANDS = (
    (
        "pypi",
        re.compile(r"\b(?:(?:pip[\d.]*|uv pip|pipenv)\s+(?:[-\w=]+\s+)*install|(?:uv|poetry|pdm)\s+add)\s"),
    ),
    ("conda", re.compile(r"\b(?:conda|mamba|micromamba)\s+(?:[-\w=]+\s+)*install\s")),
    ("npm", re.compile(r"\b(?:npm\s+(?:install|i|add)|yarn\s+(?:global\s+)?add|pnpm\s+(?:add|install))\s")),
    ("gem", re.compile(r"\bgem\s+install\s")),
    ("pecl", re.compile(r"\b(?:pecl\s+install|install-php-extensions)\s")),
    ("deb", re.compile(r"\bapt(?:-get)?\s+(?:[-\w=]+\s+)*install\s")),
    ("apk", re.compile(r"\bapk\s+(?:[-\w=]+\s+)*add\s")),
    ("rpm", re.compile(r"\b(?:yum|dnf|microdnf|zypper)\s+(?:[-\w=]+\s+)*install\s")),
)
_WORDS = {
    "pypi": re.compile(r"([A-Za-z][\w.-]*)(?:\[[\w,.-]*\])?(?:==([\w.+!-]+))?(?:[<>~!=].*)?"),
    "conda": re.compile(
        r"(?:[\w.-]+::)?([A-Za-z][\w.-]*)(?:==?(\d+\.\d+\.\d[\w.]*)(?:=[\w*]+)?)?(?:[<>~!=].*)?"
    ),
    "npm": re.compile(r"(@[\w.-]+/[\w.-]+|[\w.-]+)(?:@(\d+\.\d+\.\d+[\w.+-]*))?(?:@.*)?"),
    "gem": re.compile(r"([\w.-]+)(?::(\d[\w.]*))?"),
    "pecl": re.compile(r"([\w]+)(?:-(\d[\w.]*))?"),
    "deb": re.compile(r"([a-z0-9][a-z0-9+.-]*)(?::\w+)?(?:=([^\s*]+))?(?:=.*)?"),
    "apk": re.compile(r"([a-z0-9][a-z0-9+._-]*)(?:=([^\s*]+))?(?:[=<>~].*)?"),
    "rpm": re.compile(r"(librdkafka\d?(?:-devel)?)(?:-(\d[\w.~-]*))?"),
}
_SEPARATOR = re.compile(r"&&|\|\||;")
_GEM_VERSION = re.compile(r"([\w.-]+)\s+(?:-v|--version)[\s=]*[\"']?(\d[\w.]*)[\"']?")
_HEREDOC = re.compile(r"^RUN\s.*<<-?\s*[\"']?(\w+)[\"']?", re.IGNORECASE)
_EXEC_FORM = re.compile(r"^(RUN\s+(?:--\S+\s+)*)\[(.*)\]\s*$", re.IGNORECASE)


def read(text: str) -> Iterator[Package]:
    """Packages by name; one whose version is a variable of the build is not locked."""
    yield from librdkafka_sources.read(text)
    yield from jar_downloads.read(text)
    for number, command in _commands(text):
        yield from _of_command(command, number)


def installed(commands: str, line: int) -> Iterator[Package]:
    """What one line of a shell installs by name."""
    for command in _SEPARATOR.split(commands):
        yield from _of_command(f"{command} ", line)


def _of_command(command: str, line: int) -> Iterator[Package]:
    for kind, pattern in _COMMANDS:
        if match := pattern.search(command):
            yield from _installed(kind, command[match.end() :], line)
            return


def _installed(kind: str, arguments: str, line: int) -> Iterator[Package]:
    if kind == "gem":
        arguments = _GEM_VERSION.sub(r"\1:\2", arguments)
    for word in arguments.split():
        match = _WORDS[kind].fullmatch(word.strip("\"'"))
        if match is None or word.startswith("-"):
            continue
        version = match[2] if match[2] and "$" not in match[2] else None
        yield declared(kind, normal_name(kind, match[1]), version, word, line, declared_only=False)


def _commands(text: str) -> Iterator[tuple[int, str]]:
    """Single commands, each of its lines with the command's beginning: RUN joins lines by a backslash, the shell separates
    commands by && and ;.
    """
    running, begun, ends_with = False, "", ""
    for number, line in numbered(text):
        code = _EXEC_FORM.sub(_as_shell, line.strip())
        if code.startswith("#") or not code:
            continue
        if ends_with:
            running, ends_with = (False, "") if code == ends_with else (True, ends_with)
            begun = ""
        begins = re.match(r"RUN\s", code, re.IGNORECASE)
        if not begins and not running:
            continue
        begun = "" if begins else begun
        for place, command in enumerate(_SEPARATOR.split(code.rstrip("\\"))):
            begun = "" if place else begun
            yield number, f"{begun}{command} "
            if any(pattern.search(f"{begun}{command} ") for _, pattern in _COMMANDS):
                begun = begun or _beginning(f"{command} ")
        if match := _HEREDOC.match(code):
            ends_with = match[1]
        running = code.endswith("\\")


def _as_shell(match: re.Match[str]) -> str:
    """`RUN ["pip", "install", "x"]` as the shell form has it."""
    return match[1] + " ".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[2]))


def _beginning(command: str) -> str:
    """`pip install ` of a command that installs."""
    match = next(match for _, pattern in _COMMANDS if (match := pattern.search(command)))
    return command[match.start() : match.end()]
