"""The value: which products are meant, as plain data; a change of it is a new one."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self, TypeAlias, TypeVar

from prodex.arguments import described, is_missing
from prodex.errors import InputError
from prodex.languages import Message
from prodex.phrases import hint
from prodex.query import ProductQuery
from prodex.tables.fill_state import STATES

#: A group of products, as filters and audits make groups: its code as text, or None for the products in no other.
Code: TypeAlias = str | None
#: What is asked of each group, or of each column.
_Condition = TypeVar("_Condition")
_Value = TypeVar("_Value")
_Answer = TypeVar("_Answer", bound=Any)

#: The codes of groups that have no others: how the name of such groups begins, and what they are.
_CODES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "packshot": ("yes", "no"),
        "unit": ("true", "false"),
        "pending": ("true", "false"),
        "fill:": tuple(map(str, STATES)),
        "complete:": ("complete", "incomplete", "unknown"),
    }
)


def wrong_code(name: str, codes: Iterable[object]) -> str | None:
    """Say which of the codes that somebody typed is none that a group can have; None where all can be.

    No product has it, so that "all but these" would be every product.

    >>> wrong_code("fill:brand", ["filled", None]), wrong_code("brand", ["filed"])
    (None, None)
    >>> wrong_code("fill:brand", ["filed"])
    "'fill:brand' has no code 'filed'; did you mean 'filled'?"
    """
    beginning, colon, _ = name.partition(":")
    known = _CODES.get(f"{beginning}{colon}")
    wrong = next((one for one in codes if one is not None and one not in known), None) if known else None
    if known is None or wrong is None:
        return None
    there_are = hint(str(wrong), known, f"Give one of {', '.join(known)}.")
    return f"{name!r:.60} has no code {wrong!r:.60}{there_are}"


#: The fields of a selection that hold conditions by name, and those that hold several.
_NAMED, _SEVERAL = ("columns", "groups", "ranges"), ("failing", "listed", "either", "excepted")


@dataclass(frozen=True)
class Begins:
    """In place of a value of a column: every text that begins with this one.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": n, "GPC": {"code": code}} for n, code in enumerate(("50131700", "10000123"))])
    >>> len(catalog.where(gpc_code=prodex.selection.Begins("50")))
    1
    """

    text: str

    def __str__(self) -> str:
        return f"{self.text}*"


@dataclass(frozen=True)
class Range:
    """The least and the greatest value of a column of `products`, both included; None where the range is open.

    Dates are compared in UTC, and the last day of a range belongs to it as a whole. A product without a value is in no
    range.

    Raises
    ------
    InputError
        When a limit is a missing value, such as NaN: no product would be in the range.

    Examples
    --------
    >>> from datetime import date
    >>> Range(None, date(2026, 1, 31)).greatest
    datetime.datetime(2026, 1, 31, 23, 59, 59, 999999)
    """

    least: float | datetime | None = None
    greatest: float | datetime | None = None

    def __post_init__(self) -> None:
        for side, of_day in (("least", time.min), ("greatest", time.max)):
            limit: object = getattr(self, side)
            if limit is not None and is_missing(limit):
                raise InputError(
                    f"{side} of a range is {limit!r}, which is no value. Leave it out where the range is open."
                )
            if isinstance(limit, date) and not isinstance(limit, datetime):
                object.__setattr__(self, side, datetime.combine(limit, of_day))

    def __bool__(self) -> bool:
        return self.least is not None or self.greatest is not None


@dataclass(frozen=True)
class FailingChecks:
    """Products that fail at least one of some checks of an audit.

    Attributes
    ----------
    title
        What is shown for it: the problem that a check reports, or "texts" for a block.
    checks
        Ids of the checks (`Check.id`).
    """

    title: str
    checks: tuple[str, ...]


@dataclass(frozen=True)
class ProductList:
    """Products that something else has found, such as those that changed between two snapshots.

    Attributes
    ----------
    title
        What is shown for it.
    ids
        Their ids.
    """

    title: str
    ids: tuple[str, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class Selection:
    """Which products are meant: those that meet every one of these conditions.

    It is one value for `Catalog.where`, the filters and saved views of the explorer, the scopes of profiles and rules,
    recipes, failures, and the part of a query that says which products. It holds no code and no product: it can be
    written as TOML (`save`), read as a sentence (`str`), asked of any catalogue and, as far as a service can filter,
    of a service (`load_products`).

    `one & other` means the products of both, `one | other` those of either, and `~one` those that do not show that
    they are meant by it.

    Attributes
    ----------
    columns
        Columns of `products`, each with the values of which a product has to have one, read as `Catalog.where` reads
        them; None means no value, and `Begins` every text that begins so. `market` is the market that counts: that of
        the product, else the one that was asked for.
    groups
        Groups as filters and audits make them, each with the codes of which a product has to have one: "brand", "tag",
        "language", "category" ..., "missing" (attributes that it lacks), and "fill:" with an attribute for its state.
    ranges
        Columns with dates or numbers, "score" of an audit, or quantities such as "netWeight [GRM]".
    words
        Words that the texts of a product have to contain, as the search of the explorer understands them.
    failing
        A product has to fail at least one check of each, in the audit that is given beside it.
    listed
        A product has to be in each of these lists.
    either
        A product has to be meant by at least one selection of each.
    excepted
        A product must be meant by none of these: an exception is for products that show that they are.

    Raises
    ------
    InputError
        When the code of a group is no text.

    Examples
    --------
    >>> acme = Selection.of(brand_code="ACME")
    >>> print(acme & ~Selection.of(is_consumer_unit=True) | Selection.of(gpc_code=Begins("50")))
    either (brand_code = ACME; not is_consumer_unit = true), or gpc_code = 50*
    >>> selection = Selection().toggled("brand", "ACME").toggled("brand", None)
    >>> selection.groups
    {'brand': ('ACME', None)}
    >>> selection.toggled("brand", "ACME").toggled("brand", None) == Selection()
    True
    >>> Selection().excluding("brand", "ACME").toggled("brand", "ACME").groups
    {'brand': ('ACME',)}
    >>> tea = Selection().toggled("kind", "TEA")
    >>> selection.adding(tea).require(tea), selection.adding(tea).removing(tea) == selection
    (True, True)
    """

    columns: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    groups: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    ranges: Mapping[str, Range] = field(default_factory=dict)
    words: str = ""
    failing: tuple[FailingChecks, ...] = ()
    listed: tuple[ProductList, ...] = ()
    either: tuple[tuple[Selection, ...], ...] = ()
    excepted: tuple[Selection, ...] = ()

    @classmethod
    def of(cls, **columns: Any) -> Self:
        """Return the products whose columns have these values, or one of several.

        Raises
        ------
        QueryError
            When a value is no plain data that can be written down.

        Examples
        --------
        >>> Selection.of(brand_code=["ACME", None], is_consumer_unit=True).columns
        {'brand_code': ('ACME', None), 'is_consumer_unit': (True,)}
        """
        from prodex.selection.plain import plain_values

        return cls(columns={name: plain_values(name, value) for name, value in columns.items()})

    @classmethod
    def of_query(cls, query: ProductQuery) -> Selection:
        """Return which products a query asks for, as far as records show it.

        What only the service knows is left out: with whom a product is shared, the active range, its search, and
        filters that prodex does not know.

        Examples
        --------
        >>> import prodex
        >>> prodex.Selection.of_query(prodex.ProductQuery(target_market=250, tags_in=["new"]))
        Selection(columns={'market': ('250',)}, groups={'tag': ('new',)})
        """
        from prodex.selection.request import selection_of

        return selection_of(query)

    def request(self, query: ProductQuery | None = None) -> SelectionRequest:
        """Return how a service is asked for these products: what it filters, and what is chosen from what it sends.

        Parameters
        ----------
        query
            What is asked beside it, such as which fields; a filter that it has already is not asked a second time.

        Raises
        ------
        QueryError
            When what the service cannot filter is about attributes that the query leaves out, or about what an audit
            finds, so that nobody could tell which of the products are meant.

        Examples
        --------
        >>> asked = (Selection.of(market="France") & ~Selection.of(brand_code="ACME")).request()
        >>> asked.query
        ProductQuery(target_market=250)
        >>> print(asked)
        The service filters market = France. It cannot filter not brand_code = ACME: chosen from what it sends.
        """
        from prodex.selection.request import request_for

        return request_for(self, query)

    @property
    def excluded(self) -> Mapping[str, tuple[Code, ...]]:
        """The codes that are excluded in each group."""
        return {name: codes for one in self.excepted if _excludes(one) for name, codes in one.groups.items()}

    def __post_init__(self) -> None:
        # A text would be one code for each of its letters, and a list is no key.
        if any(isinstance(codes, str | list) for codes in self.groups.values()):
            groups = {
                name: (codes,) if isinstance(codes, str) else tuple(codes)
                for name, codes in self.groups.items()
            }
            object.__setattr__(self, "groups", groups)
        for name, codes in self.groups.items():
            # A number or True is the code of no group, and would mean no product.
            for code in codes if isinstance(codes, Iterable) else (codes,):
                if code is not None and not isinstance(code, str):
                    raise InputError(
                        f"groups has {described(code)} for {name!r:.60}. Codes of groups are texts, such as '250' or "
                        "'true'; None is no group."
                    )
            if wrong := wrong_code(name, codes):
                raise InputError(f"groups: {wrong}")
        # A condition that was given twice is one, so that equal selections compare equal.
        for kind in _SEVERAL:
            there = getattr(self, kind)
            if len(there) < 2:
                continue
            once = _merged(there) if kind == "excepted" else tuple(dict.fromkeys(there))
            if len(once) < len(there):
                object.__setattr__(self, kind, once)

    def single(self) -> Iterator[Selection]:
        """Yield each condition as a selection of its own: all of them together are this one."""
        made: Callable[..., Selection] = type(self)
        for kind in _NAMED:
            for name, value in getattr(self, kind).items():
                yield made(**{kind: {name: value}})
        if self.words:
            yield made(words=self.words)
        for kind in _SEVERAL:
            for one in getattr(self, kind):
                yield made(**{kind: (one,)})

    def inner(self) -> Iterator[Selection]:
        """Yield the selections inside this one: those of which one has to be met, and those that are excepted."""
        for several in (*self.either, self.excepted):
            yield from several

    def every(self) -> Iterator[Selection]:
        """Yield this selection and all inside it."""
        waiting: list[Selection] = [self]
        while waiting:
            yield (one := waiting.pop())
            waiting.extend(one.inner())

    def met(
        self, everything: _Answer, ask: Callable[[Selection], _Answer], shown: Callable[[_Answer], _Answer]
    ) -> _Answer:
        """Return which products are meant, put together from the answers to each condition.

        Parameters
        ----------
        everything
            The answer that every product is meant.
        ask
            Answers one condition that has no other selection inside.
        shown
            Makes of an answer the one that says no where it is unknown.
        """
        held = everything
        for one in self.single():
            if one.either:
                (several,) = one.either
                met = ~everything
                for each in several:
                    met = met | each.met(everything, ask, shown)
                held = held & met
            elif one.excepted:
                held = held & ~shown(one.excepted[0].met(everything, ask, shown))
            else:
                held = held & ask(one)
        return held

    def toggled(self, group: str, code: Code) -> Self:
        """Select a group, or clear it when it is selected; one that was excluded is so no longer."""
        chosen = self.groups.get(group, ())
        left = tuple(one for one in chosen if one != code) if code in chosen else (*chosen, code)
        return self.choosing(group, left)

    def choosing(self, group: str, codes: tuple[Code, ...]) -> Self:
        """Select these groups of a kind, and no others."""
        left = _others_than(self.excluded.get(group, ()), codes)
        return replace(self._excluding(group, left), groups=_with_entry(self.groups, group, codes))

    def excluding(self, group: str, code: Code) -> Self:
        """Exclude a group, or include it again when it is excluded."""
        there = self.excluded.get(group, ())
        codes = tuple(one for one in there if one != code) if code in there else (*there, code)
        chosen = _others_than(self.groups.get(group, ()), codes)
        return replace(self._excluding(group, codes), groups=_with_entry(self.groups, group, chosen))

    def _excluding(self, group: str, codes: tuple[Code, ...]) -> Self:
        before = type(self)(groups={group: self.excluded[group]}) if group in self.excluded else None
        after = (type(self)(groups={group: codes}),) if codes else ()
        if before is None:
            return replace(self, excepted=(*self.excepted, *after))
        place = self.excepted.index(before)
        return replace(self, excepted=(*self.excepted[:place], *after, *self.excepted[place + 1 :]))

    def without_group(self, group: str) -> Self:
        """Keep products in whichever group of a kind they are."""
        return replace(self._excluding(group, ()), groups=_with_entry(self.groups, group, ()))

    def within(self, column: str, limits: Range) -> Self:
        """Keep only products whose value of a column is in a range; an open range removes the condition."""
        return replace(self, ranges=_with_entry(self.ranges, column, limits))

    def searching(self, words: str) -> Self:
        """Search for words."""
        return replace(self, words=words.strip())

    def failing_any(self, title: str, checks: tuple[str, ...]) -> Self:
        """Keep only products that fail one of these checks as well, or no longer require it when they had to."""
        return self._toggling("failing", FailingChecks(title, checks))

    def listing(self, products: ProductList) -> Self:
        """Keep only products of a list as well, or no longer require it when they had to be in it."""
        return self._toggling("listed", products)

    def _toggling(self, kind: str, value: object) -> Self:
        there = getattr(self, kind)
        changed: dict[str, Any] = {kind: _others_than(there, (value,)) if value in there else (*there, value)}
        return replace(self, **changed)

    def adding(self, others: Selection) -> Self:
        """Return a selection that requires what others require as well; of a name in both, the values of the others."""
        made = self
        for group, codes in others.groups.items():
            made = made.choosing(group, codes)
        for group, codes in others.excluded.items():
            made = made._excluding(group, codes)
        there = [Selection(groups={group: codes}) for group, codes in others.excluded.items()]
        several: dict[str, Any] = {
            kind: (*getattr(made, kind), *_others_than(getattr(others, kind), (*getattr(made, kind), *there)))
            for kind in _SEVERAL
        }
        # What was required before stays in its place, also where it had to be required again: a name that is chosen and
        # excepted.
        place = {one: number for number, one in enumerate(self.excepted)}
        several["excepted"] = tuple(sorted(several["excepted"], key=lambda one: place.get(one, len(place))))
        return replace(
            made,
            columns={**made.columns, **others.columns},
            ranges={**made.ranges, **others.ranges},
            words=others.words or made.words,
            **several,
        )

    def removing(self, others: Selection) -> Self:
        """Return a selection that does not require what others require, as far as they do."""
        left: dict[str, Any] = {
            kind: _other_entries(getattr(self, kind), getattr(others, kind)) for kind in _NAMED
        }
        left |= {kind: _others_than(getattr(self, kind), getattr(others, kind)) for kind in _SEVERAL}
        return replace(self, words="" if self.words == others.words else self.words, **left)

    def require(self, others: Selection) -> bool:
        """Return whether these require what others require."""
        return self.adding(others) == self

    def save(self, path: str | Path) -> Path:
        """Write the selection to a TOML file that people can read and edit, and return its path.

        Raises
        ------
        InputError
            When a value of it cannot be written, or there is a file already that is no selection.
        StorageError
            When the disk refuses.

        Examples
        --------
        >>> import prodex
        >>> path = Selection.of(brand_code="ACME").save(getfixture("tmp_path") / "acme.toml")
        >>> prodex.Selection.read(path) == Selection.of(brand_code="ACME")
        True
        """
        from prodex.selection.files import save_selection

        return save_selection(self, path)

    @staticmethod
    def read(path: str | Path) -> Selection:
        """Read a selection from its file.

        Parameters
        ----------
        path
            The file, as `Selection.save` wrote it, edited or not.

        Raises
        ------
        InputError
            When it cannot be read; the message has every line that is wrong, with the nearest names.

        Examples
        --------
        >>> import prodex
        >>> path = getfixture("tmp_path") / "snacks.toml"
        >>> kinds = "[{is_consumer_unit = true}, {packaging_code = 'CASE'}]"
        >>> _ = path.write_text(f"brand_code = 'ACME'\\nany = {kinds}\\n")
        >>> print(prodex.Selection.read(path))
        brand_code = ACME; either is_consumer_unit = true, or packaging_code = CASE
        """
        from prodex.selection.files import read_selection

        return read_selection(path)

    def __and__(self, other: Selection) -> Self:
        made = self
        for one in other.single():
            both = made.adding(one)
            # Two conditions about one name stay two: the second is then the only one of its alternatives.
            is_kept = set(made.single()) <= set(both.single())
            made = both if is_kept else replace(made, either=(*made.either, (one,)))
        return made

    def __or__(self, other: Selection) -> Self:
        return type(self)(either=((*self._alternatives, *other._alternatives),))

    @property
    def _alternatives(self) -> tuple[Selection, ...]:
        is_either = len(self.either) == 1 and self == Selection(either=self.either)
        return self.either[0] if is_either else (self,)

    def __invert__(self) -> Self:
        return type(self)(excepted=(self,))

    def __bool__(self) -> bool:
        return self != type(self)()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(_hashable(getattr(self, one.name)) for one in fields(self)))

    def __getstate__(self) -> dict[str, Any]:
        # Texts have other hashes in another process.
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def __repr__(self) -> str:
        given = ((one.name, getattr(self, one.name)) for one in fields(self))
        return f"Selection({', '.join(f'{name}={value!r}' for name, value in given if value)})"

    def __str__(self) -> str:
        return str(self.said)

    @property
    def said(self) -> Message:
        """It in words, as a message; empty where it means every product."""
        from prodex.selection.sentences import sentence

        return sentence(self)


@dataclass(frozen=True)
class SelectionRequest:
    """A selection as a service is asked for it.

    Attributes
    ----------
    query
        What the service is asked.
    rest
        What it cannot filter: chosen from what was loaded. The snapshot keeps every product that came.
    asked
        What it filters.
    """

    query: ProductQuery
    rest: Selection
    asked: Selection

    def __str__(self) -> str:
        filtered = f"The service filters {self.asked}." if self.asked else "The service sends every product."
        if not self.rest:
            return filtered
        return f"{filtered} It cannot filter {self.rest}: chosen from what it sends."


def _excludes(one: Selection) -> bool:
    """Whether an exception is that of some groups of one kind."""
    return len(one.groups) == 1 and one == Selection(groups=one.groups)


def _merged(excepted: tuple[Selection, ...]) -> tuple[Selection, ...]:
    """Return exceptions with one entry for the groups of a kind, in whatever way they were excluded."""
    codes: dict[str, dict[Code, None]] = {}
    for one in filter(_excludes, excepted):
        for name, some in one.groups.items():
            codes.setdefault(name, {}).update(dict.fromkeys(some))
    groups = {name: Selection(groups={name: tuple(some)}) for name, some in codes.items()}
    return tuple(dict.fromkeys(groups[next(iter(one.groups))] if _excludes(one) else one for one in excepted))


def _hashable(value: Any) -> Any:
    return frozenset(value.items()) if isinstance(value, Mapping) else value


def _others_than(values: tuple[_Value, ...], others: Container[_Value]) -> tuple[_Value, ...]:
    return tuple(one for one in values if one not in others)


def _other_entries(entries: Mapping[str, _Value], others: Mapping[str, _Value]) -> dict[str, _Value]:
    return {name: one for name, one in entries.items() if name not in others or others[name] != one}


def _with_entry(there: Mapping[str, _Condition], name: str, value: _Condition) -> dict[str, _Condition]:
    """Return a mapping with one entry changed; an empty one is left out, so that equal selections compare equal."""
    others = {one: kept for one, kept in there.items() if one != name}
    return {**others, name: value} if value else others
