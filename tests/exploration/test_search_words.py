"""Whatever is typed into the search field has a meaning, and it is the one that the field's help states."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from prodex.exploration.search import HELP, Term, WordQuery
from tests.cases import each_row

#: Each a text, whether it is excluded, and how it may be typed.
terms = st.sampled_from(
    [
        ("lait", False, "lait"),
        ("lait", False, '"lait"'),
        ("lait", True, "-lait"),
        ("lait", True, "NOT lait"),
        ("soja", False, "NOT -soja"),
        ("sans sucre", False, '"sans   sucre"'),
        ("sans sucre", True, '-"sans sucre "'),
        ("OR", False, '"OR"'),
        ("or", False, "or"),
        ("-18", False, '"-18"'),
        ("-18", True, "--18"),
        ('12"', False, '12"'),
        ("-", False, "-"),
    ]
)
groups = st.lists(st.lists(terms, min_size=1, max_size=3), max_size=4)
#: What a product may hold.
PIECES = ("lait", "soja", "sans sucre", "OR", "or", "-18", '12"', "sans", "sucre")


@given(
    groups,
    st.sampled_from([" ", "  ", "\n", " AND "]),
    st.lists(st.sets(st.sampled_from(PIECES)), max_size=6),
)
def test_a_search_means_what_a_plain_walk_finds(
    written: list[list[tuple[str, bool, str]]], between: str, products: list[set[str]]
) -> None:
    """One term of every group has to hold: AND between groups, OR inside, either way of writing NOT."""
    typed = between.join(" OR ".join(way for _, _, way in group) for group in written)
    hay = [" | ".join(sorted(one)) for one in products]
    expected = [
        all(any((text in one) != excluded for text, excluded, _ in group) for group in written) for one in hay
    ]

    search = WordQuery.read(typed)
    found = search.met(lambda text: np.array([text in one for one in hay], bool), len(hay))
    assert expected == found.tolist()


@given(
    st.lists(st.sampled_from(["OR", "NOT", "AND", "-", '"', " ", "lait", "\u00a0", "é", "\ud800"])).map(
        "".join
    )
)
def test_whatever_is_typed_can_be_read(typed: str) -> None:
    """Nothing is an error, no group and no word is empty, and what has no words asks for nothing."""
    search = WordQuery.read(typed)

    assert all(group and all(term.text for term in group) for group in search.groups)
    assert bool(search.groups) == bool(typed.replace('-"', " ").replace('"', " ").strip())


def written(search: WordQuery) -> str:
    """Write a search in one way."""
    return " ".join(
        " OR ".join(f"{'-' * term.is_excluded}[{term.text}]" for term in group) for group in search.groups
    )


@given(st.text())
def test_any_text_can_be_read(typed: str) -> None:
    """Each word that is looked for was typed."""
    assert all(word in typed for text in WordQuery.read(typed).texts for word in text.split())


@each_row(
    ("typed", "meant"),
    [
        ("", ""),
        ("  ", ""),
        ('""', ""),
        ("lait OR", "[lait]"),
        ("OR lait", "[lait]"),
        ("lait NOT", "[lait]"),
        ("lait OR NOT", "[lait]"),
        ("OR", "[OR]"),
        ("NOT OR", "[NOT] [OR]"),
        ("lait OR soja OR riz bio", "[lait] OR [soja] OR [riz] [bio]"),
        ("bio lait OR NOT soja", "[bio] [lait] OR -[soja]"),
        ("lait NOT OR soja", "[lait] OR [soja]"),
        ("lait OR AND soja", "[lait] [soja]"),
        ('"lait entier', "[lait entier]"),
        ('"lait"bio', "[lait] [bio]"),
        ("\u201clait entier\u201d bio", "[lait entier] [bio]"),
        ("-\u00ab lait\u00a0entier \u00bb OR \u201elait bio", "-[lait entier] OR [lait bio]"),
        ('"5\u201d \u00e9cran"', "[5\u201d \u00e9cran]"),
        ('-"', ""),
        ("--x -", "-[-x] [-]"),
        ("-OR -NOT", "-[OR] -[NOT]"),
        ("NOT NOT bio", "[bio]"),
        ("or not", "[or] [not]"),
    ],
)
def test_half_typed_searches_mean_what_stands_there(typed: str, meant: str) -> None:
    """An operator that lacks its word does nothing yet; nothing but operators are words."""
    assert meant == written(WordQuery.read(typed))


def test_the_help_names_every_way_of_writing() -> None:
    """The sentence that the search field shows mentions all that can be written."""
    for way in ("OR", "NOT", "-", '"'):
        assert way in HELP
    assert WordQuery(((Term("a"),),)) == WordQuery.read("a")
