"""Following imports that were sent earlier, from this process or any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import AuthenticationFailed, InputError, ServiceError
from prodex.ledger.batch import Batch
from prodex.ledger.upserts import latest_upsert, upsert_named
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.service.replies import is_identifier


def track(
    service: Client, ids: int | str | Sequence[int | str] | None = None, *, upsert: str | None = None
) -> Tracking:
    """Follow imports that were sent earlier, from this process or any other.

    Parameters
    ----------
    service
        From `prodex.connect`, with the access key that sent them.
    ids
        Tracking identifiers; by default those of the last `upsert` to this service from this machine.
    upsert
        Name of an earlier upsert from this machine, as `prodex.list_upserts` shows it. Where several upserts were made
        for the same corrections, all of them are followed, whichever is named.

    Returns
    -------
    Tracking
        With the current state; `.wait()` waits for the end. For an upsert from this machine it contains every product:
        sent, not sent, or unknown; `.send_rest()` sends the rest.

    Raises
    ------
    RequestRefused
        When the service knows none of the identifiers.
    InputError
        When nothing was sent from here, and no identifiers are given.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
    >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
    >>> _ = prodex.upsert(service, [record])
    >>> prodex.track(service).wait().products[["gtin", "status"]].values.tolist()  # in a later process, too
    [['08784900123459', 'SUCCESS']]
    """
    service = service_given(service, "track(service)", ids)
    if ids is None:
        file = (
            latest_upsert(service.base_url, service.fingerprint) if upsert is None else upsert_named(upsert)
        )
        tracking = Tracking.of_upsert(service, file)
        try:
            return tracking.refresh()
        except ServiceError as error:
            if isinstance(error, AuthenticationFailed):
                raise
            return tracking  # what is on disk is still valid while the service is away; the rows contain the error
    if upsert is not None:
        raise InputError("Give tracking identifiers or the name of an upsert, not both.")
    if isinstance(ids, Catalog | pd.DataFrame | Mapping) or not isinstance(ids, int | str | Iterable):
        raise InputError(
            f"ids are tracking identifiers, such as 12 or [12, 13], not {described(ids)}. For the last upsert from "
            "this machine, prodex.track(service) knows them."
        )
    # Each identifier once, or its products would be counted twice.
    wanted = dict.fromkeys(map(_identifier, [ids] if isinstance(ids, int | str) else ids))
    tracking = Tracking(service, [Batch((), "sent", one) for one in wanted]).refresh()
    # A mistyped identifier must not look like an import that is still running.
    if tracking.problems and not tracking.records:
        raise next(iter(tracking.problems.values()))
    return tracking


def _identifier(value: Any) -> str:
    text = str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not is_identifier(text):
        raise InputError(f"{value!r:.80} is not a tracking identifier, which is a whole number, such as 12.")
    return text
