"""Letters that were lost when a file was saved, as the texts of the catalogue prove.

A program that saves a file in the code page of its country writes a question mark for every letter that this lacks. A
text of the catalogue that is in the file with such marks proves it; then an answer with a question mark may lack a
letter as well.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.encodings import Known, skeleton
from prodex.errors import NotExported

#: Columns of products whose texts worklists show: texts, labels and values.
_TEXTS = (
    ("texts", ["text"]),
    ("products", ["brand", "kind", "packaging", "owner"]),
    ("codes", ["label"]),
    ("scalars", ["value"]),
)
#: What programs write for a letter that they cannot write or read.
LOST = frozenset("?\ufffd")


def known_texts(catalog: Catalog) -> Known:
    """Return what knows the texts of a catalogue, by their letters within ASCII.

    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "C", "label": "Crème"}}])
    >>> sorted(known_texts(catalog)(["Cr?me", "Pain"]))
    ['Crème']
    """

    def known(skeletons: Collection[str]) -> set[str]:
        wanted = pa.array(sorted(skeletons), pa.string())
        found: set[str] = set()
        for column in _text_columns(catalog):
            plain = pc.replace_substring_regex(column, r"[^\x00-\x7F]", "?")
            found.update(column.filter(pc.is_in(plain, wanted)).to_pylist())
        return found

    return known


def _text_columns(catalog: Catalog) -> Iterator[pa.ChunkedArray]:
    # One part at a time: all texts of a large catalogue take much memory.
    for part in catalog.parts:
        for table, columns in _TEXTS:
            for column in columns:
                try:
                    yield part.read(table, [column])[column]
                except NotExported:
                    continue


def find_lost_letters(texts: Iterable[str], known: Known) -> tuple[str, str] | None:
    """Return a text of a file whose letters were lost, and as the catalogue has it; None if none is known to be.

    Parameters
    ----------
    texts
        Texts of the file that have a question mark or U+FFFD.

    Examples
    --------
    >>> find_lost_letters(["Who?", "Cr?me"], lambda asked: {"Crème", "Who?"})
    ('Cr?me', 'Crème')
    """
    asked = {text: skeleton(text) for text in texts}
    there = known(set(asked.values())) if asked else ()
    by_skeleton: dict[str, list[str]] = {}
    for one in sorted(there):
        by_skeleton.setdefault(skeleton(one), []).append(one)
    for text, plain in asked.items():
        whole = by_skeleton.get(plain, [])
        if text not in whole:
            for one in whole:
                if all(mine == its or mine in LOST for mine, its in zip(text, one, strict=True)):
                    return text, one
    return None
