"""What every itables table of a panel is told: all rows that it is given, nothing around them, rows to choose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Said again with every update: what is left out falls back to what itables does otherwise. Rows are turned by page
#: in Python, and chosen by a click, or by Return where the keyboard has come to.
ITABLE: Mapping[str, Any] = {
    "paging": False,
    "ordering": False,
    "searching": False,
    "layout": dict.fromkeys(("topStart", "topEnd", "bottomStart", "bottomEnd")),
    "maxBytes": 0,
    "warn_on_undocumented_option": False,
    "select": {"style": "single", "keys": True},
    "classes": "display compact",
    "style": "width:100%",
}
