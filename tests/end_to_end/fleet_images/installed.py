"""What a Dockerfile leaves in the layers of each application of the fleet: the real packages, installed by the tools of their
languages in the forms that people deploy. Kept below var, as registries need minutes.
"""

import csv
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.end_to_end.lake.servers import CHECKOUT

FLEET = CHECKOUT / "tests/data/artefacts/fleet"
KEPT = CHECKOUT / "var/e2e/fleet_images"
with (FLEET / "apps.csv").open(encoding="utf-8", newline="") as opened:
    APPS = {row["app"]: row for row in csv.DictReader(opened)}
TOOLS = ("go", "gcc", "pkg-config", "cargo", "mvn", "npm", "dpkg", "apt-get")

WHEELS_FOR = ("manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_28")
OLD_PYTHON = {"1.7.0": "3.9", "1.9.2": "3.10"}
"""Newest Python that has a wheel of this confluent-kafka."""
SITE_PACKAGES = "usr/local/lib/python3/site-packages"
LEGACY_SETUP = {"erp-scan": "kafka-python==1.3.5"}
"""Installed by `setup.py install`, as pip did before version 23.1 where the package wheel is missing."""

LIBS, FAT, SHADED, RELOCATED, WAR, EXPLODED, QUARKUS, EAR, REPLACED = (
    "jars in a folder",
    "fat jar of Spring Boot",
    "one jar, shaded",
    "one jar, shaded under another name",
    "web archive",
    "layers of Spring Boot",
    "jars named by Quarkus",
    "jar in a web archive in an enterprise archive",
    "jars that a later layer replaces",
)
JAVA_FORMS = {
    "billing-invoicer": FAT,
    "billing-ledger": LIBS,
    "billing-export": SHADED,
    "billing-dunning": RELOCATED,
    "warehouse-loader": WAR,
    "warehouse-stream": EXPLODED,
    "warehouse-tx": QUARKUS,
    "warehouse-cdc": LIBS,
    "orders-service-old": FAT,
    "orders-service-new": LIBS,
    "erp-bridge": EAR,
    "batch-settlement": REPLACED,
}
SHADE = """<build><plugins><plugin><artifactId>maven-shade-plugin</artifactId><version>3.6.0</version><executions><execution>
<phase>package</phase><goals><goal>shade</goal></goals><configuration><createDependencyReducedPom>false</createDependencyReducedPom>
<relocations>{relocations}</relocations></configuration></execution></executions></plugin></plugins></build>"""
RELOCATION = (
    "<relocation><pattern>org.apache.kafka</pattern><shadedPattern>acme.kafka</shadedPattern></relocation>"
)
SPRING = """<build><plugins><plugin><groupId>org.springframework.boot</groupId><artifactId>spring-boot-maven-plugin</artifactId>
<version>3.5.0</version><executions><execution><goals><goal>repackage</goal></goals></execution></executions></plugin></plugins></build>"""
WEB = """<build><plugins><plugin><artifactId>maven-war-plugin</artifactId><version>3.4.0</version><configuration>
<failOnMissingWebXml>false</failOnMissingWebXml></configuration></plugin></plugins></build>"""
MAIN = "public class Main { public static void main(String[] arguments) {} }\n"

GO_PLACES = ("app/{app}", "usr/local/bin/{app}", "{app}", "ko-app/{app}", "usr/libexec/{app}/{app}")
GO_FLAGS = ((), ("-trimpath", "-ldflags=-s -w"), ("-ldflags=-s -w -buildid=",), ("-trimpath",))


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Raises AssertionError with what the command printed."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}"


def kept(name: str, build: Callable[[Path], None]) -> Path:
    """A folder that `build` fills the first time."""
    folder, beginning = KEPT / name, KEPT / f".{name}"
    if not folder.exists():
        shutil.rmtree(beginning, ignore_errors=True)
        beginning.mkdir(parents=True)
        build(beginning)
        beginning.rename(folder)
    return folder


def of_app(app: str) -> Path:
    """A folder with one folder for each layer, `0`, `1` and so on, whose content is that of the layer."""
    library = APPS[app]["library"]
    if library == "kafka-clients":
        return kept(app, lambda folder: java(app, folder))
    if (FLEET / app / "go.mod").exists():
        return kept(app, lambda folder: go(app, folder))
    if (FLEET / app / "package.json").exists():
        return kept(app, lambda folder: node(app, folder))
    return kept(app, lambda folder: python(app, folder))


def _maven(app: str, build: str = "", packaging: str = "jar") -> Path:
    """The project of an application, packaged: its folder `target`, with all that it needs in `target/libs`."""
    project = KEPT / "projects" / app
    shutil.rmtree(project, ignore_errors=True)
    (project / "src/main/java").mkdir(parents=True)
    (project / "src/main/java/Main.java").write_text(MAIN)
    pom = (FLEET / app / "pom.xml").read_text()
    options = "<properties><maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target></properties>"
    pom = pom.replace("<dependencies>", f"<packaging>{packaging}</packaging>{options}<dependencies>", 1)
    (project / "pom.xml").write_text(pom.replace("</project>", f"{build}</project>"))
    copied = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies"
    run("mvn", "-B", "-q", "package", copied, "-DoutputDirectory=target/libs", cwd=project)
    return project / "target"


def java(app: str, folder: Path) -> None:
    form = JAVA_FORMS[app]
    first = folder / "0"
    if form in (LIBS, QUARKUS, REPLACED):
        libs = _maven(app) / "libs"
        if form == REPLACED:
            older = of_app("billing-ledger") / "0/opt/app/lib"
            shutil.copytree(older, first / "opt/app/lib")
            (folder / "1/opt/app/lib").mkdir(parents=True)
            for jar in older.iterdir():
                (folder / "1/opt/app/lib" / f".wh.{jar.name}").touch()
            shutil.copytree(libs, folder / "2/opt/app/lib")
        elif form == QUARKUS:
            target = first / "deployments/lib/main"
            target.mkdir(parents=True)
            for jar in libs.iterdir():
                shutil.copy(jar, target / f"org.apache.kafka.{jar.name}")
        else:
            shutil.copytree(libs, first / "opt/app/lib")
    elif form in (FAT, EXPLODED):
        jar = _maven(app, SPRING) / f"{app}-1.0.0.jar"
        (first / "app").mkdir(parents=True)
        if form == FAT:
            shutil.copy(jar, first / "app/app.jar")
        else:
            with zipfile.ZipFile(jar) as archive:
                archive.extractall(first / "application")
    elif form in (SHADED, RELOCATED):
        built = _maven(app, SHADE.format(relocations=RELOCATION if form == RELOCATED else ""))
        (first / "srv").mkdir(parents=True)
        shutil.copy(built / f"{app}-1.0.0.jar", first / "srv/app.jar")
    else:
        war = _maven(app, WEB, "war") / f"{app}-1.0.0.war"
        if form == WAR:
            (first / "usr/local/tomcat/webapps").mkdir(parents=True)
            shutil.copy(war, first / "usr/local/tomcat/webapps/ROOT.war")
        else:
            target = first / "opt/jboss/standalone/deployments/app.ear"
            target.parent.mkdir(parents=True)
            with zipfile.ZipFile(target, "w") as archive:
                archive.write(war, "web.war")


def build_go(source: Path, program: Path, *flags: str) -> None:
    program.parent.mkdir(parents=True, exist_ok=True)
    run("go", "build", "-mod=mod", *flags, "-o", program, ".", cwd=source)


def go(app: str, folder: Path) -> None:
    number = sorted(APPS).index(app)
    source = KEPT / "projects" / app
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(FLEET / app, source)
    place = GO_PLACES[number % len(GO_PLACES)].format(app=app)
    build_go(source, folder / "0" / place, *GO_FLAGS[number % len(GO_FLAGS)])


def node(app: str, folder: Path) -> None:
    """One by npm, one by pnpm, whose files are hard links to those of its store."""
    target = folder / "0/usr/src/app"
    target.mkdir(parents=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(FLEET / app / name, target)
    if app == "search-suggest":
        store = folder / "0/root/.local/share/pnpm/store"
        pnpm = ("npx", "--yes", "pnpm@10.33.0")
        (target / "package-lock.json").unlink()
        run(
            *pnpm,
            "install",
            "--prod",
            "--ignore-scripts",
            "--package-import-method=hardlink",
            f"--store-dir={store}",
            cwd=target,
        )
    else:
        run("npm", "ci", "--omit=dev", "--ignore-scripts", cwd=target)


def pip(*arguments: str | Path, cwd: Path) -> None:
    run(sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", *arguments, cwd=cwd)


def install(requirements: Sequence[str], target: Path) -> None:
    """What `pip install` leaves for Linux on x86-64: wheels, and pure Python built from a source distribution where there is none."""
    version = next(
        (
            OLD_PYTHON[each.partition("==")[2]]
            for each in requirements
            if each.partition("==")[2] in OLD_PYTHON
        ),
        "3.11",
    )
    platforms = [f"--platform={name}_x86_64" for name in WHEELS_FOR]
    wheels = [each for each in requirements if not each.startswith(("pykafka==", "kazoo=="))]
    others = [each for each in requirements if each not in wheels]
    only_wheels = ("--only-binary=:all:", *platforms, f"--python-version={version}")
    if wheels:
        pip("install", "--no-deps", "--no-compile", "--target", target, *only_wheels, *wheels, cwd=KEPT)
    if others:
        pip("install", "--no-deps", "--no-compile", "--target", target, *others, cwd=KEPT)


def python(app: str, folder: Path) -> None:
    target = folder / "0" / SITE_PACKAGES
    target.mkdir(parents=True)
    if app in LEGACY_SETUP:
        legacy_setup(LEGACY_SETUP[app], folder / "0")
    else:
        install((FLEET / app / "requirements.txt").read_text().split(), target)


def source_of(requirement: str) -> Path:
    """The unpacked source distribution of a Python package."""
    downloads = KEPT / "projects" / requirement.replace("==", "-")
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    pip("download", "--no-deps", "--no-binary=:all:", "--no-build-isolation", requirement, cwd=downloads)
    (archive,) = downloads.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(downloads, filter="data")
    (source,) = (each for each in downloads.iterdir() if each.is_dir())
    return source


def legacy_setup(requirement: str, root: Path) -> None:
    options = ("--single-version-externally-managed", "--no-compile", "--prefix=/usr/local", f"--root={root}")
    record = root.parent / "record.txt"
    run(
        sys.executable,
        "setup.py",
        "-q",
        "install",
        *options,
        f"--record={record}",
        cwd=source_of(requirement),
    )
    record.unlink()


def debian(folder: Path, *packages: str) -> None:
    """Packages of Debian as dpkg leaves them, without what they depend on."""
    root, downloads = folder / "0", folder / "downloads"
    downloads.mkdir()
    for name in ("var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/dpkg/triggers"):
        (root / name).mkdir(parents=True)
    (root / "var/lib/dpkg/status").touch()
    run("apt-get", "-q", "download", *packages, cwd=downloads)
    # Scripts of Python's packages compile modules of this machine, as nothing is changed to the root.
    compiler = downloads / "bin/py3compile"
    compiler.parent.mkdir()
    compiler.symlink_to("/bin/true")
    options = ("--force-depends", "--force-script-chrootless", "--no-triggers")
    path = f"{compiler.parent}:{os.environ['PATH']}"
    run(
        "dpkg",
        f"--root={root}",
        *options,
        "--install",
        *sorted(downloads.glob("*.deb")),
        cwd=downloads,
        PATH=path,
    )
    shutil.rmtree(downloads)


def dynamic_go(folder: Path) -> None:
    """A program of confluent-kafka-go with the librdkafka of Debian, which is in the layer below."""
    debian(folder, "librdkafka1")
    headers = folder / "headers"
    headers.mkdir()
    run("apt-get", "-q", "download", "librdkafka-dev", "librdkafka++1", cwd=headers)
    for package in headers.glob("*.deb"):
        run("dpkg", "-x", package, headers / "root", cwd=headers)
    shutil.copytree(folder / "0/usr/lib", headers / "root/usr/lib", dirs_exist_ok=True, symlinks=True)
    source = KEPT / "projects/dynamic"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(FLEET / "fraud-scorer", source)
    pkg_config = next(headers.glob("root/usr/lib/*/pkgconfig"))
    program = folder / "1/usr/local/bin/scorer"
    program.parent.mkdir(parents=True)
    run(
        "go",
        "build",
        "-mod=mod",
        "-tags=dynamic",
        "-o",
        program,
        ".",
        cwd=source,
        PKG_CONFIG_PATH=str(pkg_config),
        PKG_CONFIG_SYSROOT_DIR=str(headers / "root"),
        CGO_LDFLAGS="-Wl,--allow-shlib-undefined",
    )
    shutil.rmtree(headers)


def rust(folder: Path) -> None:
    """A stripped program of rskafka, whose panics alone say so."""
    source = KEPT / "projects/rust"
    shutil.rmtree(source, ignore_errors=True)
    (source / "src").mkdir(parents=True)
    (source / "Cargo.toml").write_text(
        '[package]\nname = "orders"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\n'
        'rskafka = { version = "=0.5.0", default-features = false }\ntokio = { version = "1", features = ["rt"] }\n'
        "[profile.release]\nstrip = true\n"
    )
    (source / "src/main.rs").write_text(
        "fn main() { let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();\n"
        '    let client = rskafka::client::ClientBuilder::new(vec!["127.0.0.1:1".to_owned()]).build();\n'
        "    let _ = runtime.block_on(client); }\n"
    )
    run("cargo", "build", "-q", "--release", cwd=source)
    (folder / "0/usr/bin").mkdir(parents=True)
    shutil.copy(source / "target/release/orders", folder / "0/usr/bin")
    shutil.rmtree(source / "target")
