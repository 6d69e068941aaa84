"""Sending products: all of them checked, then all of them planned on disk, then sent batch by batch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, overload

import pandas as pd

from prodex.arguments import whole_number
from prodex.display_text import on_one_line
from prodex.errors import InputError
from prodex.progress import Progress
from prodex.send.batches import ENCODINGS, Encoding, Format, Loaded, Planned, batches_of
from prodex.send.changes import Changes, language_codes_only, refuse_stale
from prodex.send.journal import UpsertJournal
from prodex.send.preflight import PreflightFinding, frame_of, inspect, refuse_errors
from prodex.send.records import Product, Source, records_of
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.text import hint_and_all

_LOG = logging.getLogger("prodex")

#: Products in one call, as the operators of the service recommend.
LARGEST_BATCH = 500


@dataclass(frozen=True)
class DryRun:
    """What would be sent, and what is to be said about it.

    Attributes
    ----------
    payloads
        The bodies of the calls, in order; none when a finding is an error, since then nothing would be sent.
    content_type
        Their content type.
    count
        Number of products.
    findings
        A frame of gtin, attribute, severity (error, warning, info), problem and what_to_do; errors first.

    Examples
    --------
    >>> import prodex
    >>> trial = prodex.upsert(prodex.connect("sandbox"), [{"gtin": "08784900123459"}], dry_run=True)
    >>> trial.count, len(trial.payloads)  # a name and a kind are missing, so nothing would be sent
    (1, 0)
    >>> "error" in set(trial.findings["severity"])
    True
    """

    payloads: tuple[bytes, ...] = field(repr=False)
    content_type: str
    count: int
    findings: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        counts = self.findings["severity"].value_counts().to_dict()
        said = ", ".join(f"{number:,} {severity}" for severity, number in counts.items()) or "nothing found"
        size, calls = sum(map(len, self.payloads)), len(self.payloads)
        lines = [
            (
                f"Dry run: {self.count:,} products in {calls:,} call{'s' * (calls != 1)}, {size:,} bytes of "
                f"{self.content_type}"
            ),
            f"preflight: {said}",
            *(
                f"  {row.severity}: {row.gtin} {row.attribute}: {row.problem}"
                for row in self.findings.head(10).itertuples()
            ),
        ]
        return "\n".join(map(on_one_line, lines))


@overload
def upsert(
    service: Client,
    records: Source | Changes,
    *,
    format: Format = ...,
    dry_run: Literal[False] = ...,
    batch_size: int = ...,
    null_deletes: bool = ...,
    progress: Progress = ...,
) -> Tracking: ...
@overload
def upsert(
    service: Client,
    records: Source | Changes,
    *,
    format: Format = ...,
    dry_run: Literal[True],
    batch_size: int = ...,
    null_deletes: bool = ...,
    progress: Progress = ...,
) -> DryRun: ...
def upsert(
    service: Client,
    records: Source | Changes,
    *,
    format: Format = "json",
    dry_run: bool = False,
    batch_size: int = LARGEST_BATCH,
    null_deletes: bool = False,
    progress: Progress = None,
) -> Tracking | DryRun:
    """Write products to the service (spec, endpoint 7).

    An attribute that is present replaces the stored one as a whole, arrays too; an absent one stays. NaN and None
    count as absent; `prodex.DELETE` deletes. To correct single texts, take `changes_from_frame`, which keeps what
    stands beside them.

    Everything is checked before anything leaves, and an error stops all of it. Each batch is sent once: when its
    answer is lost, its state is "unknown" and the other batches go on, unless two answers in a row are lost or the
    service cannot be reached or refuses; then the rest is "not sent".

    The batches, their GTINs and their payloads are on disk before the first call (in `PRODEX_HOME`, readable by its
    owner only), and what becomes of each batch as it is known. So `prodex.track(service)` has every product in any
    later process: sent, not sent, or unknown; its `send_rest()` sends those that were not. The payloads are deleted
    when all of them were sent, or by `Tracking.discard()`.

    Parameters
    ----------
    service
        From `prodex.connect`.
    records
        A frame with a column `gtin` and one for each attribute, records, a `Catalog`, the path of a file (also of
        XML), or what `changes_from_frame` made. What the service keeps itself (id, updatedAt ...) is left out.
    format
        "json" or "xml". Plain XML cannot carry null, empty lists and whatever depends on an attribute's type that is
        not known; what it cannot carry is an error of preflight.
    dry_run
        Send nothing, and return the payloads and the findings.
    batch_size
        Products in one call, 500 at most; fewer where they are large.
    null_deletes
        Whether None, or null in a file, deletes as `prodex.DELETE` does.
    progress
        A bar where somebody is watching (None), always (True), never (False), or a function of (done, total).

    Returns
    -------
    Tracking
        `.wait()` follows the import to its end; with `dry_run` a `DryRun` instead.

    Raises
    ------
    PreflightFailed
        When the service would refuse something; nothing was sent, and `.findings` says what.
    ChangesStale
        When a product of `changes_from_frame` was changed meanwhile; nothing was sent.
    StorageError
        When the disk refuses the plan; nothing was sent. An `UpsertStopped` when it refuses later: its `.tracking` has
        what was sent until then.
    ServiceError
        When not one batch could be sent. Later failures are states of the tracking.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
    >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
    >>> prodex.upsert(service, [record], dry_run=True)
    Dry run: 1 products in 1 call, 131 bytes of application/json
    preflight: nothing found
    >>> prodex.upsert(service, [record]).wait().products[["gtin", "status"]].values.tolist()
    [['08784900123459', 'SUCCESS']]
    """
    service = service_given(service, "upsert(service, records)", records)
    if format not in ENCODINGS:
        near = hint_and_all(str(format), ENCODINGS, "Products go as 'json' or 'xml'.")
        raise InputError(f"There is no format {format!r:.60}{near}")
    if whole_number(batch_size, 1, LARGEST_BATCH) is None:
        raise InputError(f"batch_size is {batch_size!r}; give a whole number from 1 to {LARGEST_BATCH}.")
    if isinstance(records, Changes):
        products, known = list(records.records), records.known
        if format == "xml":
            products = [language_codes_only(product) for product in products]
    else:
        products, known = records_of(records, null_deletes=null_deletes), {}
    findings = inspect(products, as_xml=format == "xml", known=known)
    failed = any(finding.severity == "error" for finding in findings)
    way = ENCODINGS[format]
    if dry_run:
        payloads = () if failed else tuple(body for body, _ in batches_of(products, way, batch_size))
        return DryRun(payloads, way.content_type, len(products), frame_of(findings))
    refuse_errors(findings)
    _say_loudly(findings)
    if isinstance(records, Changes):
        refuse_stale(service, records)
    if not products:
        return Tracking(service, ())
    extra = (
        (records.origin.query.extra if records.origin.query else {}) if isinstance(records, Changes) else {}
    )
    plan = _plan(products, way, batch_size, _loaded(records))
    journal = UpsertJournal.begin(service.base_url, service.fingerprint, way.content_type, plan, extra)
    tracking = Tracking(service, journal.batches(), journal=journal, findings=frame_of(findings))
    return tracking.send_planned(progress)


def _plan(
    products: Sequence[Product], way: Encoding, batch_size: int, loaded: Mapping[str, Loaded]
) -> Iterator[Planned]:
    for body, gtins in batches_of(products, way, batch_size):
        yield Planned(body, gtins, tuple(loaded[gtin] for gtin in gtins if gtin in loaded))


def _loaded(records: Source | Changes) -> dict[str, Loaded]:
    """Return, by GTIN, as of when corrections are; empty where nothing was merged."""
    if not isinstance(records, Changes):
        return {}
    pairs = zip(records.records, records.loaded.items(), strict=True)
    return {record["gtin"]: Loaded(*loaded) for record, loaded in pairs}


def _say_loudly(findings: Sequence[PreflightFinding]) -> None:
    for finding in findings:
        if finding.attribute == "validationRules":
            _LOG.warning("GTIN %s: this upsert %s", finding.gtin, finding.problem)
