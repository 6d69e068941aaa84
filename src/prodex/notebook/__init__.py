"""The panel for notebooks: explore, audit, compare, correct and load products, and use the result in Python.

It is one anywidget over a session, which its sections show and their buttons change (`session`, `views`, `app`). Text
of suppliers is shown verbatim: as text nodes that our scripts make (`js`), or escaped where no script runs (`static`).
"""

from typing import TYPE_CHECKING

from prodex.imported_later import imported_later

if TYPE_CHECKING:
    from prodex.notebook.widget import Explore, explore

__all__ = ["Explore", "explore"]

if not TYPE_CHECKING:
    # Reports and files for colleagues are made here as well, and need no widget.
    __getattr__ = imported_later(__name__, {"prodex.notebook.widget": __all__})
