"""What the traits of the stage ``setup`` change before a stranger starts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Settings:
    """How this stranger pages, scrolls and issues tokens; the defaults follow the specification."""

    scroll_end: str = "cursor"
    """What ends a scroll: ``cursor``, ``absent``, ``null`` or ``empty`` beside an empty page, or ``last``:
    the last page that holds products has no cursor."""

    cursor_form: str = "text"
    """``text``, ``number`` or ``large`` (a number above 2**53)."""

    cursors_equal: bool = False
    cursor_lifetime: float = 120.0
    """Seconds a cursor stays valid between two calls."""

    cursor_dies_after: int | None = None
    """Pages after which a cursor is dead."""

    cursor_death: int | str = 400
    """How a dead cursor is answered: an HTTP status, ``restarts`` or ``empty``."""

    scroll_loops: bool = False
    scroll_skips: int | None = None
    """The page of each scroll that is left out."""

    scroll_pauses: int | None = None
    """The page of each scroll that is sent empty, though products follow it."""

    scroll_repeats: int | None = None
    """The page of each scroll that is sent twice, under a new cursor."""

    default_limit: int = 20
    largest_limit: int = 500
    token_lifetime: float = 7200.0
    """Seconds."""

    token_calls: int | None = None
    """Protected calls after which a token is refused."""

    first_tracking: int = 7
    """The tracking number of the first upsert."""
