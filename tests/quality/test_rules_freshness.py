"""The rules of freshness and status, each on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from tests.quality.four_states import Case, Finding, Record, named, text

CERTIFICATE = "certificationInformationList.certificationDetailsList.certificationEffective"
#: UNIX seconds of the first of each month around the moment of the audits, which is 2026-11-01T06:00.
OCTOBER, NOVEMBER_LATE, NEXT_YEAR = 1_790_812_800, 1_795_000_000, 1_830_000_000


def certified(end: object, begin: object = 1_700_000_000) -> Record:
    """Return a record with a certificate."""
    details = {"certificationEffectiveStartDate": begin, "certificationEffectiveEndDate": end}
    return {"certificationInformationList": [{"certificationDetailsList": [details]}]}


def labelled(end: str | None) -> Record:
    """Return a record with a label."""
    return {"isLabeledBy": [{"endDate": end, "isConceptualizedBy": {"code": "BIO"}}]}


def documented(end: int | None) -> Record:
    """Return a record with a document."""
    return {"assets": {"documents": [{"fileName": "a.pdf", "fileEffectiveEndDateTime": end}]}}


def status(attribute: str, right: object, wrong: object, value: str, reason: str) -> Case:
    """Return a case of a rule about a status; without a status the rule does not apply."""
    outer, _, inner = attribute.partition(".")

    def record(status: object) -> Record:
        return {outer: {inner: status} if inner else status}

    finding: Finding = (attribute, None, value, reason)
    return Case(record(right), record(wrong), finding, record(None))


CASES = {
    "updated_within": Case(
        {"updatedAt": "2024-11-02T00:00:00"},
        {"updatedAt": "2024-10-01T00:00:00"},
        ("updatedAt", None, "2024-10-01T00:00:00", "older than 730 days"),
        asked=(),
    ),
    "updated_in_the_past": Case(
        {"updatedAt": "2026-11-01T20:00:00"},
        {"updatedAt": "2027-01-01T00:00:00"},
        ("updatedAt", None, "2027-01-01T00:00:00", "later than the moment of the audit"),
        {"updatedAt": None},
        asked=(),
    ),
    "created_before_updated": Case(
        {"createdAt": "2026-01-01T00:00:00", "updatedAt": "2026-01-01T00:00:00"},
        {"createdAt": "2026-01-01T00:00:01", "updatedAt": "2026-01-01T00:00:00"},
        ("createdAt", None, "2026-01-01T00:00:01", "created after its last update, 2026-01-01T00:00:00"),
        {"updatedAt": "2026-01-01T00:00:00"},
    ),
    "certificates_in_force": Case(
        certified("2026-12-01"),
        certified(OCTOBER),
        (f"{CERTIFICATE}EndDate", None, str(OCTOBER), "has expired"),
        certified(None),
    ),
    "certificates_last": Case(
        certified(NEXT_YEAR),
        certified(NOVEMBER_LATE),
        (f"{CERTIFICATE}EndDate", None, str(NOVEMBER_LATE), "ends within 60 days"),
        certified(OCTOBER),
    ),
    "certificate_dates_in_order": Case(
        certified(OCTOBER),
        certified(OCTOBER, NEXT_YEAR),
        (f"{CERTIFICATE}EndDate", None, str(OCTOBER), "ends before it begins"),
        certified(OCTOBER, None),
    ),
    "labels_in_force": Case(
        labelled("2027-01-31"),
        labelled("2026-10-31T00:00:00"),
        ("isLabeledBy.endDate", None, "2026-10-31T00:00:00", "has expired"),
        labelled(None),
    ),
    "documents_in_force": Case(
        documented(NEXT_YEAR),
        documented(OCTOBER),
        ("assets.documents.fileEffectiveEndDateTime", None, "2026-10-01T00:00:00", "has expired"),
        documented(None),
    ),
    "is_still_available": Case(
        {"endAvailabilityDateTime": "2027-01-01T00:00:00"},
        {"endAvailabilityDateTime": "2026-01-01T00:00:00"},
        ("endAvailabilityDateTime", None, "2026-01-01T00:00:00", "the last day has passed"),
        {"endAvailabilityDateTime": None},
    ),
    "is_no_draft": status("manufacturerSharingStatus", 4, 2, "2", "DRAFT"),
    "is_shared": status("manufacturerSharingStatus", 4, 3, "3", "PENDING"),
    "is_not_refused": status(
        "targetProductStatus", "ACCEPTED", "REFUSED", "REFUSED", "refused by the recipient"
    ),
    "validation_is_not_failed": status("validation.status", 2, 1, "1", "NOT_OK"),
    "validation_asks_no_correction": status("validation.status", 2, 3, "3", "CORRECTION"),
    "is_validated": status("validation.status", 2, 0, "0", "no validation yet"),
    "has_no_suggestions": status("validation.nbSuggestions", 0, 4, "4", "suggestions are open"),
    "information_is_accepted": Case(
        named("Riz") | {"lastRequest": named("Du riz")},
        {"lastRequest": named("Du riz")},
        ("lastRequest", None, None, "the product has a name only in an update that waits for acceptance"),
    ),
    "no_update_waits": Case(
        named("Riz"),
        named("Riz") | {"lastRequest": {"description": [text("fr", "Du riz")]}},
        ("lastRequest", None, None, "an update waits for acceptance"),
        {"lastRequest": named("Du riz")},
    ),
}
