"""The parts of Kafka's answer that are Java's and not Kafka's: regular expressions and the order of hash tables.

Selectors are java.util.regex, and the SubscriptionId is a checksum of a HashSet in its own order. Both come from a
Java machine, not from a translation, so that neither can differ silently. It starts in about 0.2 s and answers many
values in one call.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Timer
from types import TracebackType
from typing import Any

from py4j.java_gateway import GatewayParameters, JavaGateway, JavaMember, launch_gateway
from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    Py4JError,
    Py4JJavaError,
    get_return_value,
)

_SEPARATOR = "\0"
MATCHING_SECONDS = 30.0
"""For one pattern on all values; what is slower backtracks without end."""

_OPTIONS = (
    "-Xmx1g",
    "-Xss1m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # Calls on a stream go to a class that is not public.
    "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
)
# \b changed in Java 19, case folding of properties in 15; properties and Unicode classes follow Unicode's version.
_FOLLOWS_THE_JAVA_RELEASE = re.compile(r"\\[bBpPXN]|\(\?[a-zA-Z-]*[uU]")


class NoJava(RuntimeError):
    """There is no Java to ask, or it did not start."""


class RefusedByJava(ValueError):
    """Pattern.compile threw PatternSyntaxException. The text is Java's description."""


class UnsureMatch(RuntimeError):
    """Java gave up on a value (its stack overflowed): a broker does so too, or not, depending on its stack."""


class JavaRuntime:
    """A Java machine of its own, ended by `close` or on leaving a `with` block, and with this process."""

    def __init__(self) -> None:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home, "bin", "java")) if home else "java"
        if shutil.which(java) is None:
            raise NoJava(
                f"there is no {java}: install Java 17 or newer, or set JAVA_HOME; selectors of subscriptions are "
                "java.util.regex"
            )
        try:
            port, token, self._process = launch_gateway(
                java_path=java,
                javaopts=list(_OPTIONS),
                die_on_exit=True,
                enable_auth=True,
                return_proc=True,
                redirect_stderr=None,
            )
            self._gateway = JavaGateway(
                gateway_parameters=GatewayParameters(port=port, auth_token=token, auto_convert=True)
            )
            self._java: Any = self._gateway.jvm.java
            self._split = self._java.util.regex.Pattern.compile(_SEPARATOR)
        except (OSError, ValueError, Py4JError) as error:
            raise NoJava(f"{java} did not start: {error}") from error

    def __enter__(self) -> "JavaRuntime":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with suppress(Py4JError, OSError):  # it may have been ended already
            self._gateway.shutdown()
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # a busy machine; the answers are there
            self._process.kill()
            self._process.wait()

    def compile(self, pattern: str) -> Any:
        """java.util.regex.Pattern. Raises RefusedByJava."""
        try:
            return _call(self._java.util.regex.Pattern.compile, pattern)
        except Py4JJavaError as error:
            raise RefusedByJava(str(error.java_exception.getMessage())) from None

    def texts(self, values: Iterable[str]) -> "Texts":
        """Different values, sent once, to hold many patterns against."""
        return Texts(self._java, self._split, values, self._process.kill)

    def hash_set(self, names: Sequence[str]) -> Any:
        """new HashSet<>(List): its table is as large as the list needs."""
        return self._java.util.HashSet(list(names))

    def union(self, sets: Iterable[Any]) -> tuple[str, ...]:
        """Names of all the Java sets in the order in which a new HashSet, given them one set after the other, has
        them."""
        united = self._java.util.HashSet()
        for each in sets:
            united.addAll(each)
        return (
            tuple(self._java.lang.String.join(_SEPARATOR, united).split(_SEPARATOR)) if united.size() else ()
        )

    def concurrent_map(self) -> Any:
        """An empty ConcurrentHashMap."""
        return self._java.util.concurrent.ConcurrentHashMap()

    def map_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the order in which a ConcurrentHashMap that got them one by one has them."""
        table = self.concurrent_map()
        for name in names:
            table.put(name, name)
        return self.order_of(table)

    def order_of(self, table: Any) -> tuple[str, ...]:
        """Values of a map, texts, in its order."""
        return (
            tuple(self._java.lang.String.join(_SEPARATOR, table.values()).split(_SEPARATOR))
            if table.size()
            else ()
        )


class Texts:
    """Values that live in the Java machine."""

    def __init__(self, java: Any, split: Any, values: Iterable[str], end_java: Callable[[], None]) -> None:
        different = set(values)
        # An empty text cannot be told from no text in what comes back, and a NUL would separate.
        self._alone = {value for value in different if not value or _SEPARATOR in value}
        self._joined = sorted(different - self._alone)
        self._java = java
        self._end_java = end_java
        collector = java.util.stream.Collectors.toList
        self._values = (
            split.splitAsStream(_SEPARATOR.join(self._joined)).collect(collector()) if self._joined else None
        )

    def matching(self, pattern: Any) -> frozenset[str]:
        """The values of which matcher(value).matches() is true. Raises UnsureMatch; after one for want of time the
        Java machine has ended."""
        regex = pattern.pattern()
        limit = Timer(MATCHING_SECONDS, self._end_java)
        limit.start()
        try:
            found = {value for value in self._alone if _call(pattern.matcher(value).matches)}
            if self._values is not None:
                joining = self._java.util.stream.Collectors.joining(_SEPARATOR)
                text = _call(self._values.stream().filter(pattern.asMatchPredicate()).collect, joining)
                found.update(text.split(_SEPARATOR) if text else ())
        except Py4JJavaError as error:
            raise UnsureMatch(f"Java cannot match {regex!r}: {error.java_exception.toString()}") from None
        except (Py4JError, OSError) as error:
            raise UnsureMatch(
                f"Java does not finish matching {regex!r} within {MATCHING_SECONDS:.0f} s: a broker's request handler "
                "would be stuck in it too; write it without nested repetitions"
            ) from error
        finally:
            limit.cancel()
        return frozenset(found)


def _call(method: JavaMember, *arguments: Any) -> Any:
    """What a method that may throw returns. Raises Py4JJavaError.

    A SparkSession in this process changes how every call of py4j reads its answer: PySpark asks its own Java machine
    about an exception of this one, and fails. py4j's own reading stays in py4j.protocol.
    """
    text, _ = method._build_args(*arguments)
    answer = method.gateway_client.send_command(
        CALL_COMMAND_NAME + method.command_header + text + END_COMMAND_PART
    )
    return get_return_value(answer, method.gateway_client, method.target_id, method.name)


def follows_the_java_release(pattern: str, value: str) -> bool:
    r"""Whether releases of Java may differ in this match: word boundaries, Unicode properties and classes, on
    characters beyond ASCII.

    >>> follows_the_java_release(r"\p{L}+", "zażółć"), follows_the_java_release(r"\p{L}+", "abc")
    (True, False)
    """
    return not value.isascii() and _FOLLOWS_THE_JAVA_RELEASE.search(pattern) is not None
