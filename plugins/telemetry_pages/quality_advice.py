"""What to do about a check that failed, by the name of its expectation; of a critical one by what it blocks."""

from typing import Any

ADVICE = {
    "objects_are_readable": "Look in raw_objects for status and error: restore the object, then reprocess the day.",
    "objects_match_manifests": "The object was changed after the broker wrote it: restore it, then reprocess the day.",
    "few_are_undecodable": "Group undecodable_records by error_class; after fixing the cause, run client-telemetry requarantine.",
    "nothing_was_lost": "Open the coverage calendar and check the brokers' spool and network during those hours. Verdicts for "
    "clients that were only active then are missing.",
    "release_is_declared": "Set the release in the source of the clusters file, or update the broker plugin.",
    "releases_are_known": "Set the release in the source of the clusters file, or update the broker plugin.",
    "evidence_follows_the_start": "Check the clock of the broker (NTP).",
    "evidence_is_of_the_day": "Check the clock of the broker that wrote the objects (NTP).",
    "clocks_agree": "Check the clocks of the clients (NTP): their metrics have wrong times. Verdicts do not depend on them.",
    "opened_before_seen": "Nothing, if only a few rows are affected: the counts of the connection are right, its start is not.",
    "opened_before_observed": "Nothing, if only a few rows are affected: the counts of the connection are right, its start is not.",
    "nothing_after_the_close": "Nothing, if only a few rows are affected: the end of the connection is not exact.",
    "counts_are_of_the_day": "Process the previous day too: the counts of connections that were open over midnight are then split.",
    "connections_are_identified": "See 'What the brokers reported' on the fleet page for their number; find the host that keeps retrying.",
    "clients_have_instance_ids": "Update the client libraries that push without an id; they belong to no session.",
    "instance_ids_are_real": "Update the client libraries that push with the zero id; they cannot be distinguished.",
    "software_is_known": "Nothing breaks because of this: clients older than KIP-511 are identified by their requests. Upgrade them in time.",
    "clients_have_owners": "Add owner rules (make owners OWNERS=file tries them): otherwise nobody is notified of what breaks.",
    "images_have_digests": "Export SBOMs with the digest of their image (syft does): without one, an image cannot be found where it runs.",
    "all_files_were_read": "The warnings of the run name the files and why: put them right and run the DAG artefact_inventory again.",
    "clients_were_seen": "Ask with more days, or specify the release in `from`: no client was seen on it.",
}
RECORD_IS_ODD = "A client library sent this: look at the rows in the table, and report it to the library. No verdict depends on it."


def advice(check: dict[str, Any]) -> str:
    """For a check of quality.json that failed."""
    if check["severity"] == "critical":
        return (
            f"Readers keep the previous state of {check['table_name']}. The log of the stage "
            f"{check.get('stage', '')} ends with the rows; fix the cause and clear the task."
        )
    return ADVICE.get(check.get("expectation", ""), RECORD_IS_ODD)
