"""Requirements as Hypothesis draws them."""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import replace

from hypothesis import strategies as st

from prodex.quality.asked_attributes import AskedAttribute
from prodex.quality.asks import Ask, Level
from prodex.quality.requirements import (
    ALL,
    Channel,
    ChannelRequirement,
    ProductFamily,
    Requirements,
)

_ODD = "äß·;,|\"':=*[]{}().%\\<>&#~ éλ漢\u00a0"
_LETTERS = st.sampled_from([*string.ascii_letters, *string.digits, *"-_.+/ ", *_ODD])
#: Words without spaces around them: nobody types these on purpose.
words = st.text(_LETTERS, min_size=1, max_size=12).map(str.strip).filter(bool)
#: Codes may have anything in them, also blanks around them and line breaks: quotes keep it.
_codes = st.text(st.one_of(_LETTERS, st.sampled_from("\n\r\t")), min_size=1, max_size=12)
_patterns = st.one_of(
    words.map(re.escape),
    st.sampled_from(["[A-Z].*", r"\d{1,3}", "a;b", 'x"y', "a|b", " a ", '"', "a\nb", "a\r\nb"]),
)
_bounds = st.tuples(st.integers(0, 200), st.integers(0, 200)).map(
    lambda two: (min(two), max(two)) if min(two) and max(two) else two
)


@st.composite
def _asks(draw: st.DrawFn) -> Ask:
    level = draw(st.sampled_from(Level))
    if level in {Level.MAY, Level.NOT}:
        return Ask(level)
    shortest, longest = draw(_bounds)
    codes = tuple(dict.fromkeys(draw(st.lists(_codes, max_size=3))))
    pattern = draw(st.one_of(st.just(""), _patterns))
    return Ask(level, codes, shortest, longest, pattern, draw(st.sampled_from([0, 1, 800])))


asks = _asks()


def _sensible(asked: AskedAttribute, ask: Ask) -> Ask:
    """Return what can be asked of an attribute: of texts characters, of pictures pixels, of quantities nothing."""
    if asked.attribute.startswith("assets.pictures"):
        return Ask(ask.level, pixels=ask.pixels)
    if asked.attribute == "isPartitionedBy.contains[FAT]":
        return Ask(ask.level)
    if asked.attribute == "brand":
        return replace(ask, pixels=0, shortest=0, longest=0)
    return replace(ask, pixels=0)


_asked = st.one_of(
    st.builds(
        AskedAttribute,
        st.sampled_from(["namePublicLong", "xOwn", "a.b"]),
        st.sampled_from(["", "fr", "de", "no"]),
    ),
    st.builds(
        AskedAttribute, st.sampled_from(["brand", "assets.pictures[front]", "isPartitionedBy.contains[FAT]"])
    ),
)


@st.composite
def _requirements(draw: st.DrawFn) -> Requirements:
    channels = draw(
        st.lists(
            st.builds(Channel, words, st.sampled_from([0, 250, 56]), st.booleans()),
            max_size=3,
            # Channels that differ by their spelling alone need confirmation.
            unique_by=lambda one: " ".join(unicodedata.normalize("NFC", one.label).casefold().split()),
        )
    )
    codes = draw(st.lists(words.filter(lambda one: one != ALL), max_size=4, unique=True))
    families = []
    for place, code in enumerate(codes):
        label = draw(st.one_of(st.just(""), words)).replace(code, "")
        # A parent comes before its children, so that there is no circle.
        families.append(ProductFamily(code, label.strip(), draw(st.sampled_from(["", *codes[:place]]))))
    found = {}
    if channels:
        keys = st.tuples(
            st.sampled_from([one.label for one in channels]), _asked, st.sampled_from([ALL, *codes])
        )
        found = draw(st.dictionaries(keys, asks, max_size=5))
    return Requirements(
        "own",
        draw(st.sampled_from(["kind", "gpc", "brand_code"])),
        tuple(channels),
        tuple(sorted(families)),
        tuple(
            sorted(
                ChannelRequirement(channel, asked, family, _sensible(asked, ask))
                for (channel, asked, family), ask in found.items()
            )
        ),
    )


requirements = _requirements()
