"""What stands beside a lock file: pins in code, mechanisms in configuration files, owners."""

import pytest
from client_telemetry.artefacts import code, owners
from client_telemetry.artefacts.scan import scan
from client_telemetry.identity.owners import load_owner_rules
from client_telemetry.inventory.readable import is_read

PYTHON = "kafka-python==2.0.2\n"
GO = "module x\n\nrequire github.com/IBM/sarama v1.43.1\n"
IMPORTS_SARAMA = 'package main\n\nimport "github.com/IBM/sarama"\n\n'


def found(tmp_path, files: dict[str, str], rules: str = ""):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (client,) = scan([tmp_path], "3.9.2", "4.3.1", load_owner_rules(rules) if rules else ()).found
    return client


@pytest.mark.parametrize(
    ("files", "verdict", "says"),
    [
        ({"requirements.txt": PYTHON}, "insufficient_evidence", "no code was scanned"),
        ({"requirements.txt": PYTHON, "a.py": "import kafka\nkafka.KafkaProducer()\n"}, "safe", "accepts"),
        ({"requirements.txt": PYTHON, "a.py": "import requests\n"}, "insufficient_evidence", "no code was"),
        (
            {
                "requirements.txt": PYTHON,
                "a.py": "import kafka\nkafka.KafkaProducer(api_version=(0, 10, 1))\n",
            },
            "breaks",
            "api_version is (0, 10, 1) in ",
        ),
        (
            {"requirements.txt": PYTHON, "a.py": "import kafka\nkafka.KafkaProducer(api_version=(2, 0))\n"},
            "safe",
            "accepts",
        ),
        (
            {
                "requirements.txt": PYTHON,
                "a.py": "import kafka\nkafka.KafkaProducer(api_version=settings.V)\n",
            },
            "insufficient_evidence",
            "api_version is settings.V in ",
        ),
        (
            {"requirements.txt": PYTHON, "a.py": "import kafka\nkafka.KafkaProducer(api_version=None)\n"},
            "safe",
            "",
        ),
        ({"go.mod": GO}, "insufficient_evidence", "no code was scanned"),
        ({"go.mod": GO, "main.go": IMPORTS_SARAMA}, "safe", "accepts"),
        (
            {"go.mod": GO, "main.go": IMPORTS_SARAMA + "config.Version = sarama.V0_10_2_0\n"},
            "breaks",
            "config.Version is V0_10_2_0 in ",
        ),
        ({"go.mod": GO, "main.go": IMPORTS_SARAMA + "config.Version = sarama.V2_8_0_0\n"}, "safe", ""),
        ({"go.mod": GO, "main.go": IMPORTS_SARAMA + "cfg.Version = sarama.MaxVersion\n"}, "safe", ""),
        (
            {"go.mod": GO, "main.go": IMPORTS_SARAMA + "v, err := sarama.ParseKafkaVersion(version)\n"},
            "insufficient_evidence",
            "config.Version is version in ",
        ),
        (
            {
                "requirements.txt": "confluent-kafka==2.3.0\n",
                "kafka.properties": "sasl.mechanism=SCRAM-SHA-512\n",
            },
            "breaks",
            "sasl.mechanism is SCRAM-SHA-512 in ",
        ),
        (
            {"requirements.txt": "confluent-kafka==2.3.0\n", "kafka.properties": "sasl.mechanism=PLAIN\n"},
            "insufficient_evidence",
            "Breaks if it uses SCRAM",
        ),
    ],
)
def test_what_the_code_says_decides(tmp_path, files, verdict, says):
    client = found(tmp_path, files)
    assert client.judged.verdict == verdict, client.judged
    assert says in client.judged.explanation


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        (
            "a.properties",
            "client.id=orders\ngroup.id = ${GROUP}\nbootstrap.servers=x\n",
            [("client.id", "orders", 1)],
        ),
        (
            "application.yml",
            "spring:\n  kafka:\n    consumer:\n      group-id: 'orders'\n    properties:\n      security.protocol: SASL_SSL # no\n",
            [("group.id", "orders", 4), ("security.protocol", "SASL_SSL", 6)],
        ),
        (".env", "export KAFKA_GROUP_ID=orders\nOAUTH_CLIENT_ID=secret\n", [("group.id", "orders", 1)]),
        ("Dockerfile", "ENV KAFKA_SASL_MECHANISM=SCRAM-SHA-256\n", [("sasl.mechanism", "SCRAM-SHA-256", 1)]),
        ("kafka.properties", "client.id = search crawler #2 \n", [("client.id", "search crawler #2", 1)]),
        ("kafka.properties", "client.id=<your id>\ngroup.id=a-%HOST%\n", None),
        ("kafka.yml", "client.id: 'search crawler #2' # ours\n", [("client.id", "search crawler #2", 1)]),
        ("kafka.yml", 'client.id: "${ID}"\ngroup.id: "x{{ y }}"\n', None),
        ("oauth.yml", "client_id: abc\n", None),
        ("a.properties", "group.id={{ group }}\nkafka=1\n", None),
    ],
)
def test_settings_are_literals_with_their_line(path, text, expected):
    read = code.read(path, path, text)
    assert (read and [(s.name, s.value, s.line) for s in read.settings]) == expected


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*", "a/b.txt", True),
        ("*.lock", "a/b/yarn.lock", True),
        ("/go.mod", "a/go.mod", False),
        ("/svc/", "svc/a/go.mod", True),
        ("svc/", "a/svc/go.mod", True),
        ("docs/*", "docs/a.md", True),
        ("docs/*", "docs/a/b.md", False),
        ("/apps/**/go.mod", "apps/x/y/go.mod", True),
        ("**/logs", "a/logs/x", True),
        ("a/b", "a/b/c", True),
        ("a/b", "x/a/b", False),
    ],
)
def test_patterns_of_codeowners(pattern, path, matches):
    owner = owners.read_codeowners("CODEOWNERS", f"{pattern} @team\n").owner(path)
    assert (owner is not None) == matches


def test_owners(tmp_path):
    files = {"svc/requirements.txt": PYTHON, "svc/kafka.properties": "client.id=orders-1\nkafka=1\n"}
    assert found(tmp_path, files).owner == ""
    catalog = {"svc/catalog-info.yaml": "kind: Component\nspec:\n  type: service\n  owner: group:orders\n"}
    assert found(tmp_path, catalog).owner == "group:orders"
    client = found(tmp_path, {".github/CODEOWNERS": "* @all\n/svc/ @orders @bob # us\n/svc/x\n"})
    assert (client.owner, client.owner_source) == ("@orders @bob", f"{tmp_path}/.github/CODEOWNERS:2")
    rules = "[{name: orders, owner: Orders team, client_id: 'orders-.*'}]"
    assert found(tmp_path, {}, rules).owner == "Orders team"


@pytest.mark.parametrize("place", owners.CODEOWNERS)
def test_each_repository_of_a_folder_has_owners_of_its_own(tmp_path, place):
    for name in ("orders", "billing"):
        assert is_read(f"{name}/{place}"), "an inventory copies it"
        path = tmp_path / name / place
        path.parent.mkdir(parents=True)
        path.write_text(f"* @all\n/svc/ @{name}\n")
        (tmp_path / name / "svc").mkdir()
        (tmp_path / name / "svc/requirements.txt").write_text(PYTHON)
    clients = scan([tmp_path], "3.9.2", "4.3.1", ()).found
    assert sorted((client.owner, client.owner_source) for client in clients) == [
        (f"@{name}", f"{tmp_path}/{name}/{place}:2") for name in ("billing", "orders")
    ]


def test_within_a_repository_only_its_own_owners_count(tmp_path):
    files = {"CODEOWNERS": "* @all\n", "svc/CODEOWNERS": "* @copied\n", "svc/requirements.txt": PYTHON}
    assert found(tmp_path, files).owner == "@all"


def test_a_catalogue_that_is_no_catalogue():
    assert owners.read_catalog("catalog-info.yaml", "a: [") is None
    assert owners.read_catalog("catalog-info.yaml", "- a\n---\nspec: 1\n") is None
    assert (
        owners.read_catalog("catalog-info.yaml", "!!python/object/apply:os.system ['touch /tmp/x']") is None
    )


def test_a_lock_file_names_the_client_that_a_manifest_only_brings(tmp_path):
    manifest = '[project]\ndependencies = ["faststream[kafka]>=0.5"]\n'
    lock = '[[package]]\nname = "aiokafka"\nversion = "0.12.0"\n[[package]]\nname = "faststream"\nversion = "0.5.0"\n'
    assert found(tmp_path, {"pyproject.toml": manifest, "uv.lock": lock}).client.text == "aiokafka 0.12.0"
