"""What the row of an attribute can take: which conditions make sense there, and which codes are in use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from prodex.quality.requirements import SHAPES, Ask, AskedAttribute, ValueShape, shape_of


@dataclass(frozen=True)
class RowKind:
    """What a row can take.

    Attributes
    ----------
    shape
        What its values are; anything where the attribute is not known.
    codes
        The codes that its attribute has today with their labels; none where they are not known.
    """

    shape: ValueShape = SHAPES[""]
    codes: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, asked: AskedAttribute, codes: Mapping[str, str] | None = None) -> Self:
        """Return what the row of an attribute can take.

        >>> RowKind.of(AskedAttribute("assets.pictures[front]")).kind, RowKind.of(AskedAttribute("xOwn")).kind
        ('picture', 'own')
        """
        shape = shape_of(asked.attribute)
        return cls(SHAPES["code"] if codes and shape.kind == "own" else shape, codes or {})

    @property
    def kind(self) -> str:
        """The kind of its shape."""
        return self.shape.kind

    @property
    def advice(self) -> str:
        """What can be written behind the word, with quotes around it."""
        return self.shape.advice

    def check(self, ask: Ask) -> None:
        """Refuse a condition that makes no sense here.

        Raises
        ------
        InputError
            With what can be written in its place.
        """
        self.shape.refuse(ask)
