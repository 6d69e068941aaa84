"""What a profile already asks of channels, as the answers that a workbook begins with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from prodex.quality.asked_attributes import AskedAttribute
from prodex.quality.asks import Ask, Level
from prodex.quality.check import Check
from prodex.quality.profile import Profile
from prodex.quality.requirements import (
    ALL,
    Channel,
    ChannelRequirement,
    ProductFamily,
    Requirements,
)
from prodex.selection import Selection

#: Rules that ask for data of every product of their scope; others decide for themselves, such as by what is food.
_RULES = frozenset({"required_text", "required_attribute", "measure_told", "has_net_content"})
_LEVELS = {"blocker": Level.MUST, "error": Level.MUST, "warning": Level.SHOULD, "info": Level.SHOULD}
_FAMILIES = "kind_code"


def requirements_of_profile(profile: Profile, channels: Sequence[Channel], by: str) -> Requirements:
    """Return what the checks of a profile ask of channels, as far as requirements can say it.

    A check of consumer units is asked only of channels of these alone, and one of certain kinds only where families
    are told by kind. What is left out stays with the profile, which an audit can be given as well.

    Parameters
    ----------
    profile
        The profile.
    channels
        The channels.
    by
        By what families are told.

    Examples
    --------
    >>> every_unit = Channel("Web shop", 56, consumer_units=False)
    >>> found = requirements_of_profile(Profile.read("core"), [every_unit], "kind")
    >>> [(one.asked.attribute, one.asked.language, one.ask.words) for one in found.requirements]
    [('namePublicLong', 'fr', 'must'), ('namePublicLong', 'nl', 'must')]
    """
    asked: dict[tuple[str, AskedAttribute, str], Ask] = {}
    for channel in channels:
        for check in profile.checks:
            for family, level in _families(check, channel, by):
                key = (
                    channel.label,
                    AskedAttribute(str(check.attribute), check.language or ""),
                    family,
                )
                before = asked.get(key)
                # Of two checks the stricter one: must is the first level.
                if before is None or list(Level).index(level) < list(Level).index(before.level):
                    asked[key] = Ask(level)
    families = sorted({ProductFamily(code) for _, _, code in asked if code != ALL})
    listed = tuple(sorted(ChannelRequirement(*key, ask) for key, ask in asked.items()))
    return Requirements(profile.name, by, tuple(channels), tuple(families), listed)


def _families(check: Check, channel: Channel, by: str) -> Iterator[tuple[str, Level]]:
    """Yield the families of a channel of which a check asks for data, and those that it leaves out."""
    if check.rule.id not in _RULES or not check.is_presence or check.attribute is None:
        return
    for scope in check.scopes:
        if any(
            one != Selection(columns=one.columns) for one in (replace(scope, excepted=()), *scope.excepted)
        ):
            continue  # a channel has no such condition
        only = {**scope.columns, **check.rule.scope.columns}
        excepted = {name: values for one in scope.excepted for name, values in one.columns.items()}
        kinds = only.pop(_FAMILIES, None)
        left_out = excepted.pop(_FAMILIES, ())
        is_by_kind = by in {"kind", _FAMILIES} or (kinds is None and not left_out)
        if excepted or not is_by_kind or not all(_is_of(channel, *one) for one in only.items()):
            continue
        yield from ((str(code), _LEVELS[check.severity]) for code in (ALL,) if kinds is None)
        yield from ((str(code), _LEVELS[check.severity]) for code in kinds or () if code)
        yield from ((str(code), Level.MAY) for code in left_out if code)


def _is_of(channel: Channel, column: str, values: tuple[Any, ...]) -> bool:
    """Whether all products of a channel have one of these values."""
    if column == "market":
        return str(channel.market) in map(str, values)
    return column == "is_consumer_unit" and channel.consumer_units and values == (True,)
