"""Values of which an update waits for acceptance: nobody is asked for them, and what is asked for can be answered."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import InputError
from prodex.sandbox import Sandbox
from prodex.worklists.pending_updates import pending_attributes
from tests.quality.workbooks import sheets, to_fix, validations, xml

from .bakery import RECORDS, Answer, record, text

GTIN = "03036811359935"
NAMES = [text("fra-FR", "PAIN DE CAMPAGNE"), text("nld-NL", "BOERENBROOD MET ZADEN")]
PROFILE = {
    "checks": {
        "names_not_in_capitals": {},
        "has_front_packshot": {},
        "has_net_content": {},
        "required_text": {"attribute": "description", "language": "fr"},
    }
}
#: A text, a picture below its attribute, and a quantity.
UPDATE = {
    "namePublicLong": [text("fra-FR", "Pain de campagne")],
    "assets": {"documents": [{"url": "https://cdn.example/d.pdf"}]},
    "netContent": [{"data": 500, "expressedIn": {"code": "GRM"}}],
}
ANSWERS = {
    "namePublicLong": "Pain bis aux graines",
    "assets.pictures.isPackshot": "https://cdn.example/front.jpg",
    "netContent": "500 g",
    "description": "Un pain de campagne aux graines de lin, cuit au four à bois.",
}


def catalog_of(update: Any, **attributes: Any) -> prodex.Catalog:
    return prodex.flatten(
        [record(1, GTIN, namePublicLong=NAMES, isConsumerUnit=True, lastRequest=update, **attributes)]
    )


def written(catalog: prodex.Catalog, folder: Path, owner: str = "Mill") -> pd.DataFrame:
    audit = prodex.audit(catalog, PROFILE)
    audit.worklists(folder)
    return audit.worklist_rows(owner)


def waits(rows: pd.DataFrame) -> dict[tuple[str, str | None], Any]:
    return {
        (row["attribute"], row["language"]): row["update_waits"]
        for row in rows.astype(object).where(rows.notna(), None).to_dict("records")
    }


def open_cells(path: Path) -> list[bool]:
    """Say for each row of a workbook whether its cell "New value" can be filled in."""
    number = list(sheets(path)["To fix"][0]).index("New value")
    column = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[number]
    with zipfile.ZipFile(path) as archive:
        styles = archive.read("xl/styles.xml").decode().split("<cellXfs")[1].split("<xf ")[1:]
    found = re.findall(rf'<c r="{column}(\d+)" s="(\d+)"/>', xml(path, "To fix"))
    return ['locked="0"' in styles[int(style)] for row, style in found if int(row) > 1]


def test_a_value_whose_update_waits_is_not_asked_for(tmp_path: Path) -> None:
    """Its row stays, with a locked cell and the reason in words; workbook, frame and index count it apart."""
    folder = tmp_path / "to_fix"
    audit = prodex.audit(catalog_of(UPDATE), PROFILE)
    index = audit.worklists(folder)
    path = folder / "Mill-4.xlsx"

    expected = [
        ("description", "A text in French", True),
        (
            "assets.pictures.isPackshot",
            "An update of pictures, documents and videos waits for acceptance; nothing to answer.",
            False,
        ),
        ("namePublicLong", "An update of long name waits for acceptance; nothing to answer.", False),
        ("namePublicLong", "An update of long name waits for acceptance; nothing to answer.", False),
        ("netContent", "An update of net content waits for acceptance; nothing to answer.", False),
    ]
    rows = to_fix(path)
    shown = [(row["attribute"], row["how"], cell) for row, cell in zip(rows, open_cells(path), strict=True)]
    assert expected == sorted(shown, key=lambda one: (not one[2], one[0]))
    lines = audit.worklist_rows()
    assert [[one["attribute"], one["how"]] for one in rows] == lines[["attribute", "how"]].values.tolist()
    assert {True: 4, False: 1} == lines["update_waits"].value_counts().to_dict()
    asked = {f"F{number}" for number, row in enumerate(rows, 2) if row["attribute"] == "description"}
    assert asked == {cell for one in validations(path) for cell in one["sqref"].split()}
    says = "To answer: 1 of 5 findings. Nothing to answer, since an update waits for acceptance: 4."
    for sheet in ("Read me", "Summary"):
        assert says in [row[0] for row in sheets(path)[sheet]], sheet
    assert [5, 1, 4] == index[["findings", "to_answer", "update_waits"]].iloc[0].tolist()


@pytest.mark.slow
@pytest.mark.parametrize("accepted", [False, True])
def test_what_is_asked_for_is_what_can_be_answered(tmp_path: Path, accepted: bool) -> None:
    """Row by row, writing and reading decide the same, also where the audit judges updates as accepted."""
    catalog = catalog_of({name: UPDATE[name] for name in ("assets", "netContent")})
    if accepted:
        catalog = catalog.with_pending_updates()
    rows = written(catalog, tmp_path / "to_fix")
    rows["new_value"] = rows["attribute"].map(ANSWERS)
    rows.loc[rows["language"] == "nl", "new_value"] = "Boerenbrood met zaden"
    rows.to_csv(tmp_path / "answers.csv", index=False)
    fix = prodex.read_worklist(tmp_path / "answers.csv", catalog, profile=PROFILE)

    assert rows["update_waits"].tolist() == [
        "waits for acceptance" in reason for reason in fix.answers["reason"]
    ]
    assert {"conflict": int(rows["update_waits"].sum()), "accepted": int((~rows["update_waits"]).sum())} == (
        fix.counts
    )
    assert rows["update_waits"].sum() == (1 if accepted else 2)  # the update itself fills netContent
    again = fix.worklist(tmp_path / "again")
    assert [0] == again["to_answer"].tolist()
    assert again["findings"].tolist() == again["update_waits"].tolist()


def test_an_update_of_one_language_holds_back_all_of_them(tmp_path: Path) -> None:
    """An update replaces the attribute as a whole; other attributes are asked for as ever."""
    rows = written(catalog_of({"namePublicLong": UPDATE["namePublicLong"]}), tmp_path / "to_fix")
    expected = {
        ("namePublicLong", "fr"): True,
        ("namePublicLong", "nl"): True,
        ("assets.pictures.isPackshot", None): False,
        ("netContent", None): False,
        ("description", "fr"): False,
    }
    assert expected == waits(rows)


@pytest.mark.slow
@pytest.mark.parametrize("update", [None, {}, [], "odd", 5, {"description": None}, {"other": 1}])
def test_where_no_update_of_it_waits_all_is_asked_for(tmp_path: Path, update: Any) -> None:
    """Absent, null, empty or odd, or about something else."""
    assert {False} == set(written(catalog_of(update), tmp_path / "to_fix")["update_waits"])


def test_an_update_without_a_value_counts_where_it_empties_one() -> None:
    """False and zero are values, and null or an empty list takes the product's own away."""
    own = {"namePublicLong": NAMES, "brand": {"code": "ACME"}, "kind": None, "allergens": []}
    update: dict[str, Any] = {
        "namePublicLong": [],
        "brand": None,
        "kind": None,
        "allergens": [],
        "lifeCycle": 0,
        "x": False,
    }

    assert {"namePublicLong", "brand", "lifeCycle", "x"} == pending_attributes({**own, "lastRequest": update})


@pytest.mark.slow
def test_what_is_not_known_is_asked_for(tmp_path: Path) -> None:
    """Without `lastRequest` in the catalogue, or without its records, nothing is held back."""
    catalog = catalog_of(UPDATE)
    catalog.export(tmp_path / "export", "csv")  # without the records
    query = prodex.ProductQuery(source_exclude=["lastRequest"])
    silent = prodex.flatten([record(1, GTIN, namePublicLong=NAMES, isConsumerUnit=True)])
    silent = silent.__class__(silent.parts, prodex.catalog.Origin("service", query))
    for name, unknown in (("exported", prodex.read_export(tmp_path / "export")), ("silent", silent)):
        rows = written(unknown, tmp_path / name)
        assert rows["update_waits"].isna().all(), name
        assert not rows["how"].str.contains("waits").any()
        assert all(open_cells(tmp_path / name / "Mill-4.xlsx"))


@pytest.mark.slow
def test_an_update_that_was_decided_meanwhile_holds_nothing_back(tmp_path: Path) -> None:
    """A value typed into a row that asked for none is read by the product as it is now, not by what the row says."""
    rows = written(catalog_of(UPDATE), tmp_path / "to_fix")
    assert rows["update_waits"].sum() == 4
    rows["new_value"] = rows["attribute"].map(ANSWERS).where(rows["attribute"] == "netContent")
    rows.to_csv(tmp_path / "answers.csv", index=False)

    rejected = prodex.read_worklist(tmp_path / "answers.csv", catalog_of(None), profile=PROFILE)
    assert {"accepted": 1} == rejected.counts
    took = catalog_of(None, netContent=UPDATE["netContent"])
    assert {"unchanged": 1} == prodex.read_worklist(tmp_path / "answers.csv", took, profile=PROFILE).counts


def test_a_worklist_of_an_earlier_version_is_read_as_before(answer: Answer) -> None:
    """It does not say what waits, and asks for all: an answer that waits is a conflict."""
    row = {"GTIN": GTIN, "Field": "netContent", "Language": "", "New value": "500 g"}
    fix = answer(row, {**row, "Field": "brand", "New value": "ACME"}, catalog=catalog_of(UPDATE))

    assert {"conflict": 1, "accepted": 1} == fix.confirm().counts
    assert "an update of netContent waits for acceptance" in fix.conflicts["reason"][0]


@pytest.mark.slow
def test_an_update_that_came_before_sending_is_not_asked_again(
    answer: Answer, mill: prodex.service.Client, exchange: Sandbox, tmp_path: Path
) -> None:
    """The service says so when the answers are sent; nothing is sent, and the next worklist asks for nothing."""
    catalog = prodex.load_products(mill, name="mill", progress=False)
    row = {"GTIN": GTIN, "Field": "namePublicLong", "Language": "fr", "New value": "Pain bis"}
    fix = answer(row, catalog=catalog)
    assert {"accepted": 1} == fix.counts
    exchange.change([RECORDS[0] | {"lastRequest": {"namePublicLong": NAMES}}])

    with pytest.raises(InputError, match="no answer is left"):
        fix.apply(mill, progress=False)
    assert {"1": {"namePublicLong"}} == {
        product: set(found) for product, found in fix.waiting.items() if found
    }
    assert [(1, 0, 1)] == list(
        fix.worklist(tmp_path / "again")[["findings", "to_answer", "update_waits"]].itertuples(
            index=False, name=None
        )
    )
