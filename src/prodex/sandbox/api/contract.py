"""What the sandbox decides where the specification says "not shown", in words; part of the OpenAPI document."""

from __future__ import annotations

from typing import Final

from prodex.sandbox.faults.fault import ENDPOINTS
from prodex.sandbox.faults.kinds import FAULTS

READING: Final = """\
A complete product data exchange service on this machine, with invented products and public access keys.

Its decisions where the specification says "not shown":

- An error is `{"error": code, "message": text}`; the codes stand with each endpoint.
- Unknown parameters are refused, as are empty lists and null; a `next_page` of null in a body is as if it were
  left out.
- Token, search and scenarios read their body as JSON without a Content-Type too, as text/plain, and in the
  character set that is named; a form, or anything else, is refused.
- A body may write numbers and flags as text (`"limit": "200"`, `"filter_has_packshot": "true"`); a number with a
  point is no integer.
- GTINs of `filter_gtins_in` are looked for as they are written: those of records have 14 digits.
- A path may end with a slash. HEAD answers as GET, without the body; OPTIONS, and 405, name the methods of the
  path in `Allow`.
- Records that fill a store from files are served as they are, also where they do not fit the schema of a product.
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
- Codes are strings, and what has no data is null, an empty array or absent. The settings `integer_codes` and
  `odd_blanks` send what was seen beside: codes of brands and kinds as integers, and "" and {} for no data.
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
- Imports run one after the other in the order of their arrival, and survive a restart. Each is seen as a whole,
  once it is done. One that takes longer
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
- Every write moves `updatedAt` to the second from which it is seen, never back and never ahead of the clock: two
  writes of one second have one date. Other pictures move `assets.lastUpdatedAt.pictures` too. Nothing else
  moves.
- Codes are looked up: languages (`expressedIn.code` of a text), units (of a number with `expressedIn`),
  `brand`, `kind`, `typePackaging`. An unknown one is the product's error and names value and referential. A
  code sent alone, `{"code": "fra-FR"}`, is stored with the label (and whatever else) that the exchange knows.
- An attribute that the schema of a product describes has to fit it, or is the product's error. Other attributes, and
  those whose shape the specification does not show, may be anything.
- Statuses stay: a write neither shares a product nor asks for its validation again.
- Products of one payload are written in their order; a GTIN that comes twice is written twice.
- Limits: 32,000,000 bytes of body, unpacked, and 10,000 products, both settable; 4,000,000 bytes and 64 levels of
  one attribute; 20,000 characters of a localized text; 200,000 XML elements of one product.
"""

XML_MODEL: Final = """\
Products as XML, as the specification shows it: elements named after the attributes, nested as in JSON, repeated for
arrays, and no XML attribute but `languages`:

    <SupplierProducts>
      <product>
        <gtin>03036811359935</gtin>
        <isConsumerUnit>true</isConsumerUnit>
        <lifeCycle>1</lifeCycle>
        <namePublicLong languages="fra-FR">Pain de campagne</namePublicLong>
        <namePublicLong languages="en">Country bread</namePublicLong>
        <netContent><data>500</data><expressedIn><code>GRM</code></expressedIn></netContent>
        <brand><code>ACME</code></brand>
        <assets><pictures><url>https://pictures.example/1.jpg</url><isPackshot>true</isPackshot></pictures></assets>
        <validationRules><validationRule><type>T</type><ruleId>5</ruleId></validationRule></validationRules>
      </product>
    </SupplierProducts>

- The root is SupplierProducts, its children are `product`, theirs are the members of the product. All of them
  may be in the root's namespace. Attributes of the namespaces xsi (where a schema lies, say) and xml say
  nothing.
- What a text means is decided by the declared type of the attribute, nested ones too: a text is taken exactly as
  it is written, blanks and all; true, false, 1 and 0 in any case are flags, and numbers are written as in JSON,
  both with blanks around them. An attribute without a declared type is text.
- One element of an attribute that is an array is an array of one. An array may also have an element of its own,
  named in the plural around the singular, as `validationRules` above. Where no type is declared, elements of one
  name are an array, and one alone is none.
- `languages="fra-FR"` is an item `{"expressedIn": {"code": "fra-FR"}, "data": text}` of an array, the text a text
  whatever it holds. A short code (`fr`) or a tag (`fr-BE`) is completed by the referential of languages.
- A value that is not of its type (`<lifeCycle>abc</lifeCycle>`), a single value that stands there twice, and an
  empty element where an array is meant, are the product's error, which names attribute and value; other products
  are taken.
- Comments, CDATA and processing instructions are read as XML has them; the encodings are UTF-8, UTF-16 and those
  of one byte a character that the declaration names. No DTD, no entity but the five of XML, no other attribute,
  no other namespace, at most 64 levels. What breaks one of these rules is a format error: ERROR, and nothing is
  imported.
- Beyond the specification, and for files that were written for the sandbox, these marks are still read:
  `type="number"`, `"boolean"`, `"string"` or `"object"` (the empty one) gives an element its type; `unit="GRM"`
  is an item like `languages`, with a number as its data; `list="true"` stands on an item of an array,
  `list="empty"` on an empty element for the empty array; `xsi:nil="true"` is null. Without them, XML says
  neither null nor the empty array.
"""

OTHERS: Final = """\
- Organisations are listed in an envelope of `totalResults`, `data` and `offset`, as `{"id", "nameLegal",
  "type"}`; 20 a page, 500 at most, to callers with a token. Options of the sandbox turn the envelope into a bare
  array, leave the total out, ignore offset and limit, or ask for no token.
- Segments come as an array of trees of `{"id", "name", "children"}`: all products, GPC class, kind. They are
  made once, of the products that fill the store. Permissions, in any case: READ (the default) shows segments
  with a product that the caller sees, WRITE with one that it owns or has in its active range, VALIDATE with one
  that waits for it.
- Scenarios: a retailer that has them enabled has three, the third without deadlines; `GET /sandbox/scenarios`
  lists them (a sandbox extra). A call is done as a whole, or refused as a whole. Its reply is `{"products": n}`.
  Eligible is what a manufacturer owns and has shared (not DRAFT, NOT_ASSIGNED or WAITING_TO_BE_SHARED), unless
  its assignation is pending. A deadline is today or later, UTC, and comes with at least one activation. What is
  active shows in the product, for that retailer alone, as `requiredScenarios`: an array of `{"id", "deadline"}`.
"""

FILES: Final = """\
The files of products are no part of the service; the sandbox brings its own, at `/media/`, by GET and HEAD, without a
token:

- A record names them under `https://media.prodex.example/`, which is nowhere. In replies that is the address at
  which the sandbox was called (its Host), `http://127.0.0.1:8000/media/` say; in an upsert, it is turned back.
  So records stay right when the sandbox moves to another port, and are served alike as long as it has the same:
  the port belongs to the home. Addresses of other hosts stay as they are, and are not served.
- Pictures, originals and renditions, are drawn when they are asked for, and are true to the record: `width` x
  `height` pixels, 1000 where it has none; `format` (jpeg, tiff, png), else the ending of the name; exactly
  `fileSize` bytes and the CRC-32 `crc32`, where it has them. They show the face that `productFace` says, with
  brand and name, and on the back a barcode of the GTIN. The same record always gives the same bytes.
- `crc32` is a number, or text: up to 8 hexadecimal digits, more than 8 decimal ones. Pictures of one product
  with the same `crc32` show the same.
- Brands and labels (`pictureUrl`) have a logo, documents one page of PDF. No video and no page is made:
  `file_not_served`, as is a picture of more than 40 million pixels, or of too few bytes for its pixels.
- A range of bytes is answered with 206, one that begins past the end with 416; several ranges at once get the
  whole file. ETags are strong, and `If-Range` and `If-None-Match` go by them.
"""

FAILING: Final = """\
Nothing goes wrong here unless it is ordered: by `--fault` of the command, or in Python by `Sandbox(faults=[...])`
and `order`. `Fault("503", at=3)`, or `--fault 503@3`, hits the third call that lists or searches products, counted
since the order; calls that are tried again count again. `times` hits so many calls in a row, and `endpoint` another
endpoint: {endpoints}. `media` are the files of products; `all` is the service without them. The faults:

{faults}

What is odd all the time is a setting, an option of the command each: `latency` (calls wait side by side),
`clock_skew` (Date, and updatedAt of what is written, are ahead), `exclusive_from` and `exclusive_to` (bounds of dates
leave their own second out), `endless_scroll` (after the last page comes the first again), `total_shrinks` (each page
after the first announces and holds fewer in all), `cursor_changes` (off: one cursor for the whole scroll),
`scroll_end`, `token_lifetime`, `cursor_lifetime`.

A reply that is truncated has been given: a page of a scroll can be asked for again by the same cursor where cursors
change; where they stay equal, the scroll has moved on. An upsert has been taken in.
""".format(
    endpoints=", ".join(f"`{name}`" for name in ENDPOINTS),
    faults="\n".join(f"- `{name}`: {kind.meaning}" for name, kind in FAULTS.items()),
)

PROTECTION: Final = """\
A browser on this machine reaches the sandbox, and so do the pages that it shows. What keeps these out:

- Calls are answered under the names of this machine (`localhost`, loopback addresses), with a port or without,
  under the address that the sandbox listens on, and under names given by `--allow-host`. Any other `Host` gets
  421, `host_not_served`: a page cannot make its own name lead here.
- A call with an `Origin` of another host is refused by every endpoint that takes a body: 403, `origin_foreign`.
  Programs send none. No reply has a header of CORS, so that pages of others read nothing.
- Every reply says `X-Content-Type-Options: nosniff`.
- Wrong secrets are counted. After four for one client id, whether it is known or not, each further one makes it
  wait, 1, 2, 4 and up to 60 seconds; meanwhile no secret of it is looked at: 429, `too_many_attempts`, with
  `Retry-After`. After twenty from one address, its wrong tries get the same answer; right secrets of others are
  taken. A right secret ends the wait of its client for later; a quarter of an hour without a wrong one ends it
  for all.
- The home, with access keys and the key that signs tokens, is readable by its owner only, and so is the file of
  `--ready`.
"""

#: The contract's prose by title.
SECTIONS: Final = {
    "Reading": READING,
    "Writing": WRITING,
    "Products as XML": XML_MODEL,
    "Organisations, segments, scenarios": OTHERS,
    "Files of products": FILES,
    "Strangers": PROTECTION,
    "Faults on order": FAILING,
}

DESCRIPTION: Final = "\n".join(SECTIONS.values())
