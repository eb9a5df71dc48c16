"""`make report FOLLOW=…`: a report that is made again while the brokers write on."""

import json
from pathlib import Path

import pytest
from client_telemetry.cli import follow

DAY = "2026-11-21"


def _client(client_id, first, last, so_far=True):
    return {
        "client_id": client_id,
        "safe_so_far": so_far,
        "first_seen_at": f"{DAY}T{first}:00Z",
        "last_seen_at": f"{DAY}T{last}:00Z",
    }


def _report(start, end, *clients):
    watched = [{"start": f"{DAY}T{start}:00Z", "end": f"{DAY}T{end}:00Z"}]
    applications = [
        {"name": client["client_id"], "safe_so_far": client["safe_so_far"], "clients": [place]}
        for place, client in enumerate(clients)
    ]
    return {
        "sentence": "answer",
        "coverage": {"watched": watched},
        "clients": clients,
        "applications": applications,
    }


@pytest.mark.parametrize(
    ("case", "report", "said"),
    [
        (
            "nobody is safe so far",
            _report("06:00", "06:10", _client("a", "06:00", "06:10", False)),
            "Every safe application",
        ),
        (
            "shorter than an idle connection lives",
            _report("06:00", "06:05", _client("a", "06:00", "06:05")),
            "The one seen most rarely, a, has to be watched for at least another 4 minutes",
        ),
        (
            "the one with the longest silence decides",
            _report("06:00", "07:00", _client("a", "06:00", "07:00"), _client("b", "06:05", "06:20")),
            "The one seen most rarely, b, has to be watched for at least another 60 minutes",
        ),
        (
            "a client id that commands a terminal",
            _report("06:00", "06:05", _client("\x1b[2Ja", "06:00", "06:05")),
            "most rarely, ␛[2Ja, has",
        ),
        (
            "pauses lie between first and last request",
            _report("06:00", "07:00", _client("a", "06:01", "06:59")),
            "keep watching until their pauses have occurred 3 times",
        ),
    ],
)
def test_how_long_the_rarest_client_still_has_to_be_watched(case, report, said):
    assert said in follow.still_to_watch(report), case


def test_nothing_is_said_of_watching_longer_if_no_application_was_seen():
    assert follow.still_to_watch(_report("06:00", "06:10")) == ""


def test_the_report_is_made_again_only_when_the_logs_have_grown(tmp_path, monkeypatch):
    log = tmp_path / "kafka-request.log"
    log.write_text("one")
    made, said, sleeps = [], [], iter(["same", "grown", "end"])

    def run(command):
        made.append(command)
        out = Path(command[-2].removeprefix("--out="))
        folder = out / "published" / "upgrade_impact" / "c" / "r"
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(
            json.dumps(_report("06:00", "06:10") | {"sentence": f"answer {len(made)}"})
        )
        return 0

    def sleep(seconds):
        assert seconds == 300
        match next(sleeps):
            case "grown":
                log.write_text("one two")
            case "end":
                raise KeyboardInterrupt

    monkeypatch.setattr(follow, "_run", run)
    monkeypatch.setattr(follow.time, "sleep", sleep)
    with pytest.raises(KeyboardInterrupt):
        follow.follow(["--to=4.0.1"], [str(log)], tmp_path / "out", 5, said.append)
    assert [text.splitlines()[0][11:] for text in said] == ["answer 1", "answer 2"]
    assert [entry.name for entry in (tmp_path / "out").iterdir()] == ["published"]
