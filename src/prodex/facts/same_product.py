"""Which product is meant by what was written down about one: by its GTIN first, else by its id.

A product that is created again has another id, and an id may be given to another product. So a GTIN names its product
as long as no other product of the catalogue has it. Where several have it, it is told by its id as well; one without a
GTIN has its id alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin as gtins
from prodex.errors import InputError
from prodex.tables.columns import whole

_Texts = pa.Array | pa.ChunkedArray


def subject_of(product: str, gtin: str | None, shared: Collection[str] = ()) -> str:
    """Return what names a product: the same text means the same product.

    Parameters
    ----------
    product
        Its id.
    gtin
        Its GTIN, in any spelling.
    shared
        The GTINs that several products of the catalogue have; see `shared_gtins`.

    Examples
    --------
    >>> subject_of("7", "3036811359935") == subject_of("8", "03036811359935")
    True
    >>> subject_of("7", "03036811359935", {"03036811359935"}) == subject_of("8", "03036811359935", {"03036811359935"})
    False
    >>> subject_of("7", None) == subject_of("8", None)
    False
    """
    known = comparable_gtin(gtin)
    # Digits and a sign that no GTIN has: an id is never taken for a GTIN.
    return f"|{product}" if known is None else f"{known}|{product}" if known in shared else known


def comparable_gtin(gtin: str | None) -> str | None:
    """Return a GTIN as it compares, with leading zeros; None for a blank one.

    >>> comparable_gtin("3036811359935"), comparable_gtin(" "), comparable_gtin("no GTIN")
    ('03036811359935', None, 'no GTIN')
    """
    # Nearly always it is written so already.
    if gtin is None or (len(gtin) == 14 and gtin.isascii() and gtin.isdigit()):
        return gtin
    try:
        return gtins.comparable_cell(gtin) or None
    except InputError:  # no GTIN, as a spreadsheet shows numbers or dates
        return gtin.strip() or None


def comparable_gtins(column: _Texts) -> pa.Array:
    """Return the same for a column; the GTINs of a catalogue are nearly all of 14 digits."""
    texts = whole(column)
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
