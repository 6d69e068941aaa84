"""Requirements as rows, one requirement a row and by codes: all files and frames have the same, written and read here.

A row says all that it means. Whatever carries rows (a sheet, CSV, TOML, a frame) only says what the cells of each row
are, and where they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from prodex.errors import InputError, QueryError
from prodex.formats.workbook_cells import LONGEST
from prodex.locales import market_code, market_name
from prodex.quality.asked_attributes import (
    AskedAttribute,
    check_judgeable,
    check_language,
    language_asked,
    shape_of,
)
from prodex.quality.asks import Ask, Level, ask_of, level_of
from prodex.quality.codes_in_use import NO_CODES
from prodex.quality.requirement_files.attribute_titles import KnownAttributes
from prodex.quality.requirements import (
    ALL,
    Channel,
    ProductFamily,
    RequirementEntry,
    Requirements,
    entries_of,
    no_text,
    unusable_family,
)
from prodex.tables.attributes import TEXTS
from prodex.tables.values import number_text

#: The columns. A row without a level asks nothing: its channel or its family are known by it.
COLUMNS = (
    *("channel", "market", "consumer_units", "family", "family_label", "family_parent"),
    *("attribute", "language", "level", "condition", "by"),
)
#: What a cell says of all markets, and of a text that may be in any language: an empty one may have been forgotten.
ALL_MARKETS, ANY = "all", "any"
#: What is meant where nobody expects each cell to be filled: in frames and in TOML.
LEFT_OUT: Mapping[str, str] = {"market": ALL_MARKETS, "family": ALL, "language": ANY}
#: Problems of a file that are listed: whoever corrects so many reads it again.
MOST_PROBLEMS = 1_000

#: Each channel once: what it is called takes a while to find.
_channel = lru_cache(maxsize=1_000)(Channel)

T = TypeVar("T")
_Texts = Mapping[str, str]


class RequirementRow(NamedTuple):
    """A row as something carries it.

    Attributes
    ----------
    texts
        What the cell of each column says, without blanks around; empty for nothing.
    place
        Returns what the place of the cell of a column is called.
    problems
        Why cells cannot be read, by their column.
    """

    texts: _Texts
    place: Callable[[str], str]
    problems: Mapping[str, str] = MappingProxyType({})


class RowsRead(NamedTuple):
    """What rows mean.

    Attributes
    ----------
    entries
        Each with its place.
    by
        By what families are told; empty where no row says it.
    """

    entries: list[tuple[str, RequirementEntry]]
    by: str


def row_of(by: str, entry: RequirementEntry) -> dict[str, str]:
    """Return a requirement as a row.

    >>> row_of("kind", RequirementEntry(Channel("Shop"), None, AskedAttribute("brand")))["family"]
    '*'
    """
    channel, family, asked, ask = entry
    row = dict.fromkeys(COLUMNS, "") | {"by": by}
    if channel is not None:
        units = str(channel.consumer_units).lower()
        row |= {
            "channel": channel.name,
            "market": _written_market(channel.market),
            "consumer_units": units,
            "family": ALL,
        }
    if family is not None:
        row |= {"family": family.code, "family_label": family.label, "family_parent": family.parent}
    if asked is not None:
        in_any = ANY if asked.attribute in TEXTS else ""
        row |= {"attribute": asked.attribute, "language": asked.language or in_any}
    if ask is not None:
        row |= {"level": ask.level.value, "condition": ask.condition}
    return row


def rows_of(requirements: Requirements) -> list[dict[str, str]]:
    """Return requirements as rows; one that says by what families are told where there is nothing else."""
    rows = [row_of(requirements.by, entry) for entry in entries_of(requirements)]
    return rows or [row_of(requirements.by, RequirementEntry())]


def check_lengths(rows: Iterable[_Texts]) -> None:
    """Refuse texts that no cell holds: they would be cut, and never read back.

    Raises
    ------
    InputError
        With the first of them.
    """
    for row in rows:
        for column, text in row.items():
            if (problem := _too_long(text)) is not None:
                what = row["attribute"] or row["family"] or row["channel"]
                raise InputError(f"the {column} of {what!r:.60} {problem}. Write it shorter.")


def rows_of_frame(frame: pd.DataFrame, by: str) -> Iterator[RequirementRow]:
    """Yield the rows of a frame, in which columns and cells may be left out."""
    left_out = {**LEFT_OUT, "by": by}
    for number, record in enumerate(frame.to_dict("records"), 1):
        texts = {one: _text(record.get(one)) or left_out.get(one, "") for one in COLUMNS}
        yield RequirementRow(texts, f"row {number}, {{}}".format)


def _text(value: Any) -> str:
    """Return a value of a frame as text: a column of codes that has gaps is one of doubles, and 12.0 is the code 12."""
    if value is None or pd.isna(value):
        return ""
    return (number_text(value) if isinstance(value, float) else str(value)).strip()


def read_rows(
    rows: Iterable[RequirementRow],
    wrong: list[str],
    attributes: KnownAttributes | None = None,
    in_use: Mapping[str, Mapping[str, str]] = MappingProxyType({}),
) -> RowsRead:
    """Read rows.

    Parameters
    ----------
    rows
        The rows.
    wrong
        Takes what cannot be read, each with its place.
    attributes
        The attributes that rows may name.
    in_use
        The codes that attributes have today with their labels, as far as they are known.
    """
    attributes = attributes or KnownAttributes()
    entries: list[tuple[str, RequirementEntry]] = []
    told_by: dict[str, str] = {}
    untold = ""
    for row in rows:
        if len(wrong) >= MOST_PROBLEMS:
            wrong.append(f"{row.place('level')}: from here on nothing was read, after so many problems")
            break
        before = len(wrong)
        entry = _entry(row, wrong, attributes, in_use)
        by = row.texts["by"]
        if by and by not in told_by:
            told_by[by] = row.place("by")
        elif not by and entry.family is not None:
            untold = untold or row.place("by")
        if len(wrong) == before:
            entries.append((row.place("level"), entry))
    if untold and not told_by:
        wrong.append(
            f"{untold}: no row says by what families are told. Write kind, gpc or a column of products into each."
        )
    if len(told_by) > 1:
        (one, first), (other, second) = list(told_by.items())[:2]
        wrong.append(
            f"{second}: families are told by {other!r:.40}, and by {one!r:.40} in {first}. Write the same in both."
        )
    return RowsRead(entries, next(iter(told_by), ""))


def _entry(
    row: RequirementRow,
    wrong: list[str],
    attributes: KnownAttributes,
    in_use: Mapping[str, Mapping[str, str]],
) -> RequirementEntry:
    """Return what a row means, as far as it can be read."""
    texts = row.texts

    def part(column: str, read: Callable[[], T]) -> T | None:
        """Return what a part of the row means; what is wrong with it is named at the cell of its column."""
        try:
            return read()
        except (InputError, QueryError) as error:
            wrong.append(f"{row.place(column)}: {error}")
            return None

    problems = row.problems
    if _unreadable("".join(texts.values())):
        problems = {one: why for one, text in texts.items() if (why := _unreadable(text))} | dict(problems)
    if problems:
        wrong += [f"{row.place(column)}: {problems[column]}" for column in COLUMNS if column in problems]
        return RequirementEntry()
    family = part("family", lambda: _family(texts))
    channel = None
    if texts["channel"]:
        market = part("market", lambda: _market(texts["market"]))
        units = part("consumer_units", lambda: _consumer_units(texts["consumer_units"]))
        if market is not None and units is not None:
            channel = _channel(texts["channel"], market, units)
    if not texts["level"] and not texts["condition"]:
        return RequirementEntry(channel, family)
    part("channel", lambda: _filled(texts, "channel"))
    attribute = part("attribute", lambda: attributes.path_of(_filled(texts, "attribute")))
    language = part("language", lambda: _language(texts))
    level = part("level", lambda: _level(texts))
    if attribute is None or language is None or level is None:
        return RequirementEntry(channel, family)
    asked = AskedAttribute(attribute, language)
    part("language", lambda: check_language(asked))
    ask = part("condition", lambda: _ask(asked, level, texts["condition"], in_use.get(attribute, NO_CODES)))
    return RequirementEntry(channel, family, asked, ask)


def _unreadable(text: str) -> str | None:
    return _too_long(text) or no_text(text)


def _too_long(text: str) -> str | None:
    if 2 * len(text) <= LONGEST or len(text.encode("utf-16-le", "surrogatepass")) <= 2 * LONGEST:
        return None
    return f"has {len(text):,} characters, and a cell holds {LONGEST:,} at most"


def _written_market(market: int) -> str:
    name = market_name(market) if market else ALL_MARKETS
    return name if name == ALL_MARKETS or market_code(name) == market else str(market)


def _market(text: str) -> int:
    if not text:
        raise InputError(
            f"the channel has no market. Write its name or number, or {ALL_MARKETS} for all markets."
        )
    return 0 if text.casefold() == ALL_MARKETS else market_code(text)


def _consumer_units(text: str) -> bool:
    if text.casefold() not in {"", "true", "false"}:
        raise InputError(f"consumer_units is {text!r:.40}; give true or false.")
    return text.casefold() != "false"


def _family(texts: _Texts) -> ProductFamily | None:
    code = texts["family"]
    if not code and (texts["level"] or texts["condition"]):
        raise InputError(f"its row names no family. Write its code, or {ALL} for all families.")
    if code in {"", ALL}:
        return None
    family = ProductFamily(code, texts["family_label"], texts["family_parent"])
    if (why := unusable_family(family)) is not None:
        raise InputError(why)
    return family


def _filled(texts: _Texts, column: str) -> str:
    if not texts[column]:
        raise InputError(f"its row names no {column}.")
    return texts[column]


def _language(texts: _Texts) -> str:
    language = texts["language"]
    if not language and texts["attribute"] in TEXTS:
        raise InputError(
            f"a text without a language. Write its code, such as fr, or {ANY} for a text in any."
        )
    return "" if language.casefold() in {"", ANY} else language_asked(language)


def _level(texts: _Texts) -> Level:
    if not texts["level"]:
        raise InputError("there is a condition, and no level. Type must or should.")
    return level_of(texts["level"])


def _ask(asked: AskedAttribute, level: Level, condition: str, in_use: Mapping[str, str]) -> Ask:
    ask = ask_of(level, condition, shape_of(asked.attribute).advice, in_use)
    check_judgeable(asked, ask)
    return ask
