"""Sending: one way for all corrections. What is sent is what was shown, after a second press, and followed to its end.

A preview has a digest of all that it would send and where. Both presses carry it, and where the preview is another by
then, nothing is sent. Sending is not cut in its middle, since nobody would know what has arrived; waiting for the
import can be stopped. Afterwards the products are requested again, and every section shows them as they are now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from typing import Any

from prodex.display.tracking import facts_of
from prodex.errors import ProdexError
from prodex.ledger.upsert_file import host_of
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, action, task
from prodex.notebook.session.jobs import to_the_end
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.arrival import ArrivedCorrections, arrival_block, renewed, request_again
from prodex.notebook.views.blocks import button, fold, paragraph, row, table, typed_text, work
from prodex.progress import Reporter
from prodex.service import Client
from prodex.worklists.fix import Fix

#: One piece of work at a time sends, or looks what has arrived: two of them would show each other's products of before.
_SLOT = "sending"
_OTHER = (
    "Nothing was sent: what would be sent is another by now than what was shown. Look at it, and send again."
)
_BUSY = "Corrections are being sent already. Wait until that has ended."
_STOPPED = "The corrections were sent, and the service goes on importing them."
_NO_SERVICE = (
    "There is no service to send to. Open this panel with one: "
    "prodex.explore(catalog, service=prodex.connect())."
)


@dataclass(frozen=True, eq=False)
class Preview:
    """What would be sent, as it is shown.

    Attributes
    ----------
    fix
        What would be sent.
    digest
        Of all corrections that would be sent, letter by letter.
    number, products
        How many corrections of how many products; of what an interruption has left, the products only.
    is_rest
        Whether a part of it was sent already.
    """

    fix: Fix = field(repr=False)
    digest: str
    number: int
    products: int
    is_rest: bool = False

    @property
    def words(self) -> str:
        """What would be sent, in words."""
        products = counted(self.products, "product")
        if self.is_rest:
            return f"the corrections of {products} that were not sent"
        return f"{counted(self.number, 'correction')} of {products}"


def preview_of(fix: Fix) -> Preview:
    """Return what of some answers would be sent."""
    accepted = fix.accepted
    if fix.tracking is None:
        return Preview(fix, _digest(fix), len(accepted), accepted["product_id"].nunique())
    left = fix.tracking.statuses["not sent"]
    return Preview(fix, _digest(fix), left, left, is_rest=True)


_SENT = (
    "product_id",
    "attribute",
    "language",
    "language_code",
    "position",
    "before",
    "answer",
    "file",
    "sheet",
    "cell",
)


def _digest(fix: Fix) -> str:
    """Return a digest of all that would be sent, value by value."""
    accepted = fix.accepted
    rows = accepted[[*_SENT]].astype(object).where(accepted[[*_SENT]].notna(), None).to_numpy().tolist()
    left = [] if fix.tracking is None else sorted(fix.tracking.statuses.items())
    text = json.dumps([rows, left], default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True, eq=False)
class SendingOutcome:
    """What has become of corrections that were sent.

    Attributes
    ----------
    fix
        The corrections.
    error
        The error of the attempt, or None.
    arrival
        Their products as they are now, if they could be requested.
    unseen
        Why they could not.
    """

    fix: Fix
    error: BaseException | None = None
    arrival: ArrivedCorrections | None = None
    unseen: BaseException | None = None


@dataclass(frozen=True)
class Outbox:
    """One kind of corrections that are sent.

    Attributes
    ----------
    name
        Its name.
    preview
        What would be sent now; None where nothing is shown that could be.
    begin
        Called before anything is sent; what it raises leaves everything unsent.
    ended
        Makes the session in which is noted what has become of it, before products are shown as they are now.
    arrived
        Returns how many corrections were sent, and which are missing, in words.
    also
        As for `Fix.apply`.
    """

    name: str
    preview: Callable[[Session], Preview | None]
    begin: Callable[[Panel, Preview], None] = lambda *_: None
    ended: Callable[[Session, SendingOutcome], Session] = lambda session, _: session
    arrived: Callable[[Session, SendingOutcome, ArrivedCorrections], tuple[int, list[str]]] = lambda *given: (
        given[-1].missing()
    )
    also: str | Collection[str] = ()


OUTBOXES: dict[str, Outbox] = {}


@dataclass(frozen=True)
class Sending:
    """What is asked, what is being sent, and what has become of what was sent.

    Attributes
    ----------
    asked
        The outbox and the digest of the preview of which is asked whether it is to be sent.
    running
        The outbox whose corrections are being sent, or looked for; empty if none are.
    outcomes
        For each outbox what has become of what was sent last, as blocks.
    sent
        For each outbox what was sent last.
    """

    asked: tuple[str, str] = ("", "")
    running: str = ""
    outcomes: Mapping[str, tuple[Block, ...]] = field(default_factory=dict)
    sent: Mapping[str, Fix] = field(default_factory=dict)


def outbox(made: Outbox) -> Outbox:
    """Add a kind of corrections that are sent."""
    OUTBOXES[made.name] = made
    return made


def is_sending(session: Session, name: str = "") -> bool:
    """Return whether corrections of an outbox, or of any, are being sent."""
    running = session.part(Sending).running
    return bool(running) if not name else running == name


def host_in_words(session: Session) -> str:
    """Return the host that corrections are sent to."""
    return "" if session.service is None else host_of(session.service.base_url)


def send_blocks(session: Session, name: str) -> list[Block | None]:
    """Return the buttons that send what is previewed, how far sending is, and what has become of it."""
    state, preview = session.part(Sending), OUTBOXES[name].preview(session)
    running = state.running == name
    made: list[Block | None] = []
    if preview is not None and preview.number and not running:
        is_asked = state.asked == (name, preview.digest) and session.service is not None
        made.append(_question(session, name, preview) if is_asked else _send_button(session, name, preview))
    if running:
        made.append(work(session, _SLOT, cancel="Stop waiting"))
    return [*made, *(_outcome_view(session, name, one) for one in state.outcomes.get(name, ()))]


def _send_button(session: Session, name: str, preview: Preview) -> Block:
    what = counted(preview.number, "product" if preview.is_rest else "correction")
    return row(
        button(
            f"Send the rest, {what}" if preview.is_rest else f"Send {what}",
            "send.ask",
            key=f"send {name}",
            look="main",
            off=_BUSY if is_sending(session) else "",
            to=f"yes {name}",
            outbox=name,
            digest=preview.digest,
        ),
        key=f"sending {name}",
    )


def _question(session: Session, name: str, preview: Preview) -> Block:
    # Where the products are of another service, that is part of the question.
    other = "" if session.service is None else preview.fix.asks_where(session.service) or ""
    asked = f"{other} Send {preview.words} to {host_in_words(session)}?".strip()
    # Behind the question: the second click of a double click must not send.
    return row(
        paragraph(typed_text(asked), key="asked", tone="status"),
        button(
            f"Yes, send {preview.words}",
            "send.start",
            key=f"yes {name}",
            look="main",
            to=f"send {name}",
            outbox=name,
            digest=preview.digest,
        ),
        button("Do not send", "send.leave", key=f"no {name}", to=f"send {name}", outbox=name),
        key=f"question {name}",
        look="question",
    )


@action("send.ask")
def ask(session: Session, outbox: str, digest: str) -> Session:
    """Ask whether what is previewed is to be sent."""
    _expect(session, outbox, digest)
    if session.service is None:
        raise Refused(_NO_SERVICE)
    return _with(session, asked=(outbox, digest))


@action("send.leave")
def leave(session: Session, outbox: str) -> Session:
    """Send nothing."""
    return _with(session, asked=("", "")) if session.part(Sending).asked[0] == outbox else session


@task("send.start")
def start(app: Panel, outbox: str, digest: str) -> None:
    """Send what is previewed, if it is still what was asked about."""
    session, box = app.session, _named(outbox)
    if session.part(Sending).asked != (outbox, digest):
        raise Refused(_BUSY if is_sending(session) else _OTHER)
    app.change(lambda now: _with(now, asked=("", "")))
    preview = _expect(session, outbox, digest)
    service = session.service
    if service is None:
        raise Refused(_NO_SERVICE)
    box.begin(app, preview)
    fix = preview.fix
    app.change(lambda now: _began(now, outbox, fix))
    _run(
        app,
        outbox,
        lambda reporter: _send(app, fix, digest, service, box.also, reporter),
        "Requesting the products as they are now",
    )


def look_again(app: Panel, outbox: str, fix: Fix) -> None:
    """Request the products of what was sent, and show what has arrived."""
    service = app.session.service
    if service is None:
        raise Refused(_NO_SERVICE)
    if is_sending(app.session):
        raise Refused(_BUSY)
    app.change(lambda now: _began(now, outbox, fix))
    _run(
        app,
        outbox,
        lambda reporter: _look(app, SendingOutcome(fix), service, reporter),
        "Requesting the products",
    )


def _expect(session: Session, name: str, digest: str) -> Preview:
    """Return the preview of an outbox, if it is the one that was shown."""
    if is_sending(session):
        raise Refused(_BUSY)
    preview = _named(name).preview(session)
    if preview is None or preview.digest != digest or not preview.number:
        raise Refused(_OTHER)
    return preview


def _named(name: str) -> Outbox:
    if name not in OUTBOXES:
        raise Refused(_OTHER)
    return OUTBOXES[name]


def _with(session: Session, **changes: Any) -> Session:
    return session.with_part(replace(session.part(Sending), **changes))


def _began(session: Session, name: str, fix: Fix) -> Session:
    state = session.part(Sending)
    others = {one: blocks for one, blocks in state.outcomes.items() if one != name}
    return _with(session, running=name, outcomes=others, sent={**state.sent, name: fix})


def without_outcome(session: Session, name: str) -> Session:
    """Return the session in which nothing is said any more of what was sent before."""
    state = session.part(Sending)
    kept = {one: blocks for one, blocks in state.outcomes.items() if one != name}
    sent = {one: fix for one, fix in state.sent.items() if one != name}
    return _with(session, outcomes=kept, sent=sent)


def _run(app: Panel, name: str, do: Callable[[Reporter], SendingOutcome], title: str) -> None:
    def failed(session: Session, error: BaseException) -> Session:
        said = paragraph(typed_text(error_text(error)), key="error", tone="problem")
        state = session.part(Sending)
        return _with(session, running="", outcomes={**state.outcomes, name: (said,)})

    app.run(_SLOT, do, lambda session, outcome: _ended(session, name, outcome), title=title, failed=failed)


def _send(
    app: Panel, fix: Fix, digest: str, service: Client, also: str | Collection[str], reporter: Reporter
) -> SendingOutcome:
    error: BaseException | None = None
    try:
        # What was shown was made of these answers a while ago.
        _expect_same(fix, digest)
        # Whoever pressed twice has read where they go. No batch ends the work: an import is known only after the last.
        sending = fix.apply(service, also=also, elsewhere=True, progress=to_the_end(reporter))
        sending.wait(progress=reporter)
    except BaseException as raised:  # noqa: BLE001 - whatever it is, it has to be known what was sent until then
        error = raised
    if fix.tracking is None:
        return SendingOutcome(fix, error)
    # Whoever does not wait for the import sees the products as they are until then.
    is_stopped = isinstance(error, CancelledError)
    return _look(app, SendingOutcome(fix, error), service, to_the_end(reporter) if is_stopped else reporter)


def _expect_same(fix: Fix, digest: str) -> None:
    if _digest(fix) != digest:
        raise Refused(_OTHER)


def _look(app: Panel, outcome: SendingOutcome, service: Client, reporter: Reporter) -> SendingOutcome:
    try:
        arrival = request_again(outcome.fix, service, app.session, reporter)
    except (ProdexError, CancelledError) as error:
        return SendingOutcome(outcome.fix, outcome.error, None, error)
    return SendingOutcome(outcome.fix, outcome.error, arrival)


def _ended(session: Session, name: str, outcome: SendingOutcome) -> Session:
    box, arrival = _named(name), outcome.arrival
    blocks = [*_error_blocks(outcome)]
    if arrival is not None:
        every, missing = box.arrived(session, outcome, arrival)
        blocks.append(arrival_block(arrival, every, missing, host_in_words(session)))
    session = box.ended(session, outcome)
    if arrival is not None:
        session = renewed(session, arrival)
    state = session.part(Sending)
    return _with(session, running="", outcomes={**state.outcomes, name: tuple(blocks)})


def _error_blocks(outcome: SendingOutcome) -> list[Block]:
    """Return what went wrong, and the state of the import."""
    error, unseen, tracking = outcome.error, outcome.unseen, outcome.fix.tracking
    made = []
    if isinstance(error, CancelledError):
        made.append(paragraph(_STOPPED, key="stopped", tone="note"))
    elif error is not None:
        made.append(paragraph(typed_text(error_text(error)), key="error", tone="problem"))
    if tracking is not None:
        failed = tracking.failed[["gtin", "status", "message"]].head(10).to_dict("records")
        made.append(
            {
                "kind": "import",
                "key": "import",
                "title": f"The import of {counted(tracking.count, 'product')}: {tracking.status}",
                "is_good": tracking.status == "SUCCESS",
                "facts": [[name, typed_text(value)] for name, value in facts_of(tracking)],
                "failed": [[typed_text(str(one)) for one in line.values()] for line in failed],
            }
        )
    if isinstance(unseen, CancelledError):
        made.append(paragraph("What has arrived was not looked for.", key="unseen", tone="note"))
    elif unseen is not None:
        made.append(paragraph(typed_text(error_text(unseen)), key="unseen", tone="problem"))
    return made


def _outcome_view(session: Session, name: str, block: Block) -> Block:
    """Return what is shown of an outcome; the import is unfolded where there is something to be read."""
    if block["kind"] != "import":
        return block

    def inside() -> list[Block | None]:
        facts = [{"key": one, "cells": [one, value]} for one, value in block["facts"]]
        heads: list[Block] = [{"name": "fact", "title": "", "head": True}, {"name": "value", "title": ""}]
        lost = [{"key": str(number), "cells": cells} for number, cells in enumerate(block["failed"])]
        lost_heads = [{"name": one, "title": one} for one in ("GTIN", "status", "message")]
        return [
            table(heads, facts, key="facts", label="The import"),
            table(lost_heads, lost, key="lost", label="Products that were not integrated") if lost else None,
        ]

    return fold(session, f"import {name}", block["title"], inside, at_first=not block["is_good"])
