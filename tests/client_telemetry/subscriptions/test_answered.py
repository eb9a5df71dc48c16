"""What is configured, from answers in a request log."""

import pytest
from client_telemetry.subscriptions.answered import NoAnswers, read
from client_telemetry.subscriptions.answers import ConfiguredSubscriptions
from client_telemetry.subscriptions.configuration import parse
from client_telemetry.subscriptions.instances import ClientInstance, instance_id_of
from client_telemetry.subscriptions.java_runtime import JavaRuntime

LINE = (
    "[2026-11-21 05:01:51,889] DEBUG Completed request:"
    '{"isForwarded":false,"requestHeader":{"requestApiKey":71,"requestApiVersion":0,"correlationId":4,'
    '"clientId":"producer-1","requestApiKeyName":"GET_TELEMETRY_SUBSCRIPTIONS"},"request":{"clientInstanceId":'
    '"AAAAAAAAAAAAAAAAAAAAAA"},"response":{"throttleTimeMs":0,"errorCode":0,"clientInstanceId":'
    '"2BKfFIecQTaZtxZMcz_R2w","subscriptionId":-55600385,"acceptedCompressionTypes":[4,3,1,2],"pushIntervalMs":5000,'
    '"telemetryMaxBytes":1048576,"deltaTemporality":true,"requestedMetrics":["*"]}} (kafka.request.logger)'
)


def test_an_answer_becomes_a_subscription_of_its_instance(java: JavaRuntime) -> None:
    (resource,) = read(f"other line\n{LINE}\n")
    subscription = parse(resource.name, resource.properties, (4, 0, 1), java)
    asked, other = (
        ClientInstance(instance_id_of(text), "a", "b", "1", None, None)
        for text in ("2BKfFIecQTaZtxZMcz_R2w", "vbIwPY8MTDqgVD2pmFLUQw")
    )
    answer, nothing = ConfiguredSubscriptions([subscription], (4, 0, 1), java).answers([asked, other])
    assert (answer.subscription_id, answer.push_interval_ms, answer.metrics) == (-55600385, 5000, ("*",))
    assert nothing.metrics == ()


def test_refused_cut_and_changed_answers_do_not_count() -> None:
    for text in (
        "",
        LINE[:300],
        LINE.replace('"errorCode":0', '"errorCode":89'),
        LINE.replace("-55600385", "1"),
    ):
        with pytest.raises(NoAnswers):
            read(text)
