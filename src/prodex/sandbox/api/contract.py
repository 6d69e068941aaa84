"""What the sandbox decides where the specification says "not shown": the prose of `contract.md`, by section.

It is part of the OpenAPI document and of the page at /docs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib import resources
from typing import Final

from prodex.sandbox.faults.fault import ENDPOINTS
from prodex.sandbox.faults.kinds import FAULTS

_HEADING: Final = re.compile(r"^## (.+)\n\n", re.MULTILINE)


def _sections() -> dict[str, str]:
    text = resources.files(__package__).joinpath("contract.md").read_text("utf-8")
    # Kinds of fault have their meanings where they are declared, so that the prose cannot disagree with them.
    text = text.replace("{endpoints}", ", ".join(f"`{name}`" for name in ENDPOINTS))
    text = text.replace("{faults}", "\n".join(f"- `{name}`: {kind.meaning}" for name, kind in FAULTS.items()))
    _, *parts = _HEADING.split(text)
    return {title: f"{prose.strip()}\n" for title, prose in zip(parts[::2], parts[1::2], strict=True)}


#: The contract's prose by title.
SECTIONS: Final[Mapping[str, str]] = _sections()

DESCRIPTION: Final = "\n".join(SECTIONS.values())
