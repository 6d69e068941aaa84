"""What an audit found of one product, as a card shows it: its figures, failed checks with findings, and all others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import ENGLISH
from prodex.languages.labels import attribute_title
from prodex.locales import short_of
from prodex.notebook.session.actions import Block
from prodex.notebook.views.blocks import listed, paragraph, row, typed_text
from prodex.notebook.views.card_blocks import details, mark, marked, part, spaced
from prodex.phrases import counted, percent
from prodex.quality import Audit, Check
from prodex.quality.audit_part import AuditPart
from prodex.quality.failures import failure_rows
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import counted as tallied
from prodex.quality.scores import grades_of
from prodex.quality.states import State
from prodex.untrusted_text import Words, label, words

#: A product with texts in a hundred languages can have a finding in each of them.
_MOST_FINDINGS = 200

#: A finding, as `Audit.failures` has it.
_Finding = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class ProductAudit:
    """The result of an audit for a product.

    Attributes
    ----------
    checks
        The checks of the audit, with the state of each.
    figures
        Score, grade, and whether the product is ready, in words.
    findings
        Why checks fail.
    crashes
        Of rules that crashed, what they said, by check.
    """

    checks: tuple[tuple[Check, int], ...]
    figures: Mapping[str, str]
    findings: Sequence[_Finding]
    crashes: Mapping[str, Words]

    def having(self, *states: State) -> list[Check]:
        """Return the checks that have one of some states, in the order of the states."""
        return [one for wanted in states for one, state in self.checks if state == wanted]

    @property
    def failed(self) -> list[tuple[Check, list[_Finding]]]:
        """The failed checks, the gravest first, each with its findings, as far as they are shown."""
        found: dict[str, list[_Finding]] = {}
        for one in self.findings[:_MOST_FINDINGS]:
            found.setdefault(one["check"], []).append(one)
        severities = list(SEVERITIES)
        failing = sorted(self.having(State.FAIL), key=lambda one: severities.index(one.severity))
        return [(one, found.get(one.id, [])) for one in failing]

    @property
    def wanted(self) -> list[tuple[str, str | None]]:
        """The attributes and languages of texts that the checks look for."""
        looked = self.having(State.FAIL, State.PASS, State.UNKNOWN)
        pairs = ((one.attribute, one.language) for one in looked)
        return [*dict.fromkeys((name, language) for name, language in pairs if name and language)]

    def problems(self) -> dict[tuple[str, str | None], list[dict[str, str]]]:
        """Return what was found in texts, by the title of their attribute and their language."""
        made: dict[tuple[str, str | None], list[dict[str, str]]] = {}
        for check, findings in self.failed:
            problem = {"severity": str(check.severity), "title": str(check.problem)}
            for one in findings:
                if one["attribute"] is not None and one["language"] is not None:
                    language = short_of(label(one["language"]).text)
                    own = made.setdefault((_title(one).text, language), [])
                    if problem not in own:
                        own.append(problem)
        return made


def read_product_audit(audit: Audit, product_id: str) -> ProductAudit | None:
    """Return the result of an audit for a product, or None if the audit does not cover it."""
    for one in audit.parts:
        place = pc.index(one.column("product_id"), pa.scalar(product_id)).as_py()
        if place >= 0:
            # A part with one product: a card cannot disagree with its audit.
            return next(_product_audits(audit, one.taken(np.arange(one.size) == place)))[1]
    return None


class ProductAudits:
    """The results of an audit for all of its products, of which each is asked for in turn.

    Its parts are read as far as they are needed: in the order of a catalogue, which is mostly theirs.
    """

    def __init__(self, audit: Audit) -> None:
        self._left = (found for one in audit.parts for found in _product_audits(audit, one))
        self._read: dict[str, ProductAudit] = {}

    def of(self, product_id: str) -> ProductAudit | None:
        """Return the result for a product, or None if the audit does not cover it."""
        while product_id not in self._read and (found := next(self._left, None)) is not None:
            self._read[found[0]] = found[1]
        return self._read.pop(product_id, None)


def _product_audits(audit: Audit, one: AuditPart) -> Iterator[tuple[str, ProductAudit]]:
    """Yield the products of a part, each with its result."""
    tally = tallied([one.states], audit.checks)
    rows: dict[str, list[_Finding]] = {}
    for finding in failure_rows(one, audit.checks, accepted=audit.accepted_in(one)).to_pylist():
        rows.setdefault(finding["product_id"], []).append(finding)
    # A rule may be one of the user: its message is as long as it likes.
    crashes = {crash.check: words(crash.message, 1_000) for crash in one.crashes}
    figures = tally[["score", "not_ready", "undecided"]].itertuples(index=False, name=None)
    for product_id, grade, states, (score, not_ready, undecided) in zip(
        one.column("product_id").to_pylist(),
        grades_of(tally, audit.grade_with_blocker),
        one.states.tolist(),
        figures,
        strict=True,
    ):
        # An unknown blocker leaves it undecided: neither "yes" nor "no" would be true.
        ready = "no" if not_ready else "undecided" if undecided else "yes"
        shown = {"Score": percent(float(score)), "Grade": grade or "none", "Ready": ready}
        checks = tuple(zip(audit.checks, states, strict=True))
        yield product_id, ProductAudit(checks, shown, rows.get(product_id, []), crashes)


def quality_part(it: ProductAudit | None, profile: str) -> Block:
    """Return what an audit by a profile found, or that it does not cover the product."""
    if it is None:
        none = paragraph("The audit does not cover this product.", key="not-covered", tone="muted")
        return part("Quality", none, note=f"by {profile}", look="quality")
    failed, every = it.failed, len(it.findings)
    ready = {"yes": "good", "no": "bad"}.get(it.figures["Ready"], "")
    tiles = [
        [
            mark(title, "muted"),
            " ",
            mark(said, f"figure {ready if title == 'Ready' else ''}".strip(), key="words"),
        ]
        for title, said in {**it.figures, "To fix": f"{len(failed):,}"}.items()
    ]
    shown = f"{_MOST_FINDINGS:,} of {every:,} findings shown."
    others = (
        _checks("unknown", it.having(State.UNKNOWN), it.crashes),
        _checks("not applicable", it.having(State.NOT_APPLICABLE)),
        _checks("passed", it.having(State.PASS)),
    )
    return part(
        "Quality",
        listed(tiles, key="tiles", tone="card-tiles"),
        paragraph(shown, key="shown", tone="muted") if every > _MOST_FINDINGS else None,
        listed((_failed(*one) for one in failed), key="failed", tone="failed")
        or paragraph("No failing checks.", key="none"),
        row(*others, key="folded", look="folded"),
        note=f"by {profile}",
        look="quality",
    )


def _failed(check: Check, findings: Sequence[_Finding]) -> list[Any]:
    fix = [mark("How to fix it: ", "muted"), ENGLISH.say_again(check.fix)]
    return [
        mark(check.severity, f"severity {check.severity}"),
        " ",
        mark(ENGLISH.say_again(check.problem), "strong"),
        listed(map(_finding, findings), key="findings", tone="findings"),
        paragraph(fix, key="fix") if check.fix else None,
    ]


def _finding(one: _Finding) -> list[Any]:
    """Return a reason why a check fails: attribute, language, what is wrong, and the value found."""
    accepted = "" if one["accepted"] is None else f" (accepted by {one['accepted_by']}: {one['accepted']})"
    value = words(one["value"], 2_000)
    return spaced(
        marked(_title(one), "muted", key="what"),
        marked(label(one["language"]), "lang"),
        typed_text(words(f"{one['reason']}{accepted}", 2_000)),
        None if value.is_missing else [mark("found: ", "muted", key="found"), typed_text(value)],
    )


def _title(one: _Finding) -> Words:
    return label(None if one["attribute"] is None else attribute_title(one["attribute"]))


@lru_cache(1_000)
def _check(one: Check, with_scope: bool) -> list[Any]:
    """Return what is said of a check on the card of every product that it says nothing of."""
    scope = f"; applies to {one.scope}" if one.scope and with_scope else ""
    block = mark(f"{one.block}{scope}", "small muted", key="block")
    return spaced(ENGLISH.say_again(one.title), block)


def _checks(title: str, checks: Sequence[Check], crashes: Mapping[str, Words] | None = None) -> Block | None:
    def about(one: Check) -> list[Any]:
        said = _check(one, title == "not applicable")
        crash = (crashes or {}).get(one.id)
        return [*said, " ", mark(["Rule crashed: ", typed_text(crash)], "small")] if crash else said

    inside = listed(map(about, checks), key="checks", tone="checks")
    return inside and details(f"{counted(len(checks), 'check')} {title}", inside, key=f"checks {title}")
