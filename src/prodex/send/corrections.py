"""Corrections read from a frame, in the long form of `texts` or in the wide form, for each product."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import gtin
from prodex.arguments import described, is_missing
from prodex.catalog import Catalog, Origin
from prodex.changes import (
    ABSENT,
    MAINTAINED_BY_SERVICE,
    Change,
    apply,
    by_product,
    diff,
    indexed,
    inverse,
    is_nothing,
    is_same,
    value_at,
    wire_path,
)
from prodex.changes.change import Path
from prodex.changes.sameness import is_text
from prodex.errors import ChangesRefused, ChangesStale, InputError, SnapshotDamaged
from prodex.formats.spreadsheet import unescape_formulas
from prodex.gtin import comparable
from prodex.ledger.batch import Loaded
from prodex.locales import is_long_code, is_meant, is_whole_language, language_tag, meant_by, short_of, tag_of
from prodex.messages import counted, hint_and_all
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.merging import (
    TextItem,
    TextPlace,
    joined,
    recoded,
    text_change,
    texts_of,
    written_with,
)
from prodex.send.records import DELETE, Product
from prodex.service import Client, pages
from prodex.service.connection import service_given
from prodex.store.snapshot import catalog_given
from prodex.tables.attributes import TEXTS
from prodex.tables.declaration import TABLES, Column
from prodex.tables.plain_walk import product_key
from prodex.written_json import is_plain, read_written
from prodex.written_numbers import as_json, written_number

_COLUMNS: Mapping[str, Column] = {column.name: column for column in TABLES["products"].columns}


@dataclass(frozen=True)
class KnownProducts:
    """The facts of a catalogue that are needed to read a frame.

    Attributes
    ----------
    ids
        Product ids by GTIN in the form of `prodex.gtin.comparable`, since services also send 13 digits.
    codes
        The long language codes of each short one, as `short_of` returns it.
    texts
        Wire paths of localized texts.
    """

    ids: Mapping[str | None, Sequence[str]]
    codes: Mapping[str, frozenset[str]]
    texts: Collection[str]

    @classmethod
    def of(cls, catalog: Catalog) -> KnownProducts:
        ids = defaultdict(list)
        for row in catalog.arrow("products", ["product_id", "gtin"]).to_pylist():
            ids[gtin.comparable(row["gtin"])].append(row["product_id"])
        columns = ["attribute", "language", "language_code"]
        rows = catalog.arrow("texts", columns).group_by(columns).aggregate([]).to_pylist()
        codes = defaultdict(set)
        for row in rows:
            if row["language"] and row["language_code"]:
                codes[short_of(row["language"])].add(row["language_code"])
        texts = {row["attribute"] for row in rows} | set(TEXTS)
        return cls(ids, {language: frozenset(found) for language, found in codes.items()}, texts)


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
    unchanged = _unchanged_cells(frame, catalog.where(product_id=list(dict.fromkeys(ids))), language)
    for name in map(str, frame.columns):
        if name in {"product_id", "gtin"}:
            continue
        before = unchanged[name].reindex(list(ids)).tolist() if name in unchanged else [None] * len(ids)
        for product, new, old in zip(ids, frame[name].tolist(), before, strict=True):
            # Only changed cells are corrections: an edited export contains every cell of the catalogue.
            if not is_missing(new) and not _is_unchanged(new, old):
                yield product, _text_or_value(name, new, old, product, known, language)


def _unchanged_cells(frame: pd.DataFrame, catalog: Catalog, language: str | None) -> pd.DataFrame:
    """Return the wide form of the catalogue, with the columns of both of its variants."""
    unchanged = catalog.wide(language).set_index("product_id")
    # The second variant costs as much as the first, and only some frames have its columns.
    if {name for name in map(str, frame.columns) if name not in unchanged}:
        numbers = catalog.wide(language, numbers=True).set_index("product_id")
        unchanged = unchanged.join(numbers[[name for name in numbers if name not in unchanged]])
    return unchanged


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
    if len(path) == 2 and path[1] == "code":
        return Correction(TextPlace(path[0]), DELETE if new is DELETE else _number_or_text(new), column)
    if len(path) != 1:
        hint = f" Correct its code instead: {column.name}_code." if f"{column.name}_code" in _COLUMNS else ""
        raise ChangesRefused(
            f"Product {product}: {column.name} is derived from other data and cannot be written.{hint}"
        )
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
        else:
            change = text_change(product, record, one.place, one.value, known.codes)
        # Two rows of a frame may be about one text if they agree, as they do after a join.
        if change is not None and found.setdefault(change.path, change) != change:
            raise ChangesRefused(
                f"GTIN {record.get('gtin')}: two different texts were given for {one.place}. Keep one of them."
            )
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
        new = recoded(before, new)
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
            if isinstance(value, str) and (whole := _whole_number(value)) is not None:
                return whole
        case _:
            return _number_or_text(value)
    raise ChangesRefused(f"Product {product}: {column.name} takes a {column.kind}, not {new!r:.60}.")


def _whole_number(text: str) -> int | None:
    try:
        value = as_json(written_number(text))
    except InputError:
        return None
    return value if isinstance(value, int) else None


def _number_or_text(value: Any) -> Any:
    """Return a code as text; spreadsheets turn digits into floats."""
    value = value.item() if isinstance(value, np.generic) else value
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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


#: Attributes that preflight requires, unless the service has them already.
_MANDATORY = ("nameLegal", "namePublicLong", "namePublicShort", "kind")


@dataclass(frozen=True)
class Changes:
    """Corrections, merged and ready for `prodex.upsert`.

    Made by `prodex.changes_from_frame`.

    Attributes
    ----------
    records
        One for each product: its GTIN and the complete values of the attributes that change.
    changes
        What tells the records from the loaded products, place by place.
    loaded
        When each product was last updated (`updatedAt`) according to the catalogue, by product id.
    known
        The mandatory attributes that each product already has, by GTIN.
    origin
        The origin of the catalogue.
    asked
        What was asked for, place by place; `preview` shows it.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": name}])
    >>> changes = prodex.changes_from_frame(catalog.texts.assign(text="Bread"), catalog)
    >>> len(changes.records), changes.preview()["after"].tolist()
    (1, ['Bread'])
    """

    records: tuple[Product, ...] = field(repr=False)
    changes: tuple[Change, ...] = field(repr=False)
    loaded: Mapping[str, str | None] = field(repr=False)
    known: Mapping[str, frozenset[str]] = field(repr=False)
    origin: Origin = field(repr=False)

    asked: tuple[Change, ...] = field(default=(), repr=False)

    def __len__(self) -> int:
        return len(self.asked)

    def preview(self) -> pd.DataFrame:
        """Return the changes as a frame: gtin, attribute, position, language, before, after."""
        written = dict(zip(self.loaded, self.records, strict=True))
        changes = by_product(self.changes)
        rows = []
        for product, asked in by_product(self.asked).items():
            # What is written leads back to what was loaded.
            loaded = apply(written[product], inverse(changes[product]))
            gtin = written[product]["gtin"]
            rows += [(gtin, *_preview_row(one, loaded, written[product])) for one in asked]
        columns = ["gtin", "attribute", "position", "language", "before", "after"]
        return pd.DataFrame(rows, columns=columns, dtype=object)

    def __repr__(self) -> str:
        changes, products = counted(len(self), "correction"), counted(len(self.records), "product")
        return f"<Changes: {changes} of {products}; .preview() shows them>"


def _preview_row(change: Change, loaded: Product, written: Product) -> tuple[Any, ...]:
    """Return attribute, position, language, the value before and the new one of a change."""
    path, before, after = change.path, change.before, change.after
    if isinstance(after, list) and after[:-1] == (before or []):
        # A text was added beside one that may be of the same language.
        before, after = ABSENT, after[-1]
    elif path[-1] == "data":
        path = path[:-1]
        before = value_at(loaded, path)
        after = before | {"data": after}
    text = next((one for one in (before, after) if is_text(one)), None)
    old, new = (None if one is ABSENT else one for one in (before, after))
    if text is None:
        return wire_path(path), None, None, old, DELETE if is_nothing(new) else new
    item = TextItem(wire_path(path), "", text)
    variants = {
        tag_of(one.variant)
        for one in texts_of(written.get(str(path[0])), str(path[0]))
        if one.attribute == item.attribute and one.variant is not None
    }
    short = item.sent_language or item.code
    # Where an attribute has several texts of one language, that is named by its code.
    language = item.code if short and len(meant_by(short_of(short), [*variants])) > 1 else short
    # An item that gets its text is a new text for whoever looks at texts.
    steps = indexed(loaded, path) if old and old["data"] is not None else None
    position = None if steps is None else ".".join(str(one) for one in steps if isinstance(one, int))
    return item.attribute, position, language, old and old["data"], DELETE if new is None else new["data"]


def changes_from_frame(
    frame: pd.DataFrame, catalog: Catalog, *, language: str | None = None, service: Client | None = None
) -> Changes:
    """Merge the corrections in a frame with the products of a catalogue.

    The service replaces an array as a whole. So each corrected attribute is taken from the catalogue with every
    language and every item, and only what the frame corrects is changed in it.

    Parameters
    ----------
    frame
        Either the long form, one row for each text: `product_id` or `gtin`, `attribute`, `language` or
        `language_code`, `text`, and `position` where an attribute has several; `catalog.texts` is such a frame. Or
        the wide form, one row for each product, as `catalog.wide()` gives it: columns such as `namePublicLong.fr`,
        `is_consumer_unit`, `brand_code`. Cells that are unchanged, NaN or None change nothing; `prodex.DELETE`
        deletes. A code with a country means that one in any spelling, and nothing else; a language alone means the only
        text in it, or an item of it that has no text yet.
    catalog
        The products, with the complete values of the corrected attributes.
    language
        For a wide frame made with `catalog.wide(language)`: the language of its texts.
    service
        Check now that no product has changed since it was loaded; `upsert` checks that again in any case.

    Raises
    ------
    ChangesRefused
        When the catalogue does not have the rest of a corrected attribute (it was not requested), or a correction is
        ambiguous. The message contains which and why.
    ChangesStale
        When a product has changed since it was loaded.

    Examples
    --------
    >>> import prodex
    >>> names = [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"},
    ...          {"expressedIn": {"code": "eng-GB"}, "data": "Bred"}]
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935", "namePublicLong": names}])
    >>> texts = catalog.texts
    >>> texts.loc[texts["language"] == "en", "text"] = "Bread"
    >>> changes = prodex.changes_from_frame(texts, catalog)
    >>> changes.preview()[["attribute", "language", "before", "after"]].values.tolist()
    [['namePublicLong', 'en', 'Bred', 'Bread']]
    >>> [item["data"] for item in changes.records[0]["namePublicLong"]]
    ['Pain', 'Bread']
    """
    catalog = catalog_given(catalog, "changes_from_frame(frame, catalog)", frame)
    if not isinstance(frame, pd.DataFrame):
        raise InputError(
            f"frame is {described(frame)}. Give a frame with the corrections: catalog.texts or catalog.wide(), edited."
        )
    if service is not None:
        service = service_given(service, "changes_from_frame(frame, catalog, service=service)")
    known = KnownProducts.of(catalog)
    corrections = corrections_in(frame, catalog, known, language)
    records = received_products(catalog, corrections)
    asked: dict[str, list[Change]] = {}
    refused: list[Refusal] = []
    for product, record in records.items():
        try:
            asked[product] = _changes(product, record, corrections[product], known)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), str(error)))
    changes, more = merged_changes(records, asked, known, catalog.origin)
    _refuse_all([*refused, *more], len(corrections))
    if service is not None:
        refuse_changed(service, *merged_with(changes))
    return changes


#: Product id, GTIN and reason of a product that cannot be corrected.
Refusal: TypeAlias = tuple[str, Any, str]


def merged_changes(
    products: Mapping[str, Product],
    changes: Mapping[str, Sequence[Change]],
    known: KnownProducts,
    origin: Origin,
) -> tuple[Changes, list[Refusal]]:
    """Merge changes with products, and say which products cannot be corrected, and why.

    Parameters
    ----------
    products
        The products as received, by product id.
    changes
        What is asked for, by product id; products that are not there stay as they are.
    known
        Facts of the catalogue of the products.
    origin
        The origin of that catalogue.
    """
    records: list[Product] = []
    told: list[Change] = []
    wanted: list[Change] = []
    loaded: dict[str, str | None] = {}
    filled: dict[str, frozenset[str]] = {}
    refused: list[Refusal] = []
    for product, asked in changes.items():
        record = products[product]
        try:
            made = written_with(record, asked)
            if not made:
                continue
            _refuse_unknown(origin, record, made)
            gtin = _only_gtin(product, record, known)
            differing = diff({name: record.get(name, ABSENT) for name in made}, made, product=product)
        except ChangesRefused as error:
            refused.append((product, record.get("gtin"), str(error)))
            continue
        # Labels in another language than the service's own would be written over its own.
        written = without_labels(made) if origin.accept_language else made
        records.append({"gtin": gtin, **written})
        told += differing
        wanted += [one for one in joined(asked) if one.attribute in made]
        loaded[product] = record.get("updatedAt")
        filled[gtin] = frozenset(name for name in _MANDATORY if record.get(name) or not origin.asked(name))
    return Changes(tuple(records), tuple(told), loaded, filled, origin, tuple(wanted)), refused


def _only_gtin(product: str, record: Product, known: KnownProducts) -> str:
    """Return the GTIN of a product, by which a write identifies it."""
    gtin = record.get("gtin")
    if gtin is None:
        raise ChangesRefused(
            f"Product {product} has no GTIN, and a write identifies its product by the GTIN alone."
        )
    if len(several := known.ids[comparable(gtin)]) > 1:
        raise ChangesRefused(
            f"The catalogue has {len(several)} products of GTIN {gtin}, and a write only contains the GTIN: "
            "it is not certain which of them would change."
        )
    return str(gtin)


def _refuse_all(refused: Sequence[Refusal], of: int) -> None:
    """Raise one error for all products that cannot be corrected, with the way to continue without them."""
    if not refused:
        return
    words = refused[0][2]
    if len(refused) > 1:
        words = (
            f"{len(refused):,} of {of:,} products cannot be corrected. {words} All are in .refused of this error; "
            "frame[~frame['product_id'].isin(error.refused['product_id'])] leaves them out."
        )
    elif of > 1:
        words += f" It is in .refused of this error: without it the other {of - 1:,} can be sent."
    raise ChangesRefused(words, pd.DataFrame(refused, columns=["product_id", "gtin", "problem"], dtype="str"))


def merged_with(changes: Changes) -> tuple[dict[str, Loaded], Mapping[str, Any]]:
    """Return the loaded products of corrections by GTIN, and the filters with which to find them at the service.

    Without the filters of the load (such as allow_not_consumer_units), the service would not list the products.
    """
    gtins = (record["gtin"] for record in changes.records)
    loaded = {gtin: Loaded(*one) for gtin, one in zip(gtins, changes.loaded.items(), strict=True)}
    return loaded, dict(changes.origin.query.extra) if changes.origin.query is not None else {}


def refuse_changed(service: Client, loaded: Mapping[str, Loaded], extra: Mapping[str, Any]) -> None:
    """Raise if one of these products was updated since it was loaded, according to the service.

    Parameters
    ----------
    loaded
        Key and date of the loaded products, by GTIN.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ChangesStale
        When one was updated, or is no longer there.
    """
    now = _products_at(service, loaded, ["updatedAt"], extra)
    for written, (product, then) in loaded.items():
        if product not in now:
            what = "is no longer at the service"
        elif _is_of_another_date(now[product], then):
            what = (
                f"was updated at {now[product].get('updatedAt')}, and the catalogue has the version of {then}"
            )
        else:
            continue
        raise ChangesStale(
            f"GTIN {written} {what}. Nothing was sent: load it again (max_age=0), and correct that version."
        )


def _products_at(
    service: Client, gtins: Collection[str], attributes: Sequence[str], extra: Mapping[str, Any]
) -> dict[str, Product]:
    """Request some attributes of products by their GTINs, whatever else is missing; return them by their keys."""
    if not gtins:
        return {}
    query = ProductQuery(gtins_in=list(gtins), source_include=attributes, extra=dict(extra))
    # With a report of its own, a missing product does not raise here.
    found = pages(service, query, page_size=GTINS_PER_CALL, progress=False, report=lambda _: None)
    records = [read_written(bytes(one)) for page in found for one in page.envelope.data]
    return {product_key(record): record for record in records}


def _is_of_another_date(record: Product, then: str | None) -> bool:
    # Without a date nobody knows which version the service has, and the correction may undo a change.
    return record.get("updatedAt") is None or record["updatedAt"] != then


#: Why a product is left out of a call.
_CHANGED: Final = "somebody has changed the product at the service since it was requested for this upsert"
_GONE: Final = "the product is no longer at the service"


def changed_meanwhile(
    service: Client,
    loaded: Mapping[str, Loaded],
    attributes: Collection[str],
    before: Mapping[str, Product],
    extra: Mapping[str, Any],
) -> dict[str, str]:
    """Return the GTINs of the products that are not as they were when their corrections were merged, each with why.

    It takes one search, and more only if that does not return all of them.

    Parameters
    ----------
    loaded
        Key and date of the products as they were, by GTIN; 500 at most.
    attributes
        What is written of them. Dates are of seconds, so that an attribute may have another value with the same date.
    before
        The records as they were, by product key, as far as they are known.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ServiceError
        When they cannot be requested.
    """
    if not loaded:
        return {}
    # A name with a comma would be two.
    wanted = ["updatedAt", "lastRequest", *sorted(name for name in attributes if name.isidentifier())]
    query = ProductQuery(gtins_in=list(loaded), source_include=wanted, extra=dict(extra))
    page = service.search_products(query, limit=len(loaded))
    now = {product_key(record): record for record in map(read_written, map(bytes, page.envelope.data))}
    lacking = [written for written, one in loaded.items() if one.product not in now]
    now |= _products_at(service, lacking, wanted, extra)
    found = {}
    for written, (product, then) in loaded.items():
        record, earlier = now.get(product), before.get(product, {})
        if record is None:
            found[written] = _GONE
        elif _is_of_another_date(record, then) or any(
            _has_another_value(record, earlier, name) for name in earlier.keys() & set(attributes)
        ):
            found[written] = _CHANGED
    return found


def _has_another_value(record: Product, earlier: Product, name: str) -> bool:
    """Whether an attribute has another value than earlier, or another update of it waits to be accepted."""
    if name in record and not is_same(record[name], earlier[name]):
        return True
    waiting, before = (
        one["lastRequest"].get(name) if isinstance(one.get("lastRequest"), Mapping) else None
        for one in (record, earlier)
    )
    return not is_same(waiting, before)


def received_products(catalog: Catalog, ids: Iterable[str]) -> dict[str, Product]:
    """Return products as they were received, by product id; those that the catalogue has."""
    concerned = pc.field("product_id").isin(pa.array(list(ids), pa.string()))
    rows = catalog.arrow("raw", ["product_id", "json"], concerned).to_pylist()
    return {row["product_id"]: _record(row["product_id"], row["json"]) for row in rows}


def _record(product: str, text: str) -> dict[str, Any]:
    try:
        record = read_written(text)
    except (ValueError, RecursionError) as error:
        raise SnapshotDamaged(
            f"The record of product {product} cannot be read ({error}). Load it again."
        ) from error
    if not isinstance(record, dict):
        raise SnapshotDamaged(f"The record of product {product} is not a JSON object. Load it again.")
    return record


def _refuse_unknown(origin: Origin, record: Product, made: Product) -> None:
    """Raise if the catalogue may lack a part of an attribute: writing the attribute would delete that part."""
    query = origin.query
    if query is None:
        return
    for attribute in made:
        why = None
        if not origin.asked(attribute):
            why = "was not requested when this catalogue was loaded"
        elif query.source_include and attribute not in query.source_include:
            why = f"was requested only in part ({', '.join(query.source_include)})"
        elif any(path.split(".")[0] == attribute for path in query.source_exclude or ()):
            why = "was loaded without a part of it"
        elif query.product_languages and any(
            True for one in (record, made) for _ in texts_of(one.get(attribute), attribute)
        ):
            why = f"was loaded only in {', '.join(query.product_languages)}"
        if why:
            raise ChangesRefused(
                f"{attribute} {why}, and a write replaces all of it: the missing part would be lost. Load the products "
                "with the whole attribute in all languages, and correct these."
            )


def language_codes_only(value: Any) -> Any:
    """Reduce the language of each text to its code, as in XML; the service adds the other fields itself.

    What XML cannot spell stays, so that it is refused.
    """
    match value:
        case {"expressedIn": {"code": str(code)} as language, "data": str()} if is_plain(language):
            return value | {"expressedIn": {"code": code}}
        case dict():
            return {key: language_codes_only(inner) for key, inner in value.items()}
        case list():
            return [language_codes_only(item) for item in value]
    return value


def without_labels(value: Any) -> Any:
    """Leave labels out of coded values: they were requested in some language, and the service has its own.

    A label follows from its code and from the language that is requested (spec, Code value object), so that none is
    lost; a description that is more than a text is of the item, and stays.
    """
    if isinstance(value, dict):
        drop = {"label", "description"} if "code" in value else set()
        return {
            key: without_labels(inner)
            for key, inner in value.items()
            if key not in drop or not isinstance(inner, str)
        }
    return [without_labels(item) for item in value] if isinstance(value, list) else value
