"""Product records from files: JSON, JSON lines and service replies, plain or gzip.

A record is kept as the bytes it is written in, whatever it lacks. What is no record is reported with its file
and line, and left out. Of JSON lines, only the members are decoded that a store looks at.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final, cast

from prodex_sandbox.raw_json import decode, encode, items, members, storable
from prodex_sandbox.records.excerpts import Excerpts
from prodex_sandbox.records.model import Organization, OrganizationType, SharedProduct, views_of_record

#: A record: its bytes and its decoded members, or an excerpt of them.
Record = tuple[bytes, dict[str, Any]]

_GZIP: Final = b"\x1f\x8b"
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


def read_records(paths: Iterable[Path], report: Callable[[str], None]) -> Iterator[Record]:
    """Yield the records of files, one after the other: the bytes of each, and what a store looks at of it.

    Parameters
    ----------
    paths
        Files of one JSON value or of one such value a line. A value is a record, an array of records, or a
        service reply with the records in `data`.
    report
        Gets a sentence about each thing that is not a record.
    """
    excerpts = Excerpts()
    for path in paths:
        count = 0
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            content = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
            try:
                for count, record in enumerate(  # noqa: B007
                    _records_of_file(path, content, report, excerpts), start=1
                ):
                    yield record
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                report(f"{path}: the rest is unreadable ({error})")
        if not count:
            report(f"{path}: holds no product record")


def shared_with_all(
    filling: Iterable[SharedProduct | Record], organizations: list[Organization]
) -> Iterator[tuple[bytes, SharedProduct]]:
    """Yield products with their bytes; a record without views becomes visible to every retailer.

    Owners of records are distinguished by `owner.name`; one that is not among `organizations` is added to them,
    as a manufacturer with an access key of its own. A record without owner belongs to "Unknown owner".
    """
    retailers = [one.id for one in organizations if one.type is OrganizationType.RETAILER]
    owners = {one.name: one for one in organizations}
    for given in filling:
        if isinstance(given, SharedProduct):
            yield encode(given.record), given
            continue
        body, record = given
        owner = record.get("owner")
        name = owner.get("name") if isinstance(owner, dict) else None
        name = storable(name) if isinstance(name, str) and name else "Unknown owner"
        if name not in owners:
            owners[name] = _manufacturer(name, max((one.id for one in organizations), default=0) + 1)
            organizations.append(owners[name])
        yield body, SharedProduct(record, owners[name].id, views_of_record(record, retailers))


def _manufacturer(name: str, id_: int) -> Organization:
    key = f"manufacturer-{id_}"
    return Organization(id_, name, OrganizationType.MANUFACTURER, key, f"{key}-secret", key)


def _records_of_file(
    path: Path, file: BinaryIO, report: Callable[[str], None], excerpts: Excerpts
) -> Iterator[Record]:
    # The first line decides: whole JSON is one record a line; else the file is read as one value.
    first = file.readline().removeprefix(_BYTE_ORDER_MARK)
    if _is_json(first) or not first.strip():
        yield from _records_of_lines(path, [first], file, report, excerpts)
        return
    # Either one value over several lines, or JSON lines of which the first is damaged.
    rest = file.read()
    whole = first + rest
    if _is_json(whole):
        yield from _records_of_value(f"{path}", whole, report)
    else:
        yield from _records_of_lines(path, [first], io.BytesIO(rest), report, excerpts)


def _records_of_lines(
    path: Path, first: list[bytes], file: BinaryIO, report: Callable[[str], None], excerpts: Excerpts
) -> Iterator[Record]:
    for number, line in enumerate(chain(first, file), start=1):
        if not (body := line.strip()):
            continue
        if (excerpt := excerpts.of(body)) is not None:
            yield body, excerpt
        else:
            yield from _records_of_value(f"{path}, line {number}", body, report)


def _records_of_value(where: str, body: bytes, report: Callable[[str], None]) -> Iterator[Record]:
    try:
        value = decode(body)
    except (ValueError, RecursionError) as error:
        report(f"{where}: not JSON ({error})")
        return
    if isinstance(value, dict) and not (isinstance(value.get("data"), list) and "gtin" not in value):
        yield body.strip(), value
    elif isinstance(value, dict | list):
        inner = body if isinstance(value, list) else members(body)["data"]
        decoded = value if isinstance(value, list) else value["data"]
        for index, (item, record) in enumerate(zip(items(inner), decoded, strict=True)):
            if isinstance(record, dict):
                yield item.strip(), record
            else:
                report(f"{where}, item {index}: {type(record).__name__} instead of a product record")
    else:
        report(f"{where}: {type(value).__name__} instead of a product record")


def _is_json(body: bytes) -> bool:
    try:
        decode(body)
    except (ValueError, RecursionError):
        return False
    return True
