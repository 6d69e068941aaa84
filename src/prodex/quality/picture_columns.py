"""The pictures of a part as the rules look at them: whole columns, each made once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import NotExported
from prodex.languages import Message
from prodex.locales import known_language_tag, short_of
from prodex.quality.products import ChildRows
from prodex.quality.reasons import Reasons, has_columns, of_each
from prodex.quality.remembered import has_match
from prodex.quality.verdict import Evidence, Verdict, compared_with
from prodex.tables.columns import Mask, Numbers, Rows, is_true, numbers

#: GTIN, type, face, angle and state, then what tells several files apart: 03036811359935_C1N1_s02.jpg.
FILE_NAME = "^[0-9]{14}_[A-Ea-e][0-9][CLRNclrn][01ABMPabmp](_[^/.]*)?[.][A-Za-z0-9]+$"
_GTIN, _FACE = slice(0, 14), slice(16, 17)
#: Faces of a product as productFace and file names number them.
FACES = {"1": "front", "2": "left", "3": "top", "7": "back", "8": "right", "9": "bottom"}
FRONT = "1"

PICTURES = "assets.pictures"
#: Gives what is shown of some pictures, or what they were compared with.
Seen: TypeAlias = Callable[[Rows], Any]


@dataclass(frozen=True)
class PictureColumns(ChildRows):
    """Every picture of a part."""

    table = "pictures"

    @property
    def pictured(self) -> Mask:
        """The products that have a picture."""
        return self.products.any(self.product)

    @cached_property
    def is_packshot(self) -> Mask:
        return is_true(self["is_packshot"])

    @cached_property
    def is_front_packshot(self) -> Mask:
        """The pictures that are marked as front packshot."""
        return self.is_packshot & is_true(pc.equal(self["product_face"], FRONT))

    @cached_property
    def follows_gs1(self) -> Mask:
        """The pictures whose file name follows the GS1 pattern."""
        return is_true(has_match(self["gdsn_file_name"], FILE_NAME))

    @property
    def gtin_in_name(self) -> pa.Array:
        """The GTIN that a file name of the GS1 pattern begins with."""
        return self._in_name(_GTIN)

    @property
    def face_in_name(self) -> pa.Array:
        """The face that a file name of the GS1 pattern tells."""
        return self._in_name(_FACE)

    def _in_name(self, place: slice) -> pa.Array:
        part = pc.utf8_slice_codeunits(self["gdsn_file_name"], place.start, place.stop)
        return pc.if_else(pa.array(self.follows_gs1), part, pa.scalar(None, pa.string()))

    @cached_property
    def longest_side(self) -> Numbers:
        """Pixels of the longer side of the original; NaN where width or height is missing."""
        return np.maximum(numbers(self["width"]), numbers(self["height"]))

    def verdict(
        self,
        wrong: Mask,
        judged: Any,
        attribute: str,
        column: str | Seen,
        reason: Message | Callable[[Rows], Reasons],
        compared: tuple[str, ...] | Seen = (),
    ) -> Verdict:
        """Fail the products of the pictures that are wrong.

        Parameters
        ----------
        wrong
            One boolean for each picture.
        judged
            The pictures that the rule is about: products without one are not applicable.
        attribute
            Where it was seen.
        column, reason
            What is shown of each: a column and a reason for all, or functions that return them for some rows.
        compared
            What it was compared with, besides the picture itself: columns, or a function; see `Evidence`.
        """
        rows = self.in_order(wrong)
        value = self.seen(column, rows) if isinstance(column, str) else column(rows)
        why = reason(rows) if callable(reason) else reason
        places = self["position"].take(pa.array(rows)).to_pylist()
        # The number of the picture among those of its product, as people count.
        numbered: Reasons
        if isinstance(why, Message) and not has_columns(why) and all(map(str.isdecimal, places)):
            numbers = [int(place) + 1 for place in places]
            numbered = Message("picture {number:d}: {said}", number=numbers, said=why)
        else:
            numbered = [
                Message("picture {number:d}: {said}", number=int(place) + 1, said=one)
                if place.isdecimal()
                else one
                for place, one in zip(places, of_each(why, len(rows)), strict=True)
            ]
        more = compared(rows) if callable(compared) else self.seen_together(compared, rows)
        # Of which picture it is, wherever that is in the list: another one has not been looked at.
        with_what = [compared_with(one, two) for one, two in zip(self.identities(rows), more, strict=True)]
        evidence = Evidence(self.product[rows], attribute, None, value, numbered, with_what)
        return Verdict(self.any(wrong), self.any(judged), evidence)

    def identities(self, pictures: Rows) -> list[str | None]:
        """Return what tells some pictures from others: the file's name, else its checksum, else its address."""
        found = pa.nulls(len(pictures), pa.string())
        for column in ("gdsn_file_name", "crc32", "url"):
            # What an export left out must not make unknown what is known without it.
            with suppress(NotExported):
                found = pc.coalesce(found, self.seen(column, pictures).cast(pa.string()))
        names: list[str | None] = found.to_pylist()
        return names

    def names_alike(self, key: Rows, among: Mask, rows: Rows) -> list[list[str]]:
        """Return for some pictures what tells those among others from each other that have the same key."""
        alike: dict[int, list[str]] = {}
        every = np.flatnonzero(among & self.any(rows)[self.product])
        for one, name in zip(key[every].tolist(), self.identities(every), strict=True):
            alike.setdefault(one, []).append(str(name))
        return [sorted(alike[one]) for one in key[rows].tolist()]

    def seen_together(self, columns: Sequence[str], pictures: Rows) -> list[tuple[Any, ...]]:
        """Return the values of some columns, and of some pictures."""
        values = [self.seen(column, pictures).to_pylist() for column in columns]
        return [*zip(*values, strict=True)] if columns else [()] * len(pictures)

    def seen(self, column: str, pictures: Rows) -> pa.Array:
        """Return a column's values of some pictures, as evidence shows them."""
        seen = self[column].take(pa.array(pictures))
        if not pa.types.is_timestamp(seen.type):
            return seen
        return pc.strftime(pc.cast(seen, pa.timestamp("s"), safe=False), "%Y-%m-%dT%H:%M:%S")


#: Fields that hold the language: the specification declares none, so all that services use are read.
_FIELDS = ("language", "languages", "languageCode", "languageCodes", "expressedIn")
#: What the query has to include before a picture can be judged to have no language.
LANGUAGE_NEEDS = tuple(f"{PICTURES}.{field}" for field in ("url", "gdsnFileName", *_FIELDS))

#: Languages that are looked for in names of files: those of Europe and a few more. Most pairs of letters are a
#: language somewhere, and "sm", "lg", "tn", "hi", "lo" are sizes.
_IN_NAMES = (
    *("bg", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fi", "fr", "ga", "gl", "hr", "hu", "is", "it"),
    *("la", "lt", "lv", "mk", "mt", "nb", "nl", "nn", "no", "pl", "pt", "ro", "ru", "sk", "sl", "sq", "sr", "sv"),
    *("tr", "uk", "ar", "he", "ja", "ko", "zh"),
)  # fmt: skip
_AT_THE_END = re.compile(rf"[_.-]({'|'.join(_IN_NAMES)})(?:[_-][A-Z]{{2}})?\.[A-Za-z0-9]{{2,5}}(?:[?#].*)?$")


def in_one_language(pictures: PictureColumns, chosen: Mask) -> Mask:
    """Return those of some pictures that share a language with another one of the same product.

    A picture that says no language is meant for all of them.
    """
    rows = np.flatnonzero(chosen)
    if not len(rows):
        return chosen
    languages = _picture_languages(pictures, rows)
    whose = pictures.product[rows].tolist()
    total = Counter(whose)
    in_language = Counter(
        (product, language) for product, own in zip(whose, languages, strict=True) for language in own
    )
    silent = Counter(product for product, own in zip(whose, languages, strict=True) if not own)
    shared = [
        any(in_language[product, language] > 1 for language in own) or silent[product] > 0
        if own
        else total[product] > 1
        for product, own in zip(whose, languages, strict=True)
    ]
    found = np.zeros(len(chosen), bool)
    found[rows] = shared
    return found


def _picture_languages(pictures: PictureColumns, rows: Rows) -> list[frozenset[str]]:
    """Return the languages of some pictures, none where nobody says."""
    positions = pictures.seen("position", rows).to_pylist()
    keys = list(zip(pictures.product[rows].tolist(), positions, strict=True))
    stated = _stated_languages(pictures, set(keys))
    names = pictures.seen_together(("gdsn_file_name", "url"), rows)
    return [
        frozenset(stated.get(key) or _language_at_end(file) or _language_at_end(url))
        for key, (file, url) in zip(keys, names, strict=True)
    ]


def _stated_languages(
    pictures: PictureColumns, wanted: set[tuple[int, str]]
) -> dict[tuple[int, str], set[str]]:
    """Return the languages that fields state, by product and position of the picture."""
    found: dict[tuple[int, str], set[str]] = {}
    fields = [f"{PICTURES}.{field}{leaf}" for field in _FIELDS for leaf in ("", ".normalizedCode")]
    rows = pictures.products.values_at(fields, "codes.code", "scalars.value")
    rows = rows.filter(pc.is_in(rows["attribute"], pa.array(fields)))
    columns = (rows[name].to_pylist() for name in ("product", "position", "value"))
    for product, position, value in zip(*columns, strict=True):
        # A list has one more index: "0.1" is the second language of picture "0".
        for key in ((product, position), (product, position.rpartition(".")[0])):
            if key in wanted:
                found.setdefault(key, set()).add(_short_code(value))
                break
    return found


def _short_code(language: str) -> str:
    tag = known_language_tag(language)
    return language.strip().casefold() if tag is None else short_of(tag)


def _language_at_end(file: str | None) -> set[str]:
    match = _AT_THE_END.search(file or "")
    return {short_of(match[1])} if match else set()
