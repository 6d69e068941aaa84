"""Sending products: checked first, in batches, each sent once, and written down before it leaves."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, overload

import pandas as pd

from prodex.errors import AuthenticationFailed, InputError, OutcomeUnknown, RequestRefused, ServiceError
from prodex.send import xml
from prodex.send.changes import Changes, refuse_stale
from prodex.send.journal import Batch, Journal
from prodex.send.preflight import Finding, frame_of, inspect, refuse_errors
from prodex.send.records import KEPT_BY_THE_SERVICE, Product, Source, records_of
from prodex.send.tracking import Tracking
from prodex.service import Client
from prodex.service.progress import Progress, showing

_LOG = logging.getLogger("prodex")

#: Products in one call, as the operators of the service recommend.
LARGEST_BATCH = 500
#: Bytes in one call; the specification shows no limit, and services have one.
_LARGEST_BODY = 8_000_000

Format = Literal["json", "xml"]

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


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
    """

    payloads: tuple[bytes, ...] = field(repr=False)
    content_type: str
    count: int
    findings: pd.DataFrame = field(repr=False)

    def __repr__(self) -> str:
        counts = self.findings["severity"].value_counts().to_dict()
        said = ", ".join(f"{number:,} {severity}" for severity, number in counts.items()) or "nothing found"
        size = sum(map(len, self.payloads))
        lines = [
            f"Dry run: {self.count:,} products in {len(self.payloads)} calls, {size:,} bytes of {self.content_type}",
            f"preflight: {said}",
            *(
                f"  {row.severity}: {row.gtin} {row.attribute}: {row.problem}"
                for row in self.findings.head(10).itertuples()
            ),
        ]
        return "\n".join(lines)


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
    service cannot be reached or refuses; then the rest is "not sent". Tracking identifiers are on disk as they come.

    Parameters
    ----------
    service
        From `prodex.connect`.
    records
        A frame with a column `gtin` and one for each attribute, records, a `Catalog`, the path of a file, or what
        `changes_from_frame` made. What the service keeps itself (id, updatedAt, owner ...) is left out.
    format
        "json" or "xml".
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
    ServiceError
        When not one batch could be sent. Later failures are states of the tracking.
    """
    if format not in ("json", "xml"):
        raise InputError(f"There is no format {format!r}; products go as 'json' or 'xml'.")
    if (
        isinstance(batch_size, bool)
        or not isinstance(batch_size, int)
        or not 1 <= batch_size <= LARGEST_BATCH
    ):
        raise InputError(f"batch_size is {batch_size!r}; give a whole number from 1 to {LARGEST_BATCH}.")
    if isinstance(records, Changes):
        products, known = list(records.records), records.known
    else:
        products, known = records_of(records, null_deletes=null_deletes), {}
    findings = inspect(products, as_xml=format == "xml", known=known)
    failed = any(finding.severity == "error" for finding in findings)
    way = _XML if format == "xml" else _JSON
    if dry_run:
        payloads = () if failed else tuple(body for body, _ in _batches(products, way, batch_size))
        return DryRun(payloads, way.content_type, len(products), frame_of(findings))
    refuse_errors(findings)
    _say_loudly(findings)
    if isinstance(records, Changes):
        refuse_stale(service, records)
    if not products:
        return Tracking(service, ())
    journal = Journal.begin(service.base_url)
    batches = _send(service, products, way, batch_size, journal, progress)
    return Tracking(service, batches, path=journal.path, findings=frame_of(findings))


class _Way(NamedTuple):
    """How products are written."""

    content_type: str
    one: Callable[[Product], str]
    all: Callable[[Sequence[str]], bytes]


def _json(product: Product) -> str:
    """Write a product as services do: compact, and letters as they are."""
    text = json.dumps(product, ensure_ascii=False, separators=(",", ":"))
    # Half a surrogate pair has no UTF-8; its escape is the only way to send it.
    return json.dumps(product, separators=(",", ":")) if _LONE_SURROGATE.search(text) else text


_JSON = _Way("application/json", _json, lambda items: f'{{"data":[{",".join(items)}]}}'.encode())
_XML = _Way(xml.CONTENT_TYPE, xml.encoded, xml.payload)


def _batches(
    products: Sequence[Product], way: _Way, batch_size: int
) -> Iterator[tuple[bytes, tuple[str, ...]]]:
    """Yield payloads with the GTINs in them, small enough in number and in bytes."""
    items: list[str] = []
    gtins: list[str] = []
    size = 0
    for product in products:
        item = way.one(_writable(product))
        if items and (len(items) == batch_size or size + len(item) > _LARGEST_BODY):
            yield way.all(items), tuple(gtins)
            items, gtins, size = [], [], 0
        items.append(item)
        gtins.append(product["gtin"])
        size += len(item)
    if items:
        yield way.all(items), tuple(gtins)


def _writable(product: Product) -> Product:
    """Leave out what the service keeps itself."""
    kept = {name: value for name, value in product.items() if name not in KEPT_BY_THE_SERVICE}
    if isinstance(assets := kept.get("assets"), dict) and "lastUpdatedAt" in assets:
        kept["assets"] = {name: value for name, value in assets.items() if name != "lastUpdatedAt"}
    return kept


def _send(
    service: Client,
    products: Sequence[Product],
    way: _Way,
    batch_size: int,
    journal: Journal,
    progress: Progress,
) -> list[Batch]:
    sent: list[Batch] = []
    stopped = ""
    with showing(progress, "Sent") as show:
        for number, (body, gtins) in enumerate(_batches(products, way, batch_size)):
            journal.sending(number, gtins)
            try:
                batch = (
                    Batch(gtins, "not sent", message=stopped) if stopped else _sent(service, body, way, gtins)
                )
            except OutcomeUnknown as error:
                batch = Batch(gtins, "unknown", message=str(error))
                if sent and sent[-1].sent == "unknown":
                    stopped = "two answers in a row were lost"
            except ServiceError as error:
                refused = isinstance(error, RequestRefused | AuthenticationFailed)
                batch = Batch(gtins, "refused" if refused else "not sent", message=str(error))
                stopped = f"the sending stopped at batch {number}"
                if not any(one.sent in {"sent", "unknown"} for one in sent):
                    journal.ended(number, batch)
                    raise
            journal.ended(number, batch)
            sent.append(batch)
            show(sum(len(one.gtins) for one in sent), len(products))
    return sent


def _sent(service: Client, body: bytes, way: _Way, gtins: tuple[str, ...]) -> Batch:
    return Batch(gtins, "sent", service.upsert_products(body, way.content_type))


def _say_loudly(findings: Sequence[Finding]) -> None:
    for finding in findings:
        if finding.attribute == "validationRules":
            _LOG.warning("GTIN %s: this upsert %s", finding.gtin, finding.problem)
