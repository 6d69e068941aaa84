"""Corrections read from a frame, in the long form of `texts` or in the wide form, for each product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog
from prodex.changes import ABSENT, MAINTAINED_BY_SERVICE, Change, is_nothing
from prodex.changes.change import Path
from prodex.errors import ChangesRefused, ChangesStale, InputError
from prodex.formats.formulas import unescape_formulas
from prodex.languages.message import said_by
from prodex.locales import (
    is_long_code,
    is_meant,
    is_whole_language,
    known_language_tag,
    language_tag,
    short_of,
)
from prodex.phrases import hint_and_all
from prodex.send.known_products import KnownProducts, received_products
from prodex.send.merging import TextPlace, replace_code, text_change, text_there
from prodex.send.product_writes import Changes, Refusal, merge_changes
from prodex.send.products_now import refuse_changed
from prodex.send.records import DELETE, Product
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.tables.declaration import TABLES, Column
from prodex.written_numbers import as_json, written_number

_COLUMNS: Mapping[str, Column] = {column.name: column for column in TABLES["products"].columns}


def changes_from(
    frame: pd.DataFrame, catalog: Catalog, language: str | None, service: Client | None
) -> Changes:
    """Merge the corrections in a frame with the products of a catalogue; see `Catalog.changes_from`."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"frame is {described(frame)}. Give a frame with the corrections: catalog.texts or catalog.wide(), edited."
        )
    if service is not None:
        service = service_given(service, "catalog.changes_from(frame, service=service)")
    known = KnownProducts.of(catalog)
    corrections = corrections_in(frame, catalog, known, language)
    records = received_products(catalog, corrections)
    asked: dict[str, list[Change]] = {}
    refused: list[Refusal] = []
    for product, record in records.items():
        try:
            asked[product] = _changes(product, record, corrections[product], known)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), said_by(error)))
    changes, more = merge_changes(records, asked, known, catalog.origin)
    _refuse_all([*refused, *more], len(corrections))
    if service is not None:
        refuse_changed(service, changes.loaded_by_gtin, changes.extra)
    return changes


def _refuse_all(refused: Sequence[Refusal], of: int) -> None:
    """Raise one error for all products that cannot be corrected, with the way to continue without them."""
    if not refused:
        return
    told = [(product, gtin, _with_gtin(gtin, str(why))) for product, gtin, why in refused]
    words = told[0][2]
    if len(refused) > 1:
        words = (
            f"{len(refused):,} of {of:,} products cannot be corrected. {words} All are in .refused of this error; "
            "frame[~frame['product_id'].isin(error.refused['product_id'])] leaves them out."
        )
    elif of > 1:
        words += f" It is in .refused of this error: without it the other {of - 1:,} can be sent."
    raise ChangesRefused(words, pd.DataFrame(told, columns=["product_id", "gtin", "problem"], dtype="str"))


def _with_gtin(gtin: object, why: str) -> str:
    """Return why a product cannot be corrected, with its GTIN, unless that is said already."""
    return why if gtin is None or str(gtin) in why else f"GTIN {gtin}: {why}"


class Correction(NamedTuple):
    """One cell of a frame that corrects something.

    Attributes
    ----------
    place
        The text that it is about; of a value at the top of the product, its attribute alone.
    value
        The new text or value, or DELETE.
    column
        The column of a value; None for a text.
    """

    place: TextPlace
    value: Any
    column: Column | None = None


def corrections_in(
    frame: pd.DataFrame, catalog: Catalog, known: KnownProducts, language: str | None
) -> dict[str, list[Correction]]:
    """Return the corrections of a frame by product id; NaN and None are not corrections."""
    if not {"product_id", "gtin"} & set(frame.columns):
        raise InputError(
            "The frame has neither a column product_id nor gtin, so it is not known which products to correct."
        )
    frame = _filled_rows(frame)
    ids = _product_ids(frame, known)
    if {"attribute", "text"} <= set(frame.columns):
        found = _long(frame, ids, known)
    else:
        found = _wide(frame, ids, catalog, known, language)
    corrections = defaultdict(list)
    for product, correction in found:
        corrections[product].append(correction)
    return dict(corrections)


def _filled_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that are not empty; spreadsheets often end with empty ones."""
    is_filled = [any(not _is_blank(cell) for cell in row) for row in frame.itertuples(index=False, name=None)]
    return frame[np.array(is_filled, bool)]


def _product_ids(frame: pd.DataFrame, known: KnownProducts) -> list[str]:
    """Return the product id of each row."""
    key = "product_id" if "product_id" in frame.columns else "gtin"
    cells = frame[key].tolist()
    for row, cell in zip(frame.index, cells, strict=True):
        if _is_blank(cell):
            raise ChangesRefused(
                f"The row {row} of the frame has no {key}, so it is not known what to correct. Fill it in, or leave "
                "the row out."
            )
    if key == "gtin":
        return [_id(cell, known) for cell in cells]
    # An id is compared as text, since a column of ids with a gap is one of floats.
    there = {one for several in known.ids.values() for one in several}
    ids = [_number_or_text(cell) for cell in cells]
    for one in ids:
        if one not in there:
            raise ChangesRefused(f"The catalogue has no product {one!r}. Load it, then correct it.")
    return ids


def _id(value: Any, known: KnownProducts) -> str:
    several = known.ids.get(gtin.comparable(value), ())
    if not several:
        gtin.normal_form(value)  # if it is not a GTIN, the error says why
    if len(several) != 1:
        raise ChangesRefused(
            f"The catalogue has {len(several) or 'no'} product{'s' * (len(several) > 1)} of GTIN {value}. "
            + ("Add a column product_id to say which." if several else "Load it, then correct it.")
        )
    return several[0]


def _is_blank(cell: object) -> bool:
    return is_missing(cell) or (isinstance(cell, str) and not cell.strip())


def _long(frame: pd.DataFrame, ids: Sequence[str], known: KnownProducts) -> Iterator[tuple[str, Correction]]:
    if not {"language", "language_code"} & set(frame.columns):
        raise InputError(
            "The frame has neither a column language nor language_code, so the language of the texts is not known."
        )
    columns = ("attribute", "text", "position", "language", "language_code")
    cells = {name: frame[name].tolist() if name in frame else [None] * len(frame) for name in columns}
    for product, *row in zip(ids, *cells.values(), strict=True):
        path, text, position, language, code = (None if is_missing(cell) else cell for cell in row)
        if text is None:
            continue
        attribute = str(path)
        if attribute not in known.texts:
            raise ChangesRefused(_unknown_text(attribute, known))
        if language is None and code is None:
            raise ChangesRefused(f"Product {product}: the text of {attribute} has no language. Fill one in.")
        # Somebody who edits one of the columns often forgets the other, and the text would go into the wrong language.
        if language is not None and code is not None:
            _refuse_two_languages(product, attribute, str(language), str(code), known)
        place = TextPlace(attribute, position, language, code)
        yield product, Correction(place, _checked_text(text, product, attribute))


def _refuse_two_languages(
    product: str, attribute: str, language: str, code: str, known: KnownProducts
) -> None:
    """Refuse a row with two different languages: one of the columns was changed, and it is not known which."""
    is_other = short_of(language) != short_of(code) and code not in known.codes.get(short_of(language), ())
    # French of Belgium and of France are two, too.
    names_two = not is_whole_language(language) and not is_whole_language(code)
    if is_other or (names_two and short_of(language) == short_of(code) and not is_meant(code, language)):
        raise ChangesRefused(
            f"Product {product}: the text of {attribute} has the language {language!r:.40} and the language_code "
            f"{code!r:.40}, which are not the same. Correct one, or leave the column language_code out."
        )


def _wide(
    frame: pd.DataFrame, ids: Sequence[str], catalog: Catalog, known: KnownProducts, language: str | None
) -> Iterator[tuple[str, Correction]]:
    if language is not None and short_of(language) not in known.codes:
        language_tag(language)  # raises if it is not a language; one without texts is valid
    # A product may be in several rows, and is looked up once.
    products = catalog.where(product_id=list(dict.fromkeys(ids)))
    unchanged = _unchanged_cells(frame, products, language)
    if language is None:
        unchanged |= _unchanged_texts([str(name) for name in frame if name not in unchanged], products, known)
    for name in map(str, frame.columns):
        if name in {"product_id", "gtin"}:
            continue
        before = unchanged[name].reindex(list(ids)).tolist() if name in unchanged else [None] * len(ids)
        for product, new, old in zip(ids, frame[name].tolist(), before, strict=True):
            # Only changed cells are corrections: an edited export contains every cell of the catalogue.
            if (
                not is_missing(new)
                and not (_is_blank(new) and _is_blank(old))
                and not _is_unchanged(new, old)
            ):
                yield product, _text_or_value(name, new, old, product, known, language)


def _unchanged_texts(
    names: Sequence[str], catalog: Catalog, known: KnownProducts
) -> Iterator[tuple[str, pd.Series]]:
    """Yield columns of texts that are not called as texts were sent: `fr-BE` beside `fr`, or `nb` for `no`."""
    for name in names:
        attribute, _, spoken = name.rpartition(".")
        if attribute in known.texts and known_language_tag(spoken) is not None:
            cells = catalog.wide(spoken, [attribute], columns=["product_id"]).set_index("product_id")
            yield name, cells[attribute]


def _unchanged_cells(frame: pd.DataFrame, catalog: Catalog, language: str | None) -> dict[str, pd.Series]:
    """Return the columns of the wide form of the catalogue, by name, with those of both of its forms."""
    unchanged = catalog.wide(language).set_index("product_id")
    # The second variant costs as much as the first, and only some frames have its columns.
    if {name for name in map(str, frame.columns) if name not in unchanged}:
        numbers = catalog.wide(language, numbers=True).set_index("product_id")
        unchanged = unchanged.join(numbers[[name for name in numbers if name not in unchanged]])
    return {str(name): unchanged[name] for name in unchanged}


def _text_or_value(
    name: str, new: Any, old: Any, product: str, known: KnownProducts, language: str | None
) -> Correction:
    """Return the correction of a changed cell of the wide form."""
    # The frame has this column with other values only if it was made from another version of the product.
    if name == "updated_at":
        raise ChangesStale(
            f"Product {product}: the frame has the version of {new}, and the catalogue that of {old}. Make the frame "
            "again from this catalogue, or load again."
        )
    if name in _COLUMNS:
        return _value_correction(_COLUMNS[name], new, product)
    attribute, language_ = (name, language) if language else name.rpartition(".")[::2]
    if attribute in known.texts and language_:
        # `wide` joins several texts of one language with this separator.
        if isinstance(old, str) and " | " in old:
            raise ChangesRefused(
                f"Product {product}: {name!r} has several texts in one cell, which cannot be separated. Correct them "
                "in the long form: a frame like catalog.texts."
            )
        short, code = (None, language_) if is_long_code(language_) else (language_, None)
        return Correction(TextPlace(attribute, None, short, code), _checked_text(new, product, name))
    raise ChangesRefused(
        f"Product {product}: column {name!r} cannot be corrected here. {_unknown_text(attribute or name, known)}"
    )


def _value_correction(column: Column, new: Any, product: str) -> Correction:
    path = column.paths[0] if column.paths else ()
    if path and path[0] in MAINTAINED_BY_SERVICE:
        raise ChangesRefused(
            f"Product {product}: {column.name} is maintained by the service and cannot be written."
        )
    # A label follows from its code, so that only the code can be corrected.
    is_code = len(path) == 2 and path[1] == "code"
    if len(path) != 1 and not is_code:
        hint = f" Correct its code instead: {column.name}_code." if f"{column.name}_code" in _COLUMNS else ""
        raise ChangesRefused(
            f"Product {product}: {column.name} is derived from other data and cannot be written.{hint}"
        )
    if _is_blank(new):
        raise ChangesRefused(_emptied(product, column.name))
    if is_code:
        return Correction(TextPlace(path[0]), DELETE if new is DELETE else _number_or_text(new), column)
    value = DELETE if new is DELETE else _json_value(column, new, product)
    return Correction(TextPlace(path[0]), value, column)


def _changes(
    product: str, record: Product, corrections: Iterable[Correction], known: KnownProducts
) -> list[Change]:
    """Return the changes that the cells about a product make."""
    found: dict[Path, Change] = {}
    for one in corrections:
        if one.column is not None:
            change: Change | None = _change_of_value(
                product, record, one.place.attribute, one.value, one.column
            )
        elif _is_blank(one.value):
            # Of a text that is not there, or has no letters, a cell without any says nothing.
            if text_there(record, one.place).strip():
                raise ChangesRefused(_emptied(product, str(one.place)))
            continue
        else:
            change = text_change(product, record, one.place, one.value, known.codes)
        # Two rows of a frame may be about one text if they agree, as they do after a join.
        if change is not None and found.setdefault(change.path, change) != change:
            raise ChangesRefused(f"two different texts were given for {one.place}. Keep one of them.")
    return [*found.values()]


def _change_of_value(product: str, record: Product, attribute: str, new: Any, column: Column) -> Change:
    before = record.get(attribute, ABSENT)
    if new is DELETE:
        return Change(product, (attribute,), before, ABSENT)
    if len(column.paths[0]) == 2:
        if not (is_nothing(before) or isinstance(before, dict)):
            raise ChangesRefused(
                f"{column.name} is not one code but {before!r:.60}. Send the whole attribute as a record."
            )
        new = replace_code(before, new)
    return Change(product, (attribute,), before, new)


def _json_value(column: Column, new: Any, product: str) -> Any:
    """Return a cell as a JSON value of the type of its column; spreadsheets contain text."""
    value = new.item() if isinstance(new, np.generic) else new
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match column.kind:
        case "boolean":
            word = str(value).strip().casefold()
            if word in {"true", "false"}:
                return word == "true"
            # A column of pandas with an empty cell makes numbers of yes and no.
            if is_number and value in {0, 1}:
                return bool(value)
        case "integer":
            # Spreadsheets, and columns of pandas with an empty cell, make floats of whole numbers.
            if is_number and (isinstance(value, int) or value.is_integer()):
                return int(value)
            if isinstance(value, str):
                with suppress(InputError):
                    if isinstance(whole := as_json(written_number(value)), int):
                        return whole
        case _:
            return _number_or_text(value)
    raise ChangesRefused(f"Product {product}: {column.name} takes a {column.kind}, not {new!r:.60}.")


def _number_or_text(value: Any) -> Any:
    """Return a code as text; spreadsheets turn digits into floats."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _emptied(product: str, what: str) -> str:
    """Say that a cell is empty where a value is: files without NaN have that for what was deleted and what was not."""
    return (
        f"Product {product}: {what} is empty in the frame, and the product has a value there. Give prodex.DELETE to "
        "take it away, or None to leave it."
    )


def _checked_text(value: Any, product: str, name: str) -> Any:
    if value is DELETE or isinstance(value, str):
        return value
    raise ChangesRefused(
        f"Product {product}: the text of {name} is {value!r:.60}, a {type(value).__name__}. "
        "Give text, or prodex.DELETE."
    )


def _is_unchanged(new: Any, old: Any) -> bool:
    """Whether a cell is unchanged, also after an export to CSV or a spreadsheet."""
    if is_missing(old) or new is DELETE:
        return False
    # True, true and TRUE are the same value.
    if any(isinstance(value, bool | np.bool_) for value in (old, new)):
        return str(old).casefold() == unescape_formulas(str(new)).casefold()
    numbers = all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in (new, old))
    return bool(new == old) if numbers else str(old) in {str(new), unescape_formulas(str(new))}


def _unknown_text(attribute: str, known: KnownProducts) -> str:
    others = (
        "Other attributes are sent as a whole, in records that also contain a name: "
        "upsert(service, [{'gtin': ..., 'namePublicLong': ..., attribute: ...}])."
    )
    near = hint_and_all(attribute, known.texts, others)
    return f"{attribute!r} is not a localized text of the catalogue or the specification{near}"
