"""Values that many attributes are made of: localized texts and code values (spec, Resources)."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field

#: The default of members that may be absent.
ABSENT: Final[Any] = None


def tidy(schema: dict[str, Any]) -> None:
    """Remove titles, which only repeat the names, and null as the default of members that may be absent."""
    schema.pop("title", None)
    for member in schema.get("properties", {}).values():
        member.pop("title", None)
        member.pop("default", None)


def described(text: str) -> Any:
    """Describe a member that may be absent."""
    return Field(default=ABSENT, description=text)


class OpenObject(BaseModel):
    """An object that may have other members than those described: the attribute model is open."""

    # Built when first used: most processes that import these models never make the document.
    model_config: ClassVar[ConfigDict] = ConfigDict(extra="allow", json_schema_extra=tidy, defer_build=True)


class ClosedObject(BaseModel):
    """An object that has the members described and no others."""

    model_config: ClassVar[ConfigDict] = ConfigDict(extra="forbid", json_schema_extra=tidy, defer_build=True)


#: Date and time as records hold them. RFC 3339 asks for a zone, so the format is not `date-time`.
LocalDateTime = Annotated[
    str,
    Field(
        description="ISO 8601 local date-time without zone, YYYY-MM-DDThh:mm:ss; the sandbox means UTC.",
        json_schema_extra={"format": "date-time-local", "examples": ["2026-01-31T08:00:00"]},
    ),
]
Uuid = Annotated[str, Field(json_schema_extra={"examples": ["11111111-0000-4000-8000-000000000001"]})]
#: Codes are text in the specification; services were seen to send integers too.
Code = Annotated[str | int, Field(description="A code; text, though integers have been seen.")]


class CodeValue(OpenObject):
    """A code with its label in the language asked for (spec, Code value object)."""

    code: Code | None = ABSENT
    label: str | None = ABSENT
    description: str | None = ABSENT


class PicturedCodeValue(CodeValue):
    """A code value that has a picture: a brand, or the meaning of a label (spec, Code value object)."""

    pictureUrl: str | None = ABSENT


class Language(CodeValue):
    """Language descriptor of a localized text (spec, Localized text item)."""

    normalizedCode: str | None = ABSENT


class LocalizedText(OpenObject):
    """One text in one language (spec, Localized text item)."""

    expressedIn: Language | None = ABSENT
    data: str | None = ABSENT
