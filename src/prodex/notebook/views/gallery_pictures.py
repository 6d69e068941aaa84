"""The pictures of products that were downloaded: which products have one, which are here, and whether more may come."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.exploration.gallery import PicturedProducts
from prodex.network.addresses import sandbox_of
from prodex.notebook.session.session import Session
from prodex.progress import Reporter
from prodex.tables.columns import Mask

if TYPE_CHECKING:
    from prodex.pictures.contact_sheet import SheetCell

#: Pixels of the longest side of a picture as it is downloaded; on the screen it is made as large as the tiles are.
SIDE = 256
#: The same in a row of a table, where it is shown about half as large: browsers show two pixels for one.
_SIDE_IN_ROW = 96
#: Pictures that are kept: about 8 kB each.
_KEPT = 1_000


class _Consent:
    """Whether pictures may be downloaded from the addresses in the products' records.

    One for the kernel: whoever has agreed is not asked again by the next panel.
    """

    is_given = False


CONSENT = _Consent()


def are_here(catalog: Catalog) -> bool:
    """Whether all pictures of a catalogue are of a sandbox on this machine: nobody else learns that they are loaded.

    Its records may name other addresses, though.
    """
    if sandbox_of(catalog.origin.source) is None:
        return False
    here = f"{catalog.origin.source.partition(', ')[0].rstrip('/')}/"
    addresses = catalog.arrow("pictures", ["url"])["url"]
    return bool(pc.all(pc.starts_with(addresses, here), min_count=0).as_py())


class PictureShelf:
    """The pictures of one catalogue.

    Attributes
    ----------
    pictured
        Which products have a picture, once that is read.
    are_here
        Whether all pictures are of this machine.
    """

    def __init__(self, session: Session) -> None:
        self._catalog, self._products = session.catalog, session.filter.products
        # Pictures come in threads, and are shown meanwhile.
        self._lock = threading.Lock()
        self._cells: OrderedDict[tuple[str, bool], SheetCell] = OrderedDict()
        self.pictured: PicturedProducts | None = None
        self.are_here = False

    def __bool__(self) -> bool:
        return any(one.thumbnail.bytes is not None for one in [*self._cells.values()])

    @property
    def has_consent(self) -> bool:
        """Whether pictures may be downloaded."""
        return CONSENT.is_given or self.are_here

    def read(self, _: Reporter) -> None:
        """Read which products have a picture, and where pictures are from."""
        pictured = PicturedProducts(self._products).read()
        self.are_here = are_here(self._catalog)
        self.pictured = pictured

    def cells(self, ids: Iterable[str], *, packshots_only: bool) -> dict[str, SheetCell]:
        """Return the pictures of some products that are here, or known not to be."""
        return {one: self._cells[key] for one in ids if (key := (one, packshots_only)) in self._cells}

    def having(self, *, packshots_only: bool) -> Mask:
        """Return which products have a picture; as long as it is not read, all may have one."""
        if self.pictured is None:
            return np.ones(len(self._products), bool)
        return self.pictured.having(packshots_only=packshots_only)

    def forget(self, ids: Iterable[str], *, packshots_only: bool) -> None:
        """Forget the pictures of some products, so that they are downloaded again."""
        with self._lock:
            for one in ids:
                self._cells.pop((one, packshots_only), None)

    def download(
        self, rows: Sequence[Mapping[str, Any]], reporter: Reporter, *, packshots_only: bool
    ) -> None:
        """Download the pictures of some products, and keep each as soon as it is here."""
        # Imported on request: most who open a panel look at no picture, and Pillow takes a while.
        from prodex.pictures.contact_sheet import sheet_cells

        def keep(cell: SheetCell) -> None:
            with self._lock:
                self._cells[cell.thumbnail.product_id, packshots_only] = cell
                while len(self._cells) > _KEPT:
                    self._cells.popitem(last=False)

        for cell in sheet_cells(
            self._catalog, rows, SIDE, packshots_only, reporter=reporter, on_picture=keep
        ):
            keep(cell)


def shelf_of(session: Session) -> PictureShelf:
    """Return the pictures of the catalogue that is shown."""
    return session.derived(PictureShelf)


@lru_cache(_KEPT)
def picture_name(content: bytes) -> str:
    """Return by which name a view means a picture: another picture of the same product has another one."""
    return blake2b(content, digest_size=12).hexdigest()


@lru_cache(_KEPT)
def _in_row(content: bytes) -> bytes:
    from prodex.pictures.resize import smaller

    return smaller(content, _SIDE_IN_ROW)


def contents_in_rows(session: Session, ids: Iterable[str]) -> dict[str, bytes]:
    """Return small pictures for the rows of a table by product, as far as they are here."""
    shelf = shelf_of(session)
    both = {**shelf.cells(ids, packshots_only=True), **shelf.cells(ids, packshots_only=False)}
    contents = {one: cell.thumbnail.bytes for one, cell in both.items()}
    return {one: _in_row(content) for one, content in contents.items() if content is not None}


def jpegs(contents: Iterable[bytes | None]) -> Iterator[tuple[str, str, bytes]]:
    """Yield the name, the kind and the content of the pictures that are there, as a section gives them to pages."""
    for content in contents:
        if content is not None:
            yield picture_name(content), "image/jpeg", content
