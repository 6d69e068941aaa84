"""Profiles: read from files, checked key by key, the same in Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import prodex
from prodex.errors import InputError
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.quality.profile import Profile
from tests.cases import each_row

SHIPPED = ["core", "online-listing", "logistics", "food-eu", "pictures"]


@each_row("name", SHIPPED)
def test_every_shipped_profile_can_be_read(name: str) -> None:
    """Each has checks, a title and a description."""
    profile = prodex.Profile.read(name)

    assert profile.checks
    assert profile.title
    assert profile.description
    assert name in prodex.profiles()["profile"].tolist()
    assert len(profile.checks) == len(profile.table)


def test_lists_make_one_check_for_each_combination(tmp_path: Path) -> None:
    """Each attribute in each language is a check, with the scope of the entry."""
    path = tmp_path / "own.toml"
    path.write_text(
        """
        title = "Own"
        [[checks.required_text]]
        attribute = ["nameLegal", "description"]
        language = ["fr", "nl"]
        severity = "blocker"
        weight = 3
        only = { is_consumer_unit = true }
        except = { gpc_code = "70*" }
        """
    )
    profile = prodex.Profile.read(path)

    assert ["nameLegal,fr", "nameLegal,nl", "description,fr", "description,nl"] == [
        check.id[len("required_text[") : -1] for check in profile.checks
    ]
    assert {("blocker", 3.0)} == {(check.severity, check.weight) for check in profile.checks}
    assert {"is_consumer_unit = true; not gpc_code = 70*"} == set(profile.table["scope"])


def test_the_market_decides_which_languages_are_required() -> None:
    """A Belgian product needs Dutch and French, a French one French; without a market it is unknown."""
    text = [{"expressedIn": {"normalizedCode": "fr", "code": "fra-FR"}, "data": "Riz"}]
    catalog = prodex.flatten(
        {"id": n, "nameLegal": text, "product_key": {"target_market_id": market}}
        for n, market in enumerate((56, 250, None))
    )
    profile = {"checks": {"required_text": {"attribute": "nameLegal", "language": "of the market"}}}

    matrix = prodex.audit(catalog, profile).matrix

    assert [1, 2, 3] == matrix["required_text[nameLegal,nl]"].tolist()
    assert [0, 0, 3] == matrix["required_text[nameLegal,fr]"].tolist()
    assert {language for one in REQUIRED_LANGUAGES.values() for language in one} == {
        name[len("required_text[nameLegal,") : -1] for name in matrix
    }


def test_a_profile_can_say_the_market_of_products_that_do_not() -> None:
    """Then its languages are required of them."""
    catalog = prodex.flatten([{"id": 7}])
    checks = {"required_text": {"attribute": "nameLegal", "language": "of the market"}}

    by_file = prodex.audit(catalog, {"market": "Netherlands", "checks": checks})
    in_python = prodex.audit(catalog, prodex.Profile.read({"checks": checks}).with_market(528))

    assert 1 == by_file.matrix.loc["7", "required_text[nameLegal,nl]"]
    assert by_file.matrix.equals(in_python.matrix)


def test_a_check_asked_for_twice_is_one_column_for_the_products_of_both() -> None:
    """Market and kind decide what it applies to, never how many columns there are."""
    catalog = prodex.flatten([{"id": n, "kind": {"code": code}} for n, code in enumerate("ABC")])
    entry = {"attribute": "nameLegal", "language": "fr"}
    entries = [{**entry, "only": {"kind_code": "A"}}, {**entry, "only": {"kind_code": ["B"]}}]

    matrix = prodex.audit(catalog, {"checks": {"required_text": entries}}).matrix

    assert {"required_text[nameLegal,fr]": [1, 1, 2]} == matrix.to_dict("list")


def test_a_profile_builds_on_another() -> None:
    """A profile that names a rule replaces the checks its parent makes of it."""
    core = prodex.Profile.read("core")
    own = prodex.Profile.read({"extends": "core", "checks": {"updated_within": {"days": 30}}})

    assert len(core.checks) == len(own.checks)
    assert "updated_within[days=30]" in [check.id for check in own.checks]
    assert [c.id for c in core.checks if c.rule.id != "updated_within"] == [
        c.id for c in own.checks if c.rule.id != "updated_within"
    ]


def test_checks_are_left_out_by_rule_or_by_id() -> None:
    """In a file and in Python; what is named anew is there with its new settings."""
    base = prodex.Profile.read("online-listing")
    one = next(check.id for check in base.checks if check.rule.id == "required_text")
    own = prodex.Profile.read({"extends": "online-listing", "without": ["has_picture", one]})
    assert [c.id for c in base.checks if c.rule.id != "has_picture" and c.id != one] == [
        c.id for c in own.checks
    ]
    assert own.checks == base.without_check("has_picture", one).checks
    content = {"extends": "core", "without": ["updated_within"], "checks": {"updated_within": {"days": 30}}}
    assert "updated_within[days=30]" in [check.id for check in prodex.Profile.read(content).checks]
    with pytest.raises(InputError, match="no check 'has_pictur' to leave out; did you mean 'has_picture'"):
        base.without_check("has_pictur")


@each_row(
    ("text", "why"),
    [
        (
            "extends = 'core'\nwithout = ['valid_gtn']",
            "line 2, without: there is no check 'valid_gtn' to leave out",
        ),
        ("without = 3", "line 1, without: without is 3. Give the ids"),
        ("titel = 'x'", "line 1, titel: there is no key 'titel'; did you mean 'title'"),
        ("title = 3", "line 1, title: title is 3"),
        ("title = 'x'\nextends = 'cor'", "line 2, extends: 'cor' is not a profile; did you mean 'core'"),
        ("title = 'x'\nmarket = 'Fance'", "line 2, market: .*Did you mean 'France'"),
        ("\n[checks.valid_gtim]", "line 2, checks.valid_gtim: there is no rule.*did you mean 'valid_gtin'"),
        ("[checks.valid_gtin]\nseverity = 'fatal'", "line 2, checks.valid_gtin.severity: severity 'fatal'"),
        ("[checks.valid_gtin]\nweight = -1", "line 2, checks.valid_gtin.weight: weight is -1"),
        ("[checks.valid_gtin]\nweight = nan", "line 2, checks.valid_gtin.weight: weight is nan"),
        ("[checks.updated_within]\n\ndays = '30'", "line 3, checks.updated_within.days: days is '30'"),
        ("[checks.updated_within]\nday = 3", "line 2, checks.updated_within.day: .*did you mean 'days'"),
        (
            "[checks.valid_gtin]\nonly = { brand_cod = 3 }",
            "line 2, checks.valid_gtin.only: .*did you mean 'brand_code'",
        ),
        (
            "[checks.valid_gtin]\nexcept = { brand_code = true }",
            "line 2, checks.valid_gtin.except: .*holds string",
        ),
        ("[checks.valid_gtin]\nonly = 3", "line 2, checks.valid_gtin.only: only is 3"),
        (
            "[[checks.required_text]]\nattribute = 'a'\nlanguage = 'fr'\n[[checks.required_text]]\nlanguage = 'fr'",
            "line 4, checks.required_text: attribute must be given",
        ),
        ("[checks]\nvalid_gtin = 3", "line 2, checks.valid_gtin: 3 is not a table"),
        ("checks = 3", "line 1, checks: checks are tables"),
        ("title = ", "is not TOML"),
        (
            "[[checks.valid_gtin]]\nseverity = 'error'\n[[checks.valid_gtin]]\nseverity = 'info'",
            "valid_gtin is asked for twice, as error of weight 2 and as info",
        ),
        (
            "[checks.required_text]\nattribute='a'\nlanguage='of the market'\nonly={market='Fance'}",
            "line 4, checks.required_text.only: .*Did you mean 'France'",
        ),
        (
            "[checks.required_text]\nattribute='a'\nlanguage='of the market'\nonly={market=['France', 'Denmark']}",
            "line 3, checks.required_text.language: no language is known for the market 208, so 'of the market' asks",
        ),
        (
            "[checks.required_text]\nattribute = 'a'\nlanguage = []",
            "line 3, checks.required_text.language: language is an empty list, which asks nothing",
        ),
        (
            "[checks.translated]\nlanguage = 'fr'\nattributes = []",
            "line 3, checks.translated.attributes: attributes is an empty list, which asks nothing",
        ),
        (
            "title = 'Own'\n[checks]",
            "line 2, checks: the profile has no check, so that any product would pass",
        ),
        ("title = 'Own'", "checks: the profile has no check"),
        ("without = ['has_name']\n[checks.has_name]", "line 1, without: .* and none is: write extends"),
    ],
)
def test_a_mistake_is_named_with_file_line_and_key(tmp_path: Path, text: str, why: str) -> None:
    """All errors are reported at once, so that they can be fixed together."""
    path = tmp_path / "own.toml"
    path.write_text(text)

    with pytest.raises(InputError, match=f"own.toml.*{why}"):
        prodex.Profile.read(path)


def test_a_profile_that_is_not_there_is_said_with_the_nearest() -> None:
    """This holds for a name and for a path."""
    with pytest.raises(InputError, match="did you mean 'online-listing'"):
        prodex.Profile.read("online-listings")
    with pytest.raises(InputError, match="cannot be read"):
        prodex.Profile.read("nowhere.toml")


def test_a_check_can_be_added_in_python() -> None:
    """A check that the profile has already gets the other severity."""
    core = prodex.Profile.read("core")

    more = core.with_check("updated_within", days=3).with_check("valid_gtin", severity="info")

    assert len(core.checks) + 1 == len(more.checks)
    assert "info" == more.table.set_index("check").loc["valid_gtin", "severity"]


def test_a_byte_order_mark_is_no_part_of_a_profile(tmp_path: Path) -> None:
    """Editors of Windows begin a file with one; UTF-16 is another encoding, which is said."""
    text = "title = 'Own'\n[checks.valid_gtin]\n"
    (tmp_path / "own.toml").write_text(text, "utf-8-sig")
    assert Profile.read(tmp_path / "own.toml").title == "Own"

    (tmp_path / "wide.toml").write_text(text, "utf-16")
    with pytest.raises(InputError, match=r"wide.toml is UTF-16 text. Save it as UTF-8"):
        Profile.read(tmp_path / "wide.toml")
