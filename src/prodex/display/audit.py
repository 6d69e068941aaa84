"""How an audit shows itself: the figures, the five largest gaps, and how far they can be trusted.

Whatever a supplier typed is escaped, and a notebook is told to leave formulas in it alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from prodex.display_text import on_one_line
from prodex.quality.scores import CAVEAT, FORMULA

if TYPE_CHECKING:
    import pandas as pd

    from prodex.quality.audit import Audit

_SHOWN, _LONG = 5, 200
_STYLE = (
    ".prodex-audit table{border-collapse:collapse;margin-top:.5em}"
    ".prodex-audit table td,.prodex-audit table th{padding:.15em .8em .15em 0;text-align:left}"
    ".prodex-audit table td.n,.prodex-audit table th.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".prodex-audit .warn{font-weight:bold}.prodex-audit .note{opacity:.75}"
)


def percent(share: float) -> str:
    """Write a share in per cent, never rounded up to all or down to none.

    >>> percent(0.612), percent(0.9999), percent(0.0001), percent(float("nan"))
    ('61.2 %', '99.9 %', '0.1 %', 'none')
    """
    if math.isnan(share):
        return "none"
    if 0 < share < 1:
        return f"{min(max(share, 0.001), 0.999) * 100:.1f} %"
    return f"{share * 100:.0f} %"


def counted(number: int, noun: str) -> str:
    """Write a number of things.

    >>> counted(1, "product"), counted(12000, "product")
    ('1 product', '12,000 products')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def readiness(figures: Mapping[Any, Any] | pd.Series) -> str:
    """Say how many products are ready, how many are not, and of how many nobody can say; the parts are all.

    >>> readiness({"ready_products": 61, "not_ready_products": 30, "undecided_products": 9, "products": 100})
    'ready 61, not ready 30, undecided 9 of 100'
    """
    ready, not_ready, undecided = (
        f"{int(figures[f'{name}_products']):,}" for name in ("ready", "not_ready", "undecided")
    )
    return f"ready {ready}, not ready {not_ready}, undecided {undecided} of {int(figures['products']):,}"


def moved(before: float, after: float) -> str:
    """Write what became of a share; a figure that would read as before says how far it moved.

    >>> moved(0.61, 0.632), moved(0.99512, 0.99514), moved(0.5, 0.5), moved(float("nan"), 0.5)
    ('61.0 -> 63.2 %', '99.5 % (under +0.01 points)', '50.0 % as before', 'none -> 50.0 %')
    """
    if percent(before) != percent(after):
        return f"{percent(before).removesuffix(' %')} -> {percent(after)}"
    is_same = before == after or math.isnan(after)
    return f"{percent(after)} as before" if is_same else f"{percent(after)} ({points(after - before)})"


def points(step: float) -> str:
    """Write how far a share moved, in points of a hundred.

    >>> points(0.005), points(-0.25), points(0.00001)
    ('+0.50 points', '-25.00 points', 'under +0.01 points')
    """
    if abs(step) < 0.00005:
        return f"under {'+' if step > 0 else '-'}0.01 points"
    return f"{step * 100:+.2f} points"


def text_of(audit: Audit) -> str:
    """Return an audit in words."""
    headline, *others = [line for line, _ in lines(audit)]
    found = audit.gaps()
    rows = [_gap(row) for row in found.head(_SHOWN).to_dict("records")]
    width = max((len(row[0]) for row in rows), default=0)
    shown = [f"  {problem:<{width}}  {count:>17}  if fixed: {brings}" for problem, count, brings in rows]
    return "\n".join(map(on_one_line, [headline, *others, *_gaps_title(len(found)), *shown, *notes(audit)]))


def html_of(audit: Audit) -> str:
    """Return an audit as a small table for a notebook."""
    (headline, _), *others = lines(audit)
    found = audit.gaps()
    told = "".join(f"<div{' class=warn' if warn else ''}>{escape(line)}</div>" for line, warn in others)
    rows = "".join(
        f"<tr><td>{escape(problem)}</td><td class='n'>{count}</td><td>{escape(brings.replace('->', '→'))}</td></tr>"
        for problem, count, brings in map(_gap, found.head(_SHOWN).to_dict("records"))
    )
    table = "".join(
        f"<div>{escape(title)}</div><table><thead><tr><th scope='col'>problem</th>"
        "<th scope='col' class='n'>failing</th><th scope='col'>if fixed</th></tr></thead>"
        f"<tbody>{rows}</tbody></table>"
        for title in _gaps_title(len(found))
    )
    footnotes = "".join(f"<div class='note'>{escape(note)}</div>" for note in notes(audit))
    return (
        f"<div class='prodex-audit mathjax_ignore'><style>{_STYLE}</style>"
        f"<div><strong>{escape(headline)}</strong></div>{told}{table}{footnotes}</div>"
    )


def lines(audit: Audit) -> list[tuple[str, bool]]:
    """Return what is said before the gaps, each line with whether it is a warning."""
    figures = audit.summary
    told = [
        (
            f"Audit of {counted(len(audit), 'product')} by {counted(len(audit.checks), 'check')} ({audit.profile})",
            False,
        ),
        (_figures(figures), False),
        (f"from {audit.origin.source}, as of {audit.now:%Y-%m-%d %H:%M}", False),
    ]
    if not audit.origin.complete:
        told.append((f"incomplete: {audit.origin.ledger}", True))
    if figures["unknown"]:
        unknown = (
            f"{figures['checks_unknown']} of {len(audit.checks)} checks unknown for all products: what they look at "
            f"was not asked for, or nothing decides whom they are about{', or the rule crashed' * bool(audit.crashes)}"
        )
        cells = f"{figures['unknown']:,} of {len(audit) * len(audit.checks):,} answers are unknown"
        told.append((unknown, True) if figures["checks_unknown"] else (cells, False))
    homeless = sum(part.products["market"].null_count for part in audit.parts)
    if homeless and any("market = " in check.scope for check in audit.checks):
        told.append(
            (
                f"the market of {counted(homeless, 'product')} is not known: checks for a market cannot judge them",
                True,
            )
        )
    if figures["undecided_products"]:
        told.append(
            (
                f"{counted(figures['undecided_products'], 'product')} of which nobody can say whether they are ready",
                True,
            )
        )
    crashed: dict[str, str] = {crash.check: crash.message for crash in audit.crashes}
    told += [
        (f"rule crashed: {check}: {_plain(message)}", True)
        for check, message in list(crashed.items())[:_SHOWN]
    ]
    if len(crashed) > _SHOWN:
        told.append((f"{_SHOWN} of {len(crashed)} crashed checks shown; all in audit.crashes", True))
    return told


def _figures(figures: pd.Series) -> str:
    grade = figures["grade"] if isinstance(figures["grade"], str) else "none"
    share = "" if math.isnan(figures["ready"]) else f" ({percent(figures['ready'])} ready)"
    return (
        f"{readiness(figures)}{share}, score {percent(figures['score'])} (grade {grade}), "
        f"{counted(figures['to_work_on'], 'product')} to work on"
    )


def notes(audit: Audit) -> list[str]:
    """Return the footnotes that stand under every score."""
    own = sum(not check.shipped for check in audit.checks)
    rules = f"Rule set {audit.rule_set}" + (f" and {counted(own, 'own check')}" if own else "")
    best = audit.grade_with_blocker
    limit = "" if best == "A" else f" A product with a failing blocker has grade {best} at best."
    told = [f"{FORMULA}.{limit} {rules}. {CAVEAT}"]
    if audit.assumed:
        told.append(
            f"Taken for granted where products do not say it: {', '.join(map(_assumption, audit.assumed))}."
        )
    if audit.pending:
        told.append(
            f"{counted(audit.pending, 'product')} with an update that waits for acceptance, judged without it; "
            "prodex.audit(prodex.with_pending_updates(catalog)) judges them as they will be."
        )
    return told


def _assumption(assumed: tuple[str, Any]) -> str:
    name, value = assumed
    return f"{name} = {str(value).lower() if isinstance(value, bool) else value}"


def _plain(message: str) -> str:
    r"""Return what a rule said on one line: no character of it may move a cursor or turn the writing around.

    >>> _plain("ValueError: \u202ea\nb")
    'ValueError: \\u202ea\\nb'
    """
    shown = on_one_line(message[:_LONG])
    return shown if len(message) <= _LONG else f"{shown}... ({_LONG} of {len(message):,} characters)"


def _gaps_title(count: int) -> list[str]:
    if not count:
        return ["No check fails."]
    return [f"The {min(count, _SHOWN)} largest gaps of {count}:"]


def _gap(row: dict[Any, Any]) -> tuple[str, str, str]:
    return row["problem"], counted(row["products"], "product"), row["brings"]
