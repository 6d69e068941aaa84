"""The label of a code: what people read in its place.

A code never changes, and its label follows the language that was asked for (code value objects of the specification).
So everything is told apart by its code and shown by its label: a blank label is none, and a code without one is shown
as itself. Codes that share a label are told apart by the codes behind it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.columns import unless_blank

#: Columns of `products` that hold labels, and the columns with their codes.
CODE_OF = {"brand": "brand_code", "kind": "kind_code", "packaging": "packaging_code", "gpc": "gpc_code"}


def shown(labels: pa.Array, codes: pa.Array) -> pa.Array:
    """Return what is shown for each code; a blank label without a code stays, since blank is not missing.

    >>> shown(pa.array(["Acme", " ", None, None, ""]), pa.array(["A", "B", "C", None, None])).to_pylist()
    ['Acme', 'B', 'C', None, '']
    """
    return pc.coalesce(unless_blank(labels), unless_blank(codes), labels, codes)


def shown_one(label: str | None, code: str | None) -> str | None:
    """Return the same for one code.

    >>> shown_one("Acme", "A"), shown_one(" ", "B"), shown_one(None, None), shown_one("", None)
    ('Acme', 'B', None, '')
    """
    filled = (one for one in (label, code) if one is not None and one.strip())
    return next(filled, code if label is None else label)


def told_apart(
    codes: Sequence[str | None], labels: Sequence[str | None], without: str = "without"
) -> list[str]:
    """Return how codes are listed: by label, and where several would read the same with the code behind it.

    Parameters
    ----------
    codes
        Codes, each once; None stands for having none.
    labels
        The label of each.
    without
        What is said for None.

    Examples
    --------
    >>> told_apart(["4", "5", "6", None], ["Mill", "Mill", None, None], "without owner")
    ['Mill (4)', 'Mill (5)', '6', 'without owner']
    """
    plain = [
        without if code is None else _readable(shown_one(label, code) or "")
        for code, label in zip(codes, labels, strict=True)
    ]
    listed = plain
    for _ in range(2):  # once more for a label that reads like another with its code
        often = Counter(listed)
        listed = [
            f"{one} ({code})" if often[now] > 1 and code not in {None, one} else now
            for one, now, code in zip(plain, listed, codes, strict=True)
        ]
    return listed


def _readable(text: str) -> str:
    """Return a text as it stands in a list: one of nothing but spaces in quotes."""
    return text if text.strip() else f'"{text}"'
