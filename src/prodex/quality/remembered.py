"""What was found out about a text, remembered while texts are few.

Arrow compiles a regular expression anew whenever it is used. This takes as long as to look for it in a hundred texts,
and an audit has hundreds of expressions: of a small catalogue it would do little else. Whoever audits, corrects and
audits again looks for the same expressions in nearly the same texts.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from prodex.tables.columns import as_one_chunk

#: Of more texts at once nothing is remembered: to look at them costs more than to compile.
_FEW = 2_000
#: So many texts are remembered with each function, then all are forgotten.
_MOST = 5_000


class Remembered:
    """A function of texts, each by itself.

    Parameters
    ----------
    find
        Makes a column of as many values of a column of texts.
    kind
        The type of these values.

    Examples
    --------
    >>> Remembered(pc.utf8_length, pa.int32())(pa.array(["milk", None, "milk"])).to_pylist()
    [4, None, 4]
    """

    def __init__(self, find: Callable[[pa.Array], pa.Array], kind: pa.DataType) -> None:
        self._find = find
        self._kind = kind
        self._known: dict[str | None, Any] = {}

    def __call__(self, texts: pa.Array) -> pa.Array:
        """Return what the function makes of each text."""
        if len(texts) > _FEW:
            return self._find(texts)
        wanted = texts.to_pylist()
        # Rules run in threads: another one may forget, and then this call still has what it began with.
        known = self._known
        if new := [text for text in dict.fromkeys(wanted) if text not in known]:
            if len(known) + len(new) > _MOST:
                known = self._known = {text: known[text] for text in wanted if text in known}
            made = self._find(pa.array(new, pa.string()))
            # Many functions know the same texts, which are in memory once.
            known.update(zip(map(_interned, new), made.to_pylist(), strict=True))
            if len(new) == len(wanted) and made.type == self._kind:  # each text is new, and there once
                return as_one_chunk(made)
        return pa.array([known[text] for text in wanted], self._kind)


def _interned(text: str | None) -> str | None:
    return None if text is None else sys.intern(text)


def has_match(texts: pa.Array, pattern: str) -> pa.Array:
    """Say which texts have a match of a regular expression; missing where there is no text.

    >>> has_match(pa.array(["lait", "sel", None]), "^l").to_pylist()
    [True, False, None]
    """
    return _matcher(pattern)(texts)


@lru_cache(maxsize=2_000)
def _matcher(pattern: str) -> Remembered:
    return Remembered(lambda texts: pc.match_substring_regex(texts, pattern), pa.bool_())
