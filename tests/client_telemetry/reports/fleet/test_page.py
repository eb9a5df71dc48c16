"""The fleet page as a reader gets it."""

import json
import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest
from client_telemetry.reports.fleet.files import files
from client_telemetry.reports.fleet.page import CLIENTS_SHOWN, FILES, fleet_page

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "=cmd|' /C calc'!A0",
    "a\nb\u202ec",
    "{{ 7 * 7 }}",
    "L" * 300,
]


class Parts(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def hostile(build, day_rows) -> str:
    clients = [day_rows.client(text, text, text, principal=text, owner=text) for text in HOSTILE]
    return fleet_page(build(clients, [day_rows.instance([], client_software_name=HOSTILE[0])]))


def test_what_clients_send_is_text_and_never_markup(hostile):
    parts = Parts(hostile)
    assert sum(tag == "script" for tag, _ in parts.tags) == 1
    assert not [tag for tag, _ in parts.tags if tag in ("img", "iframe", "object", "link")]
    assert not [name for _, attrs in parts.tags for name in attrs if name.startswith("on") or name == "style"]
    assert "\u202e" not in hostile
    assert "a␊b[U+202E]c" in "".join(parts.texts)


def test_nothing_is_loaded_and_the_policy_says_so(hostile):
    assert set(re.findall(r'(?:src|href)="(?!#)([^"]*)', hostile)) == set(FILES)
    policy = next(a["content"] for t, a in Parts(hostile).tags if t == "meta" and "http-equiv" in a)
    assert policy.startswith("default-src 'none'; style-src 'sha256-")


def test_all_links_lead_somewhere_on_the_page(hostile):
    parts = Parts(hostile)
    ids = {attrs["id"] for _, attrs in parts.tags if "id" in attrs}
    links = {attrs["href"] for tag, attrs in parts.tags if tag == "a"}
    assert {link[1:] for link in links if link.startswith("#")} <= ids


def test_all_files_beside_the_page_are_linked(build):
    fleet = build()
    beside = files(fleet).keys() - {"index.html", "day.json", "quality.json"}
    linked = {attrs["href"] for tag, attrs in Parts(fleet_page(fleet)).tags if tag == "a"}
    assert beside == {link for link in linked if not link.startswith("#")}


def test_each_table_has_a_caption_and_each_row_the_client_of_its_page_in_airflow(hostile):
    parts = Parts(hostile)
    assert sum(tag == "table" for tag, _ in parts.tags) == sum(tag == "caption" for tag, _ in parts.tags)
    named = {tuple(json.loads(attrs["data-client"])) for _, attrs in parts.tags if "data-client" in attrs}
    assert named == {(text, text) for text in HOSTILE}


def test_every_part_is_there_on_an_empty_day(build):
    text = fleet_page(build([], [], [], []))
    assert "Neither 2026-11-20, the day before, nor 2026-11-14, a week before, was processed" in text
    for words in ("No client was seen.", "contain no request counts"):
        assert words in text


def test_a_day_without_checks_has_no_part_about_them(build):
    assert "quality" not in "".join(Parts(fleet_page(build(quality=()))).texts).partition("</style>")[2]
    assert 'href="#quality"' not in fleet_page(build(quality=()))
    assert "1 data-quality check passed." in fleet_page(build(quality=[_check(success=True)]))


def test_required_metrics_are_distinguished_from_standard_ones(build, day_rows):
    delivered = day_rows.instance(["org.apache.kafka.producer.connection.creation.total"])
    brokers = [day_rows.broker(subscriptions=[day_rows.subscription("*")])]
    words = " ".join("".join(Parts(fleet_page(build(instances=[delivered], brokers=brokers))).texts).split())
    assert "1 of 8 1 of 3" in words.replace("1 of 81 of 3", "1 of 8 1 of 3")
    assert "node.request.latency.avg (required)" in words
    assert "record.queue.time.avg," in words


def test_what_was_not_subscribed_as_far_as_is_known_is_not_called_missing(build, day_rows):
    def words(subscriptions):
        brokers = [day_rows.broker(subscriptions=subscriptions), day_rows.broker(2, subscriptions=None)]
        return " ".join("".join(Parts(fleet_page(build(brokers=brokers))).texts).split())

    for subscriptions in (None, [day_rows.subscription("*")]):
        assert "Not delivered, and not known whether it was asked for: all" in words(subscriptions)
        assert "Missing: all" not in words(subscriptions)


def test_sessions_that_ended_before_a_push_are_reported(build):
    words = "a subscription was requested and nothing was pushed"
    key = ("User:orders", "orders", "apache-kafka-java", "3.9.1")
    assert words in fleet_page(build(asked={key: 7}))
    assert words not in fleet_page(build())


def test_a_large_fleet_stays_a_page(build, day_rows):
    clients = [day_rows.client(f"client-{n}", version=f"3.{n % 300}.0") for n in range(CLIENTS_SHOWN + 500)]
    clients.append(day_rows.client("zzz", api_uses=[day_rows.use(0, 2)]))
    text = fleet_page(build(clients))
    assert len(text) < 1_000_000
    assert text.count("<tbody data-o=") == CLIENTS_SHOWN
    assert "zzz" in text  # what is in danger comes before the cut


def _check(**changes):
    return {
        "dt": None,
        "stage": "profile",
        "table_name": "client_connections",
        "expectation": "few_unnamed",
        "severity": "warning",
        "success": False,
        "observed_value": "0.529412",
        "rows": 50,
        "unexpected_count": None,
        "description": "clients without a software name, as a share",
        "result": None,
        **changes,
    }


def test_what_a_check_found_reads_as_words(build):
    rows = [_check(), _check(expectation="b", observed_value="257", rows=75416, unexpected_count=257)]
    rows.append(_check(expectation="c", observed_value="1", description="as many rows as the ledger counts"))
    words = "".join(Parts(fleet_page(build(quality=rows))).texts)
    assert "53 %" in words
    assert "0.529412" not in words
    assert "257 of 75,416 rows" in words
    assert "257; 257" not in words
    assert "(1)" in words


def test_the_numbers_in_sentences_are_those_of_the_rows(build, day_rows):
    clients = [day_rows.client(f"a-{n}", version="3.9.1", principal=f"User:{n}") for n in range(3)]
    clients += [day_rows.client("b", version="2.8.2", principal="User:b")]
    clients += [
        day_rows.client(None, "unknown", "unknown", principal=None, flags=["unidentified"], connections=7)
    ]
    hours = [day_rows.hour(hour, broker_id=broker_id) for hour in (5, 6) for broker_id in (1, 2)]
    brokers = [day_rows.broker(broker_id) for broker_id in (1, 2)]
    quality = [_check(), _check(expectation="b", success=True), _check(expectation="c")]
    words = " ".join(
        "".join(Parts(fleet_page(build(clients, (), hours, brokers, quality=quality))).texts).split()
    )
    for sentence in (
        "4 of 48 broker hours of 2 brokers seen completely.",
        "7 connections rejected before authentication, belonging to no client.",
        "2 of 3 data-quality checks failed.",
        "The longest bar is 3 applications.",
    ):
        assert sentence in words, sentence


def test_new_and_gone_clients_are_named(build, day_rows):
    before = day_rows.DAY - timedelta(days=1)
    gone = [day_rows.client(f"old-{n:03}", client_family=f"old-{n:03}") for n in range(300)]
    text = fleet_page(build([day_rows.client("fresh")], earlier={before: gone}))
    words = " ".join("".join(Parts(text).texts).split())
    assert "fresh" in words
    assert "old-000" in words
    assert "288 more" in words
