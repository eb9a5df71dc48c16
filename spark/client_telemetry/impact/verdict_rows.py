"""Verdicts on the clients of an upgrade question. Clients with the same evidence are in one part (known_clients.py), of
which a task judges each distinct evidence once and writes the rows (verdict_files.py). A hundred thousand clients have
some thousand distinct evidences.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from client_telemetry import knowledge
from client_telemetry.compatibility import targets
from client_telemetry.impact.known_clients import clients_of
from client_telemetry.impact.nearby_releases import COUNTED_AS
from client_telemetry.impact.question import Question
from client_telemetry.impact.verdict_files import Report, Written, write
from client_telemetry.knowledge.releases import parse
from client_telemetry.knowledge.vocabulary import Verdict
from client_telemetry.tables.upgrade_verdicts import VERDICTS
from client_telemetry.workers.exchange import Exchange
from client_telemetry.workers.pieces import Pieces

_ROWS_OF_A_BATCH = 10_000


def write_verdicts(clients: Exchange, report: Report) -> Written:
    """Judge the clients, as returned by `parts_of`, and write their rows."""
    own = knowledge.in_use()

    def work(pieces: Iterator[object]) -> Pieces:
        knowledge.use(own)
        of_part = clients_of(pieces)
        if of_part is not None:
            yield 0, write(of_part.combine_chunks().to_batches(_ROWS_OF_A_BATCH), report)

    return Written.of_all(clients.worked(work).collected())


def compared_targets(written: Written, question: Question) -> list[dict[str, object]]:
    """upgrade_reports.targets: clients per release and how they are counted there, oldest release first."""
    compared = (question.to_release, *targets.nearby(question.from_release, question.to_release))
    return [
        {
            "to_release": release,
            **{name: written.counted_as[release, name] for name in COUNTED_AS},
            "works_again": written.works_again[release],
        }
        for release in sorted(compared, key=parse)
    ]


def verdict_counts(targets_: Sequence[Mapping[str, Any]], release: str) -> dict[str, int]:
    """Clients per verdict on one of the compared releases."""
    counts = next(row for row in targets_ if row["to_release"] == release)
    breaks = counts["breaks_at_once"] + counts["breaks_latent"]
    return {verdict: breaks if verdict == Verdict.BREAKS else counts[verdict] for verdict in VERDICTS}
