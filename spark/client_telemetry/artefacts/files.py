"""Which reader is for which file: by name, for JSON and text also by how it begins."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import BinaryIO

from client_telemetry.artefacts.binaries import archives, images, layers, programs
from client_telemetry.artefacts.packages import Package, ReadOther
from client_telemetry.artefacts.readers import (
    bazel,
    conda,
    dockerfile,
    dotnet,
    golang,
    gradle,
    jar_downloads,
    jvm_builds,
    librdkafka_sources,
    maven,
    node,
    notebooks,
    other_locks,
    pnpm,
    python,
    python_locks,
    python_setup,
    sboms,
    scripts,
)

Reader = Callable[[str, ReadOther], Iterable[Package]]


def _alone(read: Callable[[str], Iterable[Package]]) -> Reader:
    """A reader that needs no other file."""
    return lambda text, read_other: read(text)


def _by_itself(read: Reader) -> Reader:
    """The reader of a script or notebook, or of its lock file."""
    return lambda text, read_other: (replace(each, by_itself=True) for each in read(text, read_other))


def _go_sum(text: str, read_other: ReadOther) -> Iterable[Package]:
    return () if read_other("go.mod") is not None else golang.read_sum(text)


def _vendored(text: str, read_other: ReadOther) -> Iterable[Package]:
    return () if read_other("../go.mod") is not None else golang.read_vendored(text)


def _bazel(text: str, read_other: ReadOther) -> Iterable[Package]:
    yield from gradle.read_script(text, read_other)
    yield from bazel.read(text)


def _script(text: str, read_other: ReadOther) -> Iterable[Package]:
    yield from librdkafka_sources.read(text)
    yield from jar_downloads.read(text)


_READERS: tuple[tuple[str, Reader], ...] = (
    ("pom.xml", maven.read_pom),
    ("*.pom", maven.read_pom),
    ("dependency-tree.txt", _alone(maven.read_resolved)),
    ("dependency-list.txt", _alone(maven.read_resolved)),
    ("gradle.lockfile", _alone(gradle.read_lock)),
    ("buildscript-gradle.lockfile", _alone(gradle.read_lock)),
    ("*.lockfile", _alone(gradle.read_lock)),
    ("*.versions.toml", _alone(gradle.read_catalogue)),
    ("*.gradle", gradle.read_script),
    ("*.gradle.kts", gradle.read_script),
    ("*.sbt", gradle.read_script),
    ("Dependencies.scala", gradle.read_script),
    ("project/*.scala", gradle.read_script),
    ("build.sc", gradle.read_script),
    ("build.mill", gradle.read_script),
    ("WORKSPACE", _bazel),
    ("*.bzl", _bazel),
    ("*.bazel", _bazel),
    ("dependencies.lock", _alone(jvm_builds.read_nebula)),
    ("*maven_install.json", _alone(jvm_builds.read_maven_install)),
    ("project.clj", _alone(jvm_builds.read_clojure)),
    ("deps.edn", _alone(jvm_builds.read_clojure)),
    ("ivy.xml", _alone(jvm_builds.read_ivy)),
    ("go.mod", golang.read_mod),
    ("go.sum", _go_sum),
    ("vendor/modules.txt", _vendored),
    ("Gopkg.lock", _alone(golang.read_dep)),
    ("glide.lock", _alone(golang.read_glide)),
    ("Godeps.json", _alone(golang.read_godeps)),
    ("package-lock.json", _alone(node.read_package_lock)),
    ("npm-shrinkwrap.json", _alone(node.read_package_lock)),
    ("pnpm-lock.yaml", _alone(pnpm.read)),
    ("yarn.lock", node.read_yarn),
    ("bun.lock", _alone(node.read_bun)),
    ("deno.lock", _alone(node.read_deno)),
    ("package.json", _alone(node.read_package_json)),
    ("poetry.lock", python_locks.read),
    ("uv.lock", python_locks.read),
    ("pdm.lock", python_locks.read),
    ("pylock.toml", python_locks.read),
    ("pylock.*.toml", python_locks.read),
    ("*.py.lock", _by_itself(python_locks.read)),
    ("Pipfile.lock", _alone(python.read_pipfile_lock)),
    ("Pipfile", _alone(python.read_pipfile)),
    ("pyproject.toml", _alone(python.read_pyproject)),
    ("setup.py", _alone(python_setup.read_script)),
    ("setup.cfg", _alone(python_setup.read_configuration)),
    *((pattern, python.read_requirements) for pattern in python.REQUIREMENTS),
    ("*.ipynb", _by_itself(_alone(notebooks.read))),
    ("environment*.yml", _alone(conda.read_conda)),
    ("environment*.yaml", _alone(conda.read_conda)),
    ("*conda-lock.yml", _alone(conda.read_lock)),
    ("*conda-lock.yaml", _alone(conda.read_lock)),
    ("pixi.lock", _alone(conda.read_lock)),
    ("conda-*.lock", _alone(conda.read_explicit)),
    ("*spec-file*.txt", _alone(conda.read_explicit)),
    ("*explicit*.txt", _alone(conda.read_explicit)),
    ("Cargo.lock", other_locks.read_cargo_lock),
    ("Cargo.toml", _alone(other_locks.read_cargo)),
    ("Gemfile.lock", other_locks.read_gemfile_lock),
    ("gems.locked", other_locks.read_gemfile_lock),
    ("Gemfile", _alone(other_locks.read_gemfile)),
    ("gems.rb", _alone(other_locks.read_gemfile)),
    ("*.gemspec", _alone(other_locks.read_gemspec)),
    ("composer.lock", _alone(other_locks.read_composer_lock)),
    ("composer.json", _alone(other_locks.read_composer)),
    ("packages.lock.json", _alone(dotnet.read_lock)),
    ("project.assets.json", _alone(dotnet.read_deps)),
    ("*.deps.json", _alone(dotnet.read_deps)),
    ("*.csproj", _alone(dotnet.read_project)),
    ("*.fsproj", _alone(dotnet.read_project)),
    ("*.vbproj", _alone(dotnet.read_project)),
    ("Directory.Packages.props", _alone(dotnet.read_project)),
    ("Directory.Build.props", _alone(dotnet.read_project)),
    ("packages.config", _alone(dotnet.read_packages_config)),
    ("paket.lock", _alone(dotnet.read_paket_lock)),
    ("paket.dependencies", _alone(dotnet.read_paket)),
    ("mix.lock", other_locks.read_mix_lock),
    ("mix.exs", _alone(other_locks.read_mix)),
    ("rebar.lock", _alone(other_locks.read_rebar_lock)),
    ("rebar.config", _alone(other_locks.read_rebar)),
    ("conan.lock", _alone(other_locks.read_conan)),
    ("conanfile.txt", _alone(other_locks.read_conan)),
    ("conanfile.py", _alone(other_locks.read_conan)),
    ("Dockerfile", _alone(dockerfile.read)),
    ("Containerfile", _alone(dockerfile.read)),
    ("Dockerfile.*", _alone(dockerfile.read)),
    ("*.Dockerfile", _alone(dockerfile.read)),
    ("*.dockerfile", _alone(dockerfile.read)),
    ("vcpkg.json", _alone(other_locks.read_vcpkg)),
    ("CMakeLists.txt", _alone(librdkafka_sources.read)),
    ("*.cmake", _alone(librdkafka_sources.read)),
    ("*.sh", _script),
    (".gitmodules", _alone(librdkafka_sources.read_submodules)),
    ("Package.resolved", _alone(other_locks.read_swift)),
    ("cabal.project.freeze", _alone(other_locks.read_hackage)),
    ("stack.yaml", _alone(other_locks.read_hackage)),
    ("cpanfile.snapshot", _alone(other_locks.read_cpan)),
)
_EXACT = {pattern: reader for pattern, reader in _READERS if not set(pattern) & set("*/")}
_PATTERNS = tuple((pattern, reader) for pattern, reader in _READERS if pattern not in _EXACT)
_BEGINNING = 4096
_MAY_BE_SBOM = re.compile(r".*\.(?:json|xml|spdx|spdx\.txt|tag)", re.IGNORECASE)
_MAY_BE_SCRIPT = re.compile(r".*\.(?:groovy|java|jsh|kts?|scala|sc|py)")
_SBOM_NAME = re.compile(r"(?:.*[._-])?(?:sbom|cdx|spdx|bom|syft)(?:[._-].*)?\.json", re.IGNORECASE)


def by_name(path: str) -> Reader | None:
    """The reader of a file with this name; None for a file that names no packages, as far as its name says."""
    name = PurePosixPath(path).name
    if reader := _EXACT.get(name):
        return reader
    for pattern, of_pattern in _PATTERNS:
        if fnmatchcase(path if "/" in pattern else name, f"*{pattern}" if "/" in pattern else pattern):
            return of_pattern
    return _alone(sboms.read) if _SBOM_NAME.fullmatch(name) else None


def may_be_script(path: str) -> bool:
    """Whether a file is source code of a language whose scripts name what they need, and no file that a build tool reads."""
    return bool(_MAY_BE_SCRIPT.fullmatch(path)) and by_name(path) is None


def beginning_decides(path: str) -> bool:
    """Whether the beginning of the file has to say what it is."""
    return bool(_MAY_BE_SBOM.fullmatch(path) or _MAY_BE_SCRIPT.fullmatch(path)) and by_name(path) is None


def by_beginning(path: str, beginning: str) -> Reader | None:
    """The reader of a file by its first kilobytes: that of SBOMs, whatever its name is, of scripts, or None."""
    if may_be_script(path):
        if notebooks.begins(beginning):
            return _by_itself(_alone(notebooks.read_source))
        return _by_itself(_alone(scripts.read)) if scripts.begins(beginning) else None
    return _alone(sboms.read) if sboms.begins(beginning[:_BEGINNING]) else None


def is_sbom(path: str, beginning: Callable[[], str]) -> bool:
    """Whether a file is an SBOM, by its name or how it begins."""
    if not _MAY_BE_SBOM.fullmatch(path):
        return False
    name = PurePosixPath(path).name
    of_other = _EXACT.get(name) or (None if _SBOM_NAME.fullmatch(name) else by_name(path))
    return of_other is None and bool(_SBOM_NAME.fullmatch(name) or by_beginning(path, beginning()))


def of_any(path: str, beginning: str) -> Reader | None:
    """The reader of a file that was named by the user: also lists of packages under another name."""
    if reader := by_name(path) or by_beginning(path, beginning):
        return reader
    if re.search(r"^@EXPLICIT\s*$", beginning, re.MULTILINE):
        return _alone(conda.read_explicit)
    if re.search(r"^\S+==\S+", beginning, re.MULTILINE):
        return python.read_requirements
    if re.search(r"^(?:\[INFO\])?[\s|+\\-]*[\w.-]+:[\w.-]+:jar:", beginning, re.MULTILINE):
        return _alone(maven.read_resolved)
    return None


BinaryReader = Callable[[BinaryIO, images.Open], Iterable[Package]]
_PROGRAM_SUFFIXES = ("", ".exe", ".bin", ".elf")


def of_binary(path: str, beginning: Callable[[], bytes]) -> BinaryReader | None:
    """The reader of an archive, an image or a program; None for other files. `beginning`: the first bytes, read only for
    names that a program may have.
    """
    name = PurePosixPath(path).name
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in archives.JAVA:
        return lambda opened, open_other: archives.read_java(opened, name)
    if suffix in archives.PYTHON:
        return lambda opened, open_other: archives.read_python(opened)
    if name.lower().endswith(images.SAVED):
        return lambda opened, open_other: layers.read_tar(opened)
    if name == "oci-layout":
        return lambda opened, open_other: layers.read(open_other)
    if suffix in _PROGRAM_SUFFIXES and by_name(path) is None and programs.is_program(beginning()):
        return lambda opened, open_other: programs.read(opened)
    return None
