import pytest
from client_telemetry.compatibility import client_list, judge
from client_telemetry.compatibility.evidence import ApiUse, ClientEvidence
from client_telemetry.knowledge import conditions, logins
from client_telemetry.knowledge.conditions import APACHE_KAFKA, Circumstances, UnreadableCondition

SCRAM = "sasl_mechanism in SCRAM-SHA-256,SCRAM-SHA-512"


def met(text: str, vendor: str | None = APACHE_KAFKA, levels: dict[str, int] | None = None, **known) -> str:
    given = Circumstances(ClientEvidence(**known), ("producer",), levels or {}, vendor)
    return conditions.parse(text).met(given)


@pytest.mark.parametrize(
    ("case", "known", "answer"),
    [
        ("the mechanism is known", {"sasl_mechanism": "SCRAM-SHA-512"}, "yes"),
        ("another mechanism", {"sasl_mechanism": "PLAIN"}, "no"),
        ("letters small", {"sasl_mechanism": "scram-sha-256"}, "yes"),
        ("no SASL", {"security_protocol": "SSL"}, "no"),
        ("SASL, nothing else known", {"security_protocol": "SASL_SSL"}, "unknown"),
        ("nothing known", {}, "unknown"),
        ("the listener offers it alone", {"offered_sasl_mechanisms": ("SCRAM-SHA-256",)}, "yes"),
        ("the listener offers it too", {"offered_sasl_mechanisms": ("PLAIN", "SCRAM-SHA-256")}, "unknown"),
        ("the listener does not offer it", {"offered_sasl_mechanisms": ("PLAIN", "OAUTHBEARER")}, "no"),
        ("its principal has SCRAM credentials", {"principal_has_scram": True}, "yes"),
        (
            "its principal has SCRAM credentials, the listener offers others",
            {"principal_has_scram": True, "offered_sasl_mechanisms": ("PLAIN", "GSSAPI")},
            "no",
        ),
        ("its principal has none", {"principal_has_scram": False}, "no"),
        (
            "its principal has none, the listener offers others",
            {"principal_has_scram": False, "offered_sasl_mechanisms": ("PLAIN", "SCRAM-SHA-256")},
            "no",
        ),
    ],
)
def test_the_mechanism(case, known, answer):
    assert met(SCRAM, **known) == answer, case
    opposite = {"yes": "no", "no": "yes"}.get(answer, "unknown")
    assert met(SCRAM.replace(" in ", " not in "), **known) == opposite, case


@pytest.mark.parametrize(
    ("offered", "answer"), [(None, "unknown"), (("GSSAPI", "SCRAM-SHA-256"), "unknown"), (("PLAIN",), "no")]
)
def test_credentials_of_scram_are_no_proof_that_another_mechanism_is_not_used(offered, answer):
    known = {"security_protocol": "SASL_SSL", "principal_has_scram": True, "offered_sasl_mechanisms": offered}
    assert met("sasl_mechanism in GSSAPI", **known) == answer


def test_all_terms_are_needed():
    both = f"{SCRAM} and vendor not in confluent"
    assert met(both, sasl_mechanism="SCRAM-SHA-256") == "yes"
    assert met(both, vendor="confluent", sasl_mechanism="SCRAM-SHA-256") == "no"
    assert met(both, vendor="confluent") == "no"
    assert met(both, vendor=None, sasl_mechanism="SCRAM-SHA-256") == "unknown"
    assert met(both, sasl_mechanism="PLAIN", vendor=None) == "no"


def test_features_that_a_release_lacks_are_at_level_0():
    assert met("feature transaction.version < 1") == "yes"
    assert met("feature transaction.version < 1", levels={"transaction.version": 1}) == "no"
    assert met("feature group.version >= 1", levels={"group.version": 1}) == "yes"


def test_what_keeps_a_client_from_being_safe():
    def could(text: str, **known) -> bool:
        return conditions.parse(text).could_be_met_now(
            Circumstances(ClientEvidence(**known), ("producer",), {}, APACHE_KAFKA)
        )

    assert could(SCRAM)
    assert not could(SCRAM, sasl_mechanism="PLAIN")
    assert not could(SCRAM, sasl_mechanism="SCRAM-SHA-256"), "it is met"
    assert not could("setting acks=0"), "no evidence ever shows it"
    assert not could(f"{SCRAM} and setting acks=0")
    assert not could("subscriptions match none"), "somebody may apply one, one day"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("luck", "'luck' is not a term; terms are"),
        ("sasl_mechanism in SCRAM", "'SCRAM' is none of GSSAPI"),
        ("sasl_mechanism SCRAM-SHA-256", "is not a term"),
        ("mechanism in PLAIN", "mechanism is none of sasl_mechanism"),
        ("vendor in me", "'me' is none of apache-kafka"),
        ("feature transaction.version", "is not a term"),
        (f"{SCRAM} and ", "'' is not a term"),
    ],
)
def test_texts_that_are_no_condition(text, says):
    with pytest.raises(UnreadableCondition, match=says):
        conditions.parse(text)


@pytest.mark.parametrize(
    ("case", "uses", "answer"),
    [
        ("its heartbeats are of the new protocol", (ApiUse(1, 15), ApiUse(68, 1)), "yes"),
        ("its heartbeats are classic", (ApiUse(1, 15), ApiUse(12, 4)), "no"),
        ("it keeps no group", (ApiUse(0, 9), ApiUse(3, 12)), "no"),
        ("it only greeted", (ApiUse(18, 3),), "unknown"),
        ("nothing was seen", (), "unknown"),
    ],
)
def test_how_it_keeps_its_group(case, uses, answer):
    assert met("membership in consumer", api_uses=uses) == answer, case


@pytest.mark.parametrize(("subscriptions", "answer"), [(None, "unknown"), ((), "no"), (("*",), "yes")])
def test_a_subscription_matches_it(subscriptions, answer):
    assert met("subscriptions match it", subscriptions=subscriptions) == answer


def test_what_nobody_can_tell_beforehand_is_settled_by_nothing():
    def settled_by(text: str) -> str:
        given = Circumstances(ClientEvidence(), ("producer",), {}, APACHE_KAFKA)
        return conditions.parse(text).settled_by(given)

    assert met("event a broker is restarted") == met("broker_setting racks") == "unknown"
    assert settled_by("event a broker is restarted") == ""
    assert (
        settled_by("broker_setting racks and event a broker is restarted")
        == "the configuration of the brokers"
    )


MECHANISMS = (
    None, "", "-", "unknown", "PLAIN", "plaintext", "GSSAPI", "kerberos", "KRB5", "OAUTHBEARER", "oauth", "OAUTH2", "oauth-bearer",
    "AWS_MSK_IAM", "aws-msk-iam", "msk_iam", "SCRAM", "scram_sha_512", "SASL/SCRAM-256", "SCRAM-SHA-1", "SCRAM-SHA-256-PLUS",
    "PLAIN,SCRAM-SHA-512", "'GSSAPI'; [PLAIN]", "N/A", "any", "none null na ?", "my-own",
)  # fmt: skip
TEXTS = (
    "", SCRAM, "sasl_mechanism in GSSAPI", "sasl_mechanism not in GSSAPI", "security_protocol in SASL_PLAINTEXT,SASL_SSL",
    "security_protocol in SSL", "security_protocol in PLAINTEXT,SASL_PLAINTEXT", "security_protocol not in PLAINTEXT",
    "vendor in confluent", "vendor not in confluent,redpanda", "feature group.version < 1", "feature group.version <= 1",
    "feature group.version = 1", "feature group.version >= 1", "feature group.version > 1", "feature kraft.version = 0",
    "subscriptions match none", "subscriptions match it", "membership in classic", "membership in consumer",
    "membership not in classic", "setting acks=0", "broker_setting racks", "event a broker is restarted",
    f"{SCRAM} and security_protocol in SASL_SSL", f"{SCRAM} and setting acks=0", "vendor in confluent and event it restarts",
)  # fmt: skip
KNOWN: dict[str, dict] = {
    "nothing": {},
    "PLAIN": {"sasl_mechanism": "PLAIN"},
    "SCRAM": {"sasl_mechanism": "scram-sha-512"},
    "GSSAPI": {"sasl_mechanism": "GSSAPI", "security_protocol": "SASL_PLAINTEXT"},
    "SSL": {"security_protocol": "ssl"},
    "SASL_SSL": {"security_protocol": "SASL_SSL"},
    "offers PLAIN": {"offered_sasl_mechanisms": ("PLAIN",)},
    "offers nothing": {"offered_sasl_mechanisms": ()},
    "offers SCRAM": {"offered_sasl_mechanisms": ("SCRAM-SHA-256",)},
    "offers both": {"offered_sasl_mechanisms": ("SCRAM-SHA-256", "GSSAPI")},
    "has SCRAM": {"principal_has_scram": True, "offered_sasl_mechanisms": ("PLAIN", "SCRAM-SHA-256")},
    "has SCRAM, not offered": {"principal_has_scram": True, "offered_sasl_mechanisms": ("PLAIN",)},
    "has no SCRAM": {"principal_has_scram": False},
    "no subscription": {"subscriptions": ()},
    "all metrics": {"subscriptions": ("*",)},
    "consumer metrics": {"subscriptions": ("org.apache.kafka.consumer.",)},
    "classic member": {"api_uses": (ApiUse(12, 4),)},
    "new member": {"api_uses": (ApiUse(68, 1),)},
    "no member": {"api_uses": (ApiUse(0, 9),)},
}


def test_what_each_condition_says_of_each_client(same_as_kept):
    """`yes`, `no`, `?`, and `?!` where the client is not called safe because of it; then what would settle it."""
    found = [f"{text}: {', '.join(sorted(logins.mechanisms_in(text)))}" for text in MECHANISMS]
    for text in TEXTS:
        condition = conditions.parse(text)
        about = [condition.is_about_login, condition.is_about_scram, *sorted(condition.features)]
        found.append(f"# {text or 'no condition'}; about {about}")
        for vendor, level in (("apache-kafka", 0), ("confluent", 1), (None, 2)):
            answers: dict[tuple[str, str], list[str]] = {}
            for name, evidence in KNOWN.items():
                given = Circumstances(
                    ClientEvidence(**evidence), ("producer",), {"group.version": level}, vendor
                )
                answer = condition.met(given).replace("unknown", "?") + "!" * condition.could_be_met_now(
                    given
                )
                answers.setdefault((answer, condition.settled_by(given)), []).append(name)
            found += [
                f"{vendor} {level}, {answer}: {', '.join(who)}. {by}" for (answer, by), who in answers.items()
            ]
    same_as_kept("compatibility", {"conditions.txt": "\n".join(found) + "\n"})


@pytest.mark.parametrize(("cells", "verdict"), [
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"}, "safe"),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN, unknown"}, "insufficient_evidence"),
    ({"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN ?"}, "insufficient_evidence"),
    ({"security_protocol": "PLAINTEXT SASL_SSL", "sasl_mechanism": ""}, "insufficient_evidence"),
    ({"security_protocol": "PLAINTEXT SASL_SSL", "sasl_mechanism": "PLAIN"}, "safe"),
    ({"security_protocol": "PLAINTEXT,SSL"}, "safe"),
    ({"security_protocol": "PLAINTEXT,?"}, "insufficient_evidence"),
    ({"security_protocol": "PLAINTEXT SASL_SSL", "sasl_mechanism": "SCRAM-SHA-256"}, "breaks"),
])  # fmt: skip
def test_what_is_not_known_of_some_connections_of_a_list_is_not_known(tmp_path, cells, verdict):
    names = ("client", "client_software_name", "client_software_version", "api_uses", *cells)
    values = ("c", "librdkafka", "2.3.0", "Produce:7x50 Metadata:9", *cells.values())
    path = tmp_path / "clients.csv"
    path.write_text(f"{','.join(names)}\n" + ",".join(f'"{value}"' for value in values) + "\n")
    (entry,) = client_list.read(path)
    assert judge(entry.evidence, "3.9.1", "4.0.1").verdict == verdict


@pytest.mark.parametrize(("case", "known", "answer"), [
    ("a lock file names its library", {}, "yes"),
    ("it declares a name, for which it asks for versions", {"client_software_name": "librdkafka"}, "no"),
    ("its requests were seen", {"api_uses": (ApiUse(0, 7),)}, "no"),
])  # fmt: skip
def test_only_a_client_of_which_nothing_was_seen_is_only_named(case, known, answer):
    assert met("only_named", **known) == answer, case
