"""Is it filled: rules, coverage, requirements, the explorer, worklists and `describe` give one answer."""

from __future__ import annotations

from typing import Any

import pandas as pd

import prodex
from prodex.exploration.filled import FilledColumns
from prodex.facts.attribute_states import fill_states
from prodex.quality.states import State
from prodex.tables.fill_state import STATES
from tests.tables.test_visible import INVISIBLE, VISIBLE

PATHS = ("namePublicLong", "brand", "hasTags", "isLabeledBy", "isIdentifiedBy", "isPartitionedBy")
#: Where `describe` counts them.
DESCRIBED = ("namePublicLong", "brand.code", "hasTags", "isLabeledBy")


def record(number: int, text: str) -> dict[str, Any]:
    """Return a product whose name is this text, and that has it as a code and as the value of lists."""
    name = {"expressedIn": {"code": "fra-FR", "normalizedCode": "fr"}, "data": text}
    return {
        "id": number,
        "gtin": "03036811359935",
        "namePublicLong": [name],
        "brand": {"code": text},
        "hasTags": [text],
        "isLabeledBy": [{"isConceptualizedBy": {"code": text}}],
        "isIdentifiedBy": [{"reference": text}],
        "isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": text}}]}],
    }


def test_what_shows_nothing_is_filled_for_nobody() -> None:
    """A zero-width space and an empty paragraph are missing everywhere, and a visible text is there everywhere."""
    texts = [*INVISIBLE, *VISIBLE]
    catalog = prodex.flatten(record(number, text) for number, text in enumerate(texts))
    expected = [text in VISIBLE for text in texts]
    frame = pd.DataFrame(
        [["Shop", "*", path, "must"] for path in PATHS], columns=["channel", "family", "attribute", "level"]
    )
    checks = {"required_text": {"attribute": "namePublicLong", "language": "fr"}, "has_brand": {}}
    by_rule = prodex.audit(catalog, {"checks": checks}, progress=False)
    by_requirement = prodex.audit(catalog, prodex.Requirements.of(frame), progress=False)
    columns = FilledColumns.of(catalog, PATHS)

    for states in (*by_rule.states.T, *by_requirement.states.T):
        assert expected == [state == State.PASS for state in states]
        assert [not one for one in expected] == [state == State.FAIL for state in states]
    for path in PATHS:
        assert expected == columns.mask(path).tolist()
        assert [not one for one in expected] == columns.lacking(path).tolist()
        assert expected == [STATES[state] == "filled" for state in fill_states(catalog, path)]
    assert expected == [STATES[state] == "filled" for state in fill_states(catalog, "namePublicLong", "fr")]
    described = catalog.describe()
    filled = described[described["attribute"].isin(DESCRIBED)]["filled"].tolist()
    assert [sum(expected)] * len(DESCRIBED) == filled


def test_why_what_shows_nothing_is_missing() -> None:
    """Somebody has sent it, so that it is empty, and not absent."""
    catalog = prodex.flatten([record(1, "\u200b"), record(2, "<p><br></p>"), {"id": 3}])
    states = fill_states(catalog, "namePublicLong", "fr")
    assert ["empty", "empty", "absent"] == [STATES[state] for state in states]
