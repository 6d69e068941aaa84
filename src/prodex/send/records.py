"""What is to be written, as plain product records, whatever form it was handed in."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.send import xml_reading
from prodex.store.reading import read_products
from prodex.tables.declaration import TABLES


class Marker(Enum):
    """The order to delete an attribute, or a text in one language, where NaN and None mean "leave it alone".

    Examples
    --------
    >>> import prodex
    >>> {"gtin": "03036811359935", "description": prodex.DELETE}
    {'gtin': '03036811359935', 'description': prodex.DELETE}
    """

    DELETE = "delete"

    def __repr__(self) -> str:
        return f"prodex.{self.name}"


DELETE = Marker.DELETE

Product: TypeAlias = dict[str, Any]
Source: TypeAlias = pd.DataFrame | Catalog | Iterable[Mapping[str, Any]] | str | Path

#: What the service keeps by itself. A product that was read and is written again leaves it out.
KEPT_BY_THE_SERVICE = frozenset(
    {
        "id",
        "uuid",
        "_jsonVersion",
        "createdAt",
        "updatedAt",
        "owner",
        "product_key",
        "supplierId",
        "manufacturerSharingStatus",
        "targetProductStatus",
        "validation",
        "hasTags",
        "isTaggedBy",
        "requiredScenarios",
        "lastRequest",
        "lastUserHistoryDate",
        "assetsLastRequests",
    }
)

_ONLY_IN_TABLES = frozenset(column.name for column in TABLES["products"].columns if column.name != "gtin") - {
    path[0] for column in TABLES["products"].columns for path in column.paths
}


def records_of(source: Source, *, null_deletes: bool = False) -> list[Product]:
    """Return products as they are to be written: GTINs of 14 digits where they are right, None only for a deletion.

    Parameters
    ----------
    source
        A frame with a column `gtin` and one for each attribute under its wire name, records, a catalogue, or the
        path of a file of any form that `read_products` takes, or of SupplierProducts (.xml).
    null_deletes
        Whether None deletes the attribute; else it is left alone, like NaN.

    Raises
    ------
    InputError
        When something in it cannot be a product, or cannot be written as JSON.

    Examples
    --------
    >>> records_of([{"gtin": 3036811359935, "lifeCycle": float("nan"), "description": DELETE, "brand": None}])
    [{'gtin': '03036811359935', 'description': None}]
    """
    if not isinstance(source, str | Path | Catalog | pd.DataFrame | Iterable) or isinstance(source, bytes):
        raise InputError(
            f"records is {described(source)}. Give a frame with a column gtin, a list of records, a catalogue, what "
            "changes_from_frame made, or the path of a file."
        )
    if isinstance(source, str | Path):
        source = (
            xml_reading.decoded(Path(source).read_bytes()) if _is_xml(Path(source)) else _whole_file(source)
        )
    if isinstance(source, Catalog):
        records: Iterable[Any] = map(json.loads, source.arrow("raw", ["json"])["json"].to_pylist())
    elif isinstance(source, pd.DataFrame):
        _check_columns(source)
        records = source.to_dict("records")
    elif isinstance(source, Mapping):
        raise InputError("One product came alone. Put it into a list.")
    else:
        records = source
    return [_record(record, place, null_deletes) for place, record in enumerate(records)]


def _is_xml(path: Path) -> bool:
    return path.suffix.lower() == ".xml" and path.is_file()


def _whole_file(path: str | Path) -> Catalog:
    catalog = read_products(path)
    if spoilt := catalog.origin.ledger.set_aside:
        raise InputError(
            f"{len(spoilt)} of the products in {Path(path).name} cannot be read, so none is taken: {spoilt[0]}."
        )
    return catalog


def _check_columns(frame: pd.DataFrame) -> None:
    names = [str(name) for name in frame.columns]
    foreign = [
        name for name in names if "." in name or name in _ONLY_IN_TABLES or name in {"attribute", "text"}
    ]
    if foreign:
        raise InputError(
            f"The frame has the column {foreign[0]!r}, which is no attribute of a product. A frame that comes from a "
            "catalogue's tables goes through prodex.changes_from_frame(frame, catalog) first."
        )
    if "gtin" not in names:
        raise InputError("The frame has no column 'gtin', so nobody can tell which products are meant.")


def _record(record: Any, place: int, null_deletes: bool) -> Product:
    if not isinstance(record, Mapping):
        raise InputError(f"Record {place} is a {type(record).__name__}, not a mapping: {record!r:.80}.")
    product: Product = {}
    for name, value in record.items():
        where = f"record {place}, {name}"
        if not isinstance(name, str):
            raise InputError(f"Record {place} has the attribute {name!r}; names are text.")
        if value is DELETE or (value is None and null_deletes):
            product[name] = None
        elif not is_missing(value):
            try:
                product[name] = _plain(_gtin(value) if name == "gtin" else value, where)
            except RecursionError as error:
                raise InputError(f"The value of {where} is nested too deeply to be written.") from error
    return product


def _gtin(value: Any) -> Any:
    """Return 14 digits where it is a GTIN; what is wrong with another is for preflight to tell."""
    try:
        return gtin.normal_form(value)
    except InputError:
        return value


def _plain(value: Any, where: str) -> Any:
    """Return a value as JSON has it. A null inside a value stays, since it came that way; NaN goes."""
    match value:
        case np.generic():
            return _plain(value.item(), where)
        case str() | bool() | int() | None:
            return value
        case float() if math.isfinite(value):
            return value
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise InputError(f"The value of {where} has the key {key!r}; keys are text.")
            return {k: _plain(v, where) for k, v in value.items() if v is None or not is_missing(v)}
        case list() | tuple() | np.ndarray():
            return [_plain(item, where) for item in value if item is None or not is_missing(item)]
        case Marker():
            raise InputError(
                f"The value of {where} has {value!r} inside. Only a whole attribute can be deleted; leave out of it "
                "what is to go."
            )
    raise InputError(
        f"The value of {where} is {value!r:.80}, a {type(value).__name__}, which JSON cannot hold. Use text, numbers, "
        "booleans, lists and dicts; write a date in the form in which the attribute has it."
    )
