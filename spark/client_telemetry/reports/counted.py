"""A number and its noun, as people read them."""


def counted(count: int, noun: str) -> str:
    """
    >>> counted(1, "client"), counted(2048, "client")
    ('1 client', '2,048 clients')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
