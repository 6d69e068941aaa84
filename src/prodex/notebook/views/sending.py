"""Sending: one way for all corrections. What is sent is what was shown, after a second press, and followed to its end.

Corrections of every source are one `Outbox`: what is judged in the background becomes a preview, which has a digest of
all that it would send and where. Questions about it are answered with yes, each by a digest of its own. Both presses
that send carry the digest, and where the preview is another by then, nothing is sent. Sending is not cut in its middle,
since nobody would know what has arrived; waiting for the import can be stopped. Afterwards the products are requested
again, and every section shows them as they are now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import pandas as pd

from prodex.display.tracking import facts_of
from prodex.errors import ProdexError
from prodex.ledger.upsert_file import host_of
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments, to_the_end
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.arrival import ArrivedCorrections, arrival_block, request_again
from prodex.notebook.views.blocks import button, columns_of, fold, paragraph, row, table, typed_text, work
from prodex.phrases import counted
from prodex.progress import PATIENCE, Reporter
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.worklists.answer_rows import PLACE
from prodex.worklists.fix import Fix

#: What is sent of an answer, and where it was typed; of what was typed in a panel the row is only its number.
_SENT = (
    *("product_id", "attribute", "language", "language_code", "position", "before", "answer"),
    *("file", "sheet", "cell"),
)
#: One piece of work at a time sends, or looks what has arrived: two of them would show each other's products of before.
_SLOT = "sending"
_OTHER = (
    "Nothing was sent: what would be sent is another by now than what was shown. Look at it, and send again."
)
_OTHER_QUESTION = "What is asked is another by now. Look at it, and confirm it again."
_BUSY = "Corrections are being sent already. Wait until that has ended."
_STOPPED = "The corrections were sent, and the service goes on importing them."
_NO_SERVICE = (
    "There is no service to send to. Open this panel with one: "
    "prodex.explore(catalog, service=prodex.connect())."
)


@dataclass(frozen=True, eq=False)
class Judging:
    """Corrections that are to be judged.

    Attributes
    ----------
    of
        What they are: as long as this is the same, so is what was judged. Objects, and values that compare as a whole.
    make
        Judges them, in a thread.
    title
        What is done, in words.
    delay
        Seconds to wait for something newer before it begins.
    """

    of: tuple[Any, ...]
    make: Callable[[], Fix]
    title: str
    delay: float = 0.0


@dataclass(frozen=True, eq=False)
class Preview:
    """What would be sent, as it is shown.

    Attributes
    ----------
    of
        What it is of: it is offered as long as this is what would be sent.
    fix
        What would be sent.
    digest
        Of all corrections that would be sent, letter by letter.
    number, products
        How many corrections of how many products; of what an interruption has left, the products only.
    is_rest
        Whether a part of it was sent already.
    questions
        What names each question that needs a yes.
    shown
        What its section shows of it.
    """

    of: tuple[Any, ...] = field(repr=False)
    fix: Fix = field(repr=False)
    digest: str
    number: int
    products: int
    is_rest: bool
    questions: tuple[str, ...]
    shown: Any = field(repr=False)

    @property
    def words(self) -> str:
        """What would be sent, in words."""
        products = counted(self.products, "product")
        if self.is_rest:
            return f"the corrections of {products} that were not sent"
        return f"{counted(self.number, 'correction')} of {products}"

    def first_questions(self, number: int) -> str:
        """Return what names the first questions together: nobody says yes to one that is not shown."""
        return _hashed(self.questions[:number])[:20]


@dataclass(frozen=True, eq=False)
class SendingOutcome:
    """What has become of corrections that were sent.

    Attributes
    ----------
    sent
        The corrections.
    error
        The error of the attempt, or None.
    arrival
        Their products as they are now, if they could be requested.
    unseen
        Why they could not.
    """

    sent: Preview
    error: BaseException | None = None
    arrival: ArrivedCorrections | None = None
    unseen: BaseException | None = None


@dataclass(frozen=True)
class Outgoing:
    """What is known of the corrections of an outbox.

    Attributes
    ----------
    preview
        As they were judged last.
    confirmed
        The questions that were answered with yes.
    number
        How often it was begun anew: what is judged may be the same, and have become another since.
    failed
        What could not be judged, and why.
    sent
        What was sent last.
    outcome
        What has become of that, as blocks.
    missing
        How many of it the products do not show.
    """

    preview: Preview | None = None
    confirmed: frozenset[str] = frozenset()
    number: int = 0
    failed: tuple[tuple[Any, ...], str] | None = None
    sent: Preview | None = None
    outcome: tuple[Block, ...] = ()
    missing: int = 0


@dataclass(frozen=True)
class Sending:
    """What is asked, what is being sent, and what is known of each outbox.

    Attributes
    ----------
    asked
        The outbox and the digest of the preview of which is asked whether it is to be sent.
    running
        The outbox whose corrections are being sent, or looked for; empty if none are.
    boxes
        What is known of the corrections, by the name of their outbox.
    """

    asked: tuple[str, str] = ("", "")
    running: str = ""
    boxes: Mapping[str, Outgoing] = field(default_factory=dict)


@dataclass(frozen=True)
class Outbox:
    """A source of corrections that are previewed and sent.

    Attributes
    ----------
    name
        Its name.
    section
        The section in which it is.
    judging
        What is to be judged now; None where there is nothing.
    shown
        Makes what is shown of corrections that were judged, with what they are of.
    begin
        Called before anything is sent; what it raises leaves everything unsent.
    ended
        Makes the session in which is noted what has become of it, before products are shown as they are now.
    counts
        Returns of each answer whether it counts among those that should have arrived; those that were accepted do,
        unless it is said.
    cancelled
        Makes the session after nobody wanted to wait for the judging; `failed` the one after it could not be done.
    stays
        Whether what was sent stays, so that its rest can be sent; otherwise what is there then is judged anew.
    also
        As for `Fix.apply`.
    to_check
        Of what it can be looked for once more whether it has arrived; of what was sent last, unless given.
    """

    name: str
    section: str
    judging: Callable[[Session], Judging | None]
    shown: Callable[[Fix, tuple[Any, ...]], Any]
    begin: Callable[[Panel, Preview], None] = lambda *_: None
    ended: Callable[[Session, SendingOutcome], Session] = lambda session, _: session
    counts: Callable[[Session, SendingOutcome], Sequence[bool] | None] = lambda *_: None
    cancelled: Callable[[Session], Session] = lambda session: session
    failed: Callable[[Session, BaseException], Session] | None = None
    stays: bool = False
    also: str | Collection[str] = ()
    to_check: Callable[[Session], Preview | None] | None = None

    @property
    def slot(self) -> str:
        """Name of the work that judges its corrections."""
        return f"judge {self.name}"

    def known(self, session: Session) -> Outgoing:
        """Return what is known of its corrections."""
        return session.part(Sending).boxes.get(self.name, Outgoing())

    def changed(self, session: Session, **changes: Any) -> Session:
        """Return the session in which something else is known of its corrections."""
        boxes = session.part(Sending).boxes
        return session.with_changed(
            Sending, boxes={**boxes, self.name: replace(self.known(session), **changes)}
        )

    def begun_anew(self, session: Session) -> Session:
        """Return the session in which nothing is known any more of what it had before."""
        return self.changed(session, **vars(Outgoing(number=self.known(session).number + 1)))

    def is_sending(self, session: Session) -> bool:
        """Return whether its corrections are being sent, or looked for."""
        return session.part(Sending).running == self.name

    def refuse_while_sending(self, session: Session) -> None:
        """Refuse what would change corrections that are on their way."""
        if self.is_sending(session):
            raise Refused("Nothing was done: it is being sent. Wait until that has ended.")

    def preview(self, session: Session) -> Preview | None:
        """Return what would be sent; None where it was not judged yet, or is another by now."""
        known = self.known(session)
        made, sent = known.preview, known.sent
        if made is None or (self.stays and sent is not None and sent.fix is made.fix):
            return made
        return made if self._is_now(session, made.of) else None

    def failure(self, session: Session) -> str:
        """Return why what would be sent could not be judged; empty where it was not tried."""
        of, why = self.known(session).failed or ((), "")
        return why if why and self._is_now(session, of) else ""

    def _is_now(self, session: Session, of: tuple[Any, ...]) -> bool:
        judging = self._to_judge(session)
        return judging is not None and are_same_arguments(of, judging.of)

    def _to_judge(self, session: Session) -> Judging | None:
        known, judging = self.known(session), self.judging(session)
        return None if judging is None else replace(judging, of=(*judging.of, known.confirmed, known.number))

    def wants(self, session: Session) -> Iterator[Want]:
        """Yield the judging of what would be sent, where it was not judged yet."""
        judging, confirmed = self._to_judge(session), self.known(session).confirmed
        if judging is None or self.preview(session) is not None:
            return

        def failed(now: Session, error: BaseException) -> Session:
            now = self.changed(now, failed=(judging.of, error_text(error)))
            if self.failed is not None:
                return self.failed(now, error)
            return now.noting(error_text(error), is_problem=True, section=self.section)

        options = {"title": judging.title, "delay": judging.delay, "after": PATIENCE, "is_dropped": True}
        options |= {"failed": failed, "cancelled": self.cancelled}
        yield Want(
            self.slot,
            judging.of,
            lambda _: self.judged(judging.of, judging.make(), confirmed),
            lambda now, made: self.changed(now, preview=made),
            options,
        )

    def judged(self, of: tuple[Any, ...], fix: Fix, confirmed: Collection[str] = ()) -> Preview:
        """Return what of some corrections would be sent, after those that are meant as they are were confirmed."""
        if confirmed:
            asked, questions = _asked(fix)
            if any(are_meant := [one in confirmed for one in questions]):
                fix.confirm(asked[are_meant])
        accepted, questions = fix.accepted, []
        number, products = len(accepted), accepted["product_id"].nunique()
        if fix.tracking is None:
            _, questions = _asked(fix)
        else:
            number = products = fix.tracking.statuses["not sent"]
        shown, is_rest = self.shown(fix, of), fix.tracking is not None
        return Preview(of, fix, _digest(fix, accepted), number, products, is_rest, tuple(questions), shown)

    def blocks(self, session: Session) -> list[Block | None]:
        """Return the buttons that send what is previewed, how far sending is, and what has become of it."""
        preview, running = self.preview(session), self.is_sending(session)
        made: list[Block | None] = []
        if preview is not None and preview.number and not running:
            is_asked = (
                session.part(Sending).asked == (self.name, preview.digest) and session.service is not None
            )
            made.append((_question if is_asked else _send_button)(session, self.name, preview))
        if running:
            made.append(work(session, _SLOT, cancel="Stop waiting"))
        known = self.known(session)
        made += (_outcome_view(session, self.name, one) for one in known.outcome)
        is_missed = self.stays and known.sent is not None and known.missing and not is_sending(session)
        return [*made, self.check_row() if is_missed else None]

    def check_row(self) -> Block:
        """Return the button that looks what has arrived."""
        title = "Request the products, and compare"
        return row(button("Check what has arrived", "send.check", title=title, outbox=self.name), key="check")


OUTBOXES: dict[str, Outbox] = {}


def outbox(made: Outbox) -> Outbox:
    """Add a source of corrections."""
    OUTBOXES[made.name] = made
    return made


def _named(name: str) -> Outbox:
    if name not in OUTBOXES:
        raise Refused(_OTHER)
    return OUTBOXES[name]


# What is asked, and what is sent.


def _asked(fix: Fix) -> tuple[pd.DataFrame, list[str]]:
    """Return what needs a yes, and what names each: to accept a finding is decided on elsewhere."""
    asked = fix.needs_confirmation
    requests = set() if asked.empty else {place_of(one) for one in fix.requests.to_dict("records")}
    asked = asked[[place_of(one) not in requests for one in asked.to_dict("records")]]
    return asked, [question_of(one) for one in asked.to_dict("records")]


def place_of(answer: Mapping[Any, Any]) -> tuple[Any, ...]:
    """Return where an answer was typed."""
    return tuple(answer[name] for name in PLACE)


def question_of(answer: Mapping[Any, Any]) -> str:
    """Return what names a question: all that it is about, letter by letter, and what is asked."""
    return _hashed([*(answer[name] for name in _SENT), answer["reason"]])[:20]


def _digest(fix: Fix, accepted: pd.DataFrame) -> str:
    """Return a digest of all that would be sent, value by value."""
    rows = accepted[[*_SENT]].astype(object).where(accepted[[*_SENT]].notna(), None).to_numpy().tolist()
    left = [] if fix.tracking is None else sorted(fix.tracking.statuses.items())
    return _hashed([rows, left])[:32]


def _hashed(values: Any) -> str:
    text = json.dumps(values, default=str, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


@action("send.confirm")
def confirm(session: Session, outbox: str, which: str, first: int = 0) -> Session:
    """Answer a question with yes, or the first of them that are named together; then everything is judged again."""
    box = _named(outbox)
    preview = None if box.is_sending(session) else box.preview(session)
    questions = () if preview is None else preview.questions
    meant: Collection[str] = {which} & {*questions}
    if preview is not None and first > 0 and which == preview.first_questions(first):
        meant = questions[:first]
    if not meant:
        raise Refused(_OTHER_QUESTION)
    return box.changed(session, confirmed=box.known(session).confirmed | {*meant})


def is_sending(session: Session) -> bool:
    """Return whether corrections of any outbox are being sent."""
    return bool(session.part(Sending).running)


def host_in_words(session: Session) -> str:
    """Return the host that corrections are sent to."""
    return "" if session.service is None else host_of(session.service.base_url)


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
    _service_of(session)
    return session.with_changed(Sending, asked=(outbox, digest))


@action("send.leave")
def leave(session: Session, outbox: str) -> Session:
    """Send nothing."""
    is_asked = session.part(Sending).asked[0] == outbox
    return session.with_changed(Sending, asked=("", "")) if is_asked else session


@task("send.start")
def start(app: Panel, outbox: str, digest: str) -> None:
    """Send what is previewed, if it is still what was asked about."""
    session = app.session
    if session.part(Sending).asked != (outbox, digest):
        raise Refused(_BUSY if is_sending(session) else _OTHER)
    app.change(lambda now: now.with_changed(Sending, asked=("", "")))
    preview, service, box = _expect(session, outbox, digest), _service_of(session), _named(outbox)
    box.begin(app, preview)
    do = partial(_send, app, preview, service, box.also)
    _run(app, box, preview, do, "Requesting the products as they are now")


@task("send.check")
def check(app: Panel, outbox: str) -> None:
    """Request the products of what was sent once more."""
    box = _named(outbox)
    sent = box.known(app.session).sent if box.to_check is None else box.to_check(app.session)
    if sent is None:
        raise Refused("Nothing was sent yet.")
    service = _service_of(app.session)
    if is_sending(app.session):
        raise Refused(_BUSY)
    _run(app, box, sent, partial(_look, app, SendingOutcome(sent), service), "Requesting the products")


def _service_of(session: Session) -> Client:
    if session.service is None:
        raise Refused(_NO_SERVICE)
    return session.service


def _expect(session: Session, name: str, digest: str) -> Preview:
    """Return the preview of an outbox, if it is the one that was shown."""
    if is_sending(session):
        raise Refused(_BUSY)
    preview = _named(name).preview(session)
    if preview is None or preview.digest != digest or not preview.number:
        raise Refused(_OTHER)
    return preview


def _run(
    app: Panel, box: Outbox, sent: Preview, do: Callable[[Reporter], SendingOutcome], title: str
) -> None:
    def failed(session: Session, error: BaseException) -> Session:
        said = paragraph(typed_text(error_text(error)), key="error", tone="problem")
        return box.changed(session, outcome=(said,)).with_changed(Sending, running="")

    app.change(lambda now: box.changed(now, sent=sent, outcome=()).with_changed(Sending, running=box.name))
    app.run(_SLOT, do, partial(_ended, box), title=title, failed=failed)


def _send(
    app: Panel, preview: Preview, service: Client, also: str | Collection[str], reporter: Reporter
) -> SendingOutcome:
    fix, error = preview.fix, None
    # What was shown was made of these answers a while ago.
    if _digest(fix, fix.accepted) != preview.digest:
        return SendingOutcome(preview, Refused(_OTHER))
    try:
        # Whoever pressed twice has read where they go. No batch ends the work: an import is known only after the last.
        sending = fix.apply(service, also=also, elsewhere=True, progress=to_the_end(reporter))
        sending.wait(progress=reporter)
    except BaseException as raised:  # noqa: BLE001 - whatever it is, it has to be known what was sent until then
        error = raised
    outcome = SendingOutcome(preview, error)
    if fix.tracking is None:
        return outcome
    # Whoever does not wait for the import sees the products as they are until then.
    is_stopped = isinstance(error, CancelledError)
    return _look(app, outcome, service, to_the_end(reporter) if is_stopped else reporter)


def _look(app: Panel, outcome: SendingOutcome, service: Client, reporter: Reporter) -> SendingOutcome:
    try:
        return replace(outcome, arrival=request_again(outcome.sent.fix, service, app.session, reporter))
    except (ProdexError, CancelledError) as error:
        return replace(outcome, unseen=error)


def _ended(box: Outbox, session: Session, outcome: SendingOutcome) -> Session:
    arrival, fix, known = outcome.arrival, outcome.sent.fix, box.known(session)
    blocks, lost = _error_blocks(outcome), 1
    if arrival is not None:
        every, missing = arrival.missing(box.counts(session, outcome))
        blocks.append(arrival_block(arrival, every, missing, host_in_words(session)))
        lost = len(missing)
    changes: dict[str, Any] = {"outcome": tuple(blocks), "missing": lost}
    if known.preview is not None and known.preview.fix is fix:
        if box.stays:
            # It is shown with what the service refused, and what had changed there meanwhile.
            changes["preview"] = box.judged(known.preview.of, fix)
        else:
            changes |= {"preview": None, "number": known.number + 1}
    if box.stays and fix.tracking is None:
        # Nothing was sent: it can be sent again.
        changes["sent"] = None
    session = box.changed(box.ended(session, outcome), **changes).with_changed(Sending, running="")
    if arrival is None:
        return session
    # Every section has the products of now, unless another catalogue is shown by now.
    return session.renewed(arrival.base, arrival.newest.catalog, arrival.audit or session.audit)


def _error_blocks(outcome: SendingOutcome) -> list[Block]:
    """Return what went wrong, and the state of the import."""
    error, unseen, tracking = outcome.error, outcome.unseen, outcome.sent.fix.tracking
    made = []
    if isinstance(error, CancelledError):
        made.append(paragraph(_STOPPED, key="stopped", tone="note"))
    elif error is not None:
        made.append(paragraph(typed_text(error_text(error)), key="error", tone="problem"))
    if tracking is not None:
        made.append(_import_fold(tracking))
    if isinstance(unseen, CancelledError):
        made.append(paragraph("What has arrived was not looked for.", key="unseen", tone="note"))
    elif unseen is not None:
        made.append(paragraph(typed_text(error_text(unseen)), key="unseen", tone="problem"))
    return made


def _import_fold(tracking: Tracking) -> Block:
    """Return the state of the import: it is unfolded where there is something to be read."""
    facts = [{"key": name, "cells": [name, typed_text(value)]} for name, value in facts_of(tracking)]
    heads: list[Block] = [{"name": "fact", "title": "", "head": True}, {"name": "value", "title": ""}]
    blocks = [table(heads, facts, key="facts", label="The import")]
    if len(failed := tracking.failed[["gtin", "status", "message"]].head(10)):
        lost = [
            {"key": str(number), "cells": [typed_text(str(one)) for one in line]}
            for number, line in enumerate(failed.to_numpy().tolist())
        ]
        columns = columns_of(["GTIN", "status", "message"], numbers=())
        blocks.append(table(columns, lost, key="lost", label="Products that were not integrated"))
    title = f"The import of {counted(tracking.count, 'product')}: {tracking.status}"
    return {
        "kind": "fold",
        "key": "import",
        "title": title,
        "open": tracking.status != "SUCCESS",
        "blocks": blocks,
    }


def _outcome_view(session: Session, name: str, block: Block) -> Block:
    if block["kind"] != "fold":
        return block
    key = f"{block['key']} {name}"
    return fold(session, key, block["title"], lambda: block["blocks"], at_first=block["open"])
