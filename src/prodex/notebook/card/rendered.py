"""The card as a part of a page: poured into a template that escapes all of it. Nothing in it runs or is fetched."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import jinja2

from prodex.notebook.style import style
from prodex.verbatim import Words, ends, words

if TYPE_CHECKING:
    from prodex.notebook.card.contents import Card


@dataclass(frozen=True)
class Shown:
    """A picture as it is shown: its bytes, or in words why there are none.

    Attributes
    ----------
    image
        A JPEG or PNG file, or None.
    problem
        What went wrong, where something did.
    """

    image: bytes | None
    problem: str | None = None

    @property
    def address(self) -> str:
        """The bytes as a data address."""
        image = self.image or b""
        kind = "png" if image.startswith(b"\x89PNG") else "jpeg"
        return f"data:image/{kind};base64,{base64.b64encode(image).decode()}"

    @property
    def words(self) -> Words:
        return words(self.problem, 1_000)


def rendered(card: Card, images: Mapping[str, Shown] | None = None) -> str:
    """Return the card.

    Parameters
    ----------
    card
        What it shows.
    images
        Pictures by position, where somebody asked for them.
    """
    return "".join(parts(card, images))


def parts(card: Card, images: Mapping[str, Shown] | None = None) -> tuple[str, str, str]:
    """Return the card in three pieces: before the pictures, the pictures, and what comes after them."""
    page = _template().module
    return tuple(  # type: ignore[return-value]
        f'<div class="prodex card mathjax_ignore">{piece}</div>'
        for piece in (page.before(card), page.pictures(card.pictures, images or {}), page.after(card))  # type: ignore[attr-defined]
    )


def styled(html: str) -> str:
    """Return a page part with the style of all panels."""
    return f"<div><style>{style()}</style>{html}</div>"


@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("prodex.notebook", "card"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"n": lambda value: f"{value:,}", "closed": lambda text: text + ends(text)}
    return environment.get_template("card.html")
