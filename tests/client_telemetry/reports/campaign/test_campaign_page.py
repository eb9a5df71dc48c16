import json
import re
from dataclasses import replace

import pytest
from client_telemetry.campaign.corrections import NotAHistory
from client_telemetry.campaign.gate import Knowledge, decide
from client_telemetry.campaign.plan import Statement, Target
from client_telemetry.campaign.states import history
from client_telemetry.reports.campaign.messages import messages
from client_telemetry.reports.campaign.publish import before, publish
from client_telemetry.reports.campaign.view import view
from client_telemetry.reports.owners.message import LONGEST

from tests.client_telemetry.campaign.made_answers import answer, application, client, day, plan

HOSTILE = '<img src=x onerror="alert(1)">\u202e|`'


def shown(campaign, answers, until, published=None):
    reports = [each.facts for each in answers]
    changes = history(campaign, answers, day(until))
    decision = decide(campaign, changes, reports, Knowledge("k1", day(-5)), day(until))
    return view(campaign, changes, reports, decision, day(until), published)


def of_day(number, **verdicts):
    return answer(
        number, *(application(name, client(verdict, number, name)) for name, verdict in verdicts.items())
    )


def some_days():
    for number in range(15):
        yield of_day(number, **{f"a{i}": "safe" if 2 * i < number else "breaks" for i in range(10)})


def test_the_decision_line_says_what_is_left_and_the_pace():
    found = shown(plan(date=day(20)), list(some_days()), 14)
    assert found.sentence == (
        "Not ready: 3 applications of 1 owner left, 3 fixed since 2026-11-08; "
        "at this pace none (0 to 2) are left on 2026-11-21."
    )
    assert found.counts["open"] == 3
    assert shown(plan(), [of_day(0, a="safe")], 1).sentence == "Ready: no application is left."
    assert shown(plan(), [], 1).sentence == "Cannot tell yet: no report of east for 4.0.1."


def test_owners_with_a_passed_deadline_come_first():
    answers = [
        answer(
            0,
            application("a", client("breaks", 0, "a"), owner="shop"),
            application("b", client("breaks", 0, "b"), owner="billing"),
            application("c", client("breaks", 0, "c"), owner=None),
        )
    ]
    found = shown(plan(deadlines={"billing": day(2)}), answers, 3)
    assert (found.owners[0].owner, found.owners[0].is_late) == ("billing", True)
    assert "3 applications of 2 owners (1 without an owner) left" in found.sentence


def test_an_application_on_several_clusters_is_one_row_and_a_proof_elsewhere_makes_nothing_safe():
    campaign = plan(clusters=("east", "west"))
    answers = [of_day(0, a="breaks"), of_day(1, a="safe")]
    answers += [answer(n, *of_day(n, a="breaks").applications, cluster="west") for n in (0, 1)]
    [row] = shown(campaign, answers, 1).applications
    assert (row.state, row.good_on, row.deciding.cluster) == ("open", ("east",), "west")


def test_files_agree_and_nothing_of_a_client_is_markup(tmp_path):
    campaign = plan(Statement("waive", Target(application="w"), HOSTILE, day(1), day(9), HOSTILE))
    answers = [
        answer(
            0,
            application(HOSTILE, client("breaks", 0, HOSTILE), owner=HOSTILE),
            application("w", client("breaks", 0, "w")),
        )
    ]
    folder = publish(shown(campaign, answers, 1), tmp_path)
    texts = {file.name: file.read_text(encoding="utf-8") for file in folder.rglob("*") if file.is_file()}
    assert set(texts) == {
        "message.md",
        "message.txt",
        "message.html",
        "index.html",
        "campaign.json",
        "campaign.md",
        "states.csv",
        "gate.json",
        "summary.json",
        "metrics.prom",
    }
    assert "<img" not in texts["index.html"]
    assert "\u202e" not in texts["index.html"] + texts["campaign.md"] + texts["states.csv"]
    document = json.loads(texts["campaign.json"])
    assert document["counts"]["open"] == document["counts"]["waived"] == 1
    assert document["gate"] == json.loads(texts["gate.json"])
    summary = json.loads(texts["summary.json"])
    assert (summary["sentence"], summary["left"], summary["asked_at"]) == (
        document["sentence"],
        1,
        "2026-11-02T03:00:00.000000Z",
    )
    assert document["sentence"] in texts["campaign.md"].replace("\\", "")


def test_metrics_are_bounded_and_well_formed():
    many = answer(
        0, *(application(f"a{i}", client("breaks", 0, f"a{i}"), owner=f'o{i}\\"\n') for i in range(900))
    )
    from client_telemetry.reports.campaign.document import open_metrics

    lines = open_metrics(shown(plan(), [many], 0)).splitlines()
    assert lines[-1] == "# EOF"
    samples = [line for line in lines if not line.startswith("#")]
    assert len(samples) < 2000
    pattern = re.compile(
        r'[a-z_]+\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\} -?[0-9.]+'
    )
    assert [line for line in samples if not pattern.fullmatch(line)] == []
    assert sum(float(line.rpartition(" ")[2]) for line in samples if "owner_applications{" in line) == 900


def test_a_history_is_read_back_and_its_corrections_stay_on_the_page(tmp_path):
    campaign = plan(Statement("waive", Target(application="w"), "bob", day(1), day(9), "retired"))
    first = [of_day(0, w="breaks", a="breaks"), of_day(1, w="breaks", a="safe")]
    publish(shown(campaign, first, 1), tmp_path)
    published = before(campaign.name, tmp_path)
    assert published.changes == tuple(history(campaign, first, day(1)))
    again = [*first, answer(1, *of_day(1, w="breaks", a="breaks").applications, version=3)]
    folder = publish(shown(campaign, again, 2, published), tmp_path)
    for name in ("index.html", "campaign.md"):
        assert "Corrected" in (folder / name).read_text()
    [correction] = before(campaign.name, tmp_path).corrections
    assert (correction.application, correction.was, correction.now) == ("a", "fixed", "")
    (folder / "campaign.json").write_text("{}")
    with pytest.raises(NotAHistory, match=r"campaign\.json: not the campaign\.json of a campaign"):
        before(campaign.name, tmp_path)


@pytest.mark.parametrize("number", [1, 4, 40, 400])
def test_a_message_contains_the_work_and_is_short(number):
    names = [f"application-{i}-of-some-team" for i in range(number)]
    answers = [answer(0, *(application(name, client("breaks", 0, name)) for name in names))]
    text, plain, html = messages(shown(plan(deadlines={"shop": day(30)}), answers, 1)).values()
    assert len(text) <= LONGEST and len(plain) <= LONGEST
    breaks = f"{number} applications of shop break" if number > 1 else "1 application of shop breaks"
    subject = f"By 2026-12-01: {breaks} on Kafka 4.0.1 (cluster east)"
    assert text.splitlines()[0] == plain.splitlines()[0] == subject
    assert "`application-0-of-some-team`" in text and "<code>application-0-of-some-team</code>" in html
    assert all("Upgrade it" in form and "(east)" in form for form in (text, plain, html))
    assert ("more (east)" in text) == (number >= 40)


def test_a_message_asks_about_silent_and_unknown_applications():
    answers = [
        answer(
            0,
            application("q", client("breaks", 0, "q")),
            application("u", client("insufficient_evidence", 0, "u")),
        ),
        answer(1, application("u", client("insufficient_evidence", 1, "u"))),
    ]
    text = messages(shown(plan(), answers, 1))["owners/shop/message.md"]
    assert "is it retired?" in text
    assert "Not known whether it breaks" in text


def test_a_message_counts_what_is_down_already():
    failing = replace(client("breaks", 0, "d"), already_failing=True)
    answers = [
        answer(0, application("d", failing), application("later", client("breaks", 0, "later"))),
    ]
    text = messages(shown(plan(), answers, 0))["owners/shop/message.txt"]
    assert text.splitlines()[0].endswith(
        ": 2 applications of shop break on Kafka 4.0.1 (cluster east), 1 already down"
    )
    assert "1 already down. Upgrade it" in text
