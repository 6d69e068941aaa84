"""Worklists: what suppliers get, send back and get again; `folder` writes them, `read_worklist` reads them."""

from typing import TYPE_CHECKING

from prodex.imported_later import imported_later

if TYPE_CHECKING:
    from prodex.worklists.fix import Fix
    from prodex.worklists.pasted import propose_headings

__all__ = ["Fix", "propose_headings"]

if not TYPE_CHECKING:
    # Words and numbers of worklists are read where nothing is judged, which needs much less.
    __getattr__ = imported_later(
        __name__, {"prodex.worklists.fix": ("Fix",), "prodex.worklists.pasted": ("propose_headings",)}
    )
