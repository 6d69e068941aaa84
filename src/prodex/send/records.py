"""Products to be written, as plain records, from frames, records, catalogues and files."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.send import xml
from prodex.send.attribute_types import PRODUCT, Type
from prodex.store.reading import read_products
from prodex.tables.declaration import TABLES, ColumnKind
from prodex.written_json import (
    RepeatedKeys,
    WrittenNumber,
    is_spelled,
    read_written,
    unwritable,
    why_unwritable,
)


class Marker(Enum):
    """The instruction to delete an attribute, or a text in one language; NaN and None mean "no change".

    Examples
    --------
    >>> import prodex
    >>> {"gtin": "03036811359935", "description": prodex.DELETE}
    {'gtin': '03036811359935', 'description': prodex.DELETE}
    """

    # A member of an Enum: copies and unpickled frames still contain the same object, so `is DELETE` works.
    DELETE = "delete"

    def __repr__(self) -> str:
        return f"prodex.{self.name}"


DELETE = Marker.DELETE

Product: TypeAlias = dict[str, Any]
Source: TypeAlias = pd.DataFrame | Catalog | Iterable[Mapping[str, Any]] | str | Path

# Columns of the tables that are no attributes of the service: with them, a frame is from a catalogue.
_ONLY_IN_TABLES = frozenset(column.name for column in TABLES["products"].columns if column.name != "gtin") - {
    path[0] for column in TABLES["products"].columns for path in column.paths
}


def records_of(source: Source, *, null_deletes: bool = False, encoding: str | None = None) -> list[Product]:
    """Return products as they are to be written: valid GTINs with 14 digits, and None only for deletions.

    Parameters
    ----------
    source
        A frame with a column `gtin` and one for each attribute under its wire name, records, a catalogue, or the
        path of a file that `read_products` accepts, or of SupplierProducts (.xml).
        An empty cell of a frame is "no change", be it NaN or "".
    null_deletes
        Whether None deletes the attribute; otherwise it means "no change", like NaN.
    encoding
        Of a file that is not in UTF-8.

    Raises
    ------
    InputError
        When a record is not a product, or cannot be written as JSON.

    Examples
    --------
    >>> records_of([{"gtin": 3036811359935, "lifeCycle": float("nan"), "description": DELETE, "brand": None}])
    [{'gtin': '03036811359935', 'description': None}]
    >>> records_of(pd.DataFrame({"gtin": ["03036811359935", "03663215000110"], "lifeCycle": [1, None]}))
    [{'gtin': '03036811359935', 'lifeCycle': 1}, {'gtin': '03663215000110'}]
    """
    if not isinstance(source, str | Path | Catalog | pd.DataFrame | Iterable) or isinstance(source, bytes):
        raise InputError(
            f"records is {described(source)}. Give a frame with a column gtin, a list of records, a catalogue, the "
            "result of catalog.changes_from, or the path of a file."
        )
    if isinstance(source, str | Path):
        path = Path(source)
        is_xml = path.suffix.lower() == ".xml" and path.is_file()
        if is_xml and encoding is not None:
            raise InputError(f"{path.name} is XML, which states its encoding itself: leave encoding out.")
        source = xml.parse_products(path.read_bytes()) if is_xml else _whole_file(source, encoding)
    elif encoding is not None:
        raise InputError("encoding is for files, and records is not a file: leave it out.")
    if isinstance(source, Catalog):
        if source.as_received is not None:
            raise InputError(
                "The catalogue shows pending updates as accepted, and nobody has accepted them: a write would. Give "
                "the catalogue that it was made from."
            )
        records: Iterable[Any] = map(read_written, source.arrow("raw", ["json"])["json"].to_pylist())
    elif isinstance(source, pd.DataFrame):
        _check_columns(source)
        records = map(_without_empty_cells, source.to_dict("records"))
    elif isinstance(source, Mapping):
        raise InputError("records is a single product. Put it into a list.")
    else:
        records = source
    made = [_record(record, place, null_deletes) for place, record in enumerate(records)]
    return _with_whole_numbers(made, source) if isinstance(source, pd.DataFrame) else made


def _without_empty_cells(row: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a row of a frame without its empty cells, which are NaN or "" by how the file was read."""
    return {name: cell for name, cell in row.items() if not (isinstance(cell, str) and not cell.strip())}


def _with_whole_numbers(products: Sequence[Product], frame: pd.DataFrame) -> list[Product]:
    """Return products with whole numbers as such where they are from a column of floats: pandas makes these of them."""
    floats = [str(name) for name, kind in frame.dtypes.items() if pd.api.types.is_float_dtype(kind)]
    return [one | _whole_ones(one, floats) for one in products]


def _whole_ones(product: Product, names: Iterable[str]) -> Product:
    return {
        name: int(value)
        for name in names
        if isinstance(value := product.get(name), float) and value.is_integer()
    }


def _whole_file(path: str | Path, encoding: str | None) -> Catalog:
    catalog = read_products(path, encoding=encoding)
    # A file is used as a whole or not at all: nobody would notice which products were not sent.
    if spoilt := catalog.origin.ledger.set_aside:
        raise InputError(
            f"{len(spoilt)} of the products in {Path(path).name} cannot be read, so none is used: {spoilt[0]}."
        )
    return catalog


def _check_columns(frame: pd.DataFrame) -> None:
    names = [str(name) for name in frame.columns]
    if foreign := [name for name in names if "." in name or name in _ONLY_IN_TABLES | {"attribute", "text"}]:
        raise InputError(
            f"The frame has the column {foreign[0]!r}, which is not an attribute of a product. For a frame from the "
            "tables of a catalogue, use catalog.changes_from(frame) first."
        )
    if "gtin" not in names:
        raise InputError("The frame has no column 'gtin', so it is not known which products are meant.")


def _record(record: Any, place: int, null_deletes: bool) -> Product:
    if not isinstance(record, Mapping):
        raise InputError(f"Record {place} is a {type(record).__name__}, not a mapping: {record!r:.80}.")
    _refuse_repeated_keys(record, place)
    product: Product = {}
    for name, value in record.items():
        where = f"record {place}, {name}"
        if not isinstance(name, str):
            raise InputError(f"Record {place} has the attribute {name!r}; names must be text.")
        if value is DELETE or (value is None and null_deletes):
            product[name] = None
        # NaN is dropped and never sent as null: null deletes the attribute.
        elif not is_missing(value):
            try:
                product[name] = _json_value(_padded_gtin(value) if name == "gtin" else value, where, name)
            except RecursionError as error:
                raise InputError(f"The value of {where} is nested too deeply to be written.") from error
    return product


def _refuse_repeated_keys(record: Mapping[str, Any], place: int) -> None:
    try:
        found = unwritable(record, "") if is_spelled(record) else ()
    except RecursionError as error:
        raise InputError(f"Record {place} is nested too deeply to be written.") from error
    for path, one in found:
        if isinstance(one, RepeatedKeys):
            where = f"Record {place} (GTIN {record.get('gtin')}): {path.lstrip('.') or 'the product'}"
            raise InputError(
                f"{where} {why_unwritable(one)}, and it is not known which value is meant. Keep one of them."
            )


def _padded_gtin(value: Any) -> Any:
    """Return a GTIN with 14 digits; an invalid one as it is, for preflight to report."""
    try:
        return gtin.normal_form(value)
    except InputError:
        return value


def _json_value(value: Any, where: str, path: str) -> Any:
    """Return a value as JSON. None inside a value stays, since the service sent it; NaN is removed."""
    match value:
        # First, since np.float64 is also a float, and has to become a plain number.
        case np.generic():
            return _json_value(value.item(), where, path)
        case str() | bool() | int() | None:
            return value
        case WrittenNumber() if value.is_json and not value.is_integer():
            return value
        case float() if math.isfinite(value):
            return _whole_number(value, path) if value.is_integer() else value
        case Mapping():
            for key in value:
                if not isinstance(key, str):
                    raise InputError(f"The value of {where} has the key {key!r}; keys must be text.")
            return {
                k: _json_value(v, where, f"{path}.{k}")
                for k, v in value.items()
                if v is None or not is_missing(v)
            }
        case list() | tuple() | np.ndarray():
            return [_json_value(item, where, path) for item in value if item is None or not is_missing(item)]
        case Marker():
            raise InputError(
                f"The value of {where} contains {value!r}. Only a whole attribute can be deleted; to delete a part, "
                "leave it out."
            )
    raise InputError(
        f"The value of {where} is {value!r:.80}, a {type(value).__name__}, which JSON cannot represent. Use text, "
        "numbers, booleans, lists and dicts, and text for dates."
    )


def _declared_kinds() -> Iterator[tuple[str, ColumnKind]]:
    for table in TABLES.values():
        for column in table.columns:
            for anchor, path in itertools.product(table.anchors, column.paths):
                yield ".".join(filter(None, [anchor, *path])), column.kind
    yield from ((path, "integer") for path in _integers(PRODUCT, ""))


def _integers(type_: Type, path: str) -> Iterator[str]:
    if isinstance(type_, Mapping):
        for name, inner in type_.items():
            yield from _integers(inner, f"{path}.{name}".lstrip("."))
    elif isinstance(type_, list):
        for inner in type_:
            yield from _integers(inner, path)
    elif type_ == "integer":
        yield path


#: What the declaration and the specification say of single values, by their wire paths.
_KINDS: Mapping[str, ColumnKind] = dict(_declared_kinds())


def _whole_number(value: float, path: str) -> Any:
    """Return a whole number as the attribute has it: a column of pandas with an empty cell makes floats of all others.

    Where nothing is declared, it may be a float that happens to be whole, and stays.
    """
    # Units hold units, and all of them the same attributes.
    place = path.replace(".children", "")
    if place.rpartition(".")[2] == "code":
        return str(int(value))
    match _KINDS.get(place):
        case "integer" | "unix_seconds" | "code":
            return int(value)
        case "boolean" if value in {0, 1}:
            return bool(value)
    return value
