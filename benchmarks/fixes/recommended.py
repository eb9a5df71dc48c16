"""What the knowledge base recommends: each fixed_in of known_issues.csv and each advice of library_advice.csv."""

from client_telemetry.knowledge import advice, known_issues, rows


def recommendations() -> frozenset[str]:
    """As they are written: `librdkafka 1.8.0`, `kafkajs: upgrade kafkajs to 1.8.0 or later`."""
    fixed_in = {issue.fixed_in for issue in known_issues.known() if issue.fixed_in}
    advised = {f"{library}: {text}" for _, (library, _, _, text, _) in rows(advice.FILE, advice.COLUMNS)}
    return frozenset(fixed_in | advised)
