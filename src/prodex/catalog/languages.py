"""Languages that somebody names, and the rows of a catalogue that are in them.

The service writes a language as "fr", "fr-FR" or "fra-FR", and people say "French": all of these are one language here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog.cells import language_of
from prodex.catalog.data import CatalogData
from prodex.catalog.origin import Origin
from prodex.errors import QueryError
from prodex.locales import language_tag, short_of, spelled_short, tag_of
from prodex.query import ProductQuery
from prodex.text import hint

#: The tables whose rows are in a language, and the columns that say in which: the first that does decides.
LOCALIZED: Mapping[str, tuple[str, str]] = {
    "texts": ("language", "language_code"),
    "code_labels": ("label_language", "label_language"),
}


def languages_given(catalog: CatalogData, given: Sequence[str], call: str) -> list[str]:
    """Return the short codes of languages, each as it was given: columns are named by it.

    Parameters
    ----------
    catalog
        Its texts may be in languages that the CLDR does not know.
    given
        Codes in any form, or names.
    call
        The method that they were given to, for the message.

    Raises
    ------
    QueryError
        When neither the texts nor the CLDR know a language; the message names the nearest.
    """
    if not given:
        raise QueryError(f"{call}() was given no language. Leave it out for all of them.")
    there = _spoken(catalog)
    found: dict[str, str] = {}
    for one in given:
        short = spelled_short(one)
        # What texts are in is taken as it is: suppliers use codes that the CLDR does not know.
        if short_of(one) not in there:
            try:
                short = spelled_short(language_tag(one))
            except QueryError as error:
                near = hint(one, there, "")
                texts = f"The texts here are in {', '.join(sorted(there)) or 'no language'}"
                raise QueryError(f"{error} {texts}{near if near.startswith(';') else '.'}") from error
        found.setdefault(short_of(short), short)
    return list(found.values())


def _spoken(catalog: CatalogData) -> set[str]:
    """Return the short codes of the languages that texts are in."""
    found: set[str] = set()
    for part in catalog.parts:
        rows = part.encoded("texts", ["language", "language_code"]).unify_dictionaries()
        pairs = rows.group_by(rows.column_names).aggregate([])
        language, code = (pairs[name].combine_chunks().cast(pa.string()) for name in rows.column_names)
        found.update(language_of(language, code).drop_null().to_pylist())
    return found


def shown_languages(catalog: CatalogData) -> dict[str, str]:
    """Return what each code that texts are sent with is called in the columns of `wide()`.

    It is the code as it was sent; where several codes of one language occur, all of them are called by one.
    """
    found: dict[str, set[str]] = {}
    for part in catalog.parts:
        rows = part.encoded("texts", ["language", "language_code"]).unify_dictionaries()
        pairs = rows.group_by(rows.column_names).aggregate([])
        sent = pc.coalesce(*(pairs[name].combine_chunks().cast(pa.string()) for name in rows.column_names))
        for one in pc.unique(sent).drop_null().to_pylist():
            found.setdefault(tag_of(one), set()).add(one)
    return {one: tag if len(several) > 1 else one for tag, several in found.items() for one in several}


def rows_in(rows: pa.Table, table: str, languages: Collection[str]) -> pa.Table:
    """Return the rows of a localized table that are in one of these languages, by their short codes."""
    language, code = (rows[name].combine_chunks() for name in LOCALIZED[table])
    wanted = pa.array(list(map(short_of, languages)), pa.string())
    kept = pc.is_in(language_of(language, code), wanted)
    return rows.filter(kept)


def origin_in(origin: Origin, languages: Sequence[str]) -> Origin:
    """Return the origin of only the texts in these languages: nothing is known of any other.

    Raises
    ------
    QueryError
        When none of them was requested in the first place.
    """
    query = origin.query or ProductQuery()
    requested = query.product_languages
    # What was asked for more narrowly stays so: "fr-BE" is not all that is French.
    wanted = set(map(short_of, languages))
    kept = languages if requested is None else [one for one in requested if short_of(one) in wanted]
    if not kept:
        raise QueryError(
            f"Texts in {', '.join(languages)} were not requested when this catalogue was loaded; it has those in "
            f"{', '.join(requested or ())}."
        )
    labels = tuple(one for one in origin.labels if short_of(one) in wanted)
    return replace(origin, query=replace(query, product_languages=tuple(kept)), labels=labels)
