"""The result of a download: a row for every picture of the catalogue, downloaded or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from prodex.dispatch import call
from prodex.errors import MediaFailed, MediaRefused
from prodex.pictures.file_check import FileFacts
from prodex.pictures.plan import Picture
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

    picture: Picture
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
        return str(call("Pictures.text", self))

    def _repr_html_(self) -> str:
        return str(call("Pictures.html", self))


def frame_of(results: Iterable[PictureResult], names: Mapping[str, str]) -> pd.DataFrame:
    """Return the rows of `Pictures.files`.

    Parameters
    ----------
    results
        The results.
    names
        The name of each product.
    """
    rows = [_row(result, names.get(result.picture.product_id)) for result in results]
    return to_frame(pa.Table.from_pylist(rows, schema=FILES))


def _row(result: PictureResult, name: str | None) -> dict[str, Any]:
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
