"""Drafts of corrections: what was typed and not sent yet outlives the kernel, in a private file for each snapshot name.

Several kernels may write the same draft. Each of them changes only what its user changed, so that none loses what
another has typed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

import msgspec

from prodex.catalog import Catalog
from prodex.errors import InputError, OtherLayout
from prodex.files.atomic import home, relative_to_working_folder, remove, safe_name
from prodex.files.lock import locked
from prodex.files.state import write_state
from prodex.files.untrusted import is_there, read_json
from prodex.phrases import counted, moment_in_words
from prodex.store.archive import snapshots_folder
from prodex.worklists.text_corrections import TextCorrection

_FORMAT = 1
#: Seconds to wait for another kernel, which holds the lock for as long as a small file takes to be written.
_PATIENCE = 5.0

Item = TypeVar("Item")


@dataclass(frozen=True)
class SentCorrections:
    """Corrections whose sending was begun, and of which it is not known whether they arrived.

    Attributes
    ----------
    at
        When, UTC.
    to
        The host that they were sent to.
    corrections
        The corrections.
    """

    at: datetime
    to: str
    corrections: tuple[TextCorrection, ...]


@dataclass(frozen=True)
class CorrectionDraft:
    """Corrections as they are kept.

    Attributes
    ----------
    corrections
        Those that were not sent.
    unconfirmed
        Those that may have been sent.
    saved_at
        When they were last changed, UTC; None if nothing is kept.
    """

    corrections: tuple[TextCorrection, ...] = ()
    unconfirmed: tuple[SentCorrections, ...] = ()
    saved_at: datetime | None = None

    @property
    def words(self) -> str:
        """What was taken up, in sentences; empty if nothing was."""
        sentences = []
        if self.corrections:
            what = counted(len(self.corrections), "correction")
            when = "" if self.saved_at is None else f" of {moment_in_words(self.saved_at, zone=UTC)}"
            sentences.append(f"{what}{when} taken up again, not sent yet.")
        for sent in self.unconfirmed:
            what = counted(len(sent.corrections), "correction")
            when = moment_in_words(sent.at, zone=UTC)
            sentences.append(f"{what} may have reached {sent.to} at {when}: Check looks whether they have.")
        return " ".join(sentences)


class _DraftFile(msgspec.Struct):
    saved_at: datetime
    corrections: tuple[TextCorrection, ...] = ()
    unconfirmed: tuple[SentCorrections, ...] = ()


def draft_name(catalog: Catalog) -> str | None:
    """Return the name of a catalogue's draft, that of its snapshots; None for a catalogue that was not saved.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7}])
    >>> draft_name(catalog), draft_name(catalog.save("shop"))
    (None, 'shop')
    """
    if catalog.folder is None:
        return None
    named = catalog.folder.absolute().parent
    if named.parent == snapshots_folder().absolute():
        return named.name
    # Snapshots elsewhere may have the same name, and other products.
    return f"{safe_name(named.name)}-{hashlib.sha256(str(named).encode()).hexdigest()[:8]}"


def read_draft(name: str) -> tuple[CorrectionDraft, str]:
    """Return what is kept under a name, and a note about it for people.

    A file that is damaged is renamed and named in the sentence: nothing that was typed is overwritten.
    """
    path = _draft_path(name)
    try:
        found = _read_draft(path)
    except OtherLayout as error:
        return CorrectionDraft(), f"The draft was left as it is, and nothing new is kept on disk. {error}"
    except (OSError, ValueError) as error:
        aside = path.with_name(f"{path.name}.unreadable-{datetime.now(UTC):%Y%m%dT%H%M%S.%f}")
        with suppress(OSError):  # where it cannot be renamed, it cannot be overwritten either
            path = path.rename(aside)
        return (
            CorrectionDraft(),
            f"The draft of corrections cannot be read ({error}). It was kept as {relative_to_working_folder(path)}.",
        )
    return found, found.words


def change_draft(name: str, before: CorrectionDraft, after: CorrectionDraft) -> CorrectionDraft:
    """Change what is kept as a user has changed it, and return all that is kept now.

    Parameters
    ----------
    name
        Of the draft.
    before, after
        What the user had, and has now. What another kernel has added meanwhile stays.

    Raises
    ------
    StorageError
        When the disk refuses.
    SnapshotLocked
        When another kernel does not finish its own change.
    InputError
        When the file on disk cannot be read; it is left as it is.
    OtherLayout
        When another version of prodex wrote it; it is left as it is.
    """
    path = _draft_path(name)
    with locked(path.parent, "keeping a draft of corrections", patience=_PATIENCE):
        try:
            there = _read_draft(path)
        except (OSError, ValueError) as error:
            raise InputError(
                f"The correction is not kept on disk: {relative_to_working_folder(path)} cannot be read "
                f"({error}). Rename it."
            ) from error
        kept = CorrectionDraft(
            _merged_changes(there.corrections, before.corrections, after.corrections),
            _merged_changes(there.unconfirmed, before.unconfirmed, after.unconfirmed),
            datetime.now(UTC).replace(microsecond=0),
        )
        if not kept.corrections and not kept.unconfirmed:
            remove(path)
            return replace(kept, saved_at=None)
        write_state(path, kept, _FORMAT)
        return kept


def _merged_changes(there: Sequence[Item], before: Sequence[Item], after: Sequence[Item]) -> tuple[Item, ...]:
    """Return what is there, without what was removed and with what was added."""
    removed = [one for one in before if one not in after]
    left = [one for one in there if one not in removed]
    return (*left, *(one for one in after if one not in before and one not in left))


def _read_draft(path: Path) -> CorrectionDraft:
    if not is_there(path):
        return CorrectionDraft()
    found = read_json(path, _DraftFile, layout=_FORMAT)
    return CorrectionDraft(found.corrections, found.unconfirmed, found.saved_at)


def _draft_path(name: str) -> Path:
    return home() / "corrections" / f"{name}.json"


class CollectedDraft:
    """The draft of the catalogue that is explored: on disk by the name of its snapshots, in memory if it has none.

    Examples
    --------
    >>> import prodex
    >>> draft, catalog = CollectedDraft(), prodex.flatten([{"id": 7}])
    >>> draft.of(catalog)[0].corrections
    ()
    >>> _ = draft.keep((TextCorrection("7", "nameLegal", "fr", "Pain"),), ())
    >>> _ = draft.of(prodex.flatten([{"id": 8}]))
    >>> len(draft.of(catalog)[0].corrections)
    1
    """

    def __init__(self) -> None:
        self._catalog: Catalog | None = None
        self._now = CorrectionDraft()
        self._unsaved: list[tuple[Catalog, CorrectionDraft]] = []

    def of(self, catalog: Catalog) -> tuple[CorrectionDraft, str]:
        """Return what was collected for a catalogue before, and a note about it for people."""
        before, self._catalog = self._catalog, catalog
        if before is not None and are_same_products(before, catalog):
            return self._now, ""
        if before is not None and draft_name(before) is None and self._now != CorrectionDraft():
            self._unsaved.append((before, self._now))
        if (name := draft_name(catalog)) is not None:
            self._now, note = read_draft(name)
            return self._now, note
        place = next(
            (at for at, (one, _) in enumerate(self._unsaved) if are_same_products(one, catalog)), None
        )
        self._now = CorrectionDraft() if place is None else self._unsaved.pop(place)[1]
        return self._now, ""

    def keep(
        self, corrections: tuple[TextCorrection, ...], unconfirmed: tuple[SentCorrections, ...]
    ) -> CorrectionDraft:
        """Keep what is collected now, and return it with what other kernels have added.

        Raises
        ------
        ProdexError
            As for `change_draft`; the next call tries to keep all of it again.
        """
        if (corrections, unconfirmed) != (self._now.corrections, self._now.unconfirmed):
            now = CorrectionDraft(corrections, unconfirmed)
            name = None if self._catalog is None else draft_name(self._catalog)
            self._now = now if name is None else change_draft(name, self._now, now)
        return self._now


def are_same_products(one: Catalog, other: Catalog) -> bool:
    """Whether two catalogues are of the same products: one name of snapshots, or one load."""
    names = draft_name(one), draft_name(other)
    return names[0] == names[1] and (names[0] is not None or one.origin == other.origin)
