"""Accept-language: which of the sandbox's languages a caller wants labels in (spec, Language rule)."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

#: What labels are in when no language, an unknown one or an unreadable header is sent: US English.
DEFAULT_LANGUAGE: Final = "en"


def choose_language(header: str | None, languages: Collection[str]) -> str:
    """Choose one of `languages`, as two-letter tags, or the default.

    The header is a tag (fr), a tag with subtags (fr-FR) or a list of them with weights. The best weighted
    language that is known wins, the first of equals; parts that cannot be read count for nothing.

    Examples
    --------
    >>> choose_language("de-CH, fr;q=0.8", {"fr", "nl"})
    'fr'
    """
    wanted: list[tuple[float, str]] = []
    for part in (header or "").split(","):
        tag, *parameters = (piece.strip().lower() for piece in part.split(";"))
        wanted.append((_weight(parameters), tag.split("-")[0]))
    for weight, language in sorted(wanted, key=lambda pair: -pair[0]):
        if weight > 0 and (language in languages or language == DEFAULT_LANGUAGE):
            return language
    return DEFAULT_LANGUAGE


def _weight(parameters: list[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                return min(float(value), 1.0)
            except ValueError:
                return 0.0
    return 1.0
