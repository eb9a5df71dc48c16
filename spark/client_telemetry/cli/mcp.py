"""Answers about published upgrades for programs that speak the Model Context Protocol (MCP), read-only, over standard input and output.

    client-telemetry mcp --reports var/published

Reads the folder at each question and nothing else; needs no network. docs/mcp.md lists the tools. Exit code 0; 2 if there is no such folder.
"""

from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from client_telemetry.console.arguments import Arguments


def main(argv: Sequence[str] | None = None) -> int:
    parser = Arguments("mcp", __doc__)
    parser.add_argument(
        "--reports",
        type=Path,
        metavar="FOLDER",
        default=Path("var/published"),
        help="folder of published reports and campaigns; default: %(default)s",
    )
    args = parser.parse_args(argv)
    if not args.reports.is_dir():
        parser.error(f"{args.reports} is not a folder of published reports: name it by --reports")
    from client_telemetry.answers.mcp_server import server  # the protocol takes a second to import
    from client_telemetry.answers.published import Published
    from client_telemetry.answers.questions import Questions

    server(Questions(Published(args.reports)), version("client-telemetry")).run("stdio")
    return 0
