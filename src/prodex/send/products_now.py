"""Products as the service has them now: requested by their GTINs, compared with what was loaded, and kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from prodex.advice import Argument, PythonCall, advice
from prodex.changes import is_same
from prodex.errors import ChangesRefused, ChangesStale, ProdexError, UnexpectedReply
from prodex.gtin import gtin_key, has_digits
from prodex.ledger.batch import Loaded
from prodex.ledger.earlier_records import Packed, earlier_records, pack_records
from prodex.ledger.upsert_file import UpsertFile
from prodex.progress import Progress, showing
from prodex.query import GTINS_PER_CALL, ProductQuery
from prodex.send.records import Product
from prodex.service import Client, pages
from prodex.tables.plain_walk import product_key
from prodex.written_json import read_written

#: Without it a service may list consumer units only, and any other product would seem to be new.
ALL_UNITS: Final[Mapping[str, Any]] = {"allow_not_consumer_units": True}


def products_now(
    service: Client,
    gtins: Iterable[str],
    extra: Mapping[str, Any] = ALL_UNITS,
    *,
    attributes: Sequence[str] | None = None,
    accept_language: str | None = None,
    some_may_lack: bool = False,
    progress: Progress = False,
) -> Iterator[Product]:
    """Request products by their GTINs; pages overlap, so that one may come more than once.

    Parameters
    ----------
    extra
        Further filters, which decide what the service lists at all.
    attributes
        What is requested of them; None for everything.
    accept_language
        The language of labels; None is the service's own, whatever the client's: they may be written back.
    some_may_lack
        Whether a search may return fewer products than it has announced.

    Raises
    ------
    ServiceError
        When the service cannot be reached, or a product cannot be read.
    IncompleteLoad
        When it returns fewer products than it has announced, unless some may lack.
    """
    # A service cannot be asked for what is no GTIN.
    wanted = [one for one in dict.fromkeys(map(str, gtins)) if has_digits(one)]
    if not wanted:
        return
    query = ProductQuery(gtins_in=wanted, source_include=attributes, extra=dict(extra))
    found = pages(
        service.with_language(accept_language),
        query,
        page_size=GTINS_PER_CALL,
        progress=False,
        # With a report of its own, what is missing does not raise.
        report=(lambda _: None) if some_may_lack else None,
    )
    # What a user gave as a function of (done, total) counts the products that are sent.
    shown, count = False if callable(progress) else progress, 0
    with showing(shown, "Kept", phase="Keeping the products as they are now", total=len(wanted)) as show:
        for page in found:
            for content in page.envelope.data:
                try:
                    yield read_written(bytes(content))
                except (ValueError, RecursionError) as error:
                    raise UnexpectedReply(
                        f"A product of {service.base_url} cannot be read: {error}."
                    ) from error
            count += len(page.envelope.data)
            show(min(count, len(wanted)), len(wanted))


def _by_key(products: Iterable[Product]) -> dict[str, Product]:
    return {product_key(one): one for one in products}


def refuse_changed(service: Client, loaded: Mapping[str, Loaded], extra: Mapping[str, Any]) -> None:
    """Raise if one of these products was updated since it was loaded, according to the service.

    Parameters
    ----------
    loaded
        Key and date of the loaded products, by GTIN.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ChangesStale
        When one was updated, or is no longer there.
    ChangesRefused
        When the service has another product with its GTIN, which a filter had left out of the catalogue.
    """
    now = _by_key(products_now(service, loaded, extra, attributes=["updatedAt"], some_may_lack=True))
    shared = _shared(now.values())
    for written, (product, then) in loaded.items():
        if gtin_key(written) in shared:
            raise ChangesRefused(
                f"The service has {shared[gtin_key(written)]} products of GTIN {written}, and a write only contains "
                "the GTIN: it is not certain which of them would change. Nothing was sent: leave it out."
            )
        if product not in now:
            what = "is no longer at the service"
        elif _is_of_another_date(now[product], then):
            what = (
                f"was updated at {now[product].get('updatedAt')}, and the catalogue has the version of {then}"
            )
        else:
            continue
        raise ChangesStale(
            f"GTIN {written} {what}. Nothing was sent: load it again (max_age=0), and correct that version."
        )


def _shared(products: Iterable[Product]) -> dict[str, int]:
    """Return the keys of GTINs that several products have, with how many."""
    return {
        key: many for key, many in Counter(gtin_key(one.get("gtin")) for one in products).items() if many > 1
    }


def _is_of_another_date(record: Product, then: str | None) -> bool:
    # Without a date nobody knows which version the service has, and the correction may undo a change.
    return record.get("updatedAt") is None or record["updatedAt"] != then


#: Why a product is left out of a call.
_CHANGED: Final = "somebody has changed the product at the service since it was requested for this upsert"
_GONE: Final = "the product is no longer at the service"
_SHARED: Final = "the service has another product with its GTIN, and a write only contains the GTIN"


def find_changed(
    service: Client,
    loaded: Mapping[str, Loaded],
    attributes: Collection[str],
    before: Mapping[str, Product],
    extra: Mapping[str, Any],
) -> dict[str, str]:
    """Return the GTINs of the products that are not as they were when their corrections were merged, each with why.

    It takes one search, and more only if that does not return all of them.

    Parameters
    ----------
    loaded
        Key and date of the products as they were, by GTIN; 500 at most.
    attributes
        What is written of them. Dates are of seconds, so that an attribute may have another value with the same date.
    before
        The records as they were, by product key, as far as they are known.
    extra
        Further filters with which they were loaded.

    Raises
    ------
    ServiceError
        When they cannot be requested.
    """
    if not loaded:
        return {}
    # A name with a comma would be two.
    wanted = ["updatedAt", "lastRequest", *sorted(name for name in attributes if name.isidentifier())]
    query = ProductQuery(gtins_in=list(loaded), source_include=wanted, extra=dict(extra))
    page = service.search_products(query, limit=len(loaded))
    now = _by_key(map(read_written, map(bytes, page.envelope.data)))
    lacking = [written for written, one in loaded.items() if one.product not in now]
    if (page.total_results or 0) > len(loaded):
        # There may be more of one GTIN than the page has room for.
        lacking = [*loaded]
    now |= _by_key(products_now(service, lacking, extra, attributes=wanted, some_may_lack=True))
    found, shared = {}, _shared(now.values())
    for written, (product, then) in loaded.items():
        record, earlier = now.get(product), before.get(product, {})
        if record is None:
            found[written] = _GONE
        elif gtin_key(written) in shared:
            found[written] = _SHARED
        elif _is_of_another_date(record, then) or any(
            _has_another_value(record, earlier, name) for name in earlier.keys() & set(attributes)
        ):
            found[written] = _CHANGED
    return found


def _has_another_value(record: Product, earlier: Product, name: str) -> bool:
    """Whether an attribute has another value than earlier, or another update of it waits to be accepted."""
    if name in record and not is_same(record[name], earlier[name]):
        return True
    waiting, before = (
        one["lastRequest"].get(name) if isinstance(one.get("lastRequest"), Mapping) else None
        for one in (record, earlier)
    )
    return not is_same(waiting, before)


def request_records(
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
        gtins = (one["gtin"] for one in products)
        return pack_records(products, products_now(service, gtins, {**ALL_UNITS, **extra}, progress=progress))
    except ProdexError as error:
        error.add_note(
            advice(
                "Nothing was sent: the products could not be requested as they are now, which is kept to take the "
                "write back. {keep} sends them without.",
                keep=Argument("keep_before", False),
            )
        )
        raise


def renew_records(service: Client, upsert: UpsertFile, numbers: Iterable[int], progress: Progress) -> None:
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
        packed = pack_records(
            sent.values(), products_now(service, sent, {**ALL_UNITS, **upsert.plan.extra}, progress=progress)
        )
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
