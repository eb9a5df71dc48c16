"""Copies a lake, or a backup of its folder, to another place, where it works without the original.

    client-telemetry lake-copy FROM TO

FROM: the `lake` of the clusters file, or a folder to which a lake with a SQLite catalog was copied. TO: a folder without tables, or
a URL of an object store. The tables' catalog is then a SQLite file in the folder TO, or, if it is configured
(PYICEBERG_CATALOG__COPY__TYPE, ..._URI), the catalog `copy`. Run it while no stage writes. docs/upgrading.md says more.
"""

from collections.abc import Sequence

from client_telemetry.console.arguments import Arguments
from client_telemetry.console.counted import counted
from client_telemetry.console.progress import Progress
from client_telemetry.console.refusal import refuses
from client_telemetry.lake.catalog import unavailable
from client_telemetry.lake.copying import copy_lake


def _failure(error: Exception) -> str | None:
    if isinstance(error, FileNotFoundError):
        return f"{error}: did something write to the lake? Copy it again while nothing does"
    return unavailable(error)


@refuses("lake-copy", failure=_failure)
def main(argv: Sequence[str] | None = None) -> int:
    arguments = Arguments("lake-copy", __doc__)
    arguments.add_argument("source", metavar="FROM", help="folder or URL of the lake")
    arguments.add_argument("target", metavar="TO", help="folder or URL of the copy")
    args = arguments.parse_args(argv)
    with Progress(f"reading {args.source}") as progress:
        copied = copy_lake(args.source, args.target, progress)
    files = counted(sum(copied.values()), "data file")
    print(f"{args.target}: {counted(len(copied), 'table')} with {files}")
    return 0
