"""How large the source is: `python -m tests.size [FOLDER]` prints modules, lines of code and comments of every package.

Lines of code are those that hold code: blank lines, comments and docstrings are not counted.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import Counter
from pathlib import Path

_NO_CODE = {
    tokenize.COMMENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.NEWLINE,
    tokenize.NL,
}
_SCOPES = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def size_of(source: str) -> Counter[str]:
    """Return the number of lines of a module: all, those of code, those with a comment alone."""
    code: set[int] = set()
    comments: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments.add(token.start[0])
        elif token.type not in _NO_CODE:
            code |= set(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, _SCOPES) and ast.get_docstring(node, clean=False) is not None:
            code -= set(range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1))
    return Counter(modules=1, lines=source.count("\n"), code=len(code), comments=len(comments))


def sizes(folder: Path) -> dict[str, Counter[str]]:
    """Return the size of every package below a folder, and of all together under "all"."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(folder.rglob("*.py")):
        size = size_of(path.read_text("utf-8"))
        for name in (path.parent.relative_to(folder).as_posix(), "all"):
            found[name] = found.get(name, Counter()) + size
    return dict(sorted(found.items(), key=lambda item: (item[0] == "all", item[0])))


def table(folder: Path) -> str:
    """Return the sizes as a table, a line for each package."""
    lines = [f"{'package':40} {'modules':>8} {'code':>8} {'comments':>9} {'of 100':>7} {'lines':>8}"]
    for name, size in sizes(folder).items():
        share = 100 * size["comments"] / max(size["code"], 1)
        lines.append(
            f"{name:40} {size['modules']:8,} {size['code']:8,} {size['comments']:9,} {share:7.1f} {size['lines']:8,}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(table(Path(sys.argv[1] if len(sys.argv) > 1 else "src")) + "\n")
