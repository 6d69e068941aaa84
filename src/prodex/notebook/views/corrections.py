"""The corrections that were typed on product cards: collected, judged as the answers of worklists are, sent and proved.

Nothing is ever in neither of both: what is being sent is noted on disk before the first call, as what may have been
sent; what certainly did not arrive is collected again, and what the products show is removed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from prodex.catalog import Catalog
from prodex.display.fix import state_in_words, states_in_words
from prodex.errors import ProdexError
from prodex.exploration.drafts import SentCorrections, draft_name
from prodex.languages.labels import attribute_title
from prodex.locales import language_label
from prodex.messages import counted, moment_in_words
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.value import Refused, Session
from prodex.notebook.views.arrival import ArrivedCorrections, has_arrived, profile_of
from prodex.notebook.views.blocks import button, fold, listed, paragraph, row, table, typed_text, work
from prodex.notebook.views.fix_blocks import changed_cell, effect_blocks
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.sending import (
    Outbox,
    Preview,
    SendingOutcome,
    host_in_words,
    is_sending,
    look_again,
    outbox,
    preview_of,
    send_blocks,
)
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit, Profile
from prodex.untrusted_text import label
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection, fix_texts

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
    "only from here. Worklists that came back are sent from Quality."
)
_GONE = "Nothing was done: that correction is another by now, or is gone."


@dataclass(frozen=True, eq=False)
class JudgedCorrections:
    """Corrections, and what has judged them.

    Attributes
    ----------
    corrections
        The corrections, in the order of the answers of the fix.
    catalog, audit
        What they were judged by.
    confirmed
        The questions to which somebody has said that it is meant.
    preview
        What would be sent of them.
    answers
        Of each correction its state, the reason, and name and GTIN of its product.
    words
        How many are in which state.
    effect
        What they fix.
    """

    corrections: tuple[TextCorrection, ...]
    catalog: Catalog = field(repr=False)
    audit: Audit | None = field(repr=False)
    confirmed: tuple[tuple[TextCorrection, str], ...]
    preview: Preview
    answers: tuple[Mapping[str, Any], ...] = field(repr=False)
    words: str
    effect: tuple[Block, ...] = field(repr=False)

    def in_state(self, state: str) -> tuple[TextCorrection, ...]:
        """Return the corrections that are in a state, such as "accepted"."""
        pairs = zip(self.corrections, self.answers, strict=True)
        return tuple(one for one, answer in pairs if answer["state"] == state)


@dataclass(frozen=True)
class CollectedCorrections:
    """What the section keeps.

    Attributes
    ----------
    judged
        The corrections as they were judged last.
    confirmed
        The questions about corrections that are meant as they are.
    taken
        What was withdrawn last, to bring it back.
    sent
        What was sent last.
    names
        Name and GTIN of products by id: what was sent is not judged again.
    arrived
        What has arrived, of what was sent last.
    """

    judged: JudgedCorrections | None = None
    confirmed: tuple[tuple[TextCorrection, str], ...] = ()
    taken: tuple[TextCorrection, ...] = ()
    sent: JudgedCorrections | None = None
    names: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    arrived: tuple[TextCorrection, ...] = ()


def judge_corrections(
    corrections: tuple[TextCorrection, ...],
    catalog: Catalog,
    audit: Audit | None = None,
    confirmed: tuple[tuple[TextCorrection, str], ...] = (),
) -> JudgedCorrections:
    """Judge corrections by the checks of an audit; without one by what the service would refuse.

    `confirmed` has the question of each correction that needs confirmation and is meant; another question is asked
    again.
    """
    profile: Profile | None = profile_of(audit)
    fix = fix_texts(corrections, catalog, profile=profile)
    # The row of what was typed is its number, from 1.
    asked, meant = fix.needs_confirmation, set(confirmed)
    pairs = zip(asked["row"], asked["reason"], strict=True)
    if any(is_meant := [(corrections[number - 1], reason) in meant for number, reason in pairs]):
        fix.confirm(asked[is_meant])
    rows = fix.answers[["state", "reason", "name", "gtin"]].to_dict("records")
    answers = tuple({str(name): value for name, value in one.items()} for one in rows)
    words, effect = states_in_words(fix), tuple(effect_blocks(fix))
    return JudgedCorrections(corrections, catalog, audit, confirmed, preview_of(fix), answers, words, effect)


def corrections_wants(session: Session) -> Iterator[Want]:
    """Yield the judging of what is collected now."""
    if session.corrections and judged_now(session) is None:
        confirmed = session.part(CollectedCorrections).confirmed
        of = (session.corrections, session.catalog, session.audit, confirmed)
        options = {"title": "Judging the corrections", "delay": _PAUSE, "after": PATIENCE, "is_dropped": True}
        options["cancelled"] = lambda now: now.noting(
            "Not judged. Change a correction to judge all of them again.", section=_NAME
        )
        yield Want("judge corrections", of, lambda _: judge_corrections(*of), _keep_judged, options)


def _keep_judged(session: Session, judged: JudgedCorrections) -> Session:
    state = session.part(CollectedCorrections)
    pairs = zip(judged.corrections, judged.answers, strict=True)
    names = {one.product_id: {name: answer[name] for name in ("name", "gtin")} for one, answer in pairs}
    return session.with_part(replace(state, judged=judged, names={**state.names, **names}))


def judged_now(session: Session) -> JudgedCorrections | None:
    """Return what was judged last, or None if the corrections, or what they are judged by, are others by now."""
    state = session.part(CollectedCorrections)
    judged = state.judged
    is_same = (
        judged is not None
        and judged.catalog is session.catalog
        and judged.audit is session.audit
        and judged.corrections == session.corrections
        and judged.confirmed == state.confirmed
    )
    return judged if is_same and session.corrections else None


def corrections_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    judged, state = judged_now(session), session.part(CollectedCorrections)
    can_check = bool(session.unconfirmed) and session.service is not None
    made: list[Block | None] = [
        paragraph(typed_text(session.draft_note), key="draft", tone="note") if session.draft_note else None,
        *_summary(session, judged),
        work(session, "judge corrections"),
        _list(session, judged),
        row(
            button("Check what has arrived", "corrections.check", title="Request the products, and compare"),
            key="check",
        )
        if can_check and not is_sending(session)
        else None,
        *send_blocks(session, _NAME),
        _arrived_fold(session, state.arrived),
        *(_export(session) if judged is not None else ()),
        *_back_row(session),
    ]
    return [one for one in made if one]


def _back_row(session: Session) -> Iterator[Block]:
    """Yield what takes corrections back: not on the way to what sends them."""
    taken = session.part(CollectedCorrections).taken
    clear = button("Clear", "corrections.clear", title="Remove all corrections that were not sent", to="undo")
    undo = button(f"Bring back {counted(len(taken), 'correction')}", "corrections.undo", key="undo")
    if session.corrections or taken:
        yield row(clear if session.corrections else None, undo if taken else None, key="back")


def _summary(session: Session, judged: JudgedCorrections | None) -> Iterator[Block]:
    """Yield how many corrections there are, what becomes of them, and what they fix."""
    corrections = session.corrections
    sent = sum(len(one.corrections) for one in session.unconfirmed)
    state = session.part(CollectedCorrections)
    if not corrections and not sent:
        # What has become of the last ones says more than that there are none.
        if state.sent is None:
            yield paragraph(_NOTHING, key="summary", tone="muted")
        return
    parts = []
    if corrections:
        products = counted(len({one.product_id for one in corrections}), "product")
        states = "checking …" if judged is None else judged.words
        parts.append(f"{counted(len(corrections), 'correction')} of {products}, not sent yet: {states}.")
    if sent:
        verb = ("is" if sent == 1 else "are") + " being sent"
        parts.append(
            f"{counted(sent, 'correction')} {verb if is_sending(session, _NAME) else 'may have been sent'}."
        )
    if len(corrections) + sent > _ROWS:
        parts.append(f"{_ROWS} of them are listed.")
    if draft_name(session.catalog) is None:
        parts.append(
            "This catalogue is not saved, so they are lost with the kernel: catalog.save(name) keeps them."
        )
    yield paragraph(" ".join(parts), key="summary", tone="status")
    yield from judged.effect if judged is not None else ()


def _list(session: Session, judged: JudgedCorrections | None) -> Block | None:
    """Return the corrections, those of a product below each other."""
    names = session.part(CollectedCorrections).names
    found: list[tuple[TextCorrection, Mapping[str, Any], str]] = []
    for number, one in enumerate(session.corrections):
        answer = names.get(one.product_id, {}) if judged is None else judged.answers[number]
        found.append((one, answer, ""))
    for sent in session.unconfirmed:
        at = moment_in_words(sent.at, "%Y-%m-%d %H:%M:%S", UTC)
        reason = f"Sent to {sent.to} at {at}; it is not known to have arrived."
        for one in sent.corrections:
            answer = {**names.get(one.product_id, {}), "state": "unknown", "reason": reason}
            found.append((one, answer, f" {sent.at.isoformat()}"))
    if not found:
        return None
    places: dict[str, int] = {}
    for one, _, _ in found:
        places.setdefault(one.product_id, len(places))
    found.sort(key=lambda it: places[it[0].product_id])
    heads = [
        {"name": name, "title": title, "head": name == "product"}
        for name, title in (
            ("product", "Product"),
            ("text", "Text"),
            ("before", "Now"),
            ("after", "New"),
            ("state", "What becomes of it"),
            ("acts", ""),
        )
    ]
    rows = [_row(one, answer, when) for one, answer, when in found[:_ROWS]]
    return table(heads, rows, key="list", label="Corrections", look="texts corrections")


def _row(one: TextCorrection, answer: Mapping[str, Any], when: str) -> dict[str, Any]:
    state = answer.get("state", "checking")
    which = which_of(one)
    product = typed_text(label(answer.get("name") or f"product {one.product_id}").text)
    title, tongue = attribute_title(one.attribute), language_label(one.language_code or str(one.language))
    language = one.language_code or one.language
    what = f"{title}, {tongue}"
    acts = [
        button(
            "Collect again",
            "corrections.again",
            key=f"again {which}",
            which=which,
            title=f"Collect {what} again",
        )
        if state == "unknown"
        else None,
        button(
            "It is meant",
            "corrections.confirm",
            key=f"confirm {which}",
            which=which,
            question=answer["reason"],
            title=f"{what} is meant as it is",
        )
        if state == "needs confirmation"
        else None,
        button(
            "Remove",
            "corrections.remove",
            key=f"remove {which}",
            which=which,
            title=f"Remove {what}",
            to="undo",
        ),
    ]
    opens = button(
        [product],
        "corrections.open",
        key=f"open {which}",
        look="link",
        title="Open its card",
        product_id=one.product_id,
    )
    words = {
        "words": _OTHER_STATES.get(state) or state_in_words(state),
        "tone": f"state {state.replace(' ', '-')}",
    }
    why = [{"words": typed_text(answer["reason"]), "tone": "why"}] if answer.get("reason") else []
    return {
        "key": f"{which}{when}",
        "look": f"is-{state.replace(' ', '-')}",
        "cells": [
            {"parts": [{"button": opens}, {"words": f" {answer.get('gtin') or ''}", "tone": "muted"}]},
            {"parts": [typed_text(title), " ", {"words": tongue, "tone": "language"}]},
            changed_cell(one.before, language, is_new=False),
            changed_cell(one.text, language, is_new=True),
            {"parts": [words, *why]},
            {"parts": [{"button": act} for act in acts if act]},
        ],
    }


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


def _withdrawn(session: Session, corrections: tuple[TextCorrection, ...]) -> Session:
    """Return the session without corrections, which can be brought back."""
    kept = replace(session.part(CollectedCorrections), taken=corrections)
    left = tuple(one for one in session.corrections if one not in corrections)
    return session.with_part(kept).replaced(corrections=left)


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
    _refuse_while_sending(session)
    return _settled(session, [one])


@action("corrections.again")
def collect_again(session: Session, which: str) -> Session:
    """Collect a correction that may have been sent, to send it again."""
    _refuse_while_sending(session)
    one = _found(which, _unconfirmed(session))
    return _settled(session, [one], [one])


def _refuse_while_sending(session: Session) -> None:
    if is_sending(session, _NAME):
        raise Refused("Nothing was done: it is being sent. Wait until that has ended.")


@action("corrections.confirm")
def confirm(session: Session, which: str, question: str) -> Session:
    """Take a correction that needs confirmation as it is; another question about it is asked again."""
    one, state = _found(which, session.corrections), session.part(CollectedCorrections)
    return session.with_part(replace(state, confirmed=(*state.confirmed, (one, question))))


@action("corrections.clear")
def clear(session: Session) -> Session:
    """Withdraw all corrections that were not sent."""
    return _withdrawn(session, session.corrections)


@action("corrections.undo")
def bring_back(session: Session) -> Session:
    """Collect again what was withdrawn last."""
    state = session.part(CollectedCorrections)
    session = session.with_part(replace(state, taken=()))
    for one in state.taken:
        session = session.correcting(one)
    return session


@task("corrections.check")
def check(app: Panel) -> None:
    """Look what has arrived of what may have been sent."""
    session = app.session
    sent, wanted = session.part(CollectedCorrections).sent, _unconfirmed(session)
    if not wanted:
        return
    if sent is None or not set(wanted) <= set(sent.corrections):
        # Another kernel has sent it, or it was sent in several parts.
        sent = judge_corrections(wanted, session.catalog, session.audit)
    kept = replace(session.part(CollectedCorrections), sent=sent)
    app.change(lambda now: now.with_part(kept))
    look_again(app, _NAME, sent.preview.fix)


# Sending.


def _preview(session: Session) -> Preview | None:
    judged = judged_now(session)
    return None if judged is None else judged.preview


def _begin(app: Panel, preview: Preview) -> None:
    """Note on disk that these are being sent: whatever happens now, they are not sent a second time."""
    session = app.session
    judged = judged_now(session)
    if judged is None or judged.preview is not preview:
        raise Refused("The corrections have changed meanwhile. Look at them, and send them again.")
    accepted = judged.in_state("accepted")
    group = SentCorrections(datetime.now(UTC).replace(microsecond=0), host_in_words(session), accepted)
    kept = replace(session.part(CollectedCorrections), sent=judged, taken=(), arrived=())
    app.change(
        lambda now: now.with_part(kept).replaced(
            corrections=tuple(one for one in now.corrections if one not in accepted),
            unconfirmed=(*now.unconfirmed, group),
            draft_note="",
        )
    )
    if note := app.session.draft_note:
        # Not noted, so not sent.
        app.change(lambda now: now.replaced(corrections=session.corrections, unconfirmed=session.unconfirmed))
        raise Refused(f"Nothing was sent. {note}")


def _ended(session: Session, outcome: SendingOutcome) -> Session:
    """Collect again what certainly did not arrive, and remove what has arrived."""
    state = session.part(CollectedCorrections)
    if (sent := state.sent) is None or sent.preview.fix is not outcome.fix:
        return session
    waiting = set(_unconfirmed(session))
    back = [one for one in _not_arrived(sent, outcome) if one in waiting]
    session = _settled(session, back, back)
    if outcome.arrival is None:
        return session
    rows = outcome.arrival.newest.answers.to_dict("records")
    pairs = zip(sent.corrections, rows, strict=True)
    arrived = tuple(one for one, answer in pairs if one in waiting and has_arrived(answer))
    return _settled(session, arrived).with_part(replace(state, arrived=arrived))


def _not_arrived(sent: JudgedCorrections, outcome: SendingOutcome) -> tuple[TextCorrection, ...]:
    """Return the corrections that the service certainly does not have, after an attempt to send them."""
    fix = outcome.fix
    if fix.tracking is None:
        # prodex says so of its own errors before a first call; of any other error nobody knows.
        return sent.corrections if isinstance(outcome.error, ProdexError) else ()
    pairs = zip(fix.sent["product_id"], fix.sent["status"], strict=True)
    failed = {product for product, status in pairs if status in _NOT_ARRIVED}
    # In conflict are those whose products had changed when they were requested, right before the first call.
    states = zip(sent.corrections, fix.answers["state"], strict=True)
    return tuple(one for one, state in states if one.product_id in failed or state == "conflict")


def _arrived(session: Session, outcome: SendingOutcome, arrival: ArrivedCorrections) -> tuple[int, list[str]]:
    sent, waiting = session.part(CollectedCorrections).sent, set(_unconfirmed(session))
    if sent is None or sent.preview.fix is not outcome.fix:
        return arrival.missing()
    waiting -= set(_not_arrived(sent, outcome))  # they are listed again, with the reason
    return arrival.missing([one in waiting for one in sent.corrections])


# What may have been sent is listed apart, and is only sent again by somebody who collects it again.
outbox(Outbox(_NAME, _preview, _begin, _ended, _arrived, also="unknown"))


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
    text = required(values, "corrections-export", "folder", "Enter a folder.")
    folder = path_of(text, at="corrections-export.folder")
    if (judged := judged_now(session)) is None:
        raise Refused("There is no correction to write.")
    fix: Fix = judged.preview.fix

    def write(_: Reporter) -> str:
        written = fix.worklist(folder, accepted=True, replace=values["replace"])
        return f"Exported {counted(len(written), 'worklist')} to {folder}."

    app.run(
        "write corrections",
        write,
        lambda now, said: now.noting(said, section=_NAME),
        title="Writing worklists",
    )


def _title(session: Session) -> str:
    return f"Corrections ({len(session.corrections):,})" if session.corrections else "Corrections"


CORRECTIONS = Section(_NAME, _title, corrections_view, corrections_wants)
