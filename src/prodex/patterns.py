r"""Patterns that people give, and the texts that they find: of words as Unicode has them, and never for long.

Letters, marks and digits of every script are of words, so that `\b` is where a word ends in French, Hindi and Arabic.
Texts that differ only in composition (é as one character, or as e and its accent) are alike: what is looked for, and
where, is compared in the composed form (NFC), and what lies beside it stays as it is.

The library `regex` looks for patterns. Some patterns take time without end with some texts, so that a column of texts
has a limit, and a pattern that would take a large part of the memory is refused before it is compiled.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, Final, TypeAlias, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
import regex

from prodex.errors import InputError
from prodex.phrases import composed

#: Seconds of the processor for the texts of a column, and texts for which there is a second more: usual patterns look
#: at a hundred thousand in one.
SECONDS: float = 5.0
TEXTS_A_SECOND: Final = 10_000
#: Characters of a pattern: a longer one was pasted by mistake.
_MOST_CHARACTERS: Final = 2_000
#: Characters that a pattern asks for at least: the library writes down what is repeated.
_LONGEST: Final = 10_000

#: Where a word goes on: beside these, nothing ends.
OF_A_WORD: Final = r"[\p{L}\p{M}\p{N}]"

#: A part of a pattern that is the pattern, or one of its groups, again: it takes memory without end.
_CALL = re.compile(r"\(\?(?:R|&|P>|[-+]?[0-9])")
_COUNT = re.compile(r"\{([0-9]+)")
_WHOLE_MATCH = re.compile(r"\\(.)", re.DOTALL)
_REFERENCE = re.compile(r"\\(?:[0-9]{1,2}|g<[^<>]*>)")
#: Of what a match becomes, more characters than this are not made, also if they might be fewer.
_MOST_MADE: Final = 50_000_000
_CLUSTER = regex.compile(r"\X")
#: A text each letter of which has one capital, and no other letter that is the same when these do not matter.
_TWO_CASES = re.compile(r"(?:(?![iksIKS])[ -~])+")

_Match: TypeAlias = Any
_Found = TypeVar("_Found")


class PatternTooSlow(InputError):
    """A pattern takes too long with a text; the message names both."""


class TextTooLong(ValueError):
    """A replacement would make far more of a text than anybody means."""


@dataclass(frozen=True)
class Pattern:
    r"""What is looked for in texts.

    Attributes
    ----------
    source
        A regular expression, or the text that is meant if `is_literal`.
    is_literal
        Whether it is a text, and means itself.
    ignore_case
        Whether capitals and small letters are the same.
    dot_is_all
        Whether a dot is a line break as well.
    before, behind
        Expressions around it, which are never literal.

    Raises
    ------
    InputError
        When it cannot be read; the message says what is wrong, and where.

    Examples
    --------
    >>> words = Pattern(r"\w+( \w+)*")
    >>> words.are_whole(["Thé vert", "The\u0301 vert", "Thé, vert", "हिन्दी चाय"])
    [True, True, False, True]
    >>> Pattern(r"\bpur\b").replaced(["jus pur", "purée"], "100 %")
    ['jus 100 %', 'purée']
    """

    source: str
    is_literal: bool = False
    ignore_case: bool = False
    dot_is_all: bool = False
    before: str = ""
    behind: str = ""

    def __post_init__(self) -> None:
        _ = self._compiled

    @cached_property
    def _compiled(self) -> regex.Pattern[str]:
        if len(self.source) > _MOST_CHARACTERS:
            raise InputError(
                f"{self.words} … has {len(self.source):,} characters, and may have {_MOST_CHARACTERS:,}."
            )
        source = composed(self.source)
        own = regex.escape(source, special_only=True, literal_spaces=True) if self.is_literal else source
        if not self.is_literal and _least_characters(source) > _LONGEST:
            raise InputError(
                f"{self.words} cannot be read: what it repeats is longer than {_LONGEST:,} characters."
            )
        if not self.is_literal and (call := _CALL.search(source)) is not None:
            raise InputError(
                f"{self.words} cannot be read: {call[0]!r} calls a group again (character {call.start() + 1}). Write "
                "it out."
            )
        flags = regex.IGNORECASE if self.ignore_case else 0
        flags |= regex.DOTALL if self.dot_is_all else 0
        try:
            if not self.is_literal:
                _compiled(own, flags)  # by itself, so that nothing around it makes it a pattern
            return _compiled(
                f"{self.before}(?:{own}){self.behind}" if self.before or self.behind else own, flags
            )
        except regex.error as error:
            said, _, place = str(error).partition(" at position ")
            where = f" (character {int(place) + 1})" if place.isdigit() else ""
            raise InputError(f"{self.words} cannot be read: {said}{where}.") from error
        except (RecursionError, OverflowError, MemoryError) as error:
            raise InputError(
                f"{self.words} cannot be read: it is nested too deep, or repeats too much."
            ) from error

    @property
    def words(self) -> str:
        """What it is called in messages."""
        return f"The {'text' if self.is_literal else 'pattern'} {self.source!r:.80}"

    def check_replacement(self, by: str) -> None:
        """Raise an error if a replacement cannot be made of its matches.

        Raises
        ------
        InputError
            When it names a group that there is not, or cannot be read.
        """
        # A replacement is read at the first match, and this is one.
        some = _compiled(f"(?:{composed(self.source)})?", self._compiled.flags & regex.IGNORECASE)
        try:
            some.sub(_with_whole_match(by), "", count=1, timeout=SECONDS)
        except (regex.error, IndexError, ValueError) as error:
            said = str(error).partition(" at position")[0]
            raise InputError(
                f"{by!r:.80} cannot replace {self.source!r:.80}: {said}. Write \\1 for the first group, and \\\\ for a "
                "stroke."
            ) from error

    def is_in(self, text: str) -> bool:
        """Return whether it is found in a text.

        Raises
        ------
        PatternTooSlow
            When it takes too long.
        """
        return self._each([text], lambda own, left: self._compiled.search(own, timeout=left) is not None)[0]

    def are_whole(self, texts: Iterable[str]) -> list[bool]:
        """Return of which texts it is the whole.

        Raises
        ------
        PatternTooSlow
            When it takes too long for all of them together.
        """
        return self._each(
            texts, lambda text, left: self._compiled.fullmatch(composed(text), timeout=left) is not None
        )

    def replaced(self, texts: Iterable[str], by: str, longest: int = _MOST_MADE) -> list[str | None]:
        r"""Return texts with something else wherever it is found; None for one that would be too long.

        Parameters
        ----------
        texts
            The texts.
        by
            What is written instead; of a pattern, `\1` is the first group of a match.
        longest
            Characters that a text may have then.

        Raises
        ------
        PatternTooSlow
            When it takes too long for all of them together.
        """
        template = None if self.is_literal or "\\" not in by else _with_whole_match(by)
        groups = 0 if template is None else len(_REFERENCE.findall(template))
        instead = by.replace("\\", r"\\") if template is None else template

        def most_of_a_match(text: str) -> int:
            return len(by) + groups * len(text)

        def made_of(match: _Match) -> str:
            if template is None:
                return by
            if most_of_a_match(match.string) > _MOST_MADE:
                raise TextTooLong
            return str(match.expand(template))

        def one(text: str, left: float) -> str | None:
            own = composed(text)
            if own == text and (len(text) + 1) * most_of_a_match(text) <= _MOST_MADE:
                # What every other way comes to, in a third of the time; no memory that would be too much.
                made, count = self._compiled.subn(instead, text, timeout=left)
                return made if not count or len(made) <= longest else None
            matches: Iterator[_Match] = self._compiled.finditer(own, timeout=left)
            if self._compiled.flags & regex.REVERSE:
                # A pattern that is looked for from the end finds the last one first.
                matches = reversed([*matches])
            try:
                return _rewritten(text, own, matches, made_of, longest)
            except TextTooLong:
                return None

        return self._each(texts, one)

    def replaced_in(self, texts: pa.Array, by: str, longest: int = _MOST_MADE) -> pa.Array:
        """Return a column of texts with something else wherever it is found; null for one that would be too long.

        It has what `replaced` makes of each text. A plain text is looked for by Arrow, which needs no Python meanwhile.

        Raises
        ------
        PatternTooSlow
            When it takes too long for all of them together.
        """
        is_plain = self.is_literal and not (self.before or self.behind)
        if self.ignore_case:
            # A letter that is one of more than two (k, K and the sign of kelvin) is not the same to each library.
            is_plain = is_plain and _TWO_CASES.fullmatch(self.source) is not None
        sizes, times = pc.utf8_length(texts), max(len(by), 1)
        most = (pc.max(sizes).as_py() or 0) * times
        if not is_plain or most > longest or (pc.sum(sizes).as_py() or 0) * times > _MOST_MADE:
            return pa.array(self.replaced(texts.to_pylist(), by, longest), texts.type)
        is_composed = pc.equal(pc.utf8_normalize(texts, "NFC"), texts)
        if self.ignore_case:
            made = pc.replace_substring_regex(texts, f"(?i){re.escape(self.source)}", by.replace("\\", r"\\"))
        else:
            made = pc.replace_substring(texts, composed(self.source), by)
        others = self.replaced(texts.filter(pc.invert(is_composed)).to_pylist(), by, longest)
        return pc.replace_with_mask(made, pc.invert(is_composed), pa.array(others, texts.type))

    def _each(self, texts: Iterable[str], look: Callable[[str, float], _Found]) -> list[_Found]:
        """Return what is found in each text, all of them within one limit of time."""
        listed = texts if isinstance(texts, Sequence) else list(texts)
        seconds = SECONDS + len(listed) / TEXTS_A_SECOND
        # The time of the processor: a machine that is busy with something else makes no pattern slow.
        end = time.thread_time() + seconds
        read, left = time.perf_counter(), seconds
        found: list[_Found] = []
        for text in listed:
            # To read the time of the processor takes as long as to look at a text.
            if (now := time.perf_counter()) > read + _READ_AGAIN:
                read, left = now, max(end - time.thread_time(), 0.0)
            try:
                found.append(look(text, left))
            except (TimeoutError, MemoryError):
                said = text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"
                raise PatternTooSlow(
                    f"{self.words} takes longer than {seconds:.0f} s; it was looking at the text {said!r}. Write it "
                    "without a repetition inside of another one."
                ) from None
        return found


_SHOWN: Final = 80
#: Seconds after which the time of the processor is read again.
_READ_AGAIN: Final = 0.001


@lru_cache(1_000)
def _compiled(source: str, flags: int) -> regex.Pattern[str]:
    return regex.compile(source, flags | regex.VERSION0 | regex.UNICODE)


def _least_characters(pattern: str) -> int:
    r"""Return about how many characters a pattern asks for at least, all of its alternatives together.

    >>> [_least_characters(one) for one in ("abc", "(ab{3}c?){10}", "[{9}]{2}", r"\\{4}", "a{0,99}")]
    [3, 50, 2, 4, 0]
    """
    groups, last, place = [0], 0, 0
    while place < len(pattern):
        sign = pattern[place]
        counted = _COUNT.match(pattern, place) if sign == "{" else None
        if counted is not None:
            groups[-1] += last * (int(counted[1][:9]) - 1)
            place = pattern.find("}", place) + 1 or len(pattern)
            continue
        place += 2 if sign == "\\" else 1
        if sign == "(":
            groups.append(0)
            continue
        if sign == ")" and len(groups) > 1:
            last = groups.pop()
        elif sign == "[":
            place, last = _behind_class(pattern, place), 1
        else:
            last = 0 if sign in "|*+?^$" else 1
        groups[-1] += last
    return sum(groups)


def _behind_class(pattern: str, place: int) -> int:
    """Return where a class of characters ends, whose bracket is before a place."""
    place += pattern.startswith("^", place)
    place += pattern.startswith("]", place)
    while place < len(pattern) and pattern[place] != "]":
        named = pattern.find(":]", place) if pattern.startswith("[:", place) else -1
        place = named + 2 if named >= 0 else place + (2 if pattern[place] == "\\" else 1)
    return place + 1


def _with_whole_match(by: str) -> str:
    r"""Return a replacement in which `\0` is the whole match, as people know it, and no character of its own."""
    return _WHOLE_MATCH.sub(lambda found: r"\g<0>" if found[1] == "0" else found[0], by)


def _rewritten(
    text: str, own: str, matches: Iterator[_Match], made_of: Callable[[_Match], str], longest: int
) -> str:
    """Return a text with other pieces in place of matches in its composed form; what lies beside them is as it was."""
    pieces: list[str] = []
    end = size = 0
    untouched: _Untouched | None = None
    for match in matches:
        if untouched is None:
            untouched = _Untouched.of(text, own)
        pieces += [untouched.between(end, match.start()), made_of(match)]
        size += len(pieces[-1]) + len(pieces[-2])
        if size > longest:
            raise TextTooLong
        end = match.end()
    if untouched is None:
        return text
    pieces.append(untouched.between(end, len(own)))
    if size + len(pieces[-1]) > longest:
        raise TextTooLong
    return "".join(pieces)


@dataclass(frozen=True)
class _Untouched:
    """Pieces of a text, by their places in its composed form.

    Attributes
    ----------
    own
        The composed form.
    clusters, starts
        What people see as one character each, as the text has it, and where it begins in the composed form; none where
        both are the same.
    """

    own: str
    clusters: Sequence[str] = ()
    starts: Sequence[int] = ()

    @classmethod
    def of(cls, text: str, own: str) -> _Untouched:
        if text == own:
            return cls(own)
        clusters = _CLUSTER.findall(text)
        sizes = [len(composed(one)) for one in clusters]
        return cls(own, clusters, [0, *accumulate(sizes)]) if sum(sizes) == len(own) else cls(own)

    def between(self, begin: int, end: int) -> str:
        """Return what is between two places; of a character that is cut by one, the composed form."""
        if not self.starts:
            return self.own[begin:end]
        first, last = bisect_left(self.starts, begin), bisect_right(self.starts, end) - 1
        if first > last:
            return self.own[begin:end]
        whole = "".join(self.clusters[first:last])
        return self.own[begin : self.starts[first]] + whole + self.own[self.starts[last] : end]
