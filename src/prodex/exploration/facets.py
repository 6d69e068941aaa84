"""The facets of a catalogue: declared as data, counted, and which products meet the conditions of each.

A facet is a column of groups, a tree of categories, or the state of an attribute (filled, or why not). `FACETS` lists
those that every catalogue has; others are made for the columns and attributes that somebody asks for.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from prodex.catalog import Catalog
from prodex.errors import QueryError
from prodex.exploration.facet_values import Counts, Facet, FacetValues, MaskEach, OneValueEach, values_of
from prodex.exploration.filled import USUAL, CellState, FilledColumns, FilledReader
from prodex.exploration.product_columns import DISTINCT, ProductColumns
from prodex.exploration.ranges import measure_of
from prodex.exploration.table_page import title
from prodex.facts.attribute_states import fill_states
from prodex.facts.gpc import gpc_above, is_brick, segment_label
from prodex.facts.groups import Groups
from prodex.facts.name import CODE_OF, distinct_labels
from prodex.facts.owner import OWNER_COLUMNS
from prodex.languages.labels import attribute_label
from prodex.ledger.upserts import has_sent
from prodex.locales import language_label
from prodex.quality.states import State
from prodex.selection import Code, Selection, paths
from prodex.selection.paths import COLUMN, COMPLETE, FAMILY, FILL, GROUP_PATHS, LACKING, attribute_of_code
from prodex.selection.units import ALL_UNITS, CONSUMER, UNIT_GROUPS, CountedUnits, UnitCount, names_units
from prodex.send.sent_states import SentState, sent_values
from prodex.tables.columns import Mask, combinations, encoded, is_true
from prodex.tables.declaration import TABLES
from prodex.tables.fill_state import STATES
from prodex.untrusted_text import cut

#: What bricks are listed below: their codes do not tell of which segment they are.
_BRICKS = "//bricks"
_BRICKS_LABEL = "GPC bricks"


@dataclass(eq=False)
class _Node:
    """A category: its code in the facet, its own code and label, and how many products have it or one below it."""

    code: Code = None
    own_code: str | None = None
    label: str | None = None
    size: int = 0
    below: dict[Code, _Node] = field(default_factory=dict)

    def child(self, code: Code, own_code: str | None, label: str | None) -> _Node:
        return self.below.setdefault(code, _Node(code, own_code, label))


def category_values(facet: Facet, products: ProductColumns) -> FacetValues:
    """Return the categories of products.

    The code of a category is a GPC code, or a GPC code and a kind with a slash between them. Families and classes are
    there where products have their codes: the data name no others. Products without a GPC code are in the category
    whose code is None; where no product has one, the kinds are at the top.

    Examples
    --------
    >>> import prodex
    >>> milk = {"GPC": {"code": "50131700", "label": "Milk"}, "kind": {"code": "M", "label": "Fresh milk"}}
    >>> products = ProductColumns(prodex.flatten([{"id": 1, **milk}, {"id": 2, "GPC": milk["GPC"]}, {"id": 3}]))
    >>> values = category_values(Facet("category", "Category", "without"), products)
    >>> list(zip(values.depths, values.codes, values.totals.tolist()))
    [(0, '50000000', 2), (1, '50131700', 2), (2, '50131700/M', 1), (0, None, 1)]
    >>> values.labels
    ('Food and beverages', 'Milk', 'Fresh milk', 'without')
    """
    gpc, kind = products.groups("gpc_code"), products.groups("kind")
    place, pairs = combinations(_of_each(gpc, len(products)), _of_each(kind, len(products)))
    sizes = np.bincount(place, minlength=len(pairs[0])).tolist()
    tree = _Tree(gpc, kind)
    numbers_of = zip(*(one.to_pylist() for one in pairs), sizes, strict=True)
    leaves = [tree.add(*found) for found in numbers_of]
    nodes, above, labels = tree.listed(facet.without)
    number = {id(node): place for place, node in enumerate(nodes)}
    numbers = np.array([number[id(leaf)] for leaf in leaves], np.int64)
    return FacetValues(
        facet,
        tuple(node.code for node in nodes),
        tuple(labels),
        True,
        OneValueEach.of(numbers[place], len(nodes)),
        tuple(above),
    )


def _of_each(groups: Groups, size: int) -> pa.Array:
    """Return the number of the group of each product, which has one."""
    numbers = np.zeros(size, np.int64)
    numbers[groups.rows] = groups.groups
    return pa.array(numbers)


class _Tree:
    """Categories as they are found."""

    def __init__(self, gpc: Groups, kind: Groups) -> None:
        self._gpc, self._kind = gpc, kind
        self._labels = dict(zip(gpc.codes, gpc.labels, strict=True))
        self._top = _Node()

    def add(self, gpc: int, kind: int, size: int) -> _Node:
        """Count some products in their category and in those above it; return the category."""
        code, kind_code = self._gpc.codes[gpc], self._kind.codes[kind]
        path = list(self._path(code)) if len(self._labels) > 1 or code is not None else []
        if kind_code is not None:
            own = f"{_escaped_code(code or '')}/{_escaped_code(kind_code)}"
            path.append((own, kind_code, self._kind.labels[kind]))
        node = self._top
        for one in path or [(None, None, None)]:
            node = node.child(*one)
            node.size += size
        return node

    def _path(self, code: Code) -> Iterator[tuple[Code, str | None, str | None]]:
        """Yield the categories above a GPC code, from the top, and its own."""
        if code is None:
            yield None, None, None
            return
        if is_brick(code):
            yield _BRICKS, None, _BRICKS_LABEL
        for one in (*reversed(gpc_above(code)), code):
            label = segment_label(one)
            if label is not None or one in self._labels:
                yield _escaped_code(one), one, label or self._labels[one]

    def listed(self, without: str) -> tuple[list[_Node], list[int], list[str]]:
        """Return the categories, each before those below it, the number of the one above each, and their labels."""
        nodes: list[_Node] = []
        above: list[int] = []
        labels: list[str] = []
        waiting = self._below(self._top, -1, without)
        while waiting:
            node, parent, label = waiting.pop()
            nodes.append(node)
            above.append(parent)
            labels.append(label)
            waiting += self._below(node, len(nodes) - 1, without)
        return nodes, above, labels

    def _below(self, node: _Node, number: int, without: str) -> list[tuple[_Node, int, str]]:
        """Return what is directly below a category, the largest last, with labels that differ."""
        below = list(node.below.values())
        codes = [one.own_code or one.code for one in below]
        labels = distinct_labels(codes, [one.label for one in below], without)
        listed = [(one, number, label) for one, label in zip(below, labels, strict=True)]
        return sorted(listed, key=lambda one: (-one[0].size, one[0].code is None, one[2]), reverse=True)


def _escaped_code(code: str) -> str:
    return code.replace("\\", "\\\\").replace("/", "\\/")


#: Returns the values of a facet.
_Read = Callable[[Facet, ProductColumns], FacetValues]


@dataclass(frozen=True, kw_only=True)
class CatalogFacet(Facet):
    """A facet whose values are read from a catalogue.

    Attributes
    ----------
    read
        Returns its values.
    columns
        Columns of `products` that are read for it: those of several facets are read together.
    needs_audit
        Whether it exists only with an audit.
    is_shared
        Whether other wire paths give values, too: the market of the query, the languages of any text.
    column
        The column of the table whose head shows its values; empty where there is none.
    """

    read: _Read
    columns: tuple[str, ...] = ()
    needs_audit: bool = False
    is_shared: bool = False
    column: str = ""

    def values(self, products: ProductColumns) -> FacetValues:
        """Return its values."""
        found = self.read(self, products)
        path = GROUP_PATHS.get(self.name)
        is_asked = path is None or products.catalog.origin.asked(path)
        was_received = self.is_shared and any(code is not None for code in found.codes)
        return replace(found, is_asked=is_asked or was_received)


def by_group(name: str) -> _Read:
    """Group as audits do, so that a click in an audit and a click in a facet list the same products."""
    return _values_by_group(lambda products: products.groups(name))


def _values_by_group(group: Callable[[ProductColumns], Groups]) -> _Read:
    return lambda facet, products: values_of(facet, group(products), len(products))


def _packshots(products: ProductColumns) -> Groups:
    if not products.catalog.origin.asked(GROUP_PATHS["packshot"]):
        return Groups.of("packshot", len(products), _NOBODY, [], [])
    pictures = products.own("pictures", "is_packshot")
    has = np.zeros(len(products), np.int64)
    has[pictures["product"].to_numpy()[is_true(pictures["is_packshot"])]] = 1
    return Groups("packshot", np.arange(len(products)), has, ["no", "yes"], [None, None])


def _grades(products: ProductColumns) -> Groups:
    codes, grade = encoded(products.column("grade"))
    rows, names = np.flatnonzero(grade >= 0), codes.to_pylist()
    return Groups.of("grade", len(products), (rows, grade[rows]), names, names)


_COMPLETE_WORDS = {State.PASS: "complete", State.FAIL: "incomplete", State.UNKNOWN: "unknown"}


def channel_facets(products: ProductColumns) -> tuple[CatalogFacet, ...]:
    """Return the facets that the requirements of an audit make; none without any."""
    seen = products.by_channel()
    if seen is None:
        return ()
    found = [
        CatalogFacet(FAMILY, "Family of the requirements", "without family", read=_values_by_group(_families))
    ]
    for channel in seen.wanted.channels:
        name = channel.label
        found += [
            CatalogFacet(
                f"{COMPLETE}{name}",
                f"Complete for {name}",
                "nothing required",
                is_ordered=True,
                read=_values_by_group(partial(_completeness, channel=name)),
            ),
            CatalogFacet(
                f"{LACKING}{name}",
                f"Missing for {name}",
                "nothing known to be missing",
                read=_values_by_group(partial(_lacking, channel=name)),
            ),
        ]
    return tuple(found)


def _families(products: ProductColumns) -> Groups:
    seen = products.by_channel()
    assert seen is not None  # noqa: S101 - the facet exists only with requirements
    family = np.full(len(seen.audit), -1, np.int64)
    there = np.array([code is not None for code in seen.families.codes], bool)[seen.families.groups]
    family[seen.families.rows[there]] = seen.families.groups[there]
    own = products.in_order(family, -1)
    rows = np.flatnonzero(own >= 0)
    return Groups.of(FAMILY, len(products), (rows, own[rows]), seen.families.codes, seen.families.labels)


def _completeness(products: ProductColumns, channel: str) -> Groups:
    seen = products.by_channel()
    assert seen is not None  # noqa: S101 - the facet exists only with requirements
    states = products.in_order(seen.states(channel), State.NOT_APPLICABLE)
    codes = list(_COMPLETE_WORDS.values())
    place = np.full(len(State), -1, np.int64)
    for number, state in enumerate(_COMPLETE_WORDS):
        place[state] = number
    own = place[states]
    rows = np.flatnonzero(own >= 0)
    return Groups.of(f"{COMPLETE}{channel}", len(products), (rows, own[rows]), codes, codes)


def _lacking(products: ProductColumns, channel: str) -> Groups:
    seen = products.by_channel()
    assert seen is not None  # noqa: S101 - the facet exists only with requirements
    columns = seen.columns(channel)
    judged = products.in_order(np.arange(len(seen.audit)), -1)
    of_audit = np.full(len(seen.audit) + 1, -1, np.int64)
    of_audit[judged] = np.arange(len(products))
    rows, groups = [_NOBODY[0]], [_NOBODY[0]]
    end = 0
    for states, _ in seen.parts():
        product, column = np.nonzero(states[:, [one.place for one in columns]] == State.FAIL)
        there = of_audit[product + end]
        rows.append(there[there >= 0])
        groups.append(column[there >= 0])
        end += len(states)
    pairs = (np.concatenate(rows), np.concatenate(groups))
    codes = [one.check.id for one in columns]
    return Groups.of(f"{LACKING}{channel}", len(products), pairs, codes, [one.words for one in columns])


#: The name of the facet of what was sent from here.
SENT = "sent"
_SENT_WORDS = {
    SentState.OVERRIDDEN: "overridden since we sent it",
    SentState.AS_SENT: "as we sent it",
    SentState.NOT_VISIBLE: "sent, not visible yet",
    SentState.UNKNOWN: "sent, not known whether it arrived",
}


def _sent(products: ProductColumns) -> Groups:
    """Group products by what became of the values that were sent of them: several may have become different things."""
    place = {product: number for number, product in enumerate(products.ids.to_pylist())}
    codes = list(_SENT_WORDS)
    pairs = sorted({(place[one.product_id], codes.index(one.state)) for one in sent_values(products.catalog)})
    rows, groups = np.array(pairs, np.int64).reshape(-1, 2).T
    words = list(map(str, codes))
    return Groups.of(SENT, len(products), (rows, groups), words, list(_SENT_WORDS.values()))


#: Every catalogue has it, and it is listed where something was sent.
_SENT_FACET = CatalogFacet(SENT, "Sent from here", "nothing sent from here", read=_values_by_group(_sent))


def _has_sent(products: ProductColumns) -> bool:
    return has_sent({products.catalog.origin.source})


#: Labels of codes that have none of their own.
_SHARING = {"2": "draft", "3": "pending", "4": "accepted"}
_HAS_PACKSHOT = {"yes": "has a packshot", "no": "has none"}
_UNIT = {"true": "consumer unit", "false": "other unit"}
_PENDING = {"true": "update pending", "false": "no pending update"}
_NOBODY = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def _of_column(
    name: str, title: str, without: str, column: str = "", *, by: str = "", **more: Any
) -> CatalogFacet:
    """Return the facet of a column of the products, which has its name unless it is given."""
    column = column or name
    columns = (CODE_OF[column], column) if column in CODE_OF else (column,)
    given = {"columns": columns, "read": by_group(by or column), "column": column, **more}
    return CatalogFacet(name, title, without, **given)


#: In the order in which they are shown. A facet that audits group by has the name that it has there.
FACETS = (
    CatalogFacet(
        "grade",
        "Grade",
        "without grade",
        is_ordered=True,
        read=_values_by_group(_grades),
        needs_audit=True,
        column="grade",
    ),
    CatalogFacet(
        "category",
        "Category",
        "without category",
        read=category_values,
        columns=("gpc_code", "gpc", "kind_code", "kind"),
        is_shared=True,
    ),
    _of_column("kind", "Kind", "without kind"),
    _of_column("brand", "Brand", "without brand"),
    _of_column("owner", "Owner", "without owner", columns=OWNER_COLUMNS),
    _of_column("market", "Market", "without market", "target_market", by="market", is_shared=True),
    CatalogFacet(
        "language", "Language of texts", "none or not specified", read=by_group("language"), is_shared=True
    ),
    CatalogFacet("tag", "Tag", "without tags", read=by_group("tag")),
    _of_column("status", "Status", "without status", "product_status"),
    _of_column("sharing", "Sharing status", "without sharing status", "sharing_status", labels=_SHARING),
    CatalogFacet("packshot", "Packshot", "not specified", _HAS_PACKSHOT, read=_values_by_group(_packshots)),
    _of_column("unit", "Consumer unit", "not specified", "is_consumer_unit", labels=_UNIT),
    _of_column("packaging", "Packaging", "without packaging"),
    _of_column("pending", "Update pending", "not specified", "has_pending_update", labels=_PENDING),
)

_OF_PRODUCTS = TABLES["products"].schema
_LISTED = {facet.column: facet.name for facet in FACETS if facet.column}
_FLAGS = {"true": "yes", "false": "no"}


def facet_name(column: str) -> str | None:
    """Return the name of the facet with the values of a column of the table.

    None for numbers and dates, which have ranges, and for what hardly any product shares with another, such as names.

    >>> facet_name("brand"), facet_name("unit_type"), facet_name("texts_count"), facet_name("gtin")
    ('brand', 'column:unit_type', None, None)
    """
    if column in _LISTED:
        return _LISTED[column]
    has_facet = column in _OF_PRODUCTS.names and column not in DISTINCT and not measure_of(column)
    return f"{COLUMN}{column}" if has_facet else None


def column_facet(name: str) -> CatalogFacet | None:
    """Return the facet of a column that is not listed, by the name that `facet_name` gave it; None for other names.

    >>> column_facet("column:unit_type").title, column_facet("column:colour"), column_facet("brand")
    ('unit_type', None, None)
    """
    column = name.removeprefix(COLUMN)
    if column == name or facet_name(column) != name:
        return None
    is_flag = pa.types.is_boolean(_OF_PRODUCTS.field(column).type)
    return CatalogFacet(
        name, title(column), f"without {title(column)}", _FLAGS if is_flag else {}, read=by_group(column)
    )


#: What the usual attributes are that consumer units lack, or where a condition names kinds of units all of these: the
#: code of a value is a wire path, and behind a colon a language.
MISSING = Facet(paths.MISSING, "Missing")
_LACKED = {
    MISSING.name: MISSING,
    paths.MISSING_OF_CONSUMERS: Facet(paths.MISSING_OF_CONSUMERS, "Missing, of consumer units"),
    paths.MISSING_OF_ALL: Facet(paths.MISSING_OF_ALL, "Missing, of all units"),
}
_UNITS = {paths.MISSING_OF_CONSUMERS: CONSUMER, paths.MISSING_OF_ALL: ALL_UNITS}
#: Characters that a sentence shows of the name of a facet that is none here.
_LONGEST = 60
#: States of attributes that are kept; each takes two megabytes of a million products.
_KEPT = 16
#: Attributes of so many products are read in the time of a click: in about a second on a slow machine.
_AT_ONCE = 5_000


class AttributeFacets:
    """The facets of the attributes of a catalogue; each is read when it is first asked for.

    Parameters
    ----------
    products
        The products.
    filled
        What has been read of the catalogue, if something has.

    Attributes
    ----------
    filled
        Which products have which attributes, as far as it has been read.

    Examples
    --------
    >>> import prodex
    >>> name = [{"expressedIn": {"code": "fra-FR"}, "data": "Riz"}]
    >>> catalog = prodex.flatten([{"id": 7, "nameLegal": name}, {"id": 8, "nameLegal": None}])
    >>> facets = AttributeFacets(ProductColumns(catalog))
    >>> facets["fill:nameLegal:fr"].codes
    ('filled', 'null')
    """

    def __init__(self, products: ProductColumns, filled: FilledReader | None = None) -> None:
        self._products, self._catalog = products, products.catalog
        self._states: dict[str, FacetValues] = {}
        self.filled: FilledReader = FilledReader(self._catalog) if filled is None else filled
        self._reading = threading.RLock()
        # Language in which texts are lacked, and codes of other languages that are selected or excluded.
        self._asked: tuple[str | None, tuple[str, ...]] = (None, ())
        self._names_units = False
        self._missing: dict[str, FacetValues] = {}

    def look_at(self, conditions: Selection) -> None:
        """Show what products lack in the one language that is selected, or in any, and in which units."""
        spoken = conditions.groups.get("language", ())
        language = spoken[0] if len(spoken) == 1 else None
        both = (conditions.groups, conditions.excluded)
        codes = dict.fromkeys(code for name in _LACKED for one in both for code in one.get(name, ()))
        asked = (language, tuple(code for code in codes if code is not None))
        is_named = names_units(conditions)
        if (asked, is_named) != (self._asked, self._names_units):
            self._asked, self._names_units, self._missing = asked, is_named, {}

    def title(self, name: str) -> str:
        """Return the heading of a facet; that of what products lack says in which language, if it is about one."""
        if name not in _LACKED:
            return _fill_title(*attribute_of_code(name.removeprefix(FILL)))
        language, heading = self._asked[0], _LACKED[name].title
        return heading if language is None else f"{heading} in {language_label(language)}"

    def is_read(self, name: str) -> bool:
        """Return whether a facet is there at once: few products are read faster than anybody notices."""
        is_there = (
            self.filled.columns.attributes.issuperset(USUAL) if name in _LACKED else name in self._states
        )
        return is_there or len(self._catalog) <= _AT_ONCE

    def read(self, name: str) -> None:
        """Read what a facet needs, unless another thread reads it already; may be called in a thread of its own."""
        with self._reading:
            if name in _LACKED:
                self.filled.read(USUAL)
            elif name not in self._states:
                self._keep(name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and (name in _LACKED or name.startswith(FILL))

    def __getitem__(self, name: str) -> FacetValues:
        if name in _LACKED:
            if name not in self._missing:
                self._missing[name] = self._lacked(name)
            return self._missing[name]
        return self._states[name] if name in self._states else self._keep(name)

    def _keep(self, name: str) -> FacetValues:
        found = _fill_values(self._catalog, name)
        others = {one: values for one, values in self._states.items() if one != name}
        # Replaced at once, since another thread may look up a facet meanwhile.
        self._states = dict([*others.items(), (name, found)][-_KEPT:])
        return found

    def units(self, name: str) -> CountedUnits:
        """Return which products count in a facet of what products lack."""
        usual = self._products.units
        return usual.counting(_UNITS.get(name, ALL_UNITS if self._names_units else usual.units))

    def lacking(self, name: str, codes: Collection[Code]) -> Mask:
        """Return which products are known to lack one of some attributes, given by their codes in such a facet.

        By itself, without a condition that names kinds of units, the facet is about consumer units.
        """
        pairs = [attribute_of_code(code) for code in codes if code is not None]
        filled = self.filled.read([attribute for attribute, _ in pairs])
        found = np.zeros(len(self._catalog), bool)
        for pair in pairs:
            found |= filled.lacking(*pair)
        usual = self._products.units
        return found & usual.counting(_UNITS.get(name, usual.units)).mask

    def _lacked(self, name: str) -> FacetValues:
        """Return which products lack which attributes; of what was not asked for nobody knows whether it is there.

        Neither does anybody know it of what cannot be read.
        """
        language, others = self._asked
        filled = self.filled.read([*USUAL, *(attribute_of_code(code)[0] for code in others)])
        codes = dict.fromkeys([*_usual_attributes(filled, language), *others])
        counted = self.units(name).mask
        masks = [filled.lacking(*attribute_of_code(code)) & counted for code in codes]
        there = [place for place, mask in enumerate(masks) if mask.any()]
        listed = sorted(there, key=lambda place: -int(np.count_nonzero(masks[place])))
        shown = [list(codes)[place] for place in listed]
        labels = tuple(attribute_words(*attribute_of_code(code)) for code in shown)
        lacking = MaskEach(len(self._catalog), [masks[place] for place in listed])
        return FacetValues(_LACKED[name], tuple(shown), labels, True, lacking)


def _usual_attributes(filled: FilledColumns, language: str | None) -> Iterator[str]:
    for attribute in USUAL:
        own = language if filled.is_text(attribute) else None
        if filled.state((attribute, own)) is not CellState.NOT_ASKED:
            yield attribute_code(attribute, own)


def _fill_values(catalog: Catalog, name: str) -> FacetValues:
    attribute, language = attribute_of_code(name.removeprefix(FILL))
    numbers = fill_states(catalog, attribute, language)
    facet = Facet(name, _fill_title(attribute, language), is_ordered=True)
    found = np.flatnonzero(np.bincount(numbers, minlength=len(STATES)))
    place = np.zeros(len(STATES), np.int64)
    place[found] = np.arange(len(found))
    states = tuple(str(STATES[number]) for number in found)
    return FacetValues(facet, states, states, True, OneValueEach.of(place[numbers], len(found)))


def _fill_title(attribute: str, language: str | None) -> str:
    words = attribute_words(attribute, language)
    return f"{words[:1].upper()}{words[1:]}"


def attribute_code(attribute: str, language: str | None) -> str:
    """Return the code of an attribute in a language, or in any; the name of an attribute may have a colon itself.

    >>> attribute_code("namePublicLong", "fr"), attribute_code("brand", None), attribute_code("x:y", None)
    ('namePublicLong:fr', 'brand', 'x:y:')
    """
    return attribute if language is None and ":" not in attribute else f"{attribute}:{language or ''}"


def fill_facet(attribute: str, language: str | None) -> str:
    """Return the name of the facet of the states of an attribute in a language, or in any.

    >>> fill_facet("namePublicLong", "fr")
    'fill:namePublicLong:fr'
    """
    return FILL + attribute_code(attribute, language)


def attribute_words(attribute: str, language: str | None) -> str:
    """Return an attribute, in a language or in any, as people call it.

    >>> attribute_words("namePublicLong", "fr"), attribute_words("brand", None)
    ('long name in French', 'brand')
    """
    label = attribute_label(attribute)
    return label if language is None else f"{label} in {language_label(language)}"


class Facets(Mapping[str, FacetValues]):
    """The facets of a catalogue by name; each is read when it is first asked for.

    Beside those that are listed there is one for the state of every attribute, such as "fill:namePublicLong:fr", and
    one for every other column of texts or flags, such as "column:unit_type".

    Parameters
    ----------
    products
        The products.
    filled
        What has been read of the attributes of the catalogue, if something has.

    Examples
    --------
    >>> import prodex
    >>> facets = Facets(ProductColumns(prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8}])))
    >>> facets["brand"].labels
    ('ACME', 'without brand')
    """

    def __init__(self, products: ProductColumns, filled: FilledReader | None = None) -> None:
        self._products = products
        self._of_attributes = AttributeFacets(products, filled)
        self._of_catalog = {
            facet.name: facet
            for facet in (*channel_facets(products), *FACETS, _SENT_FACET)
            if products.audit is not None or not facet.needs_audit
        }
        self.declared: dict[str, Facet] = {**self._of_catalog, MISSING.name: MISSING}
        # A saved view may have it where nothing was sent from; it is listed where something was.
        if not _has_sent(products):
            del self.declared[SENT]
        self._read: dict[str, FacetValues] = {}

    def called(self, name: str, code: Code) -> tuple[str, str]:
        """Return the heading of a facet and the label of a value of it, as sentences have them."""
        # A facet of an audit has no values where there is no audit, and its condition can be removed nevertheless.
        if name not in self:
            return cut(name, _LONGEST), "none" if code is None else code
        return self[name].facet.title.lower(), self[name].label(code)

    def having(self, name: str, codes: Collection[Code]) -> Mask:
        """Return which products have one of some values of a facet, or one below them.

        Raises
        ------
        QueryError
            When there is no such facet.
        """
        if name not in self:
            raise _no_facet(name, self)
        return self._of_attributes.lacking(name, codes) if name in _LACKED else self[name].having(codes)

    def counted_units(self, left: FilterResult) -> UnitCount:
        """Return of how many products the facet of what is missing counts those that lack something."""
        return self._of_attributes.units(MISSING.name).count(left.without(MISSING.name))

    def look_at(self, conditions: Selection) -> None:
        """Show what depends on conditions as they are: what products lack, in the language that is selected."""
        self._of_attributes.look_at(conditions)

    def title(self, name: str) -> str:
        """Return the heading of a facet, which need not have been read for it."""
        found = self._of_catalog.get(name)
        return self._of_attributes.title(name) if found is None else found.title

    @property
    def filled(self) -> FilledReader:
        """Which products have which attributes, as far as it has been read."""
        return self._of_attributes.filled

    def lackable(self, language: str | None) -> list[str]:
        """Return the codes of the usual attributes, texts in a language, of which it is known who lacks them."""
        return list(dict.fromkeys(_usual_attributes(self.filled.read(USUAL), language)))

    def counts_at_once(self, name: str) -> bool:
        """Return whether a facet can be counted at once; `read_attributes` prepares those that take long."""
        return name not in self._of_attributes or self._of_attributes.is_read(name)

    def read_attributes(self, names: Iterable[str]) -> None:
        """Read the facets of attributes among these; may be called in a thread of its own."""
        for name in names:
            if name in self._of_attributes:
                self._of_attributes.read(name)

    def read(self, names: Iterable[str]) -> None:
        """Read several facets: columns that they need are read together, since a file is opened once for all."""
        new = [
            facet for name in names if name not in self._read and (facet := self._stored(name)) is not None
        ]
        self._products.read(*(column for facet in new for column in facet.columns))
        for facet in new:
            self._read[facet.name] = facet.values(self._products)

    def is_read(self, name: str) -> bool:
        """Return whether a facet that is read from columns is in memory."""
        return name in self._read

    def __getitem__(self, name: str) -> FacetValues:
        if name in self._of_attributes:
            return self._of_attributes[name]
        if self._stored(name) is None:
            raise KeyError(name)
        self.read([name])
        return self._read[name]

    def __contains__(self, name: object) -> bool:
        return name in self._of_attributes or (isinstance(name, str) and self._stored(name) is not None)

    def _stored(self, name: str) -> CatalogFacet | None:
        return self._of_catalog.get(name) or column_facet(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.declared)

    def __len__(self) -> int:
        return len(self.declared)


def _no_facet(name: str, facets: Iterable[str]) -> QueryError:
    return QueryError(f"There is no facet {name!r:.80}; give one of {', '.join(facets)}.")


@dataclass(frozen=True, eq=False)
class FilterResult:
    """The products that meet some conditions, and the counts of the facets.

    Attributes
    ----------
    mask
        Which products meet all conditions.
    counts
        For each facet that is counted, how many products of each value meet all conditions except those of this
        facet: the number that a further value would add.
    """

    mask: Mask
    counts: Mapping[str, Counts]
    _misses: npt.NDArray[np.int16]
    _missed: Mapping[str, Mask]
    _of_all_units: Mask | None = None

    def __len__(self) -> int:
        return int(np.count_nonzero(self.mask))

    def without(self, name: str) -> Mask:
        """Return which products meet all conditions except those of a facet, or the range of a column."""
        if name in UNIT_GROUPS and self._of_all_units is not None:
            return self._of_all_units
        return self._misses == self._missed[name] if name in self._missed else self.mask


def apply_filters(
    facets: Mapping[str, FacetValues],
    conditions: Selection,
    size: int,
    others: Sequence[Mask] = (),
    counted: Collection[str] | None = None,
    ranges: Mapping[str, Mask] | None = None,
) -> FilterResult:
    """Return the products that meet conditions: one of the selected values of each facet, none of the excluded ones.

    Parameters
    ----------
    facets
        The facets of the catalogue.
    conditions
        What is selected and excluded in each facet; words and checks are given as `others`.
    size
        Number of products.
    others
        Products that meet conditions of another kind, such as words.
    counted
        Facets to count; all by default.
    ranges
        Products that are in the range of a column, by column.

    Raises
    ------
    QueryError
        When there is no such facet.
    """
    narrowed = dict.fromkeys((*conditions.groups, *conditions.excluded))
    if unknown := [name for name in narrowed if name not in facets]:
        raise _no_facet(unknown[0], facets)
    # For each product the number of conditions that it does not meet. A product counts for a facet when it misses no
    # condition, or only that of the facet itself: so one pass over the products serves all facets.
    misses = np.zeros(size, np.int16)
    for mask in others:
        misses += ~mask
    missed = {name: ~facets[name].meeting(conditions) for name in narrowed}
    missed |= {column: ~mask for column, mask in (ranges or {}).items()}
    for mask in missed.values():
        misses += mask
    of_all = None
    if MISSING.name in conditions.groups and not names_units(conditions):
        # A kind of units that is chosen next is named then, so that what is missing is looked for in it.
        of_all_units = facets[paths.MISSING_OF_ALL]
        lacking = of_all_units.having(conditions.groups[MISSING.name])
        lacking &= ~of_all_units.having(conditions.excluded.get(MISSING.name, ()))
        of_all = misses - missed[MISSING.name] + ~lacking == 0
    result = FilterResult(misses == 0, {}, misses, missed, of_all)
    counts = {
        name: facets[name].count(result.without(name)) for name in (facets if counted is None else counted)
    }
    return replace(result, counts=counts)
