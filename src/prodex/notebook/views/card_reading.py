"""What is read for the card of a product: its contents, its history and its pictures.

It is read in the background, and a few are kept, so that going back and forth between products reads nothing again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from prodex.catalog import Catalog
from prodex.errors import ProdexError
from prodex.exploration.card.record import is_prepared
from prodex.notebook.session.actions import Panel, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.session import Session, error_text
from prodex.notebook.views.card_contents import CardContents, read_card
from prodex.notebook.views.gallery_pictures import jpegs
from prodex.notebook.views.history import name_with_history, read_history
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit

if TYPE_CHECKING:
    from prodex.pictures.thumbnails import Thumbnail

#: Pixels of the longer side of a picture.
_SIDE = 256
#: Seconds that a card is looked at before its history is read: whoever looks through products has none of them read.
_PAUSE = 0.2
#: What is kept of cards: contents, histories and pictures of the last few.
_MOST = 24


@dataclass(frozen=True)
class NotRead:
    """Why something could not be read."""

    why: str


@dataclass(frozen=True)
class Cards:
    """What was read for cards, the newest last.

    Attributes
    ----------
    kept
        What it is of (first its kind and the catalogue), and what was read.
    turn
        How often somebody has asked to try again.
    """

    kept: tuple[tuple[tuple[Any, ...], Any], ...] = ()
    turn: int = 0

    def get(self, *of: Any) -> Any:
        """Return what was read of something, or None."""
        return next((read for one, read in self.kept if are_same_arguments(one, of)), None)

    def keeping(self, read: Any, *of: Any) -> Cards:
        """Return the same with something more; what is of another catalogue is forgotten."""
        others = [
            (one, kept) for one, kept in self.kept if one[1] is of[1] and not are_same_arguments(one, of)
        ]
        return Cards((*others, (of, read))[-_MOST:], self.turn)


def card_wants(session: Session, beside: Callable[[Session], Sequence[str]] = lambda _: ()) -> Iterable[Want]:
    """Yield what is still to be read for the card that is open, and for the one that somebody will open next.

    Parameters
    ----------
    session
        The session.
    beside
        The products of the list beside it, in its order: the neighbours are read once the card is there.
    """
    catalog, audit, product_id, cards = (
        session.catalog,
        session.audit,
        session.product_id,
        session.part(Cards),
    )
    if product_id is None:
        if len(catalog) and not is_prepared(catalog):
            # The first card would take twice as long.
            prepare = partial(_prepare, catalog)
            nothing = {"is_patient": True, "failed": lambda session, _: session}
            yield Want("card-prepared", (catalog,), prepare, lambda session, _: session, nothing)
        return

    def reads(slot: str, do: Callable[[Reporter], Any], *of: Any, **options: Any) -> Iterable[Want]:
        if cards.get(*of) is None:
            yield _want(slot, cards, of, do, **options)

    def reads_card(slot: str, one: str, **options: Any) -> Iterable[Want]:
        return reads(slot, partial(_read, catalog, audit, one), "contents", catalog, audit, one, **options)

    yield from reads_card("card", product_id)
    read = cards.get("contents", catalog, audit, product_id)
    if not isinstance(read, CardContents):
        return
    if (name := name_with_history(catalog)) is not None:
        later = {"delay": _PAUSE, "is_patient": True}
        history = partial(read_history, name, product_id, read.gtin)
        yield from reads("card-history", history, "history", catalog, product_id, **later)
    if read.pictures.rows:
        kept = partial(_thumbnails_on_disk, catalog, product_id)
        yield from reads("card-pictures-on-disk", kept, "on disk", catalog, product_id, is_patient=True)
    listed = beside(session)
    if product_id in listed:
        place = listed.index(product_id)
        for slot, neighbour in (("card-next", listed[place + 1 :][:1]), ("card-before", listed[:place][-1:])):
            for one in neighbour:
                yield from reads_card(slot, one, is_patient=True)


def _want(
    slot: str, cards: Cards, of: tuple[Any, ...], do: Callable[[Reporter], Any], **options: Any
) -> Want:
    def then(session: Session, read: Any) -> Session:
        return session.with_part(session.part(Cards).keeping(read, *of))

    def failed(session: Session, error: BaseException) -> Session:
        return then(session, NotRead(error_text(error)))

    return Want(slot, (*of, cards.turn), do, then, {"failed": failed, **options})


def _read(catalog: Catalog, audit: Audit | None, product_id: str, _: object = None) -> CardContents:
    return read_card(catalog, product_id, audit)


def _prepare(catalog: Catalog, _: Reporter) -> None:
    read_card(catalog, catalog.arrow("products", ["product_id"])["product_id"][0].as_py())


def read_now(session: Session, product_id: str) -> CardContents | NotRead:
    try:
        return _read(session.catalog, session.audit, product_id)
    except ProdexError as error:
        return NotRead(error_text(error))


def found_pictures(session: Session, product_id: str) -> list[Thumbnail]:
    """Return the pictures of a product that were loaded, else those that are on disk anyway."""
    cards, of = session.part(Cards), (session.catalog, product_id)
    found = (cards.get(kind, *of) for kind in ("pictures", "on disk"))
    return next((one for one in found if isinstance(one, list)), [])


def card_pictures(session: Session) -> Iterable[tuple[str, str, bytes]]:
    """Return the pictures that the card that is open names."""
    if session.product_id is not None:
        yield from jpegs(one.bytes for one in found_pictures(session, session.product_id))


def _thumbnails_on_disk(catalog: Catalog, product_id: str, _: Reporter) -> list[Thumbnail]:
    # Imported on request: many products have no pictures, and Pillow takes a while.
    from prodex.pictures.thumbnails import thumbnails_on_disk

    return thumbnails_on_disk(catalog, product_id, _SIDE)


def _thumbnails(catalog: Catalog, product_id: str, reporter: Reporter) -> list[Thumbnail]:
    from prodex.pictures.thumbnails import thumbnails

    return thumbnails(catalog, [product_id], _SIDE, reporter=reporter)


@task("card.pictures")
def show_pictures(app: Panel, product_id: str) -> None:
    """Download the pictures of a product, and show them."""
    catalog = app.session.catalog
    fetch = partial(_thumbnails, catalog, product_id)
    of = ("pictures", catalog, product_id)
    want = _want("card-pictures", Cards(), of, fetch, after=PATIENCE, is_dropped=True)
    app.run(want.slot, want.do, want.then, title="Downloading pictures", key=want.key, **want.options)


@action("card.again")
def try_again(session: Session) -> Session:
    """Read again what could not be read."""
    cards = session.part(Cards)
    kept = tuple(one for one in cards.kept if not isinstance(one[1], NotRead))
    return session.with_part(Cards(kept, cards.turn + 1))


def contents_of(session: Session, product_id: str) -> CardContents:
    """Return what is known of a product: read before, or now."""
    read = session.part(Cards).get("contents", session.catalog, session.audit, product_id)
    if isinstance(read, CardContents):
        return read
    return read_card(session.catalog, product_id, session.audit)


def keeping_contents(session: Session, card: CardContents) -> Session:
    of = ("contents", session.catalog, session.audit, card.product_id)
    cards = session.part(Cards)
    if isinstance(cards.get(*of), CardContents):
        return session
    return session.with_part(cards.keeping(card, *of))
