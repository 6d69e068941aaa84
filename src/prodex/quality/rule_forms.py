"""Forms of rules: what is one presence, one value or one pattern is declared with its words, without a function.

A form is a question that several rules ask, each of another column or with another pattern. It is called as the
function of a rule is, and knows what it needs. What is asked once, or has something to decide, is a function.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from prodex.facts.requested_data import OR
from prodex.languages import Message, Said
from prodex.quality.products import Products
from prodex.quality.rulebook import Certain, rule
from prodex.quality.text_columns import ANY_TEXT, TextColumns
from prodex.quality.verdict import Verdict, product_verdict
from prodex.selection.paths import wire_paths
from prodex.tables.columns import filled_values


class RuleForm(ABC):
    """What a declared rule asks of products.

    Attributes
    ----------
    needs, certain
        As in `Rule`.
    """

    certain: ClassVar[Certain] = None

    @property
    @abstractmethod
    def needs(self) -> tuple[str, ...]: ...

    @abstractmethod
    def __call__(self, products: Products) -> Verdict:
        """Say of which products the rule's sentence is not true."""


def declare(name: str, form: RuleForm, *, why: str, **words: Any) -> None:
    """Make a form a rule of prodex.

    Parameters
    ----------
    name
        Of the rule.
    form
        What it asks.
    why
        Why it matters: what the docstring of a function says.
    words
        All else that `rule` takes; what the form needs and its certainty unless given.
    """
    asked = {"needs": form.needs, "certain": form.certain}
    rule(name=name, why=why, **{**asked, **words})(form)


@dataclass(frozen=True)
class HasValue(RuleForm):
    """A column of products has a value.

    Attributes
    ----------
    column
        The column.
    instead, reason
        Another column, whose value is shown where only that is filled, with what is wrong.
    """

    column: str
    instead: str = ""
    reason: Said = ""

    @property
    def needs(self) -> tuple[str, ...]:
        return wire_paths(self.column)

    def __call__(self, products: Products) -> Verdict:
        fails = ~filled_values(products.column(self.column))
        if not self.instead:
            return Verdict(fails)
        shown = filled_values(products.column(self.instead))
        (attribute,) = wire_paths(self.instead)
        return product_verdict(fails, attribute, products[self.instead], self.reason, shown=shown)


@dataclass(frozen=True)
class IsNot(RuleForm):
    """A column of products has another value than this; products without any are not applicable.

    Attributes
    ----------
    column, value
        The column, and the value of products that fail.
    reason
        What is wrong, or what the value is called.
    """

    column: str
    value: int | str
    reason: Said

    @property
    def needs(self) -> tuple[str, ...]:
        return wire_paths(self.column)

    def __call__(self, products: Products) -> Verdict:
        (attribute,), column = self.needs, products[self.column]
        return product_verdict(column == self.value, attribute, column, self.reason, applies=column.notna())


@dataclass(frozen=True)
class NoTextHas(RuleForm):
    """No text has a match of a regular expression.

    Attributes
    ----------
    pattern
        The expression.
    reason
        What is wrong with a text that has one.
    attributes
        The wire paths of the texts that it is about, all by default: products without one are not applicable.
    """

    pattern: str
    reason: Message
    attributes: tuple[str, ...] = ()
    certain = "fails"

    @property
    def needs(self) -> tuple[str, ...]:
        return (OR.join(f"{name}.data" for name in self.attributes) or ANY_TEXT,)

    def __call__(self, products: Products) -> Verdict:
        texts = TextColumns.of(products)
        judged = texts.within(self.attributes) if self.attributes else None
        return texts.verdict(texts.matching(self.pattern, judged), self.reason, judged)
