"""Requirements: what a channel asks of the products of each family, as one frozen value.

A requirement says of one channel, one family and one attribute (of texts: in one language) whether it *must*, *should*
or *may* be filled, or does *not* belong there, and what a value has to be like. A family without a requirement takes
that of its parent, and in the end that of all families (`ALL`).

Beside a wire path (`namePublicLong`, `brand`, `netContent`) an attribute can be a picture of one face, as
`assets.pictures[front]`, or one nutrient, as `isPartitionedBy.contains[FAT]`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

import pandas as pd

from prodex.errors import InputError, QueryError
from prodex.facts.gpc import gpc_above
from prodex.facts.market import market_label
from prodex.limits import Limits
from prodex.locales import language_name, language_tag, market_code, short_of
from prodex.messages import hint
from prodex.patterns import Pattern
from prodex.quality.picture_columns import FACES, PICTURES
from prodex.selection import Selection
from prodex.selection.units import CONSUMER_UNITS, names_units_by
from prodex.tables.attributes import MEASURES, TEXTS, is_within
from prodex.tables.declaration import TABLES
from prodex.tables.values import number_text
from prodex.tables.visible import is_visible
from prodex.written_numbers import written_whole

#: The family whose requirements hold for every other one, unless it says otherwise.
ALL = "*"

#: Where the nutrients of a product are.
NUTRIENTS = "isPartitionedBy.contains"

#: Families above each other, and those of a circle that a message names.
_MOST_LEVELS, _MOST_NAMED = 1_000, 8
#: What no file of requirements keeps, or no program shows: controls other than tabs and line breaks, half characters.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_SELECTOR = re.compile(r"(?P<path>[^\[\]]+)\[(?P<chosen>[^\[\]]+)\]")


class Level(StrEnum):
    """How much an attribute is wanted."""

    MUST = "must"
    SHOULD = "should"
    MAY = "may"
    NOT = "not"


@dataclass(frozen=True)
class ValueShape:
    """What the values of an attribute are: by it a condition that nothing can judge is refused when it is read.

    Attributes
    ----------
    kind
        "text", "code", "single", "picture", "quantity", "key", "list" (of values that may have texts in them), "rows"
        (of a table that has none), or "own" for any other attribute; empty where the attribute is not known.
    called
        What an attribute of this shape is, in a sentence.
    judged
        The conditions that its values can be judged by.
    examples
        Conditions as people write them, each in quotes; empty where none can be asked.
    has_languages
        Whether its values can be in a language.
    """

    kind: str
    called: str
    judged: frozenset[str]
    examples: str = ""
    has_languages: bool = True

    @property
    def advice(self) -> str:
        """What can be written behind the word, with quotes around it."""
        return f"Write {self.examples} behind the word." if self.examples else "Write the word alone."

    def refuse(self, ask: Ask, advice: str = "") -> None:
        """Refuse a condition by which no value of this shape can be judged.

        Raises
        ------
        InputError
            With what to write in its place: `advice`, or what this shape takes.
        """
        for condition in ask.conditions:
            if condition not in self.judged:
                raise InputError(
                    f"{condition} cannot be asked of this attribute, which is {self.called}. "
                    f"{advice or self.advice}"
                )


_CHARACTERS, _CODES, _PATTERN, _PIXELS = "characters", "codes", "a pattern", "pixels"
#: Of each kind of attribute what its values are.
SHAPES: Mapping[str, ValueShape] = {
    one.kind: one
    for one in (
        ValueShape(
            "text",
            "a text",
            frozenset({_CHARACTERS, _CODES, _PATTERN}),
            "'20-80 characters' or 'at most 80 characters'",
        ),
        ValueShape("code", "a code", frozenset({_CODES, _PATTERN}), "'one of: FR, ES'", has_languages=False),
        ValueShape(
            "single",
            "a number, a date or a truth value",
            frozenset({_CODES, _PATTERN}),
            "'one of: 1, 2'",
            has_languages=False,
        ),
        ValueShape(
            "picture", "a picture", frozenset({_PIXELS}), "'at least 800 pixels'", has_languages=False
        ),
        ValueShape("quantity", "a quantity with its unit", frozenset(), has_languages=False),
        ValueShape(
            "key", "no picture and no text, but the key of a product", frozenset(), has_languages=False
        ),
        ValueShape("list", "several values under one name", frozenset()),
        ValueShape("rows", "several values under one name", frozenset(), has_languages=False),
        ValueShape(
            "own",
            "no picture",
            frozenset({_CHARACTERS, _CODES, _PATTERN}),
            "'at most 80 characters' or 'one of: FR, ES'",
        ),
        ValueShape(
            "",
            "anything",
            frozenset({_CHARACTERS, _CODES, _PATTERN, _PIXELS}),
            "'one of: FR, ES', 'at most 80 characters', 'at least 800 pixels' or 'pattern: [A-Z].*'",
        ),
    )
}
#: Texts and codes whose shape no table declares.
_OTHER_TEXTS = frozenset({*TEXTS, "conservationAdvices", "consumptionAdvice"})
_OTHER_CODES = frozenset({"originCountry"})
#: Attributes that are lists of objects, and what in these has the value that people mean.
_INSIDE: Mapping[str, str] = {
    **{name: f"{name}.text" for name in ("warnings", "synonyms", "productBenefits")},
    "foodAndBeverageIngredientDescriptionList": "foodAndBeverageIngredientDescriptionList.ingredientNameText",
    "targetConsumerGenderList": "targetConsumerGenderList.targetConsumerGenderCode",
    "flavors": "flavors.flavor",
    "certificationInformationList": (
        "certificationInformationList.certificationDetailsList.certificationValueText"
    ),
}


@cache
def shape_of(attribute: str) -> ValueShape:
    """Return what the values of an attribute are, as far as its name says it.

    >>> [shape_of(one).kind for one in ("namePublicLong", "brand", "assets.pictures[front]", "netContent", "gtin")]
    ['text', 'code', 'picture', 'quantity', 'key']
    >>> [shape_of(one).kind for one in ("warnings", "warnings.text", "isLabeledBy", "lifeCycle", "xOwn")]
    ['list', 'own', 'rows', 'single', 'own']
    """
    path = selector_of(attribute)[0]
    if path == PICTURES:
        kind = "picture"
    elif path == NUTRIENTS or any(is_within(path, one) for one in MEASURES):
        kind = "quantity"
    elif path in {"id", "gtin"}:
        kind = "key"
    elif path in _OTHER_TEXTS:
        kind = "text"
    elif path in _OTHER_CODES:
        kind = "code"
    elif path in _INSIDE:
        kind = "list"
    elif not value_columns(path) and _is_of_tables(path):
        kind = "rows"
    else:
        kind = _kind_of_column(path)
    return SHAPES[kind]


def value_columns(path: str) -> list[str]:
    """Return the column of `products` that holds the value of an attribute: of those with a code, the code.

    >>> value_columns("brand"), value_columns("brand.label"), value_columns("validation"), value_columns("xOwn")
    (['brand_code'], ['brand'], [], [])
    """
    whole = {".".join(one): column.name for column in TABLES["products"].columns for one in column.paths}
    return [whole[one] for one in (path, f"{path}.code") if one in whole][:1]


def _kind_of_column(path: str) -> str:
    kinds = {column.name: column.kind for column in TABLES["products"].columns}
    for column in value_columns(path):
        if kinds[column] == "code":
            return "code"
        return "own" if kinds[column] == "string" else "single"
    return "own"


def _is_of_tables(path: str) -> bool:
    """Whether a path is in, at or above what has a table or several columns of its own."""
    above_columns = any(
        is_within(".".join(one), path) for column in TABLES["products"].columns for one in column.paths
    )
    anchors = [anchor for table in TABLES.values() if table.per_product for anchor in table.anchors]
    return above_columns or any(is_within(path, one) or is_within(one, path) for one in anchors)


@dataclass(frozen=True, order=True)
class Channel:
    """Where products are to be shown or sold: its products are those of its market.

    Attributes
    ----------
    name
        What people call it: "Web shop".
    market
        The market by its number; 0 for products of all markets.
    consumer_units
        Whether consumer units alone are meant, and no cases or pallets. A product that does not say what it is counts.
    """

    name: str
    market: int = 0
    consumer_units: bool = True

    @cached_property
    def label(self) -> str:
        """The channel with its market, by which its checks are called.

        >>> Channel("Web shop", 250).label, Channel("Catalogue").label
        ('Web shop (France)', 'Catalogue')
        """
        return f"{self.name} ({market_label(str(self.market))})" if self.market else self.name

    @cached_property
    def selection(self) -> Selection:
        """Its products.

        >>> Channel("Web shop", 250).selection == Selection.of(market="250") & ~Selection(groups={"unit": ("false",)})
        True
        """
        return self.market_selection & CONSUMER_UNITS if self.consumer_units else self.market_selection

    @cached_property
    def market_selection(self) -> Selection:
        """The products of its market, of whichever units."""
        return Selection.of(market=str(self.market)) if self.market else Selection()


@dataclass(frozen=True, order=True)
class ProductFamily:
    """A group of products of which the same is asked.

    Attributes
    ----------
    code
        Its code, as products have it.
    label
        What people call it.
    parent
        The family whose requirements it takes where it has none of its own; empty for those of all families.
    """

    code: str
    label: str = ""
    parent: str = ""


@dataclass(frozen=True, order=True)
class Ask:
    """What is asked of an attribute.

    Attributes
    ----------
    level
        How much it is wanted.
    one_of
        The codes that are allowed; empty for any.
    shortest, longest
        Characters that a text has at least and at most; 0 is no bound.
    pattern
        A regular expression that the whole value matches, in which a dot is a line break as well; empty for none.
    pixels
        Pixels of the longest side of the picture, at least; 0 is no bound.
    """

    level: Level
    one_of: tuple[str, ...] = ()
    shortest: int = 0
    longest: int = 0
    pattern: str = ""
    pixels: int = 0

    @cached_property
    def value_pattern(self) -> Pattern:
        """The pattern of the whole value.

        Raises
        ------
        InputError
            When it cannot be read.
        """
        return Pattern(self.pattern, dot_is_all=True)

    @property
    def is_of_value(self) -> bool:
        """Whether it says what the value has to be like."""
        return bool(self.one_of or self.shortest or self.longest or self.pattern or self.pixels)

    @property
    def conditions(self) -> list[str]:
        """What it asks of the value, by the names that messages use."""
        has = {
            _PIXELS: self.pixels,
            _CHARACTERS: self.shortest or self.longest,
            _CODES: self.one_of,
            _PATTERN: self.pattern,
        }
        return [name for name, value in has.items() if value]

    @property
    def words(self) -> str:
        """What is asked in words: `prodex.quality.requirement_files.asked_in_words` reads it.

        >>> Ask(Level.MUST, ("A", "B c"), shortest=3, longest=80, pattern="[A-Z].*").words
        'must; one of: A, "B c"; 3-80 characters; pattern: [A-Z].*'
        """
        return "; ".join(filter(None, [self.level.value, self.condition]))

    @property
    def condition(self) -> str:
        """What the value has to be like in words; empty for anything.

        >>> Ask(Level.MUST, shortest=3).condition, Ask(Level.MUST).condition
        ('at least 3 characters', '')
        """
        words = [f"one of: {', '.join(map(_code_in_words, self.one_of))}"] if self.one_of else []
        if self.shortest and self.longest:
            words.append(f"{self.shortest}-{self.longest} characters")
        elif self.shortest or self.longest:
            bound = f"at least {self.shortest}" if self.shortest else f"at most {self.longest}"
            words.append(f"{bound} characters")
        words += [f"at least {self.pixels} pixels"] if self.pixels else []
        words += [f"pattern: {_pattern_in_words(self.pattern)}"] if self.pattern else []
        return "; ".join(words)


#: Codes that cannot be taken for anything else in a cell; any other is in quotes.
_PLAIN_CODE = re.compile(r"(?!(?:etc|usw|enz)$)(?:[A-Za-z](?:[A-Za-z0-9_.+-]*[A-Za-z0-9_+-])?|[0-9]+)")


def _code_in_words(code: str) -> str:
    return code if _PLAIN_CODE.fullmatch(code) else _quoted(code)


def _pattern_in_words(pattern: str) -> str:
    is_plain = pattern == pattern.strip() and pattern[:1] != '"' and not re.search(r"[;\s]", pattern)
    return pattern if is_plain else _quoted(pattern)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@dataclass(frozen=True, order=True)
class AskedAttribute:
    """What is asked about: an attribute, of texts in one language.

    Attributes
    ----------
    attribute
        A wire path, a picture's face or a nutrient.
    language
        Short code of the language; empty where it is no text in one.
    """

    attribute: str
    language: str = ""

    @property
    def path(self) -> str:
        """The wire path that has to be asked for."""
        return selector_of(self.attribute)[0]


@dataclass(frozen=True, order=True)
class ChannelRequirement:
    """What one channel asks of one family.

    Attributes
    ----------
    channel
        `Channel.label` of the channel.
    asked
        What it is about.
    family
        Code of the family; `ALL` for every one.
    ask
        What is asked.
    """

    channel: str
    asked: AskedAttribute
    family: str
    ask: Ask


#: A channel, a family (None for all), what is asked about and what is asked; None where it only makes others known.
Entry = tuple[Channel | None, ProductFamily | None, AskedAttribute | None, Ask | None]

#: The columns of `Requirements.frame`.
COLUMNS = (
    *(
        "channel",
        "market",
        "consumer_units",
        "attribute",
        "language",
        "family",
        "family_label",
        "family_parent",
    ),
    *(one.name for one in fields(Ask)),
)


@dataclass(frozen=True)
class Requirements:
    """What each channel asks of the products of each family.

    Attributes
    ----------
    name
        What they are called: the name of the file.
    by
        By what families are told: "kind", "gpc", or a column of `products`.
    channels, families, requirements
        Each in order, and once.
    ignored
        Sheets and columns of the file that are somebody's own, and what was typed where a workbook only shows: all of
        it was left alone.
    notes
        What is no error and may surprise: what must be filled and no product of its family has today.

    Examples
    --------
    >>> import pandas as pd, prodex
    >>> rows = [["Web shop", "*", "brand", "", "must"], ["Web shop", "TEA", "namePublicLong", "fr", "should"]]
    >>> frame = pd.DataFrame(rows, columns=["channel", "family", "attribute", "language", "level"])
    >>> wanted = prodex.Requirements.of(frame)
    >>> wanted.ask("Web shop", AskedAttribute("brand"), "TEA").level.value
    'must'
    """

    name: str = "own"
    by: str = "kind"
    channels: tuple[Channel, ...] = ()
    families: tuple[ProductFamily, ...] = ()
    requirements: tuple[ChannelRequirement, ...] = ()
    ignored: tuple[str, ...] = field(default=(), compare=False)
    notes: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def read(
        cls, path: str | Path, *, known: Collection[str] = (), limits: Limits | None = None
    ) -> Requirements:
        """Read requirements from a workbook, CSV or TOML; the file is never changed.

        Beside a workbook or CSV with another table an empty workbook is written, to fill in: `shop template.xlsx`
        beside `shop.xlsx`. One that is there already stays as it is.

        Parameters
        ----------
        path
            A workbook that `prodex.requirements` or `write` wrote, filled in by hand (.xlsx); its sheet Requirements as
            CSV; or TOML.
        known
            Attributes that are known to exist beside those of the specification, such as a supplier's own.
        limits
            What the file may take, unpacked.

        Raises
        ------
        InputError
            When the file is something else, or anything in it cannot be understood: every cell is named at once.

        Examples
        --------
        >>> import pathlib, prodex, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "shop.toml")
        >>> _ = path.write_text(
        ...     'requirements = 1\\n[[channels]]\\nname = "Shop"\\n[asked.Shop.TEA]\\nnamePublicLong.fr = "must"\\n'
        ... )
        >>> prodex.Requirements.read(path).frame[["family", "attribute", "language", "level"]].values.tolist()
        [['TEA', 'namePublicLong', 'fr', 'must']]
        """
        from prodex.quality.requirement_files.files import read_requirements

        return read_requirements(path, known, limits)

    @staticmethod
    def is_file(path: str | Path) -> bool:
        """Return whether a path is that of a file with requirements, and not of a profile.

        What a spreadsheet saves is no profile, and a TOML file of requirements has the key `requirements`.

        Examples
        --------
        >>> import prodex
        >>> prodex.Requirements.is_file("requirements.xlsx"), prodex.Requirements.is_file("online-listing")
        (True, False)
        """
        from prodex.quality.requirement_files.files import is_requirements_file

        return is_requirements_file(path)

    def write(self, path: str | Path, *, replace: bool = False) -> Path:
        """Write them as CSV or TOML, for version control, or as a workbook without shares; `read` reads each back.

        Parameters
        ----------
        path
            The file; its ending says which: .csv, .toml or .xlsx.
        replace
            Whether a file that is there is replaced.

        Raises
        ------
        InputError
            When the ending is another one, or there is a file.

        Examples
        --------
        >>> import pandas as pd, prodex, tempfile
        >>> rows = [["Web shop", "*", "brand", "must"]]
        >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
        >>> path = wanted.write(f"{tempfile.mkdtemp()}/own.toml")
        >>> prodex.Requirements.read(path) == wanted
        True
        """
        from prodex.quality.requirement_files.files import write_requirements

        return write_requirements(self, path, replace=replace)

    @classmethod
    def of(cls, frame: pd.DataFrame, by: str = "kind", name: str = "own") -> Self:
        """Make requirements of a frame with one row for each.

        Parameters
        ----------
        frame
            `channel`, `family` ("*" for all), `attribute` and `level` ("must", "should", "may", "not"), and where
            there is something to say `market`, `consumer_units`, `language`, `family_label`, `family_parent`,
            `one_of` (codes, in a list or divided by "|"), `shortest`, `longest`, `pattern` and `pixels`. A row
            without an attribute makes a channel or a family known of which nothing is asked.
        by
            By what families are told: "kind", "gpc", or a column of `products`.
        name
            What they are called.

        Raises
        ------
        InputError
            When a row cannot be used, or two rows contradict each other; all of them are named at once.
        """
        if not isinstance(frame, pd.DataFrame):
            raise InputError(
                f"frame is {frame!r:.60}. Give a DataFrame with the columns {', '.join(COLUMNS)}."
            )
        for column in map(str, frame.columns):
            if column not in COLUMNS:
                raise InputError(f"Requirements have no column {column!r}{hint(column, COLUMNS)}")
        wrong: list[str] = []
        read = []
        for number, row in enumerate(frame.to_dict("records"), 1):
            try:
                read.append((f"row {number}", *row_read({str(key): value for key, value in row.items()})))
            except (InputError, QueryError) as error:
                wrong.append(f"row {number}: {error}")
        return cls.joined(read, wrong, by=by, name=name)

    @classmethod
    def joined(
        cls,
        read: Iterable[tuple[str, *Entry]],
        wrong: Sequence[str] = (),
        *,
        by: str = "kind",
        name: str = "own",
        ignored: Sequence[str] = (),
        notes: Sequence[str] = (),
    ) -> Self:
        """Put together what was read cell by cell.

        Parameters
        ----------
        read
            Of each cell its place in words, its channel, its family (None for all), what it is about and what is
            asked; None where it is there to make the others known.
        wrong
            What could not be read, in words that name the place.
        by, name, ignored, notes
            As in `Requirements`.

        Raises
        ------
        InputError
            With `wrong`, and every contradiction, all at once.
        """
        problems = list(wrong)
        column_of(by)
        channels: dict[str, Channel] = {}
        families: dict[str, ProductFamily] = {}
        # Where the label and the parent of a family were first, and what was named already.
        places: dict[tuple[str, str, str], str] = {}
        asks: dict[tuple[str, AskedAttribute, str], tuple[str, Ask]] = {}
        for place, channel, family, asked, ask in read:
            if (wrong_word := _unusable(channel, family, asked, ask)) is not None:
                problems.append(f"{place}: {wrong_word}")
                continue
            if channel is not None and channels.setdefault(channel.label, channel) != channel:
                problems.append(
                    f"{place}: the channel {channel.label} is once of consumer units only and once of all products"
                )
            if family is not None:
                problems += _family_problems(place, families, family, places)
            if channel is None or asked is None or ask is None:
                continue
            key = (channel.label, asked, ALL if family is None else family.code)
            try:
                checked_requirement(asked, ask)
            except InputError as error:
                problems.append(f"{place}: {error}")
            if (before := asks.setdefault(key, (place, ask)))[1] != ask:
                problems.append(
                    f"{place}: {_said_twice(key)} is '{ask.words}', and '{before[1].words}' in {before[0]}"
                )
        problems += _circles(families)
        if problems:
            raise InputError(
                f"The requirements {name!r} cannot be used, {len(problems)} in all:\n  "
                + "\n  ".join(problems)
            )
        return cls(
            name,
            by,
            tuple(channels.values()),
            tuple(sorted(families.values())),
            tuple(
                sorted(
                    ChannelRequirement(channel, asked, family, ask)
                    for (channel, asked, family), (_, ask) in asks.items()
                )
            ),
            tuple(ignored),
            tuple(notes),
        )

    @property
    def frame(self) -> pd.DataFrame:
        """One row per requirement, as `Requirements.of` reads it; a family or channel without any has a row as well.

        Examples
        --------
        >>> import pandas as pd, prodex
        >>> rows = [["Web shop", "*", "brand", "must"]]
        >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
        >>> prodex.Requirements.of(wanted.frame) == wanted
        True
        """
        return pd.DataFrame([_row(*entry) for entry in entries_of(self)], columns=list(COLUMNS))

    def ask(self, channel: str, asked: AskedAttribute, family: str | None) -> Ask | None:
        """Return what a channel asks of a family, by itself, its parents or all families; None where nobody says."""
        return self.asks(family).get((channel, asked))

    def asks(self, family: str | None) -> Mapping[tuple[str, AskedAttribute], Ask]:
        """Return all that is asked of a family, by channel label and attribute."""
        found: Mapping[tuple[str, AskedAttribute], Ask] = {}
        below: list[str] = []
        for code in self._upwards(family):
            if code in self._asks_from:
                found = self._asks_from[code]
                break
            # Families that nobody listed are alike: what is above them decides.
            if code == ALL or code in self.listed:
                below.append(code)
        for code in reversed(below):
            own = self._asks_of_code.get(code)
            found = {**found, **own} if own else found
            self._asks_from[code] = found
        return found

    def own_ask(self, channel: str, asked: AskedAttribute, family: str) -> Ask | None:
        """Return what a channel asks of a family by itself; None where that is left to those above it."""
        return self._asks_of_code.get(family, {}).get((channel, asked))

    def knows(self, family: str | None) -> bool:
        """Whether a family or one above it is listed, other than all families."""
        return any(code in self.listed for code in self._upwards(family))

    def nearest(self, family: str | None) -> str | None:
        """Return the listed family that a product's own is or lies below; None where there is none."""
        return next((code for code in self._upwards(family) if code in self.listed), None)

    def chain(self, family: str | None) -> tuple[str, ...]:
        """Return a family and those above it, the nearest first and `ALL` last.

        >>> Requirements(by="gpc", families=(ProductFamily("50000000"),)).chain("50131703")
        ('50131703', '50131700', '50130000', '50000000', '*')
        """
        return tuple(self._upwards(family))

    def _upwards(self, family: str | None) -> Iterator[str]:
        seen: set[str] = set()
        code = family or ""
        while code and code not in seen and code != ALL:
            seen.add(code)
            yield code
            parent = self.listed[code].parent if code in self.listed else ""
            above = gpc_above(code) if self.by in _GPC and not parent else ()
            code = parent or (above[0] if above else "")
        yield ALL

    def without_asks(self) -> Self:
        """Return the channels and families alone: what an audit keeps to say what it was made by."""
        return replace(self, requirements=())

    def named(self, name: str) -> Self:
        """Return the same under another name."""
        return replace(self, name=name)

    @cached_property
    def listed(self) -> Mapping[str, ProductFamily]:
        """The families by code."""
        return {one.code: one for one in self.families}

    @cached_property
    def channels_of_all(self) -> frozenset[str]:
        """The channels that ask something of all families: there a family that is not listed is judged by that."""
        return frozenset(one.channel for one in self.requirements if one.family == ALL)

    def counts_consumer_units(self, channel: Channel, asked: AskedAttribute) -> bool:
        """Return whether an attribute is asked of consumer units alone.

        Families of packaging name their units themselves, and so does who asks for a kind of unit.
        """
        return self.means_consumer_units(channel) and not any(map(names_units_by, value_columns(asked.path)))

    def means_consumer_units(self, channel: Channel) -> bool:
        """Return whether a channel is about consumer units alone, but for what asks for a kind of unit."""
        return channel.consumer_units and not names_units_by(column_of(self.by))

    @cached_property
    def _asks_of_code(self) -> Mapping[str, Mapping[tuple[str, AskedAttribute], Ask]]:
        found: dict[str, dict[tuple[str, AskedAttribute], Ask]] = {}
        for one in self.requirements:
            found.setdefault(one.family, {})[one.channel, one.asked] = one.ask
        return found

    @cached_property
    def _asks_from(self) -> dict[str, Mapping[tuple[str, AskedAttribute], Ask]]:
        """What is asked of the listed families that were asked for, with what is above them."""
        return {}


def entries_of(requirements: Requirements) -> Iterator[Entry]:
    """Yield each requirement, and each channel and family of which nothing is asked.

    >>> list(entries_of(Requirements(channels=(Channel("Shop"),))))
    [(Channel(name='Shop', market=0, consumer_units=True), None, None, None)]
    """
    asked_of: dict[str, list[ChannelRequirement]] = {}
    for one in requirements.requirements:
        asked_of.setdefault(one.channel, []).append(one)
    # Channels are in the order in which they were given.
    for channel in requirements.channels:
        own = asked_of.get(channel.label, [])
        for one in own:
            listed = requirements.listed.get(one.family, ProductFamily(one.family))
            yield channel, None if one.family == ALL else listed, one.asked, one.ask
        if not own:
            yield channel, None, None, None
    used = {one.family for one in requirements.requirements}
    yield from ((None, one, None, None) for one in requirements.families if one.code not in used)


_GPC = ("gpc", "gpc_code")
#: Columns of `products` of which each product has at most one value that is a code or a word.
_WORDS = tuple(column.name for column in TABLES["products"].columns if column.kind in {"string", "code"})


def column_of(by: str) -> str:
    """Return the column of `products` with the codes of families.

    Raises
    ------
    InputError
        When there is none; the message names the nearest.

    Examples
    --------
    >>> column_of("kind"), column_of("gpc"), column_of("owner_id")
    ('kind_code', 'gpc_code', 'owner_id')
    """
    code = f"{by}_code"
    if code in _WORDS:
        return code
    if by in _WORDS:
        return by
    near = hint(str(by), ["kind", "gpc", *_WORDS], "Give kind, gpc or a column of products that holds words.")
    raise InputError(f"There are no families by {by!r:.60}{near}")


def selector_of(attribute: str) -> tuple[str, str]:
    """Return the wire path of an attribute, and what is chosen there: a face, a nutrient, or nothing.

    >>> selector_of("assets.pictures[front]"), selector_of("brand")
    (('assets.pictures', 'front'), ('brand', ''))
    """
    found = _SELECTOR.fullmatch(attribute)
    return (found["path"], found["chosen"]) if found else (attribute, "")


def checked_attribute(attribute: str) -> str:
    """Return an attribute as it is kept, and refuse a face that no picture has.

    Raises
    ------
    InputError
        When it is empty, or something is chosen that cannot be.
    """
    given = attribute.strip()
    path, chosen = selector_of(given)
    if not given or (("[" in given or "]" in given) and not chosen):
        raise InputError(f"{attribute!r:.60} is not an attribute; give a wire path, such as namePublicLong.")
    if chosen and path == PICTURES:
        faces = list(FACES.values())
        if chosen not in faces:
            raise InputError(
                f"no picture shows the face {chosen!r:.40}{hint(chosen, faces, f'Give {_or(faces)}.')}"
            )
    elif chosen and path != NUTRIENTS:
        raise InputError(
            f"only a picture's face or a nutrient can be chosen: {PICTURES}[front] or {NUTRIENTS}[FAT], not "
            f"{given!r:.80}."
        )
    return given


def language_asked(text: str) -> str:
    """Return the short code of the language that somebody asks for.

    Raises
    ------
    InputError
        When it is a variant, since a text in any other one would be taken for it.
    QueryError
        When there is no such language; the message names the nearest.

    Examples
    --------
    >>> language_asked("fra"), language_asked("German")
    ('fr', 'de')
    >>> language_asked("fr-BE")
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: 'fr-BE' is a variant of a language, and what is asked holds for all variants. Write fr.
    """
    tag = language_tag(text)
    if "-" in tag:
        raise InputError(
            f"{text!r:.40} is a variant of a language, and what is asked holds for all variants. Write {short_of(tag)}."
        )
    return short_of(tag)


def checked_ask(ask: Ask) -> Ask:
    """Return what is asked if it can be: bounds in their order, a pattern that can be read.

    Raises
    ------
    InputError
        When it cannot.
    """
    if ask.is_of_value and ask.level in {Level.MAY, Level.NOT}:
        raise InputError(
            f"only what must or should be filled can have a rule for its value, and here the word is '{ask.level}'. "
            "Remove the condition, or write must or should."
        )
    if ask.longest and ask.shortest > ask.longest:
        raise InputError(f"at least {ask.shortest} and at most {ask.longest} characters cannot both be.")
    if ask.pattern:
        ask.value_pattern  # noqa: B018 - raises where it cannot be read
    return ask


def checked_requirement(asked: AskedAttribute, ask: Ask) -> None:
    """Refuse a condition that nothing can judge, and a language where values have none.

    Raises
    ------
    InputError
        With what can be written in its place.

    Examples
    --------
    >>> checked_requirement(AskedAttribute("gtin"), Ask(Level.MUST, pattern="3.*"))
    Traceback (most recent call last):
    ...
    prodex.errors.InputError: a pattern cannot be asked of this attribute, which is no picture and no text, ...
    """
    shape = shape_of(asked.attribute)
    inside = _INSIDE.get(asked.path)
    shape.refuse(ask, f"Ask it of {inside}, or write the word alone." if inside else "")
    if asked.language and not shape.has_languages:
        raise InputError(
            f"{asked.attribute!r:.60} is {shape.called}, which is in no language. Remove the language "
            f"{language_name(asked.language)}."
        )


def _unusable(
    channel: Channel | None, family: ProductFamily | None, asked: AskedAttribute | None, ask: Ask | None
) -> str | None:
    """Return why something cannot be called so: a file that is written with it would not be read back."""
    texts = {
        "the channel": [channel.name] if channel else [],
        "the attribute": [asked.attribute] if asked else [],
        "a condition": [*ask.one_of, ask.pattern] if ask else [],
    }
    for what, several in texts.items():
        for one in several:
            if (found := _NO_TEXT.search(one)) is not None:
                return _no_character(what, one, found[0])
    return None if family is None else unusable_family(family)


def unusable_family(family: ProductFamily) -> str | None:
    """Return in words why a family cannot be asked about; None where it can.

    >>> unusable_family(ProductFamily("TEA"))
    >>> unusable_family(ProductFamily("*"))
    "'*' means all families, and no family can have it as its code. Give it another code."
    """
    for one in (family.code, family.label, family.parent):
        if (found := _NO_TEXT.search(one)) is not None:
            return _no_character("the family", one, found[0])
    if family.code == ALL:
        return f"{ALL!r} means all families, and no family can have it as its code. Give it another code."
    if not is_visible(family.code):
        return f"a family has the code {family.code!r:.40}, which shows nothing. Write its code."
    return None


def _no_character(what: str, text: str, character: str) -> str:
    return f"{what} {text!r:.60} holds {character!r}, which is no character of a text. Write it without."


def row_read(row: Mapping[str, Any]) -> Entry:
    """Read a row of a frame."""

    def text(name: str) -> str:
        value = row.get(name)
        if isinstance(value, list | tuple):
            return "|".join(map(_cell_text, value))
        return _cell_text(value).strip()

    def number(name: str) -> int:
        value = text(name)
        if not value:
            return 0
        try:
            found = written_whole(value, ".")
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
        if not 0 <= found < 10**9:
            raise InputError(f"{name} is {value!r:.40}; give a whole number of at most nine digits.")
        return found

    channel = None
    if text("channel"):
        market = text("market").removesuffix(".0")  # of CSV that another program wrote
        units = text("consumer_units").casefold()
        if units not in {"", "true", "false", "0", "1", "0.0", "1.0"}:
            raise InputError(f"consumer_units is {units!r:.40}; give true or false.")
        channel = Channel(
            text("channel"), market_code(market) if market else 0, units in {"", "true", "1", "1.0"}
        )
    code = text("family")
    family = None if code in {"", ALL} else ProductFamily(code, text("family_label"), text("family_parent"))
    if not text("attribute"):
        return channel, family, None, None
    if channel is None:
        raise InputError("it has no channel.")
    language = text("language")
    asked = AskedAttribute(checked_attribute(text("attribute")), language_asked(language) if language else "")
    level = text("level").casefold()
    if level not in tuple(Level):
        levels = list(map(str, Level))
        raise InputError(f"level is {level!r:.40}{hint(level, levels, f'Give {_or(levels)}.')}")
    codes = tuple(dict.fromkeys(_codes(row.get("one_of"))))
    pattern = _cell_text(row.get("pattern"))
    ask = Ask(Level(level), codes, number("shortest"), number("longest"), pattern, number("pixels"))
    return channel, family, asked, checked_ask(ask)


def _cell_text(value: Any) -> str:
    """Return a value of a frame as text: a column of codes that has gaps is one of doubles, and 12.0 is the code 12."""
    if value is None or pd.isna(value):
        return ""
    return number_text(float(value)) if isinstance(value, float) else str(value)


#: Codes that need no quotes in a list divided by "|".
_IN_A_LIST = re.compile(r'[^\s|"](?:[^|]*[^\s|])?')
_LISTED = re.compile(r'\s*(?:"((?:[^"]|"")*)"|([^|]*?))\s*(?:\||$)')


def _codes(given: Any) -> list[str]:
    """Return codes in a list, or in a text divided by "|"."""
    if isinstance(given, list | tuple):
        return [text for one in given if (text := _cell_text(one).strip())]
    text = _cell_text(given)
    found = [one[1].replace('""', '"') if one[1] is not None else one[2] for one in _LISTED.finditer(text)]
    return [one.strip() for one in found if one.strip()]


def _row(
    channel: Channel | None, family: ProductFamily | None, asked: AskedAttribute | None, ask: Ask | None
) -> dict[str, Any]:
    return {
        "channel": channel.name if channel else "",
        "market": str(channel.market) if channel and channel.market else "",
        "consumer_units": bool(channel and channel.consumer_units),
        "attribute": asked.attribute if asked else "",
        "language": asked.language if asked else "",
        "family": family.code if family else ALL,
        "family_label": family.label if family else "",
        "family_parent": family.parent if family else "",
        "level": ask.level.value if ask else "",
        "one_of": "|".join(one if _IN_A_LIST.fullmatch(one) else _quoted(one) for one in ask.one_of)
        if ask
        else "",
        **{name: getattr(ask, name) if ask else 0 for name in ("shortest", "longest")},
        "pattern": ask.pattern if ask else "",
        "pixels": ask.pixels if ask else 0,
    }


def _family_problems(
    place: str,
    families: dict[str, ProductFamily],
    family: ProductFamily,
    places: dict[tuple[str, str, str], str],
) -> Iterator[str]:
    """Yield what contradicts what was said of a family before, once, and keep what is said of it."""
    known = families.get(family.code, family)
    merged = ProductFamily(family.code, known.label or family.label, known.parent or family.parent)
    for name in ("label", "parent"):
        before, now = getattr(known, name), getattr(family, name)
        is_new = now and places.setdefault((family.code, name, now), place) == place
        if is_new and before and before != now:
            first = places[family.code, name, before]
            yield (
                f"{place}: the {name} of family {family.code} is {now!r:.60}, and {before!r:.60} in {first}. "
                "Write the same in both."
            )
    families[family.code] = merged


def _circles(families: Mapping[str, ProductFamily]) -> Iterator[str]:
    """Yield the circles of parents, and the families that lie too deep; each family is looked at once."""
    deep: dict[str, int] = {}
    for first in families:
        way: dict[str, int] = {}
        code = first
        while code in families and code not in deep and code not in way:
            way[code] = len(way)
            code = families[code].parent
        codes, is_circle = list(way), code in way
        if is_circle:
            circle = codes[way[code] :]
            least = circle.index(min(circle))
            named = [*circle[least:], *circle[: least + 1]]
            shown = [*named[:_MOST_NAMED], f"... ({len(circle):,} in all)", named[-1]]
            yield f"families are parents of each other: {' -> '.join(shown if len(named) > _MOST_NAMED else named)}"
        depth = deep.get(code, 0)
        for one in reversed(codes):
            depth = deep[one] = 1 if is_circle else depth + 1
            if depth == _MOST_LEVELS + 1:
                yield (
                    f"the family {one!r:.60} is the last of more than {_MOST_LEVELS:,} that belong to each other. Let "
                    "it belong to one that is nearer to all families."
                )


def _said_twice(key: tuple[str, AskedAttribute, str]) -> str:
    channel, asked, family = key
    language = f" ({asked.language})" if asked.language else ""
    return f"{asked.attribute}{language} of {'all families' if family == ALL else f'family {family}'} in {channel}"


def _or(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
