"""The rules of texts and languages, each on tiny products that pass, fail, are no question, or were not requested."""

from __future__ import annotations

from prodex.quality.states import State
from tests.quality.four_states import NOTHING, Case, described, named, text

LONG_FRENCH = "Notre recette est préparée en petites quantités avec des ingrédients choisis."
LONG_GERMAN = "Unser Rezept wird in kleinen Mengen aus ausgewählten Zutaten zubereitet."
LONG_FINNISH = "Reseptimme valmistetaan pienissä erissä huolella valituista raaka-aineista."
LONG_PORTUGUESE = "A nossa receita é preparada em pequenas quantidades com ingredientes escolhidos."
LONG_POLISH = "Nasz przepis przygotowujemy w małych ilościach ze starannie wybranych składników."
NAME, ABOUT = "namePublicLong", "description"

CASES = {
    "required_text": Case(
        named("Riz"),
        named("Rice", "en"),
        (NAME, "fr", None, NOTHING),
        parameters={"attribute": NAME, "language": "fr"},
    ),
    "has_text": Case(described("Riz"), described(" "), (ABOUT, None, None, NOTHING), parameters={"attribute": ABOUT}),
    "translated": Case(
        {NAME: [text("fr", "Riz"), text("nl", "Rijst")]},
        {NAME: [text("fr", "Riz"), text("de", "Reis")]},
        (NAME, "nl", None, "filled in de, fr only"),
        {NAME: []},
        others=(described("Rijst", "nl"),),
        parameters={"language": "nl"},
    ),
    "translations_differ": Case(
        {ABOUT: [text("fr", LONG_FRENCH), text("de", LONG_GERMAN)]},
        {ABOUT: [text("fr", LONG_FRENCH), text("de", LONG_FRENCH)]},
        (ABOUT, "fr", LONG_FRENCH, "the same as in de"),
        {ABOUT: [text("fr", "Coca-Cola"), text("de", "Coca-Cola")]},
    ),
    "in_stated_language": Case(
        described(LONG_FRENCH),
        described(LONG_GERMAN),
        (ABOUT, "fr", LONG_GERMAN, "reads as de, 100.0% sure"),
        named(LONG_GERMAN),
    ),
    "texts_say_their_language": Case(
        named("Riz"),
        {NAME: [text(None, "Riz"), text("xx", "Du riz")]},
        (NAME, "xx", "Du riz", "names no language that exists"),
        {},
    ),
    "one_text_per_language": Case(
        {NAME: [text("fr", "Riz"), text("nl", "Rijst")]},
        {NAME: [text("fr", "Riz"), text("fr", "Du riz")]},
        (NAME, "fr", "Riz", "one of several in this language"),
        {},
    ),
    "text_fits": Case(
        named("Riz"),
        named("Rizzi"),
        (NAME, "fr", "Rizzi", "5 characters, 4 allowed"),
        described("Rizzi"),
        parameters={"attribute": NAME, "characters": 4},
    ),
    "texts_fit": Case(
        described("Riz" * 6_666),
        described("Riz" * 6_667),
        (ABOUT, "fr", "Riz" * 6_667, "20,001 characters, 20,000 allowed"),
        {},
    ),
    "text_says_enough": Case(
        described("Du riz"),
        described(" Riz  "),
        (ABOUT, "fr", " Riz  ", "3 characters"),
        named("Riz"),
        parameters={"attribute": ABOUT, "characters": 4},
    ),
    "texts_without_control_characters": Case(
        named("Riz\tet blé"), named("Ri\x07z"), (NAME, "fr", "Ri\x07z", "holds a control character"), {}
    ),
    "texts_without_invisible_characters": Case(
        named("أرز"),
        named("Riz \u202etxt"),
        (NAME, "fr", "Riz \u202etxt", "holds a mark of direction, a zero-width space or a private sign"),
        {},
    ),
    "texts_without_mojibake": Case(
        named("PÃO DE AÇÚCAR, PÂTÉ Â L'ANCIENNE"),
        named("CrÃ¨me brÃ»lÃ©e"),
        (NAME, "fr", "CrÃ¨me brÃ»lÃ©e", "written as UTF-8 and read as something else"),
        {},
    ),
    "names_on_one_line": Case(
        named("Riz") | described("Du\nriz"),
        named("Du\u2028riz"),
        (NAME, "fr", "Du\u2028riz", "holds a line break"),
        described("Du\nriz"),
    ),
    "names_not_in_capitals": Case(
        named("BIO 100 %"), named("RIZ BIO"), (NAME, "fr", "RIZ BIO", "in capitals throughout"), described("RIZ BIO")
    ),
    "texts_without_stray_spaces": Case(
        named("Du riz"), named("Du  riz"), (NAME, "fr", "Du  riz", "has spaces at an end or two in a row"), {}
    ),
    "texts_without_placeholders": Case(
        named("Test de Rorschach, xxl"), named("(tbd)."), (NAME, "fr", "(tbd).", "stands there for its place only"), {}
    ),
    "texts_without_markup": Case(
        named("Sel < 5 g, poids > 3 g"), named("<b>Riz</b>"), (NAME, "fr", "<b>Riz</b>", "holds HTML"), {}
    ),
    "texts_without_character_references": Case(
        named("M&M; P&C;"),
        named("P&acirc;t&#233;"),
        (NAME, "fr", "P&acirc;t&#233;", "holds a character reference of HTML"),
        {},
    ),
    "texts_without_formulas": Case(
        named("-18 °C ou + 4 °C (max)"), named("=A1()"), (NAME, "fr", "=A1()", "a spreadsheet would compute it"), {}
    ),
    "names_without_addresses": Case(
        named("Riz.com"),
        named("Riz de www.riz.example"),
        (NAME, "fr", "Riz de www.riz.example", "holds an address"),
        described("www.riz.example"),
    ),
    "names_are_words": Case(
        named("7UP"), named("4711-A"), (NAME, "fr", "4711-A", "has fewer than 2 letters"), described("4711")
    ),
    "texts_not_cut_off": Case(named("Riz."), named("Riz de Cam..."), (NAME, "fr", "Riz de Cam...", "ends in dots"), {}),
    "brackets_are_closed": Case(
        described("Riz (blanc [long]), a) et b) :("),
        described("Riz (blanc [long], sel"),
        (ABOUT, "fr", "Riz (blanc [long], sel", "never closed: (blanc , sel"),
        {},
    ),
    "names_are_finished": Case(
        named("Riz blanc"),
        named("Riz, boîte de"),
        (NAME, "fr", "Riz, boîte de", "ends in a word that joins"),
        described("Riz,"),
    ),
    "text_in_one_language": Case(
        described(f"{LONG_FRENCH} {LONG_FRENCH}"),
        described(f"{LONG_FRENCH} {LONG_GERMAN}"),
        (ABOUT, "fr", f"{LONG_FRENCH} {LONG_GERMAN}", "reads as fr, de"),
        named(f"{LONG_FRENCH} {LONG_GERMAN}"),
    ),
    "description_is_more_than_name": Case(
        described("Du riz blanc.") | named("Riz"),
        described("Riz") | named("Riz"),
        (ABOUT, "fr", "Riz", "is the name again"),
        named("Riz"),
    ),
}  # fmt: skip

SIGNS = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\t\n\r\x85"]
EDGES = [
    *(("texts_without_control_characters", named(f"Riz{sign}"), State.FAIL) for sign in SIGNS),
    *(("texts_without_control_characters", named(f"Riz{sign}"), State.PASS) for sign in "\t\n\r\x85\xa0"),
    *(("texts_without_markup", named(t), State.FAIL) for t in ("<h2>", "a<BR/>", '<span class="a">', "Riz <!-- -->")),
    *(("texts_without_markup", named(t), State.PASS) for t in ("<riz>", "a < b > c", "<3", "<b")),
    *(("texts_without_mojibake", named(t), State.FAIL) for t in ("StraÃŸe", "Ã  la", "10 Â°C", "Lâ€™eau", "Å“uf")),
    *(("texts_without_mojibake", named(t), State.PASS) for t in ("NÃO", "Å", "â€", "MAÇÃ \xa0", "Ålesund")),
    *(("texts_without_mojibake", named(t), State.FAIL) for t in ("CrĂ¨me", "bĂŠ\xa0", "Ĺ‚adny", "dÄ™bu", "mÄ…ka")),
    *(("texts_without_mojibake", named(t), State.FAIL) for t in ("Cr√®me", "180 ¬∞C", "L‚Äôeau", "≈ìuf", "Espa√±a")),
    *(("texts_without_mojibake", named(t), State.PASS) for t in ("DĹŽKA", "CASĂ”", "CĂŞTIGĂ", "příští", "BĂIAT")),
    *(("texts_without_mojibake", named(t), State.PASS) for t in ("√2 ≈ 1,4", "ƒ 5 ≈ ±3", "‚Äpfel‘", "¬ a", "Ärger")),
    *(("texts_without_placeholders", named(t), State.FAIL) for t in ("xxx", "N/A", "-", "...", "Lorem ipsum dolor")),
    *(("texts_without_placeholders", named(t), State.PASS) for t in ("XL", "100 %", "水", "Testament", "🧨")),
    *(("texts_without_formulas", named(t), State.FAIL) for t in ("=1+1", "+1+cmd|' /C calc'!A0", "@SUM(1)", "= A1")),
    *(("texts_without_formulas", named(t), State.PASS) for t in ("+ 20 %", "- sel", "@home", "-18 °C", "==")),
    *(("texts_without_formulas", described(t), State.PASS) for t in ("- Sucre (50 %)", "+ eau (10%)", "-\tlait (a)")),
    *(("texts_without_formulas", described(t), State.FAIL) for t in ("-SUM(A1)", "+A1.B(2)", "=1", "-2+cmd|' /C'!A0")),
    *(("brackets_are_closed", described(t), State.FAIL) for t in ("a (b", "a [b {c}", "(a) (b", "a ((b) c", "b) a (c")),
    *(("brackets_are_closed", described(t), State.PASS) for t in ("a) b) c)", "(a]", "((a) [b])", "sourire :(", "a")),
    *(("names_are_finished", named(t), State.FAIL) for t in ("Riz,", "Riz ;", "Sel &", "Farine de", "SEL ET")),
    *(("names_are_finished", named(t, "de"), State.FAIL) for t in ("Reis,", "Reis mit", "Reis und", "Salz für")),
    *(("names_are_finished", named(t, "en"), State.FAIL) for t in ("Rice and", "Rice with", "Rice of the")),
    *(("names_are_finished", named(t, "nl"), State.FAIL) for t in ("Rijst met", "Rijst en", "Zout voor")),
    *(("names_are_finished", named(t, "es"), State.FAIL) for t in ("Arroz con", "Arroz y", "Sal de la")[:2]),
    *(("names_are_finished", named(t, "it"), State.FAIL) for t in ("Riso con", "Riso e", "Sale di")),
    *(("names_are_finished", named(t, "pt"), State.FAIL) for t in ("Arroz com", "Arroz e", "Sal de")),
    *(("names_are_finished", named(t, "da"), State.FAIL) for t in ("Ris med", "Ris og", "Salt til")),
    *(("names_are_finished", named(t, "sv"), State.FAIL) for t in ("Ris med", "Ris och", "Salt till")),
    *(("names_are_finished", named(t, "fi"), State.FAIL) for t in ("Riisi ja", "Riisi sekä")),
    *(("names_are_finished", named(t), State.PASS) for t in ("Vitamine E", "Best of", "M&M&quot;x&quot;", "Café d'or")),
    *(("names_are_finished", named(t, "en"), State.PASS) for t in ("Roll on", "For men", "Plug-in", "Tea & Co")),
    ("text_in_one_language", described(f"{LONG_FRENCH} Reis"), State.PASS),
    ("text_in_one_language", described(f"{LONG_PORTUGUESE}\n{LONG_FINNISH}"), State.FAIL),
    ("text_in_one_language", described("Ingrédients : farine de blé, sucre, sel, levure, huile de tournesol. Zutaten: "
        "Weizenmehl, Zucker, Salz, Hefe, Sonnenblumenöl und Wasser."), State.FAIL),
    ("text_in_one_language", described("Reis"), State.NOT_APPLICABLE),
    ("text_fits", named("Rizz"), State.PASS),
    ("text_says_enough", described("Rizz"), State.PASS),
    ("texts_fit", described("🧨" * 20_000), State.PASS),
    ("names_not_in_capitals", named("RIZ A"), State.PASS),
    ("in_stated_language", described("Zutaten: Salz, Zucker"), State.NOT_APPLICABLE),
    ("in_stated_language", named(LONG_GERMAN), State.NOT_APPLICABLE),
    ("in_stated_language", described(LONG_FRENCH, "fra-FR"), State.PASS),
    ("in_stated_language", described(LONG_FINNISH, "fi"), State.PASS),
    ("in_stated_language", described(LONG_FINNISH, "sv"), State.FAIL),
    ("in_stated_language", described(LONG_PORTUGUESE, "pt"), State.PASS),
    ("in_stated_language", described(LONG_PORTUGUESE, "es"), State.FAIL),
    ("in_stated_language", described(LONG_POLISH, "fr"), State.FAIL),
    ("in_stated_language", described(LONG_POLISH, "pl"), State.UNKNOWN),
    ("in_stated_language", described(LONG_GERMAN, "pl"), State.UNKNOWN),
    ("in_stated_language", described(LONG_GERMAN, ""), State.NOT_APPLICABLE),
    ("in_stated_language", described(f"{LONG_FRENCH} {LONG_GERMAN}", "es"), State.UNKNOWN),
    ("in_stated_language", {ABOUT: [text("fr", LONG_FRENCH), text("pl", LONG_POLISH)]}, State.UNKNOWN),
    ("in_stated_language", {ABOUT: [text("fr", LONG_GERMAN), text("pl", LONG_POLISH)]}, State.FAIL),
    ("in_stated_language", {ABOUT: [text("fr", LONG_FRENCH), text("de", "Salz")]}, State.PASS),
    ("one_text_per_language", {"synonyms": [{"text": [text("fr", "a"), text("fr", "b")]}]}, State.NOT_APPLICABLE),
]  # fmt: skip


def test_a_text_without_any_language_is_found() -> None:
    """A plain string is no localized text, but it is still a text without a language."""
    without = Case({}, {NAME: [text(None, "Riz")]}, (NAME, None, "Riz", "names no language that exists"))
    assert without.finding == without.found("texts_say_their_language")
