"""The origin of a catalogue: what was requested, what was received, and whether that is everything.

An origin travels with its catalogue through filters, snapshots and exports. Without it nobody can tell "the supplier
left this empty" from "nobody requested it".

A query says what was requested of a service. A workbook was made by somebody else's program from columns that somebody
chose, and of what is in none of its columns it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

import msgspec

from prodex.catalog.load_ledger import Ledger
from prodex.files.untrusted import Count, Moment, check_moment, converted
from prodex.languages import LANGUAGES, Message, Said, Translation
from prodex.languages.message import plain_value
from prodex.locales import is_same_language
from prodex.query import ProductQuery
from prodex.selection import Selection
from prodex.selection.paths import MISSING_OF_CONSUMERS
from prodex.selection.units import names_units, with_units_named
from prodex.tables.attributes import is_within


@dataclass(frozen=True, slots=True)
class Origin:
    """The origin of a catalogue.

    Attributes
    ----------
    source
        The service's base URL, or the files, or "records".
    query
        What was requested; None for records and files, which hold what they hold.
    accept_language
        Language of the code labels that was requested; None is the service's default, US English.
    labels
        Further languages in which code labels were loaded.
    server_time
        The service's clock when the load began, UTC; a later refresh asks for what changed since then.
    loaded_at
        Our clock when the load began, UTC.
    asked_by
        Fingerprint of the access key: what a service returns depends on who asks.
    ledger
        What was announced against what was received.
    extent
        Of a file made of columns: which attributes and languages it has columns of; None for everything else.

    Examples
    --------
    >>> import prodex
    >>> prodex.flatten([{"id": 7}]).origin.source
    'records'
    """

    source: str
    query: ProductQuery | None = None
    accept_language: str | None = None
    labels: tuple[str, ...] = ()
    server_time: datetime | None = None
    loaded_at: datetime | None = None
    asked_by: str | None = None
    ledger: Ledger = field(default_factory=Ledger)
    extent: Extent | None = None

    @property
    def complete(self) -> bool:
        return self.ledger.complete

    def asked(self, attribute: str, language: str | None = None) -> bool:
        """Say whether an attribute (and, of a text, a language) was requested at all.

        Parameters
        ----------
        attribute
            Wire path, such as `namePublicLong` or `assets.pictures.url`.
        language
            Short or long language code, such as "fr". With a country it is that variant alone: who asked for texts in
            "fr-BE" knows nothing of those in "fr-FR".

        Examples
        --------
        >>> origin = Origin("sandbox", ProductQuery(source_include=["assets"], product_languages=["fr"]))
        >>> origin.asked("assets.pictures"), origin.asked("brand"), origin.asked("assets", "de")
        (True, False, False)
        """
        if self.extent is not None and not self.extent.asked(attribute, language):
            return False
        # Records and files hold what they hold: no query left anything out.
        if self.query is None:
            return True
        if not self.query.holds(attribute):
            return False
        # Services take and return "fr" and "fra" for the same language. "fr-FR" is a part of it, and not of "fr-BE".
        languages = self.query.product_languages
        return language is None or not languages or any(is_same_language(language, one) for one in languages)

    @property
    def chose_fields(self) -> bool:
        """Whether fields were chosen: then attributes without data do not come (spec, "What the service does")."""
        query = self.query
        chosen = query is not None and bool(query.source_include or query.source_exclude)
        return chosen or self.extent is not None

    @property
    def products_asked(self) -> ProductQuery | None:
        """The query as far as it says which products are meant, whatever it asks of them."""
        if self.query is None:
            return None
        return replace(self.query, source_include=None, source_exclude=None, product_languages=None)

    @property
    def source_said(self) -> Message | str:
        """The source as readers call it: "records" is a word of ours, all else a name."""
        return Message("records") if self.source == "records" else self.source

    def with_ledger(self, ledger: Ledger) -> Self:
        """Return the origin with another ledger.

        Examples
        --------
        >>> Origin("records").with_ledger(Ledger(announced=3, distinct=2)).complete
        False
        """
        return replace(self, ledger=ledger)

    def to_json(self) -> dict[str, Any]:
        """Return the origin as plain JSON values; it never held a secret.

        Examples
        --------
        >>> Origin("records").to_json()["source"]
        'records'
        """
        return {
            "source": self.source,
            "query": None if self.query is None else self.query.to_body(),
            "accept_language": self.accept_language,
            "labels": list(self.labels),
            "server_time": _as_iso(self.server_time),
            "loaded_at": _as_iso(self.loaded_at),
            "asked_by": self.asked_by,
            "ledger": self.ledger.to_json(),
            # The journal of an interrupted load is found by its origin, which has had no such entry before.
            **({} if self.extent is None else {"extent": self.extent.to_json()}),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            When it is anything else, be it damaged or edited.

        Examples
        --------
        >>> Origin.from_json(Origin("records", ProductQuery(target_market=250)).to_json()).query
        ProductQuery(target_market=250)
        """
        # A manifest may be from somebody else, so that every field is checked before any is used.
        written = converted(value, _OriginLayout)
        check_moment(written.server_time)
        check_moment(written.loaded_at)
        try:
            query = None if written.query is None else ProductQuery.from_body(written.query)
        except (TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"its query cannot be read ({error})") from error
        ledger = Ledger.from_json(written.ledger)
        extent = None if written.extent is None else Extent.from_json(written.extent)
        return cls(**msgspec.structs.asdict(written) | {"query": query, "ledger": ledger, "extent": extent})


class _OriginLayout(msgspec.Struct):
    """An origin as JSON."""

    source: str
    query: dict[str, Any] | None
    accept_language: str | None
    labels: tuple[str, ...]
    server_time: Moment | None
    loaded_at: Moment | None
    ledger: dict[str, Any]
    asked_by: str | None = None
    extent: dict[str, Any] | None = None


def _as_iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


#: Characters of the words: a list that was pasted has very many.
_LONGEST = 500
#: Values of a list that are named one by one.
_FEW = 3


@dataclass(frozen=True)
class Chosen:
    """That products were chosen from more of them.

    Attributes
    ----------
    of
        How many there were.
    conditions
        By what they were chosen, in words; none where that is not known.
    selection
        The same as data, as far as it is.
    unwritten
        In English words, what is no data: masks, expressions, products that were selected by hand.

    Examples
    --------
    >>> Chosen(5_000, ("kind: Tofu",)).sentence(12)
    '12 of 5,000 products, chosen by: kind: Tofu.'
    >>> Chosen(5_000).sentence(12)
    '12 of 5,000 products.'
    """

    of: int
    conditions: tuple[Said, ...] = ()
    # Two catalogues of the same products may be described in two ways.
    selection: Selection = field(default_factory=Selection, compare=False)
    unwritten: tuple[str, ...] = field(default=(), compare=False)

    @property
    def words(self) -> str:
        """By what they were chosen, in English."""
        return "; ".join(map(str, self.conditions))

    @classmethod
    def again(
        cls, before: Chosen | None, of: int, conditions: Iterable[Said], selection: Selection | None = None
    ) -> Chosen:
        """Return that some were chosen from those that were chosen before, or from all.

        Parameters
        ----------
        before
            What is known of these.
        of
            How many these are.
        conditions
            By what they were chosen, in words.
        selection
            The same as data; None where it is none.
        """
        own = tuple(filter(str, conditions))
        earlier = cls(of) if before is None else before
        if selection is not None and names_units(selection):
            # What consumer units lacked when they were chosen is what they lack beside other units as well.
            named = with_units_named(earlier.selection, otherwise=MISSING_OF_CONSUMERS)
            earlier = replace(earlier, selection=named)
        return cls(
            earlier.of,
            (*earlier.conditions, *own),
            earlier.selection if selection is None else earlier.selection & selection,
            (*earlier.unwritten, *(map(str, own) if selection is None else ())),
        )

    @classmethod
    def by(cls, before: Chosen | None, of: int, equal: Mapping[str, Any], condition: object) -> Chosen:
        """Return that some were chosen by keywords of `Catalog.where`, and by a condition beside them.

        >>> chosen = Chosen.by(None, 9, {"brand_code": "ACME"}, len)
        >>> chosen.words, chosen.unwritten
        ('brand_code = ACME; a condition in Python', ('a condition in Python',))
        """
        selection = condition if isinstance(condition, Selection) else Selection()
        lists = [name for name, value in equal.items() if _is_long(value)]
        written = (
            Selection.of(**{name: value for name, value in equal.items() if name not in lists}) & selection
        )
        chosen = cls.again(before, of, [written.said], written)
        unwritten = [
            Message.of_number(
                "one of {number} value of {column}",
                "one of {number} values of {column}",
                len(equal[name]),
                column=name,
            )
            for name in lists
        ]
        if condition is not None and not isinstance(condition, Selection):
            unwritten.append(Message("a condition in Python"))
        return cls.again(chosen, of, unwritten) if unwritten else chosen

    def to_json(self) -> dict[str, Any]:
        """Return what a file keeps of it: how many there were, and the words.

        >>> Chosen.from_json(Chosen(9, ("kind: Tofu",), Selection.of(kind="Tofu")).to_json()).unwritten
        ('kind: Tofu',)
        """
        return {"of": self.of, "words": msgspec.to_builtins(list(self.conditions), enc_hook=plain_value)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote; by which data the products were chosen is not known any more.

        Raises
        ------
        ValueError
            When it is anything else.
        """
        read = converted(value, _ChosenLayout)
        said = tuple(one if isinstance(one, str) else _read_message(one) for one in read.words)
        return cls(read.of, said, unwritten=tuple(map(str, said)))

    @property
    def shown(self) -> tuple[Said, ...]:
        """As many of the conditions as have room in a sentence."""
        said, words = self.conditions, self.words
        if len(words) <= _LONGEST:
            return said
        room = [sum(len(str(one)) + 2 for one in said[: number + 1]) for number in range(len(said))]
        first = said[: sum(one <= _LONGEST for one in room)]
        return (*first, "…") if first else (f"{words[:_LONGEST]} …",)

    def sentence(self, products: int) -> str:
        """Say how many there are, of how many, and by what they were chosen."""
        return str(self.said(products))

    def said(self, products: int) -> Message:
        """Say the same as a message."""
        if not self.conditions:
            return Message.of_number(
                "{products} of {number} product.",
                "{products} of {number} products.",
                self.of,
                products=products,
            )
        return Message.of_number(
            "{products} of {number} product, chosen by: {conditions}.",
            "{products} of {number} products, chosen by: {conditions}.",
            self.of,
            products=products,
            conditions=self.shown,
        )


class _ChosenLayout(msgspec.Struct):
    """What a file keeps of a choice, as JSON."""

    of: Count
    words: list[str | dict[str, Any]]


def _read_message(plain: dict[str, Any]) -> Message:
    """Return a message of a file, which may be somebody else's; it can be put into words in every language."""
    read = Message.of_plain(plain)
    try:
        for language in LANGUAGES:
            Translation(language).say(read)
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{plain!r:.80} is no message") from error
    return read


def chosen_as_json(chosen: Chosen | None, products: int) -> dict[str, Any]:
    """Return the entry of a manifest that says of which products it is; none where these are all.

    >>> chosen_as_json(Chosen(9, ("kind: Tofu",)), 2), chosen_as_json(Chosen(9), 9), chosen_as_json(None, 9)
    ({'chosen': {'of': 9, 'words': ['kind: Tofu']}}, {}, {})
    """
    return {} if chosen is None or chosen.of <= products else {"chosen": chosen.to_json()}


def scope_of(chosen: Chosen | None, products: int) -> str | None:
    """Return of which products something is, in a sentence; None where these are all.

    >>> scope_of(Chosen(9), 2), scope_of(Chosen(9), 9), scope_of(None, 9)
    ('2 of 9 products.', None, None)
    """
    return None if chosen is None or chosen.of <= products else chosen.sentence(products)


#: A longer list was made by a program, for these products and no others.
_MOST_WRITTEN = 1_000


def _is_long(value: Any) -> bool:
    """Whether it is a list that nobody has written: it is described, and not kept."""
    try:
        return not isinstance(value, str) and len(value) > _MOST_WRITTEN
    except TypeError:  # an array without dimensions, as a single value is, has no length
        return False


@dataclass(frozen=True, slots=True)
class Extent:
    """What a file holds of its products.

    Attributes
    ----------
    attributes
        Wire paths of the attributes that it has columns of.
    languages
        Of attributes with localized texts: the short codes of the languages that it has columns in.
    in_part
        Attributes of which some values could not be read, so that a missing one may be there after all.

    Examples
    --------
    >>> extent = Extent(("namePublicLong", "brand"), (("namePublicLong", ("fr",)),))
    >>> extent.asked("brand"), extent.asked("kind"), extent.asked("namePublicLong", "de")
    (True, False, False)
    """

    attributes: tuple[str, ...]
    languages: tuple[tuple[str, tuple[str, ...]], ...] = ()
    in_part: tuple[str, ...] = ()

    def asked(self, attribute: str, language: str | None = None) -> bool:
        """Say whether there is a column of an attribute, or of something in it, and of its texts in a language."""
        if not any(_meet(attribute, path) for path in self.attributes):
            return False
        spoken = [languages for _, languages in self.spoken(attribute)]
        return (
            language is None
            or not spoken
            or any(is_same_language(language, one) for several in spoken for one in several)
        )

    def spoken(self, attribute: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the localized attributes at, above or below a wire path, with the languages of their columns."""
        return (one for one in self.languages if _meet(attribute, one[0]))

    def is_in_part(self, attribute: str) -> bool:
        """Say whether some values of an attribute, or of something in it, could not be read."""
        return any(_meet(attribute, path) for path in self.in_part)

    def to_json(self) -> dict[str, Any]:
        """Return the extent as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            When it is anything else.
        """
        return converted(value, cls)


def _meet(one: str, other: str) -> bool:
    return is_within(one, other) or is_within(other, one)
