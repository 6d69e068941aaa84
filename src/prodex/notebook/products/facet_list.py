"""The facets of an explorer as a list: which are shown, in which order, which are open, and what a press means."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from traitlets import HasTraits, Instance

from prodex.exploration.facet_values import Counts, FacetValues
from prodex.exploration.facets import MISSING, SENT, FilterResult
from prodex.exploration.filtering import ProductFilter
from prodex.exploration.range_facets import FacetOffers, RangeFacets, column_of, range_facet
from prodex.exploration.ranges import measure_of
from prodex.exploration.search import contains
from prodex.exploration.table_page import title
from prodex.locales import language_label
from prodex.notebook.jobs import Runner
from prodex.notebook.shared.live import LiveWidget
from prodex.notebook.shared.panel import Panel
from prodex.selection import Code, Range, Selection
from prodex.selection.paths import is_of_requirements
from prodex.selection.units import ALL_UNITS
from prodex.tables.fill_state import FillState
from prodex.untrusted_text import cut

#: The facets in the order in which most questions begin; any others follow.
_ORDER = (
    *("market", "language", "missing", SENT, "owner", "brand", "category", "kind", "grade"),
    *(range_facet("updated_at"), range_facet("score"), range_facet("pictures_count")),
)
#: Facets that are shown without being asked for, of dates and numbers.
_RANGES = tuple(name for name in _ORDER if column_of(name))
#: What a product needs, only an audit knows.
_NOTES = {
    "packshot": "Counted among all products: cases and pallets need none. An audit counts only those that need one.",
}
#: Characters of a name of a facet that are shown.
_TITLE = 80


class FacetList(HasTraits):
    """The facets of a catalogue; `widget` shows them.

    Parameters
    ----------
    panel
        The panel around them, which shows errors.
    opened
        Called when a facet was opened, whose counts may be missing.
    open_first
        Names of the facets that are open at first.

    Attributes
    ----------
    conditions
        The conditions, which a press changes.
    widget
        The live widget.
    """

    conditions: Instance[Selection] = Instance(Selection, ())

    def __init__(self, panel: Panel, opened: Callable[[], object], *, open_first: tuple[str, ...]) -> None:
        super().__init__()
        self._foldings: dict[str, Folding] = {name: Folding(is_open=True) for name in open_first}
        self._filter: ProductFilter | None = None
        self._left: FilterResult | None = None
        self._opened = opened
        #: Facets that somebody has added, the last one first.
        self._added: tuple[str, ...] = ()
        self._typed, self._language, self._additions = "", "", 0
        self._offers: FacetOffers | None = None
        self._reading: Runner[FacetOffers] = Runner(self._take_offers, panel.show_error)
        self.widget: LiveWidget = LiveWidget(panel, "facets", self._answers())
        self.widget.add_class("facets")

    def _answers(self) -> dict[str, Callable[..., object]]:
        return {
            "toggle": self._toggle,
            "exclude": self._exclude,
            "fold": self._fold,
            "unfold": self._unfold,
            "more": lambda facet: self._change(facet, most=self._folding(facet).most + MORE),
            "fewer": lambda facet: self._change(facet, most=FEW),
            "zeros": lambda facet: self._change(facet, with_zeros=not self._folding(facet).with_zeros),
            "find": lambda facet, text: self._change(facet, find=str(text), most=FEW),
            "limit": self._limit,
            "range": self._range,
            "offer": self._offer,
            "speak": self._speak,
            "add": self._add,
            "named": self._add_named,
            "remove": self._remove,
        }

    @property
    def open(self) -> list[str]:
        """Names of the facets whose values are shown."""
        return [name for name, folding in self._foldings.items() if folding.is_open]

    def hold(self, products: ProductFilter) -> None:
        """Show the facets of another catalogue; those that are open or were added stay so."""
        self._filter, self._left = products, None
        self._ranges = RangeFacets(products.products)
        self._offers, self._typed = None, ""
        self._languages = [(language_label(code), code) for code in products.products.languages()]
        for name, folding in self._foldings.items():
            self._foldings[name] = Folding(is_open=folding.is_open)

    def show(self, conditions: Selection, left: FilterResult) -> None:
        """Show these conditions, and the number of products that each value of an open facet has or would add."""
        self._left = left
        self.conditions = conditions
        self.draw()

    def draw(self) -> None:
        """Show the facets as they are now."""
        self.widget.view = {
            "facets": [self._facet(name) for name in self._names()],
            "add": self._adding(),
        }

    def wait(self, seconds: float = 60.0) -> None:
        """Wait until no names are read; for scripts and tests."""
        self._reading.wait(seconds)

    def _names(self) -> Iterator[str]:
        """Yield the names of the facets in the order in which they are shown."""
        assert self._filter is not None  # noqa: S101 - an explorer sets it before anything is drawn
        audit = self._filter.products.audit
        usual = [*self._filter.facets, *(one for one in _RANGES if audit is not None or "score" not in one)]
        place = {name: number for number, name in enumerate(_ORDER)}
        # What a channel requires of a product stands beside what it lacks.
        beside = place[MISSING.name] + 0.5
        usual.sort(key=lambda name: beside if is_of_requirements(name) else place.get(name, len(place)))
        yield from self._extra(usual)
        yield from usual

    def _extra(self, usual: list[str]) -> list[str]:
        """Return the facets that were added, and those that another panel selects values of."""
        conditions = self.conditions
        selected = [*conditions.groups, *conditions.excluded, *map(range_facet, conditions.ranges)]
        there = [name for name in selected if column_of(name) or name in self._facets]
        return [one for one in dict.fromkeys((*self._added, *there)) if one not in usual]

    @property
    def _facets(self) -> Any:
        assert self._filter is not None  # noqa: S101 - an explorer sets it before anything is drawn
        return self._filter.facets

    def _facet(self, name: str) -> dict[str, Any]:
        folding = self._folding(name)
        is_usual = name in self._facets.declared or name in _RANGES
        facet = {
            "name": name,
            "title": self._title(name),
            "open": folding.is_open,
            "active": self._active(name),
            "values": [],
            "removable": not is_usual,
        }
        return facet | self._opened_facet(name, folding) if folding.is_open else facet

    def _title(self, name: str) -> str:
        if column := column_of(name):
            return title(column)
        return cut(self._facets.title(name), _TITLE)

    def _active(self, name: str) -> str:
        if column := column_of(name):
            return "1 selected" if column in self.conditions.ranges else ""
        numbers = (
            len(self.conditions.groups.get(name, ())),
            len(self.conditions.excluded.get(name, ())),
        )
        words = zip(numbers, ("selected", "excluded"), strict=True)
        return ", ".join(f"{number} {word}" for number, word in words if number)

    def _opened_facet(self, name: str, folding: Folding) -> dict[str, Any]:
        left = self._left
        column = column_of(name)
        if left is None or not (self._is_there(name) if column else name in left.counts):
            return {"note": "Reading …"}
        if column:
            return self._ranges.shown(column, self.conditions, left)
        listed = listed_values(self._facets[name], left.counts[name], self.conditions, folding)
        note = f"{self._missing_of(left)}, needed or not." if name == MISSING.name else _NOTES.get(name)
        return listed if note is None else listed | {"note": note}

    def _missing_of(self, left: FilterResult) -> str:
        """Say of which products what is missing is counted."""
        counted = self._facets.counted_units(left)
        more = (
            "" if counted.units == ALL_UNITS else " (for others choose a consumer unit or packaging as well)"
        )
        return f"Of {counted}{more}"

    def _is_there(self, facet: str) -> bool:
        assert self._filter is not None  # noqa: S101 - an explorer sets it before anything is drawn
        return self._filter.has_at_once(facet)

    def _adding(self) -> dict[str, Any]:
        is_typed = bool(self._typed.strip())
        found = self._offers.find(self._typed, self._language or None) if is_typed and self._offers else []
        shown = {*self._added, *_RANGES}
        return {
            "number": self._additions,
            "typed": self._typed,
            "language": self._language,
            "languages": [{"code": code, "label": label} for label, code in self._languages],
            "offers": [
                {
                    "facet": one.facet,
                    "label": cut(one.label, _TITLE),
                    "detail": cut(one.detail, _TITLE),
                    "there": one.facet in shown,
                }
                for one in found
            ],
            "note": self._adding_note(bool(found)) if is_typed else "",
        }

    def _adding_note(self, has_found: bool) -> str:
        if self._offers is None:
            return "Reading the names of attributes …"
        return "" if has_found else "no attribute of this name"

    def _code(self, facet: str, key: int) -> Code:
        code: Code = self._facets[facet].codes[int(key)]
        return code

    def _toggle(self, facet: str, key: int) -> None:
        self.conditions = self.conditions.toggled(facet, self._code(facet, key))

    def _exclude(self, facet: str, key: int) -> None:
        self.conditions = self.conditions.excluding(facet, self._code(facet, key))

    def _fold(self, facet: str) -> None:
        self._foldings[facet] = replace(self._folding(facet), is_open=not self._folding(facet).is_open)
        self._opened()

    def _unfold(self, facet: str, key: int) -> None:
        """Show what is below a value of a tree, or fold it again."""
        unfolded = self._folding(facet).unfolded ^ {self._code(facet, key)}
        self._change(facet, unfolded=unfolded)

    def _limit(self, facet: str, side: str, value: str) -> None:
        if column := column_of(facet):
            limits = self.conditions.ranges.get(column, Range())
            self.conditions = self.conditions.within(
                column, self._ranges.typed(column, limits, side, str(value))
            )

    def _range(self, column: str, first: int, last: int) -> None:
        if found := column_of(column):
            limits = self.conditions.ranges.get(found, Range())
            self.conditions = self.conditions.within(found, self._ranges.pressed(found, limits, first, last))

    def _offer(self, text: str) -> None:
        """Show which facets could be added for what was typed."""
        self._typed = str(text)
        if self._offers is None:
            self._reading.ask(lambda catalog: FacetOffers(catalog).read(), self._catalog)
        self.draw()

    @property
    def _catalog(self) -> Any:
        assert self._filter is not None  # noqa: S101 - an explorer sets it before anybody can type
        return self._filter.products.catalog

    def _take_offers(self, offers: FacetOffers) -> None:
        # Another catalogue may have been opened meanwhile.
        if offers.catalog is self._catalog:
            self._offers = offers
            self.draw()

    def _speak(self, language: str) -> None:
        self._language = language if language in {code for _, code in self._languages} else ""
        self.draw()

    def _add_named(self, text: str) -> None:
        """Add the facet that was typed, once its name is complete."""
        if str(text).strip():
            offers = self._offers or FacetOffers(self._catalog)
            self._add(offers.named(str(text), self._language or None))

    def _add(self, facet: str) -> None:
        if measure_of(column_of(facet) or "") or facet in self._facets:
            if facet not in (*self._facets.declared, *_RANGES):
                self._added = (facet, *(one for one in self._added if one != facet))
            self._foldings[facet] = replace(self._folding(facet), is_open=True)
            # The field is a new one then, and empty.
            self._typed, self._additions = "", self._additions + 1
            self._opened()

    def _remove(self, facet: str) -> None:
        """Remove a facet that was added, with what is selected in it."""
        self._added = tuple(one for one in self._added if one != facet)
        self._foldings.pop(facet, None)
        column, before = column_of(facet), self.conditions
        self.conditions = before.within(column, Range()) if column else before.without_group(facet)
        if self.conditions == before:
            self.draw()

    def _change(self, facet: str, **changed: Any) -> None:
        self._foldings[facet] = replace(self._folding(facet), **changed)
        self.draw()

    def _folding(self, name: str) -> Folding:
        return self._foldings.get(name, Folding())


#: Values shown at first, and how many each "more" adds.
FEW, MORE = 8, 20
#: Characters of a value that a row shows.
_LABEL = 60


@dataclass(frozen=True)
class Folding:
    """How a facet is shown.

    Attributes
    ----------
    is_open
        Whether its values are shown.
    most
        How many values are shown at most, beside those that are selected or excluded.
    find
        Words that shown values contain.
    with_zeros
        Whether values are shown that no product has under the conditions.
    unfolded
        Of a tree: codes of the values below which others are shown.
    """

    is_open: bool = False
    most: int = FEW
    find: str = ""
    with_zeros: bool = False
    unfolded: frozenset[Code] = frozenset()


def listed_values(
    values: FacetValues, counts: Counts, conditions: Selection, folding: Folding
) -> dict[str, Any]:
    """Return the values of a facet as the list of facets is given them.

    What is selected or excluded is always shown, so that it can be taken back.

    Parameters
    ----------
    values
        The facet.
    counts
        Number of products of each value, under the conditions.
    conditions
        What is selected and excluded.
    folding
        How the facet is shown.

    Examples
    --------
    >>> import prodex
    >>> from prodex.exploration.filtering import ProductFilter
    >>> brands = [{"id": n, "brand": {"code": code}} for n, code in enumerate("AAB")]
    >>> brand = ProductFilter(prodex.flatten(brands)).facets["brand"]
    >>> found = listed_values(brand, brand.totals, Selection().excluding("brand", "B"), Folding())
    >>> [(value["label"], value["count"], value["state"]) for value in found["values"]]
    [('B', 1, 'excluded'), ('A', 2, '')]
    """
    name = values.facet.name
    chosen, excluded = conditions.groups.get(name, ()), conditions.excluded.get(name, ())
    fitting, zeros = _fitting(values, counts, {*chosen, *excluded}, folding)
    shown = fitting[: folding.most]
    parents = set(values.above)

    def entry(number: int) -> dict[str, Any]:
        code = values.codes[number]
        found = {
            "key": number,
            "label": cut(values.labels[number], _LABEL),
            "count": int(counts[number]),
            "state": "chosen" if code in chosen else "excluded" if code in excluded else "",
        }
        if values.above:
            fold = ("open" if code in folding.unfolded else "closed") if number in parents else ""
            found |= {"level": values.depths[number], "fold": fold}
        return found

    return {
        "values": [entry(number) for number in shown],
        "shown": len(shown),
        "more": len(fitting) - len(shown),
        "next": min(MORE, len(fitting) - len(shown)),
        "fewer": len(shown) > FEW,
        "zeros": zeros,
        "zerosOpen": folding.with_zeros,
        "distinct": len(values.codes),
        # A field for words only where one "more" does not show all values.
        "find": folding.find if len(values.codes) > MORE or folding.find else None,
        "note": _values_note(values, bool(fitting or zeros)),
    }


def _fitting(
    values: FacetValues, counts: Counts, active: Collection[Code], folding: Folding
) -> tuple[list[int], int]:
    """Return the numbers of the values to show, and how many more no product has under the conditions."""
    if not values.is_asked:
        return [], 0
    numbers = values.order(counts, active)
    kept = {number for number, code in enumerate(values.codes) if code in active}
    if words := folding.find.strip():
        found = contains(values.labels, words)
        wanted = _with_above(values, {*kept, *(number for number in numbers if found[number])})
        numbers = [number for number in numbers if number in wanted]
    elif values.above:
        unfolded = _unfolded_values(values, folding.unfolded, _with_above(values, kept))
        numbers = [number for number in numbers if number in unfolded]
    kept = _with_above(values, kept)
    zeros = [number for number in numbers if not counts[number] and number not in kept]
    if not folding.with_zeros:
        numbers = [number for number in numbers if counts[number] or number in kept]
    return numbers, len(zeros)


def _with_above(values: FacetValues, numbers: Iterable[int]) -> set[int]:
    """Return numbers of values and of all values above them."""
    found: set[int] = set()
    for number in numbers:
        while number >= 0 and number not in found:
            found.add(number)
            number = values.above[number] if values.above else -1  # noqa: PLW2901 - one step up
    return found


def _unfolded_values(values: FacetValues, unfolded: Collection[Code], kept: Collection[int]) -> set[int]:
    """Return the numbers of the values of a tree below which nothing is folded, and those that are kept."""
    found: set[int] = set()
    # A value follows the one above it.
    for number, above in enumerate(values.above):
        if number in kept or above < 0 or (above in found and values.codes[above] in unfolded):
            found.add(number)
    return found


def _values_note(values: FacetValues, has_values: bool) -> str:
    if not values.is_asked:
        return FillState.NOT_ASKED
    if not values.codes:
        return "no products"
    return "" if has_values else "no matching value"
