from collections.abc import Callable, Iterator

import pytest
from client_telemetry import knowledge
from client_telemetry.cli import __main__ as command
from client_telemetry.knowledge_package import store


@pytest.fixture
def knowledge_command(tmp_path, monkeypatch, capsys) -> Iterator[Callable[..., tuple[int, str, str]]]:
    """`client-telemetry knowledge …` where no package is kept: exit code, standard output and standard error."""
    monkeypatch.setenv(store.ENVIRONMENT, str(tmp_path / "kept"))

    def run(*arguments: object) -> tuple[int, str, str]:
        code = command.main(["knowledge", *map(str, arguments)])
        return code, *capsys.readouterr()

    yield run
    knowledge.use(None)
