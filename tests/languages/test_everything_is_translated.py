"""Nothing that prodex says is left in English: in findings, workbooks, mails and reports of other languages."""

from __future__ import annotations

import gzip
import html
import json
import re
from collections.abc import Iterable, Iterator
from email import message_from_bytes, policy
from functools import cache
from itertools import chain, product
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook

import prodex
from prodex.languages import LANGUAGES, Message, Translation
from prodex.quality.comparison import worsening
from prodex.quality.limits import grave_failures, low_score
from prodex.quality.rulebook import all_rules
from prodex.worklists.layout import TO_FIX
from prodex_sandbox.sample import shared_products
from tests.cases import each_row
from tests.catalogues import PACKAGES
from tests.catalogues import catalogue as messages_of
from tests.office import needs_office, saved_again
from tests.quality import planted
from tests.quality.workbooks import keys, validations
from tests.test_real_products import REAL

OTHERS = LANGUAGES[1:]
#: What is the same in every language: states of the service, and words that are written alike.
ALIKE = re.compile(r"[A-Z_]{2,}|[\d\W]*|GTIN|n = \d+|[A-E]( \d+ %)?|[\w.]+\.(csv|parquet)")


@cache
def judged(products: str) -> prodex.quality.Audit:
    """Audit the sample with its defects, or real products, by all rules that find something in them."""
    if products == "real":
        with gzip.open(REAL) as file:
            return prodex.audit(prodex.flatten([json.loads(line) for line in file][:1_500]), every_check())
    return prodex.audit(catalog(), every_check())


@cache
def catalog() -> prodex.Catalog:
    """Hold a part of the sample."""
    return prodex.flatten(one.record for one in shared_products(1_000))


@cache
def few() -> prodex.quality.Audit:
    """Audit a product of the sample for each check, attribute and form of a reason among its findings."""
    found = judged("sample").failures()
    form = found["reason"].str.replace(r"\d[\d.,]*|'[^']*'|\"[^\"]*\"", "", regex=True)
    some = found.groupby(["check", "attribute", form], dropna=False).head(1)
    of_several = found[found["check"] == "duplicate_gtin"]
    return prodex.audit(
        catalog().where(product_id=sorted({*some["product_id"], *of_several["product_id"]})), every_check()
    )


def every_check() -> prodex.Profile:
    """Return the checks of all profiles that come with prodex, and those that find the planted defects."""
    profiles = [prodex.Profile.read(name) for name in ("food-eu", "online-listing", "logistics", "pictures")]
    checks = {check.id: check for profile in [planted.profile(), *profiles] for check in profile.checks}
    return prodex.Profile("everything", checks=tuple(checks.values()))


def same_reasons(audit: prodex.quality.Audit, language: str) -> list[str]:
    """Return the reasons of findings that are the same in a language as in English."""
    words = Translation(language)
    english, other = (
        [
            reason
            for batch in audit.failure_batches(words=one)
            for reason in batch["reason"].cast("string").to_pylist()
        ]
        for one in (Translation(), words)
    )
    both = {one for one, its in zip(english, other, strict=True) if one and one == its}
    return sorted(one for one in both if not ALIKE.fullmatch(one))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("products", ["sample", "real"])
def test_every_reason_of_every_finding_is_known(products: str) -> None:
    """Rules make messages in whole columns; each of them has its words in every language."""
    if products == "real" and not REAL.is_file():
        pytest.skip("the real products are not at hand")
    audit = judged(products)
    assert {} == {language: left for language in OTHERS if (left := same_reasons(audit, language))}


def test_every_rule_is_translated_also_with_its_parameters() -> None:
    """Problem, title and what to do of each rule of prodex, and of each check of its profiles."""
    said = {
        text for rule in all_rules().values() if rule.shipped for text in (rule.problem, rule.title, rule.fix)
    }
    messages = {Message(text) for text in said if text and "{" not in text}
    messages |= {text for check in every_check().checks for text in (check.problem, check.fix)}
    for language in OTHERS:
        words = Translation(language)
        assert [] == sorted(str(one) for one in messages if one.id and words.say(one) == str(one))


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the worklists of the products of every check in each language."""
    made = tmp_path_factory.mktemp("worklists")
    audit = few()
    for language in LANGUAGES:
        audit.worklists(made / language, by="market", language=language)
    return {language: made / language for language in LANGUAGES}


#: Columns that hold what suppliers typed, and terms of the service.
DATA = ("gtin", "name", "value")


Sheets = list[tuple[str, list[tuple[Any, ...]]]]


def cells_of(book: Path) -> Sheets:
    """Return the name of each sheet of a workbook with the values of its cells, but for the hidden one."""
    opened = load_workbook(book, read_only=True)
    try:
        return [
            (one.title, list(one.iter_rows(values_only=True)))
            for one in opened.worksheets
            if one.title != "prodex"
        ]
    finally:
        opened.close()


@pytest.fixture(scope="module")
def english(folders: dict[str, Path]) -> dict[str, Sheets]:
    """Return the cells of each English workbook."""
    names = pd.read_csv(folders["en"] / "index.csv")["file"]
    return {name: cells_of(folders["en"] / name) for name in names}


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_every_cell_is_data_or_a_translation(
    folders: dict[str, Path], english: dict[str, Sheets], language: str
) -> None:
    """Beside the English workbook, the same cells hold the same data, and all else in the language."""
    left, changed = set(), set()
    is_data = {place for place, column in enumerate(TO_FIX) if column.name in DATA}
    for name, sheets in english.items():
        for (title, one), (_, its) in zip(sheets, cells_of(folders[language] / name), strict=True):
            is_to_fix = title.startswith("To fix")
            for number, rows in enumerate(zip(one, its, strict=True)):
                for place, (cell, translated) in enumerate(zip(*rows, strict=True)):
                    if number and (title == "Codes" or (is_to_fix and place in is_data)):
                        changed |= {(cell, translated)} if cell != translated else set()
                    elif isinstance(cell, str) and cell == translated:
                        left.add(cell)
    assert set() == changed
    # Keys of rows are for programs, and some names of markets are alike.
    of_programs = re.compile(
        r"|\d+ (?:France|Portugal)|France \(250\)|\[.*\]|s[0-9a-f]{8}\..*|[\w.-]+(\[.*\])?"
    )
    assert [] == sorted(one for one in left if not of_programs.fullmatch(one))


@pytest.mark.slow
@pytest.mark.sample
@each_row("language", OTHERS)
def test_notes_of_cells_and_the_hidden_sheet_are_in_the_language(
    folders: dict[str, Path], language: str
) -> None:
    """The hidden sheet says which language it is."""
    name = pd.read_csv(folders["en"] / "index.csv")["file"][0]
    books = {one: folders[one] / name for one in ("en", language)}
    assert language == keys(books[language])["language"]
    english, other = (
        {
            note[what]
            for note in validations(book, keys(book)["sheets"][0])
            for what in ("prompt", "promptTitle")
            if what in note
        }
        for book in books.values()
    )
    assert (True, set()) == (len(other) > 1, {one for one in english & other if " " in one})


@pytest.mark.slow
@pytest.mark.sample
@each_row("language", OTHERS)
def test_the_mail_is_in_the_language(folders: dict[str, Path], language: str) -> None:
    """From its subject to its last line."""
    name = pd.read_csv(folders["en"] / "index.csv")["mail"][0]
    mails = [
        message_from_bytes((folders[one] / name).read_bytes(), policy=policy.default)
        for one in ("en", language)
    ]
    english, other = ({*mail.get_body().get_content().splitlines(), mail["Subject"]} - {""} for mail in mails)
    assert (len(english), set()) == (len(other), english & other)


def nodes(page: str) -> Iterator[str]:
    """Yield the texts of a page, but for values of suppliers and names for programs."""
    plain = re.sub(r"<(style|script|bdi|code)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    yield from (" ".join(html.unescape(one).split()) for one in re.findall(r">([^<]+)<", plain))
    yield from (html.unescape(one) for one in re.findall(r'(?:aria-label|alt)="([^"]*)"', plain))


@pytest.fixture(scope="module")
def english_report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the texts of the English report."""
    page = few().to_html(tmp_path_factory.mktemp("report") / "en.html", language="en")
    return list(nodes(page.read_text("utf-8")))


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_every_text_of_the_report_is_translated(
    english_report: list[str], language: str, tmp_path: Path
) -> None:
    """Headings, sentences and figures, sources and laws, and for which products a check is."""
    page = few().to_html(tmp_path / "a.html", language=language).read_text("utf-8")
    english, other = english_report, list(nodes(page))
    assert f'<html lang="{language}">' in page
    assert len(english) == len(other)
    left = {one for one, its in zip(english, other, strict=True) if one == its and not ALIKE.fullmatch(one)}
    # Titles of standards that have no other.
    left = {one for one in left if not re.match(r"RFC |ISO 639|HTML Living|Unicode |OWASP|GDSN, is", one)}
    same = {
        "Catalogue",
        "Sections",
        "Score",
        "Code",
        "Type",
        "Name",
        "Position",
        "packshot",
        "format",
        "score",
    }
    same |= {
        "By",
        "Audit",
        "Profil",
        "Block",
        "Update",
        "Note",
        "Problem",
        "Text",
        "Product",
        "Query",
        "face",
    }
    codes = {"en", "fr", "nl", "de", "es", "it", "pt"}
    assert [] == sorted(left - same - codes)


@cache
def english_words(language: str) -> re.Pattern[str]:
    """Return what finds the words of the English messages, also those that stand among values."""
    words: set[str] = set()
    for message in chain.from_iterable(messages_of(language, one) for one in PACKAGES):
        forms = [message.id] if isinstance(message.id, str) else message.id
        translations = [message.string] if isinstance(message.string, str) else message.string
        pieces = {piece.strip(" ,.;:()") for one in forms for piece in re.split(r"{[^{}]*}", one)}
        # A shorter piece may be words of another language.
        long = {one for one in pieces if " " in one and len(one) > 10}
        words |= {one for one in long if not any(one in other for other in translations)}
    return re.compile("|".join(rf"\b{re.escape(one)}\b" for one in sorted(words)))


def english_among(texts: Iterable[Any], language: str) -> list[str]:
    """Return the texts that have words of the English messages; what is no text is none."""
    found = english_words(language)
    return sorted({one for one in texts if isinstance(one, str) and found.search(one)})


def english_in(page: str, language: str) -> list[str]:
    """Return the lines of a page that have words of the English messages.

    What suppliers wrote in English is not searched: in such a text many of our words are found.
    """
    page = re.sub(r'<td class="typed">.*?</td>', "", page, flags=re.DOTALL)
    shown = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    said = html.unescape(re.sub(r"<[^>]*>", "\n", shown))
    said += "\n".join(html.unescape(one) for one in re.findall(r'(?:aria-label|alt)="([^"]*)"', page))
    return english_among((line.strip() for line in said.split("\n")), language)


@pytest.fixture(scope="module")
def audits() -> list[prodex.quality.Audit]:
    """Audit some products with all that a report can say: requirements, accepted findings, audits before, a choice."""
    rows = [["Web shop", "*", "brand", "must"], ["Web shop", "TEA", "namePublicLong", "must"]]
    wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
    checks = {"required_text": {"attribute": ["namePublicLong", "description"], "language": "of the market"}}
    some = catalog().where(is_consumer_unit=True)
    by_requirements, by_checks = (prodex.audit(some, one) for one in (wanted, {"checks": checks}))
    few_of_them = by_checks.only(by_checks.products["product_id"][:40], "my own list")
    return [by_requirements, by_checks, few_of_them, prodex.audit(prodex.flatten([]), "core")]


@pytest.fixture(scope="module")
def accepted(
    audits: list[prodex.quality.Audit], tmp_path_factory: pytest.TempPathFactory
) -> prodex.quality.Audit:
    """Accept some findings of one of them."""
    path = tmp_path_factory.mktemp("accepted") / "a.jsonl"
    return prodex.accept(audits[1], audits[1].failures()[:30], reason="X", by="Y", to=path)


@pytest.fixture(scope="module")
def compared(
    audits: list[prodex.quality.Audit], accepted: prodex.quality.Audit
) -> list[prodex.quality.AuditComparison]:
    """Compare each with each; what they found is said in each language."""
    every = [*audits, accepted, accepted.with_accepted()]
    return [prodex.diff(old, new) for old, new in product(every, every)]


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_no_english_words_of_the_catalogue_are_in_a_report(
    audits: list[prodex.quality.Audit], accepted: prodex.quality.Audit, language: str, tmp_path: Path
) -> None:
    """Whoever made a sentence, and wherever it is shown: in a heading, a warning, a table or a note."""
    left = []
    for audit in [*audits, accepted, accepted.with_accepted()]:
        page = audit.to_html(tmp_path / "a.html", trend=audits[1:2], language=language).read_text("utf-8")
        left += english_in(page, language)
    assert [] == left


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_no_english_words_of_the_catalogue_are_in_a_workbook_or_a_mail(
    audits: list[prodex.quality.Audit],
    accepted: prodex.quality.Audit,
    folders: dict[str, Path],
    language: str,
    tmp_path: Path,
) -> None:
    """In no cell but those with data, on no sheet, the one to read first among them; in no line of a mail."""
    made = [folders[language]]
    for number, audit in enumerate((audits[0], audits[2], accepted)):
        audit.worklists(tmp_path / f"{number}", language=language)
        made.append(tmp_path / f"{number}")
    answers = tmp_path / "a.csv"
    answers.write_text(
        "GTIN;Field;Language;New value\n03036811359935;nameless;;?\n;;;\n1;brand;;OK\n", "utf-8"
    )
    prodex.read_worklist(answers, catalog()).worklist(tmp_path / "again", language=language)
    is_data = {place for place, column in enumerate(TO_FIX) if column.name in DATA}
    left = []
    for folder in (*made, tmp_path / "again"):
        for book in folder.glob("*.xlsx"):
            for number, (_, rows) in enumerate(cells_of(book)):
                # The first ones are for reading, and hold no data of products.
                kept = [
                    one for row in rows for place, one in enumerate(row) if number < 2 or place not in is_data
                ]
                left += english_among(kept, language)
        for mail in folder.glob("*.eml"):
            read = message_from_bytes(mail.read_bytes(), policy=policy.default)
            left += english_among([*read.get_body().get_content().splitlines(), read["Subject"]], language)
    assert [] == left


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_no_english_words_of_the_catalogue_are_on_the_terminal(
    audits: list[prodex.quality.Audit],
    accepted: prodex.quality.Audit,
    compared: list[prodex.quality.AuditComparison],
    language: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """An audit in words, what changed since another one, and what the commands print."""
    from prodex.cli import app
    from prodex.display.audit import comparison_text, text_of

    words = Translation(language)
    said = [text_of(one, words) for one in (*audits, accepted, accepted.with_accepted())]
    said += [comparison_text(one, words) for one in compared]
    earlier = catalog().where(is_consumer_unit=True).save("shop")
    catalog().save("shop")
    files = ["--html", f"{tmp_path / 'a.html'}", "--worklists", f"{tmp_path / 'to_fix'}", "--save"]
    since = ["--since", f"shop@{earlier.folder.name}", "--language", language]
    limits = ["--fail-under", "1", "--fail-on", "info", "--fail-if-worse", *since]
    for further in (limits, [*since, *files], limits, [*limits, "--new-only"]):
        app(["audit", "shop", *further], standalone_mode=False)
        said += capsys.readouterr()
    assert [] == english_among("\n".join(said).splitlines(), language)


@pytest.fixture(scope="module")
def sentences(audits: list[prodex.quality.Audit]) -> list[Message]:
    """Return what is said of two audits, or of one and its limits."""
    by_laws = [prodex.audit(catalog(), "food-eu", as_of=day) for day in ("2020-01-01", "2026-12-31")]
    every = [*audits, *by_laws]
    found = [worsening(prodex.diff(old, new)) for old, new in product(every, every)]
    said: list[Message | None] = [sentence for one in found for sentence in (one.figures, *one.why)]
    said += [low_score(one, 1, new_only=new_only) for one, new_only in product(every, (False, True))]
    said += [
        grave_failures(one, "info", new_only=new_only) for one, new_only in product(every, (False, True))
    ]
    return [one for one in said if one is not None]


@pytest.mark.slow
@pytest.mark.sample
@pytest.mark.parametrize("language", OTHERS)
def test_whether_an_audit_is_worse_or_breaks_a_limit_is_said_in_the_language(
    sentences: list[Message], language: str
) -> None:
    """Each sentence that a command or a job can say of two audits, or of one and its limits."""
    words = Translation(language)
    assert [] == english_among(map(words.say, sentences), language)
    assert [] == [str(one) for one in sentences if words.say(one) == str(one)]


@pytest.mark.slow
@needs_office
def test_libreoffice_opens_and_saves_a_worklist_of_another_language(tmp_path: Path) -> None:
    """What it saves is read as it was: each row has its key, and the sheets have their names."""
    catalog = prodex.flatten(one.record for one in shared_products(60))
    index = prodex.audit(catalog, "online-listing").worklists(tmp_path / "to_fix", language="fr")
    book = tmp_path / "to_fix" / index["file"][0]
    saved = saved_again(book, tmp_path)
    assert load_workbook(book).sheetnames == load_workbook(saved).sheetnames
    fix = prodex.read_worklist(saved, catalog)
    assert (int(index["findings"][0]), 0, 0) == (fix.rows, len(fix.refused), len(fix.notes))
