"""What carries a line of a broker's log, taken off: a JSON object (log4j2's JSON layouts, Docker's json-file, log shippers,
cloud exports), a container runtime's prefix, a label of Docker Compose, a pod's name, the head of a syslog or journal
line, quotes, logfmt.
"""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson

from client_telemetry.sources.log_text import TEXT_KEYS
from client_telemetry.sources.request_log.log_time import NO_TIME, Clock, Time

MARK = b"Completed request:"
"""The beginning of the request logger's messages (kafka.network.RequestChannel, all releases since 0.8)."""

TRACE_MARK = b"Handling request:"
"""The beginning of what kafka.server.KafkaApis logs at TRACE when it takes a request (KafkaApis.handle)."""

_MARKS = (MARK.decode(), TRACE_MARK.decode())
_DEEPEST = 5

LEVEL = r"(?:TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)"
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*"
_TAG = r"[^\s:\[\]]{1,64}(?:\[\d+\])?: "
_RFC_3164 = r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?"
_PREFIXES = tuple(
    re.compile(prefix)
    for prefix in (
        # Docker Compose
        r"^(?P<label>[^\[\]{}|]{1,120}?)\s*\|\s?",
        # kubectl logs --prefix, stern
        r"^\[pod/(?P<label>[^/\]]+)/[^\]]*\] ?",
        r"^(?P<label>[a-z0-9][a-z0-9.-]*-[a-z0-9]+) [a-z0-9-]+ (?=[\[{]|\d{4}-\d\d)",
        # stern
        r"^(?P<label>[\w.-]+) › [\w.-]+ (?=[\[{]|\d{4}-\d\d)",
        # container runtimes (CRI), kubectl logs --timestamps
        r"^(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (?:std(?:out|err) [PF]( |$)|(?=[\[{]|\d{4}-\d\d))",
        # syslog, RFC 5424
        rf"^<\d+>1 (?P<time>{_ISO}) (?P<label>\S+) \S+ \S+ \S+ (?:-|(?:\[[^\]]*\])+) ?",
        # syslog, RFC 3164 and rsyslog's own; journalctl
        rf"^(?:<\d+>)?(?:[A-Z][a-z]{{2}} )?(?P<time>{_RFC_3164}|{_ISO}(?: (?!{LEVEL})[A-Z]{{3,5}})?|\d{{10}}\.\d+) (?!{LEVEL}\b)(?P<label>[\w.-]+) {_TAG}",
        # Heroku-like and Vector's text: a time, then a JSON object; Fluentd's out_file, with its tag
        rf"^(?P<time>{_ISO})(?: |\t[\w.*-]+\t)(?=\{{)",
        # Fluent Bit's stdout
        r"^\[\d+\] [\w.*-]+: \[\[?(?P<time>\d{10}\.\d+)(?:, \{[^{}]*\})?\]?, "
        r"(?:(?=\{\"[^\"]*\": ?)|\{(?:.*?, )?\"(?:log|message|MESSAGE)\"=>\"(?P<text>(?s:.*?))(?:\"(?:, \"[\w.]+\"=>.*)?\}\])?$)",
        # rsyslog's CEE
        r"^@cee: ?(?=\{)",
        # aws logs get-log-events and filter-log-events --output text; awslogs get
        r"^EVENTS\t(?:\d{30,}\t)?(?P<time>\d{13})\t(?:(?P<label>[^\t\[{]+)\t)?(?P<text>(?s:.*?))(?:\t\d{13})?$",
        r"^/[\w./-]+ (?P<label>\S+) (?=\[\d{4}-\d\d)",
        # pssh, a list in YAML
        r"^(?P<label>[\w.-]{1,64}): (?=\[\d{4}-\d\d)",
        r"^\s*- (?=[\"'\[{])",
        # grep over several files; journalctl -o export and verbose
        r"^(?P<label>[\w./-]*[\w-]\.(?:log|out|txt)[\w.-]*):(?:\d+:)?(?=[\[{]|\d{4}-\d\d)",
        r"^\s*MESSAGE=(?=[\[{]|\d{4}-\d\d)",
    )
)  # fmt: skip

WRAPS = re.compile(r"""\{\s*"|^\s*(?:- )?["']|=\"""")
"""Before an entry: a JSON object, a text in quotes, a value of logfmt."""
_LOGFMT_PAIR = re.compile(r"""([A-Za-z_@][\w@.\-/]*)=("(?:[^"\\]|\\.)*"|[^\s"]*)""")
_LOGFMT = re.compile(rf"\s*{_LOGFMT_PAIR.pattern}(?:\s+{_LOGFMT_PAIR.pattern})+\s*")

_STACK_KEYS = (
    "stack_trace",
    "extendedStackTrace",
    "throwable",
    "exception",
    "stackTrace",
    "stacktrace",
    "thrown",
)
_ERROR_MESSAGES = ("thrown.message", "error.message", "exception.message", "exception.exception_message")
_ERROR_NAMES = ("thrown.name", "error.type", "exception.class", "exception.exception_class")
_OF_ERROR = re.compile(r"(?:error|thrown|exception)\.")
_LOGGER_KEYS = (
    "logger",
    "loggerName",
    "logger_name",
    "log.logger",
    "_logger",
    "_loggerName",
    "loggerFqcn",
    "class",
)
_TIME_KEYS = (
    "@timestamp", "timestamp", "time", "ts", "_time", "date", "datetime", "asctime", "timeMillis", "instant", "eventTime",
    "event_time", "TimeGenerated", "TimeGenerated [UTC]", "TimeStamp", "Timestamp", "Date", "Time", "log_time", "timeUnixNano",
    "_SOURCE_REALTIME_TIMESTAMP", "__REALTIME_TIMESTAMP", "observedTimeUnixNano",
)  # fmt: skip
_LABEL_KEYS = (
    "hostname", "host", "pod", "pod_name", "container_name", "source_host", "logStreamName", "@logStream", "log_stream",
    "_HOSTNAME", "Computer", "host.name", "kubernetes.pod.name",
)  # fmt: skip


class Unwrapped(NamedTuple):
    """The text within a line's wrappings. `outer`: the time that the innermost wrapping with a time has."""

    text: str
    label: str = ""
    logger: str = ""
    outer: Time = NO_TIME


class Wrappings:
    """Takes wrappings off. `clock`: reads their times."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def label(self, prefix: str) -> str:
        """The origin that a prefix of a line names."""
        text = prefix + "["  # some prefixes are told by what follows
        while (match := _prefix(text)) is not None:
            if label := match.groupdict().get("label"):
                return label.strip()
            text = _behind(match, text)
        return ""

    def unwrapped(self, text: str) -> Unwrapped:
        result = Unwrapped(text)
        for _ in range(_DEEPEST):
            inner = self._from_inner(result)
            if inner is None:
                break
            result = inner
        return result

    def _from_inner(self, outer: Unwrapped) -> Unwrapped | None:
        if outer.text[:1] == "{":
            return self._from_json(outer)
        if outer.text[:1] in ("'", '"'):
            inner = _from_quotes(outer.text)
            return None if inner is None else outer._replace(text=inner)
        return self._from_prefix(outer) or self._from_logfmt(outer)

    def _from_logfmt(self, outer: Unwrapped) -> Unwrapped | None:
        """`time=… level=… msg="…"`, as logfmt writes it."""
        if not _LOGFMT.fullmatch(outer.text):
            return None
        values = {
            key: _from_quotes(value) if value[:1] == '"' else value
            for key, value in _LOGFMT_PAIR.findall(outer.text)
        }
        return self._from_fields(outer, values)

    def _from_prefix(self, outer: Unwrapped) -> Unwrapped | None:
        match = _prefix(outer.text)
        if match is None:
            return None
        fields = match.groupdict()
        time = self._clock.read(fields["time"]) if fields.get("time") else outer.outer
        label = outer.label or (fields.get("label") or "").strip()
        return Unwrapped(_behind(match, outer.text), label, outer.logger, time)

    def _from_json(self, outer: Unwrapped) -> Unwrapped | None:
        """A JSON object with the log's own line, or the message, as one of its values."""
        try:
            fields = orjson.loads(outer.text[: outer.text.rfind("}") + 1])
        except ValueError:
            return None
        return self._from_fields(outer, dict(_flat(fields))) if isinstance(fields, dict) else None

    def _from_fields(self, outer: Unwrapped, flat: Mapping[str, Any]) -> Unwrapped | None:
        text = _text_of(flat)
        if text is None:
            return None
        label = next((str(value) for key, value in flat.items() if _is_named(key, _LABEL_KEYS)), "")
        logger = next(
            (v for k, v in flat.items() if _is_named(k, _LOGGER_KEYS) and isinstance(v, str)), outer.logger
        )
        thrown = _exception_of(flat)
        if thrown and thrown not in text:
            text = f"{text.rstrip()}\n{thrown}"
        return Unwrapped(text.rstrip("\r\n"), outer.label or label, logger, self._time_of(flat, outer.outer))

    def _time_of(self, flat: Mapping[str, Any], otherwise: Time) -> Time:
        if isinstance(flat.get("instant.epochSecond"), int):
            return Time(flat["instant.epochSecond"] * 10**9 + int(flat.get("instant.nanoOfSecond") or 0))
        problem = otherwise
        for key in sorted(flat, key=_time_rank):
            if _time_rank(key) == len(_TIME_KEYS):
                break
            time = self._time_of_value(flat[key])
            if time.nanos is not None:
                return time
            problem = problem if problem is not NO_TIME else time
        return problem

    def _time_of_value(self, value: object) -> Time:
        if isinstance(value, str) and not value.replace(".", "", 1).isdigit():
            return self._clock.read(value)
        if isinstance(value, str) and len(value) in (8, 14):
            return self._clock.read(value)
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            return NO_TIME
        number = value if not isinstance(value, str) else float(value) if "." in value else int(value)
        nanos = self._clock.of_number(number)
        return NO_TIME if nanos is None else Time(nanos)


def _from_quotes(text: str) -> str | None:
    """The text that stands in quotes: a JSON string, or one in single quotes without escapes. None if it is none."""
    text = text.strip().rstrip(",")
    if len(text) < 2 or text[0] != text[-1]:
        return None
    if text[0] == "'":
        return text[1:-1]
    try:
        inner = orjson.loads(text)
    except ValueError:
        return None
    return inner.rstrip("\r\n") if isinstance(inner, str) else None


def mark_in(text: str) -> int:
    return next((at for mark in _MARKS if (at := text.find(mark)) >= 0), -1)


def _prefix(text: str) -> re.Match[str] | None:
    return next((match for prefix in _PREFIXES if (match := prefix.match(text))), None)


def _behind(prefix: re.Match[str], text: str) -> str:
    """What a prefix is before; without what the wrapping has behind it, if that is known."""
    return prefix.groupdict().get("text") or text[prefix.end() :]


def _is_named(key: str, names: tuple[str, ...]) -> bool:
    return key in names or key.rpartition(".")[2] in names


def _time_rank(key: str) -> int:
    name = key if key in _TIME_KEYS else key.rpartition(".")[2]
    return _TIME_KEYS.index(name) if name in _TIME_KEYS else len(_TIME_KEYS)


def _text_of(flat: Mapping[str, object]) -> str | None:
    """The value that is a line of the log: the longest with an entry (others may be its beginning, as a preview),
    otherwise the one whose key says so.
    """
    texts = {key: value for key, value in flat.items() if isinstance(value, str)}
    entries = [text for text in texts.values() if any(mark in text for mark in _MARKS)]
    if entries:
        return max(entries, key=len)
    for name in TEXT_KEYS:
        if name in texts:
            return texts[name]
    nested = {key.rpartition(".")[2]: text for key, text in texts.items() if not _OF_ERROR.match(key)}
    return next((nested[name] for name in TEXT_KEYS if name in nested), None)


def _exception_of(flat: Mapping[str, object]) -> str:
    """What was thrown, as log4j prints it below the message; empty if nothing was."""
    texts = {key: value for key, value in flat.items() if isinstance(value, str)}
    stack = next((text for key, text in texts.items() if _is_named(key, _STACK_KEYS)), None)
    if stack is not None:
        return stack
    message = next((texts[key] for key in _ERROR_MESSAGES if key in texts), "")
    name = next((texts[key] for key in _ERROR_NAMES if key in texts), "")
    return f"{name}: {message}" if name and message else message


def _flat(value: object, path: str = "") -> list[tuple[str, object]]:
    """Leaves of a JSON object by their dotted path; a list of one value is that value, as Elasticsearch's `fields` are."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, dict):
        return [leaf for key, item in value.items() for leaf in _flat(item, f"{path}.{key}" if path else key)]
    return [(path, value)]
