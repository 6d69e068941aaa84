"""The words of allergens: which text names which, in seven languages, and what only sounds like one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.quality.text_normalization import folded
from prodex_food.allergen_detection import as_written, named_allergens, only_lists_allergens
from prodex_food.vocabulary import GROUPS, LANGUAGES, names_of, words_of
from tests.cases import each_row
from tests.quality.allergen_table import labelled


def named(text: str, language: str | None = None, *, perhaps: bool = False) -> list[str]:
    """Return the groups that a text names."""
    found = named_allergens(pa.array([text]), language and pa.array([language]), perhaps=perhaps)
    return names_of(int(found.groups[0]))


@each_row(
    ("language", "text", "groups"),
    [
        ("en", "Wheat flour, skimmed milk powder, soya lecithin", "gluten soya milk"),
        ("en", "coconut milk, cocoa butter, peanut butter, nutmeg, buckwheat, oyster mushrooms", "peanuts"),
        ("en", "pine nuts, butter beans, cream of tartar, eggplant, hazelnut flavouring", ""),
        ("en", "preservative: sulphur dioxide", "sulphites"),
        ("fr", "Farine de BLÉ, œufs, beurre, CELERI", "gluten eggs milk celery"),
        ("fr", "lait de coco, lait d'amande, beurre de cacao, noix de muscade, blé noir, laitue", "nuts"),
        ("fr", "noix de Saint-Jacques, chair de moules, pain moulé, sirop de glucose de blé", "molluscs"),
        ("fr", "fruits à coque, anhydride sulfureux", "nuts sulphites"),
        (
            "de",
            "Hartweizengrieß, Vollmilchpulver, Eiweiß, Sojalecithine, Haselnüsse",
            "gluten eggs soya milk nuts",
        ),
        ("de", "Kokosmilch, Muskatnuss, Buchweizen, Kakaobutter, Milchsäure, Austernpilze, Eis", ""),
        ("de", "Erdnussbutter, Tintenfisch", "peanuts molluscs"),
        (
            "es",
            "harina de trigo, huevo, leche de soja, nuez moscada, mejillones",
            "gluten eggs soya molluscs",
        ),
        (
            "it",
            "farina di grano tenero, uova, latte di cocco, noce moscata, frutta a guscio",
            "gluten eggs nuts",
        ),
        (
            "nl",
            "tarwebloem, scharrelei, pindakaas, kokosmelk, cacaoboter, inktvis",
            "gluten eggs peanuts molluscs",
        ),
        ("nl", "plantaardige eiwitten, melkzuur, nootmuskaat", ""),
    ],
)
def test_words_of_a_language(language: str, text: str, groups: str) -> None:
    """Words, compound words and phrases; other food that is named alike is left out."""
    assert groups.split() == named(text, language)


@each_row(
    "text",
    [
        "sans lait ni œufs",
        "Glutenfrei, ohne Milch",
        "gluten-free, free from nuts",
        "zonder melk; glutenvrij",
        "sin leche",
        "senza latte",
        "Peut contenir des traces de lait, soja.",
        "Traces possible  de : crustacés. œufs, soja. céleri, mollusques",
        "may contain nuts; not suitable for people with a milk allergy",
        "Kann Spuren von Nüssen enthalten.",
        "Kan sporen van noten bevatten.",
        "Puede contener trazas de leche",
        "Può contenere tracce di latte",
    ],
)
def test_what_is_not_in_it_is_not_named(text: str) -> None:
    """An allergen that a product is free from, or may contain by chance, is not named."""
    assert [] == named(text)


def test_what_follows_a_warning_counts_again() -> None:
    """A warning ends where the next list of ingredients begins."""
    text = "Peut contenir du soja. Ingrédients : farine de blé, sucre, eau, sel, levure."

    assert ["gluten"] == named(text, "fr")


def test_a_list_of_allergens_may_tell_what_is_perhaps_in_it() -> None:
    """A listed allergen counts as named; "free from" still does not."""
    assert ["soya", "milk"] == named("Contient : lait. Peut contenir : soja. Sans gluten.", perhaps=True)


def test_the_last_word_counts_each_time() -> None:
    """What is taken out at the end of a text leaves a space, beyond which nothing is read."""
    text = "sugar, salt, mustard seeds, skimmed milk powder, wheat flour"

    assert [["gluten", "milk", "mustard"]] * 50 == [named(text, "en") for _ in range(50)]


def test_other_languages_do_not_count() -> None:
    """A French screw (vis) is no Dutch fish."""
    assert ([], ["fish"]) == (named("vis", "fr"), named("vis", "nl"))


def test_every_group_has_words_in_every_language() -> None:
    """Each word of the table is found by itself."""
    assert {language: set(GROUPS) for language in LANGUAGES} == {
        language: set(words_of(language)) for language in LANGUAGES
    }
    lost = []
    for language in LANGUAGES:
        meant = [(group, word) for group, words in words_of(language).items() for word in words]
        texts = pa.array([word.replace("*", "").removeprefix("=") for _, word in meant])
        groups = named_allergens(texts, pa.array([language] * len(texts))).groups.tolist()
        lost += [one for one, found in zip(meant, groups, strict=True) if one[0] not in names_of(found)]
    assert [] == lost


def test_where_each_word_stands_is_told() -> None:
    """Each mention has the place of its text, the word in lower case, and its group."""
    found = named_allergens(pa.array(["Riz", "LAIT, soja", None]), pa.array(["fr", "fr", "de"]))

    assert [(1, "lait", ["milk"]), (1, "soja", ["soya"])] == [
        (place, word, names_of(int(meaning)))
        for place, word, meaning in zip(
            found.text.tolist(), found.word.to_pylist(), found.meaning, strict=True
        )
    ]


def marked(pattern: str) -> Callable[[str], str]:
    """Return a function that marks every long word of a text that has no markup yet."""
    return lambda text: text if re.search("[<&_]", text) else re.sub(r"[^\W\d_]{3,}", pattern, text)


@pytest.mark.slow
@each_row(
    "written",
    [
        lambda text: text if "&" in text else text.upper(),
        lambda text: unicodedata.normalize("NFD", text),
        lambda text: text.replace(" ", "\u00a0"),
        lambda text: (
            re.sub("(?<=[A-Za-z])(?=[a-z])", "\u00ad", text) if not re.search("[<&]", text) else text
        ),
        marked(r"<b>\g<0></b>"),
        marked(r"_\g<0>_"),
        marked(r"**\g<0>**"),
    ],
    ids=["capitals", "combining accents", "hard spaces", "soft hyphens", "bold", "underscores", "asterisks"],
)
def test_the_way_of_writing_changes_nothing(written: Callable[[str], str]) -> None:
    """Capitals, accents of two characters, markup around words: the same allergens."""
    languages = pa.array([one.language for one in labelled()])
    plain = named_allergens(pa.array([one.text for one in labelled()]), languages).groups.tolist()
    texts = [written(one.text) for one in labelled()]

    changed = named_allergens(pa.array(texts), languages).groups.tolist()

    assert [] == [text for text, one, other in zip(texts, plain, changed, strict=True) if one != other]


INGREDIENTS = (
    "sugar",
    "skimmed milk powder",
    "wheat flour",
    "whole egg",
    "cocoa butter",
    "salt",
    "mustard seeds",
)
WARNINGS = (
    "may contain soybean and/or fish",
    "may contain traces of: nuts, sesame",
    "produced in a factory that also handles peanuts, celery",
    "contains no nuts",
    "free from soya, fish and nuts",
    "not suitable for people with a nut allergy",
)


@pytest.mark.slow
@given(
    st.lists(st.sampled_from(INGREDIENTS), min_size=1, unique=True),
    st.sampled_from(WARNINGS),
    st.integers(min_value=0),
)
@example(["skimmed milk powder", "wheat flour"], WARNINGS[0], 0)
def test_a_warning_in_brackets_takes_and_adds_nothing(ingredients: list[str], warning: str, at: int) -> None:
    """A phrase is ignored in every position, also as a sentence at the end."""
    alone = named(", ".join(ingredients), "en")
    place = at % len(ingredients)
    inside = [*ingredients[:place], f"{ingredients[place]} ({warning})", *ingredients[place + 1 :]]

    assert alone == named(", ".join(inside), "en")
    assert alone == named(f"{', '.join(ingredients)}. {warning.capitalize()}.", "en")
    assert alone == named(f"{warning.capitalize()}. Ingredients: {', '.join(ingredients)}", "en")


@pytest.mark.slow
@given(st.text(max_size=300))
@example("may contain " + "(" * 200)
@example("traces de ; " * 25)
@example("&#x110000; &bogus; <b")
def test_any_text_can_be_read(text: str) -> None:
    """Whatever the text, every found word occurs in it."""
    found = named_allergens(pa.array([text]))
    words = [as_written(word, text) for word in found.word.to_pylist()]

    assert 1 == len(found.groups)
    assert all(word in text or word in folded(pa.array([text]))[0].as_py() for word in words if word)
    assert 1 == len(only_lists_allergens(pa.array([text])))


def test_a_hostile_text_takes_no_time() -> None:
    """The expressions are of a kind that reads every text once, however it repeats itself."""
    texts = ["may contain; " * 20_000, "sans lait, " * 20_000, "(" * 100_000, "no " * 50_000]

    assert len(texts) == len(named_allergens(pa.array(texts)).groups)


@each_row(
    ("word", "text", "written"),
    [
        ("oeufs", "Sucre, ŒUFS frais", "ŒUFS"),
        ("weiss", "Weiß", "Weiß"),
        ("celeri", "CÉLERI", "CÉLERI"),
        ("fruits a coque", "Fruits à coque", "Fruits à coque"),
        ("vollmilch", "Voll_milch_", "vollmilch"),
        ("ble", "blender, blé", "blé"),
    ],
)
def test_a_word_is_shown_as_it_is_written(word: str, text: str, written: str) -> None:
    """With capitals, accents and ligatures; as it was looked for, where marks part it."""
    assert written == as_written(word, text)
