"""Values that many attributes are made of: localized texts and code values (spec, Resources)."""

from __future__ import annotations

from prodex.sandbox.schemas.objects import ABSENT, Code, OpenObject


class Language(OpenObject):
    """Language descriptor of a localized text (spec, Localized text item)."""

    code: Code | None = ABSENT
    normalizedCode: str | None = ABSENT
    description: str | None = ABSENT
    label: str | None = ABSENT


class LocalizedText(OpenObject):
    """One text in one language (spec, Localized text item)."""

    expressedIn: Language | None = ABSENT
    data: str | None = ABSENT


class CodeValue(OpenObject):
    """A code with its label in the language asked for (spec, Code value object)."""

    code: Code | None = ABSENT
    label: str | None = ABSENT
    description: str | None = ABSENT


class PicturedCodeValue(CodeValue):
    """A code value that has a picture: a brand, or what a label stands for (spec, Code value object)."""

    pictureUrl: str | None = ABSENT
