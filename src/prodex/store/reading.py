"""Catalogues made without the service: from records in memory, and from files in any of the usual forms.

Deliveries by file are identical to replies of the service, so they give the same tables.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from prodex import clock
from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.catalog.load_ledger import Ledger, limited_lines
from prodex.catalog.origin import Origin
from prodex.catalog.part import Part
from prodex.encodings import checked_encoding
from prodex.errors import InputError
from prodex.limits import Limits
from prodex.phrases import counted
from prodex.progress import PATIENCE, Progress, showing
from prodex.query import ProductQuery
from prodex.store.copies import Copy, contradiction, left_out_line
from prodex.store.plan import PRODUCTS_PER_PART
from prodex.store.records_in_files import ReadingNotes, records_in
from prodex.store.snapshot_of_files import nothing_read, odd_key, save_files
from prodex.tables.records import identify
from prodex.written_json import is_spelled, read_written, written_json

Source = str | Path


def flatten(records: Iterable[Mapping[str, Any]], *, source: str = "records") -> Catalog:
    """Turn product records into a catalogue in memory.

    Parameters
    ----------
    records
        Products as `json.loads` reads them: dicts of the service's own shape.
    source
        Their source, in words.

    Raises
    ------
    InputError
        When a record is no mapping, is a reply of the service in place of its products, or holds what JSON cannot (a
        date object, say). NaN and infinity are written as null.

    Examples
    --------
    >>> catalog = flatten([{"id": 7, "gtin": "03036811359935", "isLabeledBy": [
    ...     {"isConceptualizedBy": {"code": "organic", "label": "Organic"}}]}])
    >>> catalog.labels[["gtin", "label"]].values.tolist()
    [['03036811359935', 'Organic']]
    """
    if isinstance(records, str | bytes | Path | Mapping | pd.DataFrame) or not isinstance(records, Iterable):
        raise InputError(_no_records(records))
    return _catalog((_record_as_json(record, i) for i, record in enumerate(records)), source, ReadingNotes())


def read_products(
    paths: Source | Iterable[Source],
    *,
    name: str | None = None,
    limits: Limits | None = None,
    query: ProductQuery | None = None,
    progress: Progress = None,
    executor: Executor | None = None,
    encoding: str | None = None,
) -> Catalog:
    """Read product records from files into a catalogue: in memory, or as a snapshot of any size.

    Parameters
    ----------
    paths
        One or more files: a reply of the service (an object with `data`), a list of products, one product, or JSON
        lines of any of these; each also compressed (.gz).
    name
        Name of the snapshot to make of them. The files are then never held in memory, so that a delivery may be larger
        than it. Without a name the catalogue is in memory.
    limits
        What one file may take: by default a `.gz` file may be a billion bytes unpacked, as long as it is no bomb.
    query
        What the files were requested with, where they do not hold everything: chosen fields or languages. An audit
        then takes what was not requested as unknown, and not as missing. Nothing is filtered by it.
    progress
        With a name: a progress bar in notebooks and terminals (None), always (True), never (False), or a function of
        (done, total), in which the total is 0 as long as the files are read.
    executor
        With a name: builds the parts; any `concurrent.futures` executor, threads by default.
    encoding
        What the files are in if they are not in UTF-8, as JSON should be: "cp1252" of Windows, "latin-1". A byte order
        mark in a file counts more, and UTF-16 is recognised without one.

    Raises
    ------
    InputError
        When there is no file, one is missing or larger than the limits, none holds a product, or the encoding is none.
        A line that cannot be read, or that is not in its encoding, is set aside, and
        `catalog.origin.ledger.set_aside` names file, line and reason.
    SnapshotLocked
        When another process is making a snapshot of this name.
    StorageError
        When the disk refuses. Earlier snapshots stay as they are, and the same call continues from there.

    Examples
    --------
    >>> import pathlib, prodex, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "products.jsonl")
    >>> _ = path.write_text('{"id": 7, "gtin": "03036811359935"}')
    >>> prodex.read_products(path).products["gtin"].tolist()
    ['03036811359935']
    >>> prodex.read_products(path, name="delivery").folder.parent.name
    'delivery'
    """
    named = [paths] if isinstance(paths, str | Path) else paths
    if isinstance(named, Mapping | pd.DataFrame) or not isinstance(named, Iterable):
        raise InputError(
            f"paths is {described(paths)}. Give the path of a file, or a list of them: prodex.read_products('a.json')."
        )
    if query is not None and not isinstance(query, ProductQuery):
        raise InputError(f"query is a {type(query).__name__}; give a prodex.ProductQuery.")
    given = list(named)
    if wrong := [path for path in given if not isinstance(path, str | Path)]:
        raise InputError(
            f"paths has {described(wrong[0])} in it. Give paths of files; prodex.flatten(records) takes records that "
            "are in memory already."
        )
    if not given:
        # A pattern that fits no file is no delivery without products: compared, all would be gone.
        raise InputError(
            "paths has no file in it, so that nothing was read. Check the folder and the pattern."
        )
    files = list(map(Path, given))
    encoding = checked_encoding(encoding)
    if name is not None:
        return save_files(files, name, limits, query, progress, executor, encoding)
    # Without a name the catalogue is in memory, so no journal and no parts on disk are needed.
    reply = ReadingNotes()
    products = (product for path in files for product in records_in(path, reply, limits, encoding))
    catalog = _catalog(products, ", ".join(path.name for path in files), reply)
    catalog = replace(catalog, origin=replace(catalog.origin, query=query))
    if not len(catalog) and reply.set_aside:
        raise nothing_read(reply)
    return catalog


def with_pending_updates(catalog: Catalog, progress: Progress = None) -> Catalog:
    """Return the catalogue as it will be once every pending update is accepted; see `Catalog.with_pending_updates`."""
    parts = []
    with showing(progress, "Including pending updates", total=len(catalog), after=PATIENCE) as phase:
        for part in catalog.parts:
            records = part.read("raw", ["json"])["json"].to_pylist()
            parts.append(Part.of_records(_overlaid(record.encode()) for record in records))
            phase.add(part.size)
    origin = replace(catalog.origin, source=f"{catalog.origin.source}, pending updates shown as accepted")
    # Corrections are merged into what the service has, and not into updates that nobody has accepted.
    received = catalog if catalog.as_received is None else catalog.as_received
    return replace(
        catalog, parts=tuple(parts), origin=origin, folder=None, published=None, as_received=received
    )


def _no_records(given: object) -> str:
    """Say what to write instead of what are no records."""
    what = f"flatten() takes a list of records as json.loads reads them, and records is {described(given)}."
    if isinstance(given, str | Path):
        return f"{what} Of files prodex.read_products('a.json') makes a catalogue, and open_snapshot(name) opens one."
    if isinstance(given, Mapping) and _is_reply(given):
        return f"{what} It is a reply of the service. Give the products in it: prodex.flatten(reply['data'])."
    if isinstance(given, Mapping):
        return f"{what} Put one record into a list: prodex.flatten([record])."
    if isinstance(given, pd.DataFrame):
        return f"{what} prodex.upsert(service, frame) writes a frame, and catalog.changes_from(frame) corrects by one."
    return f"{what} Write prodex.flatten([{{'id': 7, 'gtin': '03036811359935'}}])."


def _is_reply(record: Mapping[str, Any]) -> bool:
    """Whether this is the envelope of products (spec, "Response envelope for product reads"), and no product."""
    is_product = any(key in record for key in ("id", "uuid", "gtin"))
    return "totalResults" in record and isinstance(record.get("data"), list) and not is_product


def _overlaid(product: bytes) -> bytes:
    # Most products have no pending update, and need not be parsed.
    if b'"lastRequest"' not in product:
        return product
    record = read_written(product)
    waiting = record.get("lastRequest")
    if not isinstance(waiting, dict):
        return product
    del record["lastRequest"]
    # The keys stay: nobody has accepted a GTIN that the update may hold.
    keys = {name: record[name] for name in ("id", "uuid", "gtin") if name in record}
    return written_json(record | waiting | keys, is_ascii=True).encode()


def _catalog(products: Iterable[bytes], source: str, reply: ReadingNotes) -> Catalog:
    """Make the catalogue; of several records of a product the newest counts, as in every load."""
    every = list(products)
    newest: dict[str, tuple[str, int]] = {}
    superseded: list[tuple[str, int]] = []
    for index, product in enumerate(every):
        known = identify(product)
        # A record that is no product is kept under a key of its own, so that it replaces nothing.
        key, updated_at = (known.product_id, known.updated_at) if known else (odd_key(index), None)
        this = (updated_at or "", index)
        before = newest.get(key)
        newest[key] = this if before is None else max(before, this)
        if before is not None:
            superseded.append((key, min(before, this)[1]))
    left_out = [line for key, index in superseded if (line := _left_out_line(every, index, newest[key][1]))]
    # In the order of the files, whichever copy of a product was chosen.
    chosen = [every[index] for index in sorted(index for _, index in newest.values())]
    starts = range(0, len(chosen) or 1, PRODUCTS_PER_PART)  # a catalogue without products has a part as well
    parts = [Part.of_records(iter(chosen[start : start + PRODUCTS_PER_PART])) for start in starts]
    ledger = Ledger(
        announced=reply.total,
        received=len(every),
        distinct=len(chosen),
        set_aside=tuple(reply.set_aside),
        left_out=tuple(limited_lines(left_out)),
    )
    return Catalog(tuple(parts), Origin(source, loaded_at=clock.now(), ledger=ledger))


def _left_out_line(records: Sequence[bytes], index: int, kept: int) -> str:
    """Return what the ledger says of a record that is left out for one with its key; "" if that is its state."""
    if records[index] == records[kept]:
        return ""
    one, other = (Copy.of(records[number], reply=number) for number in (index, kept))
    if one is None or other is None or not (why := contradiction(one, other)):
        return ""
    return left_out_line(one, why)


def _record_as_json(record: Any, index: int) -> bytes:
    if not isinstance(record, Mapping):
        raise InputError(f"Record {index} is a {type(record).__name__}, not a mapping: {record!r:.80}.")
    if _is_reply(record):
        raise InputError(
            f"Record {index} is a reply of the service with {counted(len(record['data']), 'product')}, and no product. "
            "Write prodex.flatten(product for reply in replies for product in reply['data'])."
        )
    try:
        try:
            if is_spelled(record):  # as a service wrote it
                return written_json(record, is_ascii=True).encode()
            return json.dumps(record, allow_nan=False).encode()
        except (TypeError, ValueError):
            # It has a NaN, or a mapping that is no dict: hardly any record has, so none is looked through before.
            return json.dumps(_without_nan(record), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"Record {index} cannot be written as JSON ({error}). Use text, numbers, lists, dicts."
        ) from error


def _without_nan(value: Any) -> Any:
    """Write NaN as null: in a record from pandas it means that there is no value."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    return [_without_nan(item) for item in value] if isinstance(value, list | tuple) else value
