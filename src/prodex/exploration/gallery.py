"""What a gallery shows on a page: which products, in which groups, and the words in place of a missing picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from prodex.exploration.facet_values import FacetValues
from prodex.exploration.product_columns import ProductColumns, Rows
from prodex.facts.name import shown_one
from prodex.phrases import counted
from prodex.pictures.resize import data_url
from prodex.selection import Code
from prodex.tables.columns import Mask, is_true
from prodex.tables.fill_state import FillState
from prodex.untrusted_text import cut

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import SheetCell

#: Characters of a text below a picture.
_LONGEST, _LONGEST_PROBLEM = 120, 300
_URL, _PACKSHOT = "assets.pictures.url", "assets.pictures.isPackshot"
_COLUMNS = ("product_id", "gtin", "brand", "brand_code")
#: Words in place of a picture; other problems are shown as they were found.
_WORDS = {"not asked": FillState.NOT_ASKED.value}


@dataclass(frozen=True)
class TileGroup:
    """Products that are shown together.

    Attributes
    ----------
    code, label
        The value of a facet that they have; an empty label for a page that is one list.
    total
        How many products have it, shown or not.
    rows
        The places of those that are shown.
    """

    code: Code
    label: str
    total: int
    rows: tuple[int, ...]


class PicturedProducts:
    """Which products have a picture, according to their records: nothing is downloaded to know it.

    Parameters
    ----------
    products
        The products.

    Examples
    --------
    >>> import prodex
    >>> pictures = {"assets": {"pictures": [{"url": "https://example.com/a.jpg", "isPackshot": False}]}}
    >>> found = PicturedProducts(ProductColumns(prodex.flatten([{"id": 7, **pictures}, {"id": 8}])))
    >>> found.having().tolist(), found.having(packshots_only=True).tolist()
    ([True, False], [False, False])
    """

    def __init__(self, products: ProductColumns) -> None:
        self.products: ProductColumns = products
        self._known: dict[bool, Mask] = {}

    def read(self) -> Self:
        """Read what is needed, and return itself; may be called in a thread of its own."""
        self.having()
        self.products.names(None)
        self.products.read(*_COLUMNS)
        return self

    def is_asked(self, *, packshots_only: bool = False) -> bool:
        """Whether the service was asked for pictures; if not, a product without one may have one."""
        asked = self.products.catalog.origin.asked
        return asked(_URL) and (not packshots_only or asked(_PACKSHOT))

    def having(self, *, packshots_only: bool = False) -> Mask:
        """Return which products have a picture, or a packshot."""
        if packshots_only not in self._known:
            rows = self.products.own("pictures", "is_packshot")
            product = rows["product"].to_numpy()
            for only, those in ((False, product), (True, product[is_true(rows["is_packshot"])])):
                found = np.zeros(len(self.products), bool)
                found[those] = True
                self._known[only] = found
        return self._known[packshots_only]

    def summary(self, among: Mask, *, packshots_only: bool = False) -> str:
        """Return the sentence that says how many of some products have a picture."""
        what = "packshot" if packshots_only else "picture"
        if not self.is_asked(packshots_only=packshots_only):
            return f"{what.capitalize()}s were not requested when this catalogue was loaded."
        have = int((self.having(packshots_only=packshots_only) & among).sum())
        every = int(among.sum())
        return f"{have:,} of {counted(every, 'product')} {'has' if every == 1 else 'have'} a {what}."


def values_among(values: FacetValues, among: Mask) -> list[tuple[Code, str, int]]:
    """Return code, label and count of the values that some products have, most frequent first."""
    counts = values.count(among)
    there = [number for number in range(len(values.codes)) if counts[number]]
    there.sort(key=lambda number: -int(counts[number]))
    return [(values.codes[number], values.labels[number], int(counts[number])) for number in there]


def groups_of(
    values: FacetValues,
    shown: Sequence[tuple[Code, str, int]],
    ordered: Rows,
    pictured: Mask,
    per_group: int,
) -> list[TileGroup]:
    """Return the first products of each value, those that have a picture before the others.

    Parameters
    ----------
    values
        The facet.
    shown
        The values to show, from `values_among`.
    ordered
        The products that are shown at all, in their order.
    pictured
        Which products have a picture.
    per_group
        How many products of a value are shown at most.
    """
    made = []
    for code, label, total in shown:
        own = ordered[values.having((code,))[ordered]]
        first = np.concatenate([own[pictured[own]], own[~pictured[own]]])[:per_group]
        made.append(TileGroup(code, label, total, tuple(first.tolist())))
    return made


def sheet_rows(products: ProductColumns, rows: Sequence[int]) -> list[dict[str, Any]]:
    """Return what a contact sheet needs to know of some products."""
    products.read(*_COLUMNS)
    taken = {name: products.column(name).take(pa.array(rows, pa.int64())).to_pylist() for name in _COLUMNS}
    return [dict(zip(taken, row, strict=True)) for row in zip(*taken.values(), strict=True)]


def tiles(
    products: ProductColumns,
    rows: Sequence[int],
    cells: Mapping[str, SheetCell],
    *,
    is_loading: bool,
    pictured: PicturedProducts,
    packshots_only: bool,
    address: Callable[[bytes], str] = data_url,
) -> list[dict[str, Any]]:
    """Return what is shown of some products, as values of JSON.

    Parameters
    ----------
    products
        The products.
    rows
        Their places.
    cells
        Their pictures by product id, as far as they are there.
    is_loading
        Whether pictures are being downloaded.
    pictured
        Which products have a picture.
    packshots_only
        Whether only packshots are shown.
    address
        Makes of a picture what its tile has as `src`.
    """
    is_asked = pictured.is_asked(packshots_only=packshots_only)
    have = pictured.having(packshots_only=packshots_only)
    names = products.names(None).take(pa.array(rows, pa.int64())).to_pylist()
    made = []
    for place, name, row in zip(rows, names, sheet_rows(products, rows), strict=True):
        cell = cells.get(row["product_id"])
        missing = "" if have[place] else "no packshot" if packshots_only else "no picture"
        missing = missing if is_asked else "not asked"
        made.append(
            {
                "id": row["product_id"],
                "name": cut(name, _LONGEST) if name else "",
                "gtin": cut(row["gtin"] or f"id {row['product_id']}", _LONGEST),
                "brand": cut(shown_one(row["brand"], row["brand_code"]) or "", _LONGEST),
                **_picture_or_words(cell, missing, address, is_loading=is_loading),
            }
        )
    return made


def _picture_or_words(
    cell: SheetCell | None, missing: str, address: Callable[[bytes], str], *, is_loading: bool
) -> dict[str, Any]:
    """Return the picture of a product, or the words in its place."""
    empty = {"src": None, "words": _WORDS.get(missing, missing), "state": "missing", "mark": ""}
    if cell is None:
        if missing:
            return empty
        return {**empty, "state": "waiting", "words": "loading …" if is_loading else "picture not loaded"}
    thumbnail = cell.thumbnail
    if thumbnail.bytes is None:
        problem = thumbnail.problem or "no picture"
        # If there is a picture, the words describe what is wrong with it.
        state = "broken" if thumbnail.position is not None else "missing"
        return {**empty, "words": cut(_WORDS.get(problem, problem), _LONGEST_PROBLEM), "state": state}
    mark = "" if thumbnail.is_packshot else "no packshot"
    more = f"+{cell.others:,}" if cell.others else ""
    return {
        "src": address(thumbnail.bytes),
        "words": "",
        "state": "shown",
        "mark": " ".join(filter(None, (mark, more))),
    }
