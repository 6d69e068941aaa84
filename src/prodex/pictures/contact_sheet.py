"""Contact sheets: a picture for each product of a page, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.arguments import whole_number
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.facts.name import names_of, shown_one
from prodex.files.untrusted import leads_to_folder
from prodex.limits import Limits
from prodex.phrases import counted
from prodex.pictures.resize import SmallPicture
from prodex.pictures.thumbnails import (
    NO_PACKSHOT,
    NO_PICTURE,
    NOT_ASKED,
    Thumbnail,
    nothing_in,
    pictures_of,
    small_pictures,
)
from prodex.progress import PATIENCE, SILENT, Progress, Reporter, reporting
from prodex.tables.frames import to_frame
from prodex.untrusted_text import on_one_line

#: More pictures would make a page that browsers scroll with difficulty.
_PER_PAGE = range(1, 501)
_BROKEN = "with a picture that is broken or could not be downloaded"
_PROBLEMS = {
    NO_PICTURE: "without any",
    NO_PACKSHOT: "without a packshot",
    NOT_ASKED: "for which pictures were not requested",
}


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A product on a contact sheet.

    Attributes
    ----------
    thumbnail
        Its packshot, else its first picture, or why there is none.
    name, brand
        The names of product and brand; None if there are none.
    others
        Number of its further pictures.
    """

    thumbnail: Thumbnail
    name: str | None
    brand: str | None
    others: int


@dataclass(frozen=True, slots=True)
class SheetGroup:
    """Products of a contact sheet that have something in common.

    Attributes
    ----------
    label
        What they have in common.
    cells
        How many of the cells are theirs; the groups are in the order of the cells.
    total
        How many such products there are.
    """

    label: str
    cells: int
    total: int


@dataclass(frozen=True, eq=False, repr=False)
class Gallery:
    """A page of a contact sheet.

    Attributes
    ----------
    cells
        Its products.
    page, pages
        Number of the page, and of pages.
    first, total
        Number of the first product of the page, from 1, and of products of the catalogue.
    source
        The source of the catalogue.
    size
        Pixels of the longest side of a picture.
    groups
        The groups of the products, such as brands; none where they are one list.
    chosen
        By what they were chosen, such as "kind: Tofu"; empty for all products.
    of
        Of how many products they were chosen; None for all of them.

    Examples
    --------
    >>> import prodex
    >>> sheet = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).gallery()
    >>> sheet.files[["gtin", "problem"]].values.tolist()
    [['03036811359935', 'no packshot']]
    """

    cells: tuple[SheetCell, ...]
    page: int
    pages: int
    first: int
    total: int
    source: str
    size: int
    groups: tuple[SheetGroup, ...] = ()
    chosen: str = ""
    of: int | None = None

    @property
    def title(self) -> str:
        """Which products these are, and which page."""
        if not self.cells:
            return "no products"
        listed = f"products {self.first:,}-{self.first + len(self.cells) - 1:,} of {self.total:,}"
        if self.groups:
            listed = f"{len(self.cells):,} of {counted(self.total, 'product')} in {counted(len(self.groups), 'group')}"
        chosen = f"{self.chosen}: " if self.chosen else ""
        every = f" (chosen from {counted(self.of, 'product')})" if self.of and self.of > self.total else ""
        return f"{chosen}{listed}{every}, page {self.page:,} of {self.pages:,}"

    @property
    def summary(self) -> str:
        """Number of products of the page with a picture, and why the others have none."""
        problems = Counter(filter(None, (_problem_kind(cell.thumbnail) for cell in self.cells)))
        shown = len(self.cells) - problems.total()
        reasons = "".join(f", {count} {_PROBLEMS.get(one, one)}" for one, count in problems.most_common())
        return f"{shown} of {len(self.cells)} with a picture{reasons}"

    @property
    def files(self) -> pd.DataFrame:
        """One row for each product of the page: product_id, gtin, name, brand, position, is_packshot, url, width,
        height (of the original, according to the record), others, shown, problem."""
        rows = [
            {
                **{name: getattr(cell.thumbnail, name) for name in _OF_THUMBNAIL},
                "name": cell.name,
                "brand": cell.brand,
                "width": cell.thumbnail.original[0],
                "height": cell.thumbnail.original[1],
                "others": cell.others,
                "shown": cell.thumbnail.bytes is not None,
            }
            for cell in self.cells
        ]
        return to_frame(pa.Table.from_pylist(rows, schema=_FILES))

    def to_html(self, path: str | Path) -> Path:
        """Write the page as one HTML file that opens offline and can be printed.

        Parameters
        ----------
        path
            The file; an existing one is replaced.

        Raises
        ------
        InputError
            When the path is that of a folder.
        StorageError
            When the disk refuses.

        Examples
        --------
        >>> import prodex, tempfile
        >>> sheet = prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).gallery()
        >>> sheet.to_html(f"{tempfile.mkdtemp()}/sheet.html").name
        'sheet.html'
        """
        page = Path(path).absolute()
        if leads_to_folder(page):
            raise InputError(f"{path} is a folder. Name the file, such as {Path(path) / 'gallery.html'}.")
        from prodex.display.contact_sheet import write_page

        write_page(self, page)
        return page

    def __repr__(self) -> str:
        return on_one_line(f"Gallery: {self.title}; {self.summary}")

    def _repr_html_(self) -> str:
        from prodex.display.contact_sheet import html_of

        return html_of(self)


_OF_THUMBNAIL = ("product_id", "gtin", "position", "is_packshot", "url", "problem")
_FILES = pa.schema(
    [
        *((name, pa.string()) for name in ("product_id", "gtin", "name", "brand", "position")),
        ("is_packshot", pa.bool_()),
        ("url", pa.string()),
        *((name, pa.int64()) for name in ("width", "height", "others")),
        ("shown", pa.bool_()),
        ("problem", pa.string()),
    ]
)


def gallery(
    catalog: Catalog,
    *,
    size: int = 256,
    packshots_only: bool = True,
    page: int = 1,
    per_page: int = 24,
    folder: str | Path | None = None,
    limits: Limits | None = None,
    progress: Progress = None,
) -> Gallery:
    """Show the products of a catalogue by their pictures, a page at a time; see `Catalog.gallery`."""
    if (whole := whole_number(per_page, 1, _PER_PAGE[-1])) is None:
        raise InputError(f"per_page={per_page!r} must be a number from 1 to {_PER_PAGE[-1]}.")
    per_page = whole
    pages = max(1, -(-len(catalog) // per_page))
    if (whole := whole_number(page, 1, pages)) is None:
        raise InputError(f"There is no page={page!r}: {len(catalog):,} products make {pages:,} pages.")
    page = whole
    first = (page - 1) * per_page
    shown = catalog.arrow("products", list(SHEET_COLUMNS)).slice(first, per_page).to_pylist()
    with reporting(progress, "Pictures", "pictures", after=PATIENCE) as reporter:
        cells = sheet_cells(catalog, shown, size, packshots_only, folder, limits, reporter)
    chosen = catalog.chosen
    by, of = ("", None) if chosen is None or chosen.of <= len(catalog) else (chosen.words, chosen.of)
    source = catalog.origin.source
    return Gallery(cells, page, pages, first + 1, len(catalog), source, size, chosen=by, of=of)


#: What `sheet_cells` needs to know of a product.
SHEET_COLUMNS = ("product_id", "gtin", "brand", "brand_code")


def sheet_cells(
    catalog: Catalog,
    products: Sequence[Mapping[str, Any]],
    size: int,
    packshots_only: bool,
    folder: str | Path | None = None,
    limits: Limits | None = None,
    reporter: Reporter = SILENT,
    on_picture: Callable[[SheetCell], object] = lambda _: None,
) -> tuple[SheetCell, ...]:
    """Return the cells of some products, in their order.

    Parameters
    ----------
    catalog
        The catalogue that they are in.
    products
        Their `SHEET_COLUMNS`.
    size, packshots_only, folder, limits
        As for `gallery`.
    reporter
        Gets the number of pictures that are there.
    on_picture
        Called with each cell as soon as its picture is there, or known not to be.
    """
    ids = pa.array([product["product_id"] for product in products], pa.string())
    # Only the parts that have one of them are read.
    own = catalog.where(pc.field("product_id").isin(ids))
    keys: list[str] = ids.to_pylist()
    pictures = pictures_of(own, keys, size)
    # Only the picture that is shown is downloaded, although a product may have many.
    best = {
        key: next((one for one in of if one.is_packshot), None if packshots_only or not of else of[0])
        for key, of in pictures.items()
    }
    names = names_of(own, ids)
    nothing = nothing_in(catalog, packshots_only)

    def cell(product: Mapping[str, Any], small: SmallPicture | None) -> SheetCell:
        key = product["product_id"]
        chosen = best[key]
        thumbnail = (
            Thumbnail(product_id=key, gtin=product["gtin"], problem=nothing)
            if chosen is None or small is None
            else Thumbnail.of(chosen, small)
        )
        others = len(pictures[key]) - (chosen is not None)
        brand = shown_one(product["brand"], product["brand_code"])
        return SheetCell(thumbnail, names.get(key), brand, others)

    by_key = {product["product_id"]: product for product in products}
    for key, chosen in best.items():
        if chosen is None:
            on_picture(cell(by_key[key], None))
    wanted = [one for one in best.values() if one is not None]
    made = small_pictures(
        own,
        wanted,
        size,
        folder,
        limits,
        reporter,
        lambda of, small: on_picture(cell(by_key[of.product_id], small)),
    )
    found = {one.product_id: made[one.number] for one in wanted}
    return tuple(cell(product, found.get(product["product_id"])) for product in products)


def _problem_kind(thumbnail: Thumbnail) -> str | None:
    """Return why there is no picture, in words that are the same for all such products, so that they can be counted."""
    if thumbnail.problem is None:
        return None
    return thumbnail.problem if thumbnail.position is None else _BROKEN
