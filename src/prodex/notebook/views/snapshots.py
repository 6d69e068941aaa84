"""The snapshots: which are saved, what is in them over time, and what changed from one to another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from prodex.catalog import Catalog
from prodex.files.atomic import relative_to_working_folder
from prodex.notebook.session.actions import Block, Panel, Section, Want, action, task
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import (
    box,
    button,
    columns_of,
    listed,
    paragraph,
    row,
    table,
    typed_text,
    work,
)
from prodex.notebook.views.comparison import comparison_blocks
from prodex.notebook.views.pages_of_rows import RowList
from prodex.notebook.views.saved_snapshots import (
    COLUMNS,
    NUMBERS,
    ListedSnapshots,
    SnapshotEntry,
    explored,
    folder_times,
    listed_snapshots,
)
from prodex.notebook.views.trend import trend_blocks, trend_wants
from prodex.phrases import counted
from prodex.progress import Reporter
from prodex.store.archive import snapshots_folder
from prodex.store.snapshot import open_snapshot, verify

_LIST = RowList("snapshots", 10)
_VERIFY, _OPEN = "snapshots.verify", "snapshots.open"
#: Seconds that opening a snapshot takes before it is shown.
_UNASKED = 0.6
_GONE = "Nothing was done: this snapshot is not in the list by now. Refresh the list."


@dataclass(frozen=True)
class SnapshotsState:
    """What the section keeps.

    Attributes
    ----------
    asked
        How often somebody has asked for a fresh list.
    verified
        The snapshot whose files were verified last, and what was found.
    """

    asked: int = 0
    verified: VerifiedFiles | None = None


@dataclass(frozen=True)
class VerifiedFiles:
    """What a verification of all files of a snapshot has found.

    Attributes
    ----------
    title
        The snapshot.
    files
        How many files it has.
    damaged
        Those that are damaged, and how.
    """

    title: str
    files: int
    damaged: tuple[tuple[str, str], ...]


def snapshots_view(session: Session) -> list[Block]:
    """Return what the section shows."""
    kept = session.part(ListedSnapshots)
    if kept.entries is None:
        return [paragraph("Reading the list of snapshots …", key="reading", tone="muted")]
    every, chosen = kept.entries, explored(session)
    rows, turning = _LIST.page(session, len(every), "snapshot", key="pages")
    refresh = button("Refresh list", "snapshots.refresh")
    if not every:
        blocks = [row(refresh, turning, key="bar"), _nothing_yet(), *_unfinished(kept)]
        return [one for one in blocks if one]
    newest = chosen or every[0]
    busy = "The files are being verified" if _VERIFY in session.works else ""
    verify_it = button("Verify", _VERIFY, off=busy, title="Verify all files of it", folder=newest.folder)
    blocks = [
        row(refresh, verify_it, turning, key="bar"),
        work(session, _VERIFY),
        work(session, _OPEN),
        _list(every[rows], chosen),
        *_unfinished(kept),
        None if chosen is None else _details(chosen),
        _verified(session),
        *comparison_blocks(session, every),
        *trend_blocks(session, newest.name),
    ]
    return [one for one in blocks if one]


def snapshots_wants(session: Session) -> Iterable[Want]:
    """Yield what is to be read: the list, and the chart of the name that is explored."""
    # What was saved, or a load that was begun or cancelled meanwhile, is listed without being asked for.
    key = (session.part(SnapshotsState).asked, folder_times())
    yield Want("snapshots.list", key, lambda _: listed_snapshots(), Session.with_part)
    if every := session.part(ListedSnapshots).entries:
        yield from trend_wants((explored(session) or every[0]).name, every)


def _list(shown: Iterable[SnapshotEntry], chosen: SnapshotEntry | None) -> Block:
    rows = [
        {
            "key": one.folder,
            "cells": [typed_text(one.name), *one.cells[1:]],
            "selected": one == chosen,
            "do": _OPEN,
            "args": {"folder": one.folder},
        }
        for one in shown
    ]
    return table(columns_of(COLUMNS, numbers=NUMBERS), rows, key="snapshots", label="Snapshots")


def _nothing_yet() -> Block:
    where = relative_to_working_folder(snapshots_folder())
    how = "Create one with prodex.load_products(service, name='shop') or catalog.save('shop')."
    return paragraph(["No snapshots in ", typed_text(str(where)), f". {how}"], key="none", tone="muted")


def _unfinished(kept: ListedSnapshots) -> list[Block | None]:
    if kept.problem:
        return [paragraph(typed_text(kept.problem), key="unfinished", tone="problem")]
    how_many, lines = kept.unfinished
    return [
        paragraph(how_many, key="unfinished", tone="muted") if how_many else None,
        listed(map(typed_text, lines), key="unfinished-loads", tone="muted"),
    ]


def _details(snapshot: SnapshotEntry) -> Block:
    folder = relative_to_working_folder(Path(snapshot.folder))
    state = "" if snapshot.complete is not False else " It is incomplete: the service had announced more."
    said = ["Selected: ", typed_text(snapshot.title), " ", typed_text(str(folder)), f".{state} "]
    note = [typed_text(snapshot.note)] if snapshot.note else []
    return paragraph([*said, *note], key="selected", tone="status")


def _verified(session: Session) -> Block | None:
    if (found := session.part(SnapshotsState).verified) is None:
        return None
    files, number = counted(found.files, "file"), len(found.damaged)
    title = typed_text(found.title)
    if not number:
        return paragraph([f"All {files} of ", title, " are intact."], key="verified", tone="note")
    advice = f" {'is' if number == 1 else 'are'} damaged. Open an earlier snapshot, or load again."
    return box(
        paragraph([f"{number:,} of {files} of ", title, advice], key="said", tone="problem"),
        listed(([typed_text(file), ": ", typed_text(why)] for file, why in found.damaged), key="files"),
        key="verified",
    )


@action("snapshots.refresh")
def refresh_list(session: Session) -> Session:
    """List the snapshots again."""
    return session.with_changed(SnapshotsState, asked=session.part(SnapshotsState).asked + 1)


@task("snapshots.open")
def open_listed(app: Panel, folder: str) -> None:
    """Explore a snapshot; nothing changes if it cannot be read."""
    _listed(app.session, folder)
    if app.session.catalog.folder is not None and str(app.session.catalog.folder) == folder:
        return

    def opened(session: Session, catalog: Catalog) -> Session:
        return _verifying(session.looking_at(catalog).without_typed("compare"), None)

    app.run(_OPEN, lambda _: open_snapshot(folder), opened, title="Opening the snapshot", after=_UNASKED)


@task("snapshots.verify")
def verify_files(app: Panel, folder: str) -> None:
    """Verify every file of a snapshot."""
    entry = _listed(app.session, folder)
    app.change(lambda session: _verifying(session, None))
    app.run(_VERIFY, partial(_verify, entry), _verifying, title=f"Verifying all files of {entry.title}")


def _verifying(session: Session, found: VerifiedFiles | None) -> Session:
    return session.with_changed(SnapshotsState, verified=found)


def _listed(session: Session, folder: str) -> SnapshotEntry:
    """Return the snapshot of a folder: pages open and read no folder that is not in the list."""
    for one in session.part(ListedSnapshots).entries or ():
        if one.folder == folder:
            return one
    raise Refused(_GONE)


def _verify(snapshot: SnapshotEntry, reporter: Reporter) -> VerifiedFiles:
    files = verify(snapshot.folder, progress=reporter)
    damaged = files[~files["ok"]]
    pairs = zip(map(str, damaged["file"]), map(str, damaged["problem"]), strict=True)
    return VerifiedFiles(snapshot.title, len(files), tuple(pairs))


SNAPSHOTS = Section("snapshots", lambda _: "Snapshots", snapshots_view, snapshots_wants)
