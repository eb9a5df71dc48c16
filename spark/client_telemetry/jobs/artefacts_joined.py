"""An inventory beside the newest published report of its cluster: <publish>/artefacts/<cluster>/joined.md and joined.json."""

import json

from client_telemetry.formats.locations import absolute_url
from client_telemetry.formats.raw.file_system import file_system
from client_telemetry.formats.written_file import Written
from client_telemetry.inventory.artefact import Written as ReadArtefacts
from client_telemetry.inventory.joined import join, sentence
from client_telemetry.inventory.seen import Seen, from_report
from client_telemetry.inventory.workloads import Workloads
from client_telemetry.pipeline.place import Place, fetch_files, published_place
from client_telemetry.pipeline.stage import BadArguments
from client_telemetry.reports.folder import PAGE, replace_folder
from client_telemetry.reports.inventory import document, markdown
from client_telemetry.reports.names import folder_name
from client_telemetry.reports.upgrade.written_note import add_written

FOLDER = "artefacts"
REPORTS = "upgrade_impact"


def newest_report(publish: str, cluster: str) -> Seen | None:
    """What the newest published report of the cluster saw; None without one. Raises BadArguments."""
    files, root = file_system(absolute_url(publish))
    folder = f"{root}/{REPORTS}/{folder_name(cluster)}"
    try:
        with files.open_input_file(f"{folder}/latest.json") as source:
            report = str(json.loads(source.read())["path"]).partition("/")[0]
        with files.open_input_file(f"{folder}/{folder_name(report)}/report.json") as source:
            return from_report(json.loads(source.read()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise BadArguments(f"the newest report of cluster {cluster} cannot be read: {error}") from None


def publish_joined(
    location: str, cluster: str, written: ReadArtefacts, seen: Seen, workloads: Workloads
) -> tuple[str, str]:
    """What follows, in a sentence, and where all of it is."""
    joined = join(written, seen, workloads)
    folder = f"{FOLDER}/{folder_name(cluster)}"
    as_document = document.as_json(joined, written.unread)
    contents = {
        "joined.md": "\n".join(markdown.lines(joined, written.unread)) + "\n",
        "joined.json": json.dumps(as_document, indent=1) + "\n",
    }
    with published_place(location, folder) as place:
        path = place.root / folder
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_folder(path, contents.items())
        _add_to_report(place, cluster, seen.report_id, as_document)
        return sentence(joined), place.shown(path / "joined.md")


def _add_to_report(place: Place, cluster: str, report_id: str, as_document: Written) -> None:
    """Its page in the place, fetched from an object store first. Pages of older versions have no room for it."""
    folder = f"{REPORTS}/{folder_name(cluster)}/{folder_name(report_id)}"
    page = place.root / folder / PAGE
    if not page.is_file():
        files, root = file_system(absolute_url(place.location))
        fetch_files(files, root, [f"{folder}/{PAGE}"], place.root)
    if page.is_file():
        add_written(page.parent, as_document)
