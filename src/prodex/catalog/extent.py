"""What a file of chosen columns holds: which attributes, in which languages, and which of them could not all be read.

A query says what was requested of a service. A workbook was made by somebody else's program from columns that somebody
chose, and of what is in none of its columns it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Self

from prodex.files.untrusted import converted
from prodex.locales import short_of
from prodex.tables.attributes import within


@dataclass(frozen=True, slots=True)
class Extent:
    """What a file holds of its products.

    Attributes
    ----------
    attributes
        Wire paths of the attributes that it has columns of.
    languages
        Of attributes with localized texts: the short codes of the languages that it has columns in.
    in_part
        Attributes of which some values could not be read, so that a missing one may be there after all.

    Examples
    --------
    >>> extent = Extent(("namePublicLong", "brand"), (("namePublicLong", ("fr",)),))
    >>> extent.asked("brand"), extent.asked("kind"), extent.asked("namePublicLong", "de")
    (True, False, False)
    """

    attributes: tuple[str, ...]
    languages: tuple[tuple[str, tuple[str, ...]], ...] = ()
    in_part: tuple[str, ...] = ()

    def asked(self, attribute: str, language: str | None = None) -> bool:
        """Say whether there is a column of an attribute, or of something in it, and of its texts in a language."""
        if not any(_meet(attribute, path) for path in self.attributes):
            return False
        spoken = [languages for _, languages in self.spoken(attribute)]
        return (
            language is None or not spoken or any(short_of(language) in map(short_of, one) for one in spoken)
        )

    def spoken(self, attribute: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the localized attributes at, above or below a wire path, with the languages of their columns."""
        return (one for one in self.languages if _meet(attribute, one[0]))

    def is_in_part(self, attribute: str) -> bool:
        """Say whether some values of an attribute, or of something in it, could not be read."""
        return any(_meet(attribute, path) for path in self.in_part)

    def to_json(self) -> dict[str, Any]:
        """Return the extent as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Read what `to_json` wrote.

        Raises
        ------
        ValueError
            When it is anything else.
        """
        return converted(value, cls)


def _meet(one: str, other: str) -> bool:
    return within(one, other) or within(other, one)
