"""Templates: messages with places for values, recognized in the sentences that were made of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter

#: What the places of messages hold, by their names. All others hold what is shown as it is: a value of a product, a
#: code, an example.
NUMBERS = frozenset(
    {
        *("number", "count", "of", "days", "characters", "allowed", "letters", "limit", "least", "most"),
        *("percent", "pixels", "side", "figure", "salt", "sodium", "factor", "usual", "tolerance", "length"),
        *("products", "checks", "every", "findings", "sure", "kj", "kcal", "digits", "total"),
        *("ready", "not_ready", "undecided", "chosen", "then_figure"),
    }
)
LABELS = frozenset({"attribute", "listed", "label", "labels", "update"})
LANGUAGE_NAMES = frozenset({"language"})
#: These hold sentences of their own, or parts of one, that are translated as well.
SENTENCES = frozenset({"said", "why", "evidence", "how", "by", "conditions"})
#: Days and moments as the code writes them: "2026-11-26", "2026-11-26 08:05".
MOMENTS = frozenset({"moment", "then_moment", "day"})
#: How far a figure moves: "+4.50".
STEPS = "steps"
#: "ACME (3 products), Acme (1 product)": names, each with a number of products.
COUNTS = "counts"
#: "a nutrition table ("5 kJ"), an address ("a@b.fr")": names of parts, each with what was read.
PARTS = "parts"
#: The face of a picture: "1 (front)".
FACES = frozenset({"face", "other_face"})

_PLACE = re.compile(r"{(\w+)}")
_NUMBER = r"-?\d[\d,]*(?:\.\d+)?"
#: Letters between the places of a template, at least; fewer would be found in any text.
_FEWEST = 3


def _pattern(place: str) -> str:
    """Return what may stand at a place."""
    if place == STEPS:
        return rf"[+-]{_NUMBER.removeprefix('-?')}"
    return _NUMBER if place in NUMBERS else ".+?"


@dataclass(frozen=True)
class Template:
    """A message with places for values.

    Attributes
    ----------
    message
        The message, or one of the two forms of it.
    plural
        Both forms, where it has two.
    """

    message: str
    plural: tuple[str, str] | None = None

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """What finds its places in a sentence that was made of it."""
        pieces, seen = [], set()
        for place, piece in enumerate(_PLACE.split(self.message)):
            if place % 2 == 0:
                pieces.append(re.escape(piece))
            elif piece in seen:
                pieces.append(f"(?P={piece})")
            else:
                seen.add(piece)
                pieces.append(f"(?P<{piece}>{_pattern(piece)})")
        return re.compile("".join(pieces), re.DOTALL)

    @cached_property
    def literals(self) -> list[str]:
        """What stands between its places, the longest first."""
        return sorted(_PLACE.split(self.message)[::2], key=len, reverse=True)

    @cached_property
    def letters(self) -> int:
        """How many letters stand between its places."""
        return sum(map(len, self.literals))

    @property
    def begins_with_part(self) -> bool:
        """Whether a sentence made of it begins with one of its places, in capitals."""
        return self.message.startswith("{")


@dataclass(frozen=True)
class Templates:
    """Messages with places, those with the most letters between them first; and all messages.

    Examples
    --------
    >>> templates = Templates.of(["{characters} characters", "under {characters} characters", "long"])
    >>> [parts for _, parts in templates.matches("under 1,200 characters")], list(templates.matches("short"))
    ([{'characters': '1,200'}], [])
    """

    by_letters: tuple[Template, ...]
    messages: frozenset[str] = frozenset()

    @classmethod
    def of(cls, messages: Collection[str | tuple[str, ...]]) -> Templates:
        """Return those of some messages that have places; two forms of one are a pair."""
        found = []
        for message in messages:
            if isinstance(message, str):
                found.append(Template(message))
            else:
                found += [Template(one, (message[0], message[1])) for one in message]
        whole = frozenset(one for one in messages if isinstance(one, str))
        placed = [one for one in found if _PLACE.search(one.message) and one.letters >= _FEWEST]
        return cls(tuple(sorted(placed, key=attrgetter("letters"), reverse=True)), whole)

    def matches(self, text: str) -> Iterator[tuple[Template, dict[str, str]]]:
        """Yield the templates that a text may be made of, with the texts at their places; the likeliest first."""
        for template in self.by_letters:
            # Most have nothing of the text, which is found out fastest by what they say.
            if template.literals[0] in text and (found := template.pattern.fullmatch(text)) is not None:
                yield template, found.groupdict()
