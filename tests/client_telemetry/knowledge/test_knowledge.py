import re
from itertools import product

import pytest
from client_telemetry.compatibility import cluster_notes, fingerprints, mixed_window
from client_telemetry.knowledge import (
    DamagedKnowledge,
    advice,
    apis,
    broker_classes,
    broker_configuration,
    broker_metrics,
    client_ranges,
    edits,
    features,
    known_issues,
    products,
    read_releases,
    releases,
    removed_settings,
    roles,
    rows,
    served,
    software,
    telemetry_metrics,
    whole,
)

FILES = [
    advice,
    apis,
    broker_classes,
    broker_configuration,
    broker_metrics,
    client_ranges,
    fingerprints,
    known_issues,
    releases,
    removed_settings,
    roles,
    served,
    software,
    telemetry_metrics,
]


@pytest.mark.parametrize("module", FILES)
def test_every_row_has_a_source(module):
    source = module.COLUMNS.index("source")
    assert all(cells[source] for _, cells in rows(module.FILE, module.COLUMNS))


def test_columns_are_those_of_the_file():
    with pytest.raises(
        DamagedKnowledge, match=r"releases\.csv line 1: columns are release,committed_on,source"
    ):
        rows(releases.FILE, ("release",))


def test_a_number_is_a_number():
    with pytest.raises(DamagedKnowledge, match=r"a\.csv line 3: min '-1' is not a whole number"):
        whole("a.csv", 3, "min", "-1")


@pytest.mark.parametrize(
    ("module", "load", "column", "value", "says"),
    [
        (releases, releases.known, "source", "", "no source"),
        (releases, releases.known, "release", "4.x", "'4.x' is not a Kafka release"),
        (
            broker_configuration,
            broker_configuration._rows,
            "release_from",
            "4.9.9",
            "is not in broker_configuration_releases.csv",
        ),
        (
            broker_configuration,
            broker_configuration._rows,
            "release_from",
            "4.0",
            "is not in broker_configuration_releases.csv",
        ),
        (broker_configuration, broker_configuration._rows, "scope", "client", "is not broker or topic"),
        (broker_configuration, broker_configuration._rows, "valid_range", "1-10", "is not like [1,...,10]"),
        (broker_configuration, broker_configuration._rows, "internal", "no", "neither empty nor yes"),
        (apis, apis.by_key, "api_key", "x", "not a whole number"),
        (apis, apis.by_key, "used_by", "nobody", "is none of"),
        (apis, apis.by_key, "purpose", "", "purpose and source are required"),
        (served, served._apis_by_release, "release", "9.9.9", "is not in releases.csv"),
        (served, served._apis_by_release, "api_name", "Prodce", "is not in apis.csv"),
        (served, served._apis_by_release, "served_min", "99", "is not a range"),
        (served, served._apis_by_release, "advertised_max", "99", "is not a range"),
        (client_ranges, client_ranges._ranges_by_library, "api_name", "Prodce", "is not in apis.csv"),
        (client_ranges, client_ranges._ranges_by_library, "min_version", "99", "is above max_version"),
        (client_ranges, client_ranges._ranges_by_library, "version_from", "99.0", "is above version_to"),
        (client_ranges, client_ranges._ranges_by_library, "version_to", "4.3.1", "overlaps another row"),
        (client_ranges, client_ranges._ranges_by_library, "confidence", "some", "confidence is"),
        (software, software.known, "version_pattern", "(", "version_pattern"),
        (software, software.known, "version_pattern", ".*", "no group named library"),
        (software, software.known, "version_decides", "maybe", "version_decides is yes or no"),
        (roles, roles.needs, "role", "bystander", "is none of"),
        (roles, roles.needs, "trigger", "thunder", "latent needs a trigger"),
        (known_issues, known_issues.known, "library", "nothing", "is not in client_api_versions.csv"),
        (known_issues, known_issues.known, "broker_from", "4.0", "not an exact release"),
        (known_issues, known_issues.known, "broker_from", "4.9.9", "unknown Kafka release 4.9.9"),
        (known_issues, known_issues.known, "verdict", "safe", "is none of"),
        (known_issues, known_issues.known, "trigger", "", "a latent issue has a trigger"),
        (known_issues, known_issues.known, "roles", "bystander", "roles: bystander is none of"),
        (known_issues, known_issues.known, "api_key", "999", "is not in apis.csv"),
        (known_issues, known_issues.known, "condition_test", "luck", "go together"),
        (features, features.supported, "default_level", "99", "a range with its default"),
        (known_issues, known_issues.known, "fixed_in", "", "are required"),
        (known_issues, known_issues.known, "learned_from_runs", "", "is none of"),
        (client_ranges, client_ranges._ranges_by_library, "before_runs", "0", "before_runs is a range"),
        (fingerprints, fingerprints._default_ids, "library", "nothing", "nothing is known of library"),
        (fingerprints, fingerprints._default_ids, "client_id_pattern", "(", "client_id_pattern"),
        (advice, advice._advices_by_library, "apis", "Fech", "no API 'Fech'"),
        (advice, advice._advices_by_library, "where_served", "JoinGroup:x", "invalid literal"),
    ],
)
def test_damage_is_refused_with_its_line(damaged, module, load, column, value, says):
    damaged(module, 0, column, value)
    with pytest.raises(DamagedKnowledge, match=r"\.csv line \d+: ") as refused:
        load()
    assert says in str(refused.value)


def test_a_condition_on_a_feature_that_no_release_of_the_issue_has_is_refused(damaged):
    ids = [cells[0] for _, cells in rows(known_issues.FILE, known_issues.COLUMNS)]
    before_features = ids.index("librdkafka_transactions_per_group")
    damaged(known_issues, before_features, "condition_test", "feature transaction.version < 1")
    with pytest.raises(DamagedKnowledge, match="no release of broker_from to broker_to has the feature"):
        known_issues.known()


@pytest.mark.parametrize(
    ("module", "load"),
    [
        (releases, releases.known),
        (apis, apis.by_key),
        (served, served._apis_by_release),
        (client_ranges, client_ranges._ranges_by_library),
        (software, software.known),
        (roles, roles.needs),
        (known_issues, known_issues.known),
    ],
)
def test_a_repeated_row_is_refused(damaged, module, load):
    damaged(module, 0, "", "", repeat=True)
    with pytest.raises(DamagedKnowledge, match=r"line 9999: .*(twice|already in line|overlaps)"):
        load()


LOADED = (
    (advice, advice._advices_by_library),
    (apis, apis.by_key),
    (broker_classes, broker_classes.ever),
    (broker_configuration, lambda: broker_configuration.ever("broker")),
    (broker_metrics, broker_metrics.check),
    (client_ranges, client_ranges._ranges_by_library),
    (cluster_notes, cluster_notes.known),
    (edits, edits._phrases),
    (features, features.supported),
    (fingerprints, fingerprints._default_ids),
    (known_issues, known_issues.known),
    (mixed_window, mixed_window.known),
    (products, products.advices),
    (releases, releases.known),
    (removed_settings, removed_settings.known),
    (roles, roles.needs),
    (served, served._apis_by_release),
    (software, software.known),
)
OTHER_FILES = (
    (read_releases, broker_metrics.RELEASES_FILE, broker_metrics.RELEASES_COLUMNS, lambda: read_releases.listed(broker_metrics.RELEASES_FILE)),
    (read_releases, broker_configuration.RELEASES_FILE, broker_configuration.RELEASES_COLUMNS, lambda: read_releases.listed(broker_configuration.RELEASES_FILE)),
    (client_ranges, client_ranges.UNNAMED_FILE, client_ranges.COLUMNS, lambda: client_ranges.read(client_ranges.UNNAMED_FILE)),
    (features, features.APIS_FILE, features.APIS_COLUMNS, features._gates),
    (products, products.IDS_FILE, products.IDS_COLUMNS, lambda: products.by_client_id("x")),
    (software, software.ALIASES_FILE, software.ALIASES_COLUMNS, software.check),
    (releases, releases.PLATFORM_FILE, releases.PLATFORM_COLUMNS, software.check),
    (software, software.BINDINGS_FILE, software.BINDINGS_COLUMNS, software.check),
)  # fmt: skip
"""Of modules with several."""
SHORT = ("", "?", "yes", "1", "4.0.0")


def test_what_is_refused_of_each_column(damaged, same_as_kept):
    """What loading says of a cell that is empty or something else, in the first two rows, which stay what they are when
    somebody appends one; nothing of what it takes."""
    found = []
    for module, file, columns, load in (
        *((module, module.FILE, module.COLUMNS, load) for module, load in LOADED),
        *OTHER_FILES,
    ):
        found.append(f"# {file}")
        for column in columns:
            refused: dict[str, list[str]] = {}
            rows = (0,) if file == software.ALIASES_FILE else (0, 1)
            for row, value in product(rows, SHORT[:2] if module in (served, client_ranges) else SHORT):
                damaged(module, row, column, value, of=file)
                try:
                    load()
                except ValueError as error:
                    says = getattr(error, "reason", f"{type(error).__name__}: {error}")
                    refused.setdefault(says, []).append(f"{'second' if row else 'first'} {value!r}")
            found += [f"{column}, {', '.join(cells)}: {says}" for says, cells in refused.items()]
    same_as_kept("compatibility", {"damaged_knowledge.txt": "\n".join(found) + "\n"})


def test_a_gate_is_of_a_level_that_its_feature_has_and_of_versions_in_order(damaged):
    for column, value, says in (
        ("level", "0", "transaction.version 0 is not a level above the lowest of 4.0.0"),
        ("level", "3", "transaction.version 3 is not a level above the lowest of 4.0.0"),
        ("feature", "luck", "luck 1 is not a level above the lowest of 4.0.0"),
        ("min_version", "6", "versions are a range"),
        ("source", "", "a source is required"),
        ("api_name", "Fetch", "api 24 Fetch is not in apis.csv"),
    ):
        damaged(features, 0, column, value, of=features.APIS_FILE)
        with pytest.raises(DamagedKnowledge, match=says) as refused:
            features._gates()
        assert (refused.value.file, refused.value.line) == (features.APIS_FILE, 2)
    damaged(features, 0, "min_version", "5", of=features.APIS_FILE)
    assert features._gates()["4.0.0"][0].min_version == 5, "a range of one version is one"


@pytest.mark.parametrize("product", products.advices())
def test_advice_names_what_it_is_about(product):
    """A report groups changes by their text alone: one about 'it' would be that of another product too."""
    for each in products.advices()[product]:
        assert not re.search(
            r"^\w+ it\b|^none of its\b|^no release (?:is|works)|\bits configuration\b", each.text
        ), each.text
    same = {
        other
        for other, texts in products.advices().items()
        for each in texts
        if each in products.advices()[product]
    }
    assert len({name.split(" ")[0] for name in same}) == 1, same
