import pytest
from client_telemetry.formats.raw.errors import CorruptPayload, UndecodableRecord, vocabulary


@pytest.mark.parametrize("reason", vocabulary(), ids=lambda reason: reason.__name__)
def test_every_reason_says_what_it_means_and_what_to_do(reason):
    assert reason.subject in ("object", "manifest", "record", "payload")
    assert reason.meaning.endswith(".") and reason.remedy.endswith(".")
    assert issubclass(reason, UndecodableRecord)


def test_an_error_carries_its_class_its_message_and_what_is_known_of_the_record():
    error = CorruptPayload("cut short", sequence=7, client_instance_id=bytes(16))
    assert (error.error_class, error.message) == ("CorruptPayload", "cut short")
    assert (error.sequence, error.client_instance_id) == (7, bytes(16))
