"""What a table of the lake is: columns with comments, key, partition. Not: how it is read or written (lake/)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import (
    ArrayType as ArrayType,
)
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    DataType,
    DateType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)
from pyspark.sql.types import (
    MapType as MapType,
)

if TYPE_CHECKING:
    from great_expectations.expectations.expectation import Expectation

    # Python 3.13 has defaults of type variables in typing.
    from typing_extensions import TypeVar

    Row = TypeVar("Row", bound=Mapping[str, object], covariant=True, default=Mapping[str, object])
else:
    from typing import TypeVar

    Row = TypeVar("Row")

STRING, INT, LONG, DOUBLE = StringType(), IntegerType(), LongType(), DoubleType()
BOOLEAN, BINARY, DATE, TIMESTAMP = BooleanType(), BinaryType(), DateType(), TimestampType()
STRINGS, INTS = ArrayType(STRING), ArrayType(INT)
LABELS = MapType(STRING, STRING)


def listed(words: Iterable[str]) -> str:
    """Words of the code, which have no quotes, as SQL lists them.

    >>> listed(("a", "b"))
    "'a', 'b'"
    """
    return ", ".join(f"'{word}'" for word in words)


MAY_BE_NULL = "may be null"


def struct(*may_be_null: str, **fields: DataType) -> StructType:
    """A nested record, fields in the order given. In files all of them are nullable; rows (rows.py) have no null but in those
    of `may_be_null`."""
    return StructType(
        [
            StructField(name, kind, metadata={MAY_BE_NULL: True} if name in may_be_null else None)
            for name, kind in fields.items()
        ]
    )


API_USES = ArrayType(
    struct(
        "first_request_at",
        "last_request_at",
        api_key=INT,
        version=INT,
        requests=LONG,
        rejected=LONG,
        first_request_at=TIMESTAMP,
        last_request_at=TIMESTAMP,
    ),
)
"""Requests per API and version: answered, refused by the broker, first and last. Sorted by API and version."""

API_ERRORS = ArrayType(struct(api_key=INT, version=INT, error_code=INT, requests=LONG))
"""Answers in which nothing succeeded, per API, version and error code. Sorted by them."""

PROCESSING_TIME = "Processing time: "
"""How a comment starts when the column tells of the run, not of the data. Such columns do not count when two
tables are compared for equality."""


@dataclass(frozen=True)
class Column:
    """`nullable=False` is checked by the gate: the table's columns are all optional, so that a missing value is
    reported like any other fault instead of stopping the write. Files of compiled code, which leaves no value out, have
    it in their own schema (lake/writer.py)."""

    name: str
    kind: DataType
    comment: str
    nullable: bool = True

    @property
    def is_processing_time(self) -> bool:
        return self.comment.startswith(PROCESSING_TIME)


def required(name: str, kind: DataType, comment: str) -> Column:
    """A column that is never null."""
    return Column(name, kind, comment, nullable=False)


@dataclass(frozen=True, eq=False)
class Table(Generic[Row]):
    """One table, and for mypy the type of its rows (rows.py). `key` columns are unique together, nulls counted as equal; `flags` is the vocabulary of the
    column `flags`: each flag with the rule that sets it. `expectations`: what a partition must pass before readers see it, beside
    key and required columns, by the name that results have in quality_results (suite.py); Great Expectations takes seconds to
    import, so they are made when they are needed."""

    name: str
    comment: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    partition: tuple[str, ...] = ("cluster_id", "dt")
    flags: dict[str, str] = field(default_factory=dict)
    expectations: "Callable[[], dict[str, Expectation]]" = dict

    @property
    def schema(self) -> StructType:
        """Spark's schema, columns in table order."""
        return StructType([StructField(c.name, c.kind) for c in self.columns])

    @property
    def arrow_schema(self) -> pa.Schema:
        """The schema of data files that Python workers write: timestamps in microseconds, UTC."""
        return to_arrow_schema(
            self.schema, error_on_duplicated_field_names_in_struct=True, timestamp_utc=True
        )

    @property
    def data_columns(self) -> list[str]:
        """The columns that two runs over the same input must agree on."""
        return [c.name for c in self.columns if not c.is_processing_time]


CLUSTER_ID = required("cluster_id", STRING, "Kafka's cluster id")
CLUSTER_NAME = Column(
    "cluster_name",
    STRING,
    "What people call the cluster: its name in the clusters file, or its id; null = written before there were names",
)
DT = required("dt", DATE, "UTC day of the raw object, from the broker's receive time")
BROKER_ID = required("broker_id", INT, "Kafka's node id")
BROKER_INCARNATION = required(
    "broker_incarnation", STRING, "Incarnation of the broker process: 32 hex digits, new at each start"
)
SEQUENCE = required("sequence", LONG, "Number of the record within its incarnation and dataset, from 0")
SOURCE = (
    required("source_object", STRING, "Key of the raw object that contains the record"),
    required("source_offset", LONG, "Offset of the record in the decompressed object, in bytes"),
)

INSTANCE_ID = Column(
    "instance_id",
    STRING,
    "client_instance_id as Kafka's Uuid.toString and logs show it: URL-safe base64, 22 characters (librdkafka's logs have + and / for - "
    "and _); null = none, or written before there was this column",
)
CLIENT = (
    Column("client_id", STRING, "client.id exactly as sent, any string; null = the request contained none"),
    Column("principal", STRING, "Kafka principal, `User:name`; empty = not known"),
)
SOFTWARE = (
    Column(
        "client_software_name",
        STRING,
        "As the broker registered it (KIP-511), including Kafka's `unknown`; empty = not known to the source",
    ),
    Column(
        "client_software_version", STRING, "As the broker registered it (KIP-511); same rules as the name"
    ),
)
CLIENT_CONNECTION = (
    *CLIENT,
    Column("client_address", STRING, "Numeric address of the client as the broker saw it"),
    Column("client_port", INT, "TCP port of the client; null = not known"),
    Column("listener_name", STRING, "Listener of the broker"),
    Column("security_protocol", STRING, "PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL"),
    Column(
        "connection_id",
        STRING,
        "Kafka's own connection id; empty = the record cannot be attributed to a connection",
    ),
    *SOFTWARE,
    Column(
        "sent_software_name", STRING, "Name in the ApiVersions request, before validation; empty = not sent"
    ),
    Column("sent_software_version", STRING, "Version in the ApiVersions request; empty = not sent"),
    Column(
        "api_versions_error", INT, "Error of the ApiVersions request; 42 = name or version refused (KIP-511)"
    ),
)
"""Who sent a record, as the broker saw it (`ClientConnection` of the contract)."""
