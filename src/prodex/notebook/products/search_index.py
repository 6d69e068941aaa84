"""The words of all texts of a catalogue, kept beside its snapshot so that they are read once and not in every session.

They are a copy, and are never trusted more than that. A file of them is named after the digests of what it was made of,
and its content is checked whenever it is read. What is missing, damaged or of another version is made again. It lies
in the folder of the snapshot, `.search`, and disappears with it; whoever deletes it loses nothing but seconds. Where a
disk refuses, and for a catalogue that is in memory or filtered, the words are kept in memory.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec
import pyarrow as pa

from prodex.catalog import Catalog, Part
from prodex.errors import SnapshotDamaged, StorageError
from prodex.executors import side_by_side
from prodex.files import parquet
from prodex.files.atomic import make_folder, storage, sweep, writing
from prodex.files.untrusted import Count, Digest, is_file, is_folder, is_there, read_json
from prodex.notebook.products.part_words import SCHEMA, PartWords

#: A change of how words are made or kept needs a new number. Another version of Arrow may have other normal forms of
#: letters, so that what it made is made again as well.
_FORMAT = f"1, Arrow {pa.__version__}"
_FOLDER, _LIST = ".search", "index.json"

_Made = TypeVar("_Made")


class _File(msgspec.Struct):
    """What the list holds of a file; see `prodex.files.parquet.FileFacts`."""

    rows: Count
    bytes: Count
    sha256: Digest
    footer: Digest


class _List(msgspec.Struct):
    made_as: str
    files: dict[str, _File]


class SearchIndex:
    """The words of the texts of a catalogue, part by part.

    Parameters
    ----------
    catalog
        The catalogue.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._parts = [part for part in catalog.parts if part.size]
        self._folder = None if catalog.folder is None else catalog.folder / _FOLDER
        self._held: dict[int, PartWords] = {}
        self._files = self._listed()
        self._making = threading.Lock()

    @property
    def is_ready(self) -> bool:
        """Whether the words of all parts are there: then a search takes no longer than the next one."""
        return not self._missing()

    def make(self, progress: Callable[[int, int], object] = lambda *_: None) -> None:
        """Make the words that are not there yet.

        Parameters
        ----------
        progress
            Called with the number of parts whose words are there, and the number of all parts.
        """
        with self._making:  # two searches may begin before there are any words
            if not (missing := self._missing()):
                return
            there = len(self._parts) - len(missing)
            for number, _ in enumerate(side_by_side(self._make, missing), there + 1):
                progress(number, len(self._parts))
            self._write_list()

    def each(self, work: Callable[[PartWords], _Made]) -> Iterator[_Made]:
        """Work on the words of all parts in threads, and yield the results in the order of the catalogue."""
        self.make()
        before = dict(self._files)
        yield from side_by_side(lambda number: work(self._words(number)), range(len(self._parts)))
        if self._files != before:
            self._write_list()

    def _missing(self) -> list[int]:
        return [
            number
            for number, part in enumerate(self._parts)
            if number not in self._held and self._path(part) is None
        ]

    def _words(self, number: int) -> PartWords:
        """Return the words of a part; if their file is damaged, they are made again."""
        if number in self._held:
            return self._held[number]
        part = self._parts[number]
        path = self._path(part)
        if path is None:
            return self._make(number)
        try:
            facts = msgspec.to_builtins(self._files[path.name])
            return PartWords.from_table(parquet.read(path, facts), part.size)
        except (SnapshotDamaged, ValueError):
            return self._make(number)

    def _make(self, number: int) -> PartWords:
        part = self._parts[number]
        words = PartWords.of(part)
        if self._folder is None or (name := _name(part)) is None:
            self._held[number] = words
            return words
        try:
            self._files[name] = _written(words, self._folder / name)
        except (OSError, StorageError):
            # Somebody else's folder, or a full disk: whoever searches has no need to know.
            self._held[number] = words
        return words

    def _path(self, part: Part) -> Path | None:
        """Return the file with the words of a part, if there is one; its content is checked when it is read."""
        name = _name(part)
        if self._folder is None or name not in self._files or not is_file(self._folder / name):
            return None
        return self._folder / name

    def _listed(self) -> dict[str, _File]:
        if self._folder is None or not is_folder(self._folder):
            return {}
        try:
            found = read_json(self._folder / _LIST, _List)
        except (OSError, ValueError):
            return {}
        return found.files if found.made_as == _FORMAT else {}

    def _write_list(self) -> None:
        if self._folder is None or not is_folder(self._folder):
            return
        content = msgspec.json.encode(_List(_FORMAT, self._files))
        try:
            sweep(self._folder)
            with writing(self._folder / _LIST, private=True) as beside:
                beside.write_bytes(content)
        except (OSError, StorageError):
            return  # without the list the words are made again next time


def _name(part: Part) -> str | None:
    """Return the name of the file for the words of a part; none for a part in memory, or with some of its products."""
    if part.chosen is not None or not {"products", "texts"} <= part.facts.keys():
        return None
    made_of = "".join(str(part.facts[table]["sha256"]) for table in ("products", "texts"))
    return f"{hashlib.sha256(made_of.encode()).hexdigest()[:32]}.parquet"


def _written(words: PartWords, path: Path) -> _File:
    # The folder of a snapshot that was removed meanwhile must not come back, and a link is not followed.
    if not is_folder(path.parent.parent) or (is_there(path.parent) and not is_folder(path.parent)):
        raise OSError(f"{path.parent} is not a folder")
    with storage(path):
        make_folder(path.parent, private=True)
    with writing(path, private=True) as beside:
        with parquet.writer(beside, SCHEMA, use_dictionary=False) as file:
            file.write_table(words.to_table())
        facts = parquet.facts_of(beside)
    return msgspec.convert(facts, _File)
