"""Which share of small mistakes in the code the tests notice.

    include/airflow.sh python -m benchmarks.mutants --write docs/mutants.md

Each mutant is a module with one thing changed: a comparison, a number, `and` or `or`, a member of a set, list or dictionary,
a returned value, a statement left out. A random sample is run one after the other, each in a fork, against the tests that
call the changed function, found by one traced run of all. Most forks are of a process that has imported the tests, and get
the code of the changed function; a change that only an import sees is imported anew. Killed is a mutant that makes a test
fail or takes four times as long. What survives goes to the type checker, as every change does in `make check`; what only
it refuses is counted apart. The checkout is not written to, but for the trace and the type checker's cache in var/.

Texts are not changed: most are wording; nor are `frozen`, `strict` and `kw_only`, which only forbid, and the sizes of caches. Tests in
other processes (the wheel, jobs) do not see the change, and tests that need Spark are left out; both can only make the share
smaller.
"""

import argparse
import ast
import builtins
import contextlib
import copy
import functools
import gc
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[1]
PACKAGE = CHECKOUT / "spark/client_telemetry"
TESTS = CHECKOUT / "tests/client_telemetry"
ROOMS = ("compatibility", "raw", "identity", "reports")
TESTED_BY = (
    *ROOMS,
    "cli",
    "collect",
    "decode",
    "impact",
    "publish",
    "review",
    "sources",
    "subscriptions",
    "test_examples.py",
)
KAFKA_CLIENTS = CHECKOUT / "var/knowledge/kafka-clients-4.0.1.jar"
"""What sets of APIs are compared with; without it these tests are skipped."""
COMPILED_TESTED_BY = TESTS / "decode/test_worker.py"
"""Runs what numba compiles, which no trace sees."""

EQUIVALENT: dict[str, str] = {
    "compatibility/request_findings.py: `use.version < target.served.min` → `use.version <= target.served.min`: "
    "`below = [use for use in outside if use.version <= target.served.min]`": "of those outside none is the lowest served",
    "identity/kip190.py: `ord(character) > 65535` → `ord(character) >= 65535`: `if ord(character) >= 65535:`": (
        "U+FFFF is no digit either"
    ),
    "reports/fleet/client_metrics.py: `not self.resources or not instances` → `not self.resources and (not instances)`: "
    "`if not self.resources and (not instances):`": "without either the answer is empty too, after Java was started",
    "knowledge/features.py: `0` → `1`: `found[gate.feature] = max(gate.level, found.get(gate.feature, 1))`": (
        "a level that a request needs is at least 1"
    ),
    "formats/raw/reader.py: `missing > 0` → `missing >= 0`: `if missing >= 0:`": "no bytes are appended then",
    "formats/raw/push_scan.py: `0` → `1`: "
    "`below_zero = int64_at(push + 8 * SEQUENCE) < 0 or int64_at(push + 8 * RECEIVED_AT) < 1`": (
        "the official classes decode what the compiled reader gives up, to the same rows"
    ),
    "compatibility/identification.py: `0` → `1`: `ahead = weight[best.library] - (weight[others[0].library] if others else 1)`": (
        "a library is named only with at least LEAST exact APIs, so the only candidate is ahead by more than MARGIN anyway"
    ),
    "reports/coverage.py: `0` → `1`: `minutes = (window.start.replace(second=0), window.end.replace(second=1))`": (
        "ends of one minute are told as one, whichever second stands for it, and are shown without"
    ),
    "formats/raw/wire.py: `tag > 4294967295` → `tag >= 4294967295`: "
    "`if at == 0 or at - start > 5 or tag < 128 or (tag >= 4294967295):`": (
        "this tag is of kind 7, which is given up too"
    ),
    "compatibility/fingerprints.py: `1` → `2`: `places = (2 << len(possible)) - 1`": (
        "one bit more than there are profiles, and only those of profiles are read"
    ),
    "compatibility/identification.py: `1` → `2`: `places = (2 << len(spans)) - 1`": "as in fingerprints.py",
    "compatibility/applications.py: `version > row.versions.max` → `version >= row.versions.max`: "
    "`if not (newer and version >= row.versions.max):`": "what the row allows does not come here, its highest version least of all",
    "reports/curves.py: `abs(value) >= 1` → `abs(value) > 1`: "
    "`return f'{value:.3g}' if abs(value) > 1 or value == 0 else f'{value:.2g}'`": "1 is written 1 in both forms",
}
"""Mutants that behave as the original does, as `description` writes them, and why."""

_LEAST_CPU_SECONDS = 20
_COMPILING_CPU_SECONDS = 30
_FILES_FIRST = 3
_IMPORTED_ONCE = ("jinja2", "numba", "numpy", "orjson", "pandas", "pyarrow", "yaml")
"""What tests import of other packages: the forks then need not. Not hypothesis, a plugin of pytest, which rewrites it."""

_GUARDS = ("frozen", "strict", "kw_only", "maxsize")
"""Of dataclasses and zip: a program that never does what they forbid runs the same without them."""
_NEED_SPARK = {"spark", "sample_run"}
"""Fixtures."""
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}


@dataclass(frozen=True)
class Mutant:
    """One change of one module. `function`: first line of the function that holds it, 0 at module level; `statement`: that
    holds the node, or is it."""

    file: Path
    function: int
    statement: ast.stmt
    node: ast.expr | ast.stmt
    changed: ast.AST
    number: int
    """Of the node, counted through the module."""

    @property
    def room(self) -> str:
        return self.file.relative_to(PACKAGE).parts[0]

    @property
    def description(self) -> str:
        """Without the line, which other changes of the module move."""
        change = f"{self.file.relative_to(PACKAGE)}: `{_text(self.node)}` → `{_text(self.changed)}`"
        if self.node is self.statement:
            return change
        changed = _Replace(self.node, self.changed).visit(
            copy.deepcopy(self.statement, {id(self.node): self.node})
        )
        return f"{change}: `{ast.unparse(changed).splitlines()[0]}`"

    def code(self) -> CodeType:
        """The changed module, compiled."""
        tree = ast.parse(self.file.read_text(encoding="utf-8"))
        target = next(node for at, (node, *_) in enumerate(_nodes(tree)) if at == self.number)
        tree = _Replace(target, self.changed).visit(tree)
        return compile(ast.fix_missing_locations(tree), str(self.file), "exec")


def mutants(file: Path) -> Iterator[Mutant]:
    """All of a module."""
    for number, (node, statement, function) in enumerate(_nodes(ast.parse(file.read_text(encoding="utf-8")))):
        for changed in _changes(node):
            yield Mutant(file, function, statement, node, changed, number)


Node = tuple[ast.expr | ast.stmt, ast.stmt, int]


def _nodes(tree: ast.Module) -> Iterator[Node]:
    """Expressions and statements that run, each with its statement and the first line of its function. Annotations do not
    run."""

    def visit(node: ast.AST, statement: ast.stmt, function: int) -> Iterator[Node]:
        if isinstance(node, ast.stmt):
            statement = node
        if isinstance(node, ast.FunctionDef):
            function = _first_line(node)
        if isinstance(node, ast.expr | ast.stmt):
            yield node, statement, function
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "bases"):
                continue
            if isinstance(node, ast.keyword) and node.arg in _GUARDS:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from visit(child, statement, function)

    return visit(tree, tree.body[0] if tree.body else ast.Pass(), 0)


def _first_line(function: ast.FunctionDef) -> int:
    """With its decorators."""
    return min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)])


def _changes(node: ast.expr | ast.stmt) -> Iterator[ast.expr | ast.stmt]:
    match node:
        case ast.Compare(ops=ops):
            for at, op in enumerate(ops):
                yield _with(node, ops=[*ops[:at], _SWAPPED[type(op)](), *ops[at + 1 :]])
        case ast.BoolOp(op=op) | ast.BinOp(op=ast.Add() | ast.Sub() as op):
            yield _with(node, op=_SWAPPED[type(op)]())
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=int(value) | float(value)):
            other = not value if isinstance(value, bool) else value + 1
            yield ast.copy_location(ast.Constant(other), node)
        case ast.Set() | ast.List(ctx=ast.Load()) | ast.Tuple(ctx=ast.Load()) | ast.Dict():
            yield from _with_one_less(node)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.Return(value=ast.expr() as value) if not _is(value, None):
            yield _with(node, value=ast.Constant(None))
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Continue() | ast.Break() | ast.Raise():
            yield ast.copy_location(ast.Pass(), node)


def _with_one_less(node: ast.Set | ast.List | ast.Tuple | ast.Dict) -> Iterator[ast.expr]:
    if isinstance(node, ast.Dict):
        keys, values = node.keys, node.values
        for at in range(len(keys)):
            yield _with(node, keys=[*keys[:at], *keys[at + 1 :]], values=[*values[:at], *values[at + 1 :]])
    # Pairs that are unpacked would only fail.
    elif len(node.elts) > 2 or (isinstance(node, ast.Set) and len(node.elts) > 1):
        for at in range(len(node.elts)):
            yield _with(node, elts=[*node.elts[:at], *node.elts[at + 1 :]])


def _is(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _text(node: ast.AST) -> str:
    """The first line of the code, cut."""
    text = ast.unparse(node).splitlines()[0].replace("`", "'").replace("|", "/")
    return text if len(text) < 90 else text[:60] + " … " + text[-25:]


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else super().visit(node)


class _Changed(importlib.abc.MetaPathFinder):
    """Imports modules of the package from other code than their file's. `code`: None = as it stands."""

    def __init__(self, code: Callable[[Path], CodeType | None]) -> None:
        self.code = code

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None):
        parts = PACKAGE.parent.joinpath(*fullname.split("."))
        file = parts / "__init__.py" if parts.is_dir() else parts.with_suffix(".py")
        if not fullname.startswith(PACKAGE.name) or not file.exists():
            return None
        code = self.code(file)
        loader = code and _Loader(fullname, str(file), code)
        return loader and importlib.util.spec_from_file_location(fullname, file, loader=loader)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class Calls:
    """A pytest plugin: which tests call which functions, and how many seconds each takes. Functions tell it themselves:
    `instrumented` gives their modules. What a cached function called when it ran counts for each of its callers."""

    def __init__(self) -> None:
        self.of_function: defaultdict[tuple[str, int], set[str]] = defaultdict(set)
        self.seconds: Counter[str] = Counter()
        self._called: list[set[tuple[str, int]]] = [set()]
        self._behind: defaultdict[tuple[str, int], set[tuple[str, int]]] = defaultdict(set)

    def instrumented(self, file: Path) -> CodeType | None:
        if _is_compiled(file):
            return None
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                key = f"({str(file)!r}, {_first_line(node)})"
                own = ast.parse(f"__calls__.called({key})").body
                node.body = (
                    [*own, *node.body]
                    if ast.get_docstring(node) is None
                    else [node.body[0], *own, *node.body[1:]]
                )
                if any("cache" in ast.unparse(decorator) for decorator in node.decorator_list):
                    cached = ast.parse(f"__calls__.cached({key})", mode="eval").body
                    node.decorator_list = [cached, *node.decorator_list]
        first = sum(map(_stands_first, tree.body))
        tree.body.insert(first, ast.parse("from builtins import __calls__").body[0])
        return compile(ast.fix_missing_locations(tree), str(file), "exec")

    def called(self, key: tuple[str, int]) -> None:
        self._called[-1].add(key)

    def cached(self, key: tuple[str, int]) -> Callable[[Any], Any]:
        def decorate(function: Any) -> Any:
            if not hasattr(function, "cache_clear"):  # a property, which tells by itself
                return function

            def call(*args: Any, **kwargs: Any) -> Any:
                self._called.append(set())
                try:
                    return function(*args, **kwargs)
                finally:
                    self._behind[key] |= self._called.pop() | {key}
                    self._called[-1] |= self._behind[key]

            functools.update_wrapper(call, function)
            call.cache_clear, call.cache_info = function.cache_clear, function.cache_info  # type: ignore[attr-defined]
            return call

        return decorate

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        start = time.process_time()
        self._called = [set()]
        yield
        self.seconds[item.nodeid] += time.process_time() - start
        for key in set().union(*self._called):
            self.of_function[key].add(item.nodeid)


def _stands_first(node: ast.stmt) -> bool:
    """What must stay at the head of a module: its documentation and imports of the future."""
    return (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)) or (
        isinstance(node, ast.ImportFrom) and node.module == "__future__"
    )


class _Only:
    """A pytest plugin: runs these tests, in this order of their files."""

    def __init__(self, tests: list[str]) -> None:
        self.tests = set(tests)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.tests]


class _WithoutSpark:
    """A pytest plugin: leaves tests out that need Spark."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if not _NEED_SPARK & set(getattr(item, "fixturenames", ()))]


def _file_of(test: str) -> str:
    return test.partition("::")[0]


def _pytest(files: list[str], *plugins: object) -> int:
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--tb=no"]
    return int(pytest.main([*options, *files], plugins=[_WithoutSpark(), *plugins]))


def _without_spark(folder: str) -> list[str]:
    path = TESTS / folder
    files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
    return [str(file) for file in files if "pyspark" not in file.read_text(encoding="utf-8")]


def traced(file: Path) -> Calls:
    """One run of all tests in a fork, its result kept in `file` for as long as neither code nor tests change."""
    sources = [path.read_bytes() for folder in (PACKAGE, TESTS) for path in sorted(folder.rglob("*.py"))]
    of_code = hashlib.sha256(b"".join(sources)).hexdigest()
    if not file.exists() or json.loads(file.read_text())["of_code"] != of_code:
        child = os.fork()
        if child == 0:
            calls = Calls()
            builtins.__calls__ = calls  # type: ignore[attr-defined]
            sys.meta_path.insert(0, _Changed(calls.instrumented))
            code = _pytest([path for folder in TESTED_BY for path in _without_spark(folder)], calls)
            functions = [[*key, sorted(tests)] for key, tests in calls.of_function.items()]
            found = {"of_code": of_code, "functions": functions, "seconds": calls.seconds}
            if code == 0:
                file.write_text(json.dumps(found))
            os._exit(code)
        if os.waitpid(child, 0)[1]:
            raise SystemExit("the tests fail without any mutant")
    stored = json.loads(file.read_text())
    calls = Calls()
    for path, line, tests in stored["functions"]:
        calls.of_function[path, line] = set(tests)
    calls.seconds.update(stored["seconds"])
    return calls


def tests_of(mutant: Mutant, calls: Calls) -> list[str]:
    """Tests that call the changed function; those of the module's own test file first, then the quick ones. What is changed
    at module level, or compiled by numba, no call shows: then tests that call any function of the module or of one that
    imports it, and for compiled code all of its folder too."""
    path = str(mutant.file)
    concerned = set(calls.of_function.get((path, mutant.function), ()))
    if not concerned or not mutant.function:
        files = {path, *map(str, _importers(mutant.file))}
        for (of, _), tests in calls.of_function.items():
            if of in files:
                concerned |= tests
    if not mutant.function:
        # A test may look at a constant, and call nothing.
        concerned |= {test for test in calls.seconds if mutant.file.stem in _words_of(_file_of(test))}
    if not concerned or _is_compiled(mutant.file):
        folders = {*_without_spark(mutant.room), str(COMPILED_TESTED_BY)}
        concerned |= {test for test in calls.seconds if str(CHECKOUT / _file_of(test)) in folders}
    own = f"test_{mutant.file.stem}.py"
    of_file = Counter()
    for test in concerned:
        of_file[_file_of(test)] += calls.seconds[test]
    return sorted(
        concerned, key=lambda test: (Path(_file_of(test)).name != own, of_file[_file_of(test)], test)
    )


@functools.cache
def _words_of(file: str) -> frozenset[str]:
    return frozenset(re.findall(r"\w+", (CHECKOUT / file).read_text(encoding="utf-8")))


@functools.cache
def _importers(file: Path) -> list[Path]:
    """Modules of the package that import this one by its name."""
    name = ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    folder, _, stem = name.rpartition(".")
    imports = re.compile(
        rf"^\s*(?:from {re.escape(name)} import|import {re.escape(name)}$"
        rf"|from {re.escape(folder)} import (?:\([^)]*|.*)\b{re.escape(stem)}\b)",
        re.MULTILINE,
    )
    return [path for path in PACKAGE.rglob("*.py") if imports.search(path.read_text(encoding="utf-8"))]


def _is_compiled(file: Path) -> bool:
    text = file.read_text(encoding="utf-8")
    return "numba" in text or "raw.wire import" in text


def _in_fork(seconds: float, run: Callable[[], int]) -> bool:
    """Whether `run` gives another exit code than 0, raises, or takes more than four times as long; in silence."""
    child = os.fork()
    if child == 0:
        limit = int(_LEAST_CPU_SECONDS + 4 * seconds)
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        signal.alarm(40 * limit)  # one that waits for ever
        with Path(os.devnull).open("w") as null:
            os.dup2(null.fileno(), 1)
            os.dup2(null.fileno(), 2)
        result = 1
        with contextlib.suppress(BaseException):
            result = run()
        os._exit(int(result))
    return os.waitpid(child, 0)[1] != 0


class Imported:
    """A pytest plugin: in place of running the tests that were collected, tries each mutant on those that concern it, in a
    fork with the functions of the mutant. `killed` gets its answer, None = no function differs: an import must see it."""

    def __init__(self, sample: list[Mutant], calls: Calls) -> None:
        self.sample, self.calls = sample, calls
        self.killed: list[bool | None] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        if self._fails(session, items, replace(self.sample[0], changed=self.sample[0].node)):
            raise SystemExit("the tests fail in a fork without any mutant")
        for mutant in self.sample:
            differs = not _is_compiled(mutant.file) and bool(_functions(mutant))
            self.killed.append(self._fails(session, items, mutant) if differs else None)
            if self.killed[-1] is False:
                print(f"survived: line {mutant.node.lineno}: {mutant.description}", flush=True)
        return True

    def _fails(self, session: pytest.Session, items: dict[str, pytest.Item], mutant: Mutant) -> bool:
        tests = [items[test] for test in tests_of(mutant, self.calls) if test in items]

        def run() -> int:
            for function, code in _functions(mutant):
                function.__code__ = code
            _forget_cached()
            for test, following in zip(tests, [*tests[1:], None], strict=True):
                session.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
                if session.testsfailed:
                    return 1
            return 0

        return _in_fork(sum(self.calls.seconds[test.nodeid] for test in tests), run)


def _functions(mutant: Mutant) -> list[tuple[FunctionType, CodeType]]:
    """Functions of the module whose code the mutant changes, each with that code."""
    codes = {}

    def add(code: CodeType) -> None:
        codes[code.co_qualname, code.co_firstlineno] = code
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)

    add(mutant.code())
    file = str(mutant.file)
    own = (o for o in gc.get_objects() if isinstance(o, FunctionType) and o.__code__.co_filename == file)
    found = [(o, codes.get((o.__code__.co_qualname, o.__code__.co_firstlineno))) for o in own]
    return [(o, code) for o, code in found if code is not None and code != o.__code__]


def _forget_cached() -> None:
    for cached in gc.get_objects():
        if isinstance(cached, functools._lru_cache_wrapper) and cached.__module__.startswith(PACKAGE.name):
            cached.cache_clear()


def on_imported(sample: list[Mutant], calls: Calls) -> list[bool | None]:
    """Whether each mutant is killed, None = not known yet: by a process of its own, as this one must not import the package."""
    files = sorted({_file_of(test) for mutant in sample for test in tests_of(mutant, calls)})
    with tempfile.NamedTemporaryFile("w+") as answers:
        child = os.fork()
        if child == 0:
            imported = Imported(sample, calls)
            _pytest(["--capture=no", *files], imported)
            answers.write(json.dumps(imported.killed))
            answers.flush()
            os._exit(0)
        os.waitpid(child, 0)
        answers.seek(0)
        return json.loads(answers.read())


def is_killed(mutant: Mutant, tests: list[str], calls: Calls) -> bool:
    """Whether a test fails in a fork that imports the mutant. The first files are run alone, because they notice most mutants
    and to collect the others takes longer than to run them."""
    files = list(dict.fromkeys(map(_file_of, tests)))

    def fail(files: list[str]) -> bool:
        own = [test for test in tests if _file_of(test) in files]

        def run() -> int:
            code = mutant.code()
            sys.meta_path.insert(0, _Changed(lambda file: code if file == mutant.file else None))
            if _is_compiled(mutant.file):
                # What is compiled already is not the mutant, and is not to be found; compiled quickly, because it runs once.
                os.environ |= {"NUMBA_CACHE_DIR": tempfile.mkdtemp(), "NUMBA_OPT": "0"}
                importlib.import_module("numba.core.config").reload_config()
                machine_code = importlib.import_module(f"{PACKAGE.name}.formats.raw.machine_code")
                of_mutant = uuid.uuid4().bytes  # a mutant may keep its own beside the modules
                machine_code.sources_digest = lambda: of_mutant
            result = _pytest(files, _Only(own))
            return result not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)

        compiling = _COMPILING_CPU_SECONDS if _is_compiled(mutant.file) else 0
        return _in_fork(compiling + sum(calls.seconds[test] for test in own), run)

    return any(fail(some) for some in (files[:_FILES_FIRST], files[_FILES_FIRST:]) if some)


def is_refused_by_types(mutant: Mutant) -> bool:
    """Whether mypy, set up as in `make check`, finds more errors in the changed module than in the module as it stands; both
    without comments, as `ast` writes them."""
    original = ast.unparse(ast.parse(mutant.file.read_text(encoding="utf-8")))
    tree = ast.parse(mutant.file.read_text(encoding="utf-8"))
    target = next(node for at, (node, *_) in enumerate(_nodes(tree)) if at == mutant.number)
    changed = ast.unparse(ast.fix_missing_locations(_Replace(target, mutant.changed).visit(tree)))
    return len(_type_errors(mutant.file, changed)) > len(_type_errors(mutant.file, original))


def _type_errors(file: Path, source: str) -> list[str]:
    """mypy's errors of the whole package, with this text in place of a module's."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", encoding="utf-8") as shadow:
        shadow.write(source)
        shadow.flush()
        command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", "var/mypy-of-mutants"]
        command += ["--shadow-file", str(file.relative_to(CHECKOUT)), shadow.name]
        run = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise SystemExit(f"mypy ended with {run.returncode}: {run.stderr or run.stdout}")
    return [line for line in run.stdout.splitlines() if ": error: " in line]


_NOT_COVERED = (
    f"The folders {', '.join(ROOMS)} of the package are changed; the others, Spark jobs, plugins, DAGs, pages' scripts, the broker "
    "plugin and the rows of the knowledge base are not.",
    "Text, flags that only forbid something (`frozen`, `strict`, `kw_only`) and cache sizes are not changed, and each mutant has one change.",
    "Tests that need Spark, Airflow, brokers or a browser are left out, and other processes do not see the change: what only they "
    "notice counts as survived.",
    "A mutant counts as killed when a test fails, takes four times as long, or cannot be imported. Whether the test says what is "
    "wrong is not measured: many compare a whole verdict or page with a stored file.",
)


def _interval(killed: int, count: int) -> tuple[float, float]:
    """Wilson's interval of a share, 95 %."""
    z = 1.96
    middle = (killed + z * z / 2) / (count + z * z)
    half = z / (count + z * z) * (killed * (count - killed) / count + z * z / 4) ** 0.5
    return middle - half, middle + half


def page(
    killed: list[Mutant], by_types: list[Mutant], survived: list[Mutant], equivalent: list[Mutant], seed: int
) -> str:
    """`killed`: by tests or by the type checker; `by_types`: those of them that only the type checker refuses."""
    count = len(killed) + len(survived)
    low, high = _interval(len(killed), count)
    lines = [
        "# Which mistakes the tests notice",
        "",
        f"Written by `include/airflow.sh python -m benchmarks.mutants --count {count + len(equivalent)} --seed {seed} --write docs/mutants.md`: "
        "a random sample of small changes to the code (benchmarks/mutants.py describes them). Each is run against the tests that "
        "call the changed code; if it survives, the type checker is run as in `make check`. Equivalent mutants, which behave like the original, do not count.",
        "",
        f"**{len(killed)} of {count} mutants killed ({len(killed) / count:.0%}).** {len(killed) - len(by_types)} by tests, {len(by_types)} by the type checker alone. With a sample of this size, the share among all possible mutants is between "
        f"{low:.0%} and {high:.0%} (95 %, Wilson).",
        "",
        "| folder | mutants | killed |",
        "|---|---|---|",
    ]
    of_room = Counter(mutant.room for mutant in killed + survived)
    in_room = Counter(mutant.room for mutant in killed)
    lines += [f"| {room} | {of_room[room]} | {in_room[room]} |" for room in ROOMS]
    lines += ["", "What the number does not say:", "", *(f"* {each}" for each in _NOT_COVERED)]
    if by_types:
        lines += ["", "Refused by the type checker alone:", ""]
        lines += sorted(f"* {mutant.description}" for mutant in by_types)
    if survived:
        lines += ["", "Survived:", "", *sorted(f"* {mutant.description}" for mutant in survived)]
    if equivalent:
        lines += ["", "Equivalent:", ""]
        lines += sorted(f"* {mutant.description}: {EQUIVALENT[mutant.description]}" for mutant in equivalent)
    return "\n".join(lines) + "\n"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=14)
    parser.add_argument("--only", default="", help="mutants whose description contains this")
    parser.add_argument(
        "--calls", type=Path, default=CHECKOUT / "var/mutants.json", help="the traced run, kept"
    )
    parser.add_argument("--write", type=Path, help="write the result as a page")
    args = parser.parse_args(argv)

    if not KAFKA_CLIENTS.exists():
        raise SystemExit(f"first: make {KAFKA_CLIENTS.relative_to(CHECKOUT)}")
    calls = traced(args.calls)
    for package in _IMPORTED_ONCE:
        importlib.import_module(package)
    files = [file for room in ROOMS for file in sorted((PACKAGE / room).rglob("*.py"))]
    every = [m for file in files if not file.stem.endswith(("_pb2", "__main__")) for m in mutants(file)]
    sample = [m for m in random.Random(args.seed).sample(every, args.count) if args.only in m.description]
    print(f"{len(every)} mutants; {len(sample)} of them run")
    to_run = [mutant for mutant in sample if mutant.description not in EQUIVALENT]
    equivalent = [mutant for mutant in sample if mutant.description in EQUIVALENT]
    killed, survived = [], []
    for mutant, dead in zip(to_run, on_imported(to_run, calls) if to_run else [], strict=True):
        if dead is None:
            dead = is_killed(mutant, tests_of(mutant, calls), calls)
            if not dead:
                print(f"survived: line {mutant.node.lineno}: {mutant.description}", flush=True)
        (killed if dead else survived).append(mutant)
    by_types = [mutant for mutant in survived if is_refused_by_types(mutant)]
    killed += by_types
    survived = [mutant for mutant in survived if mutant not in by_types]
    counted = len(killed) + len(survived)
    print(f"{len(killed)} of {counted} killed, {len(by_types)} by types alone, {len(equivalent)} equivalent")
    if args.write:
        args.write.write_text(page(killed, by_types, survived, equivalent, args.seed), encoding="utf-8")


if __name__ == "__main__":
    main()
