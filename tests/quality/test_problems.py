"""Problems in a person's words: every rule has one, no identifier is in it, and lists and charts show it."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import prodex
from prodex import charts
from prodex.languages.labels import attribute_label
from prodex.quality.check import Check
from prodex.quality.comparison import compare_audits
from prodex.quality.products import Products
from prodex.quality.rulebook import all_rules
from prodex.tables.declaration import TABLES
from prodex_sandbox.sample import AS_OF
from tests.cases import each_row

PROFILES = prodex.profiles()["profile"].tolist()
NAME = {"expressedIn": {"normalizedCode": "nl", "code": "nld-NL"}, "data": "Rijst"}
FRENCH = {
    "checks": {"required_text": {"attribute": "namePublicLong", "language": "fr", "severity": "blocker"}}
}
SAID = "Long name missing in French"
_UNITS = {"kJ"}


def shipped() -> list[Check]:
    """Return the checks of all shipped profiles, and each other rule with something given."""
    checks = [check for name in PROFILES for check in prodex.Profile.read(name).checks]
    given = {"attribute": "nameLegal", "language": "sv", "characters": 3_000}
    for rule in all_rules().values():
        wanted = {one.name: given[one.name] for one in rule.parameters if one.required}
        checks += [Check.of(rule.id, wanted)] if rule.shipped else []
    return checks


def is_of_programs(word: str) -> bool:
    """Say whether a word is a wire name, a column or a placeholder, and not one that people use."""
    columns = {column.name for table in TABLES.values() for column in table.columns if "_" in column.name}
    is_spelled_so = re.search(r"[a-z][A-Z]|[_{}\[\]=<>]|[A-Za-z]\.\w", word) is not None
    return word not in _UNITS and (is_spelled_so or word in columns)


@each_row("check", shipped(), ids=lambda check: check.id)
def test_every_rule_says_its_problem_in_a_persons_words(check: Check) -> None:
    """It is not the sentence that should be true, begins with a capital, is short, and names nothing of programs."""
    assert check.rule.problem
    problem = str(check.problem)
    assert str(check.title).casefold() != problem.casefold()
    assert problem[0].isupper()
    assert not problem.endswith(".")
    assert len(problem) <= 60
    assert [] == [word for word in problem.split() if is_of_programs(word)]


@each_row("profile", PROFILES)
def test_no_two_checks_of_a_profile_have_one_problem(profile: str) -> None:
    """A chart of two with the same problem could not be read."""
    counts = Counter(str(check.problem) for check in prodex.Profile.read(profile).checks)
    assert [] == [problem for problem, count in counts.items() if count > 1]


@each_row(
    ("rule", "given", "problem"),
    [
        ("required_text", {"attribute": "namePublicLong", "language": "fr"}, SAID),
        (
            "required_text",
            {"attribute": "composition", "language": "pt"},
            "Ingredients missing in Portuguese",
        ),
        ("has_text", {"attribute": "warnings"}, "Warnings missing"),
        (
            "text_fits",
            {"attribute": "namePublicShort", "characters": 1_035},
            "Short name over 1,035 characters",
        ),
        ("measure_told", {"attribute": "grossWeight"}, "Gross weight missing"),
        ("has_front_packshot", {}, "No front packshot"),
        ("required_text", {"attribute": "{language}", "language": "fr"}, "{language} missing in French"),
    ],
)
def test_parameters_are_filled_in_as_people_say_them(
    rule: str, given: dict[str, object], problem: str
) -> None:
    """Labels of attributes, names of languages, numbers with separators; a value is never taken for a placeholder."""
    assert problem == str(Check.of(rule, given).problem)


def test_an_attribute_without_a_label_of_its_own_is_called_by_the_words_of_its_name() -> None:
    """This holds for whatever a profile may name."""
    told = ["recycledContent", "assets.pictures", "lastRequest.netWeight", "some_thing", "ABC"]
    assert ["recycled content", "pictures", "net weight", "some thing", "abc"] == list(
        map(attribute_label, told)
    )


def test_a_rule_of_ones_own_may_say_its_problem() -> None:
    """Where it does not, its title is denied."""

    @prodex.packs.rule(title="the product is light", problem="Heavier than {grams} g")
    def is_light(products: Products, *, grams: int = 100) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([True] * len(products))

    @prodex.packs.rule(title="the product is light")
    def is_light_too(products: Products) -> prodex.packs.Verdict:
        return prodex.packs.Verdict([True] * len(products))

    audit = prodex.audit(
        prodex.flatten([{"id": 7}]), {"checks": {"is_light": {"grams": 2_000}, "is_light_too": {}}}
    )
    assert ["Heavier than 2,000 g", "Not true: the product is light"] == audit.failures()["problem"].tolist()


def test_lists_and_charts_show_the_problem_and_frames_the_identifier_too() -> None:
    """Gaps, findings, checks, comparisons, reprs and the chart of gaps show the problem."""
    audit = prodex.audit(prodex.flatten([{"id": 7, "namePublicLong": [NAME]}]), FRENCH, now=AS_OF)
    compared = compare_audits(audit, audit)

    for frame in (audit.gaps(), audit.failures(), audit.by_check, compared.changes(), compared.by_check):
        assert [SAID] == frame["problem"].tolist()
        assert ["required_text[namePublicLong,fr]"] == frame["check"].tolist()
    assert SAID == audit.gaps("rule")["problem"].item()
    for shown in (repr(audit), unescape(audit._repr_html_())):
        assert SAID in shown
        assert "required_text" not in shown
    labels = [label.get_text() for label in charts.largest_gaps(audit).axes[0].get_yticklabels()]
    assert [SAID] == labels


def test_rules_and_profiles_list_both_sentences() -> None:
    """They list what should be true, and what the problem is if it is not."""
    rules = prodex.rules().set_index("rule")
    assert ("the product has a front packshot", "No front packshot") == tuple(
        rules.loc["has_front_packshot", ["title", "problem"]]
    )
    table = prodex.Profile.read("core").table.set_index("check")
    assert SAID == table.loc["required_text[namePublicLong,fr]", "problem"]
