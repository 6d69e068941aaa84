"""Why a value of a record is missing: absent, null, empty, or not requested.

The reasons are decided in `prodex.facts.fill`, for a record as for a whole catalogue (`prodex.facts.fill`).
"""

from __future__ import annotations

from prodex.facts.fill import Missing, keys, missing_in
from prodex.notebook.card.record import Record

__all__ = ["Missing", "keys", "why_missing"]


def why_missing(record: Record, attribute: str, language: str | None = None) -> Missing:
    """Return why there is no value at a wire path.

    Parameters
    ----------
    record
        The product.
    attribute
        Wire path, such as `namePublicLong` or `assets.pictures`.
    language
        Short code, if a text in one language is missing.

    Examples
    --------
    >>> import prodex
    >>> from prodex.notebook.card.record import read_record
    >>> record = read_record(prodex.flatten([{"id": 7, "brand": None, "assets": {"pictures": []}}]), "7")
    >>> [str(why_missing(record, path)) for path in ("brand", "kind", "assets.pictures", "assets.videos")]
    ['null', 'absent', 'empty', 'absent']
    """
    # First of all: what was not requested is absent in the record, too.
    if not record.origin.asked(attribute, language):
        return Missing.NOT_ASKED
    first, *inner = keys(attribute)
    shown = record.presence(first)
    if shown != "filled":
        return Missing(shown)
    return missing_in(record.wire.get(first, []), inner, language)
