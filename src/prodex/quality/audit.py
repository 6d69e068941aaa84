"""The audit of a catalogue: products x checks, and the questions that people ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Origin
from prodex.catalog.origin import Chosen
from prodex.errors import InputError, NotExported, QueryError, SnapshotError
from prodex.facts.groups import KEPT, Groups, grouped, own_rows
from prodex.facts.same_product import shared_gtins
from prodex.languages import ENGLISH, Message, Translation
from prodex.progress import Progress
from prodex.quality.accepted import (
    NONE_ACCEPTED,
    AcceptedFindings,
    AcceptedThen,
    WantedFindings,
    accepted_in_part,
    reasons_of,
)
from prodex.quality.audit_part import IDENTITY, AuditPart, Crash
from prodex.quality.check import Check
from prodex.quality.failures import FAILURES, doubt_rows, failure_filter, failure_rows, failures_frame
from prodex.quality.gaps import by_check, counts_by_check, gaps, laws
from prodex.quality.laws import IN_FORCE
from prodex.quality.profile import NAMELESS, Profile
from prodex.quality.requirements import Requirements
from prodex.quality.scores import by_group, counted, grades, grades_of, whole_score
from prodex.quality.states import State, States
from prodex.selection import Selection
from prodex.selection.units import units_given
from prodex.tables.columns import as_one_chunk, is_true
from prodex.tables.frames import to_frame


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """The results of a profile's checks for the products of a catalogue.

    Attributes
    ----------
    parts
        Products, states and findings, in the same parts as the catalogue.
    checks
        The columns of the matrix.
    profile
        Name of the profile.
    rule_set
        Version of the rules of prodex; scores of different versions are not comparable.
    grade_with_blocker
        The best grade of a product with a failing blocker.
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
    families
        The channels and families of the requirements that it was made by; None without requirements.
    taken_from
        The audit of which `only` chose these products; None for that audit itself.
    chosen_by
        By what they were chosen, in words.
    accepted_findings
        The file of accepted findings, as it was when the audit was made or opened; None where there is no place for
        one, which is so for a catalogue in memory.
    accepted_then
        What was accepted when it was saved; None of audits that were not saved.
    chosen_then
        Which products of more of them these were when it was saved; None of all, and of audits that were not saved.
    as_of
        The day whose laws were meant; None where none was given.
    is_own
        Whether this installation has judged it: only with such an audit a job compares its own.
    as_found
        The audit of which this one is the view with what is accepted; None for an audit of what was found.

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
    checks: tuple[Check, ...]
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
    made_by: Profile | None = None
    families: Requirements | None = None
    taken_from: Self | None = None
    chosen_by: str = ""
    accepted_findings: AcceptedFindings | None = None
    accepted_then: AcceptedThen | None = None
    chosen_then: Chosen | None = None
    as_of: date | None = None
    is_own: bool = False
    as_found: Self | None = None

    def __len__(self) -> int:
        return sum(part.size for part in self.parts)

    def __repr__(self) -> str:
        from prodex.display.audit import text_of

        return text_of(self)

    def _repr_html_(self) -> str:
        from prodex.display.audit import html_of

        return html_of(self)

    @property
    def products(self) -> pd.DataFrame:
        """One row per product: identity, score, grade, whether it is ready, how many checks fail.

        `ready` is missing for an undecided product: none of its blockers fails, and at least one is unknown.

        Requirements add three columns for each channel: `complete_<channel>`, missing where it is unknown or nothing is
        required; `completeness_<channel>`, the share of what the product must have that is there; and
        `missing_<channel>`, in words what it lacks.
        """
        from prodex.quality.completeness import channel_columns

        tally = self.tally
        return to_frame(self.identity).assign(
            score=tally["score"],
            grade=pd.array(self.grades, "str"),
            # Nullable, since "undecided" is neither True nor False.
            ready=tally["ready"].astype("boolean").mask(tally["undecided"]),
            **tally[["blockers", "failed", "passed", "not_applicable", "unknown"]].astype(np.int64),
            **channel_columns(self),
        )

    @property
    def summary(self) -> pd.Series:
        """The figures of the whole catalogue.

        `score` is computed over all cells of the matrix, with its `grade`; `mean_score` is the mean of the products'
        scores. `ready_products`, `not_ready_products` and `undecided_products` add up to all products, and `ready` is
        the share of all products that is ready: missing where there are none. `to_work_on` counts the products with
        any failing check; `failed` counts failing cells of the matrix, not findings.

        `accepted` counts the failing cells of which all findings are accepted: they are among `failed`. The figures if
        these passed are those of `with_accepted()`.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.summary[["ready_products", "not_ready_products", "grade"]].tolist()
        [1, 1, 'E']
        """
        # All products as one group, so that headline and breakdowns cannot differ.
        row = by_group(self.tally, Groups.one("", np.arange(len(self)))).iloc[0]
        is_asked = np.array([not check.not_asked for check in self.checks], bool)
        unknown = self.state_counts[State.UNKNOWN]
        more = {
            "accepted": sum(map(_accepted_cells, self.parts, self.accepted_parts)),
            **{f"grade_{grade}": int((self.grades == grade).sum()) for grade in "ABCDE"},
            "checks": len(self.checks),
            # Unknown for all products, though they were asked.
            "checks_unknown": int((is_asked & (unknown == len(self))).sum()) if len(self) else 0,
            "checks_not_asked": int((~is_asked).sum()),
            "crashed": len({crash.check for crash in self.crashes}),
            "pending_updates": self.pending,
        }
        return pd.Series(row.to_dict() | more, dtype="object")

    def laws(self) -> pd.DataFrame:
        """Return the laws behind the checks, and how each stood on the day of the audit (`as_of`).

        Returns
        -------
        pandas.DataFrame
            One row per check that a law or a day of the profile stands behind: law and article, check, problem,
            severity on that day, `standing` ("in force", "announced", "ended", or "not asked" where `declare` names
            fields that the profile has to declare first), the first and the last day, and how many products fail.

        Examples
        --------
        >>> import prodex
        >>> checks = {"has_gpc_brick": {"in_force": "2026-08-12"}}
        >>> audit = prodex.audit(prodex.flatten([{"id": 7}]), {"checks": checks}, as_of="2026-08-11")
        >>> audit.laws()[["check", "standing", "failed"]].values.tolist()
        [['has_gpc_brick', 'announced', 1]]
        """
        return laws(self.state_counts, self.checks)

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

    @property
    def matrix(self) -> pd.DataFrame:
        """One row per product (its `product_id`), one column per check: 0 pass, 1 fail, 2 not applicable, 3 unknown."""
        # The same memory as `states`: a copy of millions of products would be felt.
        index = pd.Index(self._column("product_id").to_pylist(), name="product_id")
        return pd.DataFrame(self.states, index, [check.id for check in self.checks], copy=False)

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
    def crashes(self) -> tuple[Crash, ...]:
        """The rules that crashed, with the reason; their columns are unknown in those parts."""
        return tuple(crash for part in self.parts for crash in part.crashes)

    @property
    def pending(self) -> int:
        """How many products are known to have an update that waits for acceptance: they were judged without it."""
        # An export may lack the column: then nobody knows it.
        return sum(int(is_true(part.column("has_pending_update")).sum()) for part in self.parts)

    @property
    def measure(self) -> tuple[object, ...]:
        """What figures were made with: audits of which this differs are not the same measure."""
        # A law that is not in force yet, or not any more, weighs less than one that is.
        other = tuple((c.id, c.standing) for c in self.checks if c.standing not in {"", IN_FORCE})
        view = "with accepted" if self.as_found is not None else ""
        usual = self.profile, self.rule_set, self.grade_with_blocker, self.assumed
        # Figures that are kept have the digest of these, so what is as usual adds nothing.
        return *usual, *filter(None, [other, view])

    def is_like(self, other: Audit) -> bool:
        """Whether the figures of another audit are of the same measure, so that a change of them says something.

        Profiles that are mappings have one name, whatever they check: audits by these are alike if their checks are.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}])
        >>> audits = [prodex.audit(catalog, {"checks": {name: {}}}) for name in ("valid_gtin", "has_brand")]
        >>> audits[0].is_like(audits[0]), audits[0].is_like(audits[1])
        (True, False)
        """
        if self.measure != other.measure:
            return False
        weighed = [[(one.id, one.severity, one.weight) for one in audit.checks] for audit in (self, other)]
        return self.profile != NAMELESS or weighed[0] == weighed[1]

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
        from prodex.quality.group_figures import scores_by

        return scores_by(self, by, block)

    def gaps(self, by: str = "check", *, words: Translation = ENGLISH) -> pd.DataFrame:
        """Return what fails, the check first that it would help most to fix.

        Parameters
        ----------
        by
            "check", or "rule" to take the checks of a rule together.
        words
            The language of problems, titles, gains and what to do.

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
        if (by, words) not in self._gaps:
            parts = (part.states for part in self.parts)
            self._gaps[by, words] = gaps(parts, self.checks, self.tally, by, words)
        return self._gaps[by, words].copy()

    @cached_property
    def _gaps(self) -> dict[tuple[str, Translation], pd.DataFrame]:
        """What `gaps` has returned: whoever shows an audit asks for its first rows again and again."""
        return {}

    def failures(self, selection: Selection | None = None, /, **equal: Any) -> pd.DataFrame:
        """Return every finding: one row for each text, picture or other place for which a check fails.

        A product can have several findings for one check; `summary["failed"]` counts it once for each check.

        Parameters
        ----------
        selection
            A `prodex.Selection` of findings: its columns are those of the result, and all else in it (other columns
            of products, groups, words, ranges) is asked of their products.
        **equal
            Column of the result = value, or several values in any collection: `severity="blocker"`,
            `owner_id=["4", "5"]`, `market="Belgium"`. GTINs are read as `Catalog.where` reads them.

        Returns
        -------
        pandas.DataFrame
            product_id, gtin, name, owner, brand and kind with their codes, market, check, rule, the problem, the title
            (what should be true), block, severity, attribute, language, the value seen, the reason, how to fix it, why
            it is accepted (missing where it is not), by whom and until when, and since when it is open, as far as saved
            audits of the same name and profile tell; `accepted=False` leaves out what is accepted.

        Raises
        ------
        QueryError
            When there is no such column, severity, check, rule, block, attribute, language or market, or when no
            product of the audit has such an owner, brand, kind or name, or none of the GTINs or ids; the message
            suggests the nearest name.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.failures(severity="blocker")[["product_id", "value"]].values.tolist()
        [['8', '03036811359936']]
        >>> len(audit.failures(prodex.Selection.of(severity="blocker") & ~prodex.Selection.of(product_id="8")))
        0
        """
        return failures_frame(self.failure_batches(selection, **equal))

    def _products_meant(self, selection: Selection) -> pa.Array:
        if self.catalog is None:
            raise QueryError(
                f"An audit without its catalogue does not know which products are meant by: {selection}. Audit the "
                "catalogue of these products: prodex.audit(catalog.where(selection))."
            )
        mask = self.catalog.mask(selection, audit=self)
        return (
            self.catalog.arrow("products", ["product_id"])["product_id"]
            .filter(pa.array(mask))
            .combine_chunks()
        )

    def failure_batches(
        self, selection: Selection | None = None, /, *, words: Translation = ENGLISH, **equal: Any
    ) -> Iterator[pa.RecordBatch]:
        """Return the findings part by part as Arrow batches, for results of millions of rows.

        Parameters
        ----------
        selection, **equal
            As for `failures`.
        words
            The language of problems, titles, reasons and what to do.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> [batch.num_rows for batch in audit.failure_batches()]
        [1]
        """
        is_accepted = equal.get("accepted")
        if isinstance(is_accepted, bool | np.bool_):
            equal = {name: value for name, value in equal.items() if name != "accepted"}
        wants = failure_filter(
            self.parts, self.checks, equal, self.accepted_parts, selection, self._products_meant
        )
        # A generator: millions of findings never are in memory at once.
        each = zip(self._dated_parts, self.accepted_parts, strict=True)
        rows = (failure_rows(part, self.checks, wants, accepted, words) for part, accepted in each)
        if isinstance(is_accepted, bool | np.bool_):
            keep = pc.is_valid if is_accepted else pc.is_null
            rows = (table.filter(keep(table["accepted"])) for table in rows)
        return (batch for table in rows for batch in table.to_batches())

    def findings(self, **equal: Any) -> pd.DataFrame:
        """Return every finding with its own columns only, to be joined to products in one line.

        Parameters
        ----------
        **equal
            As for `failures`.

        Returns
        -------
        pandas.DataFrame
            product_id, check, rule, problem, title, block, severity, attribute, language, value, reason, fix, accepted,
            accepted_by, accepted_until, first_seen.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
        >>> catalog.products.merge(audit.findings(), on="product_id")[["gtin", "value"]].values.tolist()
        [['03036811359936', '03036811359936']]
        """
        return self.failures(**equal)[["product_id", *FAILURES.names[FAILURES.names.index("check") :]]]

    def doubts(self, by: str | None = None, *, words: Translation = ENGLISH) -> pd.DataFrame:
        """Return why checks are unknown of products, as far as their rules say it: what an analyst can settle.

        Parameters
        ----------
        by
            "value" counts what stands in the way, such as a word of ingredients that nobody knows.
        words
            The language of titles and reasons.

        Returns
        -------
        pandas.DataFrame
            One row for each doubt: product_id, gtin, name, owner, check, attribute, language, the value, and the
            reason. By value: check, language, value, reason, the number of products that it holds up and the
            `product_id` of one of them, those that hold up most first.

        Examples
        --------
        >>> import prodex
        >>> text = {"expressedIn": {"code": "eng-GB"}, "data": "Rice, water, zlork powder, sunflower oil, salt"}
        >>> food = {"GPC": {"code": "50000001"}, "isConsumerUnit": True, "composition": [text]}
        >>> catalog = prodex.flatten([{"id": 7, **food}, {"id": 8, **food}])
        >>> audit = prodex.audit(catalog, {"checks": {"composition_allergens_listed": {}}})
        >>> audit.doubts(by="value")[["value", "products"]].values.tolist()
        [['zlork', 2]]
        """
        if by not in {None, "value"}:
            raise QueryError(f"doubts are not grouped by {by!r:.40}. Give by='value', or leave it out.")
        tables = [doubt_rows(part, self.checks, words) for part in self.parts]
        columns = ["product_id", "gtin", "name", "owner", "check", "attribute", "language", "value", "reason"]
        frame = to_frame(pa.concat_tables([FAILURES.empty_table(), *tables]).select(columns))
        if by is None:
            return frame
        alike = ["check", "language", "value", "reason"]
        groups = frame.groupby(alike, dropna=False, sort=False, observed=True)
        counted = groups["product_id"].agg(products="nunique", product_id="first").reset_index()
        return counted.sort_values("products", ascending=False, kind="stable", ignore_index=True)

    @cached_property
    def _dated_parts(self) -> tuple[AuditPart, ...]:
        """The parts with findings that say since when they are open, as far as saved audits tell."""
        from prodex.quality.first_seen import dated_parts

        return dated_parts(self)

    @cached_property
    def accepted_parts(self) -> tuple[pa.Table, ...]:
        """For each part the findings that are accepted on the day of the audit (`now`), as `ACCEPTED` has them."""
        return tuple(map(self.accepted_in, self.parts))

    def accepted_in(self, part: AuditPart) -> pa.Table:
        """Return what is accepted of a part of this audit, or of some products of it.

        Examples
        --------
        >>> import prodex
        >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
        >>> audit.accepted_in(audit.parts[0]).num_rows
        0
        """
        return NONE_ACCEPTED if self._wanted is None else accepted_in_part(part, self.checks, self._wanted)

    @cached_property
    def _wanted(self) -> WantedFindings | None:
        file = self.accepted_findings
        # What is accepted is no finding of a view.
        if file is None or not file.lines or self.as_found is not None:
            return None
        return file.wanted(self.now.date(), self.checks, self.shared_gtins)

    @cached_property
    def shared_gtins(self) -> frozenset[str]:
        """The GTINs that several products have, of all products of which these were chosen: they name none of them.

        Examples
        --------
        >>> import prodex
        >>> twice = prodex.flatten([{"id": n, "gtin": "03036811359935"} for n in (7, 8)])
        >>> prodex.audit(twice.head(1), {"checks": {"valid_gtin": {}}}).shared_gtins
        frozenset({'03036811359935'})
        """
        every = self.taken_from or self
        # A selection, or an opened audit of one, sees the others in its catalogue.
        if every.catalog is not None:
            with suppress(SnapshotError, NotExported):
                parts = [part.unfiltered() for part in every.catalog.parts]
                return shared_gtins(part.read("products", ["gtin"])["gtin"] for part in parts)
        return shared_gtins(part.column("gtin") for part in every.parts)

    def accepted_reasons(self) -> pd.DataFrame:
        """Return who has accepted how many findings of this audit, and why: the largest number first.

        Of a view these are the findings that count as passed.

        Returns
        -------
        pandas.DataFrame
            One row per reason and person: accepted (the reason), accepted_by, findings, products, and the first day on
            which one of them ends as accepted_until (missing where none does).

        Examples
        --------
        >>> import prodex, tempfile
        >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
        >>> audit = prodex.accept(audit, reason="printed so", by="Ana", to=f"{tempfile.mkdtemp()}/accepted.jsonl")
        >>> audit.accepted_reasons()[["accepted", "accepted_by", "findings"]].values.tolist()
        [['printed so', 'Ana', 1]]
        """
        return reasons_of((self.as_found or self).accepted_parts)

    @property
    def has_accepted(self) -> bool:
        """Whether findings of it are accepted, so that `with_accepted()` has other figures."""
        return any(map(len, self.accepted_parts))

    def with_accepted(self) -> Self:
        """Return the audit as if what is accepted passed: a view, which has all figures, lists and pages of an audit.

        An accepted finding is no failure of it, and a product passes a check if all of its findings of the check are
        accepted. So an accepted text that is missing counts as there. `accept` and `withdraw` take the view as well,
        and return one. A view is not saved: what is saved is what was found. Figures of a view and of an audit are not
        the same measure, so `trend` and `prodex.diff` take two of a kind.

        Examples
        --------
        >>> import prodex, tempfile
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
        >>> audit = prodex.accept(audit, reason="printed so", to=f"{tempfile.mkdtemp()}/accepted.jsonl")
        >>> audit.score, audit.with_accepted().score, len(audit.with_accepted().failures())
        (0.5, 1.0, 0)
        """
        return self._with_accepted

    @cached_property
    def _with_accepted(self) -> Self:
        if self.as_found is not None:
            return self
        each = zip(self.parts, self.accepted_parts, strict=True)
        return replace(
            self,
            parts=tuple(part.without(found["finding"].to_numpy()) for part, found in each),
            folder=None,
            taken_from=None if self.taken_from is None else self.taken_from.with_accepted(),
            as_found=self,
        )

    def accepting(self, file: AcceptedFindings) -> Self:
        """Return the same audit, or the same view, with what a file accepts.

        Examples
        --------
        >>> from pathlib import Path
        >>> import prodex
        >>> from prodex.quality.accepted import AcceptedFindings
        >>> audit = prodex.audit(prodex.flatten([{"id": 8, "gtin": "03036811359936"}]), {"checks": {"valid_gtin": {}}})
        >>> audit.accepting(AcceptedFindings.read(Path("accepted.jsonl"))).has_accepted
        False
        """
        if self.as_found is not None:
            return self.as_found.accepting(file).with_accepted()
        every = None if self.taken_from is None else self.taken_from.accepting(file)
        return replace(self, accepted_findings=file, taken_from=every)

    def coverage(self, by: str = "language", *, units: str = "consumer") -> pd.DataFrame:
        """Return how many of the products that should have an attribute have it.

        Parameters
        ----------
        by
            "language", or what `scores` groups by.
        units
            "consumer" counts the products that are not known to be other units than consumer units; "all" counts every
            product. Of a check that names kinds of units by itself, every product counts to which it applies.

        Returns
        -------
        pandas.DataFrame
            One row per attribute and language (and group): filled, applicable, their ratio as `coverage`, and the
            number of products for which it is unknown; then `units`, which were counted ("consumer", "all", or "named"
            by the check), and `units_unknown`, of how many of those counted nobody knows whether they are consumer
            units. An attribute that applies to no product has no row. `attrs["counted"]` says in words what is counted.

        Raises
        ------
        InputError
            When `units` is neither.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> checks = {"required_text": {"attribute": "namePublicLong", "language": "fr"}}
        >>> prodex.audit(catalog, {"checks": checks}).coverage()[["attribute", "filled", "applicable"]].values.tolist()
        [['namePublicLong', 0, 2]]
        """
        from prodex.quality.group_figures import coverage_by

        return coverage_by(self, by, units_given(units))

    def completeness(self, by: str | None = None) -> pd.DataFrame:
        """Return how many products have all that each channel requires, by family and language.

        A product is complete for a channel if it has everything that it must have there, incomplete if anything is
        missing or is not as required, and unknown if nothing is, but something could not be judged.

        Parameters
        ----------
        by
            The families of the requirements by default, or what `scores` groups by.

        Returns
        -------
        pandas.DataFrame
            One row per channel, family and language, and one for all products ("*"). `listed` says whether the
            requirements name the family; one that they do not name is judged as they say for all families. `language`
            is "all", a language code, or "none" for what has no language. `products` counts those of which anything is
            required; `complete`, `incomplete` and `unknown` add up to them, and `completeness` is the share that is
            complete. `filled` of `required` counts values, `share_wanted_filled` those that should be there, and
            `missing_most` names what is missing most. `units` says which the channel means, "consumer" or "all", or
            that the catalogue was "not asked for" what tells consumer units; `units_unknown`, of how many of the
            products nobody knows whether they are consumer units; they count. `attrs["counted"]` says it in words.

        Raises
        ------
        QueryError
            When the audit was made without requirements.

        Examples
        --------
        >>> import pandas as pd, prodex
        >>> rows = [["Web shop", "*", "brand", "must"], ["Web shop", "TEA", "netContent", "must"]]
        >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
        >>> records = [{"id": 7, "brand": {"code": "ACME"}}, {"id": 8, "kind": {"code": "TEA"}}]
        >>> table = prodex.audit(prodex.flatten(records), wanted).completeness()
        >>> table.query("language == 'all'")[["kind_code", "products", "complete", "missing_most"]].values.tolist()
        [['*', 2, 1, 'brand (1), net content (1)'], ['TEA', 1, 0, 'brand (1), net content (1)'], [nan, 1, 1, '']]
        """
        from prodex.quality.completeness import Completeness

        return Completeness.of(self).table(by)

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

    def trend(self, others: Sequence[Audit] = ()) -> pd.DataFrame:
        """Return the figures of this audit and others over time, the oldest first.

        Parameters
        ----------
        others
            Other audits; `comparable` is False for those with another profile, rule set or `grade_with_blocker`, for
            other checks where the profile is a mapping without a name, and for views among audits, or audits among
            views.

        Returns
        -------
        pandas.DataFrame
            One row per audit, with the figures of `summary`. What is accepted is what is accepted now; `accepted_then`
            is the number of the day when the audit was saved. The trend of a view, of other views, also has
            `score_then` and `ready_products_then`: its figures of that day.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.trend([audit])[["score", "comparable"]].values.tolist()
        [[0.5, True], [0.5, True]]
        """
        audits = sorted([self, *others], key=lambda one: (one.now, one.audited_at))
        then = ["accepted"] if self.as_found is None else AcceptedThen._fields
        rows = [
            {
                "now": one.now,
                "audited_at": one.audited_at,
                "profile": one.profile,
                "rule_set": one.rule_set,
                "comparable": self.is_like(one),
                **one.summary.to_dict(),
                **{
                    f"{name}_then": None if one.accepted_then is None else getattr(one.accepted_then, name)
                    for name in then
                },
            }
            for one in audits
        ]
        types = {"accepted_then": "Int64", "score_then": "float64", "ready_products_then": "Int64"}
        return pd.DataFrame(rows).astype({f"{name}_then": types[f"{name}_then"] for name in then})

    @property
    def chosen(self) -> Chosen | None:
        """Which products of a larger audit or catalogue these are; None for all of them."""
        found = None
        if self.taken_from is not None:
            found = Chosen.again(self.taken_from.chosen, len(self.taken_from), [self.chosen_by])
        elif self.chosen_then is not None:
            found = self.chosen_then
        elif self.catalog is not None:
            found = self.catalog.chosen
        return found if found is not None and found.of > len(self) else None

    @property
    def scope(self) -> str:
        """Which products the figures are of, in a sentence: what leaves the screen says it.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.scope, audit.only(["8"], "GTIN missing or wrong").scope
        ('All 2 products.', '1 of 2 products, chosen by: GTIN missing or wrong.')
        """
        return str(self.scope_said)

    @property
    def scope_said(self) -> Message:
        """The same as a message."""
        if self.chosen is not None:
            return self.chosen.said(len(self))
        return Message.of_number("All {number} product.", "All {number} products.", len(self))

    def only(self, product_ids: Iterable[str], chosen_by: str = "") -> Self:
        """Return the audit of some of its products: nothing is judged again, so that it takes no time.

        Rules that compare products have looked at all of them, as for the whole audit.

        Parameters
        ----------
        product_ids
            Which products; those that the audit does not cover are left out, and all that have an id that occurs twice.
        chosen_by
            By what they were chosen, in words: reports and worklists say it, beside the figures of all products.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> len(audit.only(["8", "9"])), float(audit.only(["8"]).summary["ready"])
        (1, 0.0)
        """
        if isinstance(product_ids, str):
            raise InputError(
                f"product_ids is the text {product_ids!r:.60}. Give ids in a list: [{product_ids!r:.60}]."
            )
        if self.as_found is not None:
            return self.as_found.only(product_ids, chosen_by).with_accepted()
        wanted = pa.array(product_ids, pa.string())
        masks = [
            np.asarray(pc.is_in(part.column("product_id"), wanted).to_numpy(), bool) for part in self.parts
        ]
        # Parts without any of them are kept: each is about the part of the catalogue in the same place. Nearly all of a
        # large audit may be such, so one is made for all of them.
        nothing = [part.taken(np.zeros(part.size, bool)) for part in self.parts[:1]]
        taken = (
            part.taken(mask) if mask.any() else nothing[0]
            for part, mask in zip(self.parts, masks, strict=True)
        )
        words = "; ".join(filter(None, [self.chosen_by, chosen_by]))
        return replace(
            self, parts=tuple(taken), folder=None, taken_from=self.taken_from or self, chosen_by=words
        )

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
        from prodex.quality.figures import save_audit

        return save_audit(self, name)

    def to_html(
        self,
        path: str | Path,
        *,
        trend: Sequence[Audit] = (),
        language: str = "en",
        progress: Progress = None,
    ) -> Path:
        """Write the audit as one HTML page that opens offline, with the full lists in a folder beside it.

        Parameters
        ----------
        path
            Path of the page; an existing file is replaced.
        trend
            Earlier audits: the page shows how the grades changed over time and since the newest of them.
        language
            The language of the page: English, French, German or Dutch, by code or name.
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
        from prodex.display.report import write_report

        return write_report(self, path, trend, progress, language)

    def to_markdown(self, path: str | Path | None = None, *, gaps: int = 10) -> str:
        """Return the audit as Markdown: its figures, completeness and largest gaps, for a wiki, an issue or a mail.

        Parameters
        ----------
        path
            Where to write it as well; an existing file is replaced.
        gaps
            How many gaps are listed; the page says of how many.

        Examples
        --------
        >>> import prodex
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> print(audit.to_markdown().splitlines()[0])
        # Audit of 2 products by 1 check (own)
        """
        from prodex.display.markdown import markdown_of

        return markdown_of(self, path, gaps)

    def worklists(self, folder: str | Path, by: str = "owner", **options: Any) -> pd.DataFrame:
        """Write worklists of what fails to a new folder, a workbook for each owner or other group, and return an index.

        `prodex.worklists.folder.write_worklists` documents the options and the files.

        Examples
        --------
        >>> import prodex, tempfile
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {"severity": "blocker"}}})
        >>> audit.worklists(f"{tempfile.mkdtemp()}/to_fix")["findings"].tolist()
        [1]
        """
        from prodex.worklists.folder import write_worklists

        return write_worklists(self, folder, by, **options)

    def worklist_rows(
        self,
        owner: Any = ...,
        *,
        language: str = "en",
        accepted: bool = False,
        progress: Progress = None,
        **equal: Any,
    ) -> pd.DataFrame:
        """Return the rows of worklists by owner as a frame, for programs: one row for each question.

        Whoever fills in the column `new_value` writes the frame as they like, and `prodex.read_worklist` reads it: any
        table with these columns is read.

        Parameters
        ----------
        owner
            Whose products: an owner by id or name, or several of them. None means the products without an owner, as in
            all filters; leave it out for all owners.
        language
            The language of what people read in it, as for `worklists`.
        accepted
            Whether findings that are accepted are among them.
        progress
            As for `worklists`.
        **equal
            Only some findings, as `failures` takes them: `severity=["blocker", "error"]`.

        Returns
        -------
        pandas.DataFrame
            The columns of `failures` before `accepted`, and row (the number within the worklist of its owner),
            language_code and position of the text that is meant, updated_at (when the product was last changed, UTC),
            update_waits (whether an update waits for acceptance, so that nothing is asked; missing where that is not
            known), new_value and accept_because (empty, to be filled in), how to answer, row_key (by which the row is
            recognized), asked_for in words, same_answer (alike in rows that one answer can be for), the scope of the
            worklist, and the law that asks for it; what people read comes first. Worklists with the most findings are
            first, as in the index of `worklists`.

        Raises
        ------
        InputError
            When no product has such an owner, or several owners have that name; the message names them.
        QueryError
            When there is no such column or value to select by.

        Examples
        --------
        >>> import prodex
        >>> mill = {"id": 4, "name": "Mill"}
        >>> catalog = prodex.flatten([{"id": 7, "gtin": "1", "owner": mill}, {"id": 8, "gtin": "2"}])
        >>> audit = prodex.audit(catalog, {"checks": {"valid_gtin": {}}})
        >>> [audit.worklist_rows(**which)["gtin"].tolist() for which in ({}, {"owner": "Mill"}, {"owner": None})]
        [['1', '2'], ['1'], ['2']]
        """
        from prodex.worklists.questions import worklist_rows

        return worklist_rows(self, owner, language=language, accepted=accepted, progress=progress, **equal)

    @cached_property
    def states(self) -> States:
        """The matrix as numbers: products x checks, values of `State`."""
        # An audit without parts still has its columns.
        empty = np.empty((0, len(self.checks)), np.int8)
        return np.concatenate([empty, *(part.states for part in self.parts)])

    @cached_property
    def state_counts(self) -> dict[int, npt.NDArray[np.int64]]:
        """For each value of `State` how many products have it under each check."""
        return counts_by_check((part.states for part in self.parts), len(self.checks))

    @cached_property
    def tally(self) -> pd.DataFrame:
        """What is counted for each product, in their order; see `prodex.quality.scores.counted`."""
        return counted((part.states for part in self.parts), self.checks)

    @cached_property
    def grades(self) -> npt.NDArray[np.object_]:
        """The grade of each product, in their order; None where nothing applies."""
        return grades_of(self.tally, self.grade_with_blocker)

    @cached_property
    def identity(self) -> pa.Table:
        """What the audit keeps of each product, in their order, as an Arrow table."""
        return pa.concat_tables([IDENTITY.empty_table(), *(part.products for part in self.parts)])

    def group_column(self, name: str) -> pa.Array:
        """Return a column of its products by which they can be grouped, in their order.

        Examples
        --------
        >>> import prodex
        >>> audit = prodex.audit(prodex.flatten([{"id": 7, "kind": {"code": "TEA"}}]), {"checks": {"valid_gtin": {}}})
        >>> audit.group_column("kind_code").to_pylist()
        ['TEA']
        """
        return self._column(name)

    def _column(self, name: str) -> pa.Array:
        """Return a column for all products, from the audit itself or from its catalogue."""
        if name in IDENTITY.names:
            chunks = [chunk for part in self.parts for chunk in part.column(name).chunks]
            return as_one_chunk(pa.chunked_array(chunks, IDENTITY.field(name).type))
        read = self._available_catalog(f"the column {name!r}").arrow("products", ["product_id", name])
        # The catalogue may have its products in another order than the audit.
        place = pc.index_in(self._column("product_id"), as_one_chunk(read["product_id"]))
        return as_one_chunk(read[name]).take(place)

    def _own_rows(self, table: str, *columns: str, filled: str = "") -> pa.Table:
        return own_rows(self._available_catalog(table), self._column, table, *columns, filled=filled)

    def _available_catalog(self, wanted: str) -> Catalog:
        if self.catalog is None:
            raise QueryError(
                f"An audit does not keep {wanted} itself, and its catalogue is not available. Audit it again, or group "
                f"by {', '.join(KEPT)}."
            )
        return self.catalog


def _accepted_cells(part: AuditPart, accepted: pa.Table) -> int:
    """Return how many cells of the matrix fail with accepted findings alone."""
    return int(part.whole_cells(accepted["finding"].to_numpy()).sum()) if len(accepted) else 0
