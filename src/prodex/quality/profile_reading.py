"""Reading profiles: TOML, or a mapping of the same shape, becomes checks; every error names file, line and key."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from prodex.errors import InputError
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.files.toml_text import TomlText
from prodex.locales import market_code
from prodex.quality.check import Check
from prodex.quality.rulebook import RULES
from prodex.quality.scope import Condition
from prodex.quality.scores import GRADES
from prodex.tables.declaration import TABLES
from prodex.text import hint

OF_THE_MARKET = "of the market"
_CHECK_KEYS = ("severity", "weight", "only", "except")


def checks_of(rule: str, written: Any, place: TomlText) -> Iterator[Check]:
    entries = written if isinstance(written, list) else [written]
    # [checks.x] and [[checks.x]] are one check and a list of them.
    for number, entry in enumerate(entries):
        here = ("checks", rule, number)
        if rule not in RULES:
            raise place.error(here, f"there is no rule {rule!r}{hint_of(rule, RULES)}")
        if not isinstance(entry, Mapping):
            raise place.error(here, f"{entry!r} is not a table; write [checks.{rule}] and its keys below.")
        yield from _expanded(rule, entry, place, here)


def _expanded(
    rule: str, entry: Mapping[str, Any], place: TomlText, here: tuple[str | int, ...]
) -> Iterator[Check]:
    """Make one check for each combination of the values given for single-valued parameters."""
    declared = {parameter.name: parameter for parameter in RULES[rule].parameters}
    given: dict[str, list[Any]] = {}
    for key, value in entry.items():
        if key in _CHECK_KEYS:
            continue
        if key not in declared:
            raise place.error(
                (*here, key), f"there is no key {key!r}{hint_of(key, [*declared, *_CHECK_KEYS])}"
            )
        single = not declared[key].several
        given[key] = list(value) if isinstance(value, list | tuple) and single else [value]
    # Read once: the condition is the same for every combination.
    scope = _scope(entry, place, here)
    # Three attributes in two languages are six checks, each a column.
    for values in itertools.product(*given.values()):
        chosen = dict(zip(given, values, strict=True))
        for parameters, condition in _by_market(chosen, scope):
            yield _check(rule, parameters, entry, condition, place, here)


def _scope(entry: Mapping[str, Any], place: TomlText, here: tuple[str | int, ...]) -> Condition:
    read = {}
    for key in ("only", "except"):
        value = entry.get(key, {})
        if not isinstance(value, Mapping):
            words = f"{key} is {value!r}; give columns and values: {{ brand_code = 12 }}."
            raise place.error((*here, key), words)
        with place.named((*here, key)):
            read[key] = Condition.of(value, place="condition").only
    return Condition(read["only"], read["except"])


def _by_market(parameters: dict[str, Any], scope: Condition) -> Iterator[tuple[dict[str, Any], Condition]]:
    """Replace the language "of the market" by each language, for the markets that require it."""
    if parameters.get("language") != OF_THE_MARKET:
        yield parameters, scope
        return
    others = tuple((column, values) for column, values in scope.only if column != "market")
    chosen = dict(scope.only).get("market", tuple(map(str, REQUIRED_LANGUAGES)))
    for language in dict.fromkeys(one for required in REQUIRED_LANGUAGES.values() for one in required):
        markets = tuple(str(m) for m, required in REQUIRED_LANGUAGES.items() if language in required)
        if meant := tuple(market for market in markets if market in chosen):
            yield parameters | {"language": language}, replace(scope, only=(*others, ("market", meant)))


def _check(
    rule: str,
    parameters: dict[str, Any],
    entry: Mapping[str, Any],
    scope: Condition,
    place: TomlText,
    here: tuple[str | int, ...],
) -> Check:
    try:
        made = Check.of(
            rule, parameters, severity=entry.get("severity"), weight=entry.get("weight"), scope=scope
        )
        # prodex's own profiles are tested; only users' profiles are validated against a catalogue.
        if place.shipped:
            return made
        named = [key for key in ("attribute", "attributes", "kinds", "only", "except") if key in entry]
        return replace(made, place=place.where((*here, *named[:1])))
    except InputError as error:
        key = [key for key in entry if str(error).startswith((f"{key} is ", f"{key} '"))]
        raise place.error((*here, *key), str(error)) from error


def merged(base: list[Check], own: list[Check], place: TomlText) -> tuple[Check, ...]:
    """Merge checks: the same check named twice is one column, for the products of both."""
    merged: dict[str, Check] = {}
    for check in (*base, *own):
        with place.named(("checks", check.rule.id)):
            merged[check.id] = merged[check.id].joined(check) if check.id in merged else check
    return tuple(merged.values())


def market_of(given: Any, place: TomlText) -> int | None:
    # `True` is an int in Python and would be market 1.
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | str):
        words = f"market is {given!r:.60}. Give its ISO 3166-1 number (250) or its name (France)."
        raise place.error(("market",), words)
    with place.named(("market",)):
        return market_code(given)


def grade_of(given: Any, place: TomlText) -> str:
    known = [grade for grade, _ in GRADES]
    if given not in known:
        raise place.error(
            ("grade_with_blocker",), f"grade_with_blocker is {given!r:.60}; give one of {', '.join(known)}."
        )
    return str(given)


#: What a profile can assume.
_ASSUMABLE = ("food", "market", *TABLES["products"].schema.names)


def assumptions_of(given: Any, place: TomlText) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise place.error(
            ("assume",), f"assume is {given!r:.60}; give a table of assumptions: {{food = true}}"
        )
    assumed: dict[str, Any] = {}
    for name, value in given.items():
        if name == "food":
            if not isinstance(value, bool):
                raise place.error(("assume", name), f"food is {value!r:.60}; give true or false.")
            assumed[name] = value
            continue
        if name not in _ASSUMABLE:
            there_are = hint(str(name), _ASSUMABLE, "Give food, market or a column of products.")
            raise place.error(("assume", str(name)), f"nothing is called {name!r}{there_are}")
        with place.named(("assume", str(name))):
            ((_, (assumed[name],)),) = Condition.of({name: value}).only
    return assumed


def own_attributes(given: Any, place: TomlText) -> tuple[str, ...]:
    if (
        isinstance(given, str)
        or not isinstance(given, list | tuple)
        or not all(isinstance(one, str) for one in given)
    ):
        raise place.error(
            ("attributes",), f"attributes is {given!r:.60}; give a list of names: ['lidColour']."
        )
    return tuple(given)


def hint_of(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that refuses a name: the nearest known one, or all of them."""
    return hint(name, known, f"Give one of {', '.join(known)}.")
