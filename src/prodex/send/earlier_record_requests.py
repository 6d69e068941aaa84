"""Products are requested before they are written, to keep them as they are (`prodex.ledger.earlier_records`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from prodex.advice import Argument, PythonCall, advice
from prodex.errors import ProdexError, UnexpectedReply
from prodex.ledger.earlier_records import Packed, earlier_records, packed_records
from prodex.ledger.upsert_file import UpsertFile
from prodex.progress import Progress, showing
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.records import Product
from prodex.service import Client, pages
from prodex.written_json import read_written


def requested_records(
    service: Client, products: Sequence[Product], extra: Mapping[str, Any], progress: Progress
) -> list[Packed]:
    """Request products before they are written, and return them as they are kept.

    Parameters
    ----------
    service
        Where they are to be written.
    products
        As they are to be sent.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ProdexError
        When they cannot be requested; a note of the error says how to send them nevertheless.
    """
    try:
        return packed_records(
            products, products_now(service, (one["gtin"] for one in products), extra, progress)
        )
    except ProdexError as error:
        error.add_note(
            advice(
                "Nothing was sent: the products could not be requested as they are now, which is kept to take the "
                "write back. {keep} sends them without.",
                keep=Argument("keep_before", False),
            )
        )
        raise


def renew(service: Client, upsert: UpsertFile, numbers: Iterable[int], progress: Progress) -> None:
    """Keep the products of calls as they are now, before these are made later than they were planned.

    Somebody may have changed them meanwhile, and an undo has to lead back to that. What was merged with loaded products
    is only sent if they have not changed, and what may have arrived already is not as it was before any more.

    Raises
    ------
    ProdexError
        When they cannot be requested; a note of the error says how to send them nevertheless.
    """
    batches = upsert.batches()
    gtins = {
        gtin
        for number in numbers
        if batches[number].sent in {"not sent", "refused"} and not upsert.loaded(number)
        for gtin in batches[number].gtins
    }
    if not gtins or not upsert.keeps_earlier_records:
        return
    sent = {
        one.gtin: {**one.sent, "gtin": one.gtin}
        for one in earlier_records(upsert.name, gtins)
        if not one.problem
    }
    try:
        packed = packed_records(sent.values(), products_now(service, sent, upsert.plan.extra, progress))
    except ProdexError as error:
        error.add_note(
            advice(
                "Nothing was sent: the products could not be requested as they are now, which is kept to take the "
                "write back. {forget} sends them without.",
                forget=PythonCall("prodex.send.forget_earlier_records({name!r})", name=upsert.name),
            )
        )
        raise
    if packed:
        upsert.keep_later(packed)


def products_now(
    service: Client, gtins: Iterable[str], extra: Mapping[str, Any], progress: Progress = False
) -> Iterator[Product]:
    """Request products by their GTINs, whatever units they are; pages overlap, so that one may come more than once.

    Parameters
    ----------
    service, gtins
        Where, and which.
    extra
        Further filters with which they were loaded.
    progress
        As for `prodex.upsert`.

    Raises
    ------
    ProdexError
        When they cannot be requested, or read.
    """
    # Without it a service may list consumer units only, and any other product would seem to be new.
    extra = {"allow_not_consumer_units": True, **extra}
    wanted = list(dict.fromkeys(map(str, gtins)))
    if not wanted:
        return
    query = ProductQuery(gtins_in=wanted, extra=extra)
    # What a user gave as a function of (done, total) counts the products that are sent.
    shown, count = False if callable(progress) else progress, 0
    with showing(shown, "Kept", phase="Keeping the products as they are now", total=len(wanted)) as show:
        for page in pages(service, query, page_size=GTINS_PER_CALL, progress=False):
            for content in page.envelope.data:
                try:
                    yield read_written(bytes(content))
                except (ValueError, RecursionError) as error:
                    raise UnexpectedReply(
                        f"A product of {service.base_url} cannot be read: {error}."
                    ) from error
            count += len(page.envelope.data)
            show(min(count, len(wanted)), len(wanted))
