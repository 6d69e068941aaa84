"""The figures of an audit over which `watch` watches: counts and shares of the catalogue and of its groups.

They are computed once, from an audit and its catalogue, and written with the audit. They are kept when the audit or its
snapshot is removed, so that hundreds of nights can be compared without opening their snapshots. For audits that were
saved without figures, they are made from what is left, and then kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from typing import Annotated, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import SnapshotError, StorageError
from prodex.facts.groups import Groups
from prodex.facts.pending import IS_OWN
from prodex.files.atomic import writing_folder
from prodex.files.untrusted import Count, Moment, check_moment, is_folder, is_there
from prodex.quality.archive import AUDITS, open_audit, write_audit
from prodex.quality.audit import Audit
from prodex.quality.first_seen import with_first_seen
from prodex.quality.scores import by_group
from prodex.quality.unusual import FigureKind
from prodex.store.archive import Archive, archive_place, in_order, is_entry, new_entry
from prodex.tables.attributes import attribute_of
from prodex.tables.columns import Rows, as_one_chunk, encoded, places
from prodex.tables.fill_state import FillState
from prodex.tables.filled import short_languages

_A_DAY = timedelta(days=1)

#: The code of products without one, and the only group of a figure of the whole catalogue.
NONE = ""

#: Suppliers of fewer products have no shares of their own: one product makes too much of them.
LEAST = 5

#: Largest suppliers that are watched attribute by attribute.
LARGEST = 50


@dataclass(frozen=True)
class Measure:
    """A kind of figure, one for each group.

    Attributes
    ----------
    kind
        What it is.
    sentence
        What a report says of it, as a message: with {now}, {usual}, {audits}, and the names of the groups.
    by
        What there is one of each of: "supplier", "kind", "language", "attribute".
    is_of_group
        Whether there is none where the group has no products; otherwise it is 0 there.
    silence
        Of what is counted of each day: what a report says where there is none for days.
    """

    kind: FigureKind
    sentence: str
    by: str = ""
    is_of_group: bool = False
    silence: str = ""


#: Every measure by its name, in the order in which findings are listed: those of the whole catalogue first, causes
#: before consequences, of which scores are the last.
MEASURES: Mapping[str, Measure] = {
    "products": Measure(FigureKind.COUNT, "Products: {now}, {usual} ({audits})."),
    "language": Measure(
        FigureKind.SHARE,
        "Texts in {language}: {now} of the products have some, {usual} ({audits}).",
        "language",
    ),
    "filled": Measure(
        FigureKind.SHARE,
        "Attribute {attribute}: {now} of the products have it filled, {usual} ({audits}).",
        "attribute",
    ),
    "supplier": Measure(FigureKind.COUNT, "Products of {supplier}: {now}, {usual} ({audits}).", "supplier"),
    "pictures": Measure(
        FigureKind.SHARE,
        "Pictures of {supplier}: {now} of its products have one, {usual} ({audits}).",
        "supplier",
        is_of_group=True,
    ),
    "supplier language": Measure(
        FigureKind.SHARE,
        "Texts in {language} of {supplier}: {now} of its products have some, {usual} ({audits}).",
        "language",
    ),
    "supplier filled": Measure(
        FigureKind.SHARE,
        "Attribute {attribute} of {supplier}: {now} of its products have it filled, {usual} ({audits}).",
        "attribute",
    ),
    "kind": Measure(FigureKind.COUNT, "Products of the kind {kind}: {now}, {usual} ({audits}).", "kind"),
    "updated": Measure(
        FigureKind.OF_A_DAY,
        "Products updated within a day: {now}, {usual} ({audits}).",
        silence="Products updated within a day: none for {audits}, usually {expected} in that time.",
    ),
    "supplier updated": Measure(
        FigureKind.OF_A_DAY,
        "Products of {supplier} updated within a day: {now}, {usual} ({audits}).",
        "supplier",
        silence="Products of {supplier} updated within a day: none for {audits}, usually {expected} in that time.",
    ),
    "score": Measure(FigureKind.SHARE, "Score: {now}, {usual} ({audits})."),
    "supplier score": Measure(
        FigureKind.SHARE,
        "Score of {supplier}: {now}, {usual} ({audits}).",
        "supplier",
        is_of_group=True,
    ),
}


class Figure(NamedTuple):
    """A figure of one audit: a row of the table of figures over time.

    Attributes
    ----------
    measure
        What is measured; see `MEASURES`.
    supplier
        Of a supplier's attributes and languages, whose they are.
    group
        The code of what it is about. A row without says that this was measured, and over how many products (`size`):
        the figure of a group without row is then 0.
    value
        Its value.
    size
        Of how many products.
    """

    measure: str
    supplier: str
    group: str | None
    value: Annotated[float, msgspec.Meta(ge=0)]
    size: Count


@dataclass(frozen=True)
class Figures:
    """The figures of one audit, as they are kept.

    Attributes
    ----------
    audited_at
        When the audit was made, UTC.
    moment
        When the catalogue was loaded, by the service's clock; that of the audit where it was not.
    snapshot
        The time of the snapshot; None for a catalogue in memory.
    question
        Digest of what was asked of whom: counts of another question are not compared.
    measure
        Digest of what scores were made with: profile, rule set, and so on.
    complete
        Whether the catalogue was.
    rows
        The figures.
    labels
        What people call suppliers and kinds.
    snapshot_sequence
        The number of the snapshot among those of its name; None where it has none, or is not there any more.
    """

    audited_at: Moment
    moment: Moment
    snapshot: str | None
    question: str
    measure: str
    complete: bool
    rows: list[Figure]
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    snapshot_sequence: Count | None = None


def figures_of(audit: Audit) -> Figures:
    """Compute the figures of an audit; those for which its catalogue is needed only where it can be read.

    Examples
    --------
    >>> import prodex
    >>> owner = {"id": 4, "name": "Mill"}
    >>> catalog = prodex.flatten([{"id": 7, "owner": owner, "brand": {"code": "A"}}, {"id": 8, "owner": owner}])
    >>> figures = figures_of(prodex.audit(catalog, "core"))
    >>> [one for one in figures.rows if one.group == "brand"], figures.labels["supplier"]
    ([Figure(measure='filled', supplier='', group='brand', value=0.5, size=2)], {'4': 'Mill'})
    """
    origin = audit.origin
    asked = [origin.source, None if origin.query is None else origin.query.digest]
    folder = audit.catalog_folder
    return Figures(
        audited_at=audit.audited_at,
        moment=(origin.server_time or origin.loaded_at or audit.audited_at).astimezone(UTC),
        snapshot=None if folder is None else folder.name,
        question=_facts_digest(
            [*asked, len(audit) == origin.ledger.distinct, *([audit.chosen.words] if audit.chosen else [])]
        ),
        measure=_facts_digest([*map(str, audit.measure), [check.id for check in audit.checks]]),
        complete=origin.complete,
        rows=list(_rows(audit)),
        labels={
            measure: dict(zip(_codes(groups), groups.shown, strict=True))
            for measure, groups in (("supplier", audit.groups("owner")), ("kind", audit.groups("kind")))
        },
        snapshot_sequence=None if folder is None else archive_place(folder).sequence,
    )


def _facts_digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _codes(groups: Groups) -> list[str]:
    return [NONE if code is None else code for code in groups.codes]


def _rows(audit: Audit) -> Iterator[Figure]:
    size = len(audit)
    suppliers = _Suppliers(size, audit.groups("owner"))
    kinds = audit.groups("kind")
    yield from _measured("products", size, {NONE: size})
    yield from _measured("supplier", size, suppliers.by_code(suppliers.sizes))
    yield from _measured("kind", size, dict(zip(_codes(kinds), kinds.sizes.tolist(), strict=True)))
    if not np.isnan(audit.score):
        yield from _measured("score", size, {NONE: audit.score})
    owners = suppliers.groups
    scores = by_group(audit.tally, owners)["score"]
    yield from suppliers.shares("supplier score", scores.to_numpy())
    # A damaged snapshot says so when it is opened; here it only means that fewer figures are known.
    with suppress(SnapshotError):
        if audit.catalog is not None:
            yield from _catalog_rows(audit.catalog, as_one_chunk(audit.identity["product_id"]), suppliers)


def _measured(measure: str, size: int, values: Mapping[str, float], supplier: str = NONE) -> Iterator[Figure]:
    """Yield the figures of a measure by group, after the row that says that it was measured."""
    yield Figure(measure, supplier, None, size, size)
    yield from (Figure(measure, supplier, group, value, size) for group, value in values.items())


class _Suppliers:
    """Counts products by supplier."""

    def __init__(self, size: int, groups: Groups) -> None:
        self.groups = groups
        self.codes = _codes(groups)
        self.of = np.empty(size, np.int64)
        self.of[groups.rows] = groups.groups
        self.sizes = groups.sizes
        # Attribute by attribute only of the largest: all of a thousand suppliers would be a hundred thousand figures.
        largest = np.argsort(-self.sizes, kind="stable")[:LARGEST]
        self.large = largest[self.sizes[largest] >= LEAST].tolist()

    def counts(self, rows: Rows) -> Rows:
        """Return how many of some products each supplier has."""
        return np.bincount(self.of[rows], minlength=len(self.codes))

    def by_code(self, counts: Rows) -> dict[str, float]:
        return dict(zip(self.codes, counts.tolist(), strict=True))

    def shares(self, measure: str, values: npt.NDArray[np.float64]) -> Iterator[Figure]:
        """Yield a share of the products of each supplier that has enough of them."""
        yield from _measured(measure, len(self.of), {})
        for code, value, size in zip(self.codes, values.tolist(), self.sizes.tolist(), strict=True):
            if size >= LEAST and not np.isnan(value):
                yield Figure(measure, NONE, code, value, size)

    def attributes(self, measure: str, having: Iterator[tuple[str, Rows]]) -> Iterator[Figure]:
        """Yield the shares of all products, and of those of each large supplier, that have each of some attributes.

        Parameters
        ----------
        measure
            What is counted.
        having
            An attribute or a language, with the places of products that have it; each may occur several times.
        """
        size = len(self.of)
        counts: dict[str, Rows] = {}
        for name, found in having:
            counts[name] = counts.get(name, 0) + self.counts(found[found >= 0])
        total = {name: int(each.sum()) / size for name, each in counts.items()} if size else {}
        yield from _measured(measure, size, total)
        for place in self.large:
            own = int(self.sizes[place])
            shares = {name: int(each[place]) / own for name, each in counts.items() if each[place]}
            yield from _measured(f"supplier {measure}", own, shares, self.codes[place])


def _catalog_rows(catalog: Catalog, judged: pa.Array, suppliers: _Suppliers) -> Iterator[Figure]:
    """Yield the figures for which the catalogue of an audit is needed.

    Parameters
    ----------
    catalog
        The catalogue; it may have more products, and in another order.
    judged
        The ids of the products that were judged.
    suppliers
        Their suppliers.
    """
    own = catalog.arrow("products", ["product_id", "pictures_count", "updated_at"])
    row = own.take(pc.index_in(judged, as_one_chunk(own["product_id"])))
    if catalog.origin.asked("assets.pictures"):
        pictured = np.flatnonzero(pc.fill_null(row["pictures_count"], 0).to_numpy() > 0)
        yield from suppliers.shares("pictures", suppliers.counts(pictured) / np.maximum(suppliers.sizes, 1))
    if (recent := _updated(catalog, row["updated_at"])) is not None:
        size = len(judged)
        yield from _measured("updated", size, {NONE: len(recent)})
        yield from _measured("supplier updated", size, suppliers.by_code(suppliers.counts(recent)))
    # An export that was read back has the tables that were exported.
    if all(part.holds("texts") for part in catalog.parts):
        yield from suppliers.attributes("language", _speaking(catalog, judged))
    if all(part.holds("presence") for part in catalog.parts):
        yield from suppliers.attributes("filled", _filled_attributes(catalog, judged))


def _updated(catalog: Catalog, updated_at: pa.ChunkedArray) -> Rows | None:
    """Return the products that were updated within a day; None where records have no dates."""
    loaded = catalog.origin.server_time or catalog.origin.loaded_at
    if loaded is None or updated_at.null_count == len(updated_at):
        return None
    # Updates have local times of an unknown zone: a day may be a few hours longer, and is so every night.
    since = pa.scalar(loaded.astimezone(UTC).replace(tzinfo=None) - _A_DAY, updated_at.type)
    return np.flatnonzero(pc.fill_null(pc.greater(updated_at, since), False).to_numpy())


def _speaking(catalog: Catalog, judged: pa.Array) -> Iterator[tuple[str, Rows]]:
    """Yield each language of each part, with the products that have a text in it."""
    ids: list[pa.Array] = []
    spoken: list[list[tuple[str, Rows]]] = []
    for part in catalog.parts:
        texts = part.read("texts", ["product_id", "language"], IS_OWN)
        languages, language = short_languages(texts["language"].combine_chunks())
        distinct, product = encoded(texts["product_id"].combine_chunks())
        ids.append(distinct)
        spoken.append([(n, np.unique(product[language == at])) for at, n in enumerate(languages) if n])
    for places_of, found in zip(_places_in_audit(ids, judged), spoken, strict=True):
        yield from ((name, places_of[products]) for name, products in found)


def _filled_attributes(catalog: Catalog, judged: pa.Array) -> Iterator[tuple[str, Rows]]:
    """Yield each attribute of each part, with the products that have it filled."""
    ids = [as_one_chunk(part.read("presence", ["product_id"])["product_id"]) for part in catalog.parts]
    for places_of, part in zip(_places_in_audit(ids, judged), catalog.parts, strict=True):
        table = part.read("presence")
        for name in table.column_names:
            if (attribute := attribute_of(name)) is not None:
                filled = as_one_chunk(pc.equal(table[name], FillState.FILLED)).to_numpy(zero_copy_only=False)
                yield attribute, places_of[filled]


def _places_in_audit(ids: Sequence[pa.Array], judged: pa.Array) -> list[Rows]:
    """Return the places of the products of each part among those that were judged; -1 for others."""
    if not ids:
        return []
    # Looked up all at once: an index of a million products is not made for each part.
    found = places(as_one_chunk(pa.chunked_array(ids, pa.string())), judged)
    return np.split(found, np.cumsum([len(one) for one in ids])[:-1])


FIGURES = Archive("set of figures", "It is made again while its audit is there.", below="figures", format=2)

#: Audits that are looked at: more than any window of `prodex.quality.unusual`.
_MOST = 90


def save_audit(audit: Audit, name: str | None = None) -> Audit:
    """Keep an audit beside the snapshots of a name, and its figures; see `Audit.save`."""
    dated, carried = with_first_seen(audit, name)
    saved = write_audit(dated, name, carried)
    _keep_figures(saved)
    return saved


def _keep_figures(audit: Audit) -> None:
    """Keep the figures of an audit that was saved.

    A full disk is no error: figures are made again when they are asked for.
    """
    if audit.folder is None:
        return
    place = audit.folder.parent.parent / FIGURES.below
    if is_there(place) and not is_folder(place):  # a link would let them be written elsewhere
        return
    folder = place / audit.folder.name
    with suppress(StorageError):
        new_entry(place)  # removes what killed processes left
        if not is_there(folder):
            with writing_folder(folder) as beside:
                # Its place in the order is that of the audit.
                content = msgspec.to_builtins(figures_of(audit))
                FIGURES.write_manifest(beside, content, archive_place(audit.folder).sequence)


def kept_figures(name: str) -> list[Figures]:
    """Return the figures of the newest audits of a name, the oldest first; what is damaged is left out.

    Raises
    ------
    OtherLayout
        When another version of prodex wrote some of them: a watch without them would know less than it seems.
    """
    places = {
        place.name: place
        for archive in (FIGURES, AUDITS)
        for place in archive.places(name)
        if is_folder(archive.folder(name) / place.name)
    }
    ordered = in_order(places.values(), lambda place: place)
    return list(_kept_figures(name, [place.name for place in ordered[-_MOST:]]))


def _kept_figures(name: str, times: list[str]) -> Iterator[Figures]:
    kept, audits = FIGURES.folder(name), AUDITS.folder(name)
    for time in times:
        with suppress(SnapshotError):
            if is_folder(kept / time) and is_entry(kept / time):  # what a link leads to is somebody else's
                yield FIGURES.read_manifest(kept / time, Figures, _checked)
                continue
            audit = open_audit(audits / time)
            _keep_figures(audit)
            yield figures_of(audit)


def _checked(read: Figures) -> Figures:
    """Return figures that were read, if they can be those of an audit."""
    check_moment(read.audited_at)
    check_moment(read.moment)
    if len({one[:3] for one in read.rows}) < len(read.rows):
        raise ValueError("a figure is there twice")
    shares = {name for name, measure in MEASURES.items() if measure.kind is FigureKind.SHARE}
    if any(one.value > 1 for one in read.rows if one.measure in shares and one.group is not None):
        raise ValueError("a share is more than all")
    return replace(read, audited_at=read.audited_at.astimezone(UTC), moment=read.moment.astimezone(UTC))
