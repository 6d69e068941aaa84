"""Between the text of a control and the field of a query: parsing and formatting, each the inverse of the other."""

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

#: A word to search for, and the fields to search.
Word: TypeAlias = tuple[str, tuple[str, ...]]

#: GTINs that a sentence quotes.
_SHOWN = 5


def written(values: Iterable[object] | None) -> str:
    """Return a list as comma-separated text.

    >>> written(["new", "big"]), written(None)
    ('new, big', '')
    """
    return ", ".join(map(str, values or ()))


def listed(text: str) -> list[str]:
    """Return the items of a comma-separated text.

    >>> listed("new, big,")
    ['new', 'big']
    """
    return [one.strip() for one in text.split(",") if one.strip()]


def typed_list(text: str) -> str | None:
    """Return a comma-separated text for the query to read, or None if nothing was entered."""
    return text.strip() or None


def numbers(text: str) -> list[int | str] | None:
    """Return the whole numbers of a text; what is no number stays text, so that the query refuses it by name.

    >>> numbers("11, 12"), numbers("11 x"), numbers(" ")
    ([11, 12], [11, 'x'], None)
    """
    pieces = re.split(r"[\s,;]+", text.strip(" \t\n,;"))
    return [int(one) if re.fullmatch("-?[0-9]+", one) else one for one in pieces] if any(pieces) else None


def shown_moment(moment: datetime | None) -> datetime | None:
    """Return a point in time as the date picker shows it, in UTC."""
    return None if moment is None else moment.astimezone(UTC).replace(tzinfo=None)


def moment(shown: datetime | None) -> datetime | None:
    """Return the point in time that the date picker shows, in UTC.

    >>> moment(datetime(2026, 11, 13, 12)).isoformat()
    '2026-11-13T12:00:00+00:00'
    """
    return None if shown is None else shown.replace(tzinfo=UTC)


def words(rows: Iterable[Word]) -> tuple[Word, ...] | None:
    """Return the rows with a word, or None if there are none.

    Raises
    ------
    QueryError
        When a word has no field to search.
    """
    filled = tuple((word, fields) for word, fields in rows if word.strip())
    for word, fields in filled:
        if not fields:
            raise QueryError(
                f"No field is selected for the word {word!r}. Select at least one, or clear the word."
            )
    return filled or None


def shown_extra(extra: Mapping[str, Any]) -> str:
    """Return further filters as JSON."""
    return json.dumps(dict(extra), ensure_ascii=False, indent=2) if extra else ""


def extra(text: str) -> Any:
    """Return further filters from JSON.

    >>> extra('{"allow_not_consumer_units": true}'), extra("")
    ({'allow_not_consumer_units': True}, {})
    """
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    # A thousand nested lists end in a RecursionError, which is no ValueError.
    except (ValueError, RecursionError) as error:
        raise QueryError(
            f'extra cannot be read as JSON: {error}. Write it as {{"name of the filter": value}}.'
        ) from error


def shown_paths(query: ProductQuery) -> str:
    """Return the fields that were asked for as text, without those that every query adds by itself.

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
        Those to filter by, with 14 digits, each once.
    doubtful
        Those of them, as pasted, whose length or check digit is wrong.
    unreadable
        Texts that are not numbers of up to 14 digits, and are left out.
    repeated
        Number of repetitions.
    """

    gtins: tuple[str, ...] = ()
    doubtful: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    repeated: int = 0

    def __str__(self) -> str:
        if not self.gtins and not self.unreadable:
            return "No list: products match whatever their GTIN."
        sentences = [f"{len(self.gtins):,} {'GTIN' if len(self.gtins) == 1 else 'GTINs'} to filter by."]
        if self.repeated:
            sentences.append(f"{self.repeated:,} repeated.")
        if self.doubtful:
            sentences.append(
                f"{len(self.doubtful):,} with a wrong length or check digit: {_some(self.doubtful)}."
            )
        if self.unreadable:
            sentences.append(f"Left out, not GTINs: {_some(self.unreadable)}.")
        return " ".join(sentences)


def read_gtins(text: str) -> Pasted:
    """Read GTINs as they are pasted from a spreadsheet: separated by lines, commas, semicolons, tabs or spaces.

    >>> print(read_gtins("GTIN\\n3036811359935\\n3036811359936\\n"))
    2 GTINs to filter by. 1 with a wrong length or check digit: 3036811359936. Left out, not GTINs: GTIN.
    """
    pieces = [piece for one in re.split(r"[\s,;]+", text) if (piece := as_text(one))]
    readable: dict[str, str] = {}
    unreadable = []
    for piece in pieces:
        if has_digits(piece):
            readable.setdefault(str(comparable(piece)), piece)
        else:
            unreadable.append(piece)
    # Reported and sent all the same: the service may have a product under a GTIN that is wrong.
    are_valid = GtinAccessor(pd.Series(list(readable.values()), dtype="str")).is_valid
    doubtful = tuple(piece for piece, valid in zip(readable.values(), are_valid, strict=True) if not valid)
    repeated = len(pieces) - len(unreadable) - len(readable)
    return Pasted(tuple(readable), doubtful, tuple(dict.fromkeys(unreadable)), repeated)


def gtins(text: str) -> tuple[str, ...] | None:
    """Return the GTINs to filter by, or None if nothing was pasted.

    Raises
    ------
    QueryError
        When the text that was pasted has no GTIN.
    """
    pasted = read_gtins(text)
    # None would be no filter: whoever pastes the wrong column would load every product.
    if pasted.unreadable and not pasted.gtins:
        raise QueryError(
            f"gtins_in has no GTIN, but {_some(pasted.unreadable)}. Paste numbers of up to 14 digits; with an empty "
            "list, products match whatever their GTIN."
        )
    return pasted.gtins or None


def _some(texts: tuple[str, ...]) -> str:
    shown = ", ".join(text if len(text) <= 20 else f"{text[:20]}…" for text in texts[:_SHOWN])
    return shown if len(texts) <= _SHOWN else f"{shown} ({_SHOWN} of {len(texts):,})"
