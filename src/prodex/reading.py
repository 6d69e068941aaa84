"""Products that are at hand already: records in memory, and files of any of the usual forms.

Deliveries by file are identical to replies of the service, so the same tables come out.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from prodex.catalog import Catalog
from prodex.catalog.origin import Ledger, Origin
from prodex.catalog.part import Part, union
from prodex.envelope import split
from prodex.errors import InputError, UnexpectedReply
from prodex.store.build import blocks_of
from prodex.store.plan import PRODUCTS_PER_PART
from prodex.tables.flatten import decoded

Source = str | Path


def flatten(records: Iterable[Mapping[str, Any]], *, source: str = "records") -> Catalog:
    """Turn product records into a catalogue in memory.

    Parameters
    ----------
    records
        Products as `json.loads` reads them: dicts of the service's own shape.
    source
        Where they come from, in words.

    Raises
    ------
    InputError
        When a record is no mapping, or holds what JSON cannot (a date object, say). NaN is written as null.

    Examples
    --------
    >>> catalog = flatten([{"id": 7, "gtin": "03036811359935", "isLabeledBy": [
    ...     {"isConceptualizedBy": {"code": "organic", "label": "Organic"}}]}])
    >>> catalog.labels[["gtin", "label"]].values.tolist()
    [['03036811359935', 'Organic']]
    """
    return _catalog((_encoded(record, i) for i, record in enumerate(records)), source, [])


def read_products(paths: Source | Iterable[Source]) -> Catalog:
    """Read product records from files into a catalogue in memory.

    Parameters
    ----------
    paths
        One or more files: a reply of the service (an object with `data`), a list of products, one product, or JSON
        lines of any of these; each also compressed (.gz).

    Raises
    ------
    InputError
        When a file is missing, or holds no product at all. A line that cannot be read is set aside, and
        `catalog.origin.ledger.set_aside` names file, line and reason.
    """
    files = [Path(paths)] if isinstance(paths, str | Path) else [Path(path) for path in paths]
    set_aside: list[str] = []
    products = (product for path in files for product in _products_of(path, set_aside))
    catalog = _catalog(products, ", ".join(path.name for path in files), set_aside)
    if not len(catalog) and set_aside:
        raise InputError(f"No product could be read. {set_aside[0]}")
    return catalog


def with_pending_updates(catalog: Catalog) -> Catalog:
    """Return the catalogue as it will be once every update that waits is accepted.

    A product that is shared and not accepted yet has its data under `lastRequest`, and so have accepted products
    with a change that waits (`products.has_pending_update`). Here the waiting attributes take the place of the
    product's own. Without this, an audit takes a product that waits for an empty one.

    Parameters
    ----------
    catalog
        With the raw records, as every catalogue has them.

    Returns
    -------
    Catalog
        In memory, from the same origin.

    Examples
    --------
    >>> catalog = flatten([{"id": 7, "lifeCycle": 1, "lastRequest": {"brand": {"code": "ACME"}}}])
    >>> with_pending_updates(catalog).products[["life_cycle", "brand_code"]].values.tolist()
    [[1, 'ACME']]
    """
    parts = []
    for part in catalog.parts:
        records = part.read("raw", ["json"])["json"].to_pylist()
        parts.append(_in_memory(_overlaid(record.encode()) for record in records))
    return replace(catalog, parts=tuple(parts), folder=None)


def _overlaid(product: bytes) -> bytes:
    if b'"lastRequest"' not in product:
        return product
    record = json.loads(product)
    waiting = record.get("lastRequest")
    if not isinstance(waiting, dict):
        return product
    return json.dumps(record | waiting).encode()


def _in_memory(products: Iterable[bytes]) -> Part:
    blocks = [decoded(tables) for tables in blocks_of(iter(products))]
    return Part.in_memory({name: union([block[name] for block in blocks], name) for name in blocks[0]})


def _catalog(products: Iterable[bytes], source: str, set_aside: list[str]) -> Catalog:
    parts = [_in_memory(chunk) for chunk in _chunks(products, PRODUCTS_PER_PART)]
    received = sum(part.size for part in parts)
    keys = {key for part in parts for key in part.tables["products"]["product_id"].to_pylist()}
    ledger = Ledger(received=received, distinct=len(keys), set_aside=tuple(set_aside))
    return Catalog(tuple(parts), Origin(source, loaded_at=datetime.now(UTC), ledger=ledger))


def _chunks(products: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    chunk: list[bytes] = []
    for product in products:
        chunk.append(product)
        if len(chunk) == size:
            yield chunk
            chunk = []
    yield chunk


def _encoded(record: Any, index: int) -> bytes:
    if not isinstance(record, Mapping):
        raise InputError(f"Record {index} is a {type(record).__name__}, not a mapping: {record!r:.80}.")
    try:
        return json.dumps(_without_nan(record), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"Record {index} cannot be written as JSON ({error}). Use text, numbers, lists, dicts."
        ) from error


def _without_nan(value: Any) -> Any:
    """Write NaN as null: in a record out of pandas it stands for "nothing here"."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, list | tuple) else value


def _products_of(path: Path, set_aside: list[str]) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"")
            if _is_whole(first):
                yield from _lines(first, file, path, set_aside)
            else:
                yield from _unpacked(first + file.read(), f"{path.name}", set_aside)
    except (OSError, EOFError) as error:
        raise InputError(
            f"{path} cannot be read: {error}. Check the path, and that the file is complete."
        ) from error


def _is_whole(line: bytes) -> bool:
    """Whether a line is a JSON value of its own, so that the file is JSON lines (or a single value)."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return True


def _lines(first: bytes, rest: Iterable[bytes], path: Path, set_aside: list[str]) -> Iterator[bytes]:
    yield from _unpacked(first, f"{path.name}, line 1", set_aside)
    for number, line in enumerate(rest, 2):
        if line.strip():
            yield from _unpacked(line, f"{path.name}, line {number}", set_aside)


def _unpacked(text: bytes, place: str, set_aside: list[str]) -> Iterator[bytes]:
    """Yield the products of a reply, a list or a single product."""
    text = text.removeprefix(b"\xef\xbb\xbf").strip()
    try:
        if text[:1] == b"[":
            items = split(b'{"data":' + text + b"}").data
        elif _has_data(text):
            items = split(text).data
        else:
            items = split(b'{"data":[' + text + b"]}").data
    except UnexpectedReply as error:
        set_aside.append(f"{place}: not JSON that can be read ({error.__cause__})")
        return
    for index, item in enumerate(items):
        product = bytes(item)
        if product[:1] == b"{":
            yield product
        else:
            set_aside.append(
                f"{place}, item {index}: not a JSON object but {product[:40].decode('utf-8', 'replace')}"
            )


def _has_data(text: bytes) -> bool:
    """Whether this is a reply: an object whose `data` is a list and that has no id of its own."""
    try:
        top = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, RecursionError):
        return False
    return bytes(top.get("data", b""))[:1] == b"[" and not {"id", "uuid", "gtin"} & top.keys()
