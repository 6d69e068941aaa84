"""Upserting: all products are checked, then planned on disk, then sent batch by batch."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, overload

import pandas as pd

from prodex.catalog import Catalog, Origin
from prodex.changes import MAINTAINED_BY_SERVICE
from prodex.errors import InputError, on_one_line
from prodex.files.lock import user_name
from prodex.ledger.batch import Loaded, Planned
from prodex.ledger.earlier_records import pack_records, remove_old
from prodex.ledger.upsert_file import UpsertFile
from prodex.limits import KeepingLimits
from prodex.phrases import counted, hint_and_all
from prodex.progress import Progress
from prodex.send.batches import ENCODINGS, LARGEST_BATCH, Format, checked_batch_size, make_batches
from prodex.send.merging import texts_of
from prodex.send.preflight import PreflightFinding, inspect_products, preflight_frame, refuse_errors
from prodex.send.product_writes import (
    Changes,
    language_codes_only,
    why_in_part,
    why_in_part_of_file,
    without_labels,
)
from prodex.send.products_now import refuse_changed, request_records
from prodex.send.records import Product, Source, records_of
from prodex.send.sending_rule import Ruling, SentBefore
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.connection import service_given
from prodex.tables.plain_walk import product_key

_LOG = logging.getLogger("prodex")


@dataclass(frozen=True)
class DryRun:
    """What an upsert would send, and what preflight found. Made by `prodex.upsert(..., dry_run=True)`.

    Attributes
    ----------
    payloads
        The bodies of the calls, in order; none if a finding is an error, since then nothing would be sent.
    content_type
        Their content type.
    count
        Number of products.
    findings
        A frame of gtin, attribute, severity (error, warning, info), problem and what_to_do; errors first.

    Examples
    --------
    >>> import prodex
    >>> dry_run = prodex.upsert(prodex.connect("sandbox"), [{"gtin": "08784900123458"}], dry_run=True)
    >>> dry_run.payloads, dry_run.findings["severity"].tolist()
    ((), ['error', 'error', 'warning'])
    """

    payloads: tuple[bytes, ...] = field(repr=False)
    content_type: str
    count: int
    findings: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        counts = self.findings["severity"].value_counts().to_dict()
        found = ", ".join(f"{number:,} {severity}" for severity, number in counts.items()) or "nothing found"
        calls = f"{counted(self.count, 'product')} in {counted(len(self.payloads), 'call')}"
        lines = [f"Dry run: {calls}, {sum(map(len, self.payloads)):,} bytes of {self.content_type}"]
        lines.append(f"preflight: {found}")
        for row in self.findings.head(10).itertuples():
            lines.append(f"  {row.severity}: {row.gtin} {row.attribute}: {row.problem}")
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
    encoding: str | None = ...,
    keep_before: bool = ...,
    why: str = ...,
    by: str | None = ...,
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
    encoding: str | None = ...,
    keep_before: bool = ...,
    why: str = ...,
    by: str | None = ...,
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
    encoding: str | None = None,
    keep_before: bool = True,
    why: str = "",
    by: str | None = None,
) -> Tracking | DryRun:
    """Write products to the service (spec, endpoint 7).

    A given attribute replaces the stored one as a whole, arrays included; an absent one is not changed. NaN and None
    count as absent, and so do empty cells of a frame; `prodex.DELETE` deletes. To correct single texts, use
    `catalog.changes_from`, which keeps the other texts of an attribute. A catalogue that lacks a part of an attribute,
    such as some languages, is refused, also that of a workbook.

    Everything is checked before anything is sent, and one error stops all of it. Each batch is sent once: if its reply
    is lost, its state is "unknown" and the next batch follows. After two lost replies in a row, or when the service
    cannot be reached or refuses a batch, the rest is "not sent". Of `catalog.changes_from`, the products of each of
    several batches are looked at once more before it: what somebody has changed since is left out, and is "not sent".

    The batches, their GTINs and their payloads are on disk before the first call (in `PRODEX_HOME`, readable by its
    owner only), and so is the state of each batch as soon as it is known. So `prodex.track(service)` knows the state of
    every product in any later process, and its `send_rest()` sends those that were not sent. The payloads are deleted
    when all of them were sent, or by `Tracking.discard()`.

    The products are requested before they are written, and kept with its plan as they were, so that `prodex.undo`
    can take the write back. `prodex.list_upserts` shows how much is kept and until when (90 days and 1 GB by default,
    `PRODEX_EARLIER_RECORDS_DAYS` and `PRODEX_EARLIER_RECORDS_GB`); `prodex.send.forget_earlier_records` removes it.

    Parameters
    ----------
    service
        From `prodex.connect`.
    records
        A frame with a column `gtin` and one for each attribute, records, a `Catalog`, the path of a file (also XML), or
        the result of `catalog.changes_from`. Attributes that the service maintains (id, updatedAt ...) are left out.
    format
        "json" or "xml". Plain XML cannot represent null, empty lists and values whose type does not follow from the
        attribute; preflight reports each as an error.
    dry_run
        Only check: send nothing, and return the payloads and the findings.
    batch_size
        Products in one call, 500 at most; fewer if they are large.
    null_deletes
        Whether None, or null in a file, deletes as `prodex.DELETE` does.
    progress
        A progress bar in notebooks and terminals (None), always (True), never (False), or a function of (done, total).
    encoding
        Of a file of JSON that is not in UTF-8; see `read_products`.
    keep_before
        Whether to request the products first and keep them as they are. Without, the write cannot be taken back.
    why, by
        What it is sent for, and who sends it (the user of this machine by default), for those who look back.

    Returns
    -------
    Tracking
        `.wait()` follows the import to its end. A `DryRun` with `dry_run`.

    Raises
    ------
    PreflightFailed
        When the service would refuse something; nothing was sent, and `.findings` has the reasons.
    ChangesStale
        When a product of `catalog.changes_from` has changed meanwhile; nothing was sent.
    ChangesRefused
        When the service has another product with the GTIN of one of `catalog.changes_from`; nothing was sent.
    StorageError
        When the plan cannot be written; nothing was sent. An `UpsertStopped` if writing fails later: its `.tracking`
        has what was sent until then.
    ServiceError
        When no batch could be sent. Later failures are states of the tracking. Also when the products cannot be
        requested first; then nothing was sent.

    Examples
    --------
    >>> import prodex
    >>> service = prodex.connect("sandbox")
    >>> name = {"expressedIn": {"code": "fra-FR"}, "data": "Riz long"}
    >>> record = {"gtin": "08784900123459", "namePublicLong": [name], "kind": {"code": "70020"}}
    >>> prodex.upsert(service, [record], dry_run=True)
    Dry run: 1 product in 1 call, 131 bytes of application/json
    preflight: nothing found
    >>> prodex.upsert(service, [record]).wait().products[["gtin", "status"]].values.tolist()
    [['08784900123459', 'SUCCESS']]
    """
    service = service_given(service, "upsert(service, records)", records)
    if format not in ENCODINGS:
        near = hint_and_all(str(format), ENCODINGS, "Give 'json' or 'xml'.")
        raise InputError(f"There is no format {format!r:.60}{near}")
    batch_size = checked_batch_size(batch_size)
    if isinstance(records, Changes):
        products, filled = list(records.records), records.filled
        loaded, changes, extra = records.loaded_by_gtin, records.digests, records.extra
        # XML has one attribute for the language, its code; labels and other fields would be errors of preflight.
        if format == "xml":
            products = [language_codes_only(product) for product in products]
    else:
        products = records_of(records, null_deletes=null_deletes, encoding=encoding)
        filled, loaded, changes, extra = {}, {}, {}, {}
    findings = inspect_products(products, as_xml=format == "xml", filled=filled)
    if isinstance(records, Catalog | Changes):
        findings = [*_about_parts(records.origin, products), *findings]
    if isinstance(records, Catalog) and records.origin.accept_language:
        products = without_labels(products)
    failed = any(finding.severity == "error" for finding in findings)
    form = ENCODINGS[format]
    if dry_run:
        payloads = () if failed else tuple(body for body, *_ in make_batches(products, form, batch_size))
        return DryRun(payloads, form.content_type, len(products), preflight_frame(findings))
    payload = _Payload(products, loaded, extra, changes, findings, format, batch_size)
    author = Author(by or user_name(), why or _UPSERT)
    return _send_products(service, payload, None, progress, None if not keep_before else (), author)


def _about_parts(origin: Origin, products: Sequence[Product]) -> Iterator[PreflightFinding]:
    """Yield the attributes of which a catalogue may lack a part: whoever writes its products would delete that."""
    if origin.query is None and origin.extent is None:
        return
    samples = {name: product for product in reversed(products) for name in product}
    for name in sorted(samples.keys() - MAINTAINED_BY_SERVICE - {"gtin"}):
        has_texts = any(True for one in products for _ in texts_of(one.get(name), name))
        why = why_in_part(origin, name, has_texts=has_texts) or why_in_part_of_file(origin.extent, name)
        if why:
            yield PreflightFinding(
                str(samples[name].get("gtin")),
                name,
                "error",
                f"it {why}, and a write replaces all of it: the missing part would be lost",
                "Load the products with the whole attribute in all languages, or correct single values "
                "(catalog.changes_from, prodex.correct). Of a product that is new, send a record of your own.",
            )


#: What an upsert is sent for, if nobody says it.
_UPSERT = "upsert of records"


class Author(NamedTuple):
    """Who sends an upsert, and what for."""

    by: str
    why: str


class Ruled(NamedTuple):
    """The name of an upsert of corrections, what was sent of them before, and what the rule says of the rest."""

    name: str
    before: SentBefore
    ruling: Ruling


def upsert_left(
    service: Client,
    changes: Changes,
    ruled: Ruled,
    progress: Progress,
    before: Sequence[Product],
    author: Author,
) -> Tracking:
    """Send what earlier upserts have left of corrections; the other parameters and errors are those of `upsert`.

    Parameters
    ----------
    before
        The products as the service has them now.

    Raises
    ------
    SnapshotLocked
        When another process sends some of them, or plans to; nothing was sent.
    """
    findings = inspect_products(changes.records, as_xml=False, filled=changes.filled)
    about = (changes.loaded_by_gtin, changes.extra, changes.digests)
    payload = _Payload(changes.records, *about, findings, "json", LARGEST_BATCH)
    # Others may have the same GTIN. Labels in another language than the service's own are not kept, since what is kept
    # is written when somebody takes it back.
    own = [record for record in before if product_key(record) in changes.writes]
    own = without_labels(own) if changes.origin.accept_language else own
    return _send_products(service, payload, ruled, progress, own, author)


class _Payload(NamedTuple):
    """Products as they are to be sent, and what is known of them."""

    products: Sequence[Product]
    loaded: Mapping[str, Loaded]
    extra: Mapping[str, Any]
    changes: Mapping[str, tuple[str, ...]]
    findings: Sequence[PreflightFinding]
    format: Format
    batch_size: int

    def plan(self) -> Iterator[Planned]:
        """Yield the batches."""
        for body, gtins, sizes in make_batches(self.products, ENCODINGS[self.format], self.batch_size):
            loaded = tuple(self.loaded[gtin] for gtin in gtins if gtin in self.loaded)
            changes = tuple(self.changes[gtin] for gtin in gtins if gtin in self.changes)
            yield Planned(body, gtins, loaded, changes, sizes)


def _send_products(
    service: Client,
    payload: _Payload,
    ruled: Ruled | None,
    progress: Progress,
    before: Sequence[Product] | None,
    author: Author,
) -> Tracking:
    """Check products, plan the calls on the disk, and make them.

    `before` has the products as they are now: none if they are to be requested, None if they are not to be kept.
    """
    # All products are checked first: after a partial upsert nobody knows which corrections are still to be made.
    refuse_errors(payload.findings)
    for finding in payload.findings:
        # It is rarely intended, so the log has it too, for runs of which nobody reads the findings.
        if finding.attribute == "validationRules":
            _LOG.warning("GTIN %s: this upsert %s", finding.gtin, finding.problem)
    limits = KeepingLimits.given()
    earlier_records = None
    if payload.products and before is not None and limits.keep_any:
        earlier_records = (
            pack_records(payload.products, before)
            if before
            else request_records(service, payload.products, payload.extra, progress)
        )
    # After the products were requested: what is kept is then what is written over.
    refuse_changed(service, payload.loaded, payload.extra)
    # Without products there is no plan, and no call.
    if not payload.products:
        return Tracking(service, ())
    attributes = {name for product in payload.products for name in product} - {"gtin"}
    earlier = () if ruled is None else ruled.ruling.upserts
    with ExitStack() as sending:
        # Until this upsert is locked, no other process may look for what is sent already.
        with ExitStack() as planning:
            if ruled is not None:
                planning.enter_context(ruled.ruling.taking_over(ruled.before, ruled.name))
            file = UpsertFile.begin(
                service.base_url,
                service.fingerprint,
                ENCODINGS[payload.format].content_type,
                payload.plan(),
                payload.extra,
                name=None if ruled is None else ruled.name,
                attributes=attributes,
                continues=[one.name for one in earlier],
                by=author.by,
                why=author.why,
                earlier=earlier_records,
            )
            sending.enter_context(file.exclusive())
        remove_old(limits)
        found = preflight_frame(payload.findings)
        tracking = Tracking(service, file.batches(), file=file, findings=found, earlier=earlier)
        return tracking.send_planned(progress)
