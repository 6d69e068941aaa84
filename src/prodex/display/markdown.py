"""An audit as Markdown, for wikis, issues and mails: the same figures as its repr, in tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from prodex.arguments import whole_number
from prodex.display.audit import lines, notes
from prodex.errors import InputError
from prodex.files.atomic import writing
from prodex.phrases import counted, percent
from prodex.quality.completeness import EVERY_LANGUAGE, Completeness
from prodex.untrusted_text import on_one_line

if TYPE_CHECKING:
    from prodex.quality.audit import Audit

#: What Markdown or the HTML in it would take for a mark. Suppliers type names that hold any of these.
_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")


def markdown_of(audit: Audit, path: str | Path | None = None, gaps: int = 10) -> str:
    """Return an audit as Markdown, and write it where a path is given; see `Audit.to_markdown`."""
    if whole_number(gaps, 0) is None:
        raise InputError(f"gaps is {gaps!r:.40}; give how many are listed, such as 10.")
    (headline, _), *others = [(str(line), is_warning) for line, is_warning in lines(audit)]
    above = [f"**{escaped(line)}**" if is_warning else escaped(line) for line, is_warning in others]
    parts = [f"# {escaped(headline)}", _items(above)]
    if audit.families is not None:
        parts += ["## Completeness", _completeness(audit)]
    found = audit.gaps()
    if len(found):
        shown = found.head(gaps)
        rows = [
            (
                *(row["problem"], row["severity"], f"{row['products']:,} of {row['applicable']:,}"),
                *(row["brings"].replace("->", "→"), row["fix"]),
            )
            for row in shown.to_dict("records")
        ]
        parts += [
            "## Largest gaps",
            f"{len(shown)} of {counted(len(found), 'gap')}.",
            _table(["Problem", "Severity", "Products", "If fixed", "To fix"], rows),
        ]
    else:
        parts.append("No check fails.")
    parts.append(_items(escaped(str(note)) for note in notes(audit)))
    text = "\n\n".join(part for part in parts if part) + "\n"
    if path is not None:
        with writing(Path(path)) as beside:
            beside.write_text(text, "utf-8", newline="\n")
    return text


def _completeness(audit: Audit) -> str:
    seen = Completeness.of(audit)
    table = seen.table_of_both()
    counts = _items(map(escaped, seen.counted(table).values()))
    table = table[table["language"] == EVERY_LANGUAGE]
    rows = []
    for row in table.to_dict("records"):
        code, name = list(row.values())[1:3]
        called = name if isinstance(name, str) else code if isinstance(code, str) else "without family"
        shares = [percent(row[one]) for one in ("completeness", "with_accepted")]
        numbers = [f"{row[one]:,}" for one in ("products", "complete", "unknown")]
        most = row["missing_most"] if isinstance(row["missing_most"], str) else ""
        rows.append((row["channel"], called, *numbers, *shares, most))
    heads = ["Channel", "Family", "Products", "Complete", "Unknown", "Share", "With accepted", "Missing most"]
    return f"{counts}\n\n{_table(heads, rows)}"


def escaped(text: str) -> str:
    r"""Return text so that Markdown shows it letter by letter, on one line.

    >>> print(escaped("a|b <b>*"))
    a\|b \<b\>\*
    """
    return _MARKS.sub(r"\\\1", on_one_line(text))


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *([escaped(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _items(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
