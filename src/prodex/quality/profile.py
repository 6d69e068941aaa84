"""Profiles: the checks of an audit, their severity, and the products they apply to.

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

`without = ["has_picture", "required_text[description,fr]"]` leaves out checks of the profile that is extended: all of a
rule, or one by its id.

A table `[checks.<rule>]` is a check, `[[checks.<rule>]]` one of several of the same rule. Its keys are `severity`,
`weight`, `only` and `except` (columns of `products`, or `market`, with their values) and the rule's parameters. A list
for a parameter that takes one value makes one check for each. The language "of the market" makes one check for each
language that a market requires, for the products of its markets.

`attributes = ["lidColour"]` declares custom attributes that no product has yet; any other attribute has to be in the
specification or in the catalogue that is judged.

Whether a check applies to a product is undecided where the product lacks the deciding data: the check is then unknown.
`market` and `assume` decide for such products: `food` for those with no sign of being food or not, and columns of
`products`, such as `is_consumer_unit`, for those without a value, or where it was not requested.

`grade_with_blocker` is the best grade that a product with a failing blocker can have: "C" unless a profile says
another; with "A" its score alone decides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Self

import pandas as pd

from prodex.arguments import described
from prodex.display_text import on_one_line
from prodex.errors import InputError
from prodex.files.toml_text import TomlText
from prodex.files.untrusted import NotUtf8, utf8_text
from prodex.locales import market_code
from prodex.quality.check import Check
from prodex.quality.profile_reading import (
    assumptions_of,
    checks_of,
    grade_of,
    hint_of,
    market_of,
    merged,
    own_attributes,
)
from prodex.quality.scope import Condition

_KEYS = (
    *("title", "description", "extends", "without", "market", "assume"),
    *("attributes", "grade_with_blocker", "checks"),
)


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
        Market of products without one, where the query has none.
    assume
        Assumptions for products whose data do not decide: "food", or a column of `products`, with a value.
    attributes
        Custom attributes, which neither the specification nor, for now, any product has.
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
            return cls._made("own", source, TomlText("profile", ""))
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
        # A misspelled name of a profile is far more frequent than a path without an ending.
        if path.suffix != ".toml" and not path.is_file():
            raise InputError(
                f"There is no profile {name!r}{hint_of(name, known)} Give your own by its path, such as own.toml."
            )
        try:
            return cls._parsed(path.stem, utf8_text(path.read_bytes()), str(path))
        except OSError as error:
            raise InputError(f"The profile {path} cannot be read: {error}.") from error
        except NotUtf8 as error:
            raise InputError(f"The profile {path} {error}") from error

    @classmethod
    def _parsed(cls, name: str, text: str, shown: str, *, shipped: bool = False) -> Self:
        import tomllib

        try:
            return cls._made(name, tomllib.loads(text), TomlText(shown, text, shipped))
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{shown} is not TOML: {error}.") from error
        # tomllib recurses; a profile may come from somebody else.
        except RecursionError as error:
            raise InputError(f"{shown} is nested too deep to be a profile.") from error

    @classmethod
    def _made(cls, name: str, content: Mapping[str, Any], place: TomlText) -> Self:
        for key in content:
            if key not in _KEYS:
                raise place.error((key,), f"there is no key {key!r}{hint_of(key, _KEYS)}")
        base = cls(name)
        if (parent := content.get("extends")) is not None:
            if not isinstance(parent, str) or parent not in shipped():
                raise place.error(
                    ("extends",), f"{parent!r} is not a profile{hint_of(str(parent), shipped())}"
                )
            # Only shipped profiles can be extended: a chain of files would need a search path and could run in
            # circles.
            base = cls.read(parent)
        inherited = _left(base.checks, content.get("without", []), place)
        for key in ("title", "description"):
            if not isinstance(content.get(key, ""), str):
                raise place.error((key,), f"{key} is {content[key]!r}; give a text.")
        checks = content.get("checks", {})
        if not isinstance(checks, Mapping):
            raise place.error(("checks",), "checks are tables: [checks.valid_gtin]")
        own = [check for rule, written in checks.items() for check in checks_of(str(rule), written, place)]
        return cls(
            name,
            content.get("title", name),
            content.get("description", ""),
            # A profile that names a rule replaces all checks that its parent makes of it.
            merged([c for c in inherited if c.rule.id not in checks], own, place),
            market_of(content.get("market"), place) or base.market,
            tuple((dict(base.assume) | assumptions_of(content.get("assume", {}), place)).items()),
            (*base.attributes, *own_attributes(content.get("attributes", ()), place)),
            grade_of(content.get("grade_with_blocker", base.grade_with_blocker), place),
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

    def without_check(self, *names: str) -> Self:
        """Return the profile without some checks: all of a rule, or one by its id.

        Raises
        ------
        InputError
            When it has no such check; the message names the nearest.

        Examples
        --------
        >>> core = Profile.read("core")
        >>> len(core.checks) - len(core.without_check("valid_gtin").checks)
        1
        """
        return replace(self, checks=tuple(_left(self.checks, list(names), TomlText("without_check", ""))))

    def with_market(self, market: int | str) -> Self:
        """Return the profile with a market for products without one of their own.

        Examples
        --------
        >>> Profile.read("core").with_market("France").market
        250
        """
        return replace(self, market=market_code(market))

    def with_assumption(self, **known: Any) -> Self:
        """Return the profile with assumptions for products whose data do not decide.

        >>> Profile.read("food-eu").with_assumption(food=True, is_consumer_unit=True).assume
        (('food', True), ('is_consumer_unit', True))
        """
        given = assumptions_of(known, TomlText("assumption", ""))
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


def _left(checks: Sequence[Check], without: Any, place: TomlText) -> list[Check]:
    """Return the checks but those that are named, by their id or by that of their rule."""
    names = [without] if isinstance(without, str) else without
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise place.error(
            ("without",), f"without is {without!r:.60}. Give the ids of rules or checks, in a list."
        )
    known = {name for check in checks for name in (check.id, check.rule.id)}
    for name in names:
        if name not in known:
            raise place.error(("without",), f"there is no check {name!r} to leave out{hint_of(name, known)}")
    return [check for check in checks if not {check.id, check.rule.id} & set(names)]


def shipped() -> dict[str, str]:
    """Return the text of each profile that comes with prodex, by name."""
    folder = resources.files("prodex.quality").joinpath("profiles")
    names = ("core", "online-listing", "logistics", "food-eu", "pictures")
    return {name: folder.joinpath(f"{name}.toml").read_text("utf-8") for name in names}


def profiles() -> pd.DataFrame:
    """Return the profiles that come with prodex: name, title, description, number of rules and of checks.

    A rule is a sentence that should be true of a product. A check is a rule with its parameters, which is one column of
    an audit: `required_text` for three attributes in nine languages is one rule and 27 checks.

    Examples
    --------
    >>> profiles().set_index("profile").loc["online-listing", ["rules", "checks"]].tolist()
    [89, 124]
    """
    rows = [
        (p.name, p.title, p.description, len({check.rule.id for check in p.checks}), len(p.checks))
        for p in map(Profile.read, shipped())
    ]
    return pd.DataFrame(rows, columns=["profile", "title", "description", "rules", "checks"])
