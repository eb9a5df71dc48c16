"""Why bytes of a dump did not become rows: the error classes.

One class per reason; its name is the value of `undecodable_records.error_class`. `meaning` and `remedy` go into the
table documentation; the exception's text says what happened in the particular place. Rules that flag a row but keep it
(a zero client instance id, a wrong clock) do not belong here.
"""

from typing import ClassVar


class UndecodableRecord(ValueError):
    """Base of all reasons. `subject` is what was being read: `object`, `manifest`, `record` or `payload`.

    `sequence` and `client_instance_id` are set if a damaged record still had them.
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
    meaning = "The object's key does not follow contract version 1."
    remedy = "Move it under v1/dataset=…/cluster=…/dt=…/hour=…/broker=…/, or out of the raw location."


class EmptyObject(UndecodableRecord):
    subject = "object"
    meaning = "The object contains no bytes, or no record after decompression."
    remedy = "Look for a failed upload; if the broker's spool still has the file, upload it again."


class UnknownEnding(UndecodableRecord):
    subject = "object"
    meaning = "The object's name does not end in .zst, .gz or .bin, so its compression is not known."
    remedy = "Rename it to the extension of its compression."


class WrongCompression(UndecodableRecord):
    subject = "object"
    meaning = "The first bytes do not match the compression in the object's file extension."
    remedy = "Rename the object to its actual compression, or upload it again if it was overwritten."


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
    meaning = "The last record is shorter than its declared length; records before it were read."
    remedy = "Expected after a killed broker. Otherwise upload the object again: it is shorter than written."


class AbsurdLength(UndecodableRecord):
    subject = "object"
    meaning = "A record declares more than 16 MiB: the framing is damaged and reading stops there."
    remedy = "Compare the object with its manifest's digest and restore it; if they agree, report a bug in the writer."


class EmptyRecord(UndecodableRecord):
    subject = "object"
    meaning = (
        "A record declares 0 bytes. No writer produces one, because the cluster and the incarnation are required; "
        "it is usually a file that a crash left filled with zeros. Reading stops there."
    )
    remedy = "Expected after a power loss. Otherwise compare the object with its manifest's digest."


class ObjectTooLarge(UndecodableRecord):
    subject = "object"
    meaning = (
        "The object decompresses to more than 64 MiB and more than 1000 times its size; reading stops there."
    )
    remedy = "Check what wrote it: the captured dumps compress 6 to 29 times. Such a dump has to be split."


class BadManifest(UndecodableRecord):
    subject = "manifest"
    meaning = "The manifest is not JSON, lacks a required key, or a key has a value of the wrong type."
    remedy = "Fix the writer. Until then, the broker's hour counts as one without a manifest."


class NotProtobuf(UndecodableRecord):
    subject = "record"
    meaning = "The record is not a message of the contract: its bytes cannot be parsed."
    remedy = "Check what writes to this dataset; a single case indicates damage in storage."


class InvalidUtf8(UndecodableRecord):
    subject = "record"
    meaning = "The record parses, but a string field contains bytes that are not UTF-8."
    remedy = "Fix the writer: Kafka's own strings are UTF-8, so it put raw bytes into a string field."


class WrongIdentity(UndecodableRecord):
    subject = "record"
    meaning = (
        "Cluster, broker or incarnation in the record differ from the object's key, "
        "or the incarnation is not 16 bytes long."
    )
    remedy = "The object was moved between clusters or brokers, or two writers share a key: fix the key."


class BadInstanceId(UndecodableRecord):
    subject = "record"
    meaning = "The client instance id is neither empty nor 16 bytes long."
    remedy = "Fix the writer: it has to store the 16 bytes of the UUID, not its text."


class WrongChecksum(UndecodableRecord):
    subject = "record"
    meaning = "The payload's CRC-32C differs from the one in the record."
    remedy = "The bytes changed after the broker wrote them: restore the object from a copy."


class MissingEventKind(UndecodableRecord):
    subject = "record"
    meaning = "The connection event has no kind."
    remedy = "Fix the writer: `kind` is required."


class NumberOutOfRange(UndecodableRecord):
    subject = "record"
    meaning = "The sequence of the record is above 2^63 - 1, or what it counts adds up to more than 2^48."
    remedy = "No real number is that large: fix the writer."


class UnreadableSource(UndecodableRecord):
    """`data`: the piece of the source, as it was."""

    subject = "record"
    meaning = "A converter could not read this part of its source (a log, a Collector file) and passed it on unchanged."
    remedy = "The message has the position. After the source is restored or the converter is fixed, convert it again."

    def __init__(self, message: str, data: bytes) -> None:
        super().__init__(message)
        self.data = data


class UnknownCodec(UndecodableRecord):
    subject = "payload"
    meaning = (
        "The compression type is not 0 to 4, or it is not known (-1) and the bytes match no known codec."
    )
    remedy = "Check the writer, or look for a client library with its own codec."


class CorruptPayload(UndecodableRecord):
    subject = "payload"
    meaning = "The payload cannot be decompressed with its codec: damaged, truncated, or a different codec."
    remedy = "Find the client by its connection: unless many clients do this, the compression of its library is at fault."


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
    remedy = "Find the client by its connection: its library sends something other than OTLP metrics."


def vocabulary() -> list[type[UndecodableRecord]]:
    """All reasons, in the order of this module."""
    return list(UndecodableRecord.__subclasses__())
