"""What wrote a log that has no request of a client, by loggers of its lines: to say what it is instead of that it is nothing.

Loggers as in Kafka's own log4j.properties (kafka.request.logger, kafka.authorizer.logger, state.change.logger, kafka.controller),
in any layout; of the JVM's log, its own layout (-Xlog:gc*).
"""

import re

LINES_LOOKED_AT = 200
"""At the beginning of a file."""

_HAS_A_TIME = re.compile(rb"\d\d:\d\d:\d\d|\b1[67]\d{8}")
"""Of a clock, or seconds or milliseconds since 1970: what is written about logs names their loggers too."""
_OF_LINES = (
    (
        re.compile(rb"kafka\.request\.logger"),
        "is of kafka.request.logger, at a level at which it logs no requests",
    ),
    (
        re.compile(rb"kafka\.authorizer\.logger|\bPrincipal = \S+ is (?:Allowed|Denied) "),
        "is the authorizer's log: it has principals and addresses, and not which versions of requests they send",
    ),
    (re.compile(rb"org\.apache\.kafka\.connect\."), "is a log of Kafka Connect, not of a broker"),
    (re.compile(rb"org\.apache\.kafka\.streams\.|\bKafkaStreams\b"), "is a log of a client, not of a broker"),
    (re.compile(rb"\[(?:Producer|Consumer|AdminClient) clientId="), "is a log of a client, not of a broker"),
    (re.compile(rb"org\.apache\.zookeeper\.|zookeeper\.version"), "is a log of ZooKeeper, not of a broker"),
    (re.compile(rb"state\.change\.logger"), "is a state-change log: it has partitions, and no requests"),
    (
        re.compile(rb"kafka\.controller\.|org\.apache\.kafka\.controller\."),
        "is a controller's log: it has no requests of clients",
    ),
)
_OF_GC = re.compile(rb"\]\[gc[\],]|\bGC\(\d+\) ")


def kind_of_log(line: bytes) -> str | None:
    """What the log is that has this line, to follow its name; None if it shows none of these.

    >>> kind_of_log(b"[2026-11-22 12:04:54,123] INFO binding to port (org.apache.zookeeper.server.NIOServerCnxnFactory)")
    'is a log of ZooKeeper, not of a broker'
    >>> kind_of_log(b"set kafka.request.logger to DEBUG")
    """
    if _OF_GC.search(line):
        return "is a log of the JVM's garbage collection"
    if not _HAS_A_TIME.search(line):
        return None
    return next((kind for words, kind in _OF_LINES if words.search(line)), None)
