"""The files of a journal: the lines of its ledger, its question and its pages, and how each is read.

What is read may be cut off, damaged, or edited. A ledger is trusted up to the first line that
cannot be read, because each line describes what happened after those before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pyarrow as pa

from prodex.catalog.origin import Origin
from prodex.errors import SnapshotDamaged
from prodex.files.append_log import AppendLog
from prodex.files.untrusted import (
    Count,
    Moment,
    check_moment,
    converted,
    is_folder,
    is_own_file,
    is_there,
    read_bytes,
    read_json,
)
from prodex.tables.envelope import split
from prodex.tables.records import Identity

FORMAT = 1
QUESTION = "question.json"
LEDGER = "ledger.jsonl"

#: Most bytes of a page, packed or unpacked: a page that claims to be larger is refused before memory is allocated.
_MOST_BYTES = 2**30

#: A number within the bounds in which arithmetic with times and shares is safe.
Number = Annotated[int, msgspec.Meta(ge=-(2**62), le=2**62)]


class AbsenceCheck(msgspec.Struct):
    """One call of products that were asked for by GTIN, to see whether they have gone (see `disappeared_products`)."""

    keys: list[str]
    gtins: list[Annotated[str, msgspec.Meta(pattern="^[0-9]{1,14}$")]]
    controls: list[str]


_Products = Annotated[int, msgspec.Meta(ge=0, lt=10**12)]

#: Notes that are no text, by the first word of their names.
NOTES: dict[str, Any] = {
    "missing": list[str],
    "absent": dict[str, AbsenceCheck],
    "bounds": bool,
    "early": tuple[_Products, _Products],
}


class _LedgerHead(msgspec.Struct):
    asked: dict[str, Any]


class _Question(msgspec.Struct):
    """What every load writes down of itself, as far as it is there; see `prodex.load.resume`."""

    began: Moment | None = None
    asked: dict[str, Any] | None = None
    snapshot: str | None = None
    sweep: bool = False
    windows: Annotated[int, msgspec.Meta(ge=0, le=10_000)] = 0
    page_size: Annotated[int, msgspec.Meta(ge=1, le=10_000)] | None = None


#: What to do with a journal that another version has begun.
_ADVICE = "What it received is then requested again."


def question_of(folder: Path) -> dict[str, Any] | None:
    """Return what the load of a journal asked for, or None where there is no journal that can be used.

    Raises
    ------
    OtherLayout
        When another version of prodex has begun it.
    """
    try:
        return _question_of(folder)
    except (OSError, ValueError):
        return None


def _question_of(folder: Path) -> dict[str, Any]:
    if not is_folder(folder):
        raise OSError("it is not a folder of its own")
    question = read_json(folder / QUESTION, _LedgerHead, layout=FORMAT, advice=_ADVICE).asked
    checked = converted(question, _Question)
    check_moment(checked.began)
    if checked.asked is not None:
        Origin.from_json(checked.asked)
    return question


def read_ledger(ledger: AppendLog, line: msgspec.json.Decoder[Any], enter: Callable[[Any], None]) -> int:
    """Enter the lines of a ledger up to the first that cannot be read; return the bytes that they take.

    Parameters
    ----------
    ledger
        The ledger; it has a line for each page, and the keys of all products. A missing one is an empty one.
    line
        Reads a line.
    enter
        Gets what it says.

    Raises
    ------
    OSError
        When it cannot be read, or writing to it would write elsewhere.
    """
    if not is_there(ledger.path):
        return 0
    if not is_own_file(ledger.path):
        raise OSError(f"{ledger.path} is not a file of its own")
    good = 0
    for content in ledger.lines():
        try:
            read = line.decode(content)
            _check_line(read)
        except (ValueError, RecursionError, msgspec.MsgspecError):
            break
        enter(read)
        good += len(content) + 1
    return good


def _check_line(line: Any) -> None:
    """Refuse what a line may not say although it has its shape."""
    if (window := getattr(line, "window", None)) is not None:
        _stage(window)
    for name in ("server_date", "received_at"):
        check_moment(getattr(line, name, None))
    if (value := getattr(line, "value", None)) is not None:
        converted(value, NOTES.get(line.name.partition(" ")[0], str))


def read_page(path: Path) -> bytes:
    """Return a page as it was received.

    Raises
    ------
    SnapshotDamaged
        When its file is gone, cut off, or no file of the journal's own.
    """
    try:
        claimed, _, packed = read_bytes(path, _MOST_BYTES).partition(b"\n")
        return bytes(pa.decompress(packed, _claimed_size(claimed), "zstd", asbytes=True))
    except (OSError, ValueError, MemoryError, pa.ArrowException) as error:
        raise SnapshotDamaged(
            f"The page {path} of the journal cannot be read ({error}). Load again."
        ) from error


def _claimed_size(claimed: bytes) -> int:
    size = int(claimed) if len(claimed) < 20 else -1
    if not 0 <= size <= _MOST_BYTES:
        raise ValueError(f"it claims to have {claimed[:20]!r} bytes")
    return size


def framed(records: Sequence[bytes]) -> bytes:
    """Return records as one page, each exactly as it is: what a service sends is JSON, but what files hold need not be.

    >>> products_of_page(framed([b'{"id": 7}', b'{"id": 8, "netWeight": NaN}']))
    [b'{"id": 7}', b'{"id": 8, "netWeight": NaN}']
    """
    return _FRAMED + msgspec.json.encode([len(record) for record in records]) + b"\n" + b"".join(records)


def products_of_page(page: bytes) -> Sequence[bytes | msgspec.Raw]:
    """Return the products of a page, be it a reply of a service or records from files."""
    if not page.startswith(_FRAMED):
        return split(page).data
    start = page.index(b"\n", len(_FRAMED)) + 1
    ends = list(accumulate(msgspec.json.decode(page[len(_FRAMED) : start], type=list[int]), initial=start))
    return [page[begin:end] for begin, end in pairwise(ends)]


_FRAMED = b"records "


class Stage(StrEnum):
    """The purpose for which a window is fetched; the name of the window begins with it."""

    #: The products of the query.
    PULL = "pull"
    #: Products that changed during the pull.
    CHANGES = "changes"
    #: The number of products at the end.
    END = "end"
    #: Key and date of all products, to find those that are missing or have disappeared.
    LISTING = "listing"
    #: Products that the listing names and the pull did not return, requested by GTIN.
    MISSING = "missing"
    #: Products that the pull returned and the listing does not name, requested by GTIN: have they disappeared?
    ABSENT = "absent"
    #: A product that cannot exist, requested to see whether the service applies a filter.
    CONTROL = "control"

    @property
    def has_products(self) -> bool:
        """Whether its pages hold products as they were asked for; those of others hold keys only."""
        return self in {Stage.PULL, Stage.CHANGES, Stage.MISSING}


class Counted(msgspec.Struct, frozen=True, tag="count", tag_field="line"):
    """A count that was asked for.

    Attributes
    ----------
    window
        Name of the window that was counted; see `prodex.load.windows`.
    total
        What the service announced; None where it announced nothing that is a count.
    server_date
        The service's clock.
    """

    window: str
    total: Number | None
    server_date: Moment | None

    @property
    def stage(self) -> Stage:
        return _stage(self.window)


class PageEntry(msgspec.Struct, frozen=True, tag="page", tag_field="line"):
    """One page in the ledger.

    Attributes
    ----------
    page
        Number of its file.
    window
        Name of the window it belongs to; the pages of a window are in the order of their receipt.
    cursor
        The cursor it was asked for with; None for a page by offset.
    next_page
        The cursor in the same reply.
    offset
        Index of its first product, as its envelope says.
    total_results
        What the service announced on it; None where it announced nothing that is a count.
    server_date, received_at
        The service's clock, and ours.
    size, sha256
        Bytes and digest of the page as received.
    keys
        Key, updatedAt and GTIN of each product on it; null for an item that is no product.
    asked
        The offset it was asked for with; None for a page of a scroll, or of a file.
    limit
        Products asked for; None for a page of a file.
    """

    page: Count
    window: str
    cursor: str | None
    next_page: str | None
    offset: Number | None
    total_results: Number | None
    server_date: Moment | None
    received_at: Moment
    size: Count
    sha256: str
    keys: Sequence[Identity | None]
    asked: int | None = None
    limit: int | None = None

    @property
    def stage(self) -> Stage:
        return _stage(self.window)


class Restarted(msgspec.Struct, frozen=True, tag="restart", tag_field="line"):
    """A window is fetched again from its first page. The products that it has returned so far are kept."""

    window: str


class Noted(msgspec.Struct, frozen=True, tag="note", tag_field="line"):
    """A fact about the whole load, such as what could not be loaded; null withdraws it."""

    name: str
    value: Any


def _stage(window: str) -> Stage:
    """Return what a window is fetched for, after which it is named; a `ValueError` where it is not."""
    return Stage(window.partition("/")[0])
