"""The text of include/tables.py: the tables that have a retention, which the clusters file may change."""

from client_telemetry.lake.maintenance import RETENTION_DAYS

_TEXT = '''"""The tables whose retention the clusters file may change.

Generated from spark/client_telemetry/lake/maintenance.py and never edited by hand: tasks must not import the job side
(`make generated`).
"""

RETENTION_TABLES: tuple[str, ...] = (
{names}
)
'''


def text() -> str:
    return _TEXT.format(names="\n".join(f'    "{name}",' for name in RETENTION_DAYS))
