"""Rules of freshness: dates of the product, and everything that expires."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from functools import partial

import pandas as pd
import pyarrow.compute as pc

from prodex.errors import NotExported
from prodex.languages import Message
from prodex.quality.products import Products, once_per_part
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Evidence, Verdict, as_sent, compared_with, product_verdict

_CERTIFICATE = "certificationInformationList.certificationDetailsList.certificationEffective"
_ENDS, _BEGINS = f"{_CERTIFICATE}EndDate", f"{_CERTIFICATE}StartDate"
#: Most products have no such date, and to read none takes as long as to read a hundred.
_NO_MOMENTS = pd.Series([], dtype="datetime64[us]")
_EXPIRED = Message("has expired")
#: Declares a rule of dates, which fails more products every day.
_rule = partial(rule, dimension="timeliness", block="freshness")


@_rule(
    title="the product was updated within {days} days",
    problem="Not updated for {days} days",
    fix="Compare the record with the current product, and confirm or correct it.",
    severity="warning",
    needs="updatedAt",
)
def updated_within(products: Products, *, days: int = 730) -> Verdict:
    """Recipes, pictures and laws change; a record that nobody has checked for years is probably wrong."""
    updated = products["updated_at"]
    # The moment of the audit, not the clock: an audit repeated later gives the same result.
    old = updated < products.now - timedelta(days=days)
    # Two years are our own default, of no standard: a profile has its own.
    # Without a date there is no sign that anybody has checked the product.
    fails = old | updated.isna()
    reason = Message("older than {days:d} days", days=days)
    return product_verdict(fails, "updatedAt", updated, reason, shown=old)


@_rule(
    title="the last update is not in the future",
    problem="Last update in the future",
    fix="Correct the clock of the system that sent it, and send it again.",
    severity="warning",
    needs="updatedAt",
)
def updated_in_the_past(products: Products, *, hours: int = 24) -> Verdict:
    """A date in the future never ages, and a refresh by date misses the next change; {hours} hours allow for time
    zones.
    """
    updated = products["updated_at"]
    # The service sends local time without a zone, so a few hours ahead are still possible.
    ahead = updated > products.now + timedelta(hours=hours)
    reason = Message("later than the moment of the audit")
    return product_verdict(ahead, "updatedAt", updated, reason, applies=updated.notna())


@_rule(
    title="the product was created before it was updated",
    problem="Created after its last update",
    fix="Load the product again; if the dates stay, report them to the service.",
    severity="info",
    dimension="consistency",
    needs=("createdAt", "updatedAt"),
)
def created_before_updated(products: Products) -> Verdict:
    """Dates in the wrong order were set by a faulty system: neither can be trusted."""
    created, updated = products["created_at"], products["updated_at"]
    return product_verdict(
        created > updated,
        "createdAt",
        created,
        lambda rows: Message("created after its last update, {moment}", moment=as_sent(updated.iloc[rows])),
        applies=created.notna() & updated.notna(),
        compared=updated,
    )


@_rule(
    title="no certificate has expired",
    problem="Certificate expired",
    fix="Send the new certificate, or remove the claim.",
    severity="error",
    needs=_ENDS,
)
def certificates_in_force(products: Products) -> Verdict:
    """A claim without a valid certificate must not be made."""
    dated = _dated(products, _ENDS)
    return _dates(products, dated, dated["at"] < products.now, _EXPIRED)


@_rule(
    title="certificates are valid for {days} more days",
    problem="Certificate expires within {days} days",
    fix="Request the next certificate now.",
    severity="info",
    needs=_ENDS,
)
def certificates_last(products: Products, *, days: int = 60) -> Verdict:
    """Renewal takes weeks; expired certificates are a check of their own."""
    dated = _dated(products, _ENDS)
    # Two months are no law, only time to act. Those that have expired are the finding of the rule above.
    dated = dated[~(dated["at"] < products.now)]
    soon = dated["at"] < products.now + timedelta(days=days)
    return _dates(products, dated, soon, Message("ends within {days:d} days", days=days))


@_rule(
    title="certificates begin before they expire",
    problem="Certificate expires before it begins",
    fix="Correct the dates of the certificate.",
    severity="warning",
    dimension="consistency",
    needs=(_BEGINS, _ENDS),
)
def certificate_dates_in_order(products: Products) -> Verdict:
    """One of the dates is wrong, and the record does not show which."""
    begins, ends = _dated(products, _BEGINS), _dated(products, _ENDS)
    both = ends.merge(
        begins[["product", "position", "at", "value"]], on=["product", "position"], suffixes=("", "_begin")
    )
    wrong = both["at"] < both["at_begin"]
    # One that cannot be read is as good as both.
    both["at"] = both["at"].where(both["at_begin"].notna())
    return _dates(products, both, wrong, Message("ends before it begins"), both["value_begin"])


@_rule(
    title="no quality label has expired",
    problem="Quality label expired",
    fix="Renew the label, or remove it.",
    severity="warning",
    needs="isLabeledBy.endDate",
)
def labels_in_force(products: Products) -> Verdict:
    """A logo that the product may no longer carry misleads customers."""
    labels = _ending(products, "labels", "end_date", "label_code", "label")
    labels = labels.rename(columns={"end_date": "value"})
    dated = _with_moments(labels.assign(attribute=labels["attribute"] + ".endDate"))
    return _dates(products, dated, dated["at"] < products.now, _EXPIRED, dated["which"])


@_rule(
    title="no document has expired",
    problem="Document expired",
    fix="Send the document that is valid now.",
    severity="warning",
    needs="assets.documents.fileEffectiveEndDateTime",
)
def documents_in_force(products: Products) -> Verdict:
    """Outdated instructions and certificates are worse than none."""
    documents = _ending(products, "documents", "effective_end", "file_name", "url")
    at = documents["effective_end"].dt.tz_localize(None)
    attribute = documents["attribute"] + ".fileEffectiveEndDateTime"
    dated = documents.assign(at=at, value=as_sent(at), attribute=attribute)
    return _dates(products, dated, dated["at"] < products.now, _EXPIRED, dated["which"])


@_rule(
    title="the product is still available",
    problem="No longer available",
    fix="Correct the last day of availability, or remove the product from the range.",
    severity="warning",
    needs="endAvailabilityDateTime",
)
def is_still_available(products: Products) -> Verdict:
    """A product that is no longer available should not be listed."""
    dated = _dated(products, "endAvailabilityDateTime")
    return _dates(products, dated, dated["at"] < products.now, Message("the last day has passed"))


def _ending(products: Products, table: str, end: str, *names: str) -> pd.DataFrame:
    """Return what has an end, with the first name that it has as `which`: the end of another one is another finding."""
    rows = products.rows_with(table, end, pc.is_valid, "attribute", end)
    which = pd.Series([None] * len(rows), dtype=object)
    for name in names:
        # What an export left out must not make unknown what is known without it.
        with suppress(NotExported):
            which = which.fillna(products.rows_with(table, end, pc.is_valid, name)[name])
    return rows.assign(which=which)


def _dates(
    products: Products,
    dated: pd.DataFrame,
    wrong: pd.Series,
    reason: Message,
    compared: pd.Series | None = None,
) -> Verdict:
    """Fail the products of the dates that are wrong; products without a date are not applicable.

    A date that cannot be read is unknown, unless another one of the product is wrong. One that has passed was compared
    with the day of the audit, which is another one every night and no part of the finding.
    """
    # Several certificates can fail on one product: each is a finding of its own.
    found = dated[wrong]
    with_what = None if compared is None else [*map(compared_with, compared[wrong].astype(object).tolist())]
    evidence = Evidence(found["product"], found["attribute"], None, found["value"], reason, with_what)
    fails = products.any(found["product"])
    unclear = products.any(dated["product"][dated["at"].isna()]) & ~fails
    return Verdict(pd.arrays.BooleanArray(fails, unclear), products.any(dated["product"]), evidence)


@once_per_part
def _dated(products: Products, attribute: str) -> pd.DataFrame:
    """Return the dates at a wire path, with the moment of each; none for what cannot be read."""
    # Few of the rows of this table are dates.
    is_here = partial(pc.equal, attribute)
    return _with_moments(
        products.rows_with("scalars", "attribute", is_here, "attribute", "position", "value")
    )


def _with_moments(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows that have a value, with its moment in the column `at`."""
    filled = rows[rows["value"].str.strip().fillna("") != ""].reset_index(drop=True)
    return filled.assign(at=_moments(filled["value"]) if len(filled) else _NO_MOMENTS)


def _moments(values: pd.Series) -> pd.Series:
    """Read dates in every form that occurs: UNIX seconds, ISO dates, ISO times; local time, as the service has it."""
    # Dates occur as UNIX seconds and as ISO texts, also in one column.
    numbers = pd.to_numeric(values, errors="coerce")
    # Larger numbers are no seconds of our time: milliseconds, or typing errors.
    seconds = pd.to_datetime(numbers.where(numbers.abs() < 1e11), unit="s", errors="coerce")
    # Texts with an offset and texts without one in one column: only `utc=True` reads both.
    written = pd.to_datetime(values.where(numbers.isna()), format="ISO8601", errors="coerce", utc=True)
    return seconds.astype("datetime64[us]").fillna(written.dt.tz_localize(None).astype("datetime64[us]"))
