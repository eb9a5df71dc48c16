"""What must hold for the quarantine."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite
from client_telemetry.raw.errors import vocabulary
from client_telemetry.tables.undecodable_records import UNDECODABLE_RECORDS

_CLASSES = ", ".join(f"'{error.__name__}'" for error in vocabulary())

SUITE = Suite(
    UNDECODABLE_RECORDS,
    (
        RowRule(
            "error_class_is_known", f"error_class in ({_CLASSES})", "critical", "the error class is known"
        ),
        RowRule("message_is_there", "message <> ''", "critical", "there is a message"),
        RowRule(
            "bytes_are_kept",
            "octet_length(bytes) = least(bytes_total, 65536) or octet_length(bytes) = 65536",
            "critical",
            "the original bytes are kept, up to 64 KiB",
        ),
        SliceRule(
            "rows_match_ledger",
            "count(*) - {undecodable}",
            "critical",
            "the number of records matches the ledger",
            minimum=0,
            maximum=0,
        ),
        SliceRule(
            "few_are_undecodable",
            "count(*) / greatest({records}, 1)",
            "warning",
            "at most 0.1 % of records are undecodable",
            maximum=0.001,
        ),
    ),
)
