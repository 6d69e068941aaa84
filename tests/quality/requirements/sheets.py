"""Sheets of requirements as people make and change them, with openpyxl: a program that is not ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from openpyxl import Workbook, load_workbook

import prodex
from prodex.catalog import Catalog
from prodex.quality.asks import Ask, Level

#: The headings of the sheet that is filled in, in its order.
HEADINGS = (
    *("Channel", "Market", "Consumer units", "Family", "Family label", "Family parent"),
    *("Attribute", "Language", "Level", "Condition", "By"),
)
#: A requirement of a French web shop; a test changes some of its cells.
ROW: Mapping[str, Any] = {
    "Channel": "Web shop",
    "Market": "France",
    "Family": "*",
    "Attribute": "brand",
    "Level": "must",
    "By": "kind",
}


def table(*rows: Mapping[str, Any]) -> list[list[Any]]:
    """Return a sheet of requirements, each row like `ROW` but for the cells that are given."""
    return [[*HEADINGS], *([{**ROW, **row}.get(one) for one in HEADINGS] for row in rows)]


def in_words(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a frame in which bounds, codes and patterns have become the words of its condition."""
    parts = {
        name: row[name] for name in ("one_of", "shortest", "longest", "pattern", "pixels") if name in row
    }
    rest = {name: value for name, value in row.items() if name not in parts}
    if "one_of" in parts:
        codes = parts["one_of"]
        parts["one_of"] = (codes,) if isinstance(codes, str) else tuple(codes)
    return rest | {"condition": Ask(Level.MUST, **parts).condition} if parts else rest


def made(
    path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]], change: Callable[[Any], object] = id
) -> Path:
    """Make a workbook, and change it before it is saved."""
    book = Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    change(book)
    book.save(path)
    return path


def changed(path: Path, change: Callable[[Any], object]) -> Path:
    """Open a workbook as another program does, change it, and save it."""
    book = load_workbook(path)
    change(book)
    book.save(path)
    return path


def asks(requirements: prodex.Requirements) -> dict[tuple[str, str], str]:
    """Return what is asked, in words, by attribute with language and family."""
    return {
        (" ".join(filter(None, [one.asked.attribute, one.asked.language])), one.family): one.ask.words
        for one in requirements.requirements
    }


def shop() -> Catalog:
    """Return a catalogue of four products of two kinds in two markets."""

    def text(code: str, words: str) -> list[dict[str, Any]]:
        return [{"expressedIn": {"code": code}, "data": words}]

    def product(number: int, market: str, kind: str, **more: Any) -> dict[str, Any]:
        return {
            "id": number,
            "kind": {"code": kind, "label": kind.title()},
            "product_key": {"target_market_id": market},
            **more,
        }

    picture = {"url": "https://x.example/a.jpg", "productFace": "1"}
    fat = {
        "quantity": 1.5,
        "isConceptualizedBy": {"code": "FAT", "label": "Fat"},
        "expressedIn": {"code": "GRM"},
    }
    return prodex.flatten(
        [
            product(
                1,
                "250",
                "TEA",
                namePublicLong=text("fra-FR", "Thé"),
                brand={"code": "A"},
                isConsumerUnit=True,
            ),
            product(2, "250", "TEA", assets={"pictures": [picture]}, xShelf={"code": "S"}),
            product(
                3,
                "250",
                "COFFEE",
                namePublicLong=text("fra-FR", "Café"),
                isPartitionedBy=[{"contains": [fat]}],
            ),
            product(4, "056", "COFFEE", namePublicLong=text("nld-BE", "Koffie")),
        ]
    )


def cells(path: Path, sheet: str) -> Iterator[tuple[str, str, str, Mapping[str, Any]]]:
    """Yield attribute, language and path of each row of a matrix, with its cells by the label of their column."""
    rows = load_workbook(path)[sheet]
    heading = [one.value for one in rows[6]]
    for row in rows.iter_rows(min_row=7):
        if row[2].value:
            by_label = {str(heading[place]): row[place] for place in range(3, len(heading))}
            yield str(row[0].value), row[1].value or "", row[2].value, by_label


def answer(
    book: Any, level: str, attribute: str, language: str = "", family: str = "*", condition: str = ""
) -> None:
    """Choose a level in the sheet that is filled in: in the row that is there, or in a copy of it for a family."""
    sheet = book["Requirements"]
    place = {cell.value: number for number, cell in enumerate(sheet[1])}
    for row in sheet.iter_rows(min_row=2):
        if (row[place["Attribute"]].value, row[place["Language"]].value or "") == (attribute, language):
            break
    else:
        raise AssertionError(attribute)
    if family != "*":
        sheet.append([cell.value for cell in row])
        row = sheet[sheet.max_row]
        row[place["Family"]].value = family
    row[place["Level"]].value, row[place["Condition"]].value = level, condition or None
