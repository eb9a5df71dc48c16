"""The static initializer of a Java class file, as far as enums need it: what it loads, and where it puts it.

Format: The Java Virtual Machine Specification, chapter 4. Only straight-line code is read, which javac writes for enum
constants; an instruction that is not expected there ends the reading with UnreadableClass. Nothing is executed.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple


class UnreadableClass(ValueError):
    """Not a class file, or its static initializer is not what javac writes for an enum."""


class Step(NamedTuple):
    """One instruction: `push` a constant, `get` or `put` a static field, `call` a method, `new` for an object."""

    kind: str
    name: str
    """Of the field or method; its class for `new`."""
    owner: str
    """Class of the field or method, with slashes."""
    value: int | str | None = None
    """Of a constant."""


_FIXED = {
    3: 4,
    4: 4,
    9: 4,
    10: 4,
    11: 4,
    12: 4,
    17: 4,
    18: 4,
    5: 8,
    6: 8,
    7: 2,
    8: 2,
    16: 2,
    19: 2,
    20: 2,
    15: 3,
}
"""Constant pool tag -> bytes after it."""
_INTERFACE_CALL, _DYNAMIC_CALL = 0xB9, 0xBA
_SILENT = {0x59: 0, 0x53: 0, 0xBD: 2, 0xB1: 0, 0x57: 0, _DYNAMIC_CALL: 4, 0x01: 0, 0xC0: 2}
"""dup, aastore, anewarray, return, pop, invokedynamic, aconst_null, checkcast -> bytes of operands."""
_STATIC = {0xB2: "get", 0xB3: "put", 0xB6: "call", 0xB7: "call", 0xB8: "call", _INTERFACE_CALL: "call"}


class ClassFile:
    def __init__(self, content: bytes) -> None:
        """Raises UnreadableClass."""
        try:
            self._content = content
            self._place = 8
            if content[:4] != b"\xca\xfe\xba\xbe":
                raise UnreadableClass("not a class file")
            self._pool = self._read_pool()
            self._place += 2
            self.name = self._class_name(self._short())
        except (struct.error, IndexError, KeyError, UnicodeDecodeError) as error:
            raise UnreadableClass(f"not a whole class file: {error}") from error

    def static_steps(self) -> list[Step]:
        """What the static initializer does, in order; it ends before the first branch. Raises UnreadableClass."""
        try:
            return list(self._steps(self._code_of("<clinit>")))
        except (struct.error, IndexError, KeyError, TypeError) as error:
            raise UnreadableClass(f"{self.name}: its static initializer cannot be read: {error}") from error

    def _short(self) -> int:
        (value,) = struct.unpack_from(">H", self._content, self._place)
        self._place += 2
        return int(value)

    def _read_pool(self) -> dict[int, tuple[int, bytes]]:
        pool, index, count = {}, 1, self._short()
        while index < count:
            tag = self._content[self._place]
            self._place += 1
            size = self._short() if tag == 1 else _FIXED[tag]
            pool[index] = (tag, self._content[self._place : self._place + size])
            self._place += size
            index += 2 if tag in (5, 6) else 1
        return pool

    def _text(self, index: int) -> str:
        return self._pool[index][1].decode("utf-8", "surrogateescape")

    def _class_name(self, index: int) -> str:
        return self._text(int.from_bytes(self._pool[index][1]))

    def _constant(self, index: int) -> int | str | None:
        tag, content = self._pool[index]
        if tag == 8:
            return self._text(int.from_bytes(content))
        return int.from_bytes(content, signed=True) if tag == 3 else None

    def _member(self, index: int) -> tuple[str, str]:
        """Class and name of a field or method."""
        owner, name_and_type = struct.unpack(">HH", self._pool[index][1])
        (name, _) = struct.unpack(">HH", self._pool[name_and_type][1])
        return self._class_name(owner), self._text(name)

    def _code_of(self, method: str) -> bytes:
        place, self._place = self._place, self._place + 2
        interfaces = self._short()
        self._place += 2 * interfaces
        for is_method in (False, True):
            for _ in range(self._short()):
                self._place += 2
                name = self._text(self._short())
                self._place += 2
                for attribute, body in self._attributes():
                    if is_method and name == method and attribute == "Code":
                        self._place = place
                        (size,) = struct.unpack_from(">I", body, 4)
                        return body[8 : 8 + size]
        raise UnreadableClass(f"{self.name}: has no static initializer")

    def _attributes(self) -> Iterator[tuple[str, bytes]]:
        for _ in range(self._short()):
            name = self._text(self._short())
            (size,) = struct.unpack_from(">I", self._content, self._place)
            self._place += 4 + size
            yield name, self._content[self._place - size : self._place]

    def _steps(self, code: bytes) -> Iterator[Step]:
        place = 0
        while place < len(code):
            operation = code[place]
            place += 1
            if 0x02 <= operation <= 0x08:  # iconst_m1 to iconst_5
                yield Step("push", "", "", operation - 3)
            elif 0x10 <= operation <= 0x13:  # bipush, sipush; ldc, ldc_w
                operand = code[place : place + 1 + operation % 2]
                is_number = operation <= 0x11
                value = int.from_bytes(operand, signed=is_number)
                yield Step("push", "", "", value if is_number else self._constant(value))
                place += len(operand)
            elif operation == 0xBB:
                yield Step("new", self._class_name(int.from_bytes(code[place : place + 2])), "")
                place += 2
            elif operation in _STATIC:
                owner, name = self._member(int.from_bytes(code[place : place + 2]))
                yield Step(_STATIC[operation], name, owner)
                place += 4 if operation == _INTERFACE_CALL else 2
            elif operation in _SILENT:
                place += _SILENT[operation]
            else:
                return  # what follows the constants: loops and locals
