"""`airflow standalone` without its log servers: they listen on every interface, and no setting says otherwise
(airflow.utils.serve_logs: `host=""`). On one machine nothing asks them, as the API server reads the logs' files.

    include/airflow.sh python -m include.standalone
"""

from typing import Any

from airflow.cli.commands import standalone_command

WITH_LOG_SERVER = ("scheduler", "triggerer")


class SubCommand(standalone_command.SubCommand):
    """One of the processes that standalone starts."""

    def __init__(self, parent: Any, name: str, command: list[str], env: dict[str, str]) -> None:
        more = ["--skip-serve-logs"] if name in WITH_LOG_SERVER else []
        super().__init__(parent, name, [*command, *more], env)


def main() -> None:
    standalone_command.SubCommand = SubCommand
    standalone_command.StandaloneCommand().run()


if __name__ == "__main__":
    main()
