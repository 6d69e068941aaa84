"""Reconciliation: which products are requested by GTIN after keys and dates of all products were listed. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from prodex.load.windows import Window
from prodex.query import ProductQuery
from prodex.store.journal_contents import askable_gtin, is_newer
from prodex.store.journal_format import Stage
from prodex.tables.records import Identity

#: GTINs per call. The specification shows no limit; a body with 200 of them stays small.
GTINS_PER_CALL = 200


def keys_only(query: ProductQuery) -> ProductQuery:
    """Return a query for the keys and dates of the same products."""
    return replace(query, source_include=("updatedAt",), source_exclude=None)


def missing_gtins(listed: Iterable[Identity], dates: Mapping[str, str | None]) -> list[str]:
    """Return the GTINs of listed products that were not received, or only in an older version.

    Parameters
    ----------
    listed
        The products of the listing.
    dates
        `updatedAt` of the products received, by key.
    """
    return sorted(
        {
            gtin
            for one in listed
            if one.product_id not in dates or is_newer(one.updated_at, dates[one.product_id])
            if (gtin := askable_gtin(one))
        }
    )


def batches_of_gtins(gtins: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Split GTINs into calls."""
    return (tuple(gtins[first : first + GTINS_PER_CALL]) for first in range(0, len(gtins), GTINS_PER_CALL))


def unlisted_requests(
    received: Mapping[str, Identity], listed: Mapping[str, Identity]
) -> dict[str, dict[str, object]]:
    """Return the requests by GTIN for received products that are not in the listing, by name of their window.

    Each request includes one product that is certainly there. Only a reply that contains it proves that the others were
    removed: some services answer what they do not understand with an empty page.
    """
    unlisted = [one for key, one in received.items() if key not in listed and askable_gtin(one)]
    gtins = {one.filled_gtin for one in unlisted}
    control = next(
        (one for one in listed.values() if askable_gtin(one) and one.filled_gtin not in gtins), None
    )
    size = GTINS_PER_CALL - 1
    batches = [unlisted[first : first + size] for first in range(0, len(unlisted), size)]
    return {
        Window(Stage.ABSENT, number).name: {
            "keys": [one.product_id for one in batch],
            "gtins": sorted({str(one.gtin) for one in [*batch, *([control] if control else [])]}),
            "known": control.product_id if control else None,
        }
        for number, batch in enumerate(batches)
    }
