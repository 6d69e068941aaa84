"""What can be asked of a service, as one table: each field of the form, and how what is typed becomes a query."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import cache, cached_property, lru_cache
from types import MappingProxyType
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex import locales
from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.gtin import GtinAccessor, as_text, comparable, has_digits, listed_in
from prodex.locales import spelled_short
from prodex.notebook.views.blocks import typed_text
from prodex.notebook.views.forms import FormField
from prodex.phrases import counted
from prodex.query import (
    ALWAYS_REQUESTED,
    FILTERS,
    SEARCH_FIELDS,
    ProductQuery,
    ProductStatus,
    SharingStatus,
)
from prodex.query.filters import Filter, Form
from prodex.written_numbers import written_whole

#: Each value and what is shown for it; "" is no filter.
Options: TypeAlias = Sequence[tuple[Any, str]]
#: What stands in the form, by the names of its fields.
Values: TypeAlias = Mapping[str, Any]

#: The form whose fields these are.
FORM = "load"


class FieldGroup(Enum):
    """The group in which a field is shown; the value is its title."""

    FRONT = "Market"
    PERIOD = "Updated"
    WORDS = "Words"
    STATUS = "Status, sharing and tags"
    MORE = "GTINs, owners, pictures, active range"
    ANSWER = "Languages and fields to load"
    EXPERT = "Other filters, as JSON"


@dataclass(frozen=True)
class FieldKind:
    """A way to fill in a value.

    Attributes
    ----------
    control
        The kind of the form's field.
    shown
        From the value of a query to what stands in the field.
    read
        From what was typed to what `ProductQuery` takes, where None is no filter; raises `QueryError` in words for
        whoever has typed it.
    """

    control: str
    shown: Callable[[Any], Any]
    read: Callable[[Any], Any]


@dataclass(frozen=True)
class QueryField:
    """A field of the form.

    Attributes
    ----------
    name, other
        The filter of `ProductQuery` that it fills, and if it fills two, the other one.
    label, placeholder, hint
        As for `FormField`.
    kind
        How it is filled in.
    group
        Where it is shown.
    options
        What is offered to choose from.
    added
        What one of the options is called, where a choice above the field adds them to its list by name.
    usual
        Texts that a choice above the field offers, and what they are called.
    note
        What is said of what was typed, below it.
    """

    name: str
    label: str
    kind: FieldKind
    group: FieldGroup
    options: Options = ()
    placeholder: str = ""
    hint: str = ""
    other: str = ""
    added: str = ""
    usual: Options = ()
    note: Callable[[str], str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The filters that it fills."""
        return (self.name, self.other) if self.other else (self.name,)

    def shown(self, query: ProductQuery) -> Any:
        """Return what stands in it for a query."""
        values = [getattr(query, name) for name in self.names]
        return self.kind.shown(values if self.other else values[0])

    def given(self, typed: Any) -> dict[str, Any]:
        """Return the filters of a query for what was typed."""
        read = self.kind.read(typed)
        return dict(zip(self.names, read if self.other else (read,), strict=True))


def comma_separated(text: str) -> list[str]:
    """Return the items of a comma-separated text.

    >>> comma_separated("new, big,")
    ['new', 'big']
    """
    return [one.strip() for one in text.split(",") if one.strip()]


def _joined(values: Iterable[object] | None) -> str:
    return ", ".join(map(str, values or ()))


def _plain(value: Any) -> Any:
    """Return a value as pages know it: of a member of an enumeration, its own."""
    return value.value if isinstance(value, Enum) else value


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= 40 else f'{text[:40]}…'}”"


def _numbers(text: str) -> list[int] | None:
    """Return whole numbers, however they are separated."""
    pieces = [one for one in re.split(r"[\s,;]+", text.strip()) if one]
    if wrong := [one for one in pieces if not re.fullmatch(r"[+-]?[0-9]{1,60}", one)]:
        raise QueryError(f"{_quoted(wrong[0])} is no whole number. Give numbers with commas, such as 11, 12.")
    return [written_whole(one) for one in pieces] or None


def _languages(text: str) -> list[str] | None:
    found = comma_separated(text)
    for one in found:
        locales.language_tag(one)  # raises in words
    return found or None


def _paths(text: str) -> list[str] | None:
    paths = comma_separated(text)
    for path in paths:
        if not re.fullmatch(r"[^\s.]+(\.[^\s.]+)*", path):
            raise QueryError(
                f"{_quoted(path)} is no path of a field. Write names with dots between them, such as "
                "assets.pictures.url, and commas between paths."
            )
    return paths or None


def shown_moment(moment: datetime | None) -> str:
    """Return a point in time as a field for dates has it, in UTC.

    >>> shown_moment(datetime(2026, 11, 13, 12, tzinfo=UTC))
    '2026-11-13T12:00'
    """
    if moment is None:
        return ""
    bare = moment.astimezone(UTC).replace(tzinfo=None)
    # As browsers write it: what stands in a field would otherwise differ from what it was given.
    return bare.isoformat(
        timespec="milliseconds" if bare.microsecond else "seconds" if bare.second else "minutes"
    )


def _moment(text: str) -> datetime | None:
    if not text.strip():
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise QueryError("This is not a whole date and time. Fill in all of it, or clear it.") from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment.year < 1970:
        raise QueryError("Services count time from 1970 on. Give a later date, or clear it.")
    return moment


def _shown_paths(paths: Sequence[str] | None) -> str:
    """Return paths as text, without those that every query adds by itself."""
    whole = tuple(paths or ())
    kept = len(whole)
    while kept > 1 and (whole[kept - 1] in ALWAYS_REQUESTED or whole[kept - 1].endswith(".expressedIn")):
        kept -= 1
    same = kept and ProductQuery(source_include=whole[:kept]).source_include == whole
    return _joined(whole[:kept] if same else whole)


def _extra(text: str) -> Any:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    # A thousand nested lists end in a RecursionError, which is no ValueError.
    except (ValueError, RecursionError) as error:
        raise QueryError(
            f'This cannot be read as JSON: {error}. Write it as {{"name of the filter": value}}.'
        ) from error


def _shown_extra(extra: Mapping[str, Any]) -> str:
    return json.dumps(dict(extra), ensure_ascii=False, indent=2) if extra else ""


def _gtins(text: str) -> tuple[str, ...] | None:
    pasted = read_gtins(text)
    # None would be no filter: whoever pastes the wrong column would load every product.
    if pasted.unreadable and not pasted.gtins:
        raise QueryError(
            f"There is no GTIN here, but {_first_texts(pasted.unreadable)}. Paste numbers of up to 14 digits; with an "
            "empty list, products match whatever their GTIN."
        )
    return pasted.gtins or None


def _pasted(text: str) -> str:
    return str(read_gtins(text))


def _words(rows: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, Sequence[str]]] | None:
    return [(word, fields) for word, fields in rows if word.strip()] or None


def _packshot(values: Sequence[Any]) -> str:
    return "with" if values[0] else "without" if values[1] else ""


#: The fields that are searched at first: a word in a list of ingredients says little of what a product is.
_FIRST: list[str] = ["namePublicLong.data", "brand.label", "kind.label"]

TEXT = FieldKind("text", lambda value: value or "", lambda text: text.strip() or None)
TEXTS = FieldKind("text", _joined, lambda text: comma_separated(text) or None)
NUMBERS = FieldKind("text", _joined, _numbers)
LANGUAGES = FieldKind("text", _joined, _languages)
PATHS = FieldKind("text", _shown_paths, _paths)
LEFT_OUT = FieldKind("text", _joined, _paths)
MOMENT = FieldKind("moment", shown_moment, _moment)
CHOICE = FieldKind("choice", lambda value: _plain(value) or "", lambda value: value or None)
MANY = FieldKind(
    "many", lambda values: [_plain(one) for one in values or ()], lambda values: [*values] or None
)
GTINS = FieldKind("long", lambda values: "\n".join(values or ()), _gtins)
EXTRA = FieldKind("long", _shown_extra, _extra)
WORDS = FieldKind(
    "words", lambda search: [(word, list(fields)) for word, fields in search or ()] or [("", _FIRST)], _words
)
#: One field for two filters of the service: both at once would match nothing.
PACKSHOT = FieldKind("choice", _packshot, lambda value: (value == "with" or None, value == "without" or None))


def _named(members: Iterable[Enum], names: Mapping[Any, str] = MappingProxyType({})) -> Options:
    return [(one.value, names.get(one) or one.name.replace("_", " ").capitalize()) for one in members]


# What the specification calls "assignation" is assignment in English.
_PRODUCT_STATUSES = _named(ProductStatus, {ProductStatus.ASSIGNATION_PENDING: "Assignment pending"})
# By hand: the names in the specification are abbreviations.
_VALIDATION_STATUSES = [
    *zip((0, 1, 2, 3), ("No status (NA)", "Not OK", "OK", "To be corrected"), strict=True)
]
_SHARING: Options = [("", "any"), *_named(SharingStatus)]


@cache
def markets(first: tuple[int, ...] = ()) -> Options:
    """Return every market by name, after some that are offered first.

    >>> [one for one in markets() if one[0] in ("", 56)]
    [('', 'any market'), (56, 'Belgium (056)')]
    >>> markets(first=(250,))[:3]
    (('', 'any market'), (250, 'France (250)'), (4, 'Afghanistan (004)'))
    """
    known = locales.markets()
    codes = dict.fromkeys([*(code for code in first if code in known), *known])
    return (("", "any market"), *((code, f"{known[code]} ({code:03d})") for code in codes))


@cache
def _languages_by_name() -> Options:
    return tuple((tag, f"{name} ({tag})") for tag, name in locales.languages().items())


def language_names(text: str) -> str:
    """Return the names of the languages in a comma-separated text, as far as they are known.

    >>> language_names("fr, nld, x")
    'French, Dutch'
    """
    known = locales.languages()
    codes = map(spelled_short, comma_separated(text))
    return ", ".join(dict.fromkeys(known[code] for code in codes if code in known))


def owners_by_name(organizations: pd.DataFrame) -> Options:
    """Return the organisations that a service lists, by name, without those that have no number to filter by.

    >>> owners_by_name(pd.DataFrame({"id": [12, 11], "nameLegal": ["Zest", "Acme"]}))
    [(11, 'Acme (11)'), (12, 'Zest (12)')]
    """
    # The specification calls the name of an organisation `nameLegal`; one service sends `name`.
    column = next((name for name in ("nameLegal", "name") if name in organizations), None)
    if column is None or "id" not in organizations:
        return []
    pairs = zip(organizations["id"], organizations[column], strict=True)
    found = [(int(number), f"{name} ({number})") for number, name in pairs if str(number).isdecimal()]
    return sorted(found, key=lambda one: one[1].casefold())


def periods(now: datetime) -> list[tuple[str, datetime | None, datetime | None]]:
    """Return periods of change that people ask for: a label, and the beginning and the end; None is open.

    Parameters
    ----------
    now
        The present, in UTC. Days and months are those of UTC, in which the service keeps its dates.

    Examples
    --------
    >>> [(label, f"{begin:%m-%d}") for label, begin, _ in periods(datetime(2026, 11, 23, 12, tzinfo=UTC)) if begin]
    [('today', '11-23'), ('last 7 days', '11-16'), ('last 30 days', '10-24'), ('last month', '10-01')]
    """
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    month = midnight.replace(day=1)
    before = (month - timedelta(days=1)).replace(day=1)
    return [
        ("any time", None, None),
        ("today", midnight, None),
        ("last 7 days", midnight - timedelta(days=7), None),
        ("last 30 days", midnight - timedelta(days=30), None),
        ("last month", before, month - timedelta(seconds=1)),
    ]


WORDS_HINT = (
    "All words must match; the service decides whether a part of a word does (in the sandbox none does). There is "
    "no filter by category: type the name of a kind, or load a market and filter it by category under Products."
)
_SEARCHED = [
    *zip(SEARCH_FIELDS, ("Name", "Ingredients", "Allergens", "Brand", "Kind", "Description"), strict=True)
]
_PACKSHOTS = (("", "with or without"), ("with", "with a packshot"), ("without", "without a packshot"))
_RETURNED = (
    ("", "everything"),
    ("namePublicLong, namePublicShort, nameLegal, brand, kind", "names, brand and kind"),
    ("assets.pictures", "pictures only"),
    ("assets", "pictures, documents and videos"),
    ("updatedAt", "keys and dates only"),
)
_LEFT_OUT = (
    ("", "nothing"),
    ("assets", "pictures, documents and videos"),
    ("logisticalHierarchies", "logistical hierarchies"),
)
_ONLY_TEXTS = "Leaves out texts in other languages; the same products are returned."
_PATHS_SUCH_AS = "namePublicLong.data, assets.pictures"
FRONT, PERIOD, SEARCH, STATUS, MORE, ANSWER, EXPERT = FieldGroup
_AT_RETAILER, _AT_MAKER = "Sharing status at the retailer", "Sharing status at the manufacturer"

# fmt: off
_DESIGNED: tuple[QueryField, ...] = (
    QueryField("target_market", "Target market", CHOICE, FRONT),
    QueryField("updated_at_from", "Updated from (UTC)", MOMENT, PERIOD),
    QueryField("updated_at_to", "Updated until (UTC)", MOMENT, PERIOD),
    QueryField("search", "Word", WORDS, SEARCH, _SEARCHED, "cocoa"),
    QueryField("target_productstatus_in", "Status at the retailer", MANY, STATUS, _PRODUCT_STATUSES),
    QueryField("validation_status_in", "Validation status", MANY, STATUS, _VALIDATION_STATUSES),
    QueryField("status_shared_from", _AT_MAKER, CHOICE, STATUS, _SHARING),
    QueryField("status_shared_with", _AT_RETAILER, CHOICE, STATUS, _SHARING),
    QueryField("tags_in", "Tag is on", TEXTS, STATUS, placeholder="such as exportable, new"),
    QueryField("tags_not_in", "Tag is off", TEXTS, STATUS, placeholder="such as blocked"),
    QueryField("gtins_in", "GTINs", GTINS, MORE, placeholder="Paste a column of a spreadsheet", note=_pasted),
    QueryField("owners_in", "Owners (suppliers), by number", NUMBERS, MORE, placeholder="numbers, such as 11, 12",
               added="an owner"),
    QueryField("has_packshot", "Packshot (picture of the packed product)", PACKSHOT, MORE, _PACKSHOTS,
               other="has_no_packshot"),
    QueryField("pictures_last_updated_at_from", "Pictures updated from (UTC)", MOMENT, MORE),
    QueryField("pictures_last_updated_at_to", "Pictures updated until (UTC)", MOMENT, MORE),
    QueryField("active_range", "Active range of the retailer", CHOICE, MORE,
               (("", "all products"), (True, "only products in it"))),
    QueryField("product_languages", "Languages", LANGUAGES, ANSWER, (), "all languages", _ONLY_TEXTS,
               added="a language", note=language_names),
    QueryField("source_include", "Return", PATHS, ANSWER, placeholder=_PATHS_SUCH_AS, usual=_RETURNED,
               hint="Keys and dates are always included."),
    QueryField("source_exclude", "Leave out", LEFT_OUT, ANSWER, placeholder=_PATHS_SUCH_AS, usual=_LEFT_OUT),
    QueryField("extra", "Further filters, as JSON", EXTRA, EXPERT, placeholder='{"allow_not_consumer_units": true}',
               hint="Sent to the service unchanged."),
)
# fmt: on


def _made_of(name: str, one: Filter) -> QueryField:
    """Return the field of a filter for which nobody has designed one, by the form of its values."""
    title, form = one.option.replace("-", " ").capitalize(), one.kind.form
    if form is Form.FLAG:
        return QueryField(name, title, CHOICE, MORE, (("", "all products"), (True, one.help)))
    if form is Form.TIME:
        return QueryField(name, f"{title} (UTC)", MOMENT, MORE)
    return QueryField(name, title, TEXT if form is Form.VALUE else TEXTS, MORE, hint=one.help)


_KNOWN = {name for field in _DESIGNED for name in field.names}

#: The fields, in the order in which they are shown. A filter that is new has one at once.
FIELDS: tuple[QueryField, ...] = (
    *_DESIGNED,
    *(_made_of(name, one) for name, one in FILTERS.items() if name not in _KNOWN),
)


@dataclass(frozen=True)
class Offered:
    """What is offered to choose from, beside what is always so.

    Attributes
    ----------
    markets
        Numbers of those that come first.
    kinds
        Names of kinds, as the service labels them.
    """

    markets: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class TypedQuery:
    """What a form asks for.

    Attributes
    ----------
    query
        The query; None while something in the form cannot be understood.
    errors
        What cannot be understood, in words, by the name of the field.
    """

    query: ProductQuery | None
    errors: Mapping[str, str] = dataclasses.field(default_factory=dict)

    @cached_property
    def key(self) -> str:
        """What tells it from others; empty where nothing can be asked."""
        return "" if self.query is None else self.query.digest


def word_names(row: int) -> tuple[str, str]:
    """Return the names of the two fields of a row: for a word, and for where to look for it."""
    return f"word_{row}", f"word_{row}_in"


def form_fields(
    query: ProductQuery, rows: Sequence[int] = (0,), offered: Offered = Offered()
) -> dict[FieldGroup, list[FormField]]:
    """Return the fields of the form, by group, as they begin with a query.

    Parameters
    ----------
    query
        What the form begins with.
    rows
        The numbers of the rows of words.
    offered
        What more is offered to choose from.
    """
    found: dict[FieldGroup, list[FormField]] = {group: [] for group in FieldGroup}
    for field in FIELDS:
        value = field.shown(query)
        here = found[field.group]
        if field.kind is WORDS:
            here.extend(_word_fields(field, value, rows, offered.kinds))
            continue
        options = markets(offered.markets) if field.name == "target_market" else field.options
        if field.kind.control == "choice" and value not in [one for one, _ in options]:
            options = [*options, (value, str(value))]
        shown = FormField(field.name, field.label, field.kind.control, value, options, field.hint)
        here.append(replace(shown, placeholder=field.placeholder))
    return found


def fields_with_choices(
    fields: Iterable[FormField], typed: Values, owners: Options = (), owners_problem: str = ""
) -> Iterator[FormField]:
    """Yield fields with the choices above some of them, and with what is to be said of what was typed.

    Parameters
    ----------
    fields
        Of one group.
    typed
        What stands in each field.
    owners, owners_problem
        Numbers and names of the owners, or why they have no names.
    """
    for one in fields:
        field = _BY_NAME.get(one.name)
        if field is None:
            yield one
            continue
        text, label, hint = typed[one.name], one.label, one.hint
        above = FormField(f"{one.name}_choice", label, "choice")
        if field.added:
            # A name is what people know; few know a number or a code. Owners are named by themselves.
            named = [(value, typed_text(name)) for value, name in owners]
            if names := named if field.kind is NUMBERS else _languages_by_name():
                above = replace(above, label=f"Add {field.added} by name", options=[("", "select …"), *names])
                yield replace(above, do="load.add", args={"field": one.name})
        elif field.usual:
            own = [] if text in [value for value, _ in field.usual] else [(text, "other paths")]
            above = replace(above, value=text, options=[*field.usual, *own])
            yield replace(above, do="form.set", args={"form": FORM, "field": one.name})
            label = f"Paths to {label[0].lower()}{label[1:]}"
        if field.kind is NUMBERS:
            known = {str(value): name for value, name in owners}
            found = dict.fromkeys(known[one] for one in comma_separated(text) if one in known)
            hint = typed_text(", ".join(found)) if found else owners_problem
        elif field.note is not None and (note := field.note(text)):
            hint = f"{note}. {hint}" if hint else note
        yield replace(one, label=label, hint=hint)


def list_with(text: str, value: str) -> str:
    """Return a comma-separated text with one more item, unless it has it.

    >>> list_with("7, ", "11"), list_with("7, 11", "11")
    ('7, 11', '7, 11')
    """
    held = comma_separated(text)
    return text if not value or value in held else ", ".join([*held, value])


def _word_fields(
    field: QueryField, value: Sequence[Any], rows: Sequence[int], kinds: Sequence[str]
) -> Iterable[FormField]:
    for place, row in enumerate(rows):
        word, fields = value[row] if row < len(value) else ("", _FIRST)
        label = f"{field.label} {place + 1}"
        text, where = word_names(row)
        yield FormField(text, label, "text", word, placeholder=field.placeholder, suggestions=kinds)
        yield FormField(where, f"Search for {label.lower()} in", "many", list(fields), field.options)


def asked(typed: Values, rows: Sequence[int] = (0,)) -> TypedQuery:
    """Return the query for what stands in the fields.

    Parameters
    ----------
    typed
        What stands in each field, by its name (`forms.form_values`).
    rows
        The numbers of the rows of words.

    Examples
    --------
    >>> from prodex.notebook.session.session import Session
    >>> from prodex.notebook.views.forms import form_values
    >>> fields = [one for group in form_fields(ProductQuery()).values() for one in group]
    >>> values = {one.name: one.value for one in fields}
    >>> asked({**values, "owners_in": "11, 12"}).query
    ProductQuery(owners_in=(11, 12))
    >>> asked({**values, "owners_in": "Acme"}).errors
    {'owners_in': '“Acme” is no whole number. Give numbers with commas, such as 11, 12.'}
    """
    given: dict[str, Any] = {}
    errors = _words_without_fields(typed, rows)
    for field in FIELDS:
        if field.kind is WORDS:
            # A row that is wrong is told of beside it.
            value = [
                (typed[word], typed[where]) for word, where in map(word_names, rows) if where not in errors
            ]
        else:
            value = typed[field.name]
        try:
            given |= field.given(value)
        except QueryError as error:
            errors[field.name] = _in_words(str(error))
    if both := set(given.get("tags_in") or ()) & set(given.get("tags_not_in") or ()):
        tags = ", ".join(map(_quoted, sorted(both)))
        errors["tags_not_in"] = (
            f"{tags}: also under “Tag is on”, and no product can have a tag and not have it."
        )
    if errors:
        return TypedQuery(None, errors)
    try:
        # Of all values at once, since they are checked against each other.
        return TypedQuery(ProductQuery(**given))
    except QueryError as error:
        return TypedQuery(None, {_cause(error): _in_words(str(error))})


def _cause(error: QueryError) -> str:
    """Return the field that is the cause of an error: a query names it before all else."""
    named = re.match(r"\w*", str(error))
    return next((one.name for one in FIELDS if named and named[0] in one.names), FIELDS[-1].name)


def _words_without_fields(typed: Values, rows: Sequence[int]) -> dict[str, str]:
    return {
        where: f"Select at least one of these for the word {_quoted(typed[word])}, or clear the word."
        for word, where in map(word_names, rows)
        if typed[word].strip() and not typed[where]
    }


_BY_NAME = {field.name: field for field in FIELDS}
_LABELS = {name: field.label for field in FIELDS for name in field.names}


def _in_words(message: str) -> str:
    """Return a message about arguments of Python with the labels of the fields in their place."""
    return re.sub(rf"\b({'|'.join(_LABELS)})\b(=\.\.)?", lambda found: f"“{_LABELS[found[1]]}”", message)


def count_given(query: ProductQuery, group: FieldGroup) -> int:
    """Return how many filters of a query have their field in a group."""
    return sum(bool(getattr(query, name)) for field in FIELDS if field.group is group for name in field.names)


#: Names of kinds that a field completes; a list of thousands is of no help.
_MOST = 300
#: Words that are offered for one that matches nothing.
_SIMILAR = 3
#: Characters of a name that somebody may want to search for.
_LONGEST = 60


def offered_by(catalog: Catalog) -> Offered:
    """Return the markets and kinds of a catalogue, the most frequent first; it is read for that.

    >>> import prodex
    >>> tea = {"kind": {"code": "TEA", "label": "Tea"}}
    >>> offered_by(prodex.flatten([{"id": 7, **tea, "product_key": {"target_market_id": 250}}, {"id": 8}]))
    Offered(markets=(250,), kinds=('Tea',))
    """
    read = catalog.arrow("products", ["target_market", "kind"])
    codes, names = _most_frequent(read["target_market"]), _most_frequent(read["kind"])
    return Offered(
        tuple(int(code) for code in codes if re.fullmatch("[0-9]{1,3}", code)),
        tuple(name for name in names[:_MOST] if 0 < len(name) <= _LONGEST),
    )


def _most_frequent(column: pa.ChunkedArray) -> list[str]:
    counts = pc.value_counts(column.drop_null())
    pairs = zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)
    return [value for value, _ in Counter(dict(pairs)).most_common()]


def similar_words(kinds: Iterable[str], words: Iterable[str]) -> list[tuple[str, str, list[str]]]:
    """Return words that begin as one that matches nothing, each with the kinds that have it.

    Services look for whole words. Those of most kinds are first.

    >>> similar_words(("Oat drink", "Tea", "Soya drink"), ["drinks"])
    [('drinks', 'drink', ['Oat drink', 'Soya drink'])]
    """
    found: dict[tuple[str, str], list[str]] = {}
    for word in words:
        # All but two letters: enough for most plurals.
        begin = word.casefold()[: max(len(word) - 2, 3)]
        for kind in kinds if len(begin) >= 3 else ():
            for one in dict.fromkeys(kind.casefold().split()):
                if one.startswith(begin) and one != word.casefold():
                    found.setdefault((word, one), []).append(kind)
    most = sorted(found.items(), key=lambda pair: -len(pair[1]))
    return [(word, other, named) for (word, other), named in most[:_SIMILAR]]


#: GTINs that a sentence quotes.
_SHOWN = 5


@dataclass(frozen=True)
class Pasted:
    """GTINs that were pasted.

    Attributes
    ----------
    gtins
        Those to filter by, with 14 digits, each once.
    doubtful
        Those of them, as pasted, whose length or check digit is wrong.
    unreadable
        Texts that are not numbers of up to 14 digits, and are left out.
    repeated
        Number of repetitions.
    """

    gtins: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    repeated: int = 0

    def __str__(self) -> str:
        if not self.gtins and not self.unreadable:
            return "No list: products match whatever their GTIN."
        more = {
            f"{self.repeated:,} repeated.": self.repeated,
            f"{len(self.doubtful):,} with a wrong length or check digit: {_first_texts(self.doubtful)}.": self.doubtful,
            f"Left out, not GTINs: {_first_texts(self.unreadable)}.": self.unreadable,
        }
        said = [
            f"{counted(len(self.gtins), 'GTIN')} to filter by.",
            *(one for one, there in more.items() if there),
        ]
        return " ".join(said)


# The whole form is read whenever one of its fields changes, and a list of GTINs can be long.
@lru_cache(maxsize=4)
def read_gtins(text: str) -> Pasted:
    """Read GTINs as they are pasted from a spreadsheet: separated by lines, commas, semicolons, tabs or spaces.

    Where spaces group the digits of one GTIN, as on a pack, it is one.

    >>> print(read_gtins("GTIN\\n3036811359935\\n3036811359936\\n"))
    2 GTINs to filter by. 1 with a wrong length or check digit: 3036811359936. Left out, not GTINs: GTIN.
    """
    cells = re.split("[,;]+", text)
    pieces = [piece for cell in cells for one in listed_in(cell) if (piece := as_text(one))]
    readable: dict[str, str] = {}
    unreadable = []
    for piece in pieces:
        if has_digits(piece):
            readable.setdefault(str(comparable(piece)), piece)
        else:
            unreadable.append(piece)
    # Reported and sent all the same: the service may have a product under a GTIN that is wrong.
    are_valid = GtinAccessor(pd.Series(list(readable.values()), dtype="str")).is_valid
    doubtful = tuple(piece for piece, valid in zip(readable.values(), are_valid, strict=True) if not valid)
    repeated = len(pieces) - len(unreadable) - len(readable)
    return Pasted(tuple(readable), doubtful, tuple(dict.fromkeys(unreadable)), repeated)


def _first_texts(texts: tuple[str, ...]) -> str:
    shown = ", ".join(text if len(text) <= 20 else f"{text[:20]}…" for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} ({_SHOWN} of {len(texts):,})"
