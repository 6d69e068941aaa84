"""What a file is that holds no JSON, by how it begins: so that whoever gave it hears what to do."""

from __future__ import annotations

import re

#: How many bytes at the beginning are looked at.
LOOKED_AT = 4096

_UNPACK = "Unpack it, and give the files that were in it"
_PACKED = f"{_UNPACK}; JSON that gzip has packed (.gz) is read as it is"
_WORKBOOK = (
    "a workbook of Excel, and no JSON. Of the workbook of a platform prodex.read_workbook makes products; a filled-in "
    "worklist is read by prodex.read_worklist"
)
#: By their first bytes, as the makers of these formats publish them.
_FORMATS: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "packed by gzip, under a name that does not say so. Let it end in .gz"),
    (b"BZh", f"packed by bzip2. {_PACKED}"),
    (b"\xfd7zXZ\x00", f"packed by xz. {_PACKED}"),
    (b"\x28\xb5\x2f\xfd", f"packed by zstd. {_PACKED}"),
    (b"7z\xbc\xaf\x27\x1c", f"a 7z archive. {_PACKED}"),
    (b"Rar!\x1a\x07", f"a RAR archive. {_PACKED}"),
    (b"\xd0\xcf\x11\xe0", "an old file of Microsoft Office, and no JSON. A table is no record of products"),
    (b"%PDF-", "a PDF, and no JSON"),
    (b"PAR1", "a Parquet file, and no JSON. The folder of an export is read by prodex.read_export"),
)
_ZIP = b"PK\x03\x04"
#: Names that the parts of an Office document have, one of which is the first.
_OFFICE = re.compile(rb"\[Content_Types\]\.xml|_rels/|docProps/|xl/|customXml/")
_MARKUP = re.compile(r"<(\?xml|!doctype\s+html|html|[a-z_][\w.:-]*)[\s>/]", re.IGNORECASE)
_SEPARATORS = ",;\t|"


def other_format(head: bytes) -> str | None:
    """Say what a file is that holds no JSON, and what to do; None where it may be JSON, as far as its beginning shows.

    Parameters
    ----------
    head
        Its first bytes, `LOOKED_AT` of them if there are so many.

    Examples
    --------
    >>> other_format(b"BZh91AY")[:17], other_format(b'{"gtin": "03036811359935"}')
    ('packed by bzip2. ', None)
    >>> other_format(b"gtin;name" + bytes([10]) + b"03036811359935;Riz")[:22]
    'a table of text (CSV),'
    """
    for first, what in _FORMATS:
        if head.startswith(first):
            return what
    if head.startswith(_ZIP):
        return _WORKBOOK if _OFFICE.match(head, 30) else f"a ZIP archive. {_PACKED}"
    text = head.decode("utf-8-sig", "replace").lstrip()
    if found := _MARKUP.match(text):
        is_page = "html" in found[1].lower()
        return (
            "a web page, and no JSON: perhaps one of a login or of an error. Request the file again"
            if is_page
            else "XML, and no JSON. Load these products from the service, or let them be delivered as JSON"
        )
    return _TABLE if _is_table(text) else None


_TABLE = (
    "a table of text (CSV), and no JSON: rows and columns are no record of a product. An export of prodex is read by "
    "prodex.read_export, and a table with corrections by prodex.correct_from"
)


def _is_table(text: str) -> bool:
    """Whether the first two lines have the same number of separators, and neither begins as JSON does."""
    if "\0" in text:  # UTF-16, in which a line of JSON begins with what is no letter here
        return False
    lines = [line for line in text.splitlines()[:20] if line.strip()][:2]
    if any(line.lstrip()[:1] in ("{", "[") for line in lines):
        return False
    return len(lines) == 2 and any(lines[0].count(one) == lines[1].count(one) > 0 for one in _SEPARATORS)
