"""Every sentence that a user can meet, for somebody who reads them all: `python -m tests.messages [words]`.

Errors, warnings, what commands and panels show, buttons, hints, the help of options, and the sentences of rules. A name
in braces is filled in when the sentence is shown.
"""

# ruff: noqa: T201 - it prints sentences

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_SOURCE = Path(__file__).parents[1] / "src"
#: What shows its text to a person: functions, and arguments of any function.
_SHOWS = frozenset(
    {
        "say",
        "tell",
        "warn",
        "warning",
        "html",
        "status_html",
        "message_html",
        "button",
        "error",
        "becomes",
        "counted",
    }
)
_ARGUMENTS = frozenset(
    {"help", "epilog", "title", "problem", "fix", "reason", "description", "tooltip", "placeholder"}
)
#: Texts without a space are names and not sentences.
_SHORTEST = 8


class Message(NamedTuple):
    """A sentence, and where it is."""

    file: str
    line: int
    text: str


def messages(source: Path = _SOURCE) -> Iterator[Message]:
    """Yield each sentence of the two packages once, in the order of the files."""
    seen: set[str] = set()
    for path in sorted(source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for shown in _shown(node):
                text = _words(shown)
                if text is not None and " " in text.strip() and len(text) >= _SHORTEST and text not in seen:
                    seen.add(text)
                    yield Message(path.relative_to(source).as_posix(), shown.lineno, text)


def _shown(node: ast.AST) -> Iterator[ast.expr]:
    """Yield what a raised error or a call shows."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield from node.exc.args
    if isinstance(node, ast.Call):
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if name in _SHOWS:
            yield from node.args
        yield from (one.value for one in node.keywords if one.arg in _ARGUMENTS)
    if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr):
        yield node.value


def _words(shown: ast.expr) -> str | None:
    """Return a text with the names of what is filled in; None for what is no text."""
    if isinstance(shown, ast.Constant):
        return shown.value if isinstance(shown.value, str) else None
    if isinstance(shown, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else f"{{{ast.unparse(part.value)}}}"
            for part in shown.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    return None


def main(words: list[str]) -> int:
    found = [one for one in messages() if all(word.casefold() in one.text.casefold() for word in words)]
    for one in found:
        print(f"{one.file}:{one.line}: {' '.join(one.text.split())}")
    print(f"{len(found):,} sentences")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
