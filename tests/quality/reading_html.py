"""Reading a page as any browser would, with the standard library's parser: elements, attributes, text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

_VOID = {"meta", "img", "input", "link", "br", "hr", "base", "source", "embed"}


@dataclass
class Node:
    """An element: its name, attributes, and what is in it."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    inside: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(one if isinstance(one, str) else one.text for one in self.inside)

    @property
    def words(self) -> str:
        return " ".join(self.text.split())

    def walk(self) -> Iterator[Node]:
        for one in self.inside:
            if isinstance(one, Node):
                yield one
                yield from one.walk()

    def all(self, name: str, **attributes: str) -> list[Node]:
        wanted = {key.rstrip("_"): value for key, value in attributes.items()}
        return [one for one in self.walk() if one.name == name and wanted.items() <= one.attributes.items()]

    def one(self, name: str, **attributes: str) -> Node:
        (found,) = self.all(name, **attributes)
        return found

    def rows(self) -> list[list[str]]:
        """Return the cells of a table's body."""
        (body,) = self.all("tbody")
        return [
            [cell.words for cell in row.inside if isinstance(cell, Node)]
            for row in body.inside
            if isinstance(row, Node)
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.top = Node("")
        self.open = [self.top]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].inside.append(node)
        if tag not in _VOID:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> closes <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].inside.append(data)


@lru_cache(maxsize=4)
def parsed(text: str) -> Node:
    """Return the elements of a page; one that is not closed properly is an error."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert [reader.top] == reader.open, f"<{reader.open[-1].name}> is not closed"
    return reader.top


def read(path: Path) -> Node:
    return parsed(path.read_text("utf-8"))
