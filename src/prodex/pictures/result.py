"""The result of a download: a row for every picture of the catalogue, downloaded or not."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa

from prodex.errors import MediaFailed, MediaRefused, SnapshotDamaged
from prodex.files import parquet
from prodex.files.atomic import remove, remove_leftovers, storage, writing
from prodex.files.layouts import require_layout
from prodex.files.untrusted import is_file, is_folder, is_there
from prodex.formats.csv_files import write_csv
from prodex.formats.registry import write_parquet
from prodex.pictures.fetch import Arrival
from prodex.pictures.file_check import FORMATS, FileFacts, check_file, compare, read_checksum
from prodex.pictures.plan import PlannedPicture, size_in
from prodex.tables.frames import to_frame


class PictureState(StrEnum):
    """What happened to a picture."""

    DOWNLOADED = "downloaded"
    THERE = "already there"
    BROKEN = "broken"
    FAILED = "failed"
    NO_ADDRESS = "no address"
    NOT_ASKED = "not asked"


#: Every state but "not asked" is good or bad.
_GOOD = {PictureState.DOWNLOADED, PictureState.THERE}
_BAD = {PictureState.BROKEN, PictureState.FAILED, PictureState.NO_ADDRESS}

_TEXT, _NUMBER = pa.string(), pa.int64()
#: The columns of `Pictures.files` and of the index beside the files.
FILES = pa.schema(
    [
        pa.field(name, kind, metadata={"meaning": meaning})
        for name, kind, meaning in (
            ("product_id", _TEXT, "key of the product"),
            ("gtin", _TEXT, "the product's GTIN as sent"),
            ("name", _TEXT, "name of the product"),
            ("position", _TEXT, "key of the picture in the table pictures"),
            ("is_packshot", pa.bool_(), "whether it is a packshot, according to the record"),
            ("rendition", _TEXT, "key of the rendition in the table exportables; none for the original"),
            ("url", _TEXT, "address of the file, as the supplier sent it"),
            (
                "updated_at",
                pa.timestamp("us"),
                "last changed, according to the record; local time without zone",
            ),
            ("state", _TEXT, ", ".join(PictureState)),
            ("path", _TEXT, "path of the file"),
            ("bytes", _NUMBER, "of the file"),
            ("width", _NUMBER, "of the file, pixels"),
            ("height", _NUMBER, "of the file, pixels"),
            ("crc32", _TEXT, "of the file, 8 hexadecimal digits"),
            ("checked", _TEXT, "what was checked: crc32, bytes, pixels, as far as the record has them"),
            ("reason", _TEXT, "why there is no file, or what is wrong with it"),
            ("what_to_do", _TEXT, "what to do about it"),
        )
    ]
)


@dataclass(frozen=True, slots=True)
class PictureResult:
    """The result for one picture; see the columns of `FILES`."""

    picture: PlannedPicture
    state: PictureState
    path: Path | None = None
    facts: FileFacts | None = None
    checked: str = ""
    reason: str | None = None
    what_to_do: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Pictures:
    """The files of a catalogue's pictures in a folder.

    Attributes
    ----------
    folder
        The folder. `pictures.csv` and `pictures.parquet` in it have the rows of `files`; failed files are in its folder
        `broken`.
    files
        One row for each picture of the catalogue: product_id, gtin, name, position, is_packshot, rendition, url,
        updated_at, state, path, bytes, width, height, crc32, checked, reason, what_to_do.

        `state` is "downloaded", "already there" (and passed its check), "broken" (downloaded and did not pass its
        check), "failed" (could not be downloaded), "no address", or "not asked" (left out by the call).

    Examples
    --------
    >>> import prodex, tempfile
    >>> catalog = prodex.flatten([{"id": 7, "assets": {"pictures": [{"isPackshot": True}]}}])
    >>> pictures = prodex.download_pictures(catalog, tempfile.mkdtemp())
    >>> pictures.complete, pictures.wanted, pictures.counts["no address"]
    (False, 1, 1)
    """

    folder: Path
    files: pd.DataFrame

    @property
    def broken(self) -> pd.DataFrame:
        """The missing pictures, with the reason and what to do about it."""
        return self.files[self.files["state"].isin(_BAD)].reset_index(drop=True)

    @property
    def counts(self) -> dict[str, int]:
        """Number of pictures in each state."""
        # Every state has a number, so that one that does not occur can be asked for as well.
        found = self.files["state"].value_counts()
        return {state.value: int(found.get(state, 0)) for state in PictureState}

    @property
    def wanted(self) -> int:
        """Number of pictures that were asked for."""
        return len(self.files) - self.counts[PictureState.NOT_ASKED]

    @property
    def good(self) -> int:
        """Number of pictures that passed their check."""
        return int(self.files["state"].isin(_GOOD).sum())

    @property
    def complete(self) -> bool:
        """Whether every picture that was asked for passed its check."""
        return self.good == self.wanted

    def __repr__(self) -> str:
        from prodex.display.pictures import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.pictures import html_of

        return html_of(self)


def frame_of(results: Iterable[PictureResult], names: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of `Pictures.files`.

    Parameters
    ----------
    results
        The results.
    names
        The name of each product.
    """
    rows = [_result_row(result, names.get(result.picture.product_id)) for result in results]
    return to_frame(pa.Table.from_pylist(rows, schema=FILES))


def _result_row(result: PictureResult, name: str | None) -> dict[str, Any]:
    picture, facts = result.picture, result.facts
    sent = ("product_id", "gtin", "position", "is_packshot", "rendition", "url", "updated_at")
    return {
        **{column: getattr(picture, column) for column in sent},
        "name": name,
        "state": str(result.state),
        "path": None if result.path is None else str(result.path),
        **({} if facts is None else {"bytes": facts.size, "width": facts.width, "height": facts.height}),
        "crc32": None if facts is None else f"{facts.crc32:08x}",
        "checked": result.checked or None,
        "reason": result.reason,
        "what_to_do": result.what_to_do,
    }


def what_helps(error: MediaFailed | None) -> str:
    """Return what to do about a picture that is broken or could not be downloaded.

    >>> what_helps(MediaFailed("HTTP 404", status=404))
    'Load the catalogue again, since addresses change; else tell the supplier.'
    """
    if error is None:
        return "Tell the supplier and the operator of the service: file and record do not match."
    if isinstance(error, MediaRefused):
        return "Ask the supplier for the file at a public http(s) address."
    if error.status in {401, 403}:
        return "Ask the supplier for a public address: no credentials are sent."
    if error.status is not None and error.status < 500 and error.status != 429:
        return "Load the catalogue again, since addresses change; else tell the supplier."
    return "Call download_pictures again later: only missing pictures are downloaded."


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
            remove_leftovers(folder)
            for place in (folder / _BROKEN, folder / f"{_INDEX}.parquet"):
                if is_there(place) and not (is_folder(place) or is_file(place)):
                    remove(place)  # of a link, the link: what it leads to is not ours
            return cls(
                folder, _files(folder), _files(folder / _BROKEN), _indexed_files(folder / f"{_INDEX}.parquet")
            )

    @property
    def sizes(self) -> set[int | None]:
        """The sizes in which files were downloaded; None for originals."""
        return {size_in(stem) for stem in (*self.good, *self.broken)}

    def there(self, picture: PlannedPicture) -> PictureResult | None:
        """Return the result for a picture whose file exists and passes its check; None if it has to be downloaded."""
        path = self.good.get(picture.stem)
        if path is None:
            return None
        facts = check_file(path, read_checksum(picture.crc32))
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
            schema = table.schema.with_metadata({_LAYOUT: str(LAYOUT)})
            write_parquet(iter(table.to_batches()), schema, beside)

    def remove_leftovers(self) -> None:
        """Remove partial files that no download will continue."""
        for pattern in (".f*.part", ".f*.version"):
            for left in self.folder.glob(pattern):
                remove(left)


def _files(folder: Path) -> dict[str, Path]:
    if not is_folder(folder):
        return {}
    return {path.stem: path for path in folder.iterdir() if path.suffix in _ENDINGS and is_file(path)}


#: The number of the layout of the index, and the name under which the file has it.
LAYOUT, _LAYOUT, _DIGITS = 1, "prodex_layout", 10
_ADVICE = "Pictures whose records have no checksum are then downloaded again."

_KNOWN = pa.schema([("file", pa.string()), ("url", pa.string()), ("updated_at", pa.timestamp("us"))])


def _indexed_files(index: Path) -> dict[str, tuple[str | None, datetime | None]]:
    """Return the files in the index of an earlier download; nothing if there is none, or it is damaged.

    Raises
    ------
    OtherLayout
        When another version of prodex wrote it.
    """
    if not is_file(index):
        return {}
    try:
        found = parquet.note_of(index, _LAYOUT) or b""
        number = int(found) if found.isdigit() and len(found) < _DIGITS else None
        require_layout(index, number, LAYOUT, _ADVICE)
        rows = parquet.read(index, columns=_KNOWN.names).cast(_KNOWN).to_pylist()
    # Without an index files are checked again and, where that does not decide, downloaded again.
    except (SnapshotDamaged, ValueError, pa.ArrowException):
        return {}
    return {row["file"]: (row["url"], row["updated_at"]) for row in rows if row["file"]}
