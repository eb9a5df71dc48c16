"""Which reader is for which file: by name, for JSON and text also by how it begins."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import PurePosixPath
from typing import BinaryIO

from client_telemetry.artefacts.binaries import archives, images, layers, programs
from client_telemetry.artefacts.packages import Package, ReadOther
from client_telemetry.artefacts.readers import (
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


def _without(other: str, read: Callable[[str], Iterable[Package]]) -> Reader:
    """The reader of a file that counts only where the other one is not."""
    return lambda text, read_other: () if read_other(other) is not None else read(text)


def _both(*readers: Reader) -> Reader:
    return lambda text, read_other: chain.from_iterable(read(text, read_other) for read in readers)


_READERS: tuple[tuple[Reader, tuple[str, ...]], ...] = (
    (maven.read_pom, ("pom.xml", "*.pom")),
    (_alone(maven.read_resolved), ("dependency-tree.txt", "dependency-list.txt")),
    (_alone(gradle.read_lock), ("gradle.lockfile", "buildscript-gradle.lockfile", "*.lockfile")),
    (_alone(gradle.read_catalogue), ("*.versions.toml",)),
    (
        gradle.read_script,
        (
            "*.gradle",
            "*.gradle.kts",
            "*.sbt",
            "Dependencies.scala",
            "project/*.scala",
            "build.sc",
            "build.mill",
        ),
    ),
    (_both(gradle.read_script, _alone(golang.read_bazel)), ("WORKSPACE", "*.bzl", "*.bazel")),
    (_alone(jvm_builds.read_nebula), ("dependencies.lock",)),
    (_alone(jvm_builds.read_maven_install), ("*maven_install.json",)),
    (_alone(jvm_builds.read_clojure), ("project.clj", "deps.edn")),
    (_alone(jvm_builds.read_ivy), ("ivy.xml",)),
    (golang.read_mod, ("go.mod",)),
    (_without("go.mod", golang.read_sum), ("go.sum",)),
    (_without("../go.mod", golang.read_vendored), ("vendor/modules.txt",)),
    (_alone(golang.read_dep), ("Gopkg.lock",)),
    (_alone(golang.read_glide), ("glide.lock",)),
    (_alone(golang.read_godeps), ("Godeps.json",)),
    (_alone(node.read_package_lock), ("package-lock.json", "npm-shrinkwrap.json")),
    (_alone(pnpm.read), ("pnpm-lock.yaml",)),
    (node.read_yarn, ("yarn.lock",)),
    (_alone(node.read_bun), ("bun.lock",)),
    (_alone(node.read_deno), ("deno.lock",)),
    (_alone(node.read_package_json), ("package.json",)),
    (python_locks.read, ("poetry.lock", "uv.lock", "pdm.lock", "pylock.toml", "pylock.*.toml")),
    (_by_itself(python_locks.read), ("*.py.lock",)),
    (_alone(python.read_pipfile_lock), ("Pipfile.lock",)),
    (_alone(python.read_pipfile), ("Pipfile",)),
    (_alone(python.read_pyproject), ("pyproject.toml",)),
    (_alone(python_setup.read_script), ("setup.py",)),
    (_alone(python_setup.read_configuration), ("setup.cfg",)),
    (python.read_requirements, python.REQUIREMENTS),
    (_by_itself(_alone(notebooks.read)), ("*.ipynb",)),
    (_alone(conda.read_conda), ("environment*.yml", "environment*.yaml")),
    (_alone(conda.read_lock), ("*conda-lock.yml", "*conda-lock.yaml", "pixi.lock")),
    (_alone(conda.read_explicit), ("conda-*.lock", "*spec-file*.txt", "*explicit*.txt")),
    (other_locks.read_cargo_lock, ("Cargo.lock",)),
    (_alone(other_locks.read_cargo), ("Cargo.toml",)),
    (other_locks.read_gemfile_lock, ("Gemfile.lock", "gems.locked")),
    (_alone(other_locks.read_gemfile), ("Gemfile", "gems.rb")),
    (_alone(other_locks.read_gemspec), ("*.gemspec",)),
    (_alone(other_locks.read_composer_lock), ("composer.lock",)),
    (_alone(other_locks.read_composer), ("composer.json",)),
    (_alone(dotnet.read_lock), ("packages.lock.json",)),
    (_alone(dotnet.read_deps), ("project.assets.json", "*.deps.json")),
    (
        _alone(dotnet.read_project),
        ("*.csproj", "*.fsproj", "*.vbproj", "Directory.Packages.props", "Directory.Build.props"),
    ),
    (_alone(dotnet.read_packages_config), ("packages.config",)),
    (_alone(dotnet.read_paket_lock), ("paket.lock",)),
    (_alone(dotnet.read_paket), ("paket.dependencies",)),
    (other_locks.read_mix_lock, ("mix.lock",)),
    (_alone(other_locks.read_mix), ("mix.exs",)),
    (_alone(other_locks.read_rebar_lock), ("rebar.lock",)),
    (_alone(other_locks.read_rebar), ("rebar.config",)),
    (_alone(other_locks.read_conan), ("conan.lock", "conanfile.txt", "conanfile.py")),
    (
        _alone(dockerfile.read),
        ("Dockerfile", "Containerfile", "Dockerfile.*", "*.Dockerfile", "*.dockerfile"),
    ),
    (_alone(other_locks.read_vcpkg), ("vcpkg.json",)),
    (_alone(librdkafka_sources.read), ("CMakeLists.txt", "*.cmake")),
    (_both(_alone(librdkafka_sources.read), _alone(jar_downloads.read)), ("*.sh",)),
    (_alone(librdkafka_sources.read_submodules), (".gitmodules",)),
    (_alone(other_locks.read_swift), ("Package.resolved",)),
    (_alone(other_locks.read_hackage), ("cabal.project.freeze", "stack.yaml")),
    (_alone(other_locks.read_cpan), ("cpanfile.snapshot",)),
)
"""With the names of its files; the first one that fits counts."""
_BY_PATTERN = [(pattern, reader) for reader, patterns in _READERS for pattern in patterns]
_EXACT = {pattern: reader for pattern, reader in _BY_PATTERN if not set(pattern) & set("*/")}
_PATTERNS = [(pattern, reader) for pattern, reader in _BY_PATTERN if pattern not in _EXACT]
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
