"""Why bytes of a dump did not become rows: the vocabulary of the error classes.

One class for each reason; its name is the value of `undecodable_records.error_class`. `meaning` and `remedy`
are what the table documentation prints, the exception's text is what happened in this one place.
Rules that flag a row but keep it (a zero client instance id, a clock that is wrong) do not belong here.
"""

from typing import ClassVar


class UndecodableRecord(ValueError):
    """Base of all reasons. `subject` says what was being read: `object`, `manifest`, `record` or `payload`.

    `sequence` and `client_instance_id` are set where a damaged record still had them.
    """

    subject: ClassVar[str]
    meaning: ClassVar[str]
    remedy: ClassVar[str]

    def __init__(
        self, message: str, *, sequence: int | None = None, client_instance_id: bytes | None = None
    ) -> None:
        super().__init__(message)
        self.sequence = sequence
        self.client_instance_id = client_instance_id

    @property
    def error_class(self) -> str:
        return type(self).__name__

    @property
    def message(self) -> str:
        return str(self)


class BadObjectKey(UndecodableRecord):
    subject = "object"
    meaning = "The object lies under a key that contract version 1 does not have."
    remedy = "Move it under v1/dataset=…/cluster=…/dt=…/hour=…/broker=…/, or out of the raw location."


class EmptyObject(UndecodableRecord):
    subject = "object"
    meaning = "The object holds no byte, or no record once decompressed."
    remedy = "Look for a failed upload; if the broker's spool still has the file, upload it again."


class UnknownEnding(UndecodableRecord):
    subject = "object"
    meaning = (
        "The object's name ends neither in .zst nor in .gz nor in .bin, so its compression is not known."
    )
    remedy = "Rename it to the ending of its compression."


class WrongCompression(UndecodableRecord):
    subject = "object"
    meaning = "The first bytes are not those of the compression that the object's name ends in."
    remedy = "Rename the object to its real compression, or upload it again if it was overwritten."


class CorruptStream(UndecodableRecord):
    subject = "object"
    meaning = "The compressed stream is damaged; records before the damage were read."
    remedy = "Compare the object with its manifest's digest and restore it from the broker's spool or a copy."


class TruncatedStream(UndecodableRecord):
    subject = "object"
    meaning = "The compressed stream ends early; records before the end were read."
    remedy = "Expected after a killed broker. Otherwise upload the object again: it is shorter than written."


class TruncatedRecord(UndecodableRecord):
    subject = "object"
    meaning = "The last record is shorter than its length says; records before it were read."
    remedy = "Expected after a killed broker. Otherwise upload the object again: it is shorter than written."


class AbsurdLength(UndecodableRecord):
    subject = "object"
    meaning = "A record claims more than 16 MiB: the framing is damaged and reading stops there."
    remedy = "Compare the object with its manifest's digest and restore it; report the writer if they agree."


class EmptyRecord(UndecodableRecord):
    subject = "object"
    meaning = (
        "A record claims 0 bytes. No writer makes one, since the cluster and the incarnation are required; "
        "it is usually a file that a crash left filled with zeros. Reading stops there."
    )
    remedy = "Expected after a power loss. Otherwise compare the object with its manifest's digest."


class ObjectTooLarge(UndecodableRecord):
    subject = "object"
    meaning = (
        "The object decompresses to more than 64 MiB and more than 1000 times its size; reading stops there."
    )
    remedy = "Look at who wrote it: the captured dumps compress 6 to 29 times. A dump of that shape has to be cut up."


class BadManifest(UndecodableRecord):
    subject = "manifest"
    meaning = "The manifest is not JSON, lacks a required key, or a key has a value of the wrong kind."
    remedy = "Correct the writer. Until then the broker's hour counts as one without a manifest."


class NotProtobuf(UndecodableRecord):
    subject = "record"
    meaning = "The record is not a message of the contract: its bytes cannot be parsed."
    remedy = "Check what writes under this dataset; a single case is damage in storage."


class InvalidUtf8(UndecodableRecord):
    subject = "record"
    meaning = "The record parses, but a string field holds bytes that are not UTF-8."
    remedy = "Correct the writer: Kafka's own strings are UTF-8, so it put raw bytes into a string field."


class WrongIdentity(UndecodableRecord):
    subject = "record"
    meaning = (
        "Cluster, broker or incarnation in the record are not those of the object's key, "
        "or the incarnation is not 16 bytes long."
    )
    remedy = "The object was moved between clusters or brokers, or two writers share a key: correct the key."


class BadInstanceId(UndecodableRecord):
    subject = "record"
    meaning = "The client instance id has bytes but not 16 of them."
    remedy = "Correct the writer: it has to store the 16 bytes of the UUID, not its text."


class WrongChecksum(UndecodableRecord):
    subject = "record"
    meaning = "The payload's CRC-32C is not the one that the record states."
    remedy = "The bytes changed after the broker wrote them: restore the object from a copy."


class MissingEventKind(UndecodableRecord):
    subject = "record"
    meaning = "The connection event does not say of which kind it is."
    remedy = "Correct the writer: `kind` is required."


class NumberOutOfRange(UndecodableRecord):
    subject = "record"
    meaning = "A sequence or counter of the record is above 2^63 - 1, which no table column can hold."
    remedy = "No real counter gets there: correct the writer."


class UnreadableSource(UndecodableRecord):
    """`data`: the piece of the source, as it was."""

    subject = "record"
    meaning = "A converter could not read this piece of its source (a log, a collector's file) and passed it on as it was."
    remedy = "The message says where it stood. When the source is restored, or the converter corrected, convert it again."

    def __init__(self, message: str, data: bytes) -> None:
        super().__init__(message)
        self.data = data


class UnknownCodec(UndecodableRecord):
    subject = "payload"
    meaning = (
        "The compression type is none of 0 to 4, or it is not known (-1) and the bytes match no known codec."
    )
    remedy = "Check the writer, or a client library that uses a codec of its own."


class CorruptPayload(UndecodableRecord):
    subject = "payload"
    meaning = "The payload cannot be decompressed with its codec: damaged, cut short, or another codec."
    remedy = (
        "Find the client by its connection: its library's compression is at fault unless many clients do it."
    )


class PayloadTooLarge(UndecodableRecord):
    subject = "payload"
    meaning = (
        "The payload decompresses to more than 64 MiB, or to more than 1 MiB and 200 times its size, or has more than "
        "200,000 data points or 2 million parts."
    )
    remedy = "Find the client by its connection: no known library sends this; it may be a decompression bomb."


class NotMetricsData(UndecodableRecord):
    subject = "payload"
    meaning = "The decompressed payload is not a MetricsData message of OpenTelemetry (KIP-714)."
    remedy = "Find the client by its connection: its library sends something else than OTLP metrics."


def vocabulary() -> list[type[UndecodableRecord]]:
    """All reasons, in the order of this module."""
    return list(UndecodableRecord.__subclasses__())
