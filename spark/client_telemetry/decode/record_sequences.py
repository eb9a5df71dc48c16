"""The sequences of the records read so far, by broker incarnation: a record with one of them is a duplicate."""

import numpy as np


class Sequences:
    """Grows by 8 bytes for each record in a series, and by some 100 for a single one."""

    def __init__(self) -> None:
        self._alone: dict[bytes, set[int]] = {}
        self._in_order: dict[bytes, list[np.ndarray]] = {}

    def has(self, incarnation: bytes, sequence: int) -> bool:
        if sequence in self._alone.get(incarnation, ()):
            return True
        return incarnation in self._in_order and self.has_any(incarnation, np.array([sequence]))

    def add(self, incarnation: bytes, sequence: int) -> None:
        self._alone.setdefault(incarnation, set()).add(sequence)

    def has_any(self, incarnation: bytes, ascending: np.ndarray) -> bool:
        """Whether any of these, int64[n], strictly ascending, is contained."""
        if not len(ascending):
            return False
        alone = self._alone.get(incarnation)
        if alone and not alone.isdisjoint(ascending.tolist()):
            return True
        return any(
            run[0] <= ascending[-1] and ascending[0] <= run[-1] and np.isin(ascending, run).any()
            for run in self._in_order.get(incarnation, ())
        )

    def add_all(self, incarnation: bytes, ascending: np.ndarray) -> None:
        if len(ascending):
            self._in_order.setdefault(incarnation, []).append(ascending)
