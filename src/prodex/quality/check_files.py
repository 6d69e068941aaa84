"""Checks in saved audits: all of a check but the function of its rule, which is code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, get_type_hints

import msgspec

from prodex.errors import InputError, ProdexError
from prodex.languages import Message
from prodex.quality.check import Check
from prodex.quality.laws import Standing
from prodex.quality.rulebook import Parameter, Rule
from prodex.selection.plain import as_plain, from_plain
from prodex.selection.units import ALL_UNITS, CONSUMER, NAMED

#: The kinds of parameters by the names that files have for them.
_KINDS = {kind.__name__: kind for kind in (str, int, float, bool)}


class _SavedParameter(msgspec.Struct):
    name: str
    kind: str
    several: bool
    required: bool
    default: Any = None


#: What is saved otherwise than it stands in a rule.
_OTHERWISE: Mapping[str, Any] = {"scope": dict[str, Any], "parameters": list[_SavedParameter]}
#: What is saved of a rule: all but its code, which does not compare.
_TYPES = get_type_hints(Rule)
_SAVED = {one.name: _OTHERWISE.get(one.name, _TYPES[one.name]) for one in fields(Rule) if one.compare}
if TYPE_CHECKING:
    _SavedRule: TypeAlias = Any
else:
    _SavedRule = msgspec.defstruct("_SavedRule", list(_SAVED.items()))


class SavedCheck(msgspec.Struct):
    """A check as JSON."""

    rule: _SavedRule
    parameters: dict[str, Any]
    severity: str
    weight: float
    scopes: list[dict[str, Any]]
    in_force: date | None
    until: date | None
    standing: Standing
    units: str

    def check(self) -> Check:
        """Return the check, whose rule can be read and not run.

        Raises
        ------
        ValueError
            When it is no check.
        """
        facts = msgspec.structs.asdict(self.rule)
        needed = {one.name for one in self.rule.parameters}
        if self.rule.says_unknown:
            needed |= {"channel", "level", "asked"}
        if missing := needed - self.parameters.keys():
            raise ValueError(f"the check of rule {self.rule.id!r:.80} has no {min(missing)}")
        if self.units not in {CONSUMER, NAMED, ALL_UNITS}:
            raise ValueError(f"the check of rule {self.rule.id!r:.80} counts {self.units!r:.40} units")
        try:
            scopes = tuple(map(from_plain, self.scopes))
            scope = from_plain(facts.pop("scope"))
        except ProdexError as error:
            raise ValueError(f"the scope of rule {self.rule.id!r:.80}: {error}") from error
        parameters = tuple(map(_parameter, facts.pop("parameters")))
        rule = Rule(**facts, scope=scope, parameters=parameters, function=_gone)
        return Check(
            rule,
            tuple((name, _value(value)) for name, value in self.parameters.items()),
            self.severity,
            self.weight,
            scopes,
            self.in_force,
            self.until,
            self.standing,
            units=self.units,
        )


def saved(check: Check) -> SavedCheck:
    """Return what is saved of a check."""
    rule = check.rule
    parameters = [
        _SavedParameter(
            one.name, one.kind.__name__, one.several, one.required, None if one.required else one.default
        )
        for one in rule.parameters
    ]
    written = {"scope": as_plain(rule.scope), "parameters": parameters}
    return SavedCheck(
        _SavedRule(**{name: written.get(name, getattr(rule, name)) for name in _SAVED}),
        {name: _plain(value) for name, value in check.parameters if _is_plain(value)},
        check.severity,
        check.weight,
        [as_plain(one) for one in check.scopes],
        check.in_force,
        check.until,
        check.standing,
        check.units,
    )


def _is_plain(value: Any) -> bool:
    # What requirements ask of families is saved with the audit, once for all of their checks.
    return value is None or isinstance(value, str | int | float | tuple | Message)


def _plain(value: Any) -> Any:
    return value.plain() if isinstance(value, Message) else value


def _parameter(one: _SavedParameter) -> Parameter:
    if one.kind not in _KINDS:
        raise ValueError(f"parameter {one.name!r:.60} is of the kind {one.kind!r:.40}")
    return Parameter.of(one.name, _KINDS[one.kind], one.several, one.required, _value(one.default))


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return Message.of_plain(value)
    return tuple(value) if isinstance(value, list) else value


def _gone(*_: Any, **__: Any) -> NoReturn:
    raise InputError(
        "The check is that of a saved audit, which has its words and not its code. Audit again by a profile."
    )
