"""Client families: client ids with their changing parts masked. Pure; tables/clients.py says what a client is.

    python -m client_telemetry.identity.client_families ID [ID ...]     (or one id a line on standard input)

shows what becomes of an id and which mask did it. A mask hides what differs between two starts of an application (pod
names, UUIDs, counters) and between two versions of it. When in doubt an id stays as it is: one family split in two
shows up as a client that went and one that came, while two families merged into one hide both.
"""

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_ALONE = r"(?<![^\W_])", r"(?![^\W_])"
"""What surrounds a part: no letter and no digit, of any script."""
_POD = "bcdfghjklmnpqrstvwxz2456789"
"""The alphabet of generated Kubernetes names: k8s.io/apimachinery pkg/util/rand, no vowels and no 0, 1, 3."""


_HEX = "[0-9A-Fa-f]{1,4}"
_NO_REGION = "".join(
    rf"(?<!(?<![a-z])[a-z][a-z]-{point}-)"
    for point in (
        *("east", "west", "north", "south", "central"),
        *("northeast", "northwest", "southeast", "southwest"),
        *("gov-east", "gov-west"),
    )
)
"""Not after a region name in Amazon's style: us-east-1, ap-southeast-2."""


def _standing_alone(pattern: str) -> re.Pattern[str]:
    return re.compile(f"{_ALONE[0]}(?:{pattern}){_ALONE[1]}")


@dataclass(frozen=True)
class Mask:
    """One kind of changing part, its placeholder in the family, and why it changes."""

    name: str
    pattern: re.Pattern[str]
    replacement: str
    why: str


MASKS = (
    Mask(
        "host",
        re.compile(r"@[^@\s]+(?= \(github\.com/segmentio/kafka-go\)$)"),
        "@{host}",
        "kafka-go's default id is program@host (github.com/segmentio/kafka-go): the host differs between instances",
    ),
    Mask(
        "spark",
        re.compile(r"(?<=spark-kafka-source-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}--?[0-9]+"),
        "{uuid}-{n}",
        "Spark's structured streaming names each query's consumers by a UUID and a hash, which may be negative",
    ),
    Mask(
        "uuid",
        _standing_alone(r"[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}|[0-9A-Fa-f]{32}"),
        "{uuid}",
        "a UUID, with or without hyphens: new at each start (Kafka Streams, for one, puts it into client ids)",
    ),
    Mask(
        "kafka_uuid",
        re.compile(
            r"(?<![\w-])(?=[\w-]*[a-z])(?=[\w-]*[A-Z])(?=[\w-]*[0-9])[A-Za-z0-9_-]{21}[AQgw](?![\w-])"
        ),
        "{uuid}",
        "a UUID as Kafka writes it: 22 characters of URL-safe base64, the last of which can only be A, Q, g or w",
    ),
    Mask(
        "ulid",
        _standing_alone(r"(?=[A-Z]*[0-9])[0-7][0-9A-HJKMNP-TV-Z]{25}"),
        "{uuid}",
        "a ULID: a time and 80 random bits as 26 characters",
    ),
    Mask(
        "pod",
        _standing_alone(rf"(?<=-)[{_POD}]{{6,10}}-[{_POD}]{{5}}"),
        "{pod}",
        "the end of a Kubernetes pod's name under a Deployment: hash of the replica set and five random characters",
    ),
    Mask(
        "pod",
        _standing_alone(rf"(?<=-)(?=[a-z]*[2-9])(?=[2-9]*[a-z])[{_POD}]{{5}}"),
        "{pod}",
        "the five random characters of a pod under a Job or DaemonSet; only where a digit and a letter are among them, "
        "since words have five letters too",
    ),
    Mask(
        "time",
        _standing_alone(
            r"[0-9]{4}-[0-9][0-9]-[0-9][0-9](?:[T_ -]?[0-9][0-9][:.-]?[0-9][0-9](?:[:.-]?[0-9][0-9](?:\.[0-9]+)?)?Z?)?|[0-9]{8}T[0-9]{4,6}Z?"
        ),
        "{time}",
        "a date or time: when it was started or built",
    ),
    Mask(
        "address",
        _standing_alone(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}|(?<=ip-)[0-9]{1,3}(?:-[0-9]{1,3}){3}"),
        "{address}",
        "an IPv4 address, also as in ip-10-0-3-7: another host, another address",
    ),
    Mask(
        "address",
        re.compile(
            rf"(?<![\w:])(?=[0-9A-Fa-f:]{{2,39}}(?![\w:]))(?=[A-Fa-f:]*[0-9])"
            rf"(?:(?:{_HEX}:){{7}}{_HEX}|(?:{_HEX}(?::{_HEX}){{0,6}})?::(?:{_HEX}(?::{_HEX}){{0,6}})?)(?![\w:])"
        ),
        "{address}",
        "an IPv6 address: another host, another address",
    ),
    Mask(
        "version",
        re.compile(r"(?<![^\W_])(v?)[0-9]+(?:\.[0-9]+)+(?![^\W_])"),
        r"\1{version}",
        "a version (two numbers or more with dots between): a family outlives an upgrade. v2 alone stays: it often "
        "names another deployment",
    ),
    Mask(
        "hash",
        _standing_alone(r"(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{12,64}"),
        "{hash}",
        "12 or more hex digits, some of them letters: a container id, a cloud instance id, a commit",
    ),
    Mask(
        "hash",
        _standing_alone(
            r"(?=[0-9a-f]{7,11}(?![0-9a-f]))(?=[0-9]+[a-f]+[0-9]|[a-f]+[0-9]+[a-f])[0-9a-f]{7,11}"
        ),
        "{hash}",
        "7 to 11 hex digits in which letters and digits take turns: a short commit. A word with a number after it, "
        "cafe2024, is none",
    ),
    Mask(
        "counter",
        re.compile(
            r"(?<=thread|worker)[0-9]+(?![^\W_])|(?<=instance|consumer|producer)[0-9]+(?![^\W_])"
            r"|(?<=replica)[0-9]+(?![^\W_])|(?<=client)[0-9]+(?![^\W_])"
            r"|(?<=host|node|task)[0-9]+(?![^\W_])|(?<=pod|pid)[0-9]+(?![^\W_])",
            re.IGNORECASE,
        ),
        "{n}",
        "a number right after thread, worker, instance, replica, consumer, producer, client, host, node, task, pod or pid",
    ),
    Mask(
        "counter",
        _standing_alone(rf"{_NO_REGION}[0-9]+"),
        "{n}",
        "a number that stands alone: one of several instances, or how often it was started. Numbers that belong to a "
        "word (s3, oauth2, v2) or to a region of a cloud (us-east-1) stay, and so do client ids of nothing but numbers",
    ),
)
"""In the order in which they are applied: what one mask has replaced is out of reach for later ones."""


@dataclass(frozen=True)
class Family:
    """`text`: the client id with its changing parts replaced; `masks`: names of the masks that applied, in order."""

    text: str
    masks: tuple[str, ...]


@lru_cache(maxsize=100_000)
def family(client_id: str) -> Family:
    """The family of a client id.

    >>> family("orders-7d9f8b6c54-x2x7k")
    Family(text='orders-{pod}', masks=('pod',))
    >>> family("s3-sink-v2").masks
    ()

    A client id that is only a number names its program: 1 and 2 are not known to be one.

    >>> family("1")
    Family(text='1', masks=())
    """
    text, masks = client_id, []
    for mask in MASKS:
        replaced = mask.pattern.sub(mask.replacement, text)
        if replaced != text:
            text = replaced
            masks.append(mask.name)
    if set(masks) == {"counter"} and not re.search(r"[^\W_]", text.replace("{n}", "")):
        return Family(client_id, ())
    return Family(text, tuple(dict.fromkeys(masks)))


def explained(client_ids: Iterable[str]) -> Iterable[str]:
    """For people: one line per id, and one for each mask that changed it."""
    for client_id in client_ids:
        masked = family(client_id)
        yield f"{client_id!r}  ->  {masked.text!r}" + ("" if masked.masks else "   (nothing is masked)")
        for mask in MASKS:
            if mask.name in masked.masks and mask.pattern.search(client_id):
                yield f"    {mask.name}: {mask.why}"


if __name__ == "__main__":
    for line in explained(sys.argv[1:] or (line.rstrip("\r\n") for line in sys.stdin)):
        print(line)
