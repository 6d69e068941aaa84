"""Which product is meant by what was written down about one: by its GTIN first, else by its id.

A product that is created again has another id, and an id may be given to another product. So a GTIN names its product.
Where several products of a catalogue have it, it names none of them, and each is told by its id as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin as gtins
from prodex.errors import InputError
from prodex.tables.columns import as_one_chunk

_Texts: TypeAlias = "pa.Array | pa.ChunkedArray"


def subject_of(product: str, gtin: str | None) -> str:
    """Return what names a product: its GTIN, else its id.

    Parameters
    ----------
    product
        Its id.
    gtin
        Its GTIN, in any spelling.

    Examples
    --------
    >>> subject_of("7", "3036811359935"), subject_of("7", None)
    ('03036811359935', '|7')
    """
    # A sign that no GTIN has: an id is never taken for a GTIN.
    return comparable_gtin(gtin) or f"|{product}"


def comparable_gtin(gtin: str | None) -> str | None:
    """Return a GTIN as it compares, with leading zeros; None for a blank one.

    >>> comparable_gtin("3036811359935"), comparable_gtin(" "), comparable_gtin("no GTIN")
    ('03036811359935', None, 'no GTIN')
    """
    # Nearly always it is written so already.
    if gtin is None or (len(gtin) == 14 and gtin.isascii() and gtin.isdigit()):
        return gtin
    try:
        return gtins.comparable(gtin) or None
    except InputError:  # no GTIN, as a spreadsheet shows numbers or dates
        return gtin.strip() or None


def comparable_gtins(column: _Texts) -> pa.Array:
    """Return the same for a column; the GTINs of a catalogue are nearly all of 14 digits."""
    texts = as_one_chunk(column)
    odd = pc.invert(pc.fill_null(pc.match_substring_regex(texts, "^[0-9]{14}$"), True))
    if not pc.any(odd).as_py():
        return texts
    made = pa.array([comparable_gtin(one) for one in texts.filter(odd).to_pylist()], pa.string())
    return pc.replace_with_mask(texts, odd, made)


def shared_gtins(columns: Iterable[_Texts]) -> frozenset[str]:
    """Return the GTINs that several products have, of whose GTINs these are columns.

    >>> shared_gtins([pa.array(["03036811359935", None]), pa.array(["3036811359935", None, "03036811359936"])])
    frozenset({'03036811359935'})
    """
    every = pa.chunked_array([comparable_gtins(one) for one in columns], pa.string()).drop_null()
    counted = every.value_counts()
    several = np.asarray(counted.field("counts").to_numpy(zero_copy_only=False)) > 1
    return frozenset(counted.field("values").filter(pa.array(several)).to_pylist())
