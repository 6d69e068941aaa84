"""The figures of an audit over which `watch` watches: counts and shares of the catalogue and of its groups.

They are computed once, from an audit and its catalogue, and written with the audit. They are kept when the audit or its
snapshot is removed, so that hundreds of nights can be compared without opening their snapshots. For audits that were
saved without figures, they are made from what is left, and then kept.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import SnapshotError, StorageError
from prodex.facts.groups import Groups
from prodex.facts.pending import IS_OWN
from prodex.files.atomic import writing_folder
from prodex.files.untrusted import Count, Moment, check_moment, is_folder, is_there
from prodex.locales import language_label
from prodex.quality.archive import AUDITS, open_audit, write_audit
from prodex.quality.audit import Audit
from prodex.quality.first_seen import with_first_seen
from prodex.quality.scores import Tally
from prodex.quality.unusual import FigureKind
from prodex.store.archive import Archive, archive_place, in_order, is_entry, new_entry
from prodex.tables.attributes import attribute_of
from prodex.tables.columns import Mask, Rows, encoded, places, whole
from prodex.tables.fill_state import FillState
from prodex.tables.filled import short_languages

_A_DAY = timedelta(days=1)


def catalog_figures(
    catalog: Catalog, judged: pa.Array, owners: Groups
) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
    """Yield the figures of a catalogue, by measure.

    Parameters
    ----------
    catalog
        The catalogue of an audit; it may have more products, and in another order.
    judged
        The ids of the products that were judged.
    owners
        The supplier of each of them.
    """
    suppliers = _Suppliers(judged, owners)
    own = catalog.arrow("products", ["product_id", "pictures_count", "updated_at"])
    row = own.take(pc.index_in(judged, whole(own["product_id"])))
    if catalog.origin.asked("assets.pictures"):
        pictured = pc.fill_null(row["pictures_count"], 0).to_numpy() > 0
        yield "pictures", suppliers.shares(pictured)
    yield from _updates(catalog, row["updated_at"], suppliers)
    # An export that was read back has the tables that were exported.
    if all(part.holds("texts") for part in catalog.parts):
        yield from suppliers.of_attributes("language", _speaking(catalog, judged))
    if all(part.holds("presence") for part in catalog.parts):
        yield from suppliers.of_attributes("filled", _filled_attributes(catalog, judged))


class _Suppliers:
    """Counts products by supplier."""

    def __init__(self, judged: pa.Array, owners: Groups) -> None:
        self.codes = [NONE if code is None else code for code in owners.codes]
        self.of = np.full(len(judged), -1, np.int64)
        self.of[owners.rows] = owners.groups
        self.sizes = self._counts(np.arange(len(judged)))
        # Attribute by attribute only of the largest: all of a thousand suppliers would be a hundred thousand figures.
        self.large = np.argsort(-self.sizes, kind="stable")[:LARGEST]
        self.large = self.large[self.sizes[self.large] >= LEAST]

    def _counts(self, rows: Rows) -> Rows:
        suppliers = self.of[rows]
        return np.bincount(suppliers[suppliers >= 0], minlength=len(self.codes))

    def counts(self, flags: Mask) -> dict[str, MeasuredValue]:
        """Return how many products of each supplier have something."""
        counts = self._counts(np.flatnonzero(flags)).tolist()
        return {code: MeasuredValue(count) for code, count in zip(self.codes, counts, strict=True)}

    def shares(self, flags: Mask) -> dict[str, MeasuredValue]:
        """Return which share of the products of each supplier has something."""
        rows = zip(self.codes, self._counts(np.flatnonzero(flags)).tolist(), self.sizes.tolist(), strict=True)
        return {code: MeasuredValue(count / size, size) for code, count, size in rows if size >= LEAST}

    def of_attributes(
        self, measure: str, having: Iterator[tuple[str, Rows]]
    ) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
        """Yield the shares of all products, and of those of each large supplier, that have each of some attributes.

        Parameters
        ----------
        measure
            What is counted.
        having
            An attribute or a language, with the places of products that have it; each may occur several times.
        """
        size = len(self.of)
        total: dict[str, int] = defaultdict(int)
        each: dict[str, Rows] = {}
        for name, found in having:
            rows = found[found >= 0]
            total[name] += len(rows)
            each[name] = each.get(name, 0) + self._counts(rows)
        yield (
            measure,
            {name: MeasuredValue(count / size, size) for name, count in total.items()} if size else {},
        )
        for supplier in self.large.tolist():
            whole_size = int(self.sizes[supplier])
            yield (
                f"supplier {measure}@{self.codes[supplier]}",
                {
                    name: MeasuredValue(int(counts[supplier]) / whole_size, whole_size)
                    for name, counts in each.items()
                    if counts[supplier]
                },
            )


def _updates(
    catalog: Catalog, updated_at: pa.ChunkedArray, suppliers: _Suppliers
) -> Iterator[tuple[str, Mapping[str, MeasuredValue]]]:
    loaded = catalog.origin.server_time or catalog.origin.loaded_at
    if loaded is None or updated_at.null_count == len(updated_at):  # records without dates
        return
    # Updates have local times of an unknown zone: a day may be a few hours longer, and is so every night.
    since = pa.scalar(loaded.astimezone(UTC).replace(tzinfo=None) - _A_DAY, updated_at.type)
    recent = pc.fill_null(pc.greater(updated_at, since), False).to_numpy()
    yield "updated", {NONE: MeasuredValue(int(recent.sum()))}
    yield "supplier updated", suppliers.counts(recent)


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
    ids = [whole(part.read("presence", ["product_id"])["product_id"]) for part in catalog.parts]
    for places_of, part in zip(_places_in_audit(ids, judged), catalog.parts, strict=True):
        table = part.read("presence")
        for name in table.column_names:
            if (attribute := attribute_of(name)) is not None:
                yield (
                    attribute,
                    places_of[whole(pc.equal(table[name], FillState.FILLED)).to_numpy(zero_copy_only=False)],
                )


def _places_in_audit(ids: Sequence[pa.Array], judged: pa.Array) -> list[Rows]:
    """Return the places of the products of each part among those that were judged; -1 for others."""
    if not ids:
        return []
    # Looked up all at once: an index of a million products is not made for each part.
    found = places(whole(pa.chunked_array(ids, pa.string())), judged)
    return np.split(found, np.cumsum([len(one) for one in ids])[:-1])


#: The code of products without one, and the only group of a figure of the whole catalogue.
NONE = ""

#: Suppliers of fewer products have no shares of their own: one product makes too much of them.
LEAST = 5

#: Largest suppliers that are watched attribute by attribute.
LARGEST = 50


class MeasuredValue(NamedTuple):
    """A figure of one group: the value, and of a share of how many products it is one."""

    value: float
    size: int = 0


@dataclass(frozen=True)
class Measure:
    """A kind of figure, one for each group.

    Attributes
    ----------
    kind
        What it is.
    subject
        What is measured, with {0} for the group, and {1} for the supplier of an attribute.
    what
        What its value says, behind the value.
    by
        Of which groups there is one each: "supplier", "kind", "language"; attributes are called as they are.
    is_of_group
        Whether there is none where the group has no products; otherwise it is 0 there.
    """

    kind: FigureKind
    subject: str
    what: str = ""
    by: str = ""
    is_of_group: bool = False


#: Every measure by its name, in the order in which findings are listed: those of the whole catalogue first, causes
#: before consequences, of which scores are the last.
MEASURES: Mapping[str, Measure] = {
    "products": Measure(FigureKind.COUNT, "Products"),
    "language": Measure(FigureKind.SHARE, "Texts in {0}", "of the products have some", "language"),
    "filled": Measure(FigureKind.SHARE, "Attribute {0}", "of the products have it filled"),
    "supplier": Measure(FigureKind.COUNT, "Products of {0}", by="supplier"),
    "pictures": Measure(
        FigureKind.SHARE, "Pictures of {0}", "of its products have one", "supplier", is_of_group=True
    ),
    "supplier language": Measure(
        FigureKind.SHARE, "Texts in {0} of {1}", "of its products have some", "language"
    ),
    "supplier filled": Measure(FigureKind.SHARE, "Attribute {0} of {1}", "of its products have it filled"),
    "kind": Measure(FigureKind.COUNT, "Products of the kind {0}", by="kind"),
    "updated": Measure(FigureKind.OF_A_DAY, "Products updated within a day"),
    "supplier updated": Measure(FigureKind.OF_A_DAY, "Products of {0} updated within a day", by="supplier"),
    "score": Measure(FigureKind.SHARE, "Score"),
    "supplier score": Measure(FigureKind.SHARE, "Score of {0}", by="supplier", is_of_group=True),
}


def measure_of(key: str) -> tuple[str, str]:
    """Return the name of a measure and the supplier that it is about, from the key of its values.

    >>> measure_of("filled"), measure_of("supplier filled@4")
    (('filled', ''), ('supplier filled', '4'))
    """
    name, _, supplier = key.partition("@")
    return name, supplier


#: By measure (and, of attributes, its supplier: see `measure_of`) and group.
Values = Mapping[str, Mapping[str, MeasuredValue]]


@dataclass(frozen=True)
class Figures:
    """The figures of one audit.

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
    profile
        Name of the profile.
    complete
        Whether the catalogue was.
    values
        The figures.
    labels
        What people call the groups, by what they are groups of.
    snapshot_sequence
        The number of the snapshot among those of its name; None where it has none, or is not there any more.
    """

    audited_at: datetime
    moment: datetime
    snapshot: str | None
    question: str
    measure: str
    profile: str
    complete: bool
    values: Values
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    snapshot_sequence: int | None = None


def figures_of(audit: Audit) -> Figures:
    """Compute the figures of an audit; those for which its catalogue is needed only where it can be read.

    Examples
    --------
    >>> import prodex
    >>> owner = {"id": 4, "name": "Mill"}
    >>> catalog = prodex.flatten([{"id": 7, "owner": owner, "brand": {"code": "A"}}, {"id": 8, "owner": owner}])
    >>> figures = figures_of(prodex.audit(catalog, "core"))
    >>> figures.values["products"], figures.values["filled"]["brand"], figures.labels["supplier"]
    ({'': MeasuredValue(value=2, size=0)}, MeasuredValue(value=0.5, size=2), {'4': 'Mill'})
    """
    values: dict[str, Mapping[str, MeasuredValue]] = {"products": {NONE: MeasuredValue(len(audit))}}
    labels: dict[str, dict[str, str]] = {}
    for measure, by in (("supplier", "owner"), ("kind", "kind")):
        groups = audit.groups(by)
        sizes = np.bincount(groups.groups, minlength=len(groups.codes)).tolist()
        codes = [NONE if code is None else code for code in groups.codes]
        values[measure] = {code: MeasuredValue(size) for code, size in zip(codes, sizes, strict=True)}
        labels[measure] = dict(zip(codes, groups.shown, strict=True))
    values |= _scores(audit)
    try:
        if audit.catalog is not None:
            values |= catalog_figures(
                audit.catalog, whole(audit.identity["product_id"]), audit.groups("owner")
            )
    except SnapshotError:
        # A damaged snapshot says so when it is opened; here it only means that fewer figures are known.
        pass
    labels["language"] = {code: language_label(code) for code in values.get("language", {})}
    origin = audit.origin
    asked = [origin.source, None if origin.query is None else origin.query.digest]
    return Figures(
        audited_at=audit.audited_at,
        moment=(origin.server_time or origin.loaded_at or audit.audited_at).astimezone(UTC),
        snapshot=None if audit.catalog_folder is None else audit.catalog_folder.name,
        question=_facts_digest(
            [*asked, len(audit) == origin.ledger.distinct, *([audit.chosen.words] if audit.chosen else [])]
        ),
        measure=_facts_digest([*map(str, audit.measure), [check.id for check in audit.checks]]),
        profile=audit.profile,
        complete=origin.complete,
        values=values,
        labels=labels,
        snapshot_sequence=None
        if audit.catalog_folder is None
        else archive_place(audit.catalog_folder).sequence,
    )


def _facts_digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _scores(audit: Audit) -> Iterator[tuple[str, dict[str, MeasuredValue]]]:
    """Yield the scores of the catalogue and of each supplier; a group to which nothing applies has none."""
    if not np.isnan(audit.score):
        yield "score", {NONE: MeasuredValue(audit.score, len(audit))}
    groups = audit.groups("owner")
    tally: Tally = audit.tally.taken(groups.rows)
    frame = tally.by_group(groups.groups, len(groups.codes))
    yield (
        "supplier score",
        {
            NONE if code is None else code: MeasuredValue(score, size)
            for code, score, size in zip(groups.codes, frame["score"], frame["products"], strict=True)
            if size >= LEAST and not np.isnan(score)
        },
    )


FIGURES = Archive("set of figures", "Delete it; it is made again while its audit is there.", below="figures")

#: Audits that are looked at: more than any window of `prodex.quality.unusual`.
_MOST = 90


def save_audit(audit: Audit, name: str | None = None) -> Audit:
    """Keep an audit beside the snapshots of a name, and its figures; see `Audit.save`."""
    dated, carried = with_first_seen(audit, name)
    saved = write_audit(dated, name, carried)
    keep_figures(saved)
    return saved


def keep_figures(audit: Audit) -> None:
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
                FIGURES.write_manifest(
                    beside, _figures_manifest(figures_of(audit)), archive_place(audit.folder)
                )


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
                yield _read_figures(kept / time)
                continue
            audit = open_audit(audits / time)
            keep_figures(audit)
            yield figures_of(audit)


class _FiguresManifest(msgspec.Struct):
    """Figures as JSON; values are [group, value, size]."""

    audited_at: Moment
    moment: Moment
    snapshot: str | None
    question: str
    measure: str
    profile: str
    complete: bool
    values: dict[str, list[tuple[str, float, int]]]
    labels: dict[str, dict[str, str]]
    snapshot_sequence: Count | None = None


def _figures_manifest(figures: Figures) -> dict[str, object]:
    return {
        **{
            name: getattr(figures, name)
            for name in ("snapshot", "snapshot_sequence", "question", "measure", "profile", "complete")
        },
        "audited_at": figures.audited_at.isoformat(),
        "moment": figures.moment.isoformat(),
        "values": {
            measure: [[group, one.value, one.size] for group, one in values.items()]
            for measure, values in figures.values.items()
        },
        "labels": {measure: dict(labels) for measure, labels in figures.labels.items()},
    }


def _read_figures(folder: Path) -> Figures:
    return FIGURES.read_manifest(folder, _FiguresManifest, _figures_of_written)


def _figures_of_written(written: _FiguresManifest) -> Figures:
    check_moment(written.audited_at)
    check_moment(written.moment)
    values = {
        measure: {group: MeasuredValue(value, size) for group, value, size in rows}
        for measure, rows in written.values.items()
    }
    return Figures(
        **msgspec.structs.asdict(written)
        | {
            "values": values,
            "audited_at": written.audited_at.astimezone(UTC),
            "moment": written.moment.astimezone(UTC),
        }
    )
