"""Requirements as checks: what one channel asks about one attribute, at one level, is a check as any other.

Families are asked differently. So the rule is given what is asked of each, and says of which products it is a question.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from prodex.languages import Message
from prodex.languages.labels import attribute_label
from prodex.quality.asked_attributes import AskedAttribute, selector_of
from prodex.quality.asks import Ask, Level
from prodex.quality.check import Check
from prodex.quality.picture_columns import FACES, PICTURES
from prodex.quality.products import Products, once_per_part
from prodex.quality.required_values import (
    THERE,
    fill_states,
    present_values,
    wrong_values,
)
from prodex.quality.requirements import Channel, Requirements, column_of
from prodex.quality.rulebook import SEVERITIES, Block, Parameter, Rule, Severity
from prodex.quality.scope import is_meant
from prodex.quality.verdict import Verdict
from prodex.selection.paths import wire_paths
from prodex.selection.units import FLAG, NAMED, CountedUnits
from prodex.tables.columns import Mask, Rows, encoded
from prodex.tables.fill_state import FillState
from prodex.tables.visible import is_visible

#: In place of the number of what is asked of a family: nothing, or nobody knows.
_NOTHING, _UNDECIDED = -1, -2


@dataclass(frozen=True, eq=False)
class Families:
    """What requirements ask of families; one for all of their checks, which share by it what they find in a part."""

    requirements: Requirements = field(repr=False)

    def of_part(self, products: Products) -> _FamiliesThere:
        """Return the families of a part."""
        return products.remember(self, lambda: _FamiliesThere.of(products, self.requirements))


@dataclass(frozen=True, eq=False)
class _FamiliesThere:
    """The families of a part, by number.

    Attributes
    ----------
    family
        The family of each product: that of products without one follows all others, and after it the one that nobody
        knows.
    asks
        Of each family that occurs whether it is listed, and all that is asked of it.
    asked_of_all
        The channels that ask something of all families.
    """

    family: Rows
    asks: list[tuple[bool, Mapping[tuple[str, AskedAttribute], Ask]]]
    asked_of_all: frozenset[str]
    _found: dict[tuple[str, AskedAttribute], tuple[dict[int, Ask], Rows]] = field(default_factory=dict)

    @classmethod
    def of(cls, products: Products, requirements: Requirements) -> _FamiliesThere:
        column = column_of(requirements.by)
        codes, code = encoded(products.column(column))
        names = codes.to_pylist()
        blank = [not is_visible(str(name)) for name in names]
        family = np.where(np.append(blank, True)[code], len(names), code)
        if requirements.families:
            unclear = np.ones(len(products), bool)
            if products.are_asked_for(wire_paths(column)):
                # A family that is there and cannot be read may be any.
                unclear = products.unreadable(wire_paths(column)) & (family == len(names))
            family = np.where(unclear, len(names) + 1, family)
        asks = [(requirements.knows(name), requirements.asks(name)) for name in [*names, None]]
        return cls(family, asks, requirements.channels_of_all)

    def asked(self, channel: str, asked: AskedAttribute) -> tuple[dict[int, Ask], Rows]:
        """Return what a channel asks about an attribute, by number, and the number of each family."""
        if (channel, asked) not in self._found:
            numbers: dict[Ask, int] = {}
            of_family = [
                numbers.setdefault(ask, len(numbers))
                if (ask := all_asked.get((channel, asked))) is not None
                # Of a family that nobody listed, in a channel that asks nothing of all families, nobody knows.
                else (_NOTHING if is_listed or channel in self.asked_of_all else _UNDECIDED)
                for is_listed, all_asked in self.asks
            ]
            by_number = {number: ask for ask, number in numbers.items()}
            self._found[channel, asked] = by_number, np.array([*of_family, _UNDECIDED])
        return self._found[channel, asked]


@dataclass(frozen=True)
class Wanted:
    """What a check of requirements is about.

    Attributes
    ----------
    channel, asked, level
        What is asked of whom.
    families
        What is asked of each family.
    """

    channel: Channel
    asked: AskedAttribute
    level: Level
    families: Families

    def of_products(self, products: Products) -> tuple[dict[int, Ask], Rows]:
        """Return what is asked at this level, by number, and the number of each product; below 0 it is none."""
        there = self.families.of_part(products)
        asks, of_family = there.asked(self.channel.label, self.asked)
        own = {number: ask for number, ask in asks.items() if ask.level is self.level}
        # The last two are those of the numbers below 0.
        numbers = [*(one if one in own else _NOTHING for one in asks), _UNDECIDED, _NOTHING]
        return own, np.array(numbers)[of_family][there.family]

    def in_channel(self, products: Products) -> Mask:
        """Return which products the channel is about for certain."""
        meant = is_meant(products, self.channel.market_selection)
        counted, undecided = self.units(products)
        return np.asarray(meant.to_numpy(bool, na_value=False)) & counted & ~undecided

    def units(self, products: Products) -> tuple[Mask, Mask]:
        """Return which products are of the units that are meant, and of which of these nobody knows it.

        That is so where nobody has asked for the flag. One that is absent or cannot be read is known to be so: the
        product counts.
        """
        if not self.families.requirements.counts_consumer_units(self.channel, self.asked):
            return np.ones(len(products), bool), np.zeros(len(products), bool)
        return _consumer_units(products)


@once_per_part
def _consumer_units(products: Products) -> tuple[Mask, Mask]:
    units = CountedUnits.of(products.assumed(FLAG))
    is_asked = products.are_asked_for(wire_paths(FLAG))
    return units.mask, units.unknown & (not is_asked)


def required(products: Products, *, wanted: Wanted, **_: Any) -> Verdict:
    """Fail the products that lack what must be there, have what must not, or a value that is not as asked."""
    asks, ask = wanted.of_products(products)
    counted, undecided = wanted.units(products)
    is_asked = (ask >= 0) & counted
    states = fill_states(products, wanted.asked)
    there, lacking = states == FillState.FILLED.number, states == FillState.ABSENT.number
    fails, unsaid, evidence, unjudged = lacking, ~(there | lacking), None, ""
    if wanted.level is Level.NOT:
        fails = there
        evidence = present_values(products, wanted.asked, there & is_asked & wanted.in_channel(products))
    elif any(one.is_of_value for one in asks.values()):
        wrong = wrong_values(products, wanted.asked, asks, ask, there & wanted.in_channel(products))
        fails, unsaid = lacking | wrong.products, unsaid | (wrong.unsaid & ~wrong.products)
        evidence, unjudged = wrong.evidence, wrong.too_slow
    applies = pd.arrays.BooleanArray(is_asked, (is_asked & undecided) | (counted & (ask == _UNDECIDED)))
    return Verdict(pd.arrays.BooleanArray(fails, unsaid), applies, evidence, unjudged=unjudged)


def _rule(name: str, severity: Severity, title: str, problem: str, fix: str, reason: str) -> Rule:
    return Rule(
        id=name,
        function=required,
        title=title,
        problem=problem,
        why="This is what the channel asks of products of this family.",
        fix=fix,
        reason=reason,
        severity=severity,
        weight=SEVERITIES[severity],
        dimension="completeness",
        needs=("{attribute}",),
        # By these a check is called: must_have[Web shop (France),namePublicLong,fr].
        parameters=tuple(
            Parameter(one, str, several=False, default=inspect.Parameter.empty)
            for one in ("channel", "asked", "language")
        ),
        source="requirements",
        says_unknown=True,
    )


_NO_DATA = "no data: absent, null or empty"
#: What a level makes of a product that is asked.
_RULES: Mapping[Level, Rule] = {
    Level.MUST: _rule(
        "must_have",
        "blocker",
        "{said} is filled as {channel} requires",
        "{said} missing for {channel}",
        "Write the {said}.",
        _NO_DATA,
    ),
    Level.SHOULD: _rule(
        "should_have",
        "warning",
        "{said} is filled as {channel} wants",
        "{said} wanted for {channel}",
        "Write the {said}.",
        _NO_DATA,
    ),
    Level.NOT: _rule(
        "must_not_have",
        "warning",
        "{said} is empty, as {channel} requires",
        "{said} does not belong to {channel}",
        "Remove the {said}, or move the product to another family.",
        THERE.id,
    ),
}
_OF_VALUES = {
    Level.MUST: "{said} missing or not as required for {channel}",
    Level.SHOULD: "{said} wanted, or not as wanted, for {channel}",
}
_OF_PICTURES = "Send a {said}."
_FACE, _NUTRIENT, _IN_LANGUAGE = "picture of the {name}", "nutrient {code}", "{label} in {language}"

#: Everything that a check of requirements says, as messages to translate: problems, what to do, and reasons.
MESSAGES = (
    *(words for rule in _RULES.values() for words in (rule.title, rule.problem, rule.fix)),
    *(*_OF_VALUES.values(), _OF_PICTURES, _RULES[Level.MUST].why, _RULES[Level.MUST].source),
    *(_IN_LANGUAGE, _NUTRIENT, *(_FACE.format(name=name) for name in FACES.values())),
)


@cache
def _rule_for(level: Level, block: Block, is_of_value: bool, is_picture: bool) -> Rule:
    rule = _RULES[level]
    return replace(
        rule,
        block=block,
        problem=_OF_VALUES[level] if is_of_value else rule.problem,
        fix=_OF_PICTURES if is_picture and level is not Level.NOT else rule.fix,
    )


@dataclass(frozen=True)
class RequiredCheck(Check):
    """A check that requirements make: an audit keeps what is asked of whom as well."""

    @property
    def wanted(self) -> Wanted:
        """What it is about."""
        found: Wanted = dict(self.parameters)["wanted"]
        return found


def checks_of_requirements(requirements: Requirements) -> tuple[RequiredCheck, ...]:
    """Return the checks that requirements make: one for each channel, attribute and level that any family has.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = [["Web shop", "*", "brand", "must"], ["Web shop", "TEA", "brand", "may"]]
    >>> wanted = Requirements.of(pd.DataFrame(rows, columns=["channel", "family", "attribute", "level"]))
    >>> [check.id for check in checks_of_requirements(wanted)]
    ['must_have[Web shop,brand]']
    """
    families = Families(requirements)
    channels = {one.label: (place, one) for place, one in enumerate(requirements.channels)}
    found: dict[tuple[int, AskedAttribute, int], tuple[Wanted, bool]] = {}
    for one in requirements.requirements:
        place, channel = channels[one.channel]
        key = (place, one.asked, list(Level).index(one.ask.level))
        _, is_of_value = found.get(key, (None, False))
        found[key] = Wanted(channel, one.asked, one.ask.level, families), is_of_value or one.ask.is_of_value
    return tuple(_check(*found[key]) for key in sorted(found) if found[key][0].level in _RULES)


def _check(wanted: Wanted, is_of_value: bool) -> RequiredCheck:
    asked = wanted.asked
    rule = _rule_for(wanted.level, _block(asked), is_of_value, asked.path == PICTURES)
    parameters = {
        "said": asked_words(asked),
        "channel": wanted.channel.said,
        "asked": asked.attribute,
        "level": wanted.level.value,
        "attribute": asked.path,
        "language": asked.language or None,
        "wanted": wanted,
    }
    return RequiredCheck(
        rule,
        tuple(parameters.items()),
        rule.severity,
        rule.weight,
        (wanted.channel.market_selection,),
        units=NAMED,  # of the channel
    )


def _block(asked: AskedAttribute) -> Block:
    if asked.path.startswith("assets"):
        return "pictures"
    if asked.language:
        return "texts"
    if asked.path.startswith("isPartitionedBy"):
        return "food"
    return "hierarchies" if asked.path in {"logisticalHierarchies", "sharingUnits"} else "identity"


def asked_words(asked: AskedAttribute) -> Message:
    """Return what is asked about.

    >>> [str(asked_words(AskedAttribute(*one))) for one in (("namePublicLong", "fr"), ("assets.pictures[front]",))]
    ['long name in French', 'picture of the front']
    """
    path, chosen = selector_of(asked.attribute)
    if chosen and path == PICTURES:
        return Message(_FACE.format(name=chosen))
    if chosen:
        return Message(_NUTRIENT, code=chosen)
    if not asked.language:
        return Message(attribute_label(path))
    return Message(_IN_LANGUAGE, label=Message(attribute_label(path)), language=asked.language)
