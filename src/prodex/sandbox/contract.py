"""What the OpenAPI document says beyond what FastAPI finds out itself; parameters come from `FILTERS`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from prodex.sandbox.filters import FILTERS
from prodex.sandbox.refusals import REFUSALS

DESCRIPTION: Final = """\
A complete product data exchange service on this machine, with invented products and public access keys.

Its decisions where the specification says "not shown":

- An error is `{"error": code, "message": text}`; the codes stand with each endpoint.
- Unknown parameters are refused, as are empty lists and null.
- Dates without zone are taken for UTC. Bounds of dates are inclusive.
- A flag that is false asks for nothing.
- With `filter_source_include`, attributes without data (null or an empty array) are absent.
- Included fields of only gtin, id and assets make the rich-content response: gtin and id are always there,
  id as a string.
- Products come in the order of their arrival.
- A scroll goes through the products that matched at its first call. Filters, fields and language of that call
  hold; those of later calls are read, and change nothing. Cursors do not outlive the process.
- A reply of GET always has `next_page`, since a first scroll call looks like any other. A GET reaches 500
  products, or 4,000 with `filter_source_include`: an offset page beyond is refused, a scroll ends there.
- Accept-language knows the languages of the sandbox's labels; all else means US English.
"""

WRITING: Final = """\
How writing works here (upsert and its tracking), where the specification leaves it open:

- POST /public/v1/products answers with a tracking id as soon as the payload is stored, whatever it holds; only
  what cannot be taken in at all is refused: no token, another Content-Type than application/json or
  application/xml, a body (or what a gzip body unpacks to) over the limit. XML in gives XML out:
  `<tracking>12</tracking>`.
- JSON: an object with the one member `data`, an array of objects. Anything else is a format error: ERROR, and
  nothing is imported. No product: EMPTY.
- Imports run one after the other in the order of their arrival, and survive a restart. One that takes longer
  than `import_timeout`, fails, or has ended the process three times is TIMEOUT; then nothing of it is imported.
- Each product stands alone: the good ones are imported, the others have an ERROR with a message.
- A present attribute replaces the stored one as a whole, also when it is an array; an absent one stays as it is,
  byte for byte; null deletes. `assets` alone is merged by member: `{"pictures": [...]}` replaces the pictures,
  and keeps documents and videos.
- `gtin`: 8, 12, 13 or 14 digits with a right check digit, kept as 14 digits. (A GTIN that is stored already is
  taken as it is stored.) Tracking names the GTIN as it is kept.
- A product needs a text in one of nameLegal, namePublicLong, namePublicShort.
- A manufacturer writes its own products; an unknown GTIN creates one: a draft that only its owner sees.
  A retailer writes on products that it sees. What it writes is its own: only it sees it, over what the
  manufacturer says, also when the manufacturer changes that attribute later.
- Set by the exchange, and refused unless sent as they stand: id, uuid, _jsonVersion, createdAt, updatedAt, owner,
  product_key, supplierId, manufacturerSharingStatus, targetProductStatus, validation, hasTags, isTaggedBy,
  requiredScenarios, assets.lastUpdatedAt.
- Every write moves `updatedAt`; other pictures move `assets.lastUpdatedAt.pictures` too. Nothing else moves.
- Codes are looked up: languages (`expressedIn.code` of a text), units (of a number with `expressedIn`),
  `brand`, `kind`, `typePackaging`. An unknown one is the product's error and names value and referential. A
  code sent alone, `{"code": "fra-FR"}`, is stored with the label (and whatever else) that the exchange knows.
- A localized text has at most 20,000 characters.
"""

XML_MODEL: Final = """\
Products as XML. Everything that JSON can say is written so; nothing depends on the attribute's name:

    <SupplierProducts xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
      <product>
        <gtin>03036811359935</gtin>
        <isConsumerUnit>TRUE</isConsumerUnit>
        <namePublicLong languages="fra-FR">Pain de campagne</namePublicLong>
        <namePublicLong languages="eng-GB">Country bread</namePublicLong>
        <netContent unit="GRM">500</netContent>
        <brand><code>ACME</code></brand>
        <lifeCycle type="number">1</lifeCycle>
        <assets><pictures list="true"><url>https://pictures.example/1.jpg</url><isPackshot>TRUE</isPackshot></pictures></assets>
        <description xsi:nil="true"/>
        <allergens list="empty"/>
      </product>
    </SupplierProducts>

- The root is SupplierProducts, its children are `product`, theirs are the members of the product: an element is a
  member named as the element.
- An element with children is an object. `type="object"` without children is the empty object.
- An element without children is a string, exactly as it is written, blanks and all (`<a/>` is the empty string);
  but TRUE and FALSE are booleans. `type="number"` makes it a number, in JSON's spelling; `type="string"`
  makes it a string even where it is TRUE or FALSE.
- `xsi:nil="true"` is null; the element is empty.
- `languages="fra-FR"` is an item `{"expressedIn": {"code": "fra-FR"}, "data": text}` of a list, the text a string
  even where it is TRUE (null with `xsi:nil`). `unit="GRM"` is an item `{"expressedIn": {"code": "GRM"}, "data": number}`.
  They stand in a list even alone. An item with more in it (a label, say) is written as an object.
- Elements of one name in one parent are a list, in their order. A list of one has `list="true"` on its item (it
  may stand on each item of a longer one); the empty list is one empty element with `list="empty"`.
- Blanks between the children of an object count for nothing; other text between children is a format error.
- No other attribute, no namespace but xsi's, no DTD, no entity but the five of XML, at most 64 levels. What
  breaks a rule is a format error: ERROR, and nothing is imported.
- Not carried: lists directly inside lists, names that are not `[A-Za-z_][A-Za-z0-9_.-]*`, and characters that XML
  1.0 cannot hold (control characters but tab and line feed; a carriage return is written `&#13;`). Such
  products go as JSON.
"""

_ERROR_SCHEMA: Final = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {"error": {"type": "string"}, "message": {"type": "string"}},
}

_ENVELOPE: Final = {
    "description": "The products, and how many match.",
    "content": {
        "application/json": {
            "schema": {
                "type": "object",
                "required": ["totalResults", "data", "offset"],
                "properties": {
                    "totalResults": {"type": "integer"},
                    "data": {"type": "array", "items": {"type": "object"}},
                    "offset": {"type": "integer"},
                    "next_page": {"type": ["string", "null"]},
                },
            }
        }
    },
}

_ACCEPT_LANGUAGE: Final = {
    "name": "Accept-language",
    "in": "header",
    "description": "Language of the labels of code values, such as fr or fr-FR; US English unless given.",
    "schema": {"type": "string"},
}

LIST_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [
        *(
            {"name": name, "in": "query", "description": one.meaning, "schema": one.kind.get_schema}
            for name, one in FILTERS.items()
            if "GET" in one.methods
        ),
        _ACCEPT_LANGUAGE,
    ],
    "responses": {"200": _ENVELOPE},
}

SEARCH_CONTRACT: Final[dict[str, Any]] = {
    "parameters": [_ACCEPT_LANGUAGE],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "additionalProperties": False,
                    "properties": {
                        name: {**one.kind.post_schema, "description": one.meaning}
                        for name, one in FILTERS.items()
                        if "POST" in one.methods
                    },
                }
            }
        },
    },
    "responses": {"200": _ENVELOPE},
}

TOKEN_CONTRACT: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["client_id", "client_secret", "grant_type"],
                    "properties": {
                        "client_id": {"type": "string"},
                        "client_secret": {"type": "string"},
                        "grant_type": {"type": "string", "enum": ["client_credentials"]},
                    },
                }
            }
        },
    },
    "responses": {
        "200": {
            "description": "A bearer token.",
            "content": {
                "application/json": {
                    "schema": {
                        "type": "object",
                        "required": ["access_token"],
                        "properties": {
                            "access_token": {"type": "string"},
                            "token_type": {"type": "string", "enum": ["JWT"]},
                        },
                    }
                }
            },
        }
    },
}


def refusals(*codes: str) -> dict[int | str, dict[str, Any]]:
    """Describe refusals for the OpenAPI document, grouped by status."""
    by_status: dict[int, list[str]] = {}
    for code in codes:
        status, meaning = REFUSALS[code]
        by_status.setdefault(status, []).append(f"`{code}`: {meaning}")
    content = {"application/json": {"schema": _ERROR_SCHEMA}}
    return {status: {"description": _lines(texts), "content": content} for status, texts in by_status.items()}


def _lines(texts: Iterable[str]) -> str:
    return "\n\n".join(texts)
