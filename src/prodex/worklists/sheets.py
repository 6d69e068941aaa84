"""What the sheets of a worklist say before it is written: the explanations, the summary and the rows, as values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.facts.market import market_label
from prodex.languages import ENGLISH, Message, Said, Translation
from prodex.locales import known_language_tag, market_name
from prodex.quality.rulebook import SEVERITIES
from prodex.quality.scores import CAVEAT, FORMULA, readiness
from prodex.worklists.answer_fields import AnswerCell
from prodex.worklists.grid import WorkbookCells
from prodex.worklists.layout import DELETE_WORD, SEVERAL, SEVERAL_SHEET, TO_FIX, TO_FIX_SHEET


def _how_to_fill_in(words: Translation, *, has_several: bool) -> list[str]:
    """Return what somebody has to know who fills in a worklist, which has a sheet for several rows at once or not."""
    _ = words.gettext
    several_sheet, delete = _(SEVERAL_SHEET), _(DELETE_WORD)
    several = _(
        'Where several rows ask for the same, the sheet "{sheet}" takes one answer for all of them. What is '
        "written in a row itself counts before it.",
        sheet=several_sheet,
    )
    return [
        _(
            'Go to the sheet "{sheet}". Each row is one finding: the product and field, the current value, what is '
            "expected, and how to fix it. The most severe findings come first.",
            sheet=_(TO_FIX_SHEET),
        ),
        _(
            'Enter the correct value in the column "New value", as "How to answer" says; leave it empty where nothing '
            "changes. {delete} removes a text. Rows may be sorted and removed.",
            delete=delete,
        ),
        *[several] * has_several,
        _(
            "Cells in grey cannot be filled in: a GTIN, a status or a date of the service is corrected at its source. "
            "If an update of the field waits for acceptance, there is nothing to answer before it is accepted or "
            "rejected."
        ),
        _(
            'Where a value is right as it is, say why in the column "Accept because", and leave "New value" empty: '
            "whoever sent this list decides."
        ),
        _(
            "Where the possible values of a field are known, the cell offers them; for texts it states the longest "
            "length."
        ),
        _(
            "The sheet is protected without a password, so that rows and their keys stay together; filters work. "
            "Review > Unprotect Sheet removes the protection. A hidden column says which product, text and language "
            "a row is about, so that it is recognized wherever it is."
        ),
        _(
            "Send the workbook back: it is read as it is, and whatever cannot be used is returned with the reason."
        ),
    ]


#: What groups are called, and those products that are in none.
_GROUPS: Mapping[str, tuple[Said, Said]] = {
    "owner": (Message("owner"), Message("without owner")),
    "owner_id": (Message("owner_id"), "without owner_id"),
    "brand": (Message("brand"), Message("without brand")),
    "brand_code": (Message("brand_code"), "without brand_code"),
    "kind": (Message("kind"), Message("without kind")),
    "GPC brick": (Message("GPC brick"), "without GPC brick"),
    "market": (Message("market"), Message("without market")),
    "tag": (Message("tag"), Message("without tag")),
    "language": (Message("language"), Message("without language")),
    "packaging": (Message("packaging"), "without packaging"),
}


def group_names(by: str) -> tuple[Said, Said]:
    """Return what a group is called, and the products that are in none."""
    return _GROUPS.get(by, (by, f"without {by}"))


#: Findings that ask for no answer, in sentences.
_APART = (AnswerCell.WAITS, AnswerCell.AT_SOURCE)


@dataclass(frozen=True, eq=False)
class Worklist:
    """The findings of one group.

    Attributes
    ----------
    by, code, label
        The grouping, and code and label of the group; None for the products without a group.
    name
        Name of its files, without ending.
    rows
        The findings as `rows.QUESTIONS`, numbered; as `WORKLIST` once they are in words.
    checks
        The checks that have found them.
    figures
        The row of `Audit.scores` for a group of products; empty for a language.
    of_all
        The same of all its products, where only some were chosen; else empty.
    scope
        Which products of the audit were chosen, in a sentence; None for all of them.
    chosen_by
        By what, in words.
    words
        The language in which it is written.
    """

    by: str
    code: str | None
    label: str | None
    name: str
    rows: pa.Table
    figures: Mapping[Any, Any]
    checks: Sequence[Any] = ()
    of_all: Mapping[Any, Any] = field(default_factory=dict)
    scope: Message | None = None
    chosen_by: tuple[Said, ...] = ()
    words: Translation = ENGLISH

    @property
    def is_part(self) -> bool:
        """Whether only some products of the group were chosen, and the figures of all are known as well."""
        return bool(self.of_all) and int(self.figures["products"]) < int(self.of_all["products"])

    @property
    def about(self) -> str | None:
        """Which products of the group the worklist is about, in a sentence; None where nothing was chosen."""
        _ = self.words.gettext
        if self.scope is None or not self.of_all:
            return None if self.scope is None else self.words.say(Message("Scope: {said}", said=self.scope))
        chosen_by = Message(", chosen by: {conditions}", conditions=self.chosen_by)
        by = self.words.say(chosen_by) if self.chosen_by else ""
        every = self.words.ngettext("{number} product", "{number} products", int(self.of_all["products"]))
        if not self.is_part:
            return _(
                "Scope: all {every_product} of {owner}{chosen_by}.",
                every_product=every,
                owner=self.called,
                chosen_by=by,
            )
        return _(
            "Scope: {chosen} of the {every_product} of {owner}{chosen_by}. Of the others this worklist says nothing.",
            chosen=int(self.figures["products"]),
            every_product=every,
            owner=self.called,
            chosen_by=by,
        )

    @property
    def called(self) -> str:
        """The group in a sentence: by its label, where it has one."""
        return self.shown_label or self.title

    @property
    def shown_label(self) -> str | None:
        """The label of the group, in the language of the worklist where the CLDR has it."""
        if self.words.is_english or self.label is None or self.code is None:
            return self.label
        if self.by == "language":
            return self.words.language_label(self.code)
        return market_name(self.code, self.words.language) if self.by == "market" else self.label

    @property
    def title(self) -> str:
        """The group, as it is shown."""
        by, without = group_names(self.by)
        if self.code is None:
            return self.words.say(without)
        return (
            f"{self.words.say(by)} {self.code}"
            if self.label in {None, self.code}
            else f"{self.shown_label} ({self.code})"
        )

    @cached_property
    def products(self) -> int:
        """Number of products with findings."""
        return len(pc.unique(self.rows["product_id"]))

    @cached_property
    def failing_checks(self) -> int:
        """Number of failing checks of products: a product can fail a check by several findings."""
        return len(self.rows.group_by(["product_id", "check"], use_threads=False).aggregate([]))

    @property
    def has_several(self) -> bool:
        """Whether rows ask for the same, so that its workbook has the sheet where they are answered at once."""
        return bool(self.rows["same_answer"].null_count < len(self.rows))

    @cached_property
    def by_severity(self) -> Mapping[str, int]:
        """The number of findings of each severity that occurs."""
        return Counter(self.rows["severity"].to_pylist())


@dataclass(frozen=True)
class WorklistFacts:
    """The facts that all worklists of an audit share.

    Attributes
    ----------
    facts
        Names and values: catalogue, moment, profile, rule set.
    left_out
        What the worklists do not contain, and why.
    notes
        How reliable the figures are.
    """

    facts: Sequence[tuple[Said, Said]]
    left_out: Sequence[Said]
    notes: Sequence[Said]


def summary_rows(worklist: Worklist) -> list[dict[str, Any]]:
    """Return one row per check: severity, check, the problem, what should be true, products, findings, how to fix."""
    keys = ["severity", "check", "problem", "title", "fix"]
    # "all" counts products without a GTIN as well.
    counted = worklist.rows.group_by(keys, use_threads=False).aggregate(
        [("product_id", "count_distinct", pc.CountOptions(mode="all")), ("row", "count")]
    )
    named = {"product_id_count_distinct": "products", "row_count": "findings"}
    rows = counted.rename_columns([named.get(name, name) for name in counted.column_names]).to_pylist()
    order = {name: place for place, name in enumerate(SEVERITIES)}
    return sorted(
        rows, key=lambda row: (order.get(row["severity"], len(order)), -row["products"], row["check"])
    )


def summary_sentences(worklist: Worklist, states: Sequence[AnswerCell]) -> list[str]:
    """Summarize the group in sentences; `states` are those of the cells "New value", one for each finding."""
    words, figures, is_part = worklist.words, worklist.figures, worklist.is_part
    _ = words.gettext
    findings = words.ngettext("{number} finding", "{number} findings", len(worklist.rows))
    fails = {
        "findings_counted": findings,
        "checks_counted": words.ngettext(
            "{number} failing check", "{number} failing checks", worklist.failing_checks
        ),
    }
    sentences = [] if worklist.about is None else [worklist.about]
    if not figures:
        some = words.ngettext(
            "{number} product has something to fix: {findings_counted} in {checks_counted}.",
            "{number} products have something to fix: {findings_counted} in {checks_counted}.",
            worklist.products,
            **fails,
        )
    elif is_part:
        some = words.ngettext(
            "{products} of {number} chosen product has something to fix: {findings_counted} in {checks_counted}.",
            "{products} of {number} chosen products have something to fix: {findings_counted} in {checks_counted}.",
            int(figures["products"]),
            products=worklist.products,
            **fails,
        )
    else:
        some = words.ngettext(
            "{products} of {number} product has something to fix: {findings_counted} in {checks_counted}.",
            "{products} of {number} products have something to fix: {findings_counted} in {checks_counted}.",
            int(figures["products"]),
            products=worklist.products,
            **fails,
        )
    sentences.append(some)
    # More products than are listed: there are several, so that these sentences need no form for one.
    if figures and worklist.products < int(figures["to_work_on"]):
        every = {"every": int(figures["to_work_on"]), "of": int(figures["products"])}
        sentences.append(
            _(
                "By all checks {every} of {of} chosen products have something to fix; not all is listed here.",
                **every,
            )
            if is_part
            else _(
                "By all checks {every} of {of} products have something to fix; not all is listed here.",
                **every,
            )
        )
    counts = [
        _("{count} {severity}", count=count, severity=_(name))
        for name in SEVERITIES
        if (count := worklist.by_severity.get(name))
    ]
    sentences.append(_("By severity: {counts_listed}.", counts_listed=", ".join(counts)))
    cells = Counter(states)
    apart = {
        AnswerCell.WAITS: _(
            "Nothing to answer, since an update waits for acceptance: {count}.", count=cells[AnswerCell.WAITS]
        ),
        AnswerCell.AT_SOURCE: _("To correct at the source: {count}.", count=cells[AnswerCell.AT_SOURCE]),
    }
    asked = _(
        "To answer: {count} of {findings_counted}.", count=cells[AnswerCell.ASKED], findings_counted=findings
    )
    sentences.append(" ".join([asked, *(apart[state] for state in _APART if cells[state])]))
    if figures:
        score = {
            "score": words.percent(float(figures["score"])),
            "readiness": words.say(readiness(figures)),
        }
        sentences.append(
            _(
                "Chosen products: score {score}; {readiness}: by all checks of the profile, not only those "
                "listed here.",
                **score,
            )
            if is_part
            else _(
                "Score {score}; {readiness}: by all checks of the profile, not only those listed here.",
                **score,
            )
        )
    if is_part:
        of_all = worklist.of_all
        sentences.append(
            _(
                "All products of {owner}: {every} of {of} have something to fix; score {score}; {readiness}.",
                owner=worklist.called,
                every=int(of_all["to_work_on"]),
                of=int(of_all["products"]),
                score=words.percent(float(of_all["score"])),
                readiness=words.say(readiness(of_all)),
            )
        )
    return sentences


def read_me_lines(
    worklist: Worklist, facts: WorklistFacts, states: Sequence[AnswerCell], unshown: Sequence[str]
) -> list[tuple[str, list[str]]]:
    """Return the headings of the sheet "Read me", each with its lines.

    Parameters
    ----------
    worklist
        The worklist.
    facts
        What all worklists have in common.
    states
        The states of the cells "New value", one for each finding.
    unshown
        What this workbook could not show in full.
    """
    words = worklist.words
    _ = words.gettext
    where = [
        _("{name}: {value}", name=words.say(name), value=words.say(value)) for name, value in facts.facts
    ]
    left_out, notes = (list(map(words.say, some)) for some in (facts.left_out, facts.notes))
    severities = _(
        "Blocker: the product cannot be used as it is. Error: wrong or missing. Warning: probably wrong. Info: for "
        "information."
    )
    formula = _("{name}: {value}", name=_("Formula"), value=_(FORMULA))
    return [
        (_("What to fix: {owner}", owner=worklist.title), summary_sentences(worklist, states)),
        (
            _("How to fill it in"),
            _how_to_fill_in(words, has_several=worklist.has_several),
        ),
        (_("Where it comes from"), where),
        (_("What is left out"), left_out),
        (_("How to read it"), [severities, f"{formula}.", _(CAVEAT), *notes, *unshown]),
    ]


#: What the sheet does not show: a cell takes what its attribute is, and rows that are alike are answered at once.
_BESIDE = ("attribute", "same_answer")


def sheet_columns(rows: pa.Table, words: Translation = ENGLISH) -> dict[str, pa.Array]:
    """Return the columns of the sheet "To fix", and those by which its cells are made, as text.

    Markets and languages have their names.
    """
    names = (*(column.name for column in TO_FIX), *_BESIDE)
    columns = {name: rows[name].combine_chunks().cast(pa.string()) for name in names}
    columns["market"] = _renamed_values(columns["market"], lambda market: _named_market(market, words))
    columns["language"] = _renamed_values(
        columns["language"], lambda language: _named_language(language, words)
    )
    return columns


def _renamed_values(values: pa.Array, named: Callable[[str], str]) -> pa.Array:
    encoded = values.dictionary_encode()
    names = [None if one is None else named(one) for one in encoded.dictionary.to_pylist()]
    return pa.array(names, pa.string()).take(encoded.indices)


def _named_market(market: str, words: Translation) -> str:
    if (name := market_label(market)) == market:
        return market
    return f"{market} {name if words.is_english else market_name(market, words.language)}"


def _named_language(language: str, words: Translation) -> str:
    """Return the name of a language if the reader of answers recognizes it; else its code."""
    name = words.language_label(language)
    return name if known_language_tag(name) == language else language


def rows_for_several(columns: Mapping[str, WorkbookCells]) -> list[dict[str, Any]]:
    """Return the rows of the sheet "Several at once": what several findings ask for alike, the most findings first.

    Parameters
    ----------
    columns
        The columns of the sheet "To fix", as cells show them.
    """
    names = [*(column.name for column in SEVERAL if column.name in columns), "attribute"]
    number: Counter[str] = Counter()
    first: dict[str, dict[str, Any]] = {}
    for row in zip(*(columns[name].texts.to_pylist() for name in names), strict=True):
        about = dict(zip(names, row, strict=True))
        if (key := about["same_answer"]) is not None:
            number[key] += 1
            first.setdefault(key, {**about, "new_value": None})
    return [{**first[key], "rows": rows} for key, rows in number.most_common()]
