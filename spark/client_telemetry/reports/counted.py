"""A number and its noun, as people read them."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """
    >>> counted(1, "client"), counted(2048, "client"), counted(2, "push", "pushes")
    ('1 client', '2,048 clients', '2 pushes')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"
