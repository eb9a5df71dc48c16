"""How values read in a sentence, the same on the page and in the ticket. No markup, no counting."""

import re
from collections.abc import Iterable
from datetime import date

from client_telemetry.console.counted import counted, first_of
from client_telemetry.knowledge import kip511
from client_telemetry.knowledge.vocabulary import KnownBy, When
from client_telemetry.reports.outcomes import OUTCOMES, SAFE_SO_FAR, outcome
from client_telemetry.reports.upgrade.answer import at_trigger
from client_telemetry.reports.upgrade.model import (
    CONFIDENCE_MEANINGS,
    Application,
    Assessed,
    CandidateLibrary,
    ClientVerdict,
    Finding,
    TargetDifference,
)
from client_telemetry.reports.wording import brokers, period

SOFTWARE_NAMED = 3


def during_the_change(is_rollback: bool) -> str:
    """What the time is called in which brokers run both releases."""
    return f"During the rolling {'rollback' if is_rollback else 'upgrade'}"


def plan(planned_for: date | None, asked_by: str | None) -> str:
    """When the brokers are to change, and whom owners answer to.

    >>> plan(date(2026, 12, 5), "the platform team"), plan(None, None)
    ('Planned for 2026-12-05; answers to the platform team', 'Upgrade date not set')
    """
    when = f"Planned for {planned_for}" if planned_for else "Upgrade date not set"
    return f"{when}; answers to {asked_by}" if asked_by else when


def software(each: ClientVerdict | Application) -> str:
    """Name and version as registered, for display; Kafka's `unknown` reads as not declared. Of an application the first
    few that its clients registered."""
    if isinstance(each, Application):
        texts = [text for text in dict.fromkeys(map(software, each.clients)) if text != kip511.NO_SOFTWARE]
        return first_of(texts, SOFTWARE_NAMED) or kip511.NO_SOFTWARE
    return kip511.software(each.client_software_name, each.client_software_version)


def verdict_words(client: Assessed) -> str:
    """The verdict as a label, on the release that was asked about."""
    return SAFE_SO_FAR if client.safe_so_far else OUTCOMES[client.outcome]


def difference_words(difference: TargetDifference) -> tuple[str, str]:
    """The verdicts there, and on the release that was asked about."""
    of_safe = OUTCOMES if difference.well_observed else {**OUTCOMES, "safe": SAFE_SO_FAR}
    return of_safe[difference.there], of_safe[difference.asked]


def happens(client: Assessed) -> str:
    """The verdict in words, with the trigger of a latent one: `breaks at the next offset reset`."""
    words = verdict_words(client)
    if client.when != When.LATENT:
        return words
    words = words.removesuffix(" later")
    return f"{words} {at_trigger(client.trigger, 'the') or 'later'}"


def would_happen(finding: Finding) -> str:
    """What a finding concludes, in words; with its condition where that is not known to be met."""
    if finding.condition and finding.condition_met == "no":
        return "does not apply"
    words = OUTCOMES[finding_outcome(finding)]
    return f"{words}, if" if finding.condition and finding.condition_met != "yes" else words


def finding_outcome(finding: Finding) -> str:
    """A key of OUTCOMES."""
    return outcome(finding.verdict, finding.when)


def without_brackets(fix: str) -> str:
    """A change without what it says in brackets at its end: changes that differ there only are one kind of work.

    >>> without_brackets("upgrade the library (needs Fetch v4 or later)")
    'upgrade the library'
    """
    return re.sub(r" \([^()]*\)$", "", fix)


def sentence_case(text: str) -> str:
    """A change as it begins a sentence or a heading: names of libraries stay as they are written.

    >>> sentence_case("upgrade kafka-clients"), sentence_case("kafka-python 2.0 or later")
    ('Upgrade kafka-clients', 'kafka-python 2.0 or later')
    >>> sentence_case("works, but Kafka no longer supports this client version")
    'Works, but Kafka no longer supports this client version'
    """
    first = text.split(" ")[0].rstrip(",")
    return text[:1].upper() + text[1:] if first.isalpha() and first.islower() else text


CANDIDATES_ASKED = 3
"""Candidates that the question to an owner names."""
PINS = {
    "sarama": "sarama Version",
    "kafka-python": "kafka-python api_version",
    "aiokafka": "aiokafka api_version",
}
"""The setting by which an application of a library keeps to old request versions."""


def identified(application: Application) -> str | None:
    """What its first client was identified as; of an unidentified one the likeliest candidates."""
    client = application.clients[0]
    if client.is_unidentified and client.candidates:
        return f"possibly {either(each.library for each in client.candidates[:CANDIDATES_ASKED])}"
    return client.identified_as


def owner_question(candidates: Iterable[CandidateLibrary]) -> str:
    """What to ask the owner of a client whose library is not identified; one line answers it. Client-supplied text is not in
    it: it stands where the client is named."""
    likely = [each.library for each in candidates][:CANDIDATES_ASKED]
    pins = [words for library, words in PINS.items() if library in likely] or list(PINS.values())[:2]
    which = "Which Kafka client library does it use, in which version?"
    if len(likely) == 1:
        which = f"Is its Kafka client library {likely[0]}, by its requests: yes, or which other? In which version?"
    elif likely:
        which = (
            f"Is its Kafka client library {either(likely)}: which of them, or which other, in which version?"
        )
    return f"{which} Does its configuration pin a protocol version ({either(pins)}): yes or no?"


def either(names: Iterable[str]) -> str:
    """
    >>> either(["a", "b", "c"])
    'a, b or c'
    """
    words = list(names)
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def how_known(each: Assessed, known_by: Iterable[str]) -> str:
    """Why a verdict can be relied on. `known_by`: of the report."""
    words = ", ".join(word.replace("_", " ") if word != KnownBy.RULE else "by a rule" for word in known_by)
    return f"{words}; {each.confidence}: {CONFIDENCE_MEANINGS[each.confidence]}"


def further_missing(client: Assessed) -> tuple[str, ...]:
    """What is not known of a client, without what its explanation says already."""
    return tuple(sentence for sentence in client.missing if sentence not in client.explanation)


def seen(client: Assessed) -> str:
    """What was seen of a client: amount, brokers, time."""
    amount = f"{counted(client.requests, 'request')} on {counted(client.connections, 'connection')}"
    time = period(client.first_seen_at, client.last_seen_at)
    return ", ".join(part for part in (amount, brokers(client.broker_ids), time) if part)


def where_and_when(client: Assessed) -> str:
    """Brokers that saw a client, and when."""
    parts = (brokers(client.broker_ids), period(client.first_seen_at, client.last_seen_at))
    return " · ".join(filter(None, parts))


def finding_seen(finding: Finding) -> str:
    """What was seen of the requests that a finding is about; empty where it rests on no request."""
    if finding.requests is None:
        return ""
    time = period(finding.first_seen_at, finding.last_seen_at)
    parts = (counted(finding.requests, "request"), brokers(finding.broker_ids), time)
    return ", ".join(part for part in parts if part)


def condition(finding: Finding) -> str:
    """The condition of a finding and whether it is met."""
    if not finding.condition:
        return ""
    met = {"yes": "this is so", "no": "this is not so"}
    return f"{finding.condition}; {met.get(finding.condition_met or '', 'not known whether this is so')}"
