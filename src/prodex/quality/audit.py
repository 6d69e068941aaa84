"""The audit of a catalogue: products x checks, and the questions that people ask of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from prodex.dispatch import call
from prodex.progress import Progress
from prodex.quality.failures import FAILURES, failure_filters, failure_rows, failures_frame
from prodex.quality.gaps import by_check, gaps
from prodex.quality.matrix import AuditMatrix
from prodex.quality.scores import coverage_by, scores_by
from prodex.quality.states import State
from prodex.tables.frames import to_frame

_COUNTED = ("blockers", "failed", "passed", "not_applicable", "unknown")


@dataclass(frozen=True, eq=False, repr=False)
class Audit(AuditMatrix):
    """The results of a profile's checks for the products of a catalogue.

    Attributes
    ----------
    parts
        Products, states and evidence, in the same parts as the catalogue.
    checks
        The columns of the matrix.
    profile
        Name of the profile.
    rule_set
        Version of the rules that come with prodex; scores of different versions are not comparable.
    grade_with_blocker
        The best grade of a product with a failing blocker; "A" in audits of the time without such a limit.
    origin
        The query and the load of the catalogue.
    now
        The moment to which "older than" refers: local time without zone.
    audited_at
        When it was made, UTC.
    folder, catalog_folder
        Folders of the audit and of the audited snapshot, or None.
    assumed
        Assumptions for products whose data do not decide, such as ("food", True).
    catalog
        The catalogue, if it is available: it supplies columns and tags that the audit itself does not keep.
    made_by
        The profile itself, where the audit was made in this session; what is saved has its name only.
    taken_from
        The audit of which `only` chose these products; None for that audit itself.
    chosen_by
        By what they were chosen, in words.

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

    @property
    def products(self) -> pd.DataFrame:
        """One row per product: identity, score, grade, whether it is ready, how many checks fail.

        `ready` is missing for an undecided product: none of its blockers fails, and at least one is unknown.
        """
        tally = self.tally
        # Nullable, since "undecided" is neither True nor False.
        ready = pd.array(tally.ready, "boolean")
        ready[tally.undecided] = pd.NA
        return to_frame(self.identity).assign(
            score=tally.scores,
            grade=pd.array(self.grades, "str"),
            ready=ready,
            **{name: vars(tally)[name].astype(np.int64) for name in _COUNTED},
        )

    @property
    def summary(self) -> pd.Series:
        """The figures of the whole catalogue.

        `score` is computed over all cells of the matrix, with its `grade`; `mean_score` is the mean of the products'
        scores. `ready_products`, `not_ready_products` and `undecided_products` add up to all products, and `ready` is
        the share of all products that is ready: missing where there are none. `to_work_on` counts the products with
        any failing check; `failed` counts failing cells of the matrix, not findings.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.summary[["ready_products", "not_ready_products", "grade"]].tolist()
        [1, 1, 'E']
        """
        # All products as one group, so that headline and breakdowns cannot differ.
        row = self.tally.by_group(np.zeros(len(self), np.int64), 1).iloc[0]
        more = {
            **{f"grade_{grade}": int((self.grades == grade).sum()) for grade in "ABCDE"},
            "checks": len(self.checks),
            "checks_unknown": int((self.state_counts[State.UNKNOWN] == len(self)).sum()) if len(self) else 0,
            "crashed": len({crash.check for crash in self.crashes}),
            "pending_updates": self.pending,
        }
        return pd.Series(row.to_dict() | more, dtype="object")

    @property
    def by_check(self) -> pd.DataFrame:
        """One row per check: what it is, and how many products fail, pass, are not applicable, unknown.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.by_check[["check", "failed", "passed"]].values.tolist()
        [['valid_gtin', 1, 1]]
        """
        return by_check(
            self.state_counts, self.checks, {crash.check: crash.message for crash in self.crashes}
        )

    def scores(self, by: str = "owner", *, block: str | None = None) -> pd.DataFrame:
        """Return score, grade and readiness of each group: the worst first, groups of fewer than ten products last.

        Parameters
        ----------
        by
            "owner", "brand", "kind", "market", "language", "tag", or a column of `products`; see `prodex.facts.groups`.
            Languages are those of the checks; the market of a product is that of its version, else that of the query,
            else the profile's.
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
        return scores_by(self, by, block)

    def gaps(self, by: str = "check") -> pd.DataFrame:
        """Return what fails, the check first that it would help most to fix.

        Parameters
        ----------
        by
            "check", or "rule" to take the checks of a rule together.

        Returns
        -------
        pandas.DataFrame
            One row per check or rule with failing products: how many, of how many; `ready_if_fixed` and
            `score_if_fixed` are the figures of the summary if all of them passed, and `brings` describes the gain
            in words.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.gaps()[["check", "products", "ready_if_fixed"]].values.tolist()
        [['valid_gtin', 1, 1.0]]
        """
        return gaps((part.states for part in self.parts), self.checks, self.tally, by)

    def failures(self, **equal: Any) -> pd.DataFrame:
        """Return every finding: one row for each text, picture or other place for which a check fails.

        A product can have several findings for one check; `summary["failed"]` counts it once for each check.

        Parameters
        ----------
        **equal
            Column of the result = value, or several values in any collection: `severity="blocker"`,
            `owner_id=["4", "5"]`, `market="Belgium"`. GTINs are read as `Catalog.where` reads them.

        Returns
        -------
        pandas.DataFrame
            product_id, gtin, name, owner, brand and kind with their codes, market, check, rule, the problem, the title
            (what should be true), block, severity, attribute, language, the value seen, the reason, and how to fix it.

        Raises
        ------
        QueryError
            When there is no such column, severity, check, rule, block, attribute, language or market; the message
            suggests the nearest name.

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
        """Return the findings part by part as Arrow batches, for results of millions of rows.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> [batch.num_rows for batch in audit.failure_batches()]
        [1]
        """
        wants = failure_filters(FAILURES.names, self.parts, self.checks, equal)
        # A generator: millions of findings never are in memory at once.
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
            number of products for which it is unknown. An attribute that applies to no product has no row.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> checks = {"required_text": {"attribute": "namePublicLong", "language": "fr"}}
        >>> prodex.audit(catalog, {"checks": checks}).coverage()[["attribute", "filled", "applicable"]].values.tolist()
        [['namePublicLong', 0, 2]]
        """
        return coverage_by(self, by)

    def trend(self, others: Sequence[Audit] = ()) -> pd.DataFrame:
        """Return the figures of this audit and others over time, the oldest first.

        Parameters
        ----------
        others
            Other audits; `comparable` is False for those with another profile, rule set or `grade_with_blocker`.

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

    def save(self, name: str | None = None) -> Audit:
        """Save the audit beside its snapshot, and return it with its folder.

        Parameters
        ----------
        name
            Name of the snapshot; required for a catalogue in memory.

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

    def to_html(self, path: str | Path, *, trend: Sequence[Audit] = (), progress: Progress = None) -> Path:
        """Write the audit as one HTML page that opens offline, with the full lists in a folder beside it.

        Parameters
        ----------
        path
            Path of the page; an existing file is replaced.
        trend
            Earlier audits: the page shows how the grades changed over time and since the newest of them.
        progress
            As for `prodex.verify`, in rows of the lists.

        Examples
        --------
        >>> import prodex, tempfile
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.to_html(f"{tempfile.mkdtemp()}/report.html").name
        'report.html'
        """
        page: Path = call("Audit.report", self, path, trend, progress)
        return page

    def worklists(self, folder: str | Path, by: str = "owner", **options: Any) -> pd.DataFrame:
        """Write worklists of what fails to a new folder, a workbook for each owner or other group, and return an index.

        `prodex.display.worklists.write_worklists` documents the options and the files.

        Examples
        --------
        >>> import prodex, tempfile
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
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
