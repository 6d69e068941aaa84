"""Profiles: which checks make an audit, how bad each is, and for which products.

A profile is a TOML file::

    title = "Online listing"
    extends = "core"
    market = 250
    assume = {food = true}

    [checks.valid_gtin]
    severity = "blocker"

    [[checks.required_text]]
    attribute = ["namePublicLong", "description"]
    language = "of the market"
    only = {is_consumer_unit = true}

A table `[checks.<rule>]` is a check, `[[checks.<rule>]]` one of several of the same rule. Its keys are `severity`,
`weight`, `only` and `except` (columns of `products`, or `market`, with their values) and the rule's parameters. A list
for a parameter that takes one value makes one check for each. The language "of the market" makes one check for each
language that a market requires, for the products of its markets.

`attributes = ["lidColour"]` names attributes of one's own that nobody has filled yet; any other attribute has to be one
of the specification or of the catalogue that is judged.

Which products a check is about is undecided where a product does not say what decides: the check is then unknown.
`market` and `assume` decide by word for such products: `food` for those that nothing tells to be food or not, and
columns of `products`, such as `is_consumer_unit`, for those without a value, or where it was not asked for.

`grade_with_blocker` is the best grade that a product with a failing blocker can have: "C" unless a profile says
another; with "A" its score alone decides.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path
from typing import Any, Self

import pandas as pd

from prodex.arguments import described
from prodex.display_text import on_one_line
from prodex.errors import InputError, QueryError
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.locales import market_code
from prodex.quality.check import Check
from prodex.quality.rulebook import RULES
from prodex.quality.scope import Condition
from prodex.quality.scores import GRADES
from prodex.tables.declaration import TABLES
from prodex.text import hint

OF_THE_MARKET = "of the market"
_KEYS = (
    *("title", "description", "extends", "market", "assume"),
    *("attributes", "grade_with_blocker", "checks"),
)
_CHECK_KEYS = ("severity", "weight", "only", "except")


@dataclass(frozen=True)
class Profile:
    """The checks of an audit.

    Attributes
    ----------
    name
        "core", or the name of the file.
    title, description
        What it is for, in words.
    checks
        The columns of the matrix.
    market
        Market of products that say none, where none was asked for.
    assume
        What is taken for granted of products of which it is not known: "food", or a column of `products`, and a value.
    attributes
        Attributes of one's own, which neither the specification nor, for now, any product has.
    grade_with_blocker
        The best grade of a product with a failing blocker.

    Examples
    --------
    >>> profile = Profile.read({"checks": {"required_text": {"attribute": "nameLegal", "language": ["fr", "nl"]}}})
    >>> [check.id for check in profile.checks]
    ['required_text[nameLegal,fr]', 'required_text[nameLegal,nl]']
    """

    name: str
    title: str = ""
    description: str = ""
    checks: tuple[Check, ...] = ()
    market: int | None = None
    assume: tuple[tuple[str, Any], ...] = ()
    attributes: tuple[str, ...] = ()
    grade_with_blocker: str = "C"

    @classmethod
    def read(cls, source: str | Path | Mapping[str, Any]) -> Self:
        """Read a profile that comes with prodex by its name, one's own by its path, or a mapping of the same shape.

        Raises
        ------
        InputError
            When there is none, or something in it cannot be; the message names file, line and key.

        Examples
        --------
        >>> Profile.read("core").name
        'core'
        >>> Profile.read({"checks": {"valid_gtin": {"severity": "blocker"}}}).table["severity"].tolist()
        ['blocker']
        """
        if isinstance(source, Mapping):
            return cls._made("own", source, _Place("profile", ""))
        if not isinstance(source, str | Path):
            raise InputError(
                f"profile is {described(source)}. Give the name of a profile, such as 'core', the path of your own, or "
                "a mapping of the same shape; prodex.profiles() lists those that come along."
            )
        name = str(source)
        known = shipped()
        if name in known:
            return cls._parsed(name, known[name], f"profile {name}", shipped=True)
        path = Path(source)
        if path.suffix != ".toml" and not path.is_file():
            raise InputError(
                f"There is no profile {name!r}{_hint(name, known)} Give your own by its path, such as own.toml."
            )
        try:
            return cls._parsed(path.stem, path.read_text("utf-8"), str(path))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The profile {path} cannot be read: {error}.") from error

    @classmethod
    def _parsed(cls, name: str, text: str, shown: str, *, shipped: bool = False) -> Self:
        import tomllib

        try:
            return cls._made(name, tomllib.loads(text), _Place(shown, text, shipped))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{shown} is not TOML: {error}.") from error
        except RecursionError as error:
            raise InputError(f"{shown} is nested too deep to be a profile.") from error

    @classmethod
    def _made(cls, name: str, content: Mapping[str, Any], place: _Place) -> Self:
        for key in content:
            if key not in _KEYS:
                raise place.error((key,), f"there is no key {key!r}{_hint(key, _KEYS)}")
        base = cls(name)
        if (parent := content.get("extends")) is not None:
            if not isinstance(parent, str) or parent not in shipped():
                raise place.error(("extends",), f"{parent!r} is no profile{_hint(str(parent), shipped())}")
            base = cls.read(parent)
        for key in ("title", "description"):
            if not isinstance(content.get(key, ""), str):
                raise place.error((key,), f"{key} is {content[key]!r}; give a text.")
        checks = content.get("checks", {})
        if not isinstance(checks, Mapping):
            raise place.error(("checks",), "checks are tables: [checks.valid_gtin]")
        own = [check for rule, written in checks.items() for check in _checks(str(rule), written, place)]
        return cls(
            name,
            content.get("title", name),
            content.get("description", ""),
            _merged([c for c in base.checks if c.rule.id not in checks], own, place),
            _market(content.get("market"), place) or base.market,
            tuple((dict(base.assume) | _assumed(content.get("assume", {}), place)).items()),
            (*base.attributes, *_own_attributes(content.get("attributes", ()), place)),
            _grade(content.get("grade_with_blocker", base.grade_with_blocker), place),
        )

    def with_check(
        self,
        rule: str,
        *,
        severity: str | None = None,
        weight: float | None = None,
        only: Mapping[str, Any] | None = None,
        **parameters: Any,
    ) -> Self:
        """Return the profile with one more check, or with another severity for one that it has.

        >>> Profile.read("core").with_check("updated_within", days=30).checks[-1].id
        'updated_within[days=30]'
        """
        check = Check.of(
            rule, parameters, severity=severity, weight=weight, scope=Condition.of(only, place=rule)
        )
        check = replace(check, place=f"check {check.id}")
        kept = tuple(one for one in self.checks if one.id != check.id)
        return replace(self, checks=(*kept, check))

    def with_market(self, market: int | str) -> Self:
        """Return the profile for products of a market, where they do not say theirs.

        Examples
        --------
        >>> Profile.read("core").with_market("France").market
        250
        """
        return replace(self, market=market_code(market))

    def with_assumption(self, **known: Any) -> Self:
        """Return the profile with something taken for granted where it is not known.

        >>> Profile.read("food-eu").with_assumption(food=True, is_consumer_unit=True).assume
        (('food', True), ('is_consumer_unit', True))
        """
        given = _assumed(known, _Place("assumption", ""))
        return replace(self, assume=tuple((dict(self.assume) | given).items()))

    @property
    def table(self) -> pd.DataFrame:
        """One row per check: id, what should be true, what the problem is, severity, weight, block, which products."""
        facts = [check.facts for check in self.checks]
        rows = [(c.id, c.title, c.problem, c.severity, c.weight, c.block, c.scope, c.fix) for c in facts]
        columns = ["check", "title", "problem", "severity", "weight", "block", "scope", "fix"]
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        lines = [f"Profile {self.name!r}: {self.title}, {len(self.checks)} checks"]
        lines += [f"  {c.severity:<8} {c.id}: {c.title}" for c in self.checks]
        return "\n".join(map(on_one_line, lines))


@dataclass(frozen=True)
class _Place:
    """A file and its text, to say in which line a key stands."""

    shown: str
    text: str
    shipped: bool = False
    lines: list[str] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        self.lines.extend(line.strip() for line in self.text.splitlines())

    def error(self, keys: tuple[str | int, ...], problem: str) -> InputError:
        """Return an error that names file, line and key."""
        return InputError(f"{self.where(keys)}: {problem}")

    def where(self, keys: tuple[str | int, ...]) -> str:
        """Say in which line of which file a key stands."""
        line = self._line(keys)
        where = f"{self.shown}, line {line}" if line else self.shown
        return f"{where}, {'.'.join(str(key) for key in keys if not isinstance(key, int))}"

    def _line(self, keys: tuple[str | int, ...]) -> int | None:
        """Find the line of the innermost key that has one of its own."""
        names = [str(key) for key in keys if not isinstance(key, int)]
        number = next((key for key in keys if isinstance(key, int)), 0)
        start = 0
        if names[0] == "checks" and len(names) > 1:
            headers = [
                place
                for place, line in enumerate(self.lines)
                if line.split("#")[0].replace('"', "").strip().strip("[]").strip() == f"checks.{names[1]}"
            ]
            if not headers:
                return next((i for i, line in enumerate(self.lines, 1) if _key(line) in names[1:]), None)
            start = headers[min(number, len(headers) - 1)]
            names = names[2:]
        for place in range(start, len(self.lines)):
            if place > start and self.lines[place].startswith("["):
                break
            if names and _key(self.lines[place]) == names[0]:
                return place + 1
        return start + 1 if start or not names else None


def _key(line: str) -> str:
    return line.partition("=")[0].strip().strip("\"'").split(".")[-1] if "=" in line else ""


def _checks(rule: str, written: Any, place: _Place) -> Iterator[Check]:
    entries = written if isinstance(written, list) else [written]
    for number, entry in enumerate(entries):
        here = ("checks", rule, number)
        if rule not in RULES:
            raise place.error(here, f"there is no rule {rule!r}{_hint(rule, RULES)}")
        if not isinstance(entry, Mapping):
            raise place.error(here, f"{entry!r} is no table; write [checks.{rule}] and its keys below.")
        yield from _expanded(rule, entry, place, here)


def _expanded(
    rule: str, entry: Mapping[str, Any], place: _Place, here: tuple[str | int, ...]
) -> Iterator[Check]:
    """Make one check for each combination of the values that are given for parameters that take one."""
    declared = {parameter.name: parameter for parameter in RULES[rule].parameters}
    given: dict[str, list[Any]] = {}
    for key, value in entry.items():
        if key in _CHECK_KEYS:
            continue
        if key not in declared:
            raise place.error((*here, key), f"there is no key {key!r}{_hint(key, [*declared, *_CHECK_KEYS])}")
        single = not declared[key].several
        given[key] = list(value) if isinstance(value, list | tuple) and single else [value]
    scope = _scope(entry, place, here)
    for values in itertools.product(*given.values()):
        chosen = dict(zip(given, values, strict=True))
        for parameters, condition in _by_market(chosen, scope):
            yield _check(rule, parameters, entry, condition, place, here)


def _scope(entry: Mapping[str, Any], place: _Place, here: tuple[str | int, ...]) -> Condition:
    read = {}
    for key in ("only", "except"):
        value = entry.get(key, {})
        if not isinstance(value, Mapping):
            words = f"{key} is {value!r}; give columns and values: {{ brand_code = 12 }}."
            raise place.error((*here, key), words)
        try:
            read[key] = Condition.of(value, place="condition").only
        except InputError as error:
            raise place.error((*here, key), str(error)) from error
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
    place: _Place,
    here: tuple[str | int, ...],
) -> Check:
    try:
        made = Check.of(
            rule, parameters, severity=entry.get("severity"), weight=entry.get("weight"), scope=scope
        )
        if place.shipped:
            return made
        named = [key for key in ("attribute", "attributes", "kinds", "only", "except") if key in entry]
        return replace(made, place=place.where((*here, *named[:1])))
    except InputError as error:
        key = [key for key in entry if str(error).startswith((f"{key} is ", f"{key} '"))]
        raise place.error((*here, *key), str(error)) from error


def _merged(base: list[Check], own: list[Check], place: _Place) -> tuple[Check, ...]:
    """Put checks together: what is asked for twice is one column, for the products of both."""
    merged: dict[str, Check] = {}
    for check in (*base, *own):
        try:
            merged[check.id] = merged[check.id].joined(check) if check.id in merged else check
        except InputError as error:
            raise place.error(("checks", check.rule.id), str(error)) from error
    return tuple(merged.values())


def _market(given: Any, place: _Place) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, int | str):
        words = f"market is {given!r:.60}. Give its ISO 3166-1 number (250) or its name (France)."
        raise place.error(("market",), words)
    try:
        return market_code(given)
    except QueryError as error:
        raise place.error(("market",), str(error)) from error


def _grade(given: Any, place: _Place) -> str:
    known = [grade for grade, _ in GRADES]
    if given not in known:
        raise place.error(
            ("grade_with_blocker",), f"grade_with_blocker is {given!r:.60}; give one of {', '.join(known)}."
        )
    return str(given)


#: What can be taken for granted.
_ASSUMABLE = ("food", "market", *TABLES["products"].schema.names)


def _assumed(given: Any, place: _Place) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise place.error(
            ("assume",), f"assume is {given!r:.60}; give what is taken for granted: {{food = true}}"
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
        try:
            ((_, (assumed[name],)),) = Condition.of({name: value}).only
        except (InputError, ValueError) as error:
            raise place.error(("assume", str(name)), str(error)) from error
    return assumed


def _own_attributes(given: Any, place: _Place) -> tuple[str, ...]:
    if (
        isinstance(given, str)
        or not isinstance(given, list | tuple)
        or not all(isinstance(one, str) for one in given)
    ):
        raise place.error(
            ("attributes",), f"attributes is {given!r:.60}; give a list of names: ['lidColour']."
        )
    return tuple(given)


def _hint(name: str, known: Collection[str]) -> str:
    return hint(name, known, f"There are {', '.join(known)}.")


def shipped() -> dict[str, str]:
    """Return the text of each profile that comes with prodex, by name."""
    folder = resources.files("prodex.quality").joinpath("profiles")
    names = ("core", "online-listing", "logistics", "food-eu", "pictures")
    return {name: folder.joinpath(f"{name}.toml").read_text("utf-8") for name in names}
