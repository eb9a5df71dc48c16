"""The parts of Kafka's answer that depend on Java: regular expressions and the order of hash tables.

Selectors are java.util.regex, and the SubscriptionId is a checksum of a HashSet in its own order. Both are computed by
a JVM rather than reimplemented, so that neither can silently differ. It starts in about 0.2 s and answers many values
in one call.
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

from py4j.java_gateway import GatewayParameters, JavaGateway, JavaMember, JavaObject, launch_gateway
from py4j.protocol import (
    CALL_COMMAND_NAME,
    END_COMMAND_PART,
    Py4JError,
    Py4JJavaError,
    get_command_part,
    get_return_value,
)

from client_telemetry import Unusable

_SEPARATOR = "\0"
MATCHING_SECONDS = 30.0
"""For one pattern on all values; anything slower is backtracking without end."""

_OPTIONS = (
    "-Xmx1g",
    "-Xss1m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    # Calls on a stream go to a class that is not public.
    "--add-opens=java.base/java.util.stream=ALL-UNNAMED",
)
# \b changed in Java 19, case folding of properties in 15; properties and Unicode classes follow the version of Unicode.
_FOLLOWS_THE_JAVA_RELEASE = re.compile(r"\\[bBpPXN]|\(\?[a-zA-Z-]*[uU]")


class NoJava(Unusable):
    """There is no Java, or it did not start."""


class RefusedByJava(ValueError):
    """Pattern.compile threw PatternSyntaxException. The text is Java's description."""


class UnsureMatch(RuntimeError):
    """Java gave up on a value (its stack overflowed): whether a broker does so too depends on its stack."""


class JavaRuntime:
    """A separate JVM, ended by `close`, on leaving a `with` block, and with this process."""

    def __init__(self) -> None:
        home = os.environ.get("JAVA_HOME")
        java = str(Path(home, "bin", "java")) if home else "java"
        if shutil.which(java) is None:
            raise NoJava(
                f"no {java}: install Java 17 or newer, or set JAVA_HOME; selectors of subscriptions are "
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
            self._java: JavaObject = self._gateway.jvm.java
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
        with suppress(Py4JError, OSError):  # it may have ended already
            self._gateway.shutdown()
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:  # the machine is busy; all answers have arrived
            self._process.kill()
            self._process.wait()

    def compile(self, pattern: str) -> object:
        """java.util.regex.Pattern. Raises RefusedByJava."""
        try:
            return _call(self._java.util.regex.Pattern.compile, pattern)
        except Py4JJavaError as error:
            raise RefusedByJava(str(error.java_exception.getMessage())) from None

    def texts(self, values: Iterable[str]) -> "Texts":
        """Distinct values, sent once, to match against many patterns."""
        return Texts(self._java, self._split, values, self._process.kill)

    def hash_set(self, names: Sequence[str]) -> object:
        """new HashSet<>(List): its table is as large as the list needs."""
        return self._java.util.HashSet(list(names))

    def union(self, sets: Iterable[object]) -> tuple[str, ...]:
        """Names of all the Java sets, in the order of a new HashSet to which one set after the other was added."""
        united = self._java.util.HashSet()
        for java_set in sets:
            united.addAll(java_set)
        return (
            tuple(self._java.lang.String.join(_SEPARATOR, united).split(_SEPARATOR)) if united.size() else ()
        )

    def concurrent_map(self) -> JavaObject:
        """An empty ConcurrentHashMap."""
        return self._java.util.concurrent.ConcurrentHashMap()

    def map_order(self, names: Iterable[str]) -> tuple[str, ...]:
        """Names in the order of a ConcurrentHashMap to which they were added one by one."""
        table = self.concurrent_map()
        for name in names:
            table.put(name, name)
        return self.order_of(table)

    def order_of(self, table: JavaObject) -> tuple[str, ...]:
        """Values of a map, texts, in its order."""
        # Java's own collection. `table.values()` is Python's, which asks for each value, and takes an exception for the end.
        values = JavaObject.__getattr__(table, "values")()
        return (
            tuple(self._java.lang.String.join(_SEPARATOR, values).split(_SEPARATOR)) if table.size() else ()
        )


class Texts:
    """Values stored in the JVM."""

    def __init__(
        self, java: JavaObject, split: JavaObject, values: Iterable[str], end_java: Callable[[], None]
    ) -> None:
        different = set(values)
        # An empty text would be lost in the joined result, and a NUL is the separator.
        self._alone = {value for value in different if not value or _SEPARATOR in value}
        self._joined = sorted(different - self._alone)
        self._java = java
        self._end_java = end_java
        collector = java.util.stream.Collectors.toList
        self._values = (
            split.splitAsStream(_SEPARATOR.join(self._joined)).collect(collector()) if self._joined else None
        )

    def matching(self, pattern: JavaObject) -> frozenset[str]:
        """The values for which matcher(value).matches() is true. Raises UnsureMatch; if that is for lack of time, the
        JVM has ended.
        """
        regex = pattern.pattern()
        limit = Timer(MATCHING_SECONDS, self._end_java)
        limit.start()
        try:
            matches = {value for value in self._alone if _call(pattern.matcher(value).matches)}
            if self._values is not None:
                joining = self._java.util.stream.Collectors.joining(_SEPARATOR)
                text = _call(self._values.stream().filter(pattern.asMatchPredicate()).collect, joining)
                matches.update(text.split(_SEPARATOR) if text else ())
        except Py4JJavaError as error:
            raise UnsureMatch(f"Java cannot match {regex!r}: {error.java_exception.toString()}") from None
        except (Py4JError, OSError) as error:
            raise UnsureMatch(
                f"Java does not finish matching {regex!r} within {MATCHING_SECONDS:.0f} s: a broker's request handler "
                "would be stuck in it too; write it without nested repetitions"
            ) from error
        finally:
            limit.cancel()
        return frozenset(matches)


def _call(method: JavaMember, *arguments: JavaObject) -> JavaObject:
    """The result of a method that may throw. Raises Py4JJavaError.

    A SparkSession in this process changes how every py4j call reads its answer: PySpark asks its own JVM about an
    exception of this one, and fails. py4j's own reader is still in py4j.protocol.
    """
    text = "".join(map(get_command_part, arguments))
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
