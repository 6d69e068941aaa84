"""The corrections that were typed on product cards: collected, judged as the answers of worklists are, sent and proved.

Nothing is ever in neither of both: what is being sent is noted on disk before the first call, as what may have been
sent; what certainly did not arrive is collected again, and what the products show is removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from prodex.catalog import Catalog
from prodex.display.fix import state_in_words, states_in_words
from prodex.errors import ProdexError
from prodex.exploration.drafts import SentCorrections, are_same_products, draft_name
from prodex.languages.labels import attribute_title
from prodex.locales import language_label, short_of
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.arrival import profile_of
from prodex.notebook.views.blocks import Cell, button, fold, listed, listing, paragraph, row, typed_text, work
from prodex.notebook.views.fix_blocks import changed_cell, effect_blocks
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.paste import paste_fold, paste_wants
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.sending import (
    Judging,
    Outbox,
    Preview,
    SendingOutcome,
    host_in_words,
    is_sending,
    outbox,
    question_of,
)
from prodex.phrases import counted, moment_in_words
from prodex.progress import Reporter
from prodex.quality import Audit
from prodex.send.known_products import KnownProducts
from prodex.untrusted_text import label
from prodex.worklists.fix import Fix
from prodex.worklists.given_corrections import correct_from
from prodex.worklists.text_corrections import TextCorrection

_NAME = "corrections"
#: Rows that are listed: a browser has to show them all.
_ROWS = 500
#: Seconds without another correction before all of them are judged.
_PAUSE = 0.2
#: States of corrections that are not states of an answer.
_OTHER_STATES = {"checking": "checking …", "unknown": "sent, not confirmed"}
#: States of a product in which the service certainly does not have what was sent.
_NOT_ARRIVED = frozenset({"ERROR", "refused", "not sent"})
_NOTHING = (
    "No corrections. Open the card of a product, and press ✎ beside a text: what you type is collected here, and sent "
    "only from here. A table of corrections is pasted below; worklists that came back are sent from Quality."
)
_GONE = "Nothing was done: that correction is another by now, or is gone."
#: What a correction is refused with whose language alone is not enough.
_NEEDS_COUNTRY = "its code needs a country"
#: What to do where no product of the catalogue says of which country it is.
_ELSEWHERE = (
    "“Set value” of “Correct the chosen products”, below the products, takes a language with its country."
)
#: What to do where others have it.
_HERE = "Choose it beside “Remove”."
_NOT_JUDGED = "Not judged. Change a correction to judge all of them again."


@dataclass(frozen=True, eq=False)
class JudgedCorrections:
    """What is shown of corrections that were judged.

    Attributes
    ----------
    answers
        Of each correction, in their order, its state, the reason, name and GTIN of its product, and its question.
    words
        How many are in which state.
    effect
        What they fix.
    """

    answers: tuple[Mapping[str, Any], ...]
    words: str
    effect: tuple[Block, ...]


@dataclass(frozen=True)
class CollectedCorrections:
    """What the section keeps.

    Attributes
    ----------
    taken
        What was withdrawn or replaced, to bring it back: what belongs together, the last first to come back.
    of
        The catalogue that it is about.
    names
        Name and GTIN of the products of what was sent, by id: that is not judged again.
    arrived
        What has arrived, of what was sent last.
    """

    taken: tuple[tuple[TextCorrection, ...], ...] = ()
    of: Catalog | None = field(default=None, repr=False)
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    arrived: tuple[TextCorrection, ...] = ()


@dataclass(frozen=True)
class _Listed:
    """A row of the list: a correction, what became of it, and when it was sent."""

    one: TextCorrection
    answer: Mapping[str, Any]
    when: str = ""

    @property
    def state(self) -> str:
        return str(self.answer.get("state", "checking"))

    @property
    def language(self) -> str:
        return language_label(self.one.language_code or str(self.one.language))

    @property
    def title(self) -> str:
        return attribute_title(self.one.attribute)


def corrections_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    judged_now, state = _BOX.preview(session), session.part(CollectedCorrections)
    can_check = bool(session.unconfirmed) and session.service is not None and not is_sending(session)
    made: list[Block | None] = [
        paragraph(typed_text(session.draft_note), key="draft", tone="note") if session.draft_note else None,
        *_summary(session, judged_now),
        work(session, _BOX.slot),
        _list(session, judged_now),
        _BOX.check_row() if can_check else None,
        *_BOX.blocks(session),
        _arrived_fold(session, state.arrived),
        *(_export(session) if judged_now is not None else ()),
        *_back_row(session),
        paste_fold(session),
    ]
    return [one for one in made if one]


def _back_row(session: Session) -> Iterator[Block]:
    """Yield what takes corrections back: not on the way to what sends them."""
    taken = (_taken(session) or ((),))[-1]
    clear = button("Clear", "corrections.clear", title="Remove all corrections that were not sent", to="undo")
    undo = button(f"Bring back {counted(len(taken), 'correction')}", "corrections.undo", key="undo")
    if session.corrections or taken:
        yield row(clear if session.corrections else None, undo if taken else None, key="back")


def _summary(session: Session, judged_now: Preview | None) -> Iterator[Block]:
    """Yield how many corrections there are, what becomes of them, and what they fix."""
    corrections = session.corrections
    sent = sum(len(one.corrections) for one in session.unconfirmed)
    if not corrections and not sent:
        # What has become of the last ones says more than that there are none.
        if _BOX.known(session).sent is None:
            yield paragraph(_NOTHING, key="summary", tone="muted")
        return
    parts = []
    if corrections:
        products = counted(len({one.product_id for one in corrections}), "product")
        states = "checking …" if judged_now is None else judged_now.shown.words
        parts.append(f"{counted(len(corrections), 'correction')} of {products}, not sent yet: {states}.")
    if sent:
        verb = ("is" if sent == 1 else "are") + " being sent"
        parts.append(
            f"{counted(sent, 'correction')} {verb if _BOX.is_sending(session) else 'may have been sent'}."
        )
    if len(corrections) + sent > _ROWS:
        parts.append(f"{_ROWS} of them are listed.")
    if draft_name(session.catalog) is None:
        parts.append(
            "This catalogue is not saved, so they are lost with the kernel: catalog.save(name) keeps them."
        )
    yield paragraph(" ".join(parts), key="summary", tone="status")
    yield from judged_now.shown.effect if judged_now is not None else ()


def _list(session: Session, judged_now: Preview | None) -> Block | None:
    """Return the corrections, those of a product below each other."""
    names = {**session.part(CollectedCorrections).names}
    if (last := _BOX.known(session).preview) is not None:
        names |= _names_in(last)
    found = [
        _Listed(
            one, names.get(one.product_id, {}) if judged_now is None else judged_now.shown.answers[number]
        )
        for number, one in enumerate(session.corrections)
    ]
    for sent in session.unconfirmed:
        at = moment_in_words(sent.at, "%Y-%m-%d %H:%M:%S", UTC)
        why = {"state": "unknown", "reason": f"Sent to {sent.to} at {at}; it is not known to have arrived."}
        when = f" {sent.at.isoformat()}"
        found += [_Listed(one, {**names.get(one.product_id, {}), **why}, when) for one in sent.corrections]
    if not found:
        return None
    places = {one: place for place, one in enumerate(dict.fromkeys(it.one.product_id for it in found))}
    found.sort(key=lambda it: places[it.one.product_id])
    return listing(
        found[:_ROWS],
        {
            "Product": _product_cell,
            "Text": lambda it: {
                "parts": [typed_text(it.title), " ", {"words": it.language, "tone": "language"}]
            },
            "Now": lambda it: _text_cell(it, it.one.before, is_new=False),
            "New": lambda it: _text_cell(it, it.one.text, is_new=True),
            "What becomes of it": _state_cell,
            "": lambda it: {"parts": [{"button": act} for act in _acts(it)]},
        },
        key="list",
        label="Corrections",
        name=lambda it: f"{which_of(it.one)}{it.when}",
        more=lambda it: {"look": f"is-{it.state.replace(' ', '-')}"},
        head="Product",
        look="texts corrections",
    )


def _names_in(made: Preview) -> dict[str, Mapping[str, Any]]:
    pairs = zip(made.of[0], made.shown.answers, strict=True)
    return {one.product_id: {name: answer[name] for name in ("name", "gtin")} for one, answer in pairs}


def _product_cell(it: _Listed) -> Cell:
    product = typed_text(label(it.answer.get("name") or f"product {it.one.product_id}"))
    opens = button(
        [product],
        "corrections.open",
        key=f"open {which_of(it.one)}",
        look="link",
        title="Open its card",
        product_id=it.one.product_id,
    )
    return {"parts": [{"button": opens}, {"words": f" {it.answer.get('gtin') or ''}", "tone": "muted"}]}


def _text_cell(it: _Listed, text: str | None, *, is_new: bool) -> Cell:
    return changed_cell(text, it.one.language_code or it.one.language, is_new=is_new)


def _state_cell(it: _Listed) -> Cell:
    words = _OTHER_STATES.get(it.state) or state_in_words(it.state)
    reason = it.answer.get("reason")
    why = [{"words": typed_text(reason), "tone": "why"}] if reason else []
    return {"parts": [{"words": words, "tone": f"state {it.state.replace(' ', '-')}"}, *why]}


def _acts(it: _Listed) -> Iterator[Block]:
    """Yield what can be done with a correction."""
    which, what = which_of(it.one), f"{it.title}, {it.language}"
    if it.state == "unknown":
        title = f"Collect {what} again"
        yield button("Collect again", "corrections.again", key=f"again {which}", which=which, title=title)
    if it.state == "needs confirmation":
        question, title = it.answer["question"], f"{what} is meant as it is"
        key = f"confirm {which}"
        yield button("It is meant", "send.confirm", key=key, outbox=_NAME, which=question, title=title)
    for code in it.answer.get("codes", ()):
        named = language_label(code)
        title = f"{it.title} is in {named}"
        yield button(named, "corrections.speak", key=f"{code} {which}", which=which, code=code, title=title)
    title = f"Remove {what}"
    yield button("Remove", "corrections.remove", key=f"remove {which}", which=which, title=title, to="undo")


def _arrived_fold(session: Session, arrived: tuple[TextCorrection, ...]) -> Block | None:
    """Return which texts have arrived."""
    if not arrived:
        return None
    lines = (
        [
            typed_text(attribute_title(one.attribute)),
            ": ",
            "deleted" if one.text is None else typed_text(label(one.text)),
        ]
        for one in arrived[:_ROWS]
    )
    return fold(
        session,
        "arrived",
        f"{counted(len(arrived), 'text')} that arrived",
        lambda: [listed(lines, key="texts")],
    )


def which_of(one: TextCorrection) -> str:
    """Return what names a correction, letter by letter, among those that are collected."""
    text = json.dumps(asdict(one), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _unconfirmed(session: Session) -> tuple[TextCorrection, ...]:
    return tuple(one for group in session.unconfirmed for one in group.corrections)


def _found(which: str, among: Collection[TextCorrection]) -> TextCorrection:
    for one in among:
        if which_of(one) == which:
            return one
    raise Refused(_GONE)


def _taken(session: Session) -> tuple[tuple[TextCorrection, ...], ...]:
    """Return what can be brought back; what was withdrawn of another catalogue is about other products."""
    state = session.part(CollectedCorrections)
    is_here = state.of is not None and are_same_products(state.of, session.catalog)
    return state.taken if is_here else ()


def _with_taken(session: Session, taken: tuple[tuple[TextCorrection, ...], ...]) -> Session:
    return session.with_changed(CollectedCorrections, taken=taken, of=session.catalog)


def _withdrawn(session: Session, corrections: tuple[TextCorrection, ...]) -> Session:
    """Return the session without corrections, which can be brought back."""
    if not corrections:
        # Pressed twice: what the first press has taken away is still to be brought back.
        return session
    left = tuple(one for one in session.corrections if one not in corrections)
    return _with_taken(session, (*_taken(session), corrections)).replaced(corrections=left)


def collecting(session: Session, corrections: Collection[TextCorrection]) -> tuple[Session, str]:
    """Return the session with corrections, and what is said of those that they replace: these can be brought back."""
    there = {one.place: one for one in session.corrections}
    found = [(there.get(one.place), one) for one in corrections]
    replaced = tuple(old for old, one in found if old is not None and old.text != one.text)
    for one in corrections:
        session = session.correcting(one)
    if not replaced:
        return session, ""
    verb = "was" if len(replaced) == 1 else "were"
    said = (
        f"{counted(len(replaced), 'correction')} of the same text{'s' * (len(replaced) > 1)} {verb} replaced: "
        "“Bring back” in Corrections has what was there."
    )
    return _with_taken(session, (*_taken(session), replaced)), said


def _settled(
    session: Session, corrections: Collection[TextCorrection], again: Collection[TextCorrection] = ()
) -> Session:
    """Return the session without corrections that may have been sent; those of `again` are collected anew."""
    left = [
        replace(group, corrections=tuple(one for one in group.corrections if one not in corrections))
        for group in session.unconfirmed
    ]
    # What was typed for the same text since then is newer.
    newer = {one.place for one in session.corrections}
    return session.replaced(
        corrections=(*session.corrections, *(one for one in again if one.place not in newer)),
        unconfirmed=tuple(group for group in left if group.corrections),
    )


@action("corrections.open")
def open_product(session: Session, product_id: str) -> Session:
    """Open the card of a product among the products."""
    return session.replaced(section="products", product_id=product_id)


@action("corrections.remove")
def remove(session: Session, which: str) -> Session:
    """Withdraw a correction that was not sent, or forget one that may have been."""
    one = _found(which, (*session.corrections, *_unconfirmed(session)))
    if one in session.corrections:
        return _withdrawn(session, (one,))
    _BOX.refuse_while_sending(session)
    return _settled(session, [one])


@action("corrections.again")
def collect_again(session: Session, which: str) -> Session:
    """Collect a correction that may have been sent, to send it again."""
    _BOX.refuse_while_sending(session)
    one = _found(which, _unconfirmed(session))
    return _settled(session, [one], [one])


@action("corrections.speak")
def speak(session: Session, which: str, code: str) -> Session:
    """Say in which country's language a text is, where its language alone is not enough."""
    one = _found(which, session.corrections)
    left = session.replaced(corrections=tuple(other for other in session.corrections if other != one))
    session, said = collecting(left, [replace(one, language=None, language_code=code)])
    return session.noting(said)


@action("corrections.clear")
def clear(session: Session) -> Session:
    """Withdraw all corrections that were not sent."""
    return _withdrawn(session, session.corrections)


@action("corrections.undo")
def bring_back(session: Session) -> Session:
    """Collect again what was withdrawn or replaced last; what was typed since takes its place there."""
    if not (taken := _taken(session)):
        return session
    session, said = collecting(_with_taken(session, taken[:-1]), taken[-1])
    return session.noting(said)


# Judging and sending.


def _judging(session: Session) -> Judging | None:
    corrections, catalog, audit = of = (session.corrections, session.catalog, session.audit)
    if not corrections:
        return None
    return Judging(of, partial(_fix, corrections, catalog, audit), "Judging the corrections", _PAUSE)


def _fix(corrections: tuple[TextCorrection, ...], catalog: Catalog, audit: Audit | None) -> Fix:
    """Judge corrections by the checks of an audit; without one by what the service would refuse."""
    return correct_from(corrections, catalog, profile=profile_of(audit))


def _shown(fix: Fix, of: tuple[Any, ...]) -> JudgedCorrections:
    answers = tuple(
        {**{name: one[name] for name in ("state", "reason", "name", "gtin")}, "question": question_of(one)}
        for one in fix.answers.to_dict("records")
    )
    if any(_needs_country(one) for one in answers):
        codes = KnownProducts.of(of[1]).codes
        pairs = zip(of[0], answers, strict=True)
        answers = tuple(
            _with_countries(answer, sorted(codes.get(short_of(str(one.language)), ())))
            for one, answer in pairs
        )
    return JudgedCorrections(answers, states_in_words(fix), tuple(effect_blocks(fix)))


def _needs_country(answer: Mapping[str, Any]) -> bool:
    return _NEEDS_COUNTRY in str(answer["reason"])


def _with_countries(answer: dict[str, Any], codes: Sequence[str]) -> dict[str, Any]:
    """Return an answer with the codes that can be chosen: a card knows a language, and not of which country."""
    if not _needs_country(answer):
        return answer
    # What the reason goes on with is for tables: a panel has a button, or another place.
    why = str(answer["reason"]).partition(_NEEDS_COUNTRY)[0]
    return {**answer, "codes": codes, "reason": f"{why}{_NEEDS_COUNTRY}. {_HERE if codes else _ELSEWHERE}"}


def _accepted(preview: Preview) -> tuple[TextCorrection, ...]:
    pairs = zip(preview.of[0], preview.shown.answers, strict=True)
    return tuple(one for one, answer in pairs if answer["state"] == "accepted")


def _begin(app: Panel, preview: Preview) -> None:
    """Note on disk that these are being sent: whatever happens now, they are not sent a second time."""
    session, accepted = app.session, _accepted(preview)
    group = SentCorrections(datetime.now(UTC).replace(microsecond=0), host_in_words(session), accepted)
    names = {**session.part(CollectedCorrections).names, **_names_in(preview)}
    app.change(
        lambda now: now.with_changed(CollectedCorrections, names=names, arrived=()).replaced(
            corrections=tuple(one for one in now.corrections if one not in accepted),
            unconfirmed=(*now.unconfirmed, group),
            draft_note="",
        )
    )
    if note := app.session.draft_note:
        # Not noted, so not sent.
        app.change(lambda now: now.replaced(corrections=session.corrections, unconfirmed=session.unconfirmed))
        raise Refused(f"Nothing was sent. {note}")


def _to_check(session: Session) -> Preview | None:
    """Return what may have been sent: as it was sent, unless another kernel has sent it, or it was in several parts."""
    wanted, sent = _unconfirmed(session), _BOX.known(session).sent
    if not wanted or (sent is not None and set(wanted) <= set(sent.of[0])):
        return sent
    of = (wanted, session.catalog, session.audit)
    return _BOX.judged(of, _fix(*of))


def _ended(session: Session, outcome: SendingOutcome) -> Session:
    """Collect again what certainly did not arrive, and remove what has arrived."""
    sent, waiting = outcome.sent.of[0], set(_unconfirmed(session))
    back = [one for one in _not_arrived(outcome) if one in waiting]
    session = _settled(session, back, back)
    if outcome.arrival is None:
        return session
    pairs = zip(sent, outcome.arrival.arrived(), strict=True)
    arrived = tuple(one for one, is_there in pairs if is_there and one in waiting)
    return _settled(session, arrived).with_changed(CollectedCorrections, arrived=arrived)


def _not_arrived(outcome: SendingOutcome) -> tuple[TextCorrection, ...]:
    """Return the corrections that the service certainly does not have, after an attempt to send them."""
    sent: tuple[TextCorrection, ...] = outcome.sent.of[0]
    fix = outcome.sent.fix
    if fix.tracking is None:
        # prodex says so of its own errors before a first call; of any other error nobody knows.
        return sent if isinstance(outcome.error, ProdexError) else ()
    pairs = zip(fix.sent["product_id"], fix.sent["status"], strict=True)
    failed = {product for product, status in pairs if status in _NOT_ARRIVED}
    # In conflict are those whose products had changed when they were requested, right before the first call.
    states = zip(sent, fix.answers["state"], strict=True)
    return tuple(one for one, state in states if one.product_id in failed or state == "conflict")


def _counts(session: Session, outcome: SendingOutcome) -> list[bool]:
    """Return of each correction whether it should have arrived: others are listed again, with the reason."""
    waiting = set(_unconfirmed(session)) - set(_not_arrived(outcome))
    return [one in waiting for one in outcome.sent.of[0]]


_BOX = outbox(
    Outbox(
        _NAME,
        _NAME,
        _judging,
        _shown,
        _begin,
        _ended,
        _counts,
        cancelled=lambda session: session.noting(_NOT_JUDGED, section=_NAME),
        # What may have been sent is listed apart, and is only sent again by somebody who collects it again.
        also="unknown",
        to_check=_to_check,
    )
)


# A worklist of them, for somebody else to look at and send.

_FIELDS = (
    FormField("folder", "Folder", "folder", "corrections"),
    FormField("replace", "Replace existing files", "tick", False),
)


def _export(session: Session) -> Iterator[Block | None]:
    write = button(
        "Write a worklist", "corrections.write", title="With the new values filled in, for each owner"
    )
    yield form(session, "corrections-export", _FIELDS, write, label="Worklist")
    yield work(session, "write corrections")


@task("corrections.write")
def write_worklist(app: Panel) -> None:
    """Write the corrections as a worklist with the new values filled in."""
    session = app.session
    values = form_values(session, "corrections-export", _FIELDS)
    folder = path_typed(values, "corrections-export.folder", "Enter a folder.")
    if (made := _BOX.preview(session)) is None:
        raise Refused("There is no correction to write.")

    def write(_: Reporter) -> str:
        written = made.fix.worklist(folder, accepted=True, replace=values["replace"])
        return f"Exported {counted(len(written), 'worklist')} to {folder}."

    app.run(
        "write corrections",
        write,
        lambda now, said: now.noting(said, section=_NAME),
        title="Writing worklists",
    )


def _title(session: Session) -> str:
    return f"Corrections ({len(session.corrections):,})" if session.corrections else "Corrections"


def _wants(session: Session) -> Iterator[Want]:
    yield from _BOX.wants(session)
    yield from paste_wants(session)


CORRECTIONS = Section(_NAME, _title, corrections_view, _wants)
