"""Activating validation scenarios on products, in batches (spec, endpoint 10; retailers only)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

import pandas as pd

from prodex import gtin
from prodex.advice import Argument, advice
from prodex.arguments import listed
from prodex.catalog import Catalog
from prodex.errors import InputError, OutcomeUnknown, RequestRefused, ServiceError
from prodex.gtin import gtin_key
from prodex.phrases import counted
from prodex.progress import Progress, showing
from prodex.send.batches import LARGEST_BATCH, checked_batch_size
from prodex.send.products_now import products_now
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.written_dates import day_given

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
#: The time zone in which a day ends last.
_LAST_ZONE = timezone(timedelta(hours=-12))
#: The status of a batch after an error that is about it alone; after any other, the service cannot be reached.
_STATUSES: Mapping[type[ServiceError], str] = {OutcomeUnknown: "unknown", RequestRefused: "refused"}


def require_scenarios(
    service: Client,
    products: Catalog | Iterable[str],
    scenarios: Mapping[str | int, bool],
    *,
    deadline: date | str | None = None,
    batch_size: int = LARGEST_BATCH,
    dry_run: bool = False,
    progress: Progress = None,
) -> pd.DataFrame:
    """Activate or deactivate validation scenarios on products (spec, endpoint 10).

    Only products that a manufacturer shared are eligible, and a deadline needs an organisation and a scenario with
    deadlines. The service checks that call by call; earlier batches remain done when a later one is refused.

    Parameters
    ----------
    service
        From `prodex.connect`, with the access key of a retailer.
    products
        A catalogue, or uuids, or GTINs (whose uuids are looked up first). The products that fail a check are
        `catalog.where(product_id=audit.failures(rule="has_front_packshot")["product_id"])`.
    scenarios
        Scenario id to True (activate) or False (deactivate).
    deadline
        The day by which the manufacturers have to fulfil what is activated: a date, or YYYY-MM-DD.
    batch_size
        Products in one call, 500 at most.
    dry_run
        Send nothing, and return the calls with the status "dry run".
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done, total).

    Returns
    -------
    DataFrame
        One row for each batch: products (number), status ("done", "refused", "unknown" if the reply was lost, "not
        sent", "dry run"), message, and uuids.

    Raises
    ------
    InputError
        When an argument is not valid, or a product has neither uuid nor GTIN; nothing was sent.
    ServiceError
        When no batch was done; the message is that of the service.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> catalog = prodex.flatten([{"id": 7, "uuid": "0d4d8a52-8a3f-4d1e-9d2b-0f6a5a3c9b11"}])
    >>> prodex.require_scenarios(service, catalog, {"12": True}, dry_run=True)[["products", "status"]].values.tolist()
    [[1, 'dry run']]
    """
    service = service_given(service, "require_scenarios(service, products, scenarios)", products)
    asked = terms(scenarios, deadline)
    size = checked_batch_size(batch_size)
    uuids = _uuids(service, products)
    batches = [uuids[start : start + size] for start in range(0, len(uuids), size)]
    if dry_run:
        return _outcomes([(batch, "dry run", "") for batch in batches])
    rows: list[tuple[list[str], str, str]] = []
    errors: list[ServiceError] = []
    with showing(progress, "Required", total=len(uuids), phase="Requiring scenarios") as phase:
        for batch in batches:
            status, message = "not sent", "the service could not be reached for an earlier batch"
            # A refusal is about one batch. After a failed connection, every further batch would only repeat the
            # retries.
            if not errors or isinstance(errors[-1], tuple(_STATUSES)):
                try:
                    reply = service.require_rulesets(batch, **asked)
                    status, message = "done", "" if reply is None else json.dumps(reply, ensure_ascii=False)
                except ServiceError as error:
                    errors.append(error)
                    status = next((_STATUSES[kind] for kind in _STATUSES if isinstance(error, kind)), status)
                    message = str(error)
            rows.append((batch, status, message))
            phase.add(len(batch))
    if errors and not any(status in {"done", "unknown"} for _, status, _ in rows):
        # If nothing was done, an error says more than a frame in which everything has failed.
        raise errors[0]
    return _outcomes(rows)


def _outcomes(batches: Iterable[tuple[list[str], str, str]]) -> pd.DataFrame:
    rows = [(len(uuids), status, message, uuids) for uuids, status, message in batches]
    return pd.DataFrame(rows, columns=["products", "status", "message", "uuids"])


def terms(scenarios: Mapping[str | int, bool], deadline: date | str | None) -> dict[str, Any]:
    """Return what every call contains besides the products, under its wire names.

    Raises
    ------
    InputError
        When a scenario is neither on nor off, or the deadline is no day, has passed, or has nothing to apply to.
    """
    values = _checked_values(scenarios)
    day = _day(deadline, values)
    return {"ruleset_values": values, **({} if day is None else {"deadline": day})}


def _checked_values(scenarios: Mapping[str | int, bool]) -> dict[str, bool]:
    if not isinstance(scenarios, Mapping) or not scenarios:
        raise InputError(f"scenarios is {scenarios!r}; give a dict of scenario id to True or False.")
    for name, value in scenarios.items():
        if not isinstance(value, bool):
            raise InputError(
                f"scenario {name!r} is {value!r}; give True to activate it, False to deactivate it."
            )
    return {str(name): value for name, value in scenarios.items()}


def _day(deadline: date | str | None, values: Mapping[str, bool]) -> str | None:
    if (day := day_given(deadline, Argument("deadline"))) is None:
        return None
    # The specification does not name a time zone, so a day has passed only when it has ended everywhere.
    if day < datetime.now(_LAST_ZONE).date():
        raise InputError(
            advice(
                "{deadline} {day} has passed. Give a day that is still to come.",
                deadline=Argument("deadline"),
                day=day,
            )
        )
    if not any(values.values()):
        raise InputError(
            advice(
                "{deadline} only applies to scenarios that are activated, and none is. Leave it out.",
                deadline=Argument("deadline"),
            )
        )
    return day.isoformat()


def names_of_products(products: Catalog | Iterable[str]) -> list[str]:
    """Return the uuid, or else the GTIN of 14 digits, of each product, each once.

    Raises
    ------
    InputError
        When a product has neither.
    """
    if isinstance(products, Catalog):
        rows = products.arrow("products", ["product_id", "uuid", "gtin"]).to_pylist()
        # Where the uuid was not requested, it is looked up by the GTIN.
        given: list[Any] = [row["uuid"] or row["gtin"] for row in rows]
        if nameless := [row["product_id"] for row, one in zip(rows, given, strict=True) if not one]:
            raise InputError(
                f"{counted(len(nameless), 'product')} of the catalogue can be named to nobody: there is neither uuid "
                f"nor GTIN, of {', '.join(map(str, nameless[:5]))} first. Nothing was sent; leave them out."
            )
    else:
        cells = listed("products", products)
        given = [one for one in cells if one is not None and str(one).strip()] or cells
    return list(dict.fromkeys(str(one) if _is_uuid(one) else _checked_gtin(one) for one in given))


def _is_uuid(name: Any) -> bool:
    return _UUID.fullmatch(str(name)) is not None


def _uuids(service: Client, products: Catalog | Iterable[str]) -> list[str]:
    """Return the distinct uuids of the products; GTINs are looked up."""
    named = names_of_products(products)
    gtins = {one for one in named if not _is_uuid(one)}
    found = _uuids_by_gtin(service, gtins) if gtins else {}
    if missing := sorted(gtins - set(found)):
        raise InputError(
            f"The service has no product with {len(missing):,} of the GTINs, {', '.join(missing[:5])} first. Nothing "
            "was sent; leave them out."
        )
    uuids = (uuid for one in named for uuid in ([one] if _is_uuid(one) else found[one]))
    return list(dict.fromkeys(uuids))


def _checked_gtin(value: Any) -> str:
    try:
        return gtin.normal_form(value)
    except InputError as error:
        raise InputError(f"{value!r} is neither a uuid nor a GTIN: {error}") from error


def _uuids_by_gtin(service: Client, gtins: set[str]) -> dict[str, list[str]]:
    """Look up uuids by GTIN (spec, endpoint 10: with endpoint 5 and a filter_source_include of uuid)."""
    found: dict[str, list[str]] = {}
    for product in products_now(service, sorted(gtins), attributes=["uuid"], some_may_lack=True):
        uuids = found.setdefault(gtin_key(product.get("gtin")), [])
        if product.get("uuid") and product["uuid"] not in uuids:  # pages overlap
            uuids.append(product["uuid"])
    return found
