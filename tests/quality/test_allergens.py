"""The words of allergens: which text names which, in six languages, and what only sounds like one."""

from __future__ import annotations

import pyarrow as pa
import pytest

from prodex.quality.allergens import GROUPS, LANGUAGES, named_allergens, names_of, words_of


def named(text: str, language: str | None = None, *, perhaps: bool = False) -> list[str]:
    """Return the groups that a text names."""
    found = named_allergens(pa.array([text]), language and pa.array([language]), perhaps=perhaps)
    return names_of(int(found.groups[0]))


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
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
    """Free from it, or perhaps in it by chance."""
    assert [] == named(text)


def test_what_follows_a_warning_counts_again() -> None:
    """A warning ends where the next list of ingredients begins."""
    text = "Peut contenir du soja. Ingrédients : farine de blé, sucre, eau, sel, levure."

    assert ["gluten"] == named(text, "fr")


def test_a_list_of_allergens_may_tell_what_is_perhaps_in_it() -> None:
    """Whoever lists it has said it; "free from" remains no."""
    assert ["soya", "milk"] == named("Contient : lait. Peut contenir : soja. Sans gluten.", perhaps=True)


def test_other_languages_do_not_count() -> None:
    """A French screw (vis) is no Dutch fish."""
    assert ([], ["fish"]) == (named("vis", "fr"), named("vis", "nl"))


def test_every_group_has_words_in_every_language() -> None:
    """Each of them is found by itself."""
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
    """The place of the text, the word as written but lower case, and its group."""
    found = named_allergens(pa.array(["Riz", "LAIT, soja", None]), pa.array(["fr", "fr", "de"]))

    assert [(1, "lait", ["milk"]), (1, "soja", ["soya"])] == [
        (place, word, names_of(int(meaning)))
        for place, word, meaning in zip(
            found.text.tolist(), found.word.to_pylist(), found.meaning, strict=True
        )
    ]
