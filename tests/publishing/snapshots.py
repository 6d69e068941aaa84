"""Snapshots of several small parts, as those of large catalogues have several large ones."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import prodex

#: These are saved in this order, whichever test comes first; all others are newer than the first.
_ORDER = ("Riz", "Riz long", "Riz rond", "Riz noir")

_HOME = tempfile.TemporaryDirectory(prefix="prodex-shop-")


def product(number: int, name: str = "Riz") -> dict[str, Any]:
    """Return a product with a text, a code and a brand."""
    return {
        "id": number,
        "gtin": f"{number:014d}",
        "brand": {"code": f"B{number % 3}", "label": "Acme"},
        "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": name}],
        "typePackaging": {"code": "BOX", "label": "Box"},
        "createdAt": "2026-11-20T08:00:00",
    }


def in_parts(*parts: list[dict[str, Any]]) -> prodex.Catalog:
    """Return a catalogue of several parts."""
    catalogs = [prodex.flatten(records) for records in parts]
    origin = catalogs[0].origin.with_ledger(prodex.catalog.Ledger(distinct=sum(map(len, catalogs))))
    return prodex.Catalog(tuple(part for one in catalogs for part in one.parts), origin)


def shop(second: str = "Riz", name: str = "shop") -> prodex.Catalog:
    """Return a snapshot of two parts; what `second` says changes the second alone. It is saved once for all tests."""
    for older in _ORDER[: _ORDER.index(second) if second in _ORDER else 1]:
        _shop(older, name)
    return _shop(second, name)


@cache
def _shop(second: str, name: str) -> prodex.Catalog:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRODEX_HOME", _HOME.name)
        return catalog_of(second).save(name)


def catalog_of(second: str) -> prodex.Catalog:
    """Return the same in memory."""
    return in_parts([product(1), product(2)], [product(3, second)])


def published_to(place: Path) -> prodex.Catalog:
    """Have the first snapshot published to a folder, as it was published once for all tests."""
    shutil.copytree(_published(), place, dirs_exist_ok=True)
    return shop()


@cache
def _published() -> Path:
    place = Path(_HOME.name) / "published to"
    prodex.publish(shop(), place)
    return place


def same(one: prodex.Catalog, other: prodex.Catalog) -> bool:
    """Whether both hold the same of what tells the snapshots here apart; `Catalog.equals` reads sixteen tables more."""
    return one.origin == other.origin and all(
        one.arrow(table).equals(other.arrow(table)) for table in ("products", "texts", "raw", "descriptors")
    )
