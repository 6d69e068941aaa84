"""CSV as people save it: its letters are those that agree with what is known, or nobody guesses them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from prodex.encodings import skeleton
from prodex.errors import SpreadsheetUnreadable
from prodex.formats.spreadsheet_files import sheets_of
from prodex.formats.workbook_cells import Cell, Row, cell_place
from tests.cases import each_row

#: What a catalogue has, by language; and an answer with letters of the same language.
TEXTS = {
    "fr": ("Crème brûlée à l'ancienne", "Pâté de chèvre, où mûrir"),
    "de": ("Käse für Größe Öl", "Süßer Ölkäse mit Äpfeln für Übergröße"),
    "es": ("Piñón y jamón añejo", "Jamón añejo y piñón"),
    "pl": ("Żółty ser z Łodzi, gęś", "Gęś żółta z Łodzi"),
    "cs": ("Žluťoučký kůň pěl ďábelské ódy", "Ďábelské ódy pěl žluťoučký kůň"),
    "ru": ("Сыр твёрдый", "твёрдый сыр"),
    "el": ("Τυρί φέτα", "φέτα τυρί"),
    "tr": ("Şekerli süt, ığdır İyi", "İyi süt ığdır"),
    "ja": ("牛乳 1L", "牛乳"),
}

#: How programs save a language: by their code page, that of their console, of the Mac, and as Unicode.
SAVED = [
    *((language, code) for language in TEXTS for code in ("utf-8", "utf-8-sig", "utf-16", "utf-32")),
    *((language, code) for language in TEXTS if language != "ja" for code in ("utf-16-le", "utf-16-be")),
    *((language, "cp1252") for language in ("fr", "de", "es")),
    *((language, "mac_roman") for language in ("fr", "de", "es")),
    *((language, "cp850") for language in ("fr", "de", "es")),
    *((language, "cp437") for language in ("fr", "de", "es")),
    *(("pl", code) for code in ("cp1250", "cp852", "iso8859_2", "mac_latin2")),
    *(("cs", code) for code in ("cp1250", "cp852", "iso8859_2", "mac_latin2")),
    *(("ru", code) for code in ("cp1251", "cp866", "mac_cyrillic")),
    *(("el", code) for code in ("cp1253", "cp737", "mac_greek")),
    *(("tr", code) for code in ("cp1254", "cp857", "mac_turkish")),
    ("ja", "cp932"),
]


def catalog_of(*texts: str) -> Callable[[Collection[str]], Collection[str]]:
    """Return what a catalogue with these texts knows."""
    return lambda asked: {one for one in texts if skeleton(one) in asked}


def read(
    path: Path, content: bytes, *known: str, headings: Callable[[int, Row], int] | None = None
) -> dict[str, Cell]:
    """Read the cells of a CSV file by their places."""
    path.write_bytes(content)
    with sheets_of(path, known=catalog_of(*known) if known else None, headings=headings) as (sheet,):
        return {
            cell_place(number, column): cell for number, row in sheet.rows() for column, cell in row.items()
        }


def headed(number: int, row: Row) -> int:
    """Return how many headings of a worklist a row has."""
    del number
    return len(
        {"GTIN", "Field", "Language", "Value seen", "New value"} & {cell.text for cell in row.values()}
    )


EVERYTHING = [one for pair in TEXTS.values() for one in pair[:1]]


@each_row(("language", "encoding"), SAVED)
def test_the_encoding_is_that_in_which_the_other_cells_agree(
    tmp_path: Path, language: str, encoding: str
) -> None:
    """With the catalogue, whose products have texts in many languages."""
    seen, answer = TEXTS[language]
    content = f"GTIN;Value seen;New value\r\n1;{seen};{answer}\r\n2;plain;text\r\n"
    found = read(tmp_path / "a.csv", content.encode(encoding), *EVERYTHING, headings=headed)
    assert {"B2": Cell(seen, "text"), "C2": Cell(answer, "text"), "C3": Cell("text", "text")} == {
        place: found[place] for place in ("B2", "C2", "C3")
    }


@each_row("known", [(), ("Fromage", "Käse")])
@each_row("encoding", ["cp1252", "cp1250", "mac_roman", "cp850", "cp437"])
def test_letters_that_agree_with_nothing_are_not_guessed(
    tmp_path: Path, encoding: str, known: tuple[str, ...]
) -> None:
    """Each cell with them is a problem with its place, and says how to save the file; the others are read."""
    content = "GTIN;Name;New value\n1;Café;Größe\n2;Bread;Butter\n3;é;plain\n".encode(encoding)
    found = read(tmp_path / "a.csv", content, *known)
    assert ["B2", "B4", "C2"] == sorted(place for place, cell in found.items() if cell.kind == "unreadable")
    assert {"C3": "Butter", "C4": "plain", "A2": "1"} == {
        place: found[place].text for place in ("C3", "C4", "A2")
    }
    for cell in found.values():
        assert not {"?", "\ufffd"} & set(cell.text)
    assert "UTF-8" in str(found["C2"].problem)
    assert "'Größe'" in str(found["C2"].problem)


def test_letters_on_which_encodings_differ_are_asked_for(tmp_path: Path) -> None:
    """What was compared is the same in Western and in Central Europe, and one letter of an answer is not."""
    content = "Name,New value\nCafé,Thé\nCafé,Crème\n".encode("cp1252")
    found = read(tmp_path / "a.csv", content, "Café")
    assert ("Café", "Thé", "text") == (found["A2"].text, *found["B2"][:2])
    assert ("unreadable", "Cr\\xe8me") == (found["B3"].kind, found["B3"].text)
    assert "'Crème'" in str(found["B3"].problem)
    assert "'Crčme'" in str(found["B3"].problem)
    assert (
        Cell("Crème", "text")
        == read(tmp_path / "a.csv", content + "Mère,x".encode("cp1252"), "Café", "Mère")["B3"]
    )


def test_a_file_of_two_encodings_is_not_guessed(tmp_path: Path) -> None:
    """Two suppliers' rows in one file agree in different encodings, so that neither is that of the file."""
    content = "Crème;ä\n".encode("cp1252") + "Größe;ä\n".encode("cp850") + b"plain;a\n"
    found = read(tmp_path / "a.csv", content, "Crème", "Größe")
    assert ["A1", "A2", "B1", "B2"] == sorted(
        place for place, cell in found.items() if cell.kind == "unreadable"
    )
    assert "a" == found["B3"].text


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_cell_that_is_no_utf_8_costs_itself(tmp_path: Path, mark: bytes) -> None:
    """In a file that says that it is UTF-8, and in one that agrees with the catalogue as such."""
    content = mark + "Name;New value\nCrème;Käse\nCrème;".encode() + b"K\xe4se\nplain;Bread\n"
    found = read(tmp_path / "a.csv", content, "Crème")
    assert ["Käse", "Bread"] == [found[place].text for place in ("B2", "B4")]
    assert ("unreadable", "K\\xe4se") == (found["B3"].kind, found["B3"].text)


@each_row(
    ("content", "bad", "good"),
    [
        ("a;Käse\nb;Milch".encode("utf-16")[:-1], "B2", "B1"),
        (
            b"\xff\xfe" + "a;Käse\nb;x".encode("utf-16-le") + b"\x3d\xd8" + "\nc;y".encode("utf-16-le"),
            "B2",
            "B3",
        ),
        ("a;Käse\nb;Milch\n".encode("utf-8-sig")[:-2] + b"\xc3\n", "B2", "B1"),
    ],
)
def test_half_a_character_costs_its_cell(tmp_path: Path, content: bytes, bad: str, good: str) -> None:
    """A file that was cut, or that another program cut a text in."""
    found = read(tmp_path / "a.csv", content)
    assert ("text", "unreadable") == (found[good].kind, found[bad].kind)
    assert not [one for one in "".join(cell.text for cell in found.values()) if 0xD800 <= ord(one) < 0xE000]


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """Zeros between everything, as in a picture."""
    for content in (b"a\0b\0\0;c\n", b"\0\0\0\0", "a;b\n\0;c".encode("utf-16")):
        with pytest.raises(SpreadsheetUnreadable, match="neither a workbook nor text"):
            read(tmp_path / "a.csv", content)


ROWS = "1{0}name{0}fr{0}{1}"
SEPARATED: dict[str, tuple[str, list[str]]] = {
    "full of commas": (
        "GTIN;Field;Language;New value\n" + "1;a,b,c,d,e;f,g,h,i;one, two, three, four, five\n" * 30,
        ["1", "a,b,c,d,e", "f,g,h,i", "one, two, three, four, five"],
    ),
    "semicolons in texts": (
        "GTIN,Field,Language,New value\n" + "1,a;b;c;d;e,f;g;h;i,one; two; three; four; five\n" * 30,
        ["1", "a;b;c;d;e", "f;g;h;i", "one; two; three; four; five"],
    ),
    "a title with commas": (
        "Dear Ben, please, fill, in, all, of, this\n;;\nGTIN;Field;Language;New value\n1;a;b;c, d\n",
        ["1", "a", "b", "c, d"],
    ),
    "a long letter above": (
        "Dear Ben, one, two, three, four, five, six\n" * 100 + "GTIN|Field|Language|New value\n1|a|b|c, d\n",
        ["1", "a", "b", "c, d"],
    ),
    "sep=": ("sep=;\nGTIN;Field;Language;New value\n1;a,b;c,d;e, f\n", ["1", "a,b", "c,d", "e, f"]),
    "SEP= in quotes": ('"Sep=|"\r\nGTIN|Field|Language|New value\r\n1|a|b|c\r\n', ["1", "a", "b", "c"]),
    "another sep=": ("sep=^\nGTIN^Field^Language^New value\n1^a^b^c\n", ["1", "a", "b", "c"]),
    "a sep= that is not true": ("sep=,\nGTIN;Field;Language;New value\n1;a,b;c;d\n", ["1", "a,b", "c", "d"]),
    "tabs": ("GTIN\tField\tLanguage\tNew value\n1\ta,b;c\td\te\n", ["1", "a,b;c", "d", "e"]),
    "quotes and lines": (
        '"GTIN";"Field";"Language";"New value"\n"1";"a""b";"c";"one,\ntwo;\nthree"\n',
        ["1", 'a"b', "c", "one,\ntwo;\nthree"],
    ),
    "old line ends": ("GTIN;Field;Language;New value\r1;a;b;c\r", ["1", "a", "b", "c"]),
    "one column more": ("GTIN,Field,Language,New value\n1,a,b,c,\n", ["1", "a", "b", "c"]),
}


@each_row("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@each_row("case", SEPARATED)
def test_the_separator_is_that_with_which_the_headings_are_found(
    tmp_path: Path, case: str, encoding: str
) -> None:
    """Whatever there is more of in the texts."""
    content, expected = SEPARATED[case]
    (tmp_path / "a.csv").write_bytes(content.encode(encoding))
    with sheets_of(tmp_path / "a.csv", headings=headed) as (sheet,):
        rows = [[cell.text for cell in row.values()] for _, row in sheet.rows()]
    assert ["GTIN", "Field", "Language", "New value"] in rows
    assert expected == rows[rows.index(["GTIN", "Field", "Language", "New value"]) + 1]


def test_rows_have_the_numbers_that_a_spreadsheet_shows(tmp_path: Path) -> None:
    """A line that declares the separator is none of them, and a text with lines is one row."""
    found = read(tmp_path / "a.csv", b'sep=;\na;b\n\n"x\ny";2\nz;3\n')
    assert {"A1": "a", "B1": "b", "A3": "x\ny", "B3": "2", "A4": "z", "B4": "3"} == {
        place: cell.text for place, cell in found.items()
    }
