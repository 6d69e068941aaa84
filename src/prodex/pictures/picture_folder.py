"""A folder of downloaded pictures: the files that exist, where a new one goes, and the index of the folder."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Self

import pandas as pd
import pyarrow as pa

from prodex.errors import SnapshotDamaged
from prodex.files import parquet
from prodex.files.atomic import remove, storage, sweep, writing
from prodex.files.untrusted import is_file, is_folder, is_there
from prodex.formats.csv_files import write_csv
from prodex.formats.registry import write_parquet
from prodex.pictures.download import Arrival
from prodex.pictures.file_check import FORMATS, compare, look_at, read_checksum
from prodex.pictures.plan import Picture, size_in
from prodex.pictures.result import FILES, PictureResult, PictureState, what_helps

_INDEX = "pictures"
_BROKEN = "broken"
_ENDINGS = {f".{ending}" for ending in (*FORMATS.values(), "unknown")}


@dataclass(frozen=True)
class PictureFolder:
    """A folder of picture files.

    Attributes
    ----------
    folder
        Its path.
    good, broken
        The files that existed before, by their names without suffix.
    known
        For each file in the index its address, and when the picture was last changed.
    """

    folder: Path
    good: Mapping[str, Path]
    broken: Mapping[str, Path]
    known: Mapping[str, tuple[str | None, datetime | None]]

    @classmethod
    def of(cls, folder: Path) -> Self:
        """Read a folder, and remove what processes that were killed have left half-written.

        Raises
        ------
        StorageError
            When it cannot be read.
        """
        with storage(folder):
            sweep(folder)
            for place in (folder / _BROKEN, folder / f"{_INDEX}.parquet"):
                if is_there(place) and not (is_folder(place) or is_file(place)):
                    remove(place)  # of a link, the link: what it leads to is not ours
            return cls(folder, _files(folder), _files(folder / _BROKEN), _known(folder / f"{_INDEX}.parquet"))

    @property
    def sizes(self) -> set[int | None]:
        """The sizes in which files were downloaded; None for originals."""
        return {size_in(stem) for stem in (*self.good, *self.broken)}

    def there(self, picture: Picture) -> PictureResult | None:
        """Return the result for a picture whose file exists and passes its check; None if it has to be downloaded."""
        path = self.good.get(picture.stem)
        if path is None:
            return None
        facts = look_at(path, read_checksum(picture.crc32))
        checked, problem = compare(facts, picture)
        # Without a checksum in the record, a file may be an older version of the picture: it counts only if the index
        # has it with the same address and date.
        is_same = "crc32" in checked or self.known.get(path.name) == (picture.url, picture.updated_at)
        if problem is not None or not is_same:
            return None
        return PictureResult(picture, PictureState.THERE, path, facts, checked)

    def recalled(self, result: PictureResult) -> PictureResult:
        """Return the result for the index; for a picture that was not reached with its file from the earlier index."""
        # Otherwise an interruption would remove from the index what is known nowhere else.
        picture, path = result.picture, self.good.get(result.picture.stem)
        if result.state is not PictureState.FAILED or path is None:
            return result
        is_same = self.known.get(path.name) == (picture.url, picture.updated_at)
        return replace(result, path=path) if is_same else result

    def put(self, arrival: Arrival) -> PictureResult:
        """Store a file that was downloaded: a good one in the folder, a failed one in the folder `broken`.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        picture, facts = arrival.picture, arrival.facts
        helps = None if arrival.problem is None else what_helps(arrival.error)
        if arrival.path is None or facts is None:
            return PictureResult(picture, PictureState.FAILED, reason=arrival.problem, what_to_do=helps)
        is_good = arrival.problem is None
        place = self.folder if is_good else self.folder / _BROKEN
        path = place / f"{picture.stem}.{facts.ending}"
        # A copy that is then renamed: a folder that somebody looks at never has half a picture.
        with writing(path) as beside:
            shutil.copyfile(arrival.path, beside)
        # The file of an earlier download may have another suffix, or be in the other folder.
        for before in (self.good, self.broken):
            if (old := before.get(picture.stem)) not in {None, path}:
                remove(old)
        state = PictureState.DOWNLOADED if is_good else PictureState.BROKEN
        return PictureResult(picture, state, path, facts, arrival.checked, arrival.problem, helps)

    def describe(self, files: pd.DataFrame) -> None:
        """Write the index: as CSV with formulas escaped for spreadsheets, and as Parquet with all texts verbatim.

        Raises
        ------
        StorageError
            When the disk refuses.
        """
        table = pa.Table.from_pandas(files, FILES, preserve_index=False)
        paths = [
            None if path is None else Path(path).relative_to(self.folder).as_posix()
            for path in table["path"].to_pylist()
        ]
        place = FILES.get_field_index("path")
        meaning = {"meaning": "the file, seen from this folder"}
        table = table.set_column(
            place, pa.field("file", pa.string(), metadata=meaning), pa.array(paths, pa.string())
        )
        with writing(self.folder / f"{_INDEX}.csv") as beside:
            write_csv(iter(table.to_batches()), table.schema, beside, escape_formulas=True)
        with writing(self.folder / f"{_INDEX}.parquet") as beside:
            write_parquet(iter(table.to_batches()), table.schema, beside)

    def sweep(self) -> None:
        """Remove partial files that no download will continue."""
        for pattern in (".f*.part", ".f*.version"):
            for left in self.folder.glob(pattern):
                remove(left)


def _files(folder: Path) -> dict[str, Path]:
    if not is_folder(folder):
        return {}
    return {path.stem: path for path in folder.iterdir() if path.suffix in _ENDINGS and is_file(path)}


_KNOWN = pa.schema([("file", pa.string()), ("url", pa.string()), ("updated_at", pa.timestamp("us"))])


def _known(index: Path) -> dict[str, tuple[str | None, datetime | None]]:
    """Return the files in the index of an earlier download; nothing if there is no index that can be read."""
    try:
        rows = parquet.read(index, columns=_KNOWN.names).cast(_KNOWN).to_pylist() if is_file(index) else []
    # Without an index files are checked again and, where that does not decide, downloaded again.
    except (SnapshotDamaged, ValueError, pa.ArrowException):
        return {}
    return {row["file"]: (row["url"], row["updated_at"]) for row in rows if row["file"]}
