"""The words for the state of an application in a campaign."""

from typing import Final

OPEN = "open"
NEW = "new"
REGRESSED = "regressed"
ACKNOWLEDGED = "acknowledged"
PROMISED = "promised"
QUIET = "quiet"
WAIVED = "waived"
FIXED = "fixed"
RENAMED = "renamed"

STATES: Final = {
    REGRESSED: "was fixed, and is affected again",
    NEW: "affected, and first seen so after the campaign's first report",
    OPEN: "affected, and nobody has said anything",
    ACKNOWLEDGED: "affected, and its owner knows",
    PROMISED: "affected, and its owner has named a day that has not passed",
    QUIET: "was affected, and is not seen any more: not known to be fixed",
    WAIVED: "affected or quiet, and accepted until a day, for a reason",
    FIXED: "seen with good verdicts after it was last seen affected",
    RENAMED: "its affected clients are now counted under another name",
}
"""Most urgent first."""

WITHDRAWN: Final = "withdrawn"
"""No state of an application: a recorded change that a later run does not confirm."""

LEFT: Final = (REGRESSED, NEW, OPEN, ACKNOWLEDGED, PROMISED, QUIET)
"""States in which something is left to do."""
