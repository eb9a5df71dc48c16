"""How far the knowledge of products agrees with what was read in the products' own repositories.

    python -m benchmarks.product_knowledge [--write docs/accuracy-products.md]

Three comparisons with benchmarks/products: the client ids that a product sets itself name it; the library inside is the
one that was read; the fix names the first release that works with brokers of 4.0, and the first with the SCRAM fix. And
for each release with a library that negotiates and whose version was read: whether that library version works with 4.0.0,
as the component's first working release says. Differences are listed; exit code 1 when there is one that is not explained.
"""

import argparse
import csv
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from client_telemetry.compatibility import ClientEvidence, judge
from client_telemetry.knowledge import apis, client_versions, products

FOLDER = Path(__file__).parent / "products"
DECLARED = {"kafka-clients": "apache-kafka-java", "librdkafka": "librdkafka", "franz-go": "kgo"}
_VERSION = re.compile(r"(?<![\d.])\d+(?:\.\d+)+(?![\d.])")


NO_RELEASE = ("replace ", "no release")
"""How a fix begins where nothing works."""
WORKS = ("safe", "degrades", "unsupported")
FAILS = ("breaks", "unsupported")
UNDECIDED = "insufficient_evidence"


@dataclass(frozen=True)
class Difference:
    component: str
    what: str
    read: str
    ours: str

    @property
    def explained(self) -> str:
        return EXPLAINED.get((self.component, self.what), "")


EXPLAINED = {
    (
        "Filebeat and other Beats (output.kafka, input kafka), Elastic Agent",
        "setting",
    ): "of the output, whose fix names it; the input has none",
    (
        "Jaeger ingester (v1)",
        "setting",
    ): "it does not help: 4.0.0 still refuses its JoinGroup v0",
    (
        "Filebeat and other Beats (output.kafka)",
        "first release",
    ): "the release of pull request 7025 was not read; ours is the first minor after it",
    (
        "Jaeger v2 (kafkareceiver, kafkaexporter)",
        "first release",
    ): "every release of Jaeger v2 works; the client id is the collector's, whose fix is named",
    (
        "goka",
        "first release",
    ): "1.1.11 has sarama 1.41.3; 1.1.14 is the first on IBM/sarama, which is maintained",
    (
        "Debezium",
        "first release",
    ): "what talks to the brokers is the kafka-clients of the Connect worker that runs it",
}


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def releases_in(text: str) -> tuple[str, ...]:
    """Releases of the product that a cell names: not those in brackets, which are of its library, nor after a `not`.

    >>> releases_in("4.22.0 (sarama 1.41.2), not 4.23.0 (back at 1.40.1), then 4.24.0 (1.42.1) and later")
    ('4.22.0', '4.24.0')
    """
    if text.startswith("all "):  # of those that were read: no first one is known
        return ()
    plain = re.sub(r"\([^()]*\)", "", text)
    plain = re.sub(r"\bnot \d+(?:\.\d+)+", "", plain)
    return tuple(dict.fromkeys(_VERSION.findall(plain)))


def of_components() -> Iterator[tuple[str, bool, Difference]]:
    """What is compared, whether it agrees, and the difference that it is otherwise."""
    for row in _rows("components.csv"):
        component, ours = row["component"], row["our_product"]
        if not ours:
            continue
        inside = row["libraries"].split("|")
        for client_id in filter(None, row["client_ids"].split("; ")):
            product = products.by_client_id(client_id)
            name = product.name if product else ""
            yield "client id", name == ours, Difference(component, "client id", client_id, name)
            libraries = product.library.split("|") if product and product.library else []
            agrees = not libraries or any(each in libraries for each in inside)
            yield (
                "library",
                agrees,
                Difference(component, "library", ", ".join(inside), ", ".join(libraries)),
            )
        refused = [apis.find(row["refused_api"]).key] if row["refused_api"] else []
        advice, on_scram = products.advice(ours, refused), products.advice_on_scram(ours)
        yield "fix named", bool(advice or on_scram), Difference(component, "fix named", ours, advice)
        for column, what, text in (
            ("first_release", "first release", advice),
            ("first_release_with_scram_fix", "SCRAM fix", on_scram),
        ):
            if read := releases_in(row[column]):
                agrees = any(each in _VERSION.findall(text) for each in read)
                yield what, agrees, Difference(component, what, row[column], text)
            elif row[column].startswith("none") and not row["client_ids"]:
                agrees = text.startswith(NO_RELEASE)
                yield "no release works", agrees, Difference(component, what, row[column], text)

        if settings := _SETTING.findall(row["setting"]):
            agrees = any(all(part in advice for part in each.strip("-").split(".")) for each in settings)
            yield "setting", agrees, Difference(component, "setting", row["setting"], advice)


_SETTING = re.compile(r"-*[\w.-]*[vV]ersion\w*")


def of_releases() -> Iterator[tuple[bool, Difference]]:
    """For each release whose library version was read: whether it works by ours, as the component's first release says."""
    first = {row["component"]: row["first_release"] for row in _rows("components.csv")}
    for row in _rows("releases.csv"):
        text = first[row["component"]]
        if not (boundaries := releases_in(text)) or not row["version_from"][:1].isdigit():
            continue
        works_from = client_versions.parse(min(boundaries, key=client_versions.parse))
        evidence = ClientEvidence(
            DECLARED[row["library"]], row["library_version"], security_protocol="PLAINTEXT"
        )
        verdict = judge(evidence, "3.9.1", "4.0.0")
        works = client_versions.parse(row["version_from"]) >= works_from
        # The first release that works may be the first that is supported.
        agrees = verdict.verdict in (WORKS if works else FAILS)
        what = f"{row['version_from']} with {row['library']} {row['library_version']}"
        difference = Difference(row["component"], what, text, verdict.verdict)
        yield agrees, difference


def report() -> tuple[str, list[Difference]]:
    counts: dict[str, list[int]] = {}
    differences = []
    for what, agrees, difference in of_components():
        count = counts.setdefault(what, [0, 0])
        count[0] += 1
        count[1] += agrees
        if not agrees:
            differences.append(difference)
    of_each = list(of_releases())
    decided = [each for each in of_each if each[1].ours != UNDECIDED]
    counts["releases whose library works"] = [len(decided), sum(agrees for agrees, _ in decided)]
    differences += [difference for agrees, difference in decided if not agrees]
    lines = ["# Products: the knowledge base and the products' repositories", "", *_INTRODUCTION]
    lines += ["| compared | number | agree |", "|---|---:|---:|"]
    lines += [f"| {what} | {number} | {agree} |" for what, (number, agree) in counts.items()]
    undecided = len(of_each) - len(decided)
    lines += ["", f"For {undecided} more releases, the library version alone does not decide.", ""]
    lines += ["## Differences", ""]
    if differences:
        lines += ["| component | what | read | ours | why |", "|---|---|---|---|---|"]
        lines += [
            f"| {d.component} | {d.what} | {d.read} | {d.ours or '–'} | {d.explained} |".replace("->", "→")
            for d in differences
        ]
    else:
        lines += ["None."]
    unnamed = [
        f"| {row['component']} | {row['our_product']} | {_fix_of(row['our_product'])} |"
        for row in _rows("components.csv")
        if not row["client_ids"]
    ]
    lines += [
        "",
        "## Named by people only",
        "",
        *_WITHOUT,
        "| component | product | fix |",
        "|---|---|---|",
        *unnamed,
        "",
    ]
    return "\n".join(lines), [each for each in differences if not each.explained]


def _fix_of(product: str) -> str:
    found = products.advices().get(product, ())
    on_scram = products.advice_on_scram(product)
    fix = "; ".join(dict.fromkeys(each.text for each in found if each.text != on_scram))
    return "; with SCRAM: ".join(filter(None, (fix, on_scram))) if fix else f"with SCRAM: {on_scram}"


_INTRODUCTION = (
    "Written by `python -m benchmarks.product_knowledge --write docs/accuracy-products.md`. `benchmarks/products` has what was",
    "read in the repositories of 95 product components: the library inside, the client ids that they set, the first release",
    "that works with 4.0 brokers and the first with librdkafka's SCRAM fix. It is compared with the",
    "[knowledge base](knowledge-base.md): `product_client_ids.csv`, `products.csv`, and for releases with a library that negotiates,",
    "the verdict on that library version.",
    "",
    "**Not covered**: whether the products behave as their repositories say: those that were run are in",
    "[accuracy-programs.md](accuracy-programs.md). Products without a public repository, settings that users change (their own",
    "client id, a pinned protocol version), and releases newer than those that were read.",
    "",
)
_WITHOUT = (
    "These components set no client id, or one that many others use (`kafka`, `rdkafka`, `consumer-<group>-1`), so nothing that a",
    "broker sees distinguishes them from other programs with the same library. Their fix is reported if a person says what a client",
    "is: with a client id in [a folder of your own](knowledge-base.md#your-own-knowledge), or in the column `product` of the list for the",
    "compatibility command.",
    "",
)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.product_knowledge", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the whole report there as Markdown")
    args = parser.parse_args()
    text, missed = report()
    if args.write:
        args.write.write_text(text, encoding="utf-8")
    print(text)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
