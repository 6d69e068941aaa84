"""Requirements as a table, one a row and by codes: the sheet of the workbook that is filled in, and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from prodex.errors import InputError
from prodex.locales import market_code, market_name
from prodex.quality.requirements import (
    ALL,
    Ask,
    AskedAttribute,
    Channel,
    ProductFamily,
    Requirements,
    entries_of,
)
from prodex.tables.attributes import TEXTS

#: The columns of the table. A row without an attribute makes its channel or its family known.
COLUMNS = (
    *("channel", "market", "consumer_units", "family", "family_label", "family_parent"),
    *("attribute", "language", "level", "condition", "by"),
)
#: By these the row of headings is found.
MARKS = frozenset({"channel", "attribute", "level"})
#: Columns that only show, beside them: what an attribute is called, and the share of products that have it.
SHOWN = ("attribute_name", "filled")
FILLED = SHOWN[1]
#: What a cell says of all markets, and of a text that may be in any language: an empty one may have been forgotten.
ALL_MARKETS, ANY = "all", "any"


def heading_of(column: str) -> str:
    """Return the heading of a column in a workbook.

    >>> heading_of("consumer_units")
    'Consumer units'
    """
    return column.replace("_", " ").capitalize()


def column_named(heading: str) -> str:
    """Return what a heading names, of a workbook or of CSV.

    >>> column_named(" Consumer  units"), column_named("family_label")
    ('consumer_units', 'family_label')
    """
    return re.sub(r"[\s_]+", "_", heading.strip().casefold())


def row_of(
    by: str,
    channel: Channel | None = None,
    family: ProductFamily | None = None,
    asked: AskedAttribute | None = None,
    ask: Ask | None = None,
) -> dict[str, str]:
    """Return a row of the table; of all families, without a family.

    >>> row_of("kind", Channel("Shop"), None, AskedAttribute("brand"))["family"]
    '*'
    """
    row = dict.fromkeys(COLUMNS, "") | {"by": by}
    if channel is not None:
        units = "true" if channel.consumer_units else "false"
        row |= {
            "channel": channel.name,
            "market": _market(channel.market),
            "consumer_units": units,
            "family": ALL,
        }
    if family is not None:
        row |= {"family": family.code, "family_label": family.label, "family_parent": family.parent}
    if asked is not None:
        row |= {"attribute": asked.attribute, "language": asked.language}
        if asked.attribute in TEXTS and not asked.language:
            row["language"] = ANY
    if ask is not None:
        row |= {"level": ask.level.value, "condition": ask.condition}
    return row


def rows_of(requirements: Requirements) -> list[dict[str, str]]:
    """Return the table of requirements."""
    rows = [row_of(requirements.by, *entry) for entry in entries_of(requirements)]
    return rows or [row_of(requirements.by)]


def _market(market: int) -> str:
    name = market_name(market) if market else ALL_MARKETS
    return name if name == ALL_MARKETS or market_code(name) == market else str(market)


def market_of(text: str) -> int:
    """Return the market of a cell.

    Raises
    ------
    InputError, QueryError
        When it is empty, or there is none.

    Examples
    --------
    >>> market_of("France"), market_of("56"), market_of("all")
    (250, 56, 0)
    """
    if not text:
        raise InputError(
            f"the channel has no market. Write its name or number, or {ALL_MARKETS} for all markets."
        )
    return 0 if text.casefold() == ALL_MARKETS else market_code(text)


def is_consumer_units(text: str) -> bool:
    """Return whether a cell says that only consumer units are meant, as they are where it says nothing.

    Raises
    ------
    InputError
        When it says neither.
    """
    if text.casefold() not in {"", "true", "false"}:
        raise InputError(f"consumer_units is {text!r:.40}; give true or false.")
    return text.casefold() != "false"


def check_lengths(rows: Iterable[Mapping[str, str]], most: int) -> None:
    """Refuse texts that no cell holds: they would be cut, and never read back.

    Raises
    ------
    InputError
        With the first of them.
    """
    for row in rows:
        for column, text in row.items():
            if len(text.encode("utf-16-le")) > 2 * most:
                what = row["attribute"] or row["family"] or row["channel"]
                raise InputError(
                    f"the {column} of {what!r:.60} has {len(text):,} characters, and a cell holds {most:,} at most. "
                    "Write it shorter."
                )
