"""What somebody types into the search field, as conditions: words, quoted phrases, OR, NOT.

Whatever is typed can be read, also the half of a search that is still being typed: it is never an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from prodex.tables.columns import Mask

#: How a search works, in one sentence for people.
HELP = (
    "A product has to contain all words, whole or in part, whatever their case and accents; OR between two words finds "
    'either, NOT or - before a word leaves out the products with it, and "quotation marks" keep words together.'
)

_AND, _OR, _NOT = "AND", "OR", "NOT"
_OPERATORS = frozenset({_AND, _OR, _NOT})
#: A phrase in quotation marks, of which the last may still be missing, or a word; a minus may precede either.
_TOKEN = re.compile(r'(?P<minus>-(?=\S))?(?:"(?P<phrase>[^"]*)"?|(?P<word>\S+))')


@dataclass(frozen=True)
class Term:
    """A word or phrase that a product has to contain, or must not contain.

    Attributes
    ----------
    text
        The word as it was typed, or the words of the phrase with one space between two.
    is_excluded
        Whether a product must not contain it.
    """

    text: str
    is_excluded: bool = False


_Token: TypeAlias = str | Term


@dataclass(frozen=True)
class WordQuery:
    """A search: a product meets it if it meets at least one term of every group.

    Attributes
    ----------
    groups
        The terms between which OR was written; most groups have one. Without groups every product meets the search.

    Examples
    --------
    >>> search = WordQuery.read('lait OR soja NOT bio "sans  sucre')
    >>> [[(term.is_excluded, term.text) for term in group] for group in search.groups]
    [[(False, 'lait'), (False, 'soja')], [(True, 'bio')], [(False, 'sans sucre')]]
    """

    groups: tuple[tuple[Term, ...], ...] = ()

    @classmethod
    def read(cls, typed: str) -> Self:
        """Read what was typed.

        OR joins the two terms beside it; the groups are joined by AND, which may be written or not. An operator without
        a term that it could apply to is ignored, unless nothing else was typed: then it is looked for as a word.
        """
        tokens = list(_tokens(typed))
        groups = tuple(map(tuple, _grouped(tokens)))
        return cls(groups or tuple((Term(str(one)),) for one in tokens))

    @property
    def texts(self) -> tuple[str, ...]:
        """What has to be looked for, each once."""
        return tuple(dict.fromkeys(term.text for group in self.groups for term in group))

    def met(self, containing: Callable[[str], Mask], size: int) -> Mask:
        """Return which products meet the search.

        Parameters
        ----------
        containing
            Returns which products contain a text.
        size
            Number of products.

        Examples
        --------
        >>> names = ["lait", "soja", "lait au chocolat"]
        >>> search = WordQuery.read("lait OR soja -chocolat")
        >>> search.met(lambda text: np.array([text in name for name in names]), 3).tolist()
        [True, True, False]
        """
        met = np.ones(size, bool)
        for group in self.groups:
            either = np.zeros(size, bool)
            for term in group:
                either |= containing(term.text) ^ term.is_excluded
            met &= either
        return met


def _tokens(typed: str) -> Iterator[_Token]:
    """Yield operators and terms; quotation marks with nothing between them are no term."""
    for found in _TOKEN.finditer(typed):
        minus, phrase, word = found["minus"], found["phrase"], found["word"]
        if phrase is None and minus is None and word in _OPERATORS:
            yield word
        elif text := word if phrase is None else " ".join(phrase.split()):
            yield Term(text, minus is not None)


def _grouped(tokens: Iterable[_Token]) -> Iterator[list[Term]]:
    """Yield the terms that OR joins, group by group."""
    group: list[Term] = []
    is_joined = is_negated = False
    for token in tokens:
        if isinstance(token, Term):
            if group and not is_joined:
                yield group
                group = []
            group.append(replace(token, is_excluded=token.is_excluded ^ is_negated))
            is_joined = is_negated = False
        elif token == _NOT:
            is_negated = not is_negated
        else:
            is_joined, is_negated = token == _OR, False
    if group:
        yield group
