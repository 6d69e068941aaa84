"""The mark of a row: what it was when prodex wrote it, in a few digests in a hidden column.

A workbook travels alone, and a CSV file has no hidden sheet. With its mark, each row says by itself what it asked for
(product, field and language, and whose they are), what its cells showed, and which text was at its place. So rows that
somebody added or changed, and cells that somebody typed over, are distinguished from those that prodex wrote. A mark
holds no secret, and whoever reads these lines can make one. It protects against mistakes and not against fraud, so its
products and owners are compared with the catalogue and its audit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, Self

import pyarrow as pa

from prodex.locales import short_of
from prodex.worklists.evidence import as_seen, is_rounded, visible
from prodex.worklists.layout import digest

#: Cells that prodex fills in and nobody has to touch; somebody may still type into them.
EXPLAINED = ("problem", "reason", "fix", "how", "title")

#: There was no text at the place of a row.
NOTHING = "0"
_WORDS = 4
_MARK = re.compile(
    rf"m([0-9a-f]{{8}})\.([0-9a-f]{{8}})\.([0-9a-f]{{8}}|0|)\.([0-9a-f]{{{_WORDS * len(EXPLAINED)}}})"
)
#: Different texts of one column that are kept: there are few among very many rows.
_KEPT = 10_000


class RowMark(NamedTuple):
    """What a row was when it was written.

    Attributes
    ----------
    asked
        Digest of what it asks for; see `asked_for`.
    seen
        Digest of the value that it shows.
    place
        Digest of the text at its place, `NOTHING` if there was none; empty where that is not one text.
    words
        Digests of its cells `EXPLAINED`, one after another.
    """

    asked: str
    seen: str
    place: str
    words: str

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Return the mark that a cell holds; None if it holds none.

        >>> RowMark.read("m0a1b2c3d.0a1b2c3d.0.00112233445566778899").place, RowMark.read("-")
        ('0', None)
        """
        found = None if text is None else _MARK.fullmatch(text.strip())
        return None if found is None else cls(*found.groups())

    def shows(self, value: str) -> bool:
        """Whether a cell shows what was seen, as far as a spreadsheet leaves it; True where nobody can know."""
        return is_rounded(value) or self.seen == digest(as_seen(value))

    def explains(self, name: str, text: str) -> bool:
        """Whether one of the cells `EXPLAINED` is as it was written."""
        start = EXPLAINED.index(name) * _WORDS
        return is_rounded(text) or self.words[start : start + _WORDS] == _mark_word(text)


def asked_for(
    host: str | None, owner: str | None, product: str | None, attribute: str | None, language: str | None
) -> str:
    """Return the digest of what a row asks for.

    Parameters
    ----------
    host
        Of the service that has the product.
    owner
        What the owner of the product is known by.
    product, attribute, language
        The place.

    Examples
    --------
    >>> asked_for(None, "4", "7", "brand", None) == asked_for(None, "5", "7", "brand", None)
    False
    """
    return digest(host, owner, product, attribute, None if language is None else short_of(language))


def place_digest(text: str | None) -> str:
    """Return the digest of the text at a place; `NOTHING` of none."""
    return NOTHING if text is None else digest(visible(text))


@lru_cache(_KEPT)
def _mark_word(text: str) -> str:
    return digest(as_seen(text))[:_WORDS]


def row_marks(rows: pa.Table, host: str | None) -> pa.Array:
    """Return the marks of rows that are written.

    Parameters
    ----------
    rows
        As `WORKLIST`; their column `row_mark` has the digests of the texts at their places.
    host
        Of the service that has the products, if there is one.
    """
    asked = (rows[name].to_pylist() for name in ("owner_id", "product_id", "attribute", "language"))
    words: Sequence[Sequence[str | None]] = [rows[name].to_pylist() for name in EXPLAINED]
    pairs = zip(*asked, rows["value"].to_pylist(), rows["row_mark"].to_pylist(), *words, strict=True)
    marks = [
        f"m{asked_for(host, owner, product, attribute, language)}.{digest(as_seen(value))}.{place or ''}."
        f"{''.join(_mark_word(text or '') for text in cells)}"
        for owner, product, attribute, language, value, place, *cells in pairs
    ]
    return pa.array(marks, pa.string())
