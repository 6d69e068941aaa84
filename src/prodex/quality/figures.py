"""The figures of an audit over which `watch` watches: counts and shares of the catalogue and of its groups.

They are computed once, from the audit and the catalogue that it is of, and kept (`prodex.quality.figure_archive`), so
that hundreds of nights are compared without opening their snapshots, and after these are gone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import numpy as np

from prodex.errors import SnapshotError
from prodex.locales import language_label
from prodex.quality.audit import Audit
from prodex.quality.catalog_figures import catalog_figures
from prodex.quality.measures import LEAST, NONE, MeasuredValue
from prodex.quality.scores import Tally
from prodex.store.archive import place_of
from prodex.tables.columns import whole

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
        question=_digest([*asked, len(audit) == origin.ledger.distinct]),
        measure=_digest([*map(str, audit.measure), [check.id for check in audit.checks]]),
        profile=audit.profile,
        complete=origin.complete,
        values=values,
        labels=labels,
        snapshot_sequence=None if audit.catalog_folder is None else place_of(audit.catalog_folder).sequence,
    )


def _digest(facts: object) -> str:
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
