"""What the row of an attribute can take: which conditions make sense there, and which codes are in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from prodex.errors import InputError
from prodex.quality.picture_columns import PICTURES
from prodex.quality.requirements import NUTRIENTS, Ask, AskedAttribute, selector_of
from prodex.tables.attributes import MEASURES, TEXTS

#: Texts and codes whose kind no table declares.
_TEXTS = frozenset({*TEXTS, "conservationAdvices", "consumptionAdvice", "warnings"})
_CODES = frozenset({"brand", "kind", "GPC", "typePackaging", "originCountry"})
#: Of each kind of row: what it is called, what cannot be asked of it, and what can, as people write it.
_KINDS: Mapping[str, tuple[str, frozenset[str], str]] = {
    "text": ("a text", frozenset({"pixels"}), "'20-80 characters' or 'at most 80 characters'"),
    "code": ("a code", frozenset({"pixels", "characters"}), "'one of: FR, ES'"),
    "picture": (
        "a picture",
        frozenset({"characters", "codes", "a pattern"}),
        "'at least 800 pixels'",
    ),
    "quantity": ("a quantity", frozenset({"pixels", "characters"}), ""),
    "own": (
        "no picture",
        frozenset({"pixels"}),
        "'at most 80 characters' or 'one of: FR, ES'",
    ),
    "": (
        "anything",
        frozenset(),
        "'one of: FR, ES', 'at most 80 characters', 'at least 800 pixels' or 'pattern: [A-Z].*'",
    ),
}


@dataclass(frozen=True)
class RowKind:
    """What a row can take.

    Attributes
    ----------
    kind
        "text", "code", "picture", "quantity", or "own" for any other attribute; empty where the attribute is not known.
    codes
        The codes that its attribute has today with their labels; none where they are not known.
    """

    kind: str = ""
    codes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: AskedAttribute, codes: Mapping[str, str] | None = None) -> Self:
        """Return what the row of an attribute can take.

        >>> RowKind.of(AskedAttribute("assets.pictures[front]")).kind, RowKind.of(AskedAttribute("xOwn")).kind
        ('picture', 'own')
        """
        path = selector_of(asked.attribute)[0]
        if path == PICTURES:
            kind = "picture"
        elif path in _TEXTS:
            kind = "text"
        elif path in MEASURES or path == NUTRIENTS:
            kind = "quantity"
        elif codes or path in _CODES:
            kind = "code"
        else:
            kind = "own"
        return cls(kind, codes or {})

    @property
    def advice(self) -> str:
        """What can be written behind the word, with quotes around it."""
        examples = _KINDS[self.kind][2]
        return f"Write {examples} behind the word." if examples else "Write the word alone."

    def check(self, ask: Ask) -> None:
        """Refuse a condition that makes no sense here.

        Raises
        ------
        InputError
            With what can be written in its place.
        """
        what, refused, _ = _KINDS[self.kind]
        has = {
            "pixels": ask.pixels,
            "characters": ask.shortest or ask.longest,
            "codes": ask.one_of,
            "a pattern": ask.pattern,
        }
        for one, value in has.items():
            if value and one in refused:
                raise InputError(f"{one} cannot be asked of this attribute, which is {what}. {self.advice}")
