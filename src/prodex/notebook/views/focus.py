"""Where the focus is to go after something was opened or closed: a wish, which each page fulfils once."""

from __future__ import annotations

from dataclasses import dataclass

from prodex.notebook.session.session import Session


@dataclass(frozen=True)
class FocusWish:
    """A block that is to have the focus.

    Attributes
    ----------
    on
        Its key: "table" for the row or the picture of the product whose card was open.
    wish
        Rises with each wish, so that a second one for the same block is another one.
    """

    on: str = ""
    wish: int = 0


def focusing(session: Session, on: str) -> Session:
    """Return the session in which a block is to have the focus.

    >>> import prodex
    >>> focusing(focusing(Session(prodex.flatten([])), "table"), "table").part(FocusWish)
    FocusWish(on='table', wish=2)
    """
    return session.with_part(FocusWish(on, session.part(FocusWish).wish + 1))
