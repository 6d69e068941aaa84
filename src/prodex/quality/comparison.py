"""Comparing two audits: what was fixed, what is new, what remains, what cannot be compared, and if it got worse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.errors import InputError
from prodex.languages import Message
from prodex.quality.audit import Audit
from prodex.quality.check import Check
from prodex.quality.laws import ENDED
from prodex.quality.scores import moved, readiness
from prodex.quality.states import State
from prodex.tables.columns import Mask, is_true
from prodex.tables.frames import to_frame

#: What can happen to a product under a check.
CHANGES = ("fixed", "newly failing", "still failing", "not comparable")

_PRODUCT = ["product_id", "gtin", "name", "owner_id", "owner", "brand_code", "brand", "kind_code", "kind"]


@dataclass(frozen=True, eq=False, repr=False)
class AuditComparison:
    """What changed between two audits.

    Attributes
    ----------
    old, new
        The audits.
    by_check
        One row per check: the number of products fixed, newly failing, still failing, not comparable, under `note` why
        a whole check is not comparable, and the problem that the check finds.
    added, gone
        Products of the new audit only, and of the old one only.
    said
        Why the figures are not fully comparable, as messages.

    Examples
    --------
    >>> import prodex
    >>> profile = {"checks": {"valid_gtin": {"severity": "blocker"}}}
    >>> before = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), profile)
    >>> after = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), profile)
    >>> prodex.diff(before, after).by_check[["check", "fixed"]].values.tolist()
    [['valid_gtin', 1]]
    """

    old: Audit
    new: Audit
    by_check: pd.DataFrame
    added: pd.DataFrame
    gone: pd.DataFrame
    said: tuple[Message, ...]
    _pairs: tuple[np.ndarray, np.ndarray] = field(repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Why the figures are not fully comparable, in English."""
        return tuple(map(str, self.said))

    @cached_property
    def law_changes(self) -> pd.DataFrame:
        """Checks whose law began or ended between the two audits: no product became better or worse by that.

        Returns
        -------
        pandas.DataFrame
            One row per check: law, check, the problem that it finds now, how it stood and how it stands ("announced",
            "in force", "ended"), its first and its last day, and how many products fail it now.

        Examples
        --------
        >>> import prodex
        >>> catalog, profile = prodex.flatten([{"id": 7}]), {"checks": {"has_gpc_brick": {"in_force": "2026-08-12"}}}
        >>> before, after = (prodex.audit(catalog, profile, as_of=day) for day in ("2026-08-11", "2026-08-12"))
        >>> prodex.diff(before, after).law_changes[["check", "was", "is", "failed"]].values.tolist()
        [['has_gpc_brick', 'announced', 'in force', 1]]
        """
        failed = dict(zip(self.new.by_check["check"], self.new.by_check["failed"], strict=True))
        rows = [
            (
                is_.law,
                is_.id,
                is_.problem,
                was.standing,
                is_.standing,
                is_.in_force,
                is_.until,
                failed[is_.id],
            )
            for was, is_ in _with_other_standing(self.old, self.new)
        ]
        columns = ["law", "check", "problem", "was", "is", "in_force", "until", "failed"]
        return pd.DataFrame(rows, columns=columns)

    def by_one_law(self) -> tuple[Audit, Audit]:
        """Return both audits by the laws of the new one, so that their figures differ by the products alone.

        A check that is asked on one of the two days only has no weight in either.

        Examples
        --------
        >>> import prodex
        >>> catalog, profile = prodex.flatten([{"id": 7}]), {"checks": {"has_gpc_brick": {"until": "2026-08-12"}}}
        >>> before, after = (prodex.audit(catalog, profile, as_of=day) for day in ("2026-08-12", "2026-08-13"))
        >>> [len(one.failures(severity="info")) for one in prodex.diff(before, after).by_one_law()]
        [1, 0]
        """
        pairs = _with_other_standing(self.old, self.new)
        others = {is_.id: is_ for _, is_ in pairs}
        gone = {one.id for both in pairs for one in both if one.standing == ENDED}
        if not others:
            return self.old, self.new

        def judged(check: Check) -> Check:
            then = others.get(check.id, check)
            if check.id in gone:
                return replace(check, severity="info", weight=0.0)
            return replace(check, severity=then.severity, weight=then.weight)

        old, new = (replace(one, checks=tuple(map(judged, one.checks))) for one in (self.old, self.new))
        return old, new

    def changes(self, *changes: str) -> pd.DataFrame:
        """Return one row for each product and check that changed or still fails.

        Parameters
        ----------
        *changes
            Which: "fixed", "newly failing", "still failing", "not comparable"; all by default.

        Returns
        -------
        pandas.DataFrame
            What the product is, check, severity, the states before and after, the change, and whether the finding is
            accepted now.
        """
        unknown = [change for change in changes if change not in CHANGES]
        if unknown:
            raise InputError(f"There is no change {unknown[0]!r}; give one of {', '.join(CHANGES)}.")
        frames = [frame for change in changes or CHANGES for frame in self._rows(change)]
        columns = [*_PRODUCT, "check", "problem", "severity", "was", "is", "change", "accepted"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)

    @property
    def completeness(self) -> pd.DataFrame:
        """How complete products were and are: one row per channel, family and language of both audits.

        `completeness_old` and `completeness_new` with the numbers behind them, and `change`, the difference. What only
        one of them requires has figures of that one alone.

        Raises
        ------
        QueryError
            When one of them was made without requirements.
        """
        tables = [one.completeness() for one in (self.old, self.new)]
        key = ["channel", tables[1].columns[1], tables[1].columns[2], "language"]
        figures = [
            "products",
            "complete",
            "incomplete",
            "unknown",
            "completeness",
        ]
        if tables[0].columns[1] != key[1]:
            raise InputError(
                f"The families of the two audits are told by {tables[0].columns[1]} and by {key[1]}, so they cannot be "
                "compared. Audit the earlier snapshot by the newer requirements."
            )
        # By code alone: the label of a family may have changed.
        old, new = (one.drop_duplicates([key[0], key[1], key[3]]) for one in tables)
        both = new[[*key, *figures]].merge(
            old[[key[0], key[1], key[3], *figures]],
            on=[key[0], key[1], key[3]],
            how="outer",
            suffixes=("_new", "_old"),
            sort=False,
        )
        both["change"] = both["completeness_new"] - both["completeness_old"]
        named = [f"{name}_{side}" for name in figures for side in ("old", "new")]
        return both[[*key, *named, "change"]]

    @property
    def figures(self) -> pd.DataFrame:
        """Products, score and readiness before and after, and how many failing cells are accepted now."""
        counts = [f"{name}_products" for name in ("ready", "not_ready", "undecided")]
        names = [
            "products",
            "score",
            "grade",
            "ready",
            *counts,
            "to_work_on",
            "failed",
            "unknown",
            "accepted",
        ]
        return pd.DataFrame({"old": self.old.summary[names], "new": self.new.summary[names]})

    def __repr__(self) -> str:
        from prodex.display.audit import comparison_text

        return comparison_text(self)

    def _repr_html_(self) -> str:
        from prodex.display.audit import comparison_html

        return comparison_html(self)

    def _rows(self, change: str) -> Iterator[pd.DataFrame]:
        before, after = self._pairs
        # Those that pass in the view with what is accepted.
        view = self.new.with_accepted() if self.new.has_accepted else self.new
        for old_place, new_place in _shared_checks(self.old, self.new):
            if not _is_asked_of_both(self.old, self.new, old_place, new_place):
                continue
            was = self.old.states[:, old_place][before]
            now = self.new.states[:, new_place][after]
            found = np.flatnonzero(_change_masks(was, now)[change])
            # Most checks of most audits did not change: no frame is made for them.
            if not len(found):
                continue
            check = self.new.checks[new_place]
            yield to_frame(self.new.identity.select(_PRODUCT).take(pa.array(after[found]))).assign(
                check=check.id,
                problem=str(check.problem),
                severity=check.severity,
                was=_state_words(was[found]),
                **{"is": _state_words(now[found])},
                change=change,
                accepted=now[found] != view.states[:, new_place][after[found]],
            )


def compare_audits(old: Audit, new: Audit) -> AuditComparison:
    """Compare two audits product by product and check by check.

    A product counts as fixed where it failed and no longer does, as newly failing where it did not fail and does.
    Where one side is unknown and the other fails, it is not comparable, and neither are checks that only one audit
    has.

    Parameters
    ----------
    old, new
        The audits, by the same profile if figures are to be compared.

    Returns
    -------
    AuditComparison
        Numbers by check, products added and gone, and every change.

    Examples
    --------
    >>> import prodex
    >>> profile = {"checks": {"valid_gtin": {}}}
    >>> old = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), profile)
    >>> new = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}, {"id": 8}]), profile)
    >>> compared = compare_audits(old, new)
    >>> compared.changes("fixed")["product_id"].tolist(), compared.added["product_id"].tolist()
    (['7'], ['8'])
    """
    for audit in (old, new):
        if not isinstance(audit, Audit):
            raise InputError(
                f"Give two audits, not a {type(audit).__name__}. prodex.audit(catalog) makes one."
            )
    theirs, ours = old.identity.select(_PRODUCT), new.identity.select(_PRODUCT)
    # By `product_id`: GTINs can be missing, wrong or repeated.
    was, is_ = (one["product_id"].combine_chunks() for one in (theirs, ours))
    was_first, is_first = _first_of_each(was), _first_of_each(is_)
    stays, is_old = (is_true(pc.is_in(one, other)) for one, other in ((was, is_), (is_, was)))
    after = np.flatnonzero(is_first & is_old)
    before = pc.index_in(is_.take(pa.array(after)), was).to_numpy().astype(np.int64)
    notes = list(_comparability_notes(old, new))
    if again := int(np.count_nonzero(~was_first)):
        said = Message.of_number(
            "The old audit has {number} product more than once; the first of each was compared.",
            "The old audit has {number} products more than once; the first of each was compared.",
            again,
        )
        notes.append(said)
    if again := int(np.count_nonzero(~is_first)):
        said = Message.of_number(
            "The new audit has {number} product more than once; the first of each was compared.",
            "The new audit has {number} products more than once; the first of each was compared.",
            again,
        )
        notes.append(said)
    # A product that was not chosen is neither added nor gone.
    counts = {np.count_nonzero(was_first), np.count_nonzero(is_first), len(after)}
    if len(counts) > 1:
        notes += _notes_on_products(old, new)
    if len(counts) > 1 and _chosen_words(old) != _chosen_words(new):
        scopes = {"old": old.scope_said, "new": new.scope_said}
        notes.append(
            Message("They are about other products. The old one: {old} The new one: {new}", **scopes)
        )
    return AuditComparison(
        old,
        new,
        _by_check(old, new, before, after),
        to_frame(ours.filter(pa.array(is_first & ~is_old))),
        to_frame(theirs.filter(pa.array(was_first & ~stays))),
        tuple(notes),
        (before, after),
    )


def _notes_on_products(old: Audit, new: Audit) -> Iterator[Message]:
    """Yield why a product that only one of two audits has need not have come or gone."""
    if old.origin.products_asked != new.origin.products_asked:
        yield Message(
            "The queries ask for different products: one that was added or is gone may only not have been asked for."
        )
    if not (old.origin.complete and new.origin.complete):
        yield Message("A load was incomplete: a product that one audit lacks need not be new or gone.")
    if len({old.origin.asked_by, new.origin.asked_by} - {None}) > 1:
        yield Message("Different access keys asked: what a service shows depends on who asks.")


def _first_of_each(ids: pa.Array) -> Mask:
    """Say which products are the first of their id: a catalogue that somebody put together may have one again."""
    return np.asarray(pc.index_in(ids, ids).to_numpy() == np.arange(len(ids)))


def _chosen_words(audit: Audit) -> str | None:
    return None if audit.chosen is None else audit.chosen.words


def _change_masks(was: np.ndarray, now: np.ndarray) -> dict[str, np.ndarray]:
    failed, fails = was == State.FAIL, now == State.FAIL
    # Unknown on one side is neither fixed nor newly failing: perhaps only the query was smaller.
    doubt = (was == State.UNKNOWN) | (now == State.UNKNOWN)
    return {
        "fixed": failed & ~fails & ~doubt,
        "newly failing": ~failed & fails & ~doubt,
        "still failing": failed & fails,
        "not comparable": doubt & (failed | fails),
    }


#: Why a check cannot be compared.
_LAW_ENDED = Message("its law ended between the two audits")
_LAW_HAD_ENDED = Message("its law had ended on the day of the old audit")
_ONLY_NEW, _ONLY_OLD = Message("only in the new audit"), Message("only in the old audit")
_NOTES = {str(one): one for one in (_LAW_ENDED, _LAW_HAD_ENDED, _ONLY_NEW, _ONLY_OLD)}


def _by_check(old: Audit, new: Audit, before: np.ndarray, after: np.ndarray) -> pd.DataFrame:
    rows: list[tuple[Any, ...]] = []
    for old_place, new_place in _shared_checks(old, new):
        check = new.checks[new_place]
        if not _is_asked_of_both(old, new, old_place, new_place):
            note = _LAW_ENDED if check.standing == ENDED else _LAW_HAD_ENDED
            rows.append((check.id, check.severity, 0, 0, 0, len(before), str(note), str(check.problem)))
            continue
        changed = _change_masks(old.states[:, old_place][before], new.states[:, new_place][after])
        counts = (int(changed[name].sum()) for name in CHANGES)
        rows.append((check.id, check.severity, *counts, None, str(check.problem)))
    for audit, other, note in ((new, old, _ONLY_NEW), (old, new, _ONLY_OLD)):
        there = {check.id for check in other.checks}
        own = [check for check in audit.checks if check.id not in there]
        rows += [(c.id, c.severity, 0, 0, 0, len(before), str(note), c.problem) for c in own]
    names = [name.replace(" ", "_") for name in CHANGES]
    frame = pd.DataFrame(rows, columns=["check", "severity", *names, "note", "problem"])
    return frame.astype({"note": "str"})


def _with_other_standing(old: Audit, new: Audit) -> list[tuple[Check, Check]]:
    """Return the checks of both audits whose law stood otherwise on the two days."""
    shared = ((old.checks[was], new.checks[is_]) for was, is_ in _shared_checks(old, new))
    return [(was, is_) for was, is_ in shared if was.standing != is_.standing]


def _is_asked_of_both(old: Audit, new: Audit, was: int, is_: int) -> bool:
    """Whether a check was not ended on one of the two days: what nobody asks for any more is not fixed by that."""
    return (old.checks[was].standing == ENDED) == (new.checks[is_].standing == ENDED)


def _shared_checks(old: Audit, new: Audit) -> list[tuple[int, int]]:
    places = {check.id: place for place, check in enumerate(old.checks)}
    return [(places[check.id], place) for place, check in enumerate(new.checks) if check.id in places]


def _comparability_notes(old: Audit, new: Audit) -> Iterator[Message]:
    if old.rule_set != new.rule_set:
        yield Message(
            "Rule sets differ ({old} and {new}): a rule may judge differently than before.",
            old=old.rule_set,
            new=new.rule_set,
        )
    if old.profile != new.profile:
        yield Message(
            "Profiles differ ({old} and {new}): the scores are not comparable.",
            old=old.profile,
            new=new.profile,
        )
    if old.grade_with_blocker != new.grade_with_blocker:
        yield Message(
            "The best grade of a product with a failing blocker differs ({old} and {new}): the grades are not "
            "comparable.",
            old=old.grade_with_blocker,
            new=new.grade_with_blocker,
        )
    if old.as_found is None and new.as_found is not None:
        yield Message(
            "What is accepted passes in the new audit only: compare two audits, or both with_accepted()."
        )
    if old.as_found is not None and new.as_found is None:
        yield Message(
            "What is accepted passes in the old audit only: compare two audits, or both with_accepted()."
        )
    if old.assumed != new.assumed:
        yield Message(
            "The assumptions for products whose data do not decide differ: other checks apply to them."
        )
    moved_by_law = {check.id for _, check in _with_other_standing(old, new)}
    weights = {check.id: (check.severity, check.weight, check.scope) for check in old.checks}
    other = [
        c.id
        for c in new.checks
        if c.id in weights and c.id not in moved_by_law and weights[c.id] != (c.severity, c.weight, c.scope)
    ]
    if other:
        yield Message.of_number(
            "Another severity, weight or scope than before: {number} check, {check} for one.",
            "Another severity, weight or scope than before: {number} checks, {check} for one.",
            len(other),
            check=other[0],
        )
    if not old.origin.complete:
        yield Message("The old catalogue is incomplete: {said}.", said=old.origin.ledger.said)
    if not new.origin.complete:
        yield Message("The new catalogue is incomplete: {said}.", said=new.origin.ledger.said)


def _state_words(states: np.ndarray) -> list[str]:
    words = [state.name.lower().replace("_", " ") for state in State]
    return [words[state] for state in states]


#: Shares that differ by less are the same: sums of weights are rounded.
_SAME = 1e-9


class Worsening(NamedTuple):
    """Whether an audit became worse, and why.

    Attributes
    ----------
    is_worse
        Whether the new one is worse; None where this cannot be decided.
    why
        One sentence for each figure that is worse, or for each reason why this cannot be decided.
    figures
        Score and readiness before and after, in words.
    """

    is_worse: bool | None
    why: tuple[Message, ...]
    figures: Message


def worsening(comparison: AuditComparison) -> Worsening:
    """Say whether the new audit is worse than the old one.

    Examples
    --------
    >>> import prodex
    >>> profile = {"checks": {"valid_gtin": {}}}
    >>> right = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359935"}]), profile)
    >>> wrong = prodex.audit(prodex.flatten([{"id": 7, "gtin": "03036811359936"}]), profile)
    >>> worsening(prodex.diff(right, wrong)).is_worse, worsening(prodex.diff(wrong, right)).is_worse
    (True, False)
    """
    old, new = comparison.old.summary, comparison.new.summary
    figures = Message(
        "score {moved}; {old} -> {new}",
        moved=moved(old["score"], new["score"]),
        old=readiness(old),
        new=readiness(new),
    )
    if len(comparison.law_changes):
        then, now = (one.summary for one in comparison.by_one_law())
        figures = Message(
            "{said} (by the laws of the new audit: score {moved})",
            said=figures,
            moved=moved(then["score"], now["score"]),
        )
    # Before the figures: those of another measure must not be compared at all.
    if measures := tuple(_measures(comparison)):
        return Worsening(None, measures, figures)
    # Before the doubts: a lower score is worse whatever else is undecided.
    if worse := tuple(_worse(comparison)):
        return Worsening(True, worse, figures)
    doubts = tuple(_reasons_to_doubt(comparison))
    return Worsening(None if doubts else False, doubts, figures)


def _measures(comparison: AuditComparison) -> Iterator[Message]:
    """Yield why the figures of the two audits do not measure the same."""
    # Other rules or weights can move every figure without any product having changed.
    yield from comparison.said
    moved_by_law = set(comparison.law_changes["check"])
    by_check = comparison.by_check.dropna(subset="note")
    for note, checks in by_check[~by_check["check"].isin(moved_by_law)].groupby("note"):
        yield Message.of_number(
            "{number} check {note}, {check} for one.",
            "{number} checks {note}, {check} for one.",
            len(checks),
            note=_NOTES[str(note)],
            check=checks["check"].iloc[0],
        )


def _worse(comparison: AuditComparison) -> Iterator[Message]:
    old, new = comparison.by_one_law()
    if new.score < old.score - _SAME:
        yield Message("The score is lower.")
    if _share_of_products(new.summary, "not_ready") > _share_of_products(old.summary, "not_ready") + _SAME:
        yield Message("More of the products are not ready.")


def _reasons_to_doubt(comparison: AuditComparison) -> Iterator[Message]:
    old, new = comparison.by_one_law()
    if math.isnan(old.score):
        yield Message("The earlier audit has no score: no check of it applies to a product and is known.")
    elif math.isnan(new.score):
        yield Message("The new audit has no score: no check of it applies to a product and is known.")
    if _share_of_products(new.summary, "undecided") > _share_of_products(old.summary, "undecided") + _SAME:
        yield Message("A larger share of the products is undecided.")
    asked_of_both = comparison.by_check[comparison.by_check["note"].isna()]
    if count := int(asked_of_both["not_comparable"].sum()):
        yield Message.of_number(
            "{number} answer of checks: failing on one side, and unknown on the other.",
            "{number} answers of checks: failing on one side, and unknown on the other.",
            count,
        )


def _share_of_products(figures: pd.Series, name: str) -> float:
    return float(figures[f"{name}_products"] / max(figures["products"], 1))
