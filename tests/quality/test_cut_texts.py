"""Lists that were cut: what the end of one text tells, in every language, and what is an end all the same."""

from __future__ import annotations

import pyarrow as pa

from prodex_food.cut_lists import are_cut
from tests.cases import each_row


@each_row(
    "text",
    [
        *("Sucre, sel, pers...", "Sucre, sel, pers…", "Sucre, sel, pers. ..", "Sucre, sel, . . ."),
        *("Sucre, épices (poivre", "Sucre [sirop (glucose), sel", "Zucker, Wei-", "Sucre, sel,", "Zutaten:"),
        *("Sugar, salt and", "Sucre et", "Sucre, huile de", "Sucre, jus d'", "Zucker und", "Salz aus"),
        *("Azúcar y", "Azúcar, aceite de", "Zucchero e", "Sale, olio di", "Suiker en", "Olie van"),
        *(
            "Açúcar e",
            "Açúcar, óleo de",
            "Sukker og",
            "Socker och",
            "Sokeri ja",
            "SUCRE ET ",
            "Sugar, salt &",
        ),
    ],
)
def test_a_list_that_goes_on_was_cut(text: str) -> None:
    """Dots, brackets, separators and words that join, in capitals as well."""
    assert [True] == are_cut(pa.array([text])).tolist()


@each_row(
    "text",
    [
        *(
            "Sucre, sel",
            "Sucre, sel.",
            "Sucre (de canne), sel [iodé].",
            "Sugar, salt, etc...",
            "Zucker, usw. ...",
        ),
        *("1) Zucker, 2) Salz", "Vitamine A, D, E", "Vitamin E", "Viande avec os", "Jus de raisin", "", None),
    ],
)
def test_what_ends_was_not_cut(text: str | None) -> None:
    """A footnote closes more brackets than it opens, and a vitamin is no Italian "and"."""
    assert [False] == are_cut(pa.array([text], pa.string())).tolist()
