"""Accepting findings of an audit: one, those of a check, or all of the products shown; and taking it back."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any

import pandas as pd

from prodex.display.audit import written_text
from prodex.errors import InputError
from prodex.notebook.session.actions import Block, Panel, Want, action, task
from prodex.notebook.session.readings import read_for, reading
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import box, button, heading, outcome, paragraph, typed_text, work
from prodex.notebook.views.drill_down import audited
from prodex.notebook.views.figures import AuditFigures, FindingNumbers, figures_of, figures_shown
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.products_left import shown_digest
from prodex.phrases import counted
from prodex.progress import PATIENCE, Reporter
from prodex.quality import Audit
from prodex.quality.accepted import file_beside
from prodex.quality.accepting import accept, withdraw
from prodex.untrusted_text import label
from prodex.written_dates import written_date

#: Findings of a check that are offered one by one: a longer list nobody reads, and filters narrow the products down.
_MOST = 200
_FORM, _SLOT, _FINDINGS = "acceptance", "quality.accept", "quality.findings"
#: By what a finding is found again.
_IDENTIFYING = ("product_id", "check", "attribute", "language", "value", "reason")

_EXPLAINED = (
    "An accepted finding fails still, and is marked: worklists leave it out, and figures are shown with and without "
    "it. It comes back when its value, what it was compared with, or its date changes."
)
_NO_REASON = "Say why these findings are right as they are, such as: printed so on the pack."
_GONE = "Nothing was done: this finding is not among those of the products that are shown now. Choose again."
_OTHERS = (
    "Nothing was done: other findings are meant by now than the button said, {findings} of {products}. Press again for "
    "these."
)
_IN_MEMORY = (
    "The catalogue is in memory, so there is no place beside it where it is kept what is accepted. Save the catalogue "
    "as a snapshot, and audit that."
)


def accepted_block(figures: AuditFigures) -> Block | None:
    """Return what is accepted, where nobody can accept more of it; nothing if nothing is."""
    return box(*_said(figures), key="acceptance-box") if len(figures.judged.accepted_reasons()) else None


def _said(figures: AuditFigures) -> tuple[Block, ...]:
    return (
        heading("Accepted findings"),
        paragraph(_EXPLAINED, key="explained", tone="muted"),
        paragraph(typed_text(figures.accepted), key="figures"),
    )


def acceptance_block(session: Session, figures: AuditFigures) -> Block | None:
    """Return what is accepted, with the form where more may be: which findings, why, until when."""
    if not session.can("acceptance.accept"):
        return accepted_block(figures)
    fields = _fields(session, figures)
    return box(
        *_said(figures),
        form(
            session,
            _FORM,
            fields,
            _button(session, figures, fields, "Accept", "acceptance.accept"),
            _button(session, figures, fields, "Withdraw", "acceptance.withdraw"),
            label="Accept findings",
        ),
        work(session, _SLOT),
        outcome(session, _SLOT, key="outcome"),
        key="acceptance-box",
    )


def _button(
    session: Session, figures: AuditFigures, fields: Sequence[FormField], verb: str, do: str
) -> Block:
    """Return a button that says how many findings it is about, with what names these and the products shown."""
    values = form_values(session, _FORM, fields)
    number, products = _numbers(figures, values, do)
    return button(
        f"{verb} {counted(number, 'finding')} of {counted(products, 'product')}",
        do,
        key=do,
        title="The findings that are chosen above, of the products that are shown",
        off="" if number else "There is none of these.",
        of=_of(session, figures, values, do),
    )


def _numbers(figures: AuditFigures, values: Mapping[str, Any], do: str) -> tuple[int, int]:
    """Return how many findings are meant, and of how many products."""
    if values["finding"]:
        return 1, 1
    numbers = figures.findings.get(values["check"], FindingNumbers())
    return numbers[:2] if do == "acceptance.accept" else numbers[2:]


def _of(session: Session, figures: AuditFigures, values: Mapping[str, Any], do: str) -> str:
    """Return what names the findings that are meant: the products, the audit, what is chosen, and their number."""
    meant = [shown_digest(session), figures.whole.now.isoformat(), values["check"], values["finding"]]
    return hashlib.sha256(repr([*meant, *_numbers(figures, values, do)]).encode()).hexdigest()[:24]


def acceptance_wants(session: Session) -> Iterable[Want]:
    """Return the findings of the chosen check, which are not listed yet."""
    figures = figures_of(session)
    if figures is None:
        return
    check = str(form_values(session, _FORM, _fields(session, figures))["check"])
    if check:
        yield reading(
            _FINDINGS, (figures.judged, check), partial(_listed, figures.judged, check), failed=None
        )


def _looked_at(session: Session) -> str:
    """Return the one check whose products are shown: whoever comes from it means its findings, and not those of all."""
    checks = [check for failing in session.conditions.failing for check in failing.checks]
    return checks[0] if len(checks) == 1 else ""


def _fields(session: Session, figures: AuditFigures) -> list[FormField]:
    options = [("", "All checks"), *figures.failing]
    chosen = session.typed.get(_FORM, {}).get("check", _looked_at(session))
    if chosen not in dict(options):
        chosen = ""
    listed = read_for(session, _FINDINGS, (figures.judged, chosen))
    every = [("", "All findings of the products shown")]
    return [
        FormField("check", "Check", "choice", chosen, options, do="acceptance.check"),
        FormField("finding", "Finding", "choice", "", [*every, *(listed.value if listed else ())]),
        FormField("reason", "Because", placeholder="why these findings are right as they are"),
        FormField("until", "Until", "date", hint="The last day; empty for good."),
    ]


def _listed(audit: Audit, check: str, _: Reporter) -> list[tuple[str, str]]:
    """Return the findings of a check of the products that are shown, as far as they are offered one by one."""
    # What is accepted is no finding of a view, and is taken back here.
    found = (audit.as_found or audit).failures(check=check)
    if len(found) > _MOST:
        return []
    return [*{finding_key(one): _in_words(one) for one in found.to_dict("records")}.items()]


def finding_key(finding: Mapping[Any, Any]) -> str:
    """Return by what a finding is named in a page: never by its place, and never by a value of any length."""
    cells = [None if pd.isna(finding[name]) else str(finding[name]) for name in _IDENTIFYING]
    return hashlib.sha256(repr(cells).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _in_words(finding: Mapping[Any, Any]) -> str:
    """Return a finding in one line of a list."""
    cells = (finding[name] for name in ("name", "gtin", "language", "value", "accepted"))
    name, gtin, language, value, accepted = ("" if pd.isna(one) else label(str(one)).text for one in cells)
    marked = f" (accepted: {accepted})" if accepted else ""
    return f"{name or gtin or finding['product_id']}{f', {language}' if language else ''}: {value or 'nothing'}{marked}"


@action("acceptance.check", is_quiet=True)
def choose_check(session: Session, value: str) -> Session:
    """Offer the findings of another check: all of them, first."""
    return session.with_typed(_FORM, check=value, finding="")


@task("acceptance.accept")
def accept_findings(app: Panel, of: str) -> None:
    """Accept the findings that are chosen, if they are those that the button spoke of."""
    whole, shown, values = _asked(app.session, "acceptance.accept", of)
    reason = required(values, _FORM, "reason", _NO_REASON)
    until = _day(values["until"], whole)
    if whole.accepted_findings is None and file_beside(whole.catalog_folder) is None:
        raise Refused(_IN_MEMORY, at=f"{_FORM}.check")
    _start(
        app,
        "Accepting",
        whole,
        lambda: accept(whole, _chosen(shown, values, accepted=False), reason=reason, until=until),
    )


@task("acceptance.withdraw")
def withdraw_findings(app: Panel, of: str) -> None:
    """Take back that the findings which are chosen are accepted, if they are those that the button spoke of."""
    whole, shown, values = _asked(app.session, "acceptance.withdraw", of)
    if not len(whole.accepted_reasons()):
        raise Refused("Nothing is accepted, so there is nothing to take back.", at=f"{_FORM}.check")
    reason = str(values["reason"] or "")
    _start(
        app,
        "Withdrawing",
        whole,
        lambda: withdraw(whole, _chosen(shown, values, accepted=True), reason=reason),
    )


def _asked(session: Session, do: str, of: str) -> tuple[Audit, Audit, dict[str, Any]]:
    # All findings of the products shown are meant, so it must be these.
    whole, figures = audited(session), figures_shown(session)
    values = form_values(session, _FORM, _fields(session, figures))
    if session.typed.get(_FORM, {}).get("finding", "") != values["finding"]:
        # All would be meant in place of one that is gone.
        raise Refused(_GONE, at=f"{_FORM}.finding")
    if of != _of(session, figures, values, do):
        number, products = _numbers(figures, values, do)
        raise Refused(
            _OTHERS.format(findings=counted(number, "finding"), products=counted(products, "product")),
            at=f"{_FORM}.check",
        )
    return whole, figures.judged, values


def _day(typed: object, audit: Audit) -> date | None:
    text = str(typed or "").strip()
    if not text:
        return None
    at = f"{_FORM}.until"
    try:
        day = written_date(text)
    except InputError as error:
        raise Refused(str(error), at=at) from error
    day = date(day.year, day.month, day.day)
    if day < audit.now.date():
        raise Refused(f"{day} is before the day of the audit, {audit.now:%Y-%m-%d}. Give a later one.", at=at)
    return day


def _start(app: Panel, title: str, whole: Audit, do: Callable[[], Audit]) -> None:
    """Write what is accepted, and show the same audit with it."""

    def done(session: Session, now: Audit) -> Session:
        file = now.accepted_findings
        said = ""
        if file is not None:
            words = "" if file.written is None else f"{written_text(file.written)}. "
            said = f"{words[:1].upper()}{words[1:]}The file is {file.path}."
        session = session.noting(said, section=_SLOT)
        # Another audit may be shown by now; what was written is in its file all the same.
        return session.replaced(audit=now) if session.audit is whole else session

    app.change(lambda session: session.noting("", section=_SLOT))
    app.run(_SLOT, lambda _: do(), done, title=title, failed=_failed, after=PATIENCE)


def _chosen(shown: Audit, values: Mapping[str, Any], *, accepted: bool) -> pd.DataFrame:
    found = (shown.as_found or shown).failures(**({"check": values["check"]} if values["check"] else {}))
    if not values["finding"]:
        # What somebody has accepted keeps its reason, unless it is chosen by itself.
        return found[found["accepted"].notna() == accepted]
    chosen = [finding_key(one) == values["finding"] for one in found.to_dict("records")]
    if not any(chosen):
        raise Refused(_GONE)
    return found[chosen]


def _failed(session: Session, error: BaseException) -> Session:
    return session.noting(error_text(error), is_problem=True, section=_SLOT)
