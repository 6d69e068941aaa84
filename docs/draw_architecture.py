"""Draws the two pictures of the architecture page: `python docs/draw_architecture.py` writes docs/images.

The same file is shown on light and on dark pages, so text stands only inside boxes that bring their own ground.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

IMAGES = Path(__file__).parent / "images"

#: Rows of the package from top to bottom: a part imports only from rows below, and from parts to its right in its own
#: row. `prodex_sandbox` is apart. tests/test_architecture.py enforces it.
LAYERS = (
    ("Programs", ("cli",)),
    ("Panels and jobs", ("notebook", "job", "sandbox_weeks")),
    ("What people see", ("display", "exploration", "pictures")),
    ("In and out", ("load", "worklists", "send", "compare", "publishing")),
    ("Quality", ("packs", "quality", "facts")),
    ("Products on disk", ("store", "ledger")),
    ("The service", ("service", "network")),
    ("Catalogues", ("catalog", "formats", "selection", "files")),
    ("Tables and queries", ("changes", "tables", "query")),
    ("Foundation", ("executors", "colour_scale", "locales", "gtin", "phrases", "errors")),
)

#: kind of box -> (fill, border, text); every text has a contrast of more than 7 to its own fill.
_COLOURS = {
    "part": ("#e6eef9", "#5b82b5", "#16263d"),
    "value": ("#fdf1d8", "#b98a2e", "#3a2a08"),
    "outside": ("#e9e9ec", "#85858f", "#26262b"),
}
_LINE = "#7d8794"
_WIDTH = 860
#: Letters for which a box has room beside its name.
_ROOM = 2


@dataclass(frozen=True)
class Box:
    """A box with up to two lines of text; all lengths are in pixels."""

    x: int
    y: int
    width: int
    height: int
    kind: str
    title: str
    note: str = ""

    def svg(self) -> str:
        """Return the box and its text."""
        fill, border, ink = _COLOURS[self.kind]
        middle = self.x + self.width // 2
        first = self.y + self.height // 2 + (5 if not self.note else -3)
        place = f'x="{self.x}" y="{self.y}" width="{self.width}" height="{self.height}" rx="6"'
        lines = [
            f'<rect {place} fill="{fill}" stroke="{border}"/>',
            _text(self.title, middle, first, f'font-size="13" font-weight="600" fill="{ink}"'),
        ]
        if self.note:
            lines.append(_text(self.note, middle, first + 17, f'font-size="11" fill="{ink}"'))
        return "\n".join(lines)


def _text(words: str, x: int, y: int, style: str) -> str:
    return f'<text x="{x}" y="{y}" {style}>{escape(words)}</text>'


def _arrow(*points: tuple[int, int]) -> str:
    path = " ".join(f"{x},{y}" for x, y in points)
    return (
        f'<polyline points="{path}" fill="none" stroke="{_LINE}" stroke-width="1.6" marker-end="url(#tip)"/>'
    )


def _picture(height: int, description: str, parts: list[str]) -> str:
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label={quoteattr(description)} font-family="system-ui, sans-serif" text-anchor="middle">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{_LINE}"/></marker></defs>'
    )
    return "\n".join([head, *parts, "</svg>", ""])


def layers() -> str:
    """Return the picture of the package: its rows, and the sandbox apart from them."""
    parts, y = [], 10
    for title, names in LAYERS:
        parts.append(Box(10, y, 150, 38, "outside", title).svg())
        # Wider for a longer name.
        letters = sum(len(name) + _ROOM for name in names)
        room, x = 490 - 8 * (len(names) - 1), 170
        for name in names:
            width = room * (len(name) + _ROOM) // letters
            parts.append(Box(x, y, width, 38, "part", name).svg())
            x += width + 8
        y += 48
    at = 10 + 48 * [title for title, _ in LAYERS].index("The service") + 19
    parts.append(Box(720, 10, 130, y - 20, "part", "prodex_sandbox", "imports nothing").svg())
    parts.append(_arrow((662, at), (718, at)))
    parts.append(_arrow((718, at), (662, at)))
    parts.append(Box(667, at - 32, 46, 20, "outside", "HTTP").svg())
    return _picture(
        y,
        "The package in rows: a part imports only from parts below it or to its right; the sandbox is apart.",
        parts,
    )


def data_flow() -> str:
    """Return the picture of how products get from the service into tables, and corrections back."""
    parts = [
        Box(10, 20, 140, 50, "outside", "Exchange service", "or the sandbox").svg(),
        Box(190, 20, 120, 50, "part", "service", "client, retry, paging").svg(),
        Box(360, 20, 110, 50, "part", "load", "windows, pages").svg(),
        Box(520, 20, 120, 50, "value", "Journal", "pages as received").svg(),
        Box(690, 20, 160, 50, "part", "store: plan", "pure: newest copy, ledger").svg(),
        Box(690, 120, 160, 50, "part", "store: build, merge", "part by part").svg(),
        Box(510, 120, 140, 50, "value", "Snapshot", "Parquet, one rename").svg(),
        Box(330, 120, 140, 50, "value", "Catalog", "tables and origin").svg(),
        Box(10, 220, 130, 50, "part", "send", "check, upsert, track").svg(),
        Box(190, 220, 120, 50, "part", "compare", "Difference").svg(),
        Box(340, 220, 120, 50, "part", "quality", "rules, Audit").svg(),
        Box(490, 220, 120, 50, "part", "pictures", "checked files").svg(),
        Box(640, 220, 120, 50, "part", "formats", "Parquet, CSV, XLSX").svg(),
        Box(190, 320, 270, 50, "part", "display", "reprs, report, worklists, charts").svg(),
        Box(490, 320, 120, 50, "part", "notebook", "panels, corrections").svg(),
        Box(640, 320, 120, 50, "part", "cli", "commands").svg(),
        _arrow((150, 45), (188, 45)),
        _arrow((310, 45), (358, 45)),
        _arrow((470, 45), (518, 45)),
        _arrow((640, 45), (688, 45)),
        _arrow((770, 70), (770, 118)),
        _arrow((690, 145), (652, 145)),
        _arrow((510, 145), (472, 145)),
        _arrow((400, 170), (400, 218)),
        _arrow((400, 195), (250, 195), (250, 218)),
        _arrow((400, 195), (110, 195), (110, 218)),
        _arrow((400, 195), (550, 195), (550, 218)),
        _arrow((400, 195), (700, 195), (700, 218)),
        _arrow((45, 220), (45, 72)),
        _arrow((250, 270), (250, 318)),
        _arrow((400, 270), (400, 318)),
        _arrow((460, 345), (488, 345)),
        _arrow((610, 345), (638, 345)),
    ]
    return _picture(385, "How products get from the service into tables, and corrections back.", parts)


PICTURES = {"layers.svg": layers, "data-flow.svg": data_flow}

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (IMAGES / name).write_text(draw(), "utf-8")
