"""Text that a spreadsheet would run: clients choose their names, and CSV files are opened in spreadsheets."""

STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "|", "%", "＝", "＋", "－", "＠")
"""What a spreadsheet may take for the start of a formula (OWASP, CSV Injection; `|` and `%` for DDE)."""


def guarded(text: str) -> str:
    """The text of a cell, with an apostrophe in front where a spreadsheet would see a formula.

    >>> guarded("=1+1"), guarded(" @SUM(A1)"), guarded("orders")
    ("'=1+1", "' @SUM(A1)", 'orders')
    """
    return f"'{text}" if text.lstrip(" ").startswith(STARTS) else text
