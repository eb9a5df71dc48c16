"""Text files that people made."""

from client_telemetry import Unusable


class NotText(Unusable):
    """Neither UTF-8 nor UTF-16; the message says which it seemed to be, and where it stops being it."""


def decoded(content: bytes) -> str:
    """UTF-8, or UTF-16 with a byte order mark, as editors and PowerShell (`kafka-configs … > users.txt`) write it. Lines
    end with `\\n`. Raises NotText.
    """
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return content.decode(encoding).replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise NotText(f"not {encoding.removesuffix('-sig').upper()} at byte {error.start}") from None
