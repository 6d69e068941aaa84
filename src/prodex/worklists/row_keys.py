"""The key of a row: which question it is, in one hidden cell, with a digest over all of it.

A workbook travels alone, and its rows are sorted, cut, copied into other workbooks and typed over. The key travels with
each row. It says what the row asks for (product, field, place, check, whose it is), what its cells showed, and which
text was at its place. So a row is recognized as itself wherever it is, one that somebody added or mixed with another is
told from it, and a key that was changed is known to be damaged.

A key holds no secret, and whoever reads these lines can make one. It protects against mistakes and not against fraud,
so its products and owners are compared with the catalogue and its audit.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, Self

import msgspec
import pyarrow as pa

from prodex.locales import short_of
from prodex.worklists.evidence import as_seen, visible_text
from prodex.worklists.layout import short_digest
from prodex.written_numbers import is_rounded

#: Cells that prodex fills in and nobody has to touch; somebody may still type into them.
EXPLAINED = ("problem", "reason", "fix", "how", "title", "asked_for")

#: There was no text at the place of a row.
NOTHING = "0"
_WORDS = 4
#: Different texts of one column that are kept: there are few among very many rows.
_KEPT = 10_000


class RowKey(NamedTuple):
    """Which question a row is, and what the row was when it was written.

    Attributes
    ----------
    product_id, check, attribute, language, language_code, position
        What it asks for, as in the columns of the worklist.
    updated_at
        When the product was last changed.
    same_answer
        What rows have in common that one answer can be for; None for a row that is answered by itself.
    whose
        Digest of the service that has the product, and of the owner.
    seen
        Digest of the value that it shows.
    place
        Digest of the text at its place, `NOTHING` if there was none; None where that is not one text.
    words
        Digests of its cells `EXPLAINED`, one after another.
    seal
        Digest of all of it.
    """

    product_id: str | None
    check: str | None
    attribute: str | None
    language: str | None
    language_code: str | None
    position: str | None
    updated_at: str | None
    same_answer: str | None
    whose: str
    seen: str
    place: str | None
    words: str
    seal: str = ""

    @property
    def sealed(self) -> Self:
        """The key with its digest."""
        return self._replace(seal=short_digest(*self[:-1]))

    @property
    def text(self) -> str:
        """The key as its cell holds it: a list in letters that every program and every encoding keeps."""
        return json.dumps(self, separators=(",", ":"))

    @classmethod
    def read(cls, text: str | None) -> Self | None:
        """Return the key that a cell holds; None where it holds none, or one in which anything was changed.

        >>> key = RowKey("7", "has_brand", "brand", *[None] * 5, "w", "s", None, "").sealed
        >>> RowKey.read(key.text) == key, RowKey.read(key.text.replace("7", "8")), RowKey.read(None)
        (True, None, None)
        >>> RowKey.read("\\ud83d") is None
        True
        """
        try:
            key = msgspec.json.decode(text or "", type=cls)
        except (msgspec.DecodeError, UnicodeEncodeError):  # half of a character is no text
            return None
        return key if key == key.sealed else None

    def is_of(self, host: str | None, owner: str | None, product: str, attribute: str | None) -> bool:
        """Whether it is the key of a row about this field of this product, of this service and owner."""
        return (self.whose, self.product_id, self.attribute) == (
            short_digest(host, owner),
            product,
            attribute,
        )

    def is_in(self, language: str | None) -> bool:
        """Whether it asks for this language, or for none, so that the answer says one."""
        return self.language is None or short_of(self.language) == language

    def shows(self, value: str) -> bool:
        """Whether a cell shows what was seen, as far as a spreadsheet leaves it; True where nobody can know."""
        return is_rounded(value) or self.seen == short_digest(as_seen(value))

    def explains(self, name: str, text: str) -> bool:
        """Whether one of the cells `EXPLAINED` is as it was written."""
        start = EXPLAINED.index(name) * _WORDS
        return is_rounded(text) or self.words[start : start + _WORDS] == _word_digest(text)

    def facts(self) -> dict[str, str]:
        """Return what it says of the row, by the columns of a worklist."""
        return {name: value for name in _FACTS if (value := getattr(self, name)) is not None}


_FACTS = RowKey._fields[: RowKey._fields.index("whose")]


def key_of(keys: Mapping[str, str]) -> RowKey | None:
    """Return the key of a row by what its cells hold; None where it has none, or a damaged one."""
    return RowKey.read(keys.get("row_key"))


def is_damaged(keys: Mapping[str, str]) -> bool:
    """Whether a row has a key in which somebody has changed something."""
    return "row_key" in keys and key_of(keys) is None


def place_digest(text: str | None) -> str:
    """Return the digest of the text at a place; `NOTHING` of none."""
    return NOTHING if text is None else short_digest(visible_text(text))


@lru_cache(_KEPT)
def _word_digest(text: str) -> str:
    return short_digest(as_seen(text))[:_WORDS]


def row_keys(rows: pa.Table, host: str | None) -> pa.Array:
    """Return the keys of rows that are written.

    Parameters
    ----------
    rows
        As `WORKLIST`; their column `row_key` has the digests of the texts at their places.
    host
        Of the service that has the products, if there is one.
    """
    updated = [None if one is None else one.isoformat() for one in rows["updated_at"].to_pylist()]
    texts = rows.set_column(
        rows.column_names.index("updated_at"), "updated_at", pa.array(updated, pa.string())
    )
    facts = texts.select(_FACTS).to_pylist()
    others = zip(
        *(rows[name].to_pylist() for name in ("owner_id", "value", "row_key", *EXPLAINED)), strict=True
    )
    keys = [
        RowKey(
            **own,
            whose=short_digest(host, owner),
            seen=short_digest(as_seen(value)),
            place=place,
            words="".join(_word_digest(text or "") for text in cells),
        ).sealed.text
        for own, (owner, value, place, *cells) in zip(facts, others, strict=True)
    ]
    return pa.array(keys, pa.string())
