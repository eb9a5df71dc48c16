import pytest
from client_telemetry.compatibility.listener_mechanisms import (
    BadMechanisms,
    by_security_protocol,
    check_listeners,
    listener_mechanisms,
)


def test_mechanisms_as_people_write_them():
    assert listener_mechanisms("SASL=SCRAM-SHA-512") == {"SASL": ("SCRAM-SHA-512",)}
    assert listener_mechanisms("a=plain,scram b=Kerberos") == {
        "A": ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"),
        "B": ("GSSAPI",),
    }


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no listener is stated"),
        ("SCRAM-SHA-512", "write LISTENER=MECHANISM[,MECHANISM], such as CLIENTS=SCRAM-SHA-512,PLAIN"),
        ("SASL=", "'SASL=' does not say"),
        ("=PLAIN", "'=PLAIN' does not say"),
        ("SASL=,", "'SASL=,' does not say"),
        ("SASL=SCRAM-SHA-1", "'SCRAM-SHA-1' is not a known SASL mechanism: use GSSAPI, PLAIN, OAUTHBEARER"),
        ("SASL=none", "'none' is not a known SASL mechanism"),
        ("SASL=PLAIN sasl=GSSAPI", "listener sasl is stated twice"),
    ],
)
def test_what_is_refused(text, says):
    with pytest.raises(BadMechanisms) as refused:
        listener_mechanisms(text)
    assert says in str(refused.value)


def test_a_listener_that_nobody_uses_is_refused():
    check_listeners({"SASL": ("PLAIN",)}, ["PLAINTEXT", "sasl"])
    check_listeners({"SASL": ("PLAIN",)}, [])
    with pytest.raises(BadMechanisms, match="a listener SSL was seen: listeners are PLAINTEXT, SASL"):
        check_listeners({"SSL": ("PLAIN",)}, ["PLAINTEXT", "SASL"])


def test_a_protocol_offers_what_all_of_its_listeners_offer():
    listeners = {"SASL_SSL": {"A", "b"}, "SASL_PLAINTEXT": {"C", "D"}, "PLAINTEXT": {"E"}}
    stated = {"A": ("PLAIN",), "B": ("GSSAPI",), "C": ("PLAIN",)}
    assert by_security_protocol(stated, listeners) == {"SASL_SSL": ("GSSAPI", "PLAIN")}
