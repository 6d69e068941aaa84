"""The filters of the products: values with the number of products of each, ranges, and any attribute by its name."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from prodex.errors import InputError, ProdexError
from prodex.exploration.facet_values import Counts, FacetValues
from prodex.exploration.facets import MISSING, SENT, FilterResult
from prodex.exploration.range_facets import (
    FacetOffers,
    Offer,
    column_of,
    range_facet,
    shown_range,
    typed_range,
)
from prodex.exploration.ranges import measure_of
from prodex.exploration.search import contains
from prodex.exploration.table_page import title
from prodex.locales import language_label
from prodex.notebook.session.actions import Block, Want, action
from prodex.notebook.session.session import Refused, Session
from prodex.notebook.views.blocks import button
from prodex.notebook.views.forms import FormField, form
from prodex.notebook.views.products_left import ShownProducts, counted_once, counted_values, histograms_of
from prodex.phrases import counted
from prodex.selection import Code, Range, Selection
from prodex.selection.paths import is_of_requirements
from prodex.tables.fill_state import FillState
from prodex.untrusted_text import cut

#: The facets in the order in which most questions begin; any others follow.
_ORDER = (
    *("unit", "market", "language", "missing", SENT, "owner", "brand", "category", "kind", "grade"),
    *(range_facet("updated_at"), range_facet("score"), range_facet("pictures_count")),
)
#: Facets that are shown without being asked for, of dates and numbers.
_RANGES = tuple(name for name in _ORDER if column_of(name))
#: Facets that are open at first: counting the values of the others is put off until somebody opens them.
_OPEN = ("unit", "market", "missing", "owner", "brand")
#: What a product needs, only an audit knows.
NOTES = {
    "packshot": "Counted among all products: cases and pallets need none. An audit counts only those that need one.",
}
#: Characters of a name of a facet, and of a value, that are shown.
_TITLE, VALUE_LABEL = 80, 60
#: Values shown at first, and how many each "more" adds.
FEW, MORE = 8, 20
#: The form that the fields of all facets are in.
_FORM = "facets"


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


@dataclass(frozen=True)
class FacetsState:
    """How the facets are shown.

    Attributes
    ----------
    foldings
        How each facet is, by its name.
    added
        Facets that somebody has added, the last one first.
    typed, language
        What is typed to add another one, and the language of its texts.
    of
        Whose facets they are: what was typed for other products is forgotten.
    is_drawn
        Whether they are shown where there is no room for them beside the products.
    """

    foldings: Mapping[str, Folding] = field(
        default_factory=lambda: {name: Folding(is_open=True) for name in _OPEN}
    )
    added: tuple[str, ...] = ()
    typed: str = ""
    language: str = ""
    of: ShownProducts | None = None
    is_drawn: bool = False

    def folding(self, name: str) -> Folding:
        """Return how a facet is shown."""
        return self.foldings.get(name, Folding())


def _state(session: Session) -> FacetsState:
    """Return how the facets of these products are shown: those that are open or were added stay so in others."""
    state, now = session.part(FacetsState), session.derived(ShownProducts)
    if state.of is now:
        return state
    foldings = {name: Folding(is_open=one.is_open) for name, one in state.foldings.items()}
    return replace(state, foldings=foldings, typed="", of=now)


def _keeping(session: Session, **changes: Any) -> Session:
    return session.with_part(replace(_state(session), **changes))


def _offers_of(session: Session) -> FacetOffers:
    return FacetOffers(session.catalog)


def _languages_of(session: Session) -> list[tuple[str, str]]:
    return [(code, language_label(code)) for code in session.filter.products.languages()]


def facets_block(session: Session) -> Block:
    """Return the facets: the field that adds one, those that were added, and all others."""
    facets, state = session.filter.facets, _state(session)
    facets.look_at(session.conditions)
    with suppress(ProdexError):  # said by the facet that cannot be read
        # Together, since a file is opened once for all columns.
        facets.read(_open(session, state))
    names = [*facet_names(session)]
    return {
        "kind": "facets",
        "key": "facets",
        "drawn": state.is_drawn,
        "blocks": [_adding(session, state), *(_facet(session, state, name) for name in names)],
    }


def facets_wants(session: Session) -> Iterator[Want]:
    """Yield what is read in the background: facets that take long, and the names of attributes."""
    filter_, state, offers = session.filter, _state(session), session.derived(_offers_of)
    late = tuple(name for name in _open(session, state) if not filter_.has_at_once(name))
    if late:
        # The facet says that it is read, and so no bar does.
        options = {"is_patient": True, "after": math.inf}
        yield Want("facets", (filter_, late), lambda _: filter_.read(late), options=options)
    if state.typed.strip() and not offers.is_read:
        yield Want("facets.offers", (offers,), offers.read, options={"after": math.inf})


def _open(session: Session, state: FacetsState) -> list[str]:
    facets = session.filter.facets
    opened = [name for name, folding in state.foldings.items() if folding.is_open]
    return [name for name in opened if column_of(name) or name in facets]


def facet_names(session: Session) -> Iterator[str]:
    """Yield the names of the facets in the order in which they are shown."""
    state = _state(session)
    usual = [
        *session.filter.facets,
        *(one for one in _RANGES if session.audit is not None or "score" not in one),
    ]
    place = {name: number for number, name in enumerate(_ORDER)}
    # What a channel requires of a product stands beside what it lacks.
    beside = place[MISSING.name] + 0.5
    usual.sort(key=lambda name: beside if is_of_requirements(name) else place.get(name, len(place)))
    conditions, facets = session.conditions, session.filter.facets
    selected = [*conditions.groups, *conditions.excluded, *map(range_facet, conditions.ranges)]
    there = [name for name in selected if measure_of(column_of(name) or "") or name in facets]
    # Those that were added, and those of which something else selects values.
    yield from (one for one in dict.fromkeys((*state.added, *there)) if one not in usual)
    yield from usual


def _facet(session: Session, state: FacetsState, name: str) -> Block:
    folding = state.folding(name)
    is_usual = name in session.filter.facets.declared or name in _RANGES
    facet = {
        "kind": "facet",
        "key": name,
        "title": facet_title(session, name),
        "open": folding.is_open,
        "active": _active(session.conditions, name),
        "removable": not is_usual,
    }
    if not folding.is_open:
        return facet
    if not session.filter.has_at_once(name):
        return facet | {"note": "Reading …"}
    try:
        return facet | (_range(session, name) if column_of(name) else _values(session, name, folding))
    except ProdexError as error:
        return facet | {"problem": str(error)}


def facet_title(session: Session, name: str) -> str:
    """Return the heading of a facet."""
    if column := column_of(name):
        return title(column)
    return cut(session.filter.facets.title(name), _TITLE)


def _active(conditions: Selection, name: str) -> str:
    if column := column_of(name):
        return "1 selected" if column in conditions.ranges else ""
    numbers = (len(conditions.groups.get(name, ())), len(conditions.excluded.get(name, ())))
    words = zip(numbers, ("selected", "excluded"), strict=True)
    return ", ".join(f"{number} {word}" for number, word in words if number)


def _range(session: Session, name: str) -> Block:
    """Return a facet of dates or numbers: two fields and a histogram."""
    column = str(column_of(name))
    limits = session.conditions.ranges.get(column, Range())

    def show(left: FilterResult) -> Block:
        return shown_range(session.derived(histograms_of).of(column, left.without(column)), column, limits)

    shown = counted_once(session, ("range", column, limits), show)
    kind = "date" if shown["range"]["kind"] == "date" else "limit"
    fields = [
        FormField(
            f"{name}/{side}",
            label,
            kind,
            shown["range"][side],
            do="facets.limit",
            args={"facet": name, "side": side},
        )
        for side, label in {"least": "from", "greatest": "to"}.items()
    ]
    limits_form = form(session, _FORM, fields, look="limits", label=title(column))
    return {"form": limits_form, "column": column, "bins": shown["bins"], "note": shown["note"]}


def _values(session: Session, name: str, folding: Folding) -> Block:
    values, counts = counted_values(session, name)
    listed = listed_values(values, counts, session.conditions, folding)
    if name == MISSING.name:
        units = counted_once(session, "missing of", session.filter.facets.counted_units)
        listed["note"] = f"Of {units}, needed or not."
    elif name in NOTES:
        listed["note"] = NOTES[name]
    if (find := listed.pop("find")) is not None:
        field_ = FormField(
            f"{name}/find",
            f"Find in {facet_title(session, name)}",
            "search",
            find,
            placeholder=f"find in {len(values.codes):,} values",
            do="facets.find",
            args={"facet": name},
        )
        listed["form"] = form(session, _FORM, [field_], look="find")
    listed["gallery"] = bool(listed["values"])
    listed["buttons"] = [*_paging(name, listed, folding)]
    return listed


def _paging(name: str, listed: Mapping[str, Any], folding: Folding) -> Iterator[Block]:
    shown, more, zeros = listed["shown"], listed["more"], listed["zeros"]
    to = f"head/{name}"
    if more:
        label = f"Show {min(MORE, more):,} more ({shown:,} of {shown + more:,})"
        yield button(label, "facets.more", key="more", look="more", to=to, facet=name)
    if shown > FEW:
        yield button("Show fewer", "facets.fewer", key="fewer", look="more", to=to, facet=name)
    if zeros:
        label = "Hide unused values" if folding.with_zeros else f"Show {counted(zeros, 'unused value')}"
        hides = folding.with_zeros
        yield button(label, "facets.zeros", key="zeros", look="more", to=to, facet=name, is_shown=not hides)


def _adding(session: Session, state: FacetsState) -> Block:
    """Return the field that adds a facet by the name of an attribute, and what fits."""
    fields = [
        FormField(
            "add",
            "Filter by any attribute: type its name",
            "search",
            state.typed,
            placeholder="Filter by any attribute …",
            do="facets.offer",
        )
    ]
    if state.typed or state.language:
        # To read them takes a moment, and nobody needs them before.
        languages = [("", "any language"), *_languages(session)]
        label = "Language of its texts"
        fields.append(FormField("language", label, "choice", state.language, languages, do="facets.speak"))
    offers, shown, note = session.derived(_offers_of), {*state.added, *_RANGES}, ""
    found: list[Offer] = []
    if state.typed.strip():
        if not offers.is_read:
            note = "Reading the names of attributes …"
        elif not (found := offers.find(state.typed, state.language or None)):
            note = "no attribute of this name"
    listed = [
        {
            "key": one.facet,
            "label": cut(one.label, _TITLE),
            "detail": cut(one.detail, _TITLE),
            "there": one.facet in shown,
        }
        for one in found
    ]
    naming = form(session, _FORM, fields, look="naming")
    return {"kind": "facet_add", "key": "add", "form": naming, "offers": listed, "note": note}


def _languages(session: Session) -> list[tuple[str, str]]:
    try:
        return session.derived(_languages_of)
    except ProdexError:
        return []  # what cannot be read is said where it was asked for


@action("facets.toggle")
def toggle_value(session: Session, facet: str, code: str | None) -> Session:
    """Select a value, or clear it."""
    return session.filtered(session.conditions.toggled(facet, code))


@action("facets.exclude")
def exclude_value(session: Session, facet: str, code: str | None) -> Session:
    """Exclude a value, or include it again."""
    return session.filtered(session.conditions.excluding(facet, code))


@action("facets.fold", is_quiet=True)
def fold_facet(session: Session, facet: str, is_open: bool) -> Session:
    """Show the values of a facet, or hide them."""
    return _changed(session, facet, is_open=is_open)


@action("facets.unfold", is_quiet=True)
def unfold_value(session: Session, facet: str, code: str | None, is_open: bool) -> Session:
    """Show what is below a value of a tree, or fold it."""
    unfolded = _state(session).folding(facet).unfolded
    return _changed(session, facet, unfolded=unfolded | {code} if is_open else unfolded - {code})


@action("facets.find", is_quiet=True)
def find_values(session: Session, facet: str, value: str) -> Session:
    """Show the values that contain some words."""
    return _changed(session, facet, find=value, most=FEW)


@action("facets.more", is_quiet=True)
def show_more(session: Session, facet: str) -> Session:
    """Show more values of a facet."""
    return _changed(session, facet, most=_state(session).folding(facet).most + MORE)


@action("facets.fewer", is_quiet=True)
def show_fewer(session: Session, facet: str) -> Session:
    """Show as many values of a facet as at first."""
    return _changed(session, facet, most=FEW)


@action("facets.zeros", is_quiet=True)
def show_zeros(session: Session, facet: str, is_shown: bool) -> Session:
    """Show the values that no product has under the conditions, or hide them."""
    return _changed(session, facet, with_zeros=is_shown)


@action("facets.drawer", is_quiet=True)
def draw_filters(session: Session, is_open: bool) -> Session:
    """Open the filters where they have no column of their own, or close them."""
    return session.with_changed(FacetsState, is_drawn=is_open)


@action("facets.limit", is_quiet=True)
def limit_range(session: Session, facet: str, side: str, value: str) -> Session:
    """Set the least or the greatest value that a product may have, as it was typed.

    What was refused in another of these fields stays there with its reason: who types both limits sees it afterwards.
    """
    if not measure_of(column := column_of(facet) or ""):
        return session
    limits, at = session.conditions.ranges.get(column, Range()), f"{_FORM}.{facet}/{side}"
    try:
        typed = typed_range(column, limits, side, value)
    except InputError as error:
        raise Refused(str(error), at=at) from error
    others = {one: why for one, why in session.errors.items() if one.startswith(f"{_FORM}.") and one != at}
    return session.noting("").replaced(errors=others).filtered(session.conditions.within(column, typed))


@action("facets.offer", is_quiet=True)
def offer_facets(session: Session, value: str) -> Session:
    """Show which facets could be added for what was typed."""
    return _keeping(session, typed=value)


@action("facets.speak", is_quiet=True)
def speak(session: Session, value: str) -> Session:
    """Choose the language of the texts of a facet that is to be added."""
    known = {code for code, _ in _languages(session)}
    return _keeping(session, language=value if value in known else "")


@action("facets.named")
def add_named(session: Session, text: str) -> Session:
    """Add the facet that was typed, once its name is complete."""
    if not text.strip():
        return session
    try:
        facet = session.derived(_offers_of).named(text, _state(session).language or None)
    except ProdexError as error:
        raise Refused(str(error), at=f"{_FORM}.add") from error
    return add_facet(session, facet)


@action("facets.add")
def add_facet(session: Session, facet: str) -> Session:
    """Add a facet, and open it.

    Raises
    ------
    Refused
        When there is none of this name.
    """
    facets, state = session.filter.facets, _state(session)
    if not measure_of(column_of(facet) or "") and facet not in facets:
        raise Refused(f"There is no filter {cut(facet, _TITLE)!r} here.", at=f"{_FORM}.add")
    added = state.added
    if facet not in (*facets.declared, *_RANGES):
        added = (facet, *(one for one in added if one != facet))
    foldings = {**state.foldings, facet: replace(state.folding(facet), is_open=True)}
    return _keeping(session, added=added, foldings=foldings, typed="")


@action("facets.remove")
def remove_facet(session: Session, facet: str) -> Session:
    """Remove a facet that was added, with what is selected in it."""
    state, column, before = _state(session), column_of(facet), session.conditions
    added = tuple(one for one in state.added if one != facet)
    foldings = {name: one for name, one in state.foldings.items() if name != facet}
    left = before.within(column, Range()) if column else before.without_group(facet)
    return _keeping(session, added=added, foldings=foldings).filtered(left)


def _changed(session: Session, facet: str, **changed: Any) -> Session:
    state = _state(session)
    folding: Folding = replace(state.folding(facet), **changed)
    return _keeping(session, foldings={**state.foldings, facet: folding})


def listed_values(
    values: FacetValues, counts: Counts, conditions: Selection, folding: Folding
) -> dict[str, Any]:
    """Return the values of a facet as they are shown.

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
            "key": "none" if code is None else f"={code}",
            "code": code,
            "label": cut(values.labels[number], VALUE_LABEL),
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
        "zeros": zeros,
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
    kept = _with_above(values, (number for number, code in enumerate(values.codes) if code in active))
    wanted = {*numbers}
    if words := folding.find.strip():
        wanted = kept | _with_above(values, np.flatnonzero(contains(values.labels, words)).tolist())
    elif values.above:
        wanted = _unfolded_values(values, folding.unfolded, kept)
    zeros = {number for number in wanted if not counts[number] and number not in kept}
    shown = wanted if folding.with_zeros else wanted - zeros
    return [number for number in numbers if number in shown], len(zeros)


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
