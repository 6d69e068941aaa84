"""How to add a rule: one function in a module of rules, or its words where it is one presence, value or pattern."""

from __future__ import annotations

import pytest

from tests.extending.changed_source import ChangedSource

pytestmark = pytest.mark.slow

#: Where something is decided, a rule is a function.
FUNCTION = '''

@rule(
    title="the life cycle is known",
    problem="No life cycle",
    fix="Choose the life cycle of the product.",
    severity="error",
    dimension="completeness",
    block="freshness",
    needs="lifeCycle",
)
def has_life_cycle(products: Products) -> Verdict:
    """Without it, nobody knows whether the product can still be ordered."""
    return Verdict(products["life_cycle"].isna())
'''

#: One presence, one value or one pattern is declared; `prodex.quality.rule_forms` has the forms.
DECLARED = """

declare(
    "has_life_cycle",
    HasValue("life_cycle"),
    title="the life cycle is known",
    problem="No life cycle",
    fix="Choose the life cycle of the product.",
    why="Without it, nobody knows whether the product can still be ordered.",
    severity="error",
    dimension="completeness",
    block="freshness",
)
"""

USED = """
import prodex

# It is listed, and any profile can choose it.
assert prodex.rules().set_index("rule").loc["has_life_cycle", "title"] == "the life cycle is known"
profile = prodex.Profile.read({"checks": {"has_life_cycle": {}}})

# An audit judges by it; the report and the worklists say what to do.
owner = {"owner": {"id": 11, "name": "Mill"}}
catalog = prodex.flatten([{"id": 7, "lifeCycle": 1, **owner}, {"id": 8, **owner}])
audit = prodex.audit(catalog, profile, progress=False)
assert audit.failures()["product_id"].tolist() == ["8"]
assert audit.gaps()["problem"].tolist() == ["No life cycle"]
assert "No life cycle" in audit.to_html("report.html").read_text("utf-8")
audit.worklists("to_fix", by="owner")
"""


@pytest.mark.parametrize(("module", "added"), [("freshness", FUNCTION), ("classification", DECLARED)])
def test_a_rule_is_one_entry_in_one_file(source: ChangedSource, module: str, added: str) -> None:
    """A new rule is listed, chosen by a profile, judged by, reported, and written to worklists."""
    source.append(f"prodex/quality/rules/{module}.py", added)
    assert {f"prodex/quality/rules/{module}.py"} == source.files
    (listed,) = source.python(USED, "rules")
    assert "the life cycle is known" in listed
