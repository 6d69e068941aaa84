"""What a profile names and does not exist is refused with the nearest, and what is somebody's own is allowed."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from prodex.quality.profile import Profile
from prodex.send.attribute_types import PRODUCT
from prodex.tables.attributes import ATTRIBUTES
from tests.cases import each_row
from tests.quality.four_states import text

RECORDS: list[dict[str, Any]] = [
    {"id": 1, "kind": {"code": "BISCUITS"}, "GPC": {"code": "50000001"}, "namePublicLong": [text("fr", "Petits")]},
    {"id": 2, "kind": {"code": "CEREALS"}, "lidColour": [text("fr", "bleu")], "xNotes": {"body": [text("fr", "a")]}},
    {"id": 3, "lastRequest": {"pendingNote": [text("fr", "bientôt")]}},
]  # fmt: skip


def profile(tmp_path: Path, content: str) -> Path:
    """Write a profile."""
    path = tmp_path / "own.toml"
    path.write_text(content)
    return path


def wants(attribute: str) -> str:
    """Return a profile that wants an attribute in French."""
    return f"title = 'Own'\n[checks.required_text]\nattribute = '{attribute}'\nlanguage = 'fr'\n"


@each_row(
    ("attribute", "nearest"),
    [("namePublicLnog", "namePublicLong"), ("lidColor", "lidColour"), ("consumptionAdvices", "consumptionAdvice")],
)  # fmt: skip
def test_an_attribute_that_nobody_knows_is_refused_with_the_nearest(
    tmp_path: Path, attribute: str, nearest: str
) -> None:
    """The error names file, line and key, and suggests attributes of the catalogue too."""
    own = profile(tmp_path, wants(attribute))

    with pytest.raises(
        InputError,
        match=rf"own.toml, line 3, checks.required_text.attribute: there is no attribute '{attribute}'.*"
        rf"did you mean '{nearest}'\?",
    ):
        prodex.audit(prodex.flatten(RECORDS), own, progress=False)


def test_what_stands_deeper_is_refused_where_it_is_nearly_right() -> None:
    """Deeper paths are open: any other name is accepted."""
    nearly = {"checks": {"has_text": {"attribute": "assets.pictures.gdsnFileNam"}}}

    with pytest.raises(InputError, match=r"nothing at .*did you mean 'assets.pictures.gdsnFileName'"):
        prodex.audit(prodex.flatten(RECORDS), nearly, progress=False)


@each_row(
    "attribute",
    ["lidColour", "xNotes", "xNotes.body", "pendingNote", "nameLegal", "warnings.text", "contact", "height"],
)
def test_what_the_specification_or_the_catalogue_knows_is_allowed(tmp_path: Path, attribute: str) -> None:
    """An attribute of the catalogue is accepted, also under `lastRequest` or without values."""
    audit = prodex.audit(prodex.flatten(RECORDS), profile(tmp_path, wants(attribute)), progress=False)

    assert () == audit.crashes
    assert 3 == len(audit)


def test_an_attribute_of_ones_own_can_be_declared(tmp_path: Path) -> None:
    """It can be declared before anybody has filled it, and is then missing everywhere."""
    own = profile(tmp_path, "attributes = ['lidShape']\n" + wants("lidShape"))

    audit = prodex.audit(prodex.flatten(RECORDS), own, progress=False)

    assert [1, 1, 1] == audit.states[:, 0].tolist()
    with pytest.raises(
        InputError, match=r"own.toml, line 1, attributes: attributes is 'lidShape'; give a list"
    ):
        Profile.read(profile(tmp_path, "attributes = 'lidShape'\n"))


def test_what_was_not_asked_for_is_unknown_and_not_refused() -> None:
    """Nor is anything refused where there is no product to learn from."""
    checks = {"checks": {"has_text": {"attribute": "lidShape"}}}
    catalog = prodex.flatten(RECORDS)
    query = prodex.ProductQuery(source_include=["namePublicLong"])
    asked = replace(catalog, origin=replace(catalog.origin, query=query))

    assert [3, 3, 3] == prodex.audit(asked, checks, progress=False).states[:, 0].tolist()
    assert 0 == len(prodex.audit(prodex.flatten([]), checks, progress=False))


def test_a_check_that_was_added_in_python_is_looked_at_as_well() -> None:
    """It is named in place of a line."""
    added = Profile.read("core").with_check("has_text", attribute="namePublicLnog")

    with pytest.raises(InputError, match=r"check has_text\[namePublicLnog\]: there is no attribute"):
        prodex.audit(prodex.flatten(RECORDS), added, progress=False)


@each_row(
    ("language", "why"),
    [("Frensh", "Did you mean 'French'"), ("xx", "language is 'xx'"), ("", "language is ''")],
)
def test_a_language_that_does_not_exist_is_refused(tmp_path: Path, language: str, why: str) -> None:
    """It is refused when the profile is read, with file, line and key."""
    content = f"[checks.required_text]\nattribute = 'nameLegal'\nlanguage = '{language}'\n"

    with pytest.raises(InputError, match=f"own.toml, line 3, checks.required_text.language: .*{why}"):
        Profile.read(profile(tmp_path, content))


@each_row("language", ["fr", "fra-FR", "fr-FR", "French", "fre"])
def test_a_language_is_known_in_any_spelling(language: str) -> None:
    """Texts are compared by its short code."""
    rules = {
        "required_text": {"attribute": "namePublicLong", "language": language},
        "translated": {"language": language},
    }

    audit = prodex.audit(prodex.flatten(RECORDS[:1]), {"checks": rules}, progress=False)

    assert [[0, 0]] == audit.states.tolist()


def test_a_market_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """It is refused as the market of the profile, and in a condition."""
    with pytest.raises(InputError, match=r"own.toml, line 1, market: .*Did you mean 'France'"):
        Profile.read(profile(tmp_path, "market = 'Frence'\n"))
    with pytest.raises(InputError, match=r"own.toml, line 2, checks.valid_gtin.only: .*999"):
        Profile.read(profile(tmp_path, "[checks.valid_gtin]\nonly = { market = 999 }\n"))


@each_row(
    ("written", "why"),
    [
        ("only = { kind_code = 'BISCUIT' }", "the kind_code 'BISCUIT'; did you mean 'BISCUITS'"),
        ("except = { kind_code = ['CEREALS', 'CEREAL'] }", "the kind_code 'CEREAL'; did you mean 'CEREALS'"),
        ("only = { gpc_code = '51*' }", r"the gpc_code '51\*'\. It has 1 others"),
        ("only = { gpc_code = '50000002' }", "the gpc_code '50000002'; did you mean '50000001'"),
    ],
)
def test_a_kind_that_no_product_has_is_warned_of(tmp_path: Path, written: str, why: str) -> None:
    """With the nearest; the audit is made all the same, since the next catalogue may have it."""
    own = profile(tmp_path, f"[checks.valid_gtin]\n{written}\n")

    with pytest.warns(UserWarning, match=f"own.toml, line 2, checks.valid_gtin.*: no product .* has {why}"):
        audit = prodex.audit(prodex.flatten(RECORDS), own, progress=False)

    assert 3 == len(audit)


def test_kinds_that_are_there_and_those_of_shipped_profiles_are_not_warned_of() -> None:
    """A shipped profile may name kinds of the sandbox that a service does not have."""
    own = {
        "extends": "food-eu",
        "checks": {"valid_gtin": {"only": {"kind_code": ["BISCUITS", None], "gpc_code": "50*"}}},
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prodex.audit(prodex.flatten(RECORDS), own, progress=False)


def test_every_attribute_of_the_specification_is_known() -> None:
    """It is known in both places that list attributes."""
    assert set() == set(PRODUCT) - ATTRIBUTES
