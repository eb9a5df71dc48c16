"""The wheel on a bare machine: a new environment with nothing but Python and the wheel."""

import csv
import json
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import pytest

CHECKOUT = Path(__file__).parents[1]
POM = """<project><modelVersion>4.0.0</modelVersion>
<groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></project>
"""
EXAMPLE = CHECKOUT / "docs/examples/clients.csv"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(CHECKOUT),
    ]
    subprocess.run(command, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def command(wheel, tmp_path_factory) -> Path:
    """`client-telemetry` of an environment that has nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True)
    install = [folder / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True, capture_output=True)
    return folder / "bin/client-telemetry"


def test_it_has_what_others_need_of_the_package(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "client_telemetry/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not any(name.startswith(("tests/", "jobs/")) for name in names)


def test_verdicts_of_a_list_in_a_second_after_the_first_start(command, tmp_path):
    verdicts = tmp_path / "verdicts.csv"
    arguments = [
        "compatibility",
        "--from",
        "3.9.1",
        "--to",
        "4.0.1",
        "--input",
        EXAMPLE,
        "--output",
        verdicts,
    ]
    seconds = []
    for _ in range(3):
        before = getrusage(RUSAGE_CHILDREN)
        subprocess.run([command, *arguments], check=True, cwd=tmp_path, env={"PATH": "/usr/bin:/bin"})
        after = getrusage(RUSAGE_CHILDREN)
        seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    with EXAMPLE.open(newline="") as asked, verdicts.open(newline="") as given:
        assert len(list(csv.DictReader(given))) == len(list(csv.DictReader(asked))) > 0
    # Processor time: the first start compiles the modules, and other processes may run beside a test.
    assert min(seconds[1:]) <= 1


def test_patterns_of_ones_own_say_what_they_need(command, tmp_path):
    arguments = [command, "knowledge", "check", CHECKOUT / "docs/examples/knowledge"]
    run = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert "patterns of your own need the package google-re2: pip install google-re2" in run.stderr


@pytest.fixture
def home(tmp_path) -> Path:
    """A user's home whose Maven repository has the jars, so that nothing is fetched, and whose pyiceberg configuration names
    another lake.
    """
    folder = tmp_path / "home"
    for line in (CHECKOUT / "spark/client_telemetry/lake/spark_jars.txt").read_text().split():
        group, artifact, version = line.split(":")
        place = folder / ".m2/repository" / group.replace(".", "/") / artifact / version
        place.mkdir(parents=True)
        shutil.copy(
            CHECKOUT / f"var/jars/{group}_{artifact}-{version}.jar", place / f"{artifact}-{version}.jar"
        )
        (place / f"{artifact}-{version}.pom").write_text(POM.format(group, artifact, version))
    catalog = f"catalog:\n  lake:\n    uri: sqlite:///{tmp_path}/elsewhere.db\n    warehouse: file://{tmp_path}/elsewhere\n"
    (folder / ".pyiceberg.yaml").write_text(catalog)
    return folder


@pytest.mark.end_to_end
def test_a_report_in_another_folder_has_tables_of_its_own(command, home, tmp_path):
    """The libraries are those of this checkout's environment, the package is the wheel's."""
    (site_packages,) = command.parents[1].glob("lib/python*/site-packages")
    (libraries,) = (CHECKOUT / ".venv/lib").glob("python*/site-packages")
    (site_packages / "libraries.pth").write_text(f"{libraries}\n")
    other = tmp_path / "another folder"
    other.mkdir()
    logs = shutil.copytree(CHECKOUT / "tests/data/sources", other / "logs")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(home),
        "JAVA_TOOL_OPTIONS": f"-Duser.home={home}",
        "PYICEBERG_CATALOG__LAKE__URI": f"sqlite:///{tmp_path}/by_variable.db",
        "SPARK_HOME": "/nowhere",
        "SPARK_CONF_DIR": "/nowhere",
    }
    arguments = ["report", "--to=4.0.1", "--out=out", f"{logs}/server_lines.log"]
    run = subprocess.run(
        [command, *arguments], cwd=other, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    (file,) = (other / "out/published").glob("upgrade_impact/*/*/report.json")
    assert json.loads(file.read_text())["clients"]
    assert (other / "out/lake/catalog.db").is_file()
    assert not list(tmp_path.glob("elsewhere*")) + list(tmp_path.glob("by_variable*"))
    used = subprocess.run(
        [command.parent / "python", "-c", "import client_telemetry; print(client_telemetry.__file__)"],
        cwd=other, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert used.stdout.startswith(str(site_packages))


def test_a_scan_without_its_extra_says_what_to_install(command, tmp_path):
    done = subprocess.run(
        [command, "scan", ".", "--to", "4.3.1"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr.endswith("is not installed: run pip install 'client-telemetry[scan]'\n")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("name", "text", "code", "said"),
    [
        ("server.properties", "log.dirs=/a\n", 0, ""),
        (
            "values.yaml",
            "env: [{name: KAFKA_LOG_DIRS, value: /a}]\n",
            2,
            "client-telemetry knowledge: the package yaml is not installed: run pip install 'client-telemetry[knowledge]'\n",
        ),
    ],
)
def test_only_yaml_with_settings_needs_the_extra(command, tmp_path, name, text, code, said):
    (tmp_path / name).write_text(text)
    asked = ["knowledge", "configuration", "--from=3.9.1", "--to=4.0.1", f"--properties={name}"]
    done = subprocess.run(
        [command, *asked], cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (code, said)


@pytest.mark.parametrize(
    "arguments",
    [["run"], ["requarantine"], ["ui"], ["ask", "fleet", "--to=4.3.1"], ["review", "--cluster=fleet"]],
    ids=lambda arguments: arguments[0],
)
def test_what_goes_through_airflow_says_that_the_wheel_has_none(command, tmp_path, arguments):
    done = subprocess.run(
        [command, *arguments], cwd=tmp_path, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"client-telemetry {arguments[0]}: needs Airflow and the DAGs, ")
    assert done.stderr.count("\n") == 1
