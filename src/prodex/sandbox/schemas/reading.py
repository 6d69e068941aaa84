"""Product lists: the body of a search, and the envelope of every list (spec, endpoints 4 to 6)."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field, WithJsonSchema, create_model

from prodex.sandbox.filters import FILTERS
from prodex.sandbox.schemas.objects import ABSENT, ClosedObject
from prodex.sandbox.schemas.product import Product


class ProductPage(ClosedObject):
    """The products of one page, and how many match (spec, Response envelope)."""

    totalResults: int = Field(ge=0, description="Number of products that match.")
    data: list[Product]
    offset: int = Field(ge=0, description="Index of the first product of the page.")
    next_page: str | None = Field(
        default=ABSENT,
        description="Cursor of the next page of a scroll. Where the last page has one, an empty page follows.",
    )


class SearchEntry(ClosedObject):
    """A word that one of some fields has to hold (spec, endpoint 5)."""

    query: str = Field(min_length=1, examples=["chocolate"])
    fields: list[
        Literal[
            "namePublicLong.data",
            "composition.data",
            "allergens.data",
            "brand.label",
            "kind.label",
            "description.data",
        ]
    ] = Field(min_length=1)


class AdvancedSearch(ClosedObject):
    """A text search: every entry of `must` has to match (spec, endpoint 5)."""

    must: list[SearchEntry] = Field(max_length=32)


#: Filters whose value is an object, which has a name.
_OBJECTS: Final = {"advanced_search": AdvancedSearch}

_MEMBERS: Final[dict[str, Any]] = {
    name: (
        _OBJECTS.get(name) or Annotated[Any, WithJsonSchema(one.kind.post_schema)],
        Field(default=ABSENT, description=one.meaning),
    )
    for name, one in FILTERS.items()
    if "POST" in one.methods
}

#: The body of a search: the filters that a POST takes, as they are declared.
ProductSearch: Final = create_model(
    "ProductSearch",
    __base__=ClosedObject,
    __module__=__name__,
    __doc__="What to look for, which fields to return, and which page (spec, endpoint 5).",
    **_MEMBERS,
)
