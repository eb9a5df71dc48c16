"""A slice of the clients that are judged with facts withheld; `make withheld-facts` runs 100,000."""

from random import Random

import pytest

from benchmarks.withheld_facts import measure
from benchmarks.withheld_facts.clients import draw
from benchmarks.withheld_facts.protocol import Client, Cluster, default_levels, harm

SLICE = 1_500


def test_no_client_that_breaks_is_called_safe():
    counted = measure.tally(7, range(SLICE))
    assert not counted.wrong, "\n".join(map(measure.describe, counted.wrong))
    assert sum(count for (_, name), count in counted.counts.items() if name == "break") > SLICE / 4


def test_a_case_is_the_same_each_time_and_works_on_its_source():
    case = draw(Random("1 5"))
    assert case == draw(Random("1 5"))
    assert not harm(case.client, case.source)


def client(
    library: str, version: str, requests: dict[int, tuple[int, int]], mechanism: str | None = None
) -> Client:
    return Client(library, version, "", True, requests, frozenset(requests), mechanism)


def brokers(release: str, vendor: str = "apache-kafka", **levels: int) -> Cluster:
    finalized = {name.replace("_", "."): level for name, level in levels.items()}
    return Cluster(release, default_levels(release) | finalized, vendor)


@pytest.mark.parametrize(
    ("who", "where", "breaks"),
    [
        (client("librdkafka", "2.6.0", {0: (0, 10)}, "SCRAM-SHA-256"), brokers("4.0.1"), True),
        (client("librdkafka", "2.6.0", {0: (0, 10)}, "SCRAM-SHA-256"), brokers("4.0.1", "confluent"), False),
        (client("librdkafka", "2.6.0", {0: (0, 10)}, "PLAIN"), brokers("4.0.1"), False),
        (client("librdkafka", "2.10.1", {0: (0, 10)}, "GSSAPI"), brokers("4.0.0"), True),
        (client("librdkafka", "2.10.1", {0: (0, 10)}, "GSSAPI"), brokers("4.0.1"), False),
        (client("kafka-clients", "0.10.2.0", {0: (0, 2)}), brokers("4.0.1"), True),  # KAFKA-18659
        (client("platformatic-kafka", "2.9.0", {24: (3, 5)}), brokers("4.0.1", transaction_version=0), True),
        (client("platformatic-kafka", "2.9.0", {24: (3, 5)}), brokers("4.0.1", transaction_version=1), False),
        (client("franz-go", "1.19.1", {24: (0, 5)}), brokers("4.0.1", transaction_version=0), True),
        (client("franz-go", "1.19.2", {24: (0, 5)}), brokers("4.0.1", transaction_version=0), False),
        (client("franz-go", "1.19.0", {3: (0, 13)}), brokers("3.8.1"), True),
        (client("kafka-clients", "4.0.0", {68: (0, 1)}), brokers("4.0.1", group_version=0), True),
        (client("kafka-clients", "4.0.0", {68: (0, 1)}), brokers("4.0.1"), False),
        (client("kafka-clients", "4.0.0", {68: (0, 1)}), brokers("4.0.1", "redpanda"), True),
    ],
)  # fmt: skip
def test_the_oracle_knows_what_real_clients_met(who, where, breaks):
    assert bool(harm(who, where)) == breaks
