"""In which language each supplier is written to: that of where its GTINs were given, or of most of its texts.

Most texts of a supplier are in the languages of its markets, which say little about itself. Its numbers come from the
GS1 organisation where its company is registered (GS1 General Specifications, 1.4.2; the list of prefixes of GS1).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow.compute as pc

from prodex.gtin import as_text
from prodex.quality.audit import Audit

#: Prefixes from and to, and the official languages there in which worklists are written. Other prefixes of countries
#: have other languages; those that belong to no country (20 to 29, books) say nothing.
_LANGUAGES: tuple[tuple[int, int, tuple[str, ...]], ...] = (
    (0, 19, ("en",)),  # United States and Canada, up to 139 without the numbers of shops
    (30, 39, ("en",)),
    (60, 139, ("en",)),
    (300, 379, ("fr",)),  # France and Monaco
    (400, 440, ("de",)),  # Germany
    (500, 509, ("en",)),  # United Kingdom
    (539, 539, ("en",)),  # Ireland
    (540, 549, ("nl", "fr", "de")),  # Belgium and Luxembourg
    (600, 601, ("en",)),  # South Africa
    (754, 755, ("en", "fr")),  # Canada
    (760, 769, ("de", "fr")),  # Switzerland and Liechtenstein
    (870, 879, ("nl",)),  # Netherlands
    (900, 919, ("de",)),  # Austria
    (930, 949, ("en",)),  # Australia and New Zealand
)
_OF_NO_COUNTRY = ((20, 29), (40, 59), (140, 299), (960, 999))


def languages_of_suppliers(audit: Audit) -> dict[str, str]:
    """Return the language of each supplier, by the code of the owner.

    It is the language of the country that gave most of the supplier's GTINs; of several such languages, or where the
    numbers say nothing, the one in which most of its texts are. Owners of whom neither says a language in which
    worklists are written are left out: they get a worklist in whatever language is the usual one.

    Parameters
    ----------
    audit
        The audit; its catalogue has the texts.

    Examples
    --------
    >>> import prodex
    >>> def name(text, language):
    ...     return {"data": text, "expressedIn": {"code": language, "normalizedCode": language}}
    >>> both = [name("Pain", "fr"), name("Brood", "nl"), name("Brot", "nl")]
    >>> records = [
    ...     {"id": 7, "gtin": "8710000000000", "owner": {"id": 4, "name": "Molen"}, "nameLegal": both},
    ...     {"id": 8, "gtin": "5410000000002", "owner": {"id": 5, "name": "Moulin"}, "nameLegal": both[:1]},
    ...     {"id": 9, "gtin": "8410000000009", "owner": {"id": 6, "name": "Molino"}, "nameLegal": both},
    ... ]
    >>> languages_of_suppliers(prodex.audit(prodex.flatten(records), "core"))
    {'4': 'nl', '5': 'fr'}
    """
    if audit.catalog is None:
        return {}
    groups = audit.groups("owner")
    owner = np.full(len(audit), -1, np.int64)
    owner[groups.rows] = groups.groups
    products = audit.catalog.arrow("products", ["product_id", "gtin"])
    rows = pc.index_in(
        audit.identity["product_id"].combine_chunks(), value_set=products["product_id"].combine_chunks()
    )
    gtins = products["gtin"].to_pandas().take(rows.to_numpy(zero_copy_only=False))
    # Of a number that is mistyped, nobody knows which digit is.
    known = gtins.where(gtins.gtin.is_valid).map(as_text)
    offered = pd.DataFrame({"owner": owner, "languages": known.map(_languages_where_given).to_numpy()})
    chosen = (
        offered[offered["owner"] >= 0]
        .dropna()
        .groupby("owner")["languages"]
        .agg(lambda own: own.mode().iloc[0])
    )
    written = _texts_by_language(audit, owner)
    found = {}
    for number, code in enumerate(groups.codes):
        language = _language(chosen.get(number), written.get(number))
        if code is not None and language is not None:
            found[str(code)] = language
    return found


def _language(offered: tuple[str, ...] | None, written: pd.Series | None) -> str | None:
    """Return the language of a supplier, from those of its country and the numbers of its texts."""
    if offered is not None and len(offered) < 2:
        return offered[0] if offered else None
    every = ("fr", "de", "nl", "en")
    counts = pd.Series(dtype=np.int64) if written is None else written
    own = counts.reindex([*(offered or every)], fill_value=0)
    others = counts.drop(labels=[*every], errors="ignore").max() if offered is None else 0
    # As many texts in a language of no worklist: it is as likely to be the supplier's own.
    is_known = own.max() > (0 if pd.isna(others) else others)
    return str(own.idxmax()) if is_known else None


def _languages_where_given(gtin: object) -> tuple[str, ...] | None:
    """Return the languages where a number was given: none of a worklist, or None where it was given in no country.

    >>> [_languages_where_given(one) for one in ("03036811359935", "8412345678905", "2012345678908", "87123458", None)]
    [('fr',), (), None, ('nl',), None]
    """
    if not isinstance(gtin, str) or not gtin.isdecimal() or not 8 <= len(gtin) <= 14:
        return None
    digits = gtin.zfill(14)
    # A GTIN of eight digits has its prefix at its own beginning.
    prefix = int(digits[6:9] if digits.startswith("000000") else digits[1:4])
    if any(low <= prefix <= high for low, high in _OF_NO_COUNTRY):
        return None
    return next((found for low, high, found in _LANGUAGES if low <= prefix <= high), ())


def _texts_by_language(
    audit: Audit, owner: np.ndarray[tuple[int], np.dtype[np.int64]]
) -> dict[int, pd.Series]:
    """Return how many texts each owner has, by language."""
    assert audit.catalog is not None  # noqa: S101 - asked before
    texts = audit.catalog.arrow("texts", ["product_id", "language"])
    product = pc.index_in(texts["product_id"], value_set=audit.identity["product_id"].combine_chunks())
    frame = pd.DataFrame({"product": product.to_pandas(), "language": texts["language"].to_pandas()}).dropna()
    frame["owner"] = owner[frame["product"].to_numpy(np.int64)]
    counts = frame[frame["owner"] >= 0].groupby(["owner", "language"]).size()
    numbers = counts.index.get_level_values(0).unique().tolist()
    return {number: counts.loc[[number]].droplevel(0) for number in numbers}
