"""What must hold for the ledger."""

from client_telemetry.expectations.suite import RowRule, SliceRule, Suite, flags_are_known
from client_telemetry.tables.raw_objects import RAW_OBJECTS, STATUSES

_STATUSES = ", ".join(f"'{status}'" for status in STATUSES)

SUITE = Suite(
    RAW_OBJECTS,
    (
        RowRule(
            "status_is_known", f"status in ({_STATUSES})", "critical", "status is a value of the vocabulary"
        ),
        RowRule(
            "records_add_up",
            "records is null or records = rows + duplicates + undecodable",
            "critical",
            "every record of an object is a row, a duplicate or an undecodable record",
        ),
        RowRule(
            "name_tells_a_range",
            "first_sequence is null or first_sequence <= last_sequence",
            "critical",
            "the sequences in the name are a range",
        ),
        RowRule(
            "fault_has_a_reason",
            "status in ('new', 'decoded') or error is not null",
            "critical",
            "an object that was not read completely has a reason",
        ),
        flags_are_known(RAW_OBJECTS),
        SliceRule(
            "objects_are_readable",
            "count_if(status in ('torn', 'damaged', 'unreadable', 'empty'))",
            "warning",
            "no objects (including manifests) that could not be read completely: see their error, and undecodable_records",
            maximum=0,
        ),
        SliceRule(
            "objects_match_manifests",
            "count_if(size(array_intersect(flags, array('digest_mismatch', 'size_mismatch', 'record_count_mismatch', "
            "'not_in_manifest'))) > 0)",
            "warning",
            "no objects that differ from their manifest: see their flags",
            maximum=0,
        ),
    ),
)
