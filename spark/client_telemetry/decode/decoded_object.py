"""What a worker reports to the driver about the objects that it decoded."""

import builtins
from dataclasses import dataclass, field


@dataclass
class DecodedObject:
    """The result for one object. `records` = `rows` + `duplicates` + `undecodable`; a tail counts as a record.

    `sequences`: incarnation (hex) -> smallest and largest sequence of the object's records. `slow_pushes`: number of
    pushes, including quarantined ones, that compiled code did not read.
    """

    object_key: str
    status: str = "decoded"
    error: str | None = None
    sha256: str = ""
    bytes: int = 0
    rows: int = 0
    duplicates: int = 0
    undecodable: int = 0
    points: int = 0
    other_day: bool = False
    sequences: dict[str, tuple[int, int]] = field(default_factory=dict)
    slow_pushes: int = field(default=0, repr=False)

    def note(self, incarnation: builtins.bytes, first: int, last: int) -> None:
        """Extend `sequences` by those of records that became rows."""
        name = incarnation.hex()
        known_first, known_last = self.sequences.get(name, (first, last))
        self.sequences[name] = (min(known_first, first), max(known_last, last))

    @property
    def records(self) -> int:
        return self.rows + self.duplicates + self.undecodable


@dataclass
class TaskResult:
    """The result of one task: its objects, and the files it wrote by table name."""

    objects: list[DecodedObject]
    files: dict[str, list[str]]
