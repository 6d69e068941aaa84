"""What stands in a control, and what a query holds: read and written, each the inverse of the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pandas as pd

from prodex.errors import QueryError
from prodex.gtin import GtinAccessor, as_text, comparable, has_digits
from prodex.query import ALWAYS_REQUESTED, ProductQuery

#: A word to look for, and the fields in which.
Word: TypeAlias = tuple[str, tuple[str, ...]]

_SHOWN = 5


def written(values: Iterable[object] | None) -> str:
    """Write a list as text with commas.

    >>> written(["new", "big"]), written(None)
    ('new, big', '')
    """
    return ", ".join(map(str, values or ()))


def typed_list(text: str) -> str | None:
    """Return a text with commas for the query to read, or None where nothing was typed."""
    return text.strip() or None


def numbers(text: str) -> list[int | str] | None:
    """Return whole numbers of a text with commas or spaces; what is none stays as it is, for the query to refuse.

    >>> numbers("11, 12"), numbers("11 x"), numbers(" ")
    ([11, 12], [11, 'x'], None)
    """
    pieces = re.split(r"[\s,;]+", text.strip(" \t\n,;"))
    return [int(one) if re.fullmatch("-?[0-9]+", one) else one for one in pieces] if any(pieces) else None


def shown_moment(moment: datetime | None) -> datetime | None:
    """Return a point in time as a picker of UTC shows it."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def moment(shown: datetime | None) -> datetime | None:
    """Return the point in time that a picker of UTC shows.

    >>> moment(datetime(2026, 11, 13, 12)).isoformat()
    '2026-11-13T12:00:00+00:00'
    """
    return None if shown is None else shown.replace(tzinfo=UTC)


def words(rows: Iterable[Word]) -> tuple[Word, ...] | None:
    """Return the rows in which a word stands, or None where there is none.

    Raises
    ------
    QueryError
        When a word is to be looked for in no field.
    """
    filled = tuple((word, fields) for word, fields in rows if word.strip())
    for word, fields in filled:
        if not fields:
            raise QueryError(f"{word!r} is looked for in no field. Choose at least one, or clear the word.")
    return filled or None


def shown_extra(extra: Mapping[str, Any]) -> str:
    """Write further filters as JSON."""
    return json.dumps(dict(extra), ensure_ascii=False, indent=2) if extra else ""


def extra(text: str) -> Any:
    """Read further filters from JSON.

    >>> extra('{"allow_not_consumer_units": true}'), extra("")
    ({'allow_not_consumer_units': True}, {})
    """
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise QueryError(
            f'extra cannot be read as JSON: {error}. Write it as {{"name of the filter": value}}.'
        ) from error


def shown_paths(query: ProductQuery) -> str:
    """Write the fields that were asked for, without those that every query adds by itself.

    >>> shown_paths(ProductQuery(source_include="namePublicLong.data, brand"))
    'namePublicLong.data, brand'
    """
    whole: tuple[str, ...] = query.source_include or ()
    kept = len(whole)
    while kept > 1 and (whole[kept - 1] in ALWAYS_REQUESTED or whole[kept - 1].endswith(".expressedIn")):
        kept -= 1
    same = kept and ProductQuery(source_include=whole[:kept]).source_include == whole
    return written(whole[:kept] if same else whole)


@dataclass(frozen=True)
class Pasted:
    """GTINs that were pasted.

    Attributes
    ----------
    gtins
        Those that are asked for, with 14 digits, each once.
    doubtful
        Those of them, as pasted, that cannot be right: their length or their check digit.
    unreadable
        What is no number of up to 14 digits, and is not asked for.
    repeated
        How many came again.
    """

    gtins: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    repeated: int = 0

    def __str__(self) -> str:
        if not self.gtins and not self.unreadable:
            return "No list: products are taken whatever their GTIN."
        said = [f"{len(self.gtins):,} {'GTIN is' if len(self.gtins) == 1 else 'GTINs are'} asked for."]
        if self.repeated:
            said.append(f"{self.repeated:,} came more than once.")
        if self.doubtful:
            said.append(
                f"{len(self.doubtful):,} of them cannot be right (length or check digit): {_some(self.doubtful)}."
            )
        if self.unreadable:
            said.append(f"Left out, being no GTINs: {_some(self.unreadable)}.")
        return " ".join(said)


def read_gtins(text: str) -> Pasted:
    """Read GTINs as they are pasted from a spreadsheet: by lines, commas, semicolons, tabs or spaces.

    >>> print(read_gtins("GTIN\\n3036811359935\\n3036811359936\\n"))
    2 GTINs are asked for. 1 of them cannot be right (length or check digit): 3036811359936. Left out, being no \
GTINs: GTIN.
    """
    pieces = [piece for one in re.split(r"[\s,;]+", text) if (piece := as_text(one))]
    readable: dict[str, str] = {}
    unreadable = []
    for piece in pieces:
        if has_digits(piece):
            readable.setdefault(str(comparable(piece)), piece)
        else:
            unreadable.append(piece)
    are_valid = GtinAccessor(pd.Series(list(readable.values()), dtype="str")).is_valid
    doubtful = tuple(piece for piece, valid in zip(readable.values(), are_valid, strict=True) if not valid)
    repeated = len(pieces) - len(unreadable) - len(readable)
    return Pasted(tuple(readable), doubtful, tuple(dict.fromkeys(unreadable)), repeated)


def gtins(text: str) -> tuple[str, ...] | None:
    """Return the GTINs to ask for, or None where nothing was pasted.

    Raises
    ------
    QueryError
        When something was pasted and holds none: without a list, every product would be asked for.
    """
    pasted = read_gtins(text)
    if pasted.unreadable and not pasted.gtins:
        raise QueryError(
            f"gtins_in holds no GTIN, but {_some(pasted.unreadable)}. Paste numbers of up to 14 digits; with no list "
            "at all, products are taken whatever their GTIN."
        )
    return pasted.gtins or None


def _some(texts: tuple[str, ...]) -> str:
    shown = ", ".join(text if len(text) <= 20 else f"{text[:20]}…" for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} ({_SHOWN} of {len(texts):,})"
