"""Make `tests/old/rule-set-3.tar.xz`: a snapshot of a few products and its audit, as rule set 3 left them on a disk.

It is only run with the source of rule set 3, and the file is never made again; what a later rule set writes belongs
into a file of its own. Today's tests import its products from here.

    python -m tests.old.make_audit
"""

from __future__ import annotations

import os
import tarfile
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import prodex

NAME, PROFILE = "rule-set-3", "food-eu"
NOW = datetime(2026, 11, 26, 8, 0, tzinfo=UTC)
KEPT = Path(__file__).with_name(f"{NAME}.tar.xz")


def _food(number: int, gtin: str, said: str, language: str = "en", **fields: Any) -> dict[str, Any]:
    composition = [{"expressedIn": {"normalizedCode": language}, "data": said}]
    return {
        "id": number,
        "gtin": gtin,
        "isConsumerUnit": True,
        "GPC": {"code": "50000001"},
        "composition": composition,
        **fields,
    }


#: Of the first three, rule set 3 says of allergens what it should not; of the last two, what rule set 4 says.
PRODUCTS = [
    _food(1, "03036811359935", "Soy nuts, soy beans, water, sea salt, sunflower oil"),
    _food(2, "04006381333931", "Zucker, Weizenglukosesirup, Wasser, Speisesalz, Pektin", "de"),
    _food(3, "05449000000996", "Semoule, eau, sel de mer, sucre, huile de tournesol", "fr"),
    _food(4, "08710398503961", "Farine de blé, eau, levure, sel de mer", "fr"),
    _food(5, "07622210449283", "Riz blanc, eau, huile d'olive, sel de mer", "fr"),
]


def main() -> None:
    """Save the products as a snapshot, audit them, and pack the folder of prodex."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PRODEX_HOME"] = folder
        catalog = prodex.flatten(PRODUCTS).save(NAME)
        audit = prodex.audit(catalog, PROFILE, now=NOW, progress=False).save()
        if audit.rule_set != "3":
            raise SystemExit(f"This is rule set {audit.rule_set}; run it with the source of rule set 3.")
        with tarfile.open(KEPT, "w:xz") as packed:
            packed.add(folder, "home")


if __name__ == "__main__":
    main()
