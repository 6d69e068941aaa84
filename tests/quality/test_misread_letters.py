"""Texts in UTF-8 that were read in another encoding are known by their letters, and words of languages are none."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.misread_letters import MISREAD, misread
from tests.cases import each_row

#: What people write.
WORDS = (
    *(
        "Crème brûlée",
        "Œufs",
        "œuf",
        "Käse für Gäste",
        "Größe",
        "Łódź",
        "żyto",
        "škvarky",
        "Čaj",
        "Ţară",
        "Jalapeño",
    ),
    *(
        "Pão de açúcar",
        "Τσάι",
        "λάδι",
        "чай",
        "d’orge",
        "“bio”",
        "50 €",
        "20 °C",
        "½",
        "Marke™",
        "≥ 5",
        "İstanbul",
    ),
)
#: Words, and what is beside them, that look a little like such texts.
RIGHT = (
    *(
        "NÃO",
        "MAÇÃ",
        "TÊTE-À-TÊTE",
        "CAFÉ®",
        "CAFÉ™",
        "CAFÉ\u00a0: NOIR",
        "Brand™ é",
        "«\u00a0PÂTÉ\u00a0»",
        "ĂN UỐNG",
    ),
    *(
        "Cà phê sữa đá",
        "“BLÅ”",
        "Å’s",
        "ŃŻ",
        "ÑANDÚ «x»",
        "L’ÉTÉ",
        "Ψάρι €",
        "REGIÃO®",
        "Ěščřž „Ă”",
        "≈ 5 ±1",
    ),
)


@each_row("encoding", ["cp1252", "cp1250", "mac_roman"])
def test_what_was_read_in_another_encoding_is_read_back(encoding: str) -> None:
    """By the rule of an audit and by the question about a correction; of the Mac, Greek and Cyrillic are not known."""
    for word in WORDS:
        try:
            seen = word.encode().decode(encoding)
        except UnicodeDecodeError:
            continue  # a byte that the encoding does not have
        if encoding == "mac_roman" and word in ("Τσάι", "чай", "λάδι"):
            continue
        assert word == misread(seen), seen
        assert pc.match_substring_regex(pa.array([seen]), MISREAD)[0].as_py(), seen


def test_what_is_right_is_not_asked_about() -> None:
    """Letters of every language are those of its words."""
    right = pa.array([*WORDS, *RIGHT])
    assert [] == right.filter(pc.match_substring_regex(right, MISREAD)).to_pylist()
    assert [] == [one for one in (*WORDS, *RIGHT) if misread(one) is not None]
