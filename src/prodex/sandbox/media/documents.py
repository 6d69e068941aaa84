"""A document of a product: one page of PDF that says what it is, written by hand."""

from __future__ import annotations

import textwrap
from typing import Final

from prodex.sandbox.media.packs import Pack

_WIDTH, _HEIGHT, _MARGIN = 595, 842, 56
_LEADING: Final = 1.4
_CHARACTERS: Final = 84


def page(title: str, pack: Pack) -> bytes:
    """Return a document about a trade item as PDF.

    The fonts are those that every reader brings along; what their Latin letters lack is a question mark.
    """
    lines = [(20, title), (13, f"{pack.brand} {pack.name}".strip()), (11, f"GTIN {pack.gtin}"), (11, "")]
    lines += [(11, line) for line in textwrap.wrap(pack.small_print, _CHARACTERS)]
    lines += [(11, ""), (9, "An invented product of a local sandbox; nothing here is anybody's statement.")]
    text, top = [], _HEIGHT - _MARGIN
    for size, line in lines:
        top -= round(size * _LEADING)
        text.append(b"BT /F1 %d Tf %d %d Td (%b) Tj ET" % (size, _MARGIN, top, _escaped(line)))
    drawing = b"\n".join(text)
    return _written(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R"
            b" /Resources << /Font << /F1 5 0 R >> >> >>" % (_WIDTH, _HEIGHT),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(drawing), drawing),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        ]
    )


def _written(objects: list[bytes]) -> bytes:
    file, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(b"%010d 00000 n \n" % len(file))
        file += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, b"".join(places))
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(file))
    return file + table + trailer


def _escaped(line: str) -> bytes:
    text = line.encode("cp1252", "replace")
    return text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")
