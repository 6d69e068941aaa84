"""What all sources of corrections have in common: a source says what is judged, and the rest is the same for each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.session.session import Session
from prodex.notebook.views.judged_answers import answers_blocks, judged_answers
from prodex.notebook.views.sending import OUTBOXES, Judging, Outbox, outbox
from tests.notebook.pressing import words_in
from tests.worklists.bakery import RECORDS

BEFORE = RECORDS[0]["namePublicLong"][0]["data"]
PLACE = {"position": "0", "language_code": "fra-FR"}
NAMES = (
    prodex.TextCorrection("3", "namePublicLong", "fr", "Nom"),
    prodex.TextCorrection("1", "namePublicLong", None, "idem", before=BEFORE, **PLACE),
)


@pytest.fixture
def box() -> Iterator[Outbox]:
    """Add a source whose corrections are always the same, of which one is to be confirmed."""

    def judging(session: Session) -> Judging:
        return Judging((session.catalog,), lambda: prodex.correct_from(NAMES, session.catalog), "Judging")

    yield outbox(Outbox("pasted", "corrections", judging, partial(judged_answers, "pasted")))
    del OUTBOXES["pasted"]


def judge(app: App, box: Outbox) -> None:
    """Judge what the source has, as a section does it that shows it."""
    for want in box.wants(app.session):
        made = want.do(None)  # type: ignore[arg-type]
        app.change(lambda session, want=want, made=made: want.then(session, made))  # type: ignore[misc]


def problem(app: App) -> str:
    """Return what is said of the last press, and forget it."""
    notice = app.session.notices.get(app.session.section)
    app.change(lambda session: session.noting(""))
    return "" if notice is None else notice.sentence


def test_a_source_is_what_it_judges(box: Outbox) -> None:
    """Its preview, its questions and what they are answered with are those of all sources."""
    app = App(Session(prodex.flatten(RECORDS)))
    assert box.preview(app.session) is None
    judge(app, box)
    first = box.preview(app.session)
    assert first is not None
    assert ("1 correction of 1 product", 1) == (first.words, len(first.questions))
    shown = words_in([*answers_blocks(app.session, box), *box.blocks(app.session)])
    assert "1 can be sent, 1 to be confirmed" in shown
    assert "It is meant" in shown
    assert "Send 1 correction" in shown

    app.act("send.confirm", outbox="pasted", which=first.questions[0])
    assert "" == problem(app)
    # It is judged again: until then nothing is offered.
    assert box.preview(app.session) is None
    judge(app, box)
    second = box.preview(app.session)
    assert second is not None
    assert ("2 corrections of 2 products", ()) == (second.words, second.questions)
    assert not list(box.wants(app.session))


def test_what_is_pressed_too_late_is_refused_for_every_source(box: Outbox) -> None:
    """Another digest, another question, another source: in words, and nothing is asked, confirmed or sent."""
    app = App(Session(prodex.flatten(RECORDS)))
    judge(app, box)
    preview = box.preview(app.session)
    assert preview is not None
    for do, given, said in (
        ("send.confirm", {"outbox": "pasted", "which": "0" * 20}, "What is asked is another by now"),
        ("send.confirm", {"outbox": "nowhere", "which": preview.questions[0]}, "Nothing was sent"),
        ("send.ask", {"outbox": "pasted", "digest": "0" * 32}, "Nothing was sent"),
        ("send.ask", {"outbox": "nowhere", "digest": preview.digest}, "Nothing was sent"),
        ("send.start", {"outbox": "pasted", "digest": preview.digest}, "Nothing was sent"),
        ("send.check", {"outbox": "pasted"}, "Nothing was sent yet"),
        ("send.check", {"outbox": "nowhere"}, "Nothing was sent"),
        ("send.ask", {"outbox": "pasted", "digest": preview.digest}, "There is no service to send to"),
    ):
        app.act(do, **given)
        assert problem(app).startswith(said), (do, given)
    assert box.preview(app.session) is preview

    app.change(lambda session: session.looking_at(prodex.flatten(RECORDS[:2])))
    app.act("send.ask", outbox="pasted", digest=preview.digest)
    assert problem(app).startswith("Nothing was sent")
    app.act("send.confirm", outbox="pasted", which=preview.questions[0])
    assert problem(app).startswith("What is asked is another by now")


def test_a_source_that_begins_anew_knows_nothing_of_before(box: Outbox) -> None:
    """What was confirmed is asked again, though the corrections are the same."""
    app = App(Session(prodex.flatten(RECORDS)))
    judge(app, box)
    preview = box.preview(app.session)
    assert preview is not None
    app.act("send.confirm", outbox="pasted", which=preview.questions[0])
    judge(app, box)
    app.change(box.begun_anew)
    assert box.preview(app.session) is None
    judge(app, box)
    again = box.preview(app.session)
    assert again is not None
    assert preview.questions == again.questions
