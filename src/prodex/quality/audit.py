"""The audit of a catalogue: products x checks, and the questions that people ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin
from prodex.dispatch import call
from prodex.errors import QueryError
from prodex.facts.groups import KEPT, Groups, column_names, grouped, named
from prodex.facts.pending import IS_OWN
from prodex.frames import to_frame
from prodex.locales import language_label
from prodex.quality.check import CheckFacts
from prodex.quality.engine import IDENTITY, AuditPart, Crash
from prodex.quality.failures import FAILURES, failure_filters, failure_rows, failures_frame
from prodex.quality.gaps import by_check, gaps
from prodex.quality.scores import SMALL, Tally, coverage, grades, whole_score
from prodex.quality.states import State, States
from prodex.tables.columns import places, whole
from prodex.text import hint_and_all


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """What a profile's checks say of a catalogue's products.

    Attributes
    ----------
    parts
        Products, states and evidence, part by part, as the catalogue is cut.
    checks
        The columns of the matrix.
    profile
        Name of the profile.
    rule_set
        Version of the rules that come with prodex; scores of different versions are not the same measure.
    grade_with_blocker
        The best grade of a product with a failing blocker, as the profile says; "A" in audits that were saved when
        there was no such limit.
    origin
        What the catalogue was asked for.
    now
        The moment to which "older than" refers: local time without zone.
    audited_at
        When it was made, UTC.
    folder
        Folder of the audit, where it is saved.
    catalog_folder
        Folder of the snapshot that was judged, or None.
    assumed
        What was taken for granted of products of which it is not known, such as ("food", True).
    catalog
        The catalogue, where it is at hand: it answers for columns and tags that the audit itself does not keep.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
    >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
    >>> audit.failures()[["product_id", "reason"]].values.tolist()
    [['8', 'ends with the check digit 6, and 5 would be right']]
    >>> float(audit.summary["ready"])
    0.5
    """

    parts: tuple[AuditPart, ...]
    checks: tuple[CheckFacts, ...]
    profile: str
    rule_set: str
    origin: Origin
    now: datetime
    audited_at: datetime
    folder: Path | None = None
    catalog_folder: Path | None = None
    catalog: Catalog | None = None
    assumed: tuple[tuple[str, Any], ...] = ()
    grade_with_blocker: str = "A"

    def __len__(self) -> int:
        return sum(len(part.states) for part in self.parts)

    @cached_property
    def states(self) -> States:
        """The matrix as numbers: products x checks, values of `State`."""
        empty = np.empty((0, len(self.checks)), np.int8)
        return np.concatenate([empty, *(part.states for part in self.parts)])

    @property
    def matrix(self) -> pd.DataFrame:
        """One row per product (its `product_id`), one column per check: 0 pass, 1 fail, 2 not applicable, 3 unknown."""
        index = pd.Index(self._column("product_id").to_pylist(), name="product_id")
        return pd.DataFrame(self.states, index, [check.id for check in self.checks], copy=False)

    @property
    def crashes(self) -> tuple[Crash, ...]:
        """The rules that could not be asked, with the reason; their columns are unknown there."""
        return tuple(crash for part in self.parts for crash in part.crashes)

    @property
    def pending(self) -> int:
        """How many products have an update that waits for acceptance: they were judged without it."""
        return sum(int(part.products["has_pending_update"].to_numpy().sum()) for part in self.parts)

    @cached_property
    def tally(self) -> Tally:
        """What is counted for each product, in their order."""
        empty = Tally.of(np.empty((0, len(self.checks)), np.int8), self.checks)
        return Tally.joined([empty, *(Tally.of(part.states, self.checks) for part in self.parts)])

    @cached_property
    def grades(self) -> npt.NDArray[np.object_]:
        """The grade of each product, in their order; None where nothing applies."""
        return self.tally.grades(self.grade_with_blocker)

    @property
    def score(self) -> float:
        """The score of the headline: weight of checks passed / weight of checks passed or failed, over all products.

        Between 0 and 1, and as `summary()["score"]`; NaN where nothing applies or is known. How many products are
        ready is another question, which `summary()["ready"]` answers.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
        >>> audit.score, audit.grade
        (0.5, 'E')
        """
        return whole_score(self.tally)

    @property
    def grade(self) -> str | None:
        """The grade of that score, "A" to "E", as in the headline; None where there is none."""
        (grade,) = grades(np.array([self.score]))
        return None if grade is None else str(grade)

    @property
    def measure(self) -> tuple[object, ...]:
        """What figures were made with: audits of which this differs are not the same measure."""
        return self.profile, self.rule_set, self.grade_with_blocker, self.assumed

    @property
    def products(self) -> pd.DataFrame:
        """One row per product: what it is, score, grade, whether it is ready, how many checks fail.

        `ready` is missing where a product is undecided: none of its blockers fails, and one is unknown.
        """
        tally = self.tally
        ready = pd.array(tally.ready, "boolean")
        ready[tally.undecided] = pd.NA
        return to_frame(self.identity).assign(
            score=tally.scores,
            grade=pd.array(self.grades, "str"),
            ready=ready,
            blockers=tally.blockers,
            failed=tally.failed,
            passed=tally.passed,
            not_applicable=tally.not_applicable,
            unknown=tally.unknown,
        )

    @property
    def summary(self) -> pd.Series:
        """Return the figures of the whole catalogue.

        `score` is that of all cells of the matrix together, with its `grade`; `mean_score` the mean of the products'
        scores. `ready_products`, `not_ready_products` and `undecided_products` are all products together, and `ready`
        is the share that is ready of all of them: missing where there are none. `to_work_on` are the products with any
        failing check; `failed` counts failing checks of products, which are cells of the matrix, not findings.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.summary[["ready_products", "not_ready_products", "grade"]].tolist()
        [1, 1, 'E']
        """
        row = self.tally.by_group(np.zeros(len(self), np.int64), 1).iloc[0]
        counted = {f"grade_{grade}": int((self.grades == grade).sum()) for grade in "ABCDE"}
        more = {
            **counted,
            "checks": len(self.checks),
            "checks_unknown": int((self.states == State.UNKNOWN).all(axis=0).sum()) if len(self) else 0,
            "crashed": len({crash.check for crash in self.crashes}),
            "pending_updates": self.pending,
        }
        figures = row.to_dict() | more
        return pd.Series(figures, dtype="object")

    @property
    def by_check(self) -> pd.DataFrame:
        """Return one row per check: what it is, and how many products fail, pass, are not applicable, unknown.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.by_check[["check", "failed", "passed"]].values.tolist()
        [['valid_gtin', 1, 1]]
        """
        return by_check(self.states, self.checks, {crash.check: crash.message for crash in self.crashes})

    def scores(self, by: str = "owner", *, block: str | None = None) -> pd.DataFrame:
        """Return score, grade and readiness of each group, the worst first, and groups of under ten products last.

        Parameters
        ----------
        by
            "owner", "brand", "kind", "market", "language", "tag", or a column of `products`; see `prodex.facts.groups`.
            Languages are those of the checks; the market of a product is that of its version, else the one that was
            asked for, else the profile's.
        block
            Only the checks under this heading, such as "pictures".

        Returns
        -------
        pandas.DataFrame
            One row per group: its code and label (empty for products without), products, score, grade, mean_score,
            ready, and the numbers behind them, as in `summary`.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.scores("brand")[["products", "score"]].values.tolist()
        [[2.0, 0.5]]
        """
        chosen = np.array([block is None or check.block == block for check in self.checks], bool)
        if not chosen.any() and block is not None:
            there = dict.fromkeys(check.block for check in self.checks)
            near = hint_and_all(str(block), there, f"There are {', '.join(there)}.")
            raise QueryError(f"No check stands under {block!r}{near}")
        if by == "language":
            return self._by_language(chosen)
        groups = self.groups(by)
        tally = self.tally if chosen.all() else self._tally(chosen)
        frame = tally.taken(groups.rows).by_group(groups.groups, len(groups.codes))
        return _by_need(named(frame, groups.codes, groups.labels, by))

    def gaps(self, by: str = "check") -> pd.DataFrame:
        """Return what fails, by how much it would help to mend it.

        Parameters
        ----------
        by
            "check", or "rule" to take the checks of a rule together.

        Returns
        -------
        pandas.DataFrame
            One row per check or rule with failing products: how many, of how many; `ready_if_fixed` and
            `score_if_fixed` are the figures of the summary if all of them passed, and `brings` says in words what
            would be won.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.gaps()[["check", "products", "ready_if_fixed"]].values.tolist()
        [['valid_gtin', 1, 1.0]]
        """
        return gaps(self.states, self.checks, self.tally, by)

    def failures(self, **equal: Any) -> pd.DataFrame:
        """Return every finding: one row for each text, picture or other place for which a check fails.

        A product can fail one check by several findings; `summary()["failed"]` counts it once for each check.

        Parameters
        ----------
        **equal
            Column of the result = value, or several in anything that holds values: `severity="blocker"`,
            `owner_id=["4", "5"]`, `market="Belgium"`. GTINs are read as `Catalog.where` reads them.

        Returns
        -------
        pandas.DataFrame
            product_id, gtin, name, owner, brand and kind with their codes, market, check, rule, the problem, the title
            that should be true, block, severity, attribute, language, the value seen, the reason, and how to fix it.

        Raises
        ------
        QueryError
            When there is no such column, severity, check, rule, block, attribute, language or market; the message
            names the nearest.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.failures(severity="blocker")[["product_id", "value"]].values.tolist()
        [['8', '03036811359936']]
        """
        return failures_frame(self.failure_batches(**equal))

    def failure_batches(self, **equal: Any) -> Iterator[pa.RecordBatch]:
        """Return the same part by part as Arrow, for millions of rows.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> [batch.num_rows for batch in audit.failure_batches()]
        [1]
        """
        wants = failure_filters(FAILURES.names, self.parts, self.checks, equal)
        rows = (failure_rows(part, self.checks, wants) for part in self.parts)
        return (batch for table in rows for batch in table.to_batches())

    def coverage(self, by: str = "language") -> pd.DataFrame:
        """Return how many of the products that should have an attribute have it.

        Parameters
        ----------
        by
            "language", or what `scores` groups by.

        Returns
        -------
        pandas.DataFrame
            One row per attribute and language (and group): filled, applicable, their ratio as `coverage`, and the
            products of which it is unknown. Where it applies to no product there is no row.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> checks = {"required_text": {"attribute": "namePublicLong", "language": "fr"}}
        >>> prodex.audit(catalog, {"checks": checks}).coverage()[["attribute", "filled", "applicable"]].values.tolist()
        [['namePublicLong', 0, 2]]
        """
        presence = [place for place, check in enumerate(self.checks) if check.is_presence]
        if by == "language":
            places_of_all = np.arange(len(self))
            everything = Groups(by, places_of_all, np.zeros(len(self), np.int64), [None], [None])
            return coverage(self.states, self.checks, presence, everything).drop(columns=["code", "label"])
        code, *label = column_names(by)
        frame = coverage(self.states, self.checks, presence, self.groups(by))
        frame = frame if label else frame.drop(columns="label")
        return frame.rename(columns={"code": code, "label": "".join(label)})

    def trend(self, others: Sequence[Audit] = ()) -> pd.DataFrame:
        """Return the figures of several audits over time, this one among them, the oldest first.

        Parameters
        ----------
        others
            Other audits; those of another profile or rule set, or with another `grade_with_blocker`, are not the same
            measure, and say so under `comparable`.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.trend([audit])[["score", "comparable"]].values.tolist()
        [[0.5, True], [0.5, True]]
        """
        audits = sorted([self, *others], key=lambda one: (one.now, one.audited_at))
        rows = [
            {
                "now": one.now,
                "audited_at": one.audited_at,
                "profile": one.profile,
                "rule_set": one.rule_set,
                "comparable": one.measure == self.measure,
                **one.summary.to_dict(),
            }
            for one in audits
        ]
        return pd.DataFrame(rows)

    def groups(self, by: str) -> Groups:
        """Return which products belong to which group; what `scores` and `coverage` are made with.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.groups("brand").codes
        [None]
        """
        return grouped(by, len(self), self._column, self._own_rows)

    def save(self, name: str | None = None) -> Audit:
        """Keep the audit beside its snapshot, and return it with its folder.

        Parameters
        ----------
        name
            Name of the snapshot; needed for a catalogue that is in memory.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.save("shop").folder.parent.name
        'audits'
        """
        saved: Audit = call("Audit.save", self, name)
        return saved

    def to_html(self, path: str | Path, *, trend: Sequence[Audit] = ()) -> Path:
        """Write the audit as one page that opens offline, with the full lists in a folder beside it.

        Parameters
        ----------
        path
            Of the page; what stands there is replaced.
        trend
            Earlier audits: the page shows how the grades moved, and what changed since the newest of them.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> import tempfile
        >>> audit.to_html(f"{tempfile.mkdtemp()}/report.html").name
        'report.html'
        """
        page: Path = call("Audit.report", self, path, trend)
        return page

    def worklists(self, folder: str | Path, by: str = "owner", **options: Any) -> pd.DataFrame:
        """Write what fails to a new folder, one workbook for each owner or other group, and return an index of them.

        `prodex.display.worklists.write_worklists` says what the options are, and what stands in the files.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> import tempfile
        >>> audit.worklists(f"{tempfile.mkdtemp()}/to_fix")["findings"].tolist()
        [1]
        """
        index: pd.DataFrame = call("Audit.worklists", self, folder, by, **options)
        return index

    def __repr__(self) -> str:
        text: str = call("Audit.text", self)
        return text

    def _repr_html_(self) -> str:
        html: str = call("Audit.html", self)
        return html

    @cached_property
    def identity(self) -> pa.Table:
        """What the audit keeps of each product, in their order, as an Arrow table."""
        return pa.concat_tables([IDENTITY.empty_table(), *(part.products for part in self.parts)])

    def _tally(self, chosen: npt.NDArray[np.bool_]) -> Tally:
        checks = [check for check, is_chosen in zip(self.checks, chosen, strict=True) if is_chosen]
        return Tally.of(self.states[:, chosen], checks)

    def _by_language(self, chosen: npt.NDArray[np.bool_]) -> pd.DataFrame:
        languages = sorted(
            {c.language for c, one in zip(self.checks, chosen, strict=True) if one and c.language}
        )
        frames = []
        for language in languages:
            about = chosen & np.array([check.language == language for check in self.checks])
            tally = self._tally(about)
            concerned = np.flatnonzero(tally.failed + tally.passed + tally.unknown)
            frames.append(tally.taken(concerned).by_group(np.zeros(len(concerned), np.int64), 1))
        empty = self._tally(chosen).by_group(np.empty(0, np.int64), 0)
        frame = pd.concat([empty, *frames], ignore_index=True)
        return _by_need(named(frame, languages, list(map(language_label, languages)), "language"))

    def _column(self, name: str) -> pa.Array:
        """Return a column for all products, from the audit itself or from its catalogue."""
        if name in self.identity.column_names:
            return self.identity[name].combine_chunks()
        read = self._at_hand(f"the column {name!r}").arrow("products", ["product_id", name])
        place = pc.index_in(self._column("product_id"), whole(read["product_id"]))
        return whole(read[name]).take(place)

    def _own_rows(self, table: str, *columns: str) -> pa.Table:
        """Return the products' own rows of a child table, each with the place of its product in the audit."""
        read = self._at_hand(table).arrow(table, ["product_id", *columns], IS_OWN)
        place = places(whole(read["product_id"]), self._column("product_id"))
        return read.drop_columns("product_id").add_column(0, "product", pa.array(place))

    def _at_hand(self, wanted: str) -> Catalog:
        if self.catalog is None:
            raise QueryError(
                f"An audit does not keep {wanted} itself, and its catalogue is not at hand. Audit the catalogue again, "
                f"or group by {', '.join(KEPT)}."
            )
        return self.catalog


def _by_need(frame: pd.DataFrame) -> pd.DataFrame:
    """Sort groups, the worst first; small ones below the others, since one product makes too much of their score."""
    by_need = frame.assign(small=frame["products"] < SMALL)
    order = by_need.sort_values(["small", "score", "products"], ascending=[True, True, False], kind="stable")
    return frame.loc[order.index].reset_index(drop=True)
