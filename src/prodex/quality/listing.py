"""What can be chosen from: the profiles that come with prodex, and all rules, as tables."""

from __future__ import annotations

import pandas as pd

from prodex.quality.profile import Profile, shipped
from prodex.quality.rulebook import RULES


def profiles() -> pd.DataFrame:
    """Return the profiles that come with prodex: name, title, description, number of rules and of checks.

    A rule is a sentence that should be true of a product. A check is a rule with its parameters, which is one column of
    an audit: `required_text` for three attributes in nine languages is one rule and 27 checks.

    Examples
    --------
    >>> profiles().set_index("profile").loc["online-listing", ["rules", "checks"]].tolist()
    [82, 117]
    """
    rows = [
        (p.name, p.title, p.description, len({check.rule.id for check in p.checks}), len(p.checks))
        for p in map(Profile.read, shipped())
    ]
    return pd.DataFrame(rows, columns=["profile", "title", "description", "rules", "checks"])


def rules() -> pd.DataFrame:
    """Return all rules, one's own included: id, title, problem, why, fix, severity and the other columns of a rule.

    A rule is a sentence that should be true of a product (its title), with the problem where it is not. A profile makes
    checks of some of them: a check is a rule with its parameters, so that there are more checks than rules.

    Examples
    --------
    >>> rules().set_index("rule").loc["valid_gtin", ["block", "title"]].tolist()
    ['identity', 'the GTIN has 14 digits with a correct check digit']
    """
    rows = [
        {
            "rule": r.id,
            "block": r.block,
            "severity": r.severity,
            "weight": r.weight,
            "dimension": r.dimension,
            "title": r.title,
            "problem": r.problem,
            "why": r.why,
            "fix": r.fix,
            "parameters": ", ".join(
                f"{p.name}: {p.type_name}" + ("" if p.required else f" = {p.default!r}") for p in r.parameters
            ),
            "scope": r.scope.words,
            "exact": r.exact,
            "source": r.source,
            "shipped": r.shipped,
        }
        for r in RULES.values()
    ]
    return pd.DataFrame(rows)
