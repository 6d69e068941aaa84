"""Requirements: what a channel asks of the products of each family, as one frozen value.

A requirement says of one channel, one family and one attribute (of texts: in one language) whether it *must*, *should*
or *may* be filled, or does *not* belong there, and what a value has to be like. A family without a requirement takes
that of its parent, and in the end that of all families (`ALL`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple, Self

import pandas as pd

from prodex.errors import InputError
from prodex.facts.gpc import gpc_above
from prodex.languages import Message, Said
from prodex.limits import Limits
from prodex.phrases import composed, hint
from prodex.quality.asked_attributes import AskedAttribute, value_columns
from prodex.quality.asks import Ask
from prodex.selection import Selection
from prodex.selection.units import CONSUMER_UNITS, names_units_by
from prodex.tables.declaration import TABLES
from prodex.tables.visible import is_visible

#: The family whose requirements hold for every other one, unless it says otherwise.
ALL = "*"

#: Families above each other, and those of a circle that a message names.
_MOST_LEVELS, _MOST_NAMED = 1_000, 8
#: What no file of requirements keeps, or no program shows: controls other than tabs and line breaks, half characters.
_NO_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


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
        return str(self.said)

    @property
    def said(self) -> Said:
        """The same with the name of the market in the language of the reader."""
        if not self.market:
            return self.name
        return Message("{channel} ({market})", channel=self.name, market=str(self.market))

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


class RequirementEntry(NamedTuple):
    """A requirement with all that belongs to it; without `asked` and `ask` it only makes the others known.

    Attributes
    ----------
    channel, family
        Of which products something is asked; None for the family is all of them.
    asked, ask
        What it is about, and what is asked.
    """

    channel: Channel | None = None
    family: ProductFamily | None = None
    asked: AskedAttribute | None = None
    ask: Ask | None = None


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
            A workbook that `prodex.write_requirements` or `write` wrote, filled in by hand (.xlsx); its sheet
            Requirements as CSV; or TOML.
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
    def of(cls, frame: pd.DataFrame, by: str = "kind", name: str = "own") -> Requirements:
        """Make requirements of a frame with one row for each.

        Parameters
        ----------
        frame
            `channel`, `attribute` and `level` ("must", "should", "may", "not"), and where there is something to say
            `family` ("*" for all), `market`, `consumer_units`, `language`, `condition`, `family_label`,
            `family_parent` and `by`. A row without a level makes a channel or a family known of which nothing is asked.
        by
            By what families are told where a row does not say it: "kind", "gpc", or a column of `products`.
        name
            What they are called.

        Raises
        ------
        InputError
            When a row cannot be used, or two rows contradict each other; all of them are named at once.
        """
        from prodex.quality.requirement_files.rows import COLUMNS, read_rows, rows_of_frame

        if not isinstance(frame, pd.DataFrame):
            raise InputError(
                f"frame is {frame!r:.60}. Give a DataFrame with the columns {', '.join(COLUMNS)}."
            )
        for column in map(str, frame.columns):
            if column not in COLUMNS:
                raise InputError(f"Requirements have no column {column!r}{hint(column, COLUMNS)}")
        wrong: list[str] = []
        found = read_rows(rows_of_frame(frame, by), wrong)
        return cls.joined(found.entries, wrong, by=found.by or by, name=name)

    @classmethod
    def joined(
        cls,
        read: Iterable[tuple[str, RequirementEntry]],
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
            What was read, each with its place in words.
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
        spelled: dict[str, tuple[str, str]] = {}
        families: dict[str, ProductFamily] = {}
        # Where the label and the parent of a family were first, and what was named already.
        places: dict[tuple[str, str, str], str] = {}
        asks: dict[tuple[str, AskedAttribute, str], tuple[str, Ask]] = {}
        for place, (channel, family, asked, ask) in read:
            if channel is not None and channel.label not in channels:
                first, there = spelled.setdefault(_alike(channel.label), (channel.label, place))
                if first != channel.label:
                    problems.append(
                        f"{place}: {spelled_twice(channel.label, first)} in {there}. {WRITE_ALIKE}"
                    )
            if channel is not None and channels.setdefault(channel.label, channel) != channel:
                problems.append(
                    f"{place}: the channel {channel.label} is once of consumer units only and once of all products"
                )
            if family is not None:
                problems += _family_problems(place, families, family, places)
            if channel is None or asked is None or ask is None:
                continue
            key = (channel.label, asked, ALL if family is None else family.code)
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
        from prodex.quality.requirement_files.rows import COLUMNS, rows_of

        return pd.DataFrame(rows_of(self), columns=list(COLUMNS), dtype=object)

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


#: What to do about a channel that is written in two ways.
WRITE_ALIKE = "Write the same in both, or call one of them by another name."


def spelled_twice(label: str, first: str) -> str:
    """Say that a channel is most likely another one: apart, each is complete without what is asked for the other."""
    return f"the channel {label!r:.60} differs by capitals, blanks or the spelling of accents alone from {first!r:.60}"


def same_but_for_spelling(channels: Iterable[Channel]) -> tuple[str, str] | None:
    """Return the labels of two channels that are most likely one; None where there are none.

    >>> same_but_for_spelling([Channel("Web shop"), Channel("Catalogue"), Channel("web  shop")])
    ('web  shop', 'Web shop')
    """
    there: dict[str, str] = {}
    labels = (one.label for one in channels)
    return next(
        (pair for one in labels if (pair := (one, there.setdefault(_alike(one), one)))[0] != pair[1]), None
    )


def _alike(label: str) -> str:
    return " ".join(composed(label).casefold().split())


def entries_of(requirements: Requirements) -> Iterator[RequirementEntry]:
    """Yield each requirement, and each channel and family of which nothing is asked.

    >>> list(entries_of(Requirements(channels=(Channel("Shop"),))))
    [RequirementEntry(channel=Channel(name='Shop', market=0, consumer_units=True), family=None, asked=None, ask=None)]
    """
    asked_of: dict[str, list[ChannelRequirement]] = {}
    for one in requirements.requirements:
        asked_of.setdefault(one.channel, []).append(one)
    # Channels are in the order in which they were given.
    for channel in requirements.channels:
        own = asked_of.get(channel.label, [])
        for one in own:
            listed = requirements.listed.get(one.family, ProductFamily(one.family))
            yield RequirementEntry(channel, None if one.family == ALL else listed, one.asked, one.ask)
        if not own:
            yield RequirementEntry(channel)
    used = {one.family for one in requirements.requirements}
    yield from (RequirementEntry(None, one) for one in requirements.families if one.code not in used)


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


def no_text(text: str) -> str | None:
    """Return why no file keeps a text, as the end of a sentence; None where files do.

    >>> print(no_text("T\\0A"))
    holds '\\x00', which is no character of a text. Write it without.
    """
    found = _NO_TEXT.search(text)
    return (
        None if found is None else f"holds {found[0]!r}, which is no character of a text. Write it without."
    )


def unusable_family(family: ProductFamily) -> str | None:
    """Return in words why a family cannot be asked about; None where it can.

    >>> unusable_family(ProductFamily("TEA"))
    >>> unusable_family(ProductFamily("*"))
    "'*' means all families, and no family can have it as its code. Give it another code."
    """
    for one in (family.code, family.label, family.parent):
        if (why := no_text(one)) is not None:
            return f"the family {one!r:.60} {why}"
    if family.code == ALL:
        return f"{ALL!r} means all families, and no family can have it as its code. Give it another code."
    if not is_visible(family.code):
        return f"a family has the code {family.code!r:.40}, which shows nothing. Write its code."
    return None


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
