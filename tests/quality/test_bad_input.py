"""Bad input to an audit: nothing to judge, next to nothing, and texts made to do harm."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

import prodex
from prodex.errors import InputError
from prodex.quality.rulebook import all_rules
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row

HOSTILE = '<script>alert(1)</script> $$\\href{x}{y}$$ =HYPERLINK("x") \u202eevil {attribute} ' + "x" * 40_000
SHIPPED = ["core", "online-listing", "logistics", "food-eu", "pictures"]


@pytest.mark.slow
@pytest.mark.parametrize("profile", SHIPPED)
def test_an_empty_catalogue_has_no_score(profile: str) -> None:
    """An empty catalogue gives empty results for every question."""
    audit = prodex.audit(prodex.flatten([]), profile)

    assert (0, len(audit.checks)) == audit.matrix.shape
    assert audit.summary[["score", "ready", "grade"]].isna().all()
    for by in ("owner", "brand", "kind", "market", "language", "tag", "gpc_code"):
        assert not audit.scores(by)["products"].sum()
        assert audit.coverage(by).empty
    assert audit.gaps().empty
    assert audit.failures().empty
    assert "No check fails." in repr(audit)
    assert "0 % ready" not in repr(audit)


#: The keys of every table come with any query.
ALWAYS_ASKED = {"id", "uuid", "gtin", "updatedAt"}


@pytest.mark.slow
@each_row("profile", SHIPPED)
def test_a_catalogue_with_one_field_only_is_judged_by_what_it_shows(profile: str) -> None:
    """Data that were not requested are unknown, and no rule crashes because of them."""
    catalog = prodex.flatten([{"id": 7}, {"id": 8, "gtin": "03036811359935"}])
    only_gtin = prodex.ProductQuery(source_include=["gtin"])
    asked = replace(catalog, origin=replace(catalog.origin, query=only_gtin))

    assert () == prodex.audit(catalog, profile, now=AS_OF).crashes
    audit = prodex.audit(asked, profile, now=AS_OF)
    told = dict(zip([check.id for check in audit.checks], audit.states.T.tolist(), strict=True))
    known = {check.rule.id for check in audit.checks if told[check.id] != [3, 3]}

    assert () == audit.crashes
    assert [1, 0] == told["valid_gtin"]
    assert {} == {
        rule: all_rules()[rule].needs for rule in known if not set(all_rules()[rule].needs) <= ALWAYS_ASKED
    }
    assert len(known) < len(audit.checks)


@pytest.mark.slow
@each_row("profile", SHIPPED)
def test_hostile_text_is_shown_verbatim_and_never_as_markup(profile: str) -> None:
    """This holds for every place that a supplier fills in, and nothing is cut in the failures."""
    text = [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": HOSTILE}]
    coded = {"code": HOSTILE, "label": HOSTILE}
    records = [
        {
            "id": HOSTILE, "gtin": HOSTILE, "brand": coded, "kind": coded, "owner": {"id": HOSTILE, "name": HOSTILE},
            "namePublicLong": text, "hasTags": [{"tag": HOSTILE}], "isConsumerUnit": True,
            "assets": {"pictures": [{"url": HOSTILE, "gdsnFileName": HOSTILE, "productFace": HOSTILE}]},
        }
    ]  # fmt: skip

    audit = prodex.audit(prodex.flatten(records), profile, now=AS_OF)
    failures = audit.failures(rule="valid_gtin")

    assert () == audit.crashes
    assert [HOSTILE] == failures["value"].tolist()
    assert [HOSTILE] == failures["name"].tolist()
    assert [HOSTILE] == audit.scores("tag")["tag"].tolist()
    assert "<script>" not in audit._repr_html_()
    assert "mathjax_ignore" in audit._repr_html_()


def test_hostile_words_of_a_crash_are_escaped() -> None:
    """A message can hold what a supplier typed."""

    @prodex.packs.rule(title="never")
    def breaks(products: object) -> prodex.packs.Verdict:
        raise ValueError(HOSTILE)

    audit = prodex.audit(prodex.flatten([{"id": 7}]), {"checks": {"breaks": {}}})

    assert "<script>" not in audit._repr_html_()
    assert HOSTILE in audit.crashes[0].message
    assert "\u202e" not in repr(audit)
    assert r"\u202eevil" in repr(audit)
    assert "(200 of 40,1" in repr(audit)


def test_what_is_no_catalogue_no_profile_and_no_moment_is_refused() -> None:
    """The message says what to give instead."""
    catalog = prodex.flatten([{"id": 7}])
    with pytest.raises(InputError, match=r"prodex\.flatten"):
        prodex.audit([{"id": 7}])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="give a datetime"):
        prodex.audit(catalog, now=date(2026, 11, 1))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="There is no profile 'cor'; did you mean 'core'"):
        prodex.audit(catalog, "cor")
    with pytest.raises(InputError, match="there is no rule 'valid_gtim'"):
        prodex.audit(catalog, {"checks": {"valid_gtim": {}}})
