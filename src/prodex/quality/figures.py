"""The figures of an audit over which `watch` watches: counts and shares of the catalogue and of its groups.

They are computed once, from the audit and the catalogue that it is of, and kept (`prodex.quality.figure_archive`), so
that hundreds of nights are compared without opening their snapshots, and after these are gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import SnapshotError
from prodex.facts.pending import IS_OWN
from prodex.locales import language_label
from prodex.quality.audit import Audit
from prodex.quality.presence import short_languages
from prodex.quality.scores import Tally
from prodex.quality.unusual import FigureKind
from prodex.tables.columns import encoded, whole
from prodex.tables.presence import attribute_of

#: The code of products without one, and the only group of a figure of the whole catalogue.
NONE = ""

#: Groups of fewer products have no shares of their own: one product makes too much of them.
_LEAST = 5

_A_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Measure:
    """A kind of figure, one for each group.

    Attributes
    ----------
    kind
        What it is.
    subject
        What is measured, with {} for the group.
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


#: Every measure by its name. Those of the whole catalogue come first, and what explains others before them.
MEASURES: Mapping[str, Measure] = {
    "products": Measure(FigureKind.COUNT, "Products"),
    "updated": Measure(FigureKind.OF_A_DAY, "Products updated within a day"),
    "score": Measure(FigureKind.SHARE, "Score"),
    "language": Measure(FigureKind.SHARE, "Texts in {}", "of the products have some", "language"),
    "supplier": Measure(FigureKind.COUNT, "Products of {}", by="supplier"),
    "pictures": Measure(
        FigureKind.SHARE, "Pictures of {}", "of its products have one", "supplier", is_of_group=True
    ),
    "supplier score": Measure(FigureKind.SHARE, "Score of {}", by="supplier", is_of_group=True),
    "supplier updated": Measure(FigureKind.OF_A_DAY, "Products of {} updated within a day", by="supplier"),
    "kind": Measure(FigureKind.COUNT, "Products of the kind {}", by="kind"),
    "filled": Measure(FigureKind.SHARE, "Attribute {}", "of the products have it filled"),
}


class Value(NamedTuple):
    """A figure of one group: the value, and of a share of how many products it is one."""

    value: float
    size: int = 0


#: By measure and group.
Values = Mapping[str, Mapping[str, Value]]


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


def figures_of(audit: Audit) -> Figures:
    """Compute the figures of an audit; those for which its catalogue is needed only where it can be read.

    Examples
    --------
    >>> import prodex
    >>> owner = {"id": 4, "name": "Mill"}
    >>> catalog = prodex.flatten([{"id": 7, "owner": owner, "brand": {"code": "A"}}, {"id": 8, "owner": owner}])
    >>> figures = figures_of(prodex.audit(catalog, "core"))
    >>> figures.values["products"], figures.values["filled"]["brand"], figures.labels["supplier"]
    ({'': Value(value=2, size=0)}, Value(value=0.5, size=2), {'4': 'Mill'})
    """
    values: dict[str, dict[str, Value]] = {"products": {NONE: Value(len(audit))}}
    labels: dict[str, dict[str, str]] = {}
    for measure, by in (("supplier", "owner"), ("kind", "kind")):
        groups = audit.groups(by)
        sizes = np.bincount(groups.groups, minlength=len(groups.codes)).tolist()
        codes = [NONE if code is None else code for code in groups.codes]
        values[measure] = {code: Value(size) for code, size in zip(codes, sizes, strict=True)}
        labels[measure] = dict(zip(codes, groups.shown, strict=True))
    values |= _scores(audit)
    try:
        if audit.catalog is not None:
            values |= _of_catalog(audit, audit.catalog)
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
        question=_digest([*asked, len(audit) == origin.ledger.distinct]),
        measure=_digest([*map(str, audit.measure), [check.id for check in audit.checks]]),
        profile=audit.profile,
        complete=origin.complete,
        values=values,
        labels=labels,
    )


def _digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def _scores(audit: Audit) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield the scores of the catalogue and of each supplier; a group to which nothing applies has none."""
    if not np.isnan(audit.score):
        yield "score", {NONE: Value(audit.score, len(audit))}
    groups = audit.groups("owner")
    tally: Tally = audit.tally.taken(groups.rows)
    frame = tally.by_group(groups.groups, len(groups.codes))
    yield (
        "supplier score",
        {
            NONE if code is None else code: Value(score, size)
            for code, score, size in zip(groups.codes, frame["score"], frame["products"], strict=True)
            if size >= _LEAST and not np.isnan(score)
        },
    )


def _of_catalog(audit: Audit, catalog: Catalog) -> Iterator[tuple[str, dict[str, Value]]]:
    """Yield the figures of what an audit does not keep."""
    groups = audit.groups("owner")
    codes = [NONE if code is None else code for code in groups.codes]
    judged = whole(audit.identity["product_id"])
    own = catalog.arrow("products", ["product_id", "pictures_count", "updated_at"])
    # The catalogue may have its products in another order, and an audit may be of a part of them.
    row = own.take(pc.index_in(judged, whole(own["product_id"])))
    sizes = np.bincount(groups.groups, minlength=len(codes))
    pictured = (pc.fill_null(row["pictures_count"], 0).to_numpy() > 0)[groups.rows]
    having = np.bincount(groups.groups, pictured, len(codes))
    if catalog.origin.asked("assets.pictures"):
        yield (
            "pictures",
            {
                code: Value(float(part / size), int(size))
                for code, part, size in zip(codes, having, sizes, strict=True)
                if size >= _LEAST
            },
        )
    yield from _updates(audit, row["updated_at"], codes)
    # An export that was read back has the tables that were exported.
    if all(part.holds("texts") for part in catalog.parts):
        yield "language", _languages(catalog, len(judged))
    if all(part.holds("presence") for part in catalog.parts):
        yield "filled", _filled(catalog)


def _updates(
    audit: Audit, updated_at: pa.ChunkedArray, codes: list[str]
) -> Iterator[tuple[str, dict[str, Value]]]:
    origin, groups = audit.origin, audit.groups("owner")
    loaded = origin.server_time or origin.loaded_at
    if loaded is None or updated_at.null_count == len(updated_at):  # records without dates
        return
    # Updates have local times of an unknown zone: a day may be a few hours longer, and is so every night.
    now = loaded.astimezone(UTC).replace(tzinfo=None)
    since = pa.scalar(now - _A_DAY, updated_at.type)
    recent = pc.fill_null(pc.greater(updated_at, since), False).to_numpy()
    yield "updated", {NONE: Value(int(recent.sum()))}
    counts = np.bincount(groups.groups, recent[groups.rows], len(codes))
    yield "supplier updated", {code: Value(int(count)) for code, count in zip(codes, counts, strict=True)}


def _languages(catalog: Catalog, size: int) -> dict[str, Value]:
    """Return the share of products that have any text in a language."""
    having: dict[str, int] = {}
    for part in catalog.parts:
        texts = part.read("texts", ["product_id", "language"], IS_OWN)
        languages, language = short_languages(texts["language"].combine_chunks())
        _, product = encoded(texts["product_id"].combine_chunks())
        pairs = np.unique(product * len(languages) + language) % max(len(languages), 1)
        for place, count in zip(*np.unique(pairs, return_counts=True), strict=True):
            having[languages[place]] = having.get(languages[place], 0) + int(count)
    return {one: Value(count / size, size) for one, count in having.items() if one}


def _filled(catalog: Catalog) -> dict[str, Value]:
    """Return the share of products that have an attribute filled."""
    having: dict[str, int] = {}
    for part in catalog.parts:
        table = part.read("presence")
        for name in table.column_names:
            if (attribute := attribute_of(name)) is not None:
                filled = pc.sum(pc.equal(table[name], "filled")).as_py() or 0
                having[attribute] = having.get(attribute, 0) + filled
    size = len(catalog)
    return {attribute: Value(count / size, size) for attribute, count in having.items()} if size else {}
