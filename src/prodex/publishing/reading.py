"""Open a publication: files in a folder are read where they are, those of an object store are fetched when needed."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.catalog.part import Part
from prodex.errors import InputError, SnapshotDamaged, SnapshotNotFound
from prodex.files.atomic import home, remove_leftovers, writing
from prodex.files.parquet import FileFacts
from prodex.files.untrusted import refuse_links
from prodex.publishing.delta_tables import nothing_at
from prodex.publishing.destination import Place, delta, place_of
from prodex.publishing.pointer_table import Pointer, pointer_of
from prodex.publishing.publication import file_names
from prodex.store.archive import is_of, zone_note
from prodex.store.parts import StoredPart

#: Two threads that need the same file fetch it once; a file has always the same lock.
_LOCKS = tuple(threading.Lock() for _ in range(64))


def open_published(
    uri: str | Path, at: int | str | None = None, *, storage_options: Mapping[str, str] | None = None
) -> Catalog:
    """Open what was published as a catalogue, with all its tables.

    In a folder the files are read where they are. From an object store each file is fetched when it is first needed,
    into the folder `published` of `PRODEX_HOME`, and checked against its digest; this folder may be deleted at any
    time.

    Parameters
    ----------
    uri
        The folder or address that was given to `publish`.
    at
        Which publication: a number, or the day of a snapshot, such as "2026-11-13" (a day of this machine's time
        zone), for the last publication of it. The newest by default.
    storage_options
        What the object store needs, as the package `deltalake` takes it. Credentials may also be in the environment.

    Raises
    ------
    SnapshotNotFound
        When there is none; the message names those that are there.
    SnapshotDamaged
        When a file of it was removed or changed; for an object store this is raised when the file is needed.
    PublicationRefused
        When another program or a newer version of prodex wrote it.
    StorageError
        When the place refuses: no rights, not reached.
    MissingExtra
        When `deltalake` is not installed.

    Examples
    --------
    >>> import prodex, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> _ = prodex.publish(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]).save("shop"), folder)
    >>> prodex.open_published(folder).products["gtin"].tolist()
    ['03036811359935']
    """
    place = place_of(uri, storage_options)
    delta()
    pointer = pointer_of(place)
    row = pointer.row(_chosen(pointer, at))
    if place.folder is not None:
        _require_files(place.folder, row.parts)
    else:
        remove_leftovers(cache_folder())
    parts = [
        Part.on_disk(part.products, PublishedFiles(place, names, part.files), part.files)
        for part, names in zip(row.parts, file_names(row.parts), strict=True)
    ]
    return Catalog(tuple(parts), row.origin, published=place.address)


def cache_folder() -> Path:
    """Return the folder of files that were fetched from object stores, each called by its digest."""
    return home() / "published"


@dataclass(frozen=True, eq=False)
class PublishedFiles(Mapping[str, Path]):
    """The paths of a part's files by table; a file of an object store is fetched when its path is asked for."""

    place: Place
    names: Mapping[str, str]
    facts: Mapping[str, FileFacts]

    def __getitem__(self, table: str) -> Path:
        name, facts = self.names[table], self.facts[table]
        if self.place.folder is not None:
            path = self.place.folder / name
            if not path.is_file():
                raise _removed(self.place, name)
            return path
        digest = str(facts["sha256"])
        path = cache_folder() / f"{digest}.parquet"
        with _LOCKS[int(digest[:8], 16) % len(_LOCKS)]:
            # What is in the cache was checked when it was fetched; every reader checks its pages again.
            if not path.is_file() or path.stat().st_size != facts["bytes"]:
                self._fetch(name, path, digest)
        return path

    def _fetch(self, name: str, path: Path, digest: str) -> None:
        with writing(path, private=True) as beside:
            try:
                with beside.open("wb") as output:
                    came = self.place.fetch(name, output)
            except FileNotFoundError:
                raise _removed(self.place, name) from None
            if came != digest:
                raise SnapshotDamaged(f"{self.place.at(name)} cannot be read (its digest differs). {_ADVICE}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, table: object) -> bool:
        return table in self.names  # without fetching it


_ADVICE = (
    "Publish the snapshot again (with older=True if a newer one is published), which uploads what is missing, or open "
    "another publication: prodex.open_published(uri, at=...)."
)


def _removed(place: Place, name: str) -> SnapshotDamaged:
    return SnapshotDamaged(
        f"{place.at(name)} is missing: files of this publication were removed, as a vacuum of Delta tables does. "
        f"{_ADVICE}"
    )


def _require_files(folder: Path, parts: tuple[StoredPart, ...]) -> None:
    names = sorted({name for part in file_names(parts) for name in part.values()})
    for name in names:
        if not (folder / name).exists():
            raise _removed(Place(str(folder), folder), name)
    try:
        # A publication may be from somebody else: a link in it could lead to any file of the reader.
        refuse_links(folder, (folder / name for name in names))
    except OSError as error:
        raise SnapshotDamaged(f"{error}. {_ADVICE}") from error


def _chosen(pointer: Pointer, at: Any) -> int:
    """Return the number of the publication that was asked for.

    Raises
    ------
    SnapshotNotFound
        When there is none.
    InputError
        When `at` is neither a number nor a time.
    """
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | str)):
        raise InputError(
            f"at is {described(at)}. Give the number of a publication, or the day of a snapshot: "
            "at='2026-11-13'."
        )
    if isinstance(at, str):
        found = [one.number for one in pointer.publications if is_of(one.snapshot, at)]
    else:
        found = [number for number in pointer.numbers if at in (None, number)]
    if found:
        return found[-1]
    address = pointer.place.address
    if not pointer.numbers:
        raise nothing_at(address)
    there = ", ".join(f"{one.number} ({one.snapshot})" for one in pointer.publications[-5:])
    note = zone_note((one.snapshot for one in pointer.publications), at) if isinstance(at, str) else ""
    raise SnapshotNotFound(f"No publication {at!r} at {address}. The newest are: {there}.{note}")
