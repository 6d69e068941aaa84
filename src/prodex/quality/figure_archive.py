"""Figures of audits on disk: `<root>/<name>/figures/<UTC time of the audit>/manifest.json`, which never changes.

They are written with the audit, and outlive both it and its snapshot. For audits that were saved before there were
figures, they are made of what is left, and then kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC
from pathlib import Path

import msgspec

from prodex.errors import SnapshotError, StorageError
from prodex.files.atomic import writing_folder
from prodex.files.untrusted import Count, Moment, check_moment, is_folder, is_there
from prodex.quality.archive import AUDITS, open_audit, write_audit
from prodex.quality.audit import Audit
from prodex.quality.figures import Figures, figures_of
from prodex.quality.measures import MeasuredValue
from prodex.store.archive import Archive, in_order, is_entry, new_entry, place_of

FIGURES = Archive("set of figures", "Delete it; it is made again while its audit is there.", below="figures")

#: Audits that are looked at: more than any window of `prodex.quality.unusual`.
_MOST = 90


def save_audit(audit: Audit, name: str | None = None) -> Audit:
    """Keep an audit beside the snapshots of a name, and its figures; see `Audit.save`."""
    saved = write_audit(audit, name)
    keep_figures(saved)
    return saved


def keep_figures(audit: Audit) -> None:
    """Keep the figures of an audit that was saved.

    A full disk is no error: figures are made again when they are asked for.
    """
    if audit.folder is None:
        return
    place = audit.folder.parent.parent / FIGURES.below
    if is_there(place) and not is_folder(place):  # a link would let them be written elsewhere
        return
    folder = place / audit.folder.name
    with suppress(StorageError):
        new_entry(place)  # removes what killed processes left
        if not is_there(folder):
            with writing_folder(folder) as beside:
                # Its place in the order is that of the audit.
                FIGURES.write_manifest(beside, _written(figures_of(audit)), place_of(audit.folder))


def kept_figures(name: str) -> list[Figures]:
    """Return the figures of the newest audits of a name, the oldest first; what cannot be read is left out."""
    places = {
        place.name: place
        for archive in (FIGURES, AUDITS)
        for place in archive.places(name)
        if is_folder(archive.folder(name) / place.name)
    }
    ordered = in_order(places.values(), lambda place: place)
    return list(_figures(name, [place.name for place in ordered[-_MOST:]]))


def _figures(name: str, times: list[str]) -> Iterator[Figures]:
    kept, audits = FIGURES.folder(name), AUDITS.folder(name)
    for time in times:
        with suppress(SnapshotError):
            if is_folder(kept / time) and is_entry(kept / time):  # what a link leads to is somebody else's
                yield _read(kept / time)
                continue
            audit = open_audit(audits / time)
            keep_figures(audit)
            yield figures_of(audit)


class _Written(msgspec.Struct):
    """Figures as JSON; values are [group, value, size]."""

    audited_at: Moment
    moment: Moment
    snapshot: str | None
    question: str
    measure: str
    profile: str
    complete: bool
    values: dict[str, list[tuple[str, float, int]]]
    labels: dict[str, dict[str, str]]
    snapshot_sequence: Count | None = None


def _written(figures: Figures) -> dict[str, object]:
    return {
        **{
            name: getattr(figures, name)
            for name in ("snapshot", "snapshot_sequence", "question", "measure", "profile", "complete")
        },
        "audited_at": figures.audited_at.isoformat(),
        "moment": figures.moment.isoformat(),
        "values": {
            measure: [[group, one.value, one.size] for group, one in values.items()]
            for measure, values in figures.values.items()
        },
        "labels": {measure: dict(labels) for measure, labels in figures.labels.items()},
    }


def _read(folder: Path) -> Figures:
    return FIGURES.read_manifest(folder, _Written, _figures_of_written)


def _figures_of_written(written: _Written) -> Figures:
    check_moment(written.audited_at)
    check_moment(written.moment)
    values = {
        measure: {group: MeasuredValue(value, size) for group, value, size in rows}
        for measure, rows in written.values.items()
    }
    return Figures(
        **msgspec.structs.asdict(written)
        | {
            "values": values,
            "audited_at": written.audited_at.astimezone(UTC),
            "moment": written.moment.astimezone(UTC),
        }
    )
