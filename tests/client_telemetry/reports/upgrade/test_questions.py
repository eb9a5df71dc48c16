"""Who is asked what."""

from types import SimpleNamespace

import pytest
from client_telemetry.reports.upgrade.questions import (
    cluster_questions,
    library_question,
    own_gaps,
    owner_questions,
)

PROXY = (
    "a proxy between it and the brokers drops v0",
    "the proxies and gateways between clients and brokers",
)
BROKERS = ("inter.broker.protocol.version is below 2.8", "the configuration of the brokers")
SCRAM = ("it uses SCRAM", "its sasl.mechanism")
BOTH = ("it compresses and verification is on", "its configuration; the configuration of the brokers")
EVENT = ("its coordinator moves", "")
ASK = "ask its owner for library, version and configuration"


def finding(condition: str, settled_by: str, met: str = "unknown") -> SimpleNamespace:
    return SimpleNamespace(
        condition=condition, settled_by=settled_by or None, explanation="it stops", condition_met=met
    )


def gap(condition: str, settled_by: str) -> str:
    return f"whether {condition}; if so: it stops" + (f"; settled by {settled_by}" if settled_by else "")


def client(*findings: SimpleNamespace, **changes) -> SimpleNamespace:
    values = {"owner_question": None, "identified_as": "", "change": None, "is_unidentified": False}
    return SimpleNamespace(findings=findings, **(values | changes))


def application(*conditions: tuple[str, str], missing: tuple[str, ...] = (), **changes) -> SimpleNamespace:
    gaps = (*missing, *(gap(*condition) for condition in conditions))
    clients = [client(*(finding(*condition) for condition in conditions), **changes)]
    return SimpleNamespace(name="a", clients=clients, missing=gaps)


def test_what_concerns_brokers_and_proxies_is_asked_once():
    first, second = application(PROXY, SCRAM), application(PROXY, BROKERS, EVENT)
    asked = cluster_questions([first, second, application(BOTH)])
    assert [(q.condition, len(q.applications)) for q in asked] == [(PROXY[0], 2), (BROKERS[0], 1)]
    assert own_gaps(first) == (gap(*SCRAM),) and own_gaps(second) == (gap(*EVENT),)


def test_a_condition_that_is_known_is_not_asked():
    known = SimpleNamespace(clients=[client(finding(*PROXY, "no"))], missing=())
    assert cluster_questions([known]) == ()


@pytest.mark.parametrize(
    ("asked", "questions"),
    [
        (application(PROXY, BROKERS), ()),
        (application(EVENT), ()),
        (
            application(("it is brod 1, as it looks like", "")),
            ("It is brod 1, as it looks like: yes or no? If yes: it stops.",),
        ),
        (application(SCRAM), ("It uses SCRAM: yes or no? If yes: it stops.",)),
        (application(BOTH), ("It compresses and verification is on: yes or no? If yes: it stops.",)),
        (
            application(missing=(f"which library it is; {ASK}", f"which version of Fetch it uses; {ASK}")),
            (
                "Which Kafka client library does it use, in which version, and does its configuration pin a protocol version (yes "
                "or no)?",
            ),
        ),
        (application(missing=(f"x; {ASK}",), owner_question="Is it brod?"), ("Is it brod?",)),
        (application(missing=("whether it uses Kerberos",)), ("It uses Kerberos: yes or no?",)),
    ],
)
def test_owners_get_questions_that_one_line_answers(asked, questions):
    assert owner_questions(asked) == questions


def test_who_has_to_replace_a_library_is_not_asked_for_it():
    other = client(identified_as="probably kafka-node (any version)", change="replace kafka-node")
    unknown = client(is_unidentified=True, owner_question="Is it sarama or kafka-node?", change="ask")
    alone = SimpleNamespace(clients=[unknown])
    both = SimpleNamespace(clients=[other, unknown])
    assert library_question(unknown, alone) == "Is it sarama or kafka-node?"
    assert library_question(unknown, both) == (
        "Is it kafka-node (any version), as other clients of this application: yes or no? If no, which library and version?"
    )
