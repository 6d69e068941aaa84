"""Access tokens, organisations, and the errors of every endpoint (spec, endpoints 1 to 3, Errors)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from prodex.sandbox.model import OrganizationType
from prodex.sandbox.schemas.objects import ABSENT, ClosedObject


class TokenRequest(ClosedObject):
    """Client credentials (spec, endpoint 1)."""

    client_id: str
    client_secret: str
    grant_type: Literal["client_credentials"]


class AccessToken(ClosedObject):
    """A bearer token (spec, Access token response)."""

    access_token: str = Field(description="A JWT, for the header `Authorization: Bearer`.")
    token_type: Literal["JWT"] = ABSENT
    type: Literal["JWT"] = Field(
        default=ABSENT,
        description="The token's type under the name that one example has; see token_type_key.",
    )


class Error(ClosedObject):
    """Why a call was refused; the specification shows no such body."""

    error: str = Field(description="A code that does not change; each endpoint lists its own.")
    message: str = Field(description="What came, and what to send instead.")


class Organization(ClosedObject):
    """A participant of the exchange (spec, Other resources; its fields are not shown)."""

    id: int
    nameLegal: str
    type: OrganizationType


class OrganizationPage(ClosedObject):
    """One page of the organisations."""

    totalResults: int = ABSENT
    data: list[Organization]
    offset: int


class Health(ClosedObject):
    """That the sandbox runs; no part of the service."""

    service: str
    products: int
