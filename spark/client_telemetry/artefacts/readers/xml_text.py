"""XML of strangers as a small tree with lines: entities, DTDs and external references are refused (defusedxml)."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.sax import SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.xmlreader import AttributesImpl, InputSource, Locator

from defusedxml import DefusedXmlException
from defusedxml.sax import make_parser

from client_telemetry.artefacts.packages import Unreadable

_DEEPEST = 100


@dataclass
class Element:
    """`name` without its namespace."""

    name: str
    line: int
    attributes: dict[str, str]
    text: str = ""
    children: list["Element"] = field(default_factory=list)
    text_line: int = 0
    """Where the text begins."""

    def all(self, name: str) -> Iterator["Element"]:
        return (child for child in self.children if child.name == name)

    def first(self, *path: str) -> "Element | None":
        """The first element at a path of names below this one."""
        here: Element | None = self
        for name in path:
            here = next(here.all(name), None) if here else None
        return here

    def value(self, *path: str) -> str:
        """The text at a path, without white space around it; empty if there is none."""
        at = self.first(*path)
        return at.text.strip() if at else ""

    def everywhere(self, name: str) -> Iterator["Element"]:
        """Elements of this name at any depth."""
        for child in self.children:
            if child.name == name:
                yield child
            yield from child.everywhere(name)


class _Tree(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", 0, {})
        self._open = [self.root]
        self._locator: Locator | None = None

    def setDocumentLocator(self, locator: Locator) -> None:  # noqa: N802
        self._locator = locator

    def _line(self) -> int:
        return (self._locator.getLineNumber() if self._locator else None) or 0

    def startElement(self, name: str, attrs: AttributesImpl) -> None:  # noqa: N802
        if len(self._open) > _DEEPEST:
            raise Unreadable(f"elements are nested more than {_DEEPEST} deep")
        element = Element(name.rpartition(":")[2], self._line(), dict(attrs.items()))
        self._open[-1].children.append(element)
        self._open.append(element)

    def characters(self, content: str) -> None:
        here = self._open[-1]
        if not here.text.strip() and content.strip():
            here.text_line = self._line()
        here.text += content

    def endElement(self, name: str) -> None:  # noqa: N802
        self._open.pop()


def parse(text: str, root: str) -> Element:
    """The root element, which must have the name `root`. Raises Unreadable."""
    tree = _Tree()
    parser = make_parser()
    parser.forbid_dtd = True
    parser.setContentHandler(tree)
    try:
        # As text: the encoding that it declares is that of the file, not of this.
        source = InputSource()
        source.setCharacterStream(io.StringIO(text))
        parser.parse(source)
    except DefusedXmlException:
        raise Unreadable("refused: it has a DTD or entities, which may reach other files") from None
    except LookupError as error:
        raise Unreadable(f"not XML: {error}") from None
    except SAXParseException as error:
        raise Unreadable(f"not XML: {error.getMessage()} at line {error.getLineNumber()}") from None
    found = tree.root.first(root)
    if found is None:
        raise Unreadable(f"no element <{root}>")
    return found
