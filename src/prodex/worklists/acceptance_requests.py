"""Requests of suppliers to accept a finding: the column "Accept because" of a worklist that comes back.

What a supplier writes there is no acceptance: it needs confirmation, and the analyst decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd

from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.locales import short_of
from prodex.phrases import counted
from prodex.quality.accepted import accepted_findings
from prodex.quality.accepting import accept
from prodex.quality.audit import Audit
from prodex.quality.profile import Profile
from prodex.quality.run import audit_among
from prodex.worklists.answer_outcomes import Decision
from prodex.worklists.evidence import alike
from prodex.worklists.returned_files import file_name, place_in_words


def accept_requests(
    requests: Sequence[Decision],
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    *,
    by: str | None,
    until: str | date | None,
    to: str | Path | None,
) -> Audit:
    """Accept the findings that suppliers ask to accept, and return the audit of their products.

    Parameters
    ----------
    requests
        The requests, each assigned to its product.
    catalog, profile, now
        The products, the checks, and the moment to which "older than" refers.
    by, until, to
        As for `prodex.accept`.

    Raises
    ------
    InputError
        When a finding is not there as the supplier has seen it; nothing was accepted then.
    """
    ids = sorted({one.product for one in requests if one.product is not None})
    judged = audit_among(catalog.where(product_id=ids), catalog, profile, now, progress=False)
    if (known := accepted_findings(catalog.folder)) is not None:
        judged = judged.accepting(known)
    failures = judged.failures()
    chosen: dict[str, list[int]] = {}
    gone = []
    for one in requests:
        request = one.answer
        rows = _rows_of(failures, request.keys, one.product)
        if not rows:
            gone.append(place_in_words(*request.cell_place))
        words = " ".join(request.text.split())
        chosen.setdefault(f'"{words}" ({file_name(request.file)})', []).extend(rows)
    if gone:
        raise InputError(
            f"{counted(len(gone), 'finding')} not there any more as the supplier has seen it ({'; '.join(gone[:5])}). "
            "Nothing was accepted. Leave these rows out, or look at them in a new audit."
        )
    for reason, rows in chosen.items():
        judged = accept(judged, failures.iloc[sorted(set(rows))], reason=reason, by=by, until=until, to=to)
    return judged


def _rows_of(failures: pd.DataFrame, keys: Mapping[str, str], product: str | None) -> list[int]:
    """Return the places of the findings that a row of a worklist shows."""
    return [
        place
        for place, row in enumerate(failures.itertuples(index=False))
        if row.product_id == product
        and row.check == keys.get("check")
        and _is_same(row.attribute, keys.get("attribute"))
        and _language(row.language) == _language(keys.get("language"))
        and _is_seen(row.value, keys.get("value", ""))
    ]


def _is_same(own: Any, given: str | None) -> bool:
    return given is None or pd.isna(own) or own == given


def _language(given: Any) -> str | None:
    return None if given is None or pd.isna(given) or not given else short_of(str(given))


def _is_seen(value: Any, seen: str) -> bool:
    return (not seen) if pd.isna(value) else alike(str(value), seen)
