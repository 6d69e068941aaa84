"""Checks: a rule with its parameters, which is one column of the matrix."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import Any, Self

from prodex.advice import PythonCall, advice
from prodex.catalog import Origin
from prodex.errors import InputError, QueryError
from prodex.facts.requested_data import OR, Asked, asked_for
from prodex.languages import Message, Said, either
from prodex.locales import language_tag, short_of
from prodex.phrases import day_in_words, hint
from prodex.quality.declared_fields import FIELDS
from prodex.quality.laws import ANNOUNCED, ENDED, IN_FORCE, Standing, standing
from prodex.quality.rulebook import SEVERITIES, Rule, all_rules, read_parameters, weight_given
from prodex.quality.scope import EVERYTHING
from prodex.selection import Selection
from prodex.selection.paths import paths_of, wire_paths
from prodex.selection.plain import COLUMNS, MARKET
from prodex.selection.units import CONSUMER, NAMED, names_units

#: Values of parameters that words can name.
_SAID = (str, int, float, tuple, Message)


def plain_fact(check: Check, name: str) -> Any:
    """Return a fact of a check as frames have it: a rule by its name, messages in English."""
    fact = getattr(check, name)
    if isinstance(fact, Rule):
        return fact.id
    return str(fact) if isinstance(fact, Message) else fact


@dataclass(frozen=True)
class Check:
    """One column of the matrix: a rule with its parameters. An audit keeps it as it is; saved, it lacks the function.

    Attributes
    ----------
    rule
        The rule.
    parameters
        All of them with their values.
    severity, weight
        Those of the profile, else those of the rule.
    scopes
        The products that the profile means: those of any of these conditions, and of the rule's own scope.
    in_force, until
        The first and the last day on which it is asked for: those of the profile, else those of the rule.
    standing
        How it stands on the day of the audit: "in force", "announced" (a warning of what will be asked for), "ended"
        (asked of no product), or "" where no day decides; see `on`.
    place
        File, line and key where it is written; empty in the profiles of prodex.
    units
        Which units count where figures say how many lack it: "consumer" units; "all" where the profile means all; and
        "named" where it says itself of which units it asks, so that all to which it applies count (see `on`).

    Examples
    --------
    >>> import prodex
    >>> [(check.rule.id, check.severity) for check in prodex.Profile.read("core").checks][0]
    ('valid_gtin', 'blocker')
    """

    rule: Rule
    parameters: tuple[tuple[str, Any], ...]
    severity: str
    weight: float
    scopes: tuple[Selection, ...] = (EVERYTHING,)
    in_force: date | None = None
    until: date | None = None
    standing: Standing = ""
    place: str = field(default="", compare=False)
    units: str = CONSUMER

    @classmethod
    def of(
        cls,
        name: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        severity: str | None = None,
        weight: float | None = None,
        scope: Selection = EVERYTHING,
        in_force: date | None = None,
        until: date | None = None,
    ) -> Self:
        """Make a check of a rule's name.

        Raises
        ------
        InputError
            When there is no such rule, or a parameter is not as it should be.
        """
        rule = all_rules().get(name)
        if rule is None:
            near = hint(name, all_rules())
            raise InputError(
                advice(
                    "there is no rule {name}{near}" + " {rules} lists them." * (near == "."),
                    name=repr(name),
                    near=near,
                    rules=PythonCall("prodex.rules()"),
                )
            )
        return cls.of_rule(
            rule, parameters, severity=severity, weight=weight, scope=scope, in_force=in_force, until=until
        )

    @classmethod
    def of_rule(
        cls,
        rule: Rule,
        parameters: Mapping[str, Any] | None = None,
        *,
        severity: str | None = None,
        weight: float | None = None,
        scope: Selection = EVERYTHING,
        in_force: date | None = None,
        until: date | None = None,
    ) -> Self:
        """Make a check of a rule.

        Raises
        ------
        InputError
            When a parameter is not as it should be.
        """
        # A tuple, since `in` a dict would hash a list and raise a TypeError that names nothing.
        if severity is not None and severity not in tuple(SEVERITIES):  # it may be anything, and not hashable
            near = hint(str(severity), SEVERITIES)
            raise InputError(f"severity {severity!r} is not one of {', '.join(SEVERITIES)}{near}")
        given_weight = weight_given(weight)
        # A profile that changes the severity means its weight too, unless it gives one.
        first, last = in_force or rule.in_force, until or rule.until
        if first is not None and last is not None and last < first:
            raise InputError(f"until is {last}, which is before the first day, {first}.")
        usual = rule.weight if severity in {None, rule.severity} else SEVERITIES[severity or rule.severity]
        read = read_parameters(rule.parameters, parameters or {})
        return cls(
            rule,
            tuple((each, _short_language(value) if each == "language" else value) for each, value in read),
            severity or rule.severity,
            usual if given_weight is None else given_weight,
            (scope,),
            first,
            last,
            "" if first is None and last is None else IN_FORCE,
        )

    @cached_property
    def id(self) -> str:
        """The rule's name with the parameters that are not as usual: `required_text[namePublicLong,fr]`."""
        # Where a field is does not make another check of it: what was accepted stays accepted once it is declared.
        values = {name: value for name, value in self.parameters if name not in FIELDS}
        words = [
            _exact_word(values[p.name])
            for p in self.rule.parameters
            if p.required and values[p.name] is not None
        ]
        words += [
            f"{p.name}={_exact_word(values[p.name])}"
            for p in self.rule.parameters
            if p.name in values and not p.required and values[p.name] != p.default
        ]
        return f"{self.rule.id}[{','.join(words)}]" if words else self.rule.id

    @cached_property
    def title(self) -> Message:
        """The sentence that should be true, with the parameters filled in."""
        return Message(self.rule.title, **self._values)

    @cached_property
    def problem(self) -> Message:
        """What is wrong with a failing product; before the first day of its law, what will be."""
        if self.rule.problem:
            said = Message.sentence(self.rule.problem, **self._values)
        else:
            said = Message("Not true: {said}", said=self.title)
        if self.standing != ANNOUNCED or self.in_force is None:
            return said
        return Message("{said} (from {day} on)", said=said, day=day_in_words(self.in_force))

    @cached_property
    def fix(self) -> Message:
        """What has to be done; it is read by suppliers."""
        return Message(self.rule.fix, **self._values)

    @cached_property
    def reason(self) -> Message:
        """The reason shown for a failing product without evidence."""
        return Message(self.rule.reason, **self._values)

    @property
    def _values(self) -> dict[str, Any]:
        """The parameters that its words may name."""
        return {name: value for name, value in self.parameters if isinstance(value, _SAID)}

    @cached_property
    def attribute(self) -> str | None:
        """The attribute that it is about: its parameter of this name, a declared field, else the first that it needs.

        Where any of several texts would do, it is the first of these.
        """
        named: str | None = dict(self.parameters).get("attribute")
        if named is not None:
            return named
        declared = [path for name, paths in self.parameters if name in FIELDS for path in paths]
        if declared or self.not_asked:
            return declared[0] if declared else None
        # "namePublicLong.data or nameLegal.data": the first name is the one that lists show.
        if self.rule.certain == "passes" and self.rule.needs[0].endswith(".data"):
            return self.needs[0].split(OR)[0]
        return next((path for path in self.needs if OR not in path), None)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes that its parameters name: those that it needs by name, and `attributes`."""
        wanted = " ".join(self.rule.needs)
        named = [
            value if isinstance(value, tuple) else (value,)
            for name, value in self.parameters
            if name == "attributes" or f"{{{name}}}" in wanted
        ]
        return tuple(str(one) for values in named for one in values)

    @cached_property
    def language(self) -> str | None:
        """The language that it is about, where it has one, as languages are compared."""
        named: str | None = dict(self.parameters).get("language")
        return None if named is None else short_of(named)

    @property
    def is_presence(self) -> bool:
        """Whether it asks for data of one attribute: these are what coverage is made of."""
        named = "attribute" in dict(self.parameters)
        return self.rule.dimension == "completeness" and named and self.level != "not"

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """The wire paths without which the check is unknown."""
        declared = {f"{{{name}}}": OR.join(paths) for name, paths in self.parameters if name in FIELDS}
        return tuple(
            OR.join(one.removesuffix(".data") for one in self._filled_in(path).split(OR))
            for path in (declared.get(path, path) for path in self.rule.needs)
            if path
        )

    @property
    def not_asked(self) -> tuple[str, ...]:
        """The fields that the profile has to declare before it can be asked."""
        return tuple(name for name, value in self.parameters if name in FIELDS and not value)

    def declaring(self, fields: Mapping[str, tuple[str, ...]]) -> Check:
        """Return it with the wire paths of the fields that it asks for."""
        if not self.rule.declared:
            return self
        given = tuple((name, fields.get(name, value)) for name, value in self.parameters)
        if given == self.parameters:
            return self
        # A misspelled path would fail every product: it is looked for before, also in a check of prodex's profiles.
        return replace(self, parameters=given, place=self.place or "attributes")

    def asked(self, origin: Origin) -> Asked:
        """Return how much was requested of the data that the check itself reads."""
        return asked_for(origin, self.needs, self.language)

    def knows_scope(self, origin: Origin, market: int | None, assume: Collection[str] = ()) -> bool:
        """Whether all data that decide to which products it applies were requested or are assumed."""
        given = market is not None or (origin.query is not None and origin.query.target_market is not None)
        needed: set[str] = set().union(*(paths_of(scope) for scope in (self.rule.scope, *self.scopes)))
        # What is assumed or given by the query does not have to be requested.
        for column in {*assume, MARKET} if given else {*assume}:
            needed -= {*wire_paths(column)} if column in COLUMNS else set()
        return asked_for(origin, sorted(needed)) is Asked.ALL

    def has_ended(self, day: date) -> bool:
        """Whether nobody asks for it any more on a day."""
        return standing(self.in_force, self.until, day) == ENDED

    @cached_property
    def why(self) -> Message:
        """Why it matters."""
        sentence = " ".join(self.rule.why.split())
        return Message(sentence, **self._values)

    @property
    def block(self) -> str:
        """Under which heading it is listed."""
        return self.rule.block

    @property
    def dimension(self) -> str:
        """Which kind of quality it is about."""
        return self.rule.dimension

    @property
    def source(self) -> str:
        """The standard behind it."""
        return self.rule.source

    @property
    def source_said(self) -> Message:
        """The same as a message: sources of prodex's rules are cited in each language by its own words."""
        return Message(self.source)

    @property
    def exact(self) -> bool:
        """Whether it is certain, and no judgement that can be wrong."""
        return self.rule.exact

    @property
    def shipped(self) -> bool:
        """Whether it is one of prodex's rules."""
        return self.rule.shipped

    @property
    def law(self) -> str:
        """The law that asks for it, with the article; "" where none does."""
        return "" if self.rule.law is None else self.rule.law.cited(self.rule.article)

    @property
    def law_said(self) -> Message:
        """The same as a message: laws are cited in each language by its own words."""
        return Message(self.law)

    @cached_property
    def scope(self) -> str:
        """For which products, in words."""
        return str(self.scope_said)

    @property
    def scope_said(self) -> Said:
        """The same as a message; empty where it is for every product."""
        if self.channel:
            channel = dict(self.parameters)["channel"]
            return channel if isinstance(channel, Message) else self.channel
        scopes = [scope.said for scope in self.scopes if scope]
        named = ([self.rule.scope.said] if self.rule.scope else []) + ([either(*scopes)] if scopes else [])
        return Message("{conditions}", conditions=tuple(named)) if named else ""

    @property
    def channel(self) -> str:
        """Of a check that requirements make, for which channel; "" of any other."""
        return self._required("channel")

    @property
    def level(self) -> str:
        """Of a check that requirements make, how much is wanted: "must", "should" or "not"."""
        return self._required("level")

    @property
    def required_attribute(self) -> str:
        """Of a check that requirements make, the attribute as they name it, such as "assets.pictures[front]"."""
        return self._required("asked")

    def _required(self, name: str) -> str:
        return str(dict(self.parameters)[name]) if self.rule.of_requirements else ""

    def on(self, day: date) -> Check:
        """Return it as an audit of a day keeps it: before its first day, it is a warning.

        Examples
        --------
        >>> check = Check.of("has_gpc_brick", severity="error", in_force=date(2026, 8, 12))
        >>> before = check.on(date(2026, 8, 11))
        >>> before.severity, str(before.problem)
        ('warning', 'No eight-digit GS1 brick (from 12 August 2026 on)')
        >>> check.on(date(2026, 8, 12)).severity
        'error'
        """
        stands = standing(self.in_force, self.until, day)
        units = NAMED if names_units(self.rule.scope, *self.scopes) else self.units
        if (stands, units) == (self.standing, self.units):
            return self
        is_worse = list(SEVERITIES).index(self.severity) < list(SEVERITIES).index("warning")
        if stands == ANNOUNCED and is_worse:
            return replace(
                self, standing=stands, units=units, severity="warning", weight=SEVERITIES["warning"]
            )
        return replace(self, standing=stands, units=units)

    def joined(self, other: Check) -> Check:
        """Return one check for the products of both.

        Raises
        ------
        InputError
            When they differ in severity or weight: a column has one of each.
        """
        # A column of the matrix has one severity and one weight; two would make the score ambiguous.
        if (self.severity, self.weight) != (other.severity, other.weight):
            raise InputError(
                f"{self.id} is asked for twice, as {self.severity} of weight {self.weight:g} and as "
                f"{other.severity} of weight {other.weight:g}. Give it one severity and weight."
            )
        if (self.in_force, self.until) != (other.in_force, other.until):
            raise InputError(
                f"{self.id} is asked for twice, from or until different days. Give it the same days."
            )
        return replace(self, scopes=tuple(dict.fromkeys((*self.scopes, *other.scopes))))

    def _filled_in(self, words: str) -> str:
        for name, value in self.parameters:
            words = words.replace(f"{{{name}}}", _parameter_word(value))
        return words


def _short_language(value: Any) -> Any:
    """Return the short code of a language in any spelling, by which the check is called."""
    if not isinstance(value, str):
        return value
    try:
        return language_tag(value).partition("-")[0]
    except QueryError as error:
        raise InputError(f"language is {value!r:.60}. {error}") from error


#: Signs by which the parts of a check's name are divided.
_DIVIDING = frozenset('[]|,="')


def _exact_word(value: Any) -> str:
    """Return a parameter as it is part of a check's name: no two values are written alike."""
    if isinstance(value, tuple):
        return "|".join(map(_exact_word, value))
    value = str(value) if isinstance(value, Message) else value
    word = _parameter_word(value)
    if isinstance(value, float) and float(word) != value:
        return repr(value)
    return json.dumps(word, ensure_ascii=False) if isinstance(value, str) and _DIVIDING & set(word) else word


def _parameter_word(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "|".join(map(_parameter_word, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
