"""The public names: those at the top, and those in modules that the reference describes beside them."""

from __future__ import annotations

import tomllib
from functools import reduce
from pathlib import Path
from typing import Any

import prodex

_PAGES = Path(__file__).parents[1] / "docs" / "reference" / "names.toml"

#: The pages of the reference, in their order.
PAGES: list[dict[str, Any]] = tomllib.loads(_PAGES.read_text("utf-8"))["pages"]
#: Every name as it is written after `prodex.`, such as "audit" and "quality.Audit".
PATHS: list[str] = [path for page in PAGES for path in page["names"]]
#: What they mean, by the name alone.
PUBLIC: dict[str, Any] = {
    path.rpartition(".")[2]: reduce(getattr, path.split("."), prodex) for path in sorted(PATHS)
}
