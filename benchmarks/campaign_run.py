"""What the daily run of a planned upgrade costs beside its question, after months of daily reports.

    python -m benchmarks.campaign_run [--clients 5000] [--days 30]

asks one question about a cluster (impact and publish), sets that many daily reports beside it, and runs `upgrade_campaign` for all days
but the last, for the last one, and again after somebody acknowledged something. It prints the CPU seconds of each, and what the question, the campaign's run
included, costs as a multiple of the question alone.
"""

import argparse
import datetime as dt
import hashlib
import json
import tempfile
from pathlib import Path
from typing import Final

from client_telemetry.campaign.report_files import ANSWER, DIGEST, SUMMARY

from benchmarks.impact import CLUSTER, DAY, arguments, job, make_lake, report_of

TARGET: Final = "4.0.0"
CAMPAIGN: Final = f"""campaigns:
  - name: benchmark
    clusters: [{CLUSTER}]
    to: {TARGET}
    date: 2028-01-01
    contact: kafka@example.com
"""
STATEMENT: Final = """\
    statements:
      - {{kind: acknowledge, owner: team-7, by: ann, on: {day}}}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=5000)
    parser.add_argument("--days", type=int, default=30)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        lake, published = str(root / "lake"), root / "published"
        make_lake(lake, args.clients)
        impact, _ = job("impact", *arguments(lake, TARGET))
        publish, _ = job("publish", *report_of(lake), "--publish", str(published))
        (report,) = (file.parent for file in published.glob(f"upgrade_impact/*/*/{ANSWER}"))
        answered = report.rename(root / "report")
        (root / "campaigns.yaml").write_text(CAMPAIGN)
        given = [
            *("--cluster", CLUSTER, "--cluster-name", CLUSTER, "--run-id", "benchmark", "--lake", lake),
            *("--publish", str(published), "--campaigns", str(root / "campaigns.yaml")),
            *("--campaign", "benchmark", "--day"),
        ]
        for number in range(args.days - 1):
            day_of(answered, report.parent, number)
        first, _ = job("upgrade_campaign", *given, str(DAY + dt.timedelta(days=args.days - 2)))
        day_of(answered, report.parent, args.days - 1)
        day = DAY + dt.timedelta(days=args.days - 1)
        later, _ = job("upgrade_campaign", *given, str(day))
        (root / "campaigns.yaml").write_text(CAMPAIGN + STATEMENT.format(day=day))
        changed, _ = job("upgrade_campaign", *given, str(day))
    question = impact.cpu + publish.cpu
    print(f"question about {args.clients:,} clients: {question:.2f} CPU s")
    print(f"campaign, {args.days - 1} daily reports at once: {first.cpu:.2f} CPU s")
    for what, cost in (("no state changes", later.cpu), ("states change", changed.cpu)):
        times = (question + cost) / question
        print(
            f"campaign, a day on which {what}: {cost:.2f} CPU s, with its question {times:.2f} times the question"
        )


def day_of(report: Path, reports: Path, number: int) -> None:
    """The same report, of a later day, below `reports`: the files that a campaign reads."""
    place = reports / f"day-{number:03}"
    place.mkdir()
    answer = json.loads((report / ANSWER).read_text())
    answer["question"]["last_dt"] = str(DAY + dt.timedelta(days=number))
    answer["question"]["report_id"] = place.name
    text = json.dumps(answer, indent=1)
    summary = json.loads((report / SUMMARY).read_text())
    (place / ANSWER).write_text(text)
    (place / SUMMARY).write_text(json.dumps(summary | {DIGEST: hashlib.sha256(text.encode()).hexdigest()}))
    (place / "report.json").write_text("{}")


if __name__ == "__main__":
    main()
