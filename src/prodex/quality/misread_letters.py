"""Texts in UTF-8 that a program has read in another encoding: "crÃ¨me", "crĂ¨me", "cr√®me" for "crème".

Each letter beyond ASCII is two or three bytes of UTF-8, each of which is a character of a code page. `MISREAD`
has the pairs that no word has: of Windows in the west (cp1252) and in the middle of Europe (cp1250), of the Mac, and a
few of DOS. Pairs that a word may have, such as the Slovak ĹŽ, are none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import regex

# What the second byte of a two-byte character of UTF-8 (0x80 to 0xBF) becomes in Windows-1252 or Latin-1.
_SECOND = "\x80-\x9f\xa1-\xbfŠŒŽšœžŸƒˆ˜–—‘’‚“”„†‡•…‰‹›€™"
#: Marks of Windows-1250 that are beside no capital: quotes, dashes, and the letters of Romanian are not among them.
_MARKS = "€‚†‡‰™ˇ˘¤¦§¨©¬®°±˛´µ¶·¸˝"
#: What else a second byte becomes in Windows-1250.
_LETTERS = "„…‹›‘’“”•–—«»\xa0\xadŠŚŤŽŹšśťžźŁĄŞŻłąşĽľż"

#: Its matches, in the words of both RE2 and `regex`.
MISREAD: Final = "|".join(
    [
        # cp1252, and what is alike in cp1250.
        rf"Ã[{_SECOND}]",
        r"(?:^|[\s\p{Ll}'’-])Ã[ " + "\xa0]",
        "Å[\x80-\x9fŠŒŽšœžŸƒˆ˜“„†‡•…‰‹›€™¡¢£¤¥¦¯°±²³´µ¶·¸¹º¼½¾¿]",
        # An apostrophe behind it may be one, but not at the beginning of a word: "Å’uf" for "Œuf".
        r"(?:^|[\s'’-])[ÅĹ]’\p{Ll}{2}",
        "Â[\x80-\xbfˇ˘˛˝]",
        "â€[\x80-\xbf™œžŸ˜š“”śťş˘]|â[\x80-\x9f]|â‚¬|â„[¢˘]|âˆ’|â‰[¤¥Ą]",
        # Greek and Cyrillic: a word has more than one letter.
        rf"(?:[ÎÏ][{_SECOND}]){{2}}|(?:[ÐÑ][{_SECOND}]){{2}}|(?:[ĐŃ][{_MARKS}{_LETTERS}]){{2}}",
        "[ïď][»][¿ż]",
        # cp1250: behind a small letter, no word has one of these capitals.
        f"Ă[{_MARKS}ŠŚŤŽŹšśťžźŁĄŻłąĽľż]",
        r"\p{Ll}Ă[" + "„…‹›‘’“”•–—«»\xa0Şş]",
        f"Ä[{_MARKS}ŤŚŹľ¾Ÿź£¯¼ƒŒ\x80-\x9f]",
        r"\p{Ll}Ä[" + "„…‹›‘’“”•–—šž]",
        f"Ĺ[{_MARKS}„›‘“»şąĽľŻĄ\x81\x83\x88\x90\x98]",
        # The Mac: a root, a negation and a florin are beside no letter.
        "√[ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø]",
        "¬[†°¢£§•¶®©™´¨≠Æ∞±≤≥¥µ∂∑∏π∫ªºΩ]",
        "[ƒ≈][ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°ßÆØªºæøΩ]",
        "‚Ä[ìîòôöúùûü¢£¶†°∞π∫Ø≠®©™]",
        "‚Ç¨|‚Ñ¢|Ôªø|ƒ[∞±]|‚â[•§]",
        # DOS, and what a program writes for bytes that it cannot read.
        "├[®¿á¬ºóñ]",
        "\ufffd",
    ]
)
_MISREAD = regex.compile(MISREAD)
#: The encodings in which such texts are read most often.
_ENCODINGS: Final = ("cp1252", "cp1250", "mac_roman", "cp850", "latin-1")
#: What people see as a word.
_WORD = re.compile(r"\S+")


def misread(text: str) -> str | None:
    """Return what a text was that was written in UTF-8 and read in another encoding; None if it is none.

    Where nobody can say what it was, it is the text itself.

    Examples
    --------
    >>> [misread(one) for one in ("CrÃ¨me brulÃ©e", "CrĂ¨me", "Cr√®me d‚Äôorge", "Crème brûlée", "NÃO", "dĹŽKA")]
    ['Crème brulée', 'Crème', 'Crème d’orge', None, None, None]
    """
    if text.isascii() or _MISREAD.search(text) is None:
        return None
    return next(_as_written(text), None) or _WORD.sub(_written_word, text)


def _written_word(word: re.Match[str]) -> str:
    return next(_as_written(word[0]), word[0]) if _MISREAD.search(word[0]) else word[0]


def _as_written(text: str) -> Iterator[str]:
    """Yield what a text is whose bytes in some encoding are UTF-8."""
    for encoding in _ENCODINGS:
        try:
            # Bytes that the encoding does not have are controls.
            content = b"".join(one.encode("latin-1" if one <= "\x9f" else encoding) for one in text)
            yield content.decode("utf-8")
        except UnicodeError:
            continue
