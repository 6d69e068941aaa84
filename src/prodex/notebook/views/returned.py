"""Worklists that came back: read, judged, confirmed where they have to be, sent, and looked for at the service.

They are judged by the products that are shown. Where these become others before anything was sent, because something
else was sent meanwhile, the answers are read and judged again; what was confirmed stays so, unless the question is
another.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from prodex.catalog import Catalog
from prodex.files.atomic import safe_name
from prodex.notebook.session.actions import Block, Panel, Want, task
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.audited_products import is_about
from prodex.notebook.views.blocks import box, button, heading, paragraph, row, typed_text, work
from prodex.notebook.views.forms import FormField, form, form_values
from prodex.notebook.views.judged_answers import answers_blocks, judged_answers
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.sending import Judging, Outbox, Preview, outbox, place_of
from prodex.progress import Reporter
from prodex.quality import Profile
from prodex.quality.accepted import AcceptedFindings
from prodex.worklists.read_worklist import read_worklist

_NAME, _FORM, _SECTION = "returned", "returned", "quality"
#: Bytes of files that are chosen in a page.
_LARGEST = 200_000_000
#: Choices of files that pages send at a time.
_MOST_BATCHES = 8
_NOT_ARRIVED = "The files did not arrive as they were sent. Choose them again."
_ENDINGS = ".xlsx,.xlsm,.csv,.tsv,.txt"


@dataclass(frozen=True)
class ReturnedWorklists:
    """What the fold keeps.

    Attributes
    ----------
    path
        The file or the folder that is read; None as long as nothing was.
    folder
        Keeps files that were chosen in a page.
    accepted
        The requests to accept a finding that were followed: whoever reads the files again finds them there.
    """

    path: Path | None = None
    folder: UploadFolder | None = field(default=None, repr=False)
    accepted: frozenset[str] = frozenset()


_FIELDS = (FormField("folder", "or folder", "folder", placeholder="where the answered files are"),)


def returned_fold(session: Session) -> Block:
    """Return what reads worklists that came back, and sends their answers."""
    return box(*_blocks(session), key=_NAME, look="returned", label="Worklists that came back")


def returned_wants(session: Session) -> Iterator[Want]:
    """Yield the reading of answers, as long as they were not sent."""
    return _BOX.wants(session)


def _judged_by(session: Session) -> tuple[Catalog | None, Profile | str | None]:
    """Return the catalogue and the checks that judge: those of the audit.

    An audit of another catalogue than the one that is shown has its own; without it, the files say which it is.
    """
    audit = session.audit
    if audit is None:
        return session.catalog, None
    catalog = session.catalog if is_about(audit, session.catalog) else audit.catalog
    return catalog, audit.made_by or audit.profile


def _judging(session: Session) -> Judging | None:
    path = session.part(ReturnedWorklists).path
    if path is None:
        return None
    # Whatever is accepted of an audit, its checks are the same: then answers are not read again.
    catalog, profile = by = session.derived(_judged_by)
    read = partial(read_worklist, path, catalog, profile=profile)
    return Judging((*by, str(path)), read, "Reading and judging the answers")


def _forgotten(session: Session) -> Session:
    return session.with_changed(ReturnedWorklists, path=None)


def _blocks(session: Session) -> Iterator[Block | None]:
    state = session.part(ReturnedWorklists)
    is_read = _BOX.preview(session) is not None
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
    yield work(session, _BOX.slot)
    if state.path is not None and not is_read and _BOX.slot not in session.works:
        yield paragraph("Reading the answers …", key="reading", tone="status")
    if state.path is not None and is_read:
        # Another folder may be typed by now, and is not read yet.
        where = "the files that were chosen" if state.folder is not None else typed_text(str(state.path))
        yield paragraph(["Read from ", where, "."], key="read-from", tone="muted")
    yield from answers_blocks(session, _BOX, accept="returned.accept", done=state.accepted)
    yield from _BOX.blocks(session)


@task("returned.read")
def read_folder(app: Panel) -> None:
    """Read the answers in a folder, or in a file."""
    values = form_values(app.session, _FORM, _FIELDS)
    at = f"{_FORM}.folder"
    path = path_typed(values, at, "Enter the folder of the worklists that came back.")
    if not path.exists():
        raise Refused(f"There is no file or folder {str(path)!r:.200}.", at=at)
    read_answers(app, path)


class UploadFolder:
    """A folder for files that were chosen in a page: removed once nothing shows them any more, and with the process."""

    def __init__(self) -> None:
        self.path: Path = Path(tempfile.mkdtemp(prefix="prodex-answers-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True)
class UploadedFiles:
    """Files that were chosen together in a page, which sends them piece by piece.

    Attributes
    ----------
    folder
        Where they are kept.
    size
        Bytes that came until now.
    names
        How the files are called, by their number.
    """

    folder: UploadFolder = field(default_factory=UploadFolder, repr=False)
    size: int = 0
    names: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Uploads:
    """What pages are sending, by what each calls it, the latest last: two pages may send at a time."""

    batches: Mapping[str, UploadedFiles] = field(default_factory=dict)

    def keeping(self, batch: str, files: UploadedFiles | None) -> Uploads:
        """Return the same with what came of some files, or without them; what was begun long ago was left."""
        others = {name: one for name, one in self.batches.items() if name != batch}
        if files is not None:
            others[batch] = files
        return Uploads(dict([*others.items()][-_MOST_BATCHES:]))


@task("returned.upload")
def take_piece(app: Panel, batch: str, file: int, name: str, content: str, total: int, is_last: bool) -> None:
    """Take a piece of a file that was chosen in a page, in their order; the last one has all of them read.

    `total` are the bytes of all files together. Where fewer came, a piece is missing, and half of a file is not read as
    if it were the whole: nobody would miss the answers of the other half.
    """
    state = app.session.part(Uploads).batches.get(batch) or UploadedFiles()
    folder = state.folder

    def kept(files: UploadedFiles | None) -> None:
        app.change(lambda now: now.with_part(now.part(Uploads).keeping(batch, files)))

    try:
        piece = base64.b64decode(content, validate=True)
    except ValueError as error:
        kept(None)
        raise Refused(_NOT_ARRIVED) from error
    size = state.size + len(piece)
    if max(size, total) > _LARGEST:
        kept(None)
        raise Refused("The files are larger than 200 MB. Give their folder instead.")
    title = safe_name(Path(name).stem)[:80] + Path(name).suffix.casefold()[:8]
    # Two people may have given their files the same name.
    title = f"{file}-{title}" if title in state.names.values() else title
    names = {file: title, **state.names}
    with (folder.path / names[file]).open("ab") as target:
        target.write(piece)
    kept(None if is_last else UploadedFiles(folder, size, names))
    if is_last and size != total:
        raise Refused(_NOT_ARRIVED)
    if is_last:
        read_answers(app, folder.path, folder)


def read_answers(app: Panel, path: Path, folder: UploadFolder | None = None) -> None:
    """Read the answers in a folder or a file anew; what was read and sent before is forgotten."""
    _BOX.refuse_while_sending(app.session)
    app.change(lambda now: _BOX.begun_anew(now).with_part(ReturnedWorklists(path, folder)))


@task("returned.accept")
def accept(app: Panel, which: str) -> None:
    """Accept a finding for the reason that a supplier gave."""
    preview, known = _BOX.preview(app.session), _BOX.known(app.session)
    if preview is None or known.sent is not None or _BOX.is_sending(app.session):
        raise Refused("Nothing was done: the answers are being judged or sent.")
    asked = [place_of(one) for one in preview.shown.asked if one["is_request"] and one["question"] == which]
    if not asked:
        raise Refused("What is asked is another by now. Look at it, and confirm it again.")
    fix = preview.fix

    def accepting(_: Reporter) -> Preview:
        requests = fix.requests
        fix.accept(requests[[place_of(one) in asked for one in requests.to_dict("records")]])
        return _BOX.judged(preview.of, fix)

    def accepted(session: Session, made: Preview) -> Session:
        done, audit = session.part(ReturnedWorklists).accepted | {which}, session.audit
        session = _BOX.changed(session, preview=made).with_changed(ReturnedWorklists, accepted=done)
        if audit is None or audit.accepted_findings is None:
            return session
        # What is accepted is read again: this has added to it.
        return session.replaced(audit=audit.accepting(AcceptedFindings.read(audit.accepted_findings.path)))

    app.run("accept a request", accepting, accepted, title="Accepting the finding")


_BOX = outbox(
    Outbox(
        _NAME,
        _SECTION,
        _judging,
        partial(judged_answers, _NAME),
        cancelled=lambda session: _forgotten(session).noting("Cancelled.", section=_SECTION),
        failed=lambda session, error: _forgotten(session).noting(
            error_text(error), is_problem=True, section=_SECTION
        ),
        stays=True,
    )
)
