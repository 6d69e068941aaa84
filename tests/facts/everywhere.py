"""Every place that says what a product is called, or puts products into groups, asked the same way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import prodex
from prodex.catalog import Catalog, Origin
from prodex.display.report.products import cards, failing
from prodex.exploration.facets import Facets
from prodex.exploration.product_columns import ProductColumns, ProductRows
from prodex.exploration.table_page import cells
from prodex.notebook.views.card_contents import read_card
from prodex.pictures.contact_sheet import gallery
from prodex.pictures.download import download_pictures
from prodex.query import ProductQuery
from prodex.store.reading import flatten
from prodex.worklists.rows import finding_rows

Record = dict[str, Any]
#: What a product is called in one place, by its key; None where it has no name.
Names = dict[str, str | None]
#: The groups in one place: code, what it is called, and how many products it holds.
Groups = set[tuple[str | None, str | None, int]]

#: Nobody has such a text, so that every product fails and is listed.
CHECKS = {"required_text": {"attribute": "warnings", "language": "fi"}}


def text(language: str, data: Any) -> Record:
    """Return a localized text as the service writes it."""
    return {"expressedIn": {"code": language}, "data": data}


def market(number: Any) -> Record:
    """Return the part of a record that says its market."""
    return {"product_key": {"target_market_id": number}}


def catalog_of(records: list[Record], asked_market: int | None = None) -> Catalog:
    """Return the records as a catalogue, perhaps of a query for one market."""
    catalog = flatten([_with_pallet(record) for record in records])
    if asked_market is None:
        return catalog
    origin = Origin(catalog.origin.source, ProductQuery(target_market=asked_market))
    return Catalog(catalog.parts, origin)


def _with_pallet(record: Record) -> Record:
    """Give a product a GTIN, a pallet and a picture, so that places which list these list it."""
    gtin = f"{int(record['id']):014}"
    root = {"gtin": gtin, "typePackaging": {"code": "PALLET"}, "children": []}
    pictures = [{"url": "no address", "isPackshot": True}]
    return {"gtin": gtin, "logisticalHierarchies": [root], "assets": {"pictures": pictures}, **record}


def _audit(catalog: Catalog) -> Any:
    """Judge a catalogue once, however many places of its audit are asked."""
    if id(catalog) not in _AUDITS:
        _AUDITS[id(catalog)] = prodex.audit(
            catalog, {"checks": CHECKS}
        )  # which holds the catalogue, and so its id
    return _AUDITS[id(catalog)]


_AUDITS: dict[int, Any] = {}


def _rows(frame: pd.DataFrame) -> Names:
    names = frame["name"].astype(object).where(frame["name"].notna(), None)
    return dict(zip(frame["product_id"], names, strict=True))


def _audited(catalog: Catalog, _: Path) -> Names:
    return _rows(_audit(catalog).products)


def _failures(catalog: Catalog, _: Path) -> Names:
    return _rows(_audit(catalog).failures())


def _compared_audits(catalog: Catalog, _: Path) -> Names:
    return _rows(prodex.diff(_audit(flatten([])), _audit(catalog)).added)


def _worklists(catalog: Catalog, _: Path) -> Names:
    return _rows(finding_rows(_audit(catalog), {}).to_pandas())


def _report_cards(catalog: Catalog, _: Path) -> Names:
    return _of_report(cards(_audit(catalog)))


def _report_lists(catalog: Catalog, _: Path) -> Names:
    (shown,) = failing(_audit(catalog), [0])
    return _of_report(shown["rows"])


def _of_report(rows: list[dict[str, Any]]) -> Names:
    return {str(int(one["gtin"].text)): None if one["name"].is_missing else one["name"].text for one in rows}


def _explorer(catalog: Catalog, _: Path) -> Names:
    stock = ProductColumns(catalog)
    return dict(zip(stock.ids.to_pylist(), stock.shown("name").to_pylist(), strict=True))


def _explorer_page(catalog: Catalog, _: Path) -> Names:
    stock = ProductColumns(catalog)
    shown = cells(ProductRows(stock, np.arange(len(stock))), ("name",))["Name"].tolist()
    return dict(zip(stock.ids.to_pylist(), [None if one == "—" else one for one in shown], strict=True))


def _card(catalog: Catalog, _: Path) -> Names:
    found: Names = {}
    for product in catalog.arrow("products", ["product_id"])["product_id"].to_pylist():
        name = read_card(catalog, product).name
        found[product] = None if name.is_missing else name.text
    return found


def _contact_sheet(catalog: Catalog, _: Path) -> Names:
    sheet = gallery(catalog, per_page=100)
    return {one.thumbnail.product_id: one.name for one in sheet.cells}


def _downloads(catalog: Catalog, folder: Path) -> Names:
    return _rows(download_pictures(catalog, folder, progress=False).files)


def _added(catalog: Catalog, _: Path) -> Names:
    return _rows(prodex.diff(Catalog(flatten([]).parts, catalog.origin), catalog).products)


def _removed(catalog: Catalog, _: Path) -> Names:
    return _rows(prodex.diff(catalog, Catalog(flatten([]).parts, catalog.origin)).products)


def _pallets(catalog: Catalog, _: Path) -> Names:
    return _rows(catalog.contents())


NAMING: Mapping[str, Callable[[Catalog, Path], Names]] = {
    "Audit.products": _audited,
    "Audit.failures": _failures,
    "diff(audit, audit).added": _compared_audits,
    "worklists": _worklists,
    "cards of the report": _report_cards,
    "lists of the report": _report_lists,
    "explorer": _explorer,
    "page of the explorer": _explorer_page,
    "product card": _card,
    "contact sheet": _contact_sheet,
    "downloaded pictures": _downloads,
    "diff(catalog, catalog), added": _added,
    "diff(catalog, catalog), removed": _removed,
    "Catalog.contents": _pallets,
}


def grouped_everywhere(catalog: Catalog, by: str, folder: Path) -> Mapping[str, Groups]:
    """Return what every place makes of a catalogue's products under `by`."""
    return {
        "Audit.scores": _groups(_audit(catalog).scores(by), ["products"]),
        "Audit.groups": _audit_groups(_audit(catalog), by),
        "Difference.counts": _groups(
            prodex.diff(Catalog(flatten([]).parts, catalog.origin), catalog).counts(by),
            ["added", "removed", "changed", "touched only", "unchanged", "not comparable"],
        ),
        "worklists": _worklist_groups(_audit(catalog), by, folder),
        **({"facets": _facet_groups(catalog, by)} if by in Facets(ProductColumns(catalog)) else {}),
    }


def _groups(frame: pd.DataFrame, counts: list[str]) -> Groups:
    """Read groups from a frame: its first column is the code, the next the label, if it is no figure."""
    code = frame.columns[0]
    label = frame.columns[1] if frame.columns[1] not in counts else code
    objects = frame[[code, label]].astype(object).where(frame[[code, label]].notna(), None)
    totals = frame[counts].sum(axis=1).astype(int).tolist()
    return set(zip(objects.iloc[:, 0], objects.iloc[:, 1], totals, strict=True))


def _audit_groups(audit: Any, by: str) -> Groups:
    groups = audit.groups(by)
    sizes = np.bincount(groups.groups, minlength=len(groups.codes)).tolist()
    return set(zip(groups.codes, groups.labels, sizes, strict=True))


def _worklist_groups(audit: Any, by: str, folder: Path) -> Groups:
    index = audit.worklists(folder / by, by)
    objects = index[["code", "label"]].astype(object).where(index[["code", "label"]].notna(), None)
    return set(zip(objects["code"], objects["label"], index["products"].tolist(), strict=True))


def _facet_groups(catalog: Catalog, by: str) -> Groups:
    """Read a facet; it says in words what is called nothing, and tells equal labels apart."""
    values = Facets(ProductColumns(catalog))[by]
    labels = [
        None if code is None else label for code, label in zip(values.codes, values.labels, strict=True)
    ]
    return set(zip(values.codes, labels, values.totals.tolist(), strict=True))
