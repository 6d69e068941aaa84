"""Lists of ingredients that were cut: what the end of one says, whatever the others of its owner tell."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from prodex.packs import Mask, folded, has_match, is_true

#: Words after which a list continues, in the ten languages whose texts are read; folded.
_JOINING = (
    *("and", "or", "with", "of", "from", "the", "contains", "including", "less", "than"),
    *("et", "ou", "de", "du", "des", "avec", "au", "aux", "la", "le", "les", "d'", "l'", "dont", "en"),
    *("und", "oder", "mit", "aus", "von", "sowie", "bzw", "der", "die", "das", "dem", "den", "davon"),
    *("y", "o", "con", "del", "el", "los", "las", "para", "por"),
    *("e", "ed", "di", "del", "della", "dei", "delle", "con", "da", "dal", "il", "lo", "gli", "per"),
    *("en", "of", "met", "van", "uit", "het", "een", "waarvan"),
    *("e", "ou", "com", "do", "da", "dos", "das", "um", "uma"),
    *("og", "eller", "med", "av", "fra", "och", "fran", "ja", "tai", "sekae"),
)
#: What texts end in that go on: dots however they are spaced, a hyphen, a separator, a word that joins.
#: A colon belongs to a heading whose list is missing.
_GOES_ON = (
    rf"(?:\.\s*\.[\s.]*|…|\pL-|\s[-–]|[,;:(\[&+/]|(?:^|[^\pL'])(?:{'|'.join(sorted(set(_JOINING)))}))\s*$"
)
#: Characters that are read at the end of a text.
_LAST = 40
#: "etc." and its like are meant, and the letter of a vitamin is no Italian "and".
_MEANT = r"(?i)\b(?:etc|usw|ecc|enz|osv|mm|ym|jne)[\s.…]+$|\bvitamin\w*(?:[ ,/&+-]+\pL\d*)+\s*$"


def are_cut(texts: pa.Array, *, fold: Callable[[pa.Array], pa.Array] = folded) -> Mask:
    """Say which lists were cut: what their end says, or a bracket that is never closed.

    Parameters
    ----------
    texts
        Lists of ingredients or of something else; missing ones are not cut.
    fold
        Folds texts; another function may remember what it folded.

    Examples
    --------
    >>> are_cut(pa.array(["Sucre, sel, pers. ..", "Sucre, épices (poivre", "Sucre et", "Sucre, sel (iodé).", None]))
    array([ True,  True,  True, False, False])
    """
    last = pc.utf8_slice_codeunits(pc.utf8_rtrim_whitespace(texts), -_LAST, None)
    plain = pc.utf8_slice_codeunits(pc.utf8_rtrim_whitespace(fold(texts)), -_LAST, None)
    ends = is_true(has_match(plain, _GOES_ON))
    ends |= is_true(has_match(last, r"(?:\.\s*\.[\s.]*|…|\pL-)$"))
    ends &= ~is_true(has_match(last, _MEANT))
    return ends | _left_open(texts)


def _left_open(texts: pa.Array) -> Mask:
    """Say which texts open a round or square bracket more than they close."""
    left = [
        pc.subtract(pc.count_substring(texts, opening), pc.count_substring(texts, closing))
        for opening, closing in (("(", ")"), ("[", "]"))
    ]
    # "1)" numbers a footnote: a text may well close more than it opens.
    return is_true(pc.or_(pc.greater(left[0], 0), pc.greater(left[1], 0)))
