"""Worklists that came back: read, judged, confirmed where they have to be, sent, and looked for at the service.

They are judged by the products that are shown. Where these become others before anything was sent, because something
else was sent meanwhile, the answers are read and judged again; what was confirmed stays so, unless the question is
another.
"""

from __future__ import annotations

import base64
import hashlib
import json
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prodex.catalog import Catalog
from prodex.files.atomic import safe_name
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.jobs import are_same_arguments
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.arrival import is_about
from prodex.notebook.views.blocks import box, button, heading, paragraph, row, table, typed_text, work
from prodex.notebook.views.fix_blocks import fix_blocks
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.sending import (
    Outbox,
    Preview,
    SendingOutcome,
    is_sending,
    look_again,
    outbox,
    preview_of,
    send_blocks,
    without_outcome,
)
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Profile
from prodex.quality.accepted import AcceptedFindings
from prodex.untrusted_text import label, words
from prodex.worklists.answer_rows import PLACE
from prodex.worklists.fix import Fix
from prodex.worklists.read_worklist import read_worklist
from prodex.worklists.returned_files import place_in_words

_NAME, _FORM = "returned", "returned"
#: Rows of the list, and bytes of an answer in it: a browser has to show them all.
_ROWS, _MOST = 500, 20_000
#: Bytes of files that are chosen in a page.
_LARGEST = 200_000_000
_ENDINGS = ".xlsx,.xlsm,.csv,.tsv,.txt"


@dataclass(frozen=True, eq=False)
class ReadAnswers:
    """Answers as they were read and judged.

    Attributes
    ----------
    of
        What was read and judged.
    preview
        What would be sent.
    blocks
        What is shown of them.
    asked
        The answers that need confirmation, and those that ask to accept a finding.
    """

    of: tuple[Any, ...] = field(repr=False)
    preview: Preview
    blocks: tuple[Block, ...] = field(repr=False)
    asked: tuple[Mapping[str, Any], ...] = field(repr=False)


@dataclass(frozen=True)
class ReturnedWorklists:
    """What the fold keeps.

    Attributes
    ----------
    path
        The file or the folder that is read; None as long as nothing was.
    number
        How often something was read: the same folder may have other files by now.
    folder
        Keeps files that were chosen in a page.
    confirmed
        The answers that are meant as they are, each with the question.
    accepted
        The requests to accept a finding that were followed.
    read
        The answers as they were read last.
    sent
        The answers that were sent, or that are being sent; they are not judged again.
    missing
        How many of these the products do not show.
    """

    path: Path | None = None
    number: int = 0
    folder: UploadFolder | None = field(default=None, repr=False)
    confirmed: frozenset[str] = frozenset()
    accepted: frozenset[str] = frozenset()
    read: ReadAnswers | None = None
    sent: Fix | None = field(default=None, repr=False)
    missing: int = 0


_FIELDS = (FormField("folder", "or folder", "folder", placeholder="where the answered files are"),)


def returned_fold(session: Session) -> Block:
    """Return what reads worklists that came back, and sends their answers."""
    return box(*_blocks(session), key=_NAME, look="returned", label="Worklists that came back")


def returned_wants(session: Session) -> Iterator[Want]:
    """Yield the reading of answers, as long as they were not sent."""
    state = session.part(ReturnedWorklists)
    if state.path is None or state.sent is not None or is_sending(session, _NAME) or _read_now(session):
        return
    path, of, accepted = state.path, _of(session), state.accepted
    options = {"title": "Reading and judging the answers", "after": PATIENCE, "is_dropped": True}
    options["cancelled"] = lambda now: _forgotten(now).noting("Cancelled.")
    options["failed"] = lambda now, error: _forgotten(now).noting(error_text(error), is_problem=True)
    yield Want("read answers", of, lambda _: _read(path, of, accepted), _keep_read, options)


def _of(session: Session) -> tuple[Any, ...]:
    """Return what answers are read from and judged by: whatever is accepted of an audit, its checks are the same."""
    state = session.part(ReturnedWorklists)
    return (*session.derived(_judged_by), str(state.path), state.number, state.confirmed)


def _judged_by(session: Session) -> tuple[Catalog | None, Profile | str | None]:
    """Return the catalogue and the checks that judge: those of the audit.

    An audit of another catalogue than the one that is shown has its own; without it, the files say which it is.
    """
    audit = session.audit
    if audit is None:
        return session.catalog, None
    catalog = session.catalog if is_about(audit, session.catalog) else audit.catalog
    return catalog, audit.made_by or audit.profile


def _read_now(session: Session) -> ReadAnswers | None:
    """Return the answers, if they were judged by what is shown now, or were sent."""
    state = session.part(ReturnedWorklists)
    if state.read is None or state.sent is not None:
        return state.read
    return state.read if are_same_arguments(state.read.of, _of(session)) else None


def _forgotten(session: Session) -> Session:
    return session.with_part(replace(session.part(ReturnedWorklists), path=None))


def _read(path: Path, of: tuple[Any, ...], accepted: frozenset[str]) -> ReadAnswers:
    catalog, profile, _, _, confirmed = of
    fix = read_worklist(path, catalog, profile=profile)
    asked = fix.needs_confirmation
    requests = {_place(one) for one in fix.requests.to_dict("records")}
    rows = asked.to_dict("records")
    if any(meant := [which_of(one) in confirmed and _place(one) not in requests for one in rows]):
        fix.confirm(asked[meant])
    return _shown(fix, of, accepted)


def _shown(fix: Fix, of: tuple[Any, ...], accepted: frozenset[str]) -> ReadAnswers:
    asked = fix.needs_confirmation.to_dict("records") if fix.tracking is None else []
    requests = {_place(one) for one in fix.requests.to_dict("records")}
    listed = tuple(
        {**_named(one), "is_request": _place(one) in requests}
        for one in asked
        if which_of(one) not in accepted
    )
    return ReadAnswers(of, preview_of(fix), tuple(fix_blocks(fix, _NAME)), listed)


def _named(answer: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): value for name, value in answer.items()}


def _keep_read(session: Session, read: ReadAnswers) -> Session:
    return session.with_part(replace(session.part(ReturnedWorklists), read=read))


def _place(answer: Mapping[Any, Any]) -> str:
    return json.dumps([answer[name] for name in PLACE])


def which_of(answer: Mapping[Any, Any]) -> str:
    """Return what names an answer: its place, what it says, and what is asked of it."""
    text = json.dumps([_place(answer), str(answer["answer"]), str(answer["reason"])])
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def _blocks(session: Session) -> Iterator[Block | None]:
    state, read = session.part(ReturnedWorklists), _read_now(session)
    yield heading("Worklists that came back")
    yield row(
        {
            "kind": "files",
            "key": "files",
            "label": "Choose files",
            "accept": _ENDINGS,
            "do": "returned.upload",
        },
        form(
            session,
            _FORM,
            _FIELDS,
            button("Read", "returned.read"),
            label="Worklists that came back",
            # To read changes nothing, and whoever has typed a folder wants it read.
            on_return=True,
        ),
        key="source",
        look="source",
    )
    yield work(session, "read answers")
    if state.path is not None and read is None and "read answers" not in session.works:
        yield paragraph("Reading the answers …", key="reading", tone="status")
    if read is not None:
        yield from read.blocks
        yield from _asked(read)
    yield from send_blocks(session, _NAME)
    if state.sent is not None and state.missing and not is_sending(session):
        check = button("Check what has arrived", "returned.check", title="Request the products, and compare")
        yield row(check, key="check")


def _asked(read: ReadAnswers) -> Iterator[Block]:
    """Yield the answers that need confirmation, each with its question and what can be said to it."""
    asked = read.asked
    if not asked:
        return
    listed = f" ({_ROWS:,} listed)" if len(asked) > _ROWS else ""
    title = f"{counted(len(asked), 'answer')} to be confirmed, and not sent{listed}"
    yield heading(title, key="asked", level=4)
    heads = [
        {"name": name, "title": name, "head": name == "Product"}
        for name in ("Product", "Field", "Answer", "What is asked", "")
    ]
    yield table(
        heads, [_asked_row(one) for one in asked[:_ROWS]], key="asked rows", label="Needs confirmation"
    )
    answers = sum(not one["is_request"] for one in asked)
    if answers > 1:
        # Answers only: each reason to accept a finding is decided on by itself.
        digest = _digest(read)
        yield row(
            button(f"All {answers:,} are meant", "returned.confirm_all", key="all", questions=digest),
            key="every",
        )


def _asked_row(one: Mapping[str, Any]) -> dict[str, Any]:
    product = typed_text(label(one["name"] or f"product {one['product_id']}"))
    language = one["language"] or ""
    place = place_in_words(*(one[name] for name in PLACE))
    which = which_of(one)
    says = "Accept the finding" if one["is_request"] else "It is meant"
    do = "returned.accept" if one["is_request"] else "returned.confirm"
    act = button(says, do, key=f"{do} {which}", which=which, title=f"{says}: {one['attribute']}, {language}")
    answer: dict[str, Any] = {"words": typed_text(words(one["answer"], _MOST)), "tone": "added"}
    return {
        "key": which,
        "cells": [
            {"parts": [product, {"words": f" {one['gtin'] or ''}", "tone": "muted"}]},
            {
                "parts": [
                    typed_text(one["attribute"] or ""),
                    {"words": f" {language}", "tone": "language"},
                    {"words": typed_text(place), "tone": "why muted"},
                ]
            },
            {**answer, "lang": language[:2]} if language else answer,
            typed_text(words(one["reason"])),
            {"button": act},
        ],
    }


def _digest(read: ReadAnswers) -> str:
    every = "".join(which_of(one) for one in read.asked if not one["is_request"])
    return hashlib.sha256(every.encode()).hexdigest()[:20]


@task("returned.read")
def read_folder(app: Panel) -> None:
    """Read the answers in a folder, or in a file."""
    values = form_values(app.session, _FORM, _FIELDS)
    text = required(values, _FORM, "folder", "Enter the folder of the worklists that came back.")
    path = path_of(text, at=f"{_FORM}.folder")
    if not path.exists():
        raise Refused(f"There is no file or folder {str(path)!r:.200}.", at=f"{_FORM}.folder")
    read_answers(app, path)


class UploadFolder:
    """A folder for files that were chosen in a page: removed once nothing shows them any more, and with the process."""

    def __init__(self) -> None:
        self.path: Path = Path(tempfile.mkdtemp(prefix="prodex-answers-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class UploadedFiles:
    """The files that a page is sending, piece by piece.

    Attributes
    ----------
    batch
        What the page calls them.
    folder
        Where they are kept.
    size
        Bytes that came until now.
    names
        How the files are called, by their number.
    """

    batch: str = ""
    folder: UploadFolder | None = field(default=None, repr=False)
    size: int = 0
    names: Mapping[int, str] = field(default_factory=dict)


@task("returned.upload")
def take_piece(app: Panel, batch: str, file: int, name: str, content: str, is_last: bool) -> None:
    """Take a piece of a file that was chosen in a page, in their order; the last one has all of them read."""
    state = app.session.part(UploadedFiles)
    if state.batch != batch or state.folder is None:
        state = UploadedFiles(batch, UploadFolder())
    folder = state.folder
    assert folder is not None  # noqa: S101 - it was made above
    try:
        piece = base64.b64decode(content, validate=True)
    except ValueError as error:
        raise Refused("The files did not arrive as they were sent. Choose them again.") from error
    size = state.size + len(piece)
    if size > _LARGEST:
        app.change(lambda now: now.with_part(UploadedFiles()))
        raise Refused("The files are larger than 200 MB. Give their folder instead.")
    title = safe_name(Path(name).stem)[:80] + Path(name).suffix.casefold()[:8]
    # Two people may have given their files the same name.
    title = f"{file}-{title}" if title in state.names.values() else title
    names = {file: title, **state.names}
    with (folder.path / names[file]).open("ab") as target:
        target.write(piece)
    app.change(lambda now: now.with_part(replace(state, size=size, names=names)))
    if is_last:
        read_answers(app, folder.path, folder)


def read_answers(app: Panel, path: Path, folder: UploadFolder | None = None) -> None:
    """Read the answers in a folder or a file anew; what was read and sent before is forgotten."""
    if is_sending(app.session, _NAME):
        raise Refused("Answers are being sent. Wait until that has ended.")

    def begun(session: Session) -> Session:
        number = session.part(ReturnedWorklists).number + 1
        return without_outcome(session.with_part(ReturnedWorklists(path, number, folder)), _NAME)

    app.change(begun)


@action("returned.confirm")
def confirm(session: Session, which: str) -> Session:
    """Take one answer that needs confirmation as it is, and judge the answers again."""
    return _confirmed(session, {which_of(_found(session, which, is_request=False))})


@action("returned.confirm_all")
def confirm_all(session: Session, questions: str) -> Session:
    """Take all answers that are asked about as they are."""
    read = _read_now(session)
    if read is None or _digest(read) != questions:
        raise Refused("What is asked is another by now. Look at it, and confirm it again.")
    return _confirmed(session, {which_of(one) for one in read.asked if not one["is_request"]})


def _found(session: Session, which: str, *, is_request: bool) -> Mapping[str, Any]:
    read, state = _read_now(session), session.part(ReturnedWorklists)
    if read is None or state.sent is not None or is_sending(session, _NAME):
        raise Refused("Nothing was done: the answers are being judged or sent.")
    for one in read.asked:
        if which_of(one) == which and one["is_request"] == is_request:
            return one
    raise Refused("What is asked is another by now. Look at it, and confirm it again.")


def _confirmed(session: Session, which: set[str]) -> Session:
    state = session.part(ReturnedWorklists)
    if state.sent is not None or is_sending(session, _NAME):
        raise Refused("Nothing was done: the answers are being sent, or were sent.")
    return session.with_part(replace(state, confirmed=state.confirmed | which))


@task("returned.accept")
def accept(app: Panel, which: str) -> None:
    """Accept a finding for the reason that a supplier gave."""
    asked = _found(app.session, which, is_request=True)
    read = _read_now(app.session)
    assert read is not None  # noqa: S101 - the answer was found in it
    fix, of = read.preview.fix, read.of
    known = app.session.part(ReturnedWorklists).accepted | {which}

    def accepting(_: Reporter) -> ReadAnswers:
        requests = fix.requests
        fix.accept(requests[[_place(one) == _place(asked) for one in requests.to_dict("records")]])
        return _shown(fix, of, known)

    def accepted(session: Session, made: ReadAnswers) -> Session:
        state, audit = session.part(ReturnedWorklists), session.audit
        session = session.with_part(replace(state, read=made, accepted=known))
        if audit is None or audit.accepted_findings is None:
            return session
        # What is accepted is read again: this has added to it.
        accepted_now = AcceptedFindings.read(audit.accepted_findings.path)
        return session.replaced(audit=audit.accepting(accepted_now))

    app.run("accept a request", accepting, accepted, title="Accepting the finding")


@task("returned.check")
def check(app: Panel) -> None:
    """Request the products of what was sent once more."""
    if (sent := app.session.part(ReturnedWorklists).sent) is None:
        raise Refused("Nothing was sent yet.")
    look_again(app, _NAME, sent)


# Sending.


def _preview(session: Session) -> Preview | None:
    read = _read_now(session)
    return None if read is None else read.preview


def _begin(app: Panel, preview: Preview) -> None:
    fix = preview.fix
    app.change(lambda now: now.with_part(replace(now.part(ReturnedWorklists), sent=fix)))


def _ended(session: Session, outcome: SendingOutcome) -> Session:
    """Show answers with what the service refused, and what had changed there meanwhile."""
    state, fix = session.part(ReturnedWorklists), outcome.fix
    if state.sent is not fix or state.read is None:
        return session
    if fix.tracking is None:
        # Nothing was sent: the answers can be sent again, or others be read.
        return session.with_part(replace(state, sent=None))
    missing = len(outcome.arrival.missing()[1]) if outcome.arrival is not None else 1
    return session.with_part(replace(state, read=_shown(fix, state.read.of, state.accepted), missing=missing))


outbox(Outbox(_NAME, _preview, _begin, _ended))
