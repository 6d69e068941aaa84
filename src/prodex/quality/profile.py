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
specification or in the catalogue that is judged. As a table it says where this catalogue has the fields that laws ask
for and the specification does not list: `attributes = {manufacturer = "contactInformationList"}`, or several wire paths
in a list, of which one is enough; `others` are custom attributes as above. Checks of fields that are not declared are
not asked.

`in_force` and `until` of a check are the first and the last day on which it is asked for; those of the law behind its
rule unless given. Before, the check is a warning; after, it applies to no product.

Whether a check applies to a product is undecided where the product lacks the deciding data: the check is then unknown.
`market` and `assume` decide for such products: `food` for those with no sign of being food or not, and columns of
`products`, such as `is_consumer_unit`, for those without a value, or where it was not requested.

`units = "all"` counts cases and pallets as well where figures say how many products lack what a check asks for, as in
`Audit.coverage`. Otherwise these count consumer units, but for checks whose condition names kinds of units by itself.

`requirements = "requirements.xlsx"` adds what channels ask of each family; the path is relative to that of the profile.

`grade_with_blocker` is the best grade that a product with a failing blocker can have: "C" unless a profile says
another; with "A" its score alone decides.

A profile is read without a catalogue, so only the names of the specification are known then. Whether another name is
a custom attribute or a typing error is decided when a catalogue is judged.
"""

from __future__ import annotations

import itertools
import json
import warnings
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Self

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from prodex.advice import PythonCall, advice
from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.encodings import NotUtf8, utf8_text
from prodex.errors import InputError, NotExported
from prodex.facts.market import REQUIRED_LANGUAGES
from prodex.facts.pending import own_path
from prodex.files.toml_text import NotToml, TomlFile, TomlText, toml_values
from prodex.files.untrusted import leads_to_file
from prodex.installed_packs import installed_packs
from prodex.locales import market_code
from prodex.phrases import counted, hint, nearest
from prodex.quality.check import Check, plain_fact
from prodex.quality.declared_fields import FIELDS
from prodex.quality.required_checks import checks_of_requirements
from prodex.quality.requirements import Requirements
from prodex.quality.rulebook import all_rules, import_packs, missing_rule
from prodex.quality.scope import read_scope
from prodex.quality.scores import GRADES
from prodex.selection import Selection
from prodex.selection.units import CONSUMER, units_given
from prodex.tables.attributes import ATTRIBUTES, MEASURES, PATHS, attribute_of, is_within
from prodex.tables.declaration import TABLES
from prodex.tables.filled import BY_SHAPE
from prodex.untrusted_text import on_one_line
from prodex.written_dates import day_given

_KEYS = (
    *("title", "description", "extends", "without", "market", "assume"),
    *("attributes", "grade_with_blocker", "checks", "requirements", "units", "packs"),
    "ingredients",
)


#: The name of every profile that is a mapping: it says nothing of what is checked.
NAMELESS = "own"

#: The profiles of prodex that were read in this process: they are frozen.
_READ: dict[tuple[type, str], Any] = {}


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
    declared
        Where the catalogue has fields that laws ask for and the specification does not list: the name of the field (see
        `prodex.quality.declared_fields`) with wire paths of which one is enough.
    grade_with_blocker
        The best grade of a product with a failing blocker.
    requirements
        What channels ask of each family, beside the checks.
    units
        Which units figures of coverage count: "consumer" or "all".

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
    requirements: Requirements | None = None
    declared: tuple[tuple[str, tuple[str, ...]], ...] = ()
    units: str = CONSUMER

    @classmethod
    def read(cls, source: str | Path | Mapping[str, Any] | Requirements) -> Self:
        """Read a profile of prodex by its name, one's own by its path, or a mapping of the same shape.

        Requirements, or a file with them, make a profile that has nothing else.

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
        if isinstance(source, Requirements):
            return cls(source.name, f"Requirements {source.name}").with_requirements(source)
        if isinstance(source, Mapping):
            return cls._made(NAMELESS, source, TomlText("profile", ""))
        if not isinstance(source, str | Path):
            raise InputError(
                f"profile is {described(source)}. Give the name of a profile, such as 'core', the path of your own, or "
                "a mapping of the same shape; prodex.profiles() lists those that come along."
            )
        name = str(source)
        known = shipped()
        if name in known:
            return cls._shipped(name, known[name])
        path = Path(source)
        if Requirements.is_file(path):
            return cls.read(Requirements.read(path))
        # A misspelled name of a profile is far more frequent than a path without an ending.
        if path.suffix != ".toml" and not leads_to_file(path):
            raise InputError(
                f"There is no profile {name!r}{hint_of(name, known)} Give your own by its path, such as own.toml."
            )
        read = TomlFile.read(path, f"The profile {path}")
        return cls._made(path.stem, read.values, read.text, path.parent)

    @classmethod
    def _shipped(cls, name: str, content: bytes) -> Self:
        """Return a profile of prodex, read anew only where a rule of one's own has taken the place of one of its."""
        read = _READ.get((cls, name))
        if read is None or any(all_rules().get(one.rule.id) is not one.rule for one in read.checks):
            try:
                text = utf8_text(content)
                values = toml_values(text)
            except (NotUtf8, NotToml) as error:
                raise InputError(f"The profile {name} of an installed pack {error}") from error
            read = _READ[cls, name] = cls._made(name, values, TomlText(f"profile {name}", text, shipped=True))
        return read

    @classmethod
    def _made(cls, name: str, content: Mapping[str, Any], place: TomlText, folder: Path = Path()) -> Self:
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
        inherited = _without_named(base.checks, content.get("without", []), place)
        for key in ("title", "description"):
            if not isinstance(content.get(key, ""), str):
                raise place.error((key,), f"{key} is {content[key]!r}; give a text.")
        checks = content.get("checks", {})
        if not isinstance(checks, Mapping):
            raise place.error(("checks",), "checks are tables: [checks.valid_gtin]")
        away = _packs_away(content.get("packs", ()), place)
        own = [
            check for rule, written in checks.items() for check in checks_of(str(rule), written, place, away)
        ]
        custom, fields = declared_attributes(content.get("attributes", ()), place)
        fields = dict(base.declared) | fields
        every = merged([c for c in inherited if c.rule.id not in checks], own, place)
        with place.named(("units",)):
            units = units_given(content.get("units", base.units))
        made = cls(
            name,
            content.get("title", name),
            content.get("description", ""),
            # A profile that names a rule replaces all checks that its parent makes of it.
            tuple(replace(check.declaring(fields), units=units) for check in every),
            market_of(content.get("market"), place) or base.market,
            tuple(
                (
                    dict(base.assume)
                    | assumptions_of(content.get("assume", {}), place)
                    | _own_words(content.get("ingredients", {}), place)
                ).items()
            ),
            (*base.attributes, *custom),
            grade_of(content.get("grade_with_blocker", base.grade_with_blocker), place),
            _requirements_of(content.get("requirements"), place, folder),
            tuple(fields.items()),
            units,
        )
        # Last: an error in what it has is the nearer one.
        if not made.every_check:
            raise place.error(
                ("checks",),
                "the profile has no check, so that any product would pass. Name one, such as [checks.valid_gtin], a "
                'profile to extend, such as extends = "core", or requirements = "requirements.xlsx".',
            )
        return made

    def with_requirements(self, requirements: Requirements | str | Path) -> Self:
        """Return the profile with what channels ask of each family, beside its checks.

        Parameters
        ----------
        requirements
            `Requirements`, or the path of a file with them.

        Examples
        --------
        >>> import pandas as pd, prodex
        >>> rows = [["Web shop", "brand", "must"]]
        >>> wanted = prodex.Requirements.of(pd.DataFrame(rows, columns=["channel", "attribute", "level"]))
        >>> Profile.read("core").with_requirements(wanted).every_check[-1].id
        'must_have[Web shop,brand]'
        """
        given = requirements if isinstance(requirements, Requirements) else Requirements.read(requirements)
        if not given.channels:
            raise InputError(
                advice(
                    "The requirements {name} ask nothing, since they have no channel. Write them anew with "
                    "{requirements}, and fill in its cells.",
                    name=repr(given.name),
                    requirements=PythonCall(
                        "prodex.write_requirements({file!r}, catalog)", file="requirements.xlsx"
                    ),
                )
            )
        name = self.name if self.name == given.name else f"{self.name} + {given.name}"
        return replace(self, name=name, requirements=given)

    @cached_property
    def every_check(self) -> tuple[Check, ...]:
        """The columns of the matrix: the checks, and after them what the requirements ask."""
        return (
            self.checks
            if self.requirements is None
            else (*self.checks, *checks_of_requirements(self.requirements))
        )

    def checks_on(self, day: date) -> tuple[Check, ...]:
        """Return the columns of the matrix as they stand on a day.

        Examples
        --------
        >>> profile = Profile.read({"checks": {"has_name": {"in_force": "2026-08-12"}}})
        >>> [check.standing for check in profile.checks_on(date(2026, 8, 11))]
        ['announced']
        """
        return tuple(check.on(day) for check in self.every_check)

    def with_check(
        self,
        rule: str,
        *,
        severity: str | None = None,
        weight: float | None = None,
        only: Mapping[str, Any] | None = None,
        in_force: date | str | None = None,
        until: date | str | None = None,
        **parameters: Any,
    ) -> Self:
        """Return the profile with one more check, or with another severity for one that it has.

        >>> Profile.read("core").with_check("updated_within", days=30).checks[-1].id
        'updated_within[days=30]'
        """
        check = Check.of(
            rule,
            parameters,
            severity=severity,
            weight=weight,
            scope=read_scope(only, place=rule),
            in_force=day_given(in_force, "in_force"),
            until=day_given(until, "until"),
        ).declaring(dict(self.declared))
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
        return replace(
            self, checks=tuple(_without_named(self.checks, list(names), TomlText("without_check", "")))
        )

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

    def with_attributes(self, **fields: str | Sequence[str]) -> Self:
        """Return the profile with where the catalogue has fields that laws ask for; `prodex.fields()` lists them.

        Examples
        --------
        >>> Profile.read("core").with_attributes(manufacturer="contactInformationList").declared
        (('manufacturer', ('contactInformationList',)),)
        """
        _, given = declared_attributes(fields, TomlText("attributes", ""))
        declared = dict(self.declared) | given
        checks = tuple(check.declaring(declared) for check in self.checks)
        return replace(self, checks=checks, declared=tuple(declared.items()))

    @property
    def table(self) -> pd.DataFrame:
        """One row per check: id, what should be true, the problem, severity, weight, block, which products, its law."""
        columns = {"check": "id"} | {
            name: name
            for name in (
                *("title", "problem", "severity", "weight", "block", "scope", "fix"),
                *("law", "in_force", "until"),
            )
        }
        rows = [[plain_fact(check, fact) for fact in columns.values()] for check in self.every_check]
        return pd.DataFrame(rows, columns=list(columns))

    def __repr__(self) -> str:
        lines = [f"Profile {self.name!r}: {self.title}, {counted(len(self.every_check), 'check')}"]
        lines += [f"  {c.severity:<8} {c.id}: {c.title}" for c in self.every_check]
        return "\n".join(map(on_one_line, lines))


def _requirements_of(given: Any, place: TomlText, folder: Path) -> Requirements | None:
    """Read the requirements that a profile names; their path is relative to the profile's own."""
    if given is None:
        return None
    if not isinstance(given, str):
        raise place.error(
            ("requirements",), f"requirements is {given!r:.60}; give the path of a file: 'requirements.xlsx'."
        )
    return Requirements.read(folder / given)


def _without_named(checks: Sequence[Check], without: Any, place: TomlText) -> list[Check]:
    """Return the checks but those that are named, by their id or by that of their rule."""
    names = [without] if isinstance(without, str) else without
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise place.error(
            ("without",), f"without is {without!r:.60}. Give the ids of rules or checks, in a list."
        )
    known = {name for check in checks for name in (check.id, check.rule.id)}
    if names and not known:
        raise place.error(
            ("without",),
            'without leaves out checks of the profile that is extended, and none is: write extends = "core".',
        )
    for name in names:
        if name not in known:
            raise place.error(("without",), f"there is no check {name!r} to leave out{hint_of(name, known)}")
    return [check for check in checks if not {check.id, check.rule.id} & set(names)]


@cache
def shipped() -> dict[str, bytes]:
    """Return the content of each profile that comes with prodex or with an installed pack of rules, by name.

    Raises
    ------
    InputError
        When two of them have one name.
    """
    folder = resources.files("prodex.quality").joinpath("profiles")
    names = ("core", "online-listing", "logistics", "pictures")
    found = {name: folder.joinpath(f"{name}.toml").read_bytes() for name in names}
    for pack in installed_packs().values():
        for name, content in pack.profiles().items():
            if name in found:
                raise InputError(
                    f"The pack of rules {pack.name} has a profile {name!r}, and so has another one. Remove one of them."
                )
            found[name] = content
    return found


def every_profile() -> list[Profile]:
    """Return the profiles that come with prodex and with packs; one that cannot be read is named in a warning."""
    found = []
    for name in shipped():
        try:
            found.append(Profile.read(name))
        except InputError as error:  # of a pack, which is somebody else's, and the others are as they were
            warnings.warn(f"A profile is left out. {error}", stacklevel=3)
    return found


def profiles() -> pd.DataFrame:
    """Return the profiles that come with prodex: name, title, description, number of rules and of checks.

    A rule is a sentence that should be true of a product. A check is a rule with its parameters, which is one column of
    an audit: `required_text` for three attributes in nine languages is one rule and 27 checks.

    Examples
    --------
    >>> profiles().set_index("profile").loc["online-listing", ["rules", "checks"]].tolist()
    [103, 138]
    """
    rows = [
        (p.name, p.title, p.description, len({check.rule.id for check in p.checks}), len(p.checks))
        for p in every_profile()
    ]
    return pd.DataFrame(rows, columns=["profile", "title", "description", "rules", "checks"])


def _packs_away(given: Any, place: TomlText) -> list[str]:
    """Return the packs of rules that a profile asks and that are not installed, or cannot be imported."""
    if not isinstance(given, list | tuple) or not all(isinstance(one, str) and one.strip() for one in given):
        raise place.error(("packs",), f"packs is {given!r:.60}; give a list of packages: ['prodex_food'].")
    broken = import_packs()
    return [one for one in given if one not in installed_packs() or one in broken]


def _own_words(given: Any, place: TomlText) -> dict[str, str]:
    """Return the words of ingredients that the profile assumes to be harmless, or to name something, as JSON."""
    is_table = isinstance(given, Mapping) and all(
        isinstance(words, list | tuple) and all(isinstance(one, str) and one.strip() for one in words)
        for words in given.values()
    )
    if not is_table:
        raise place.error(
            ("ingredients",),
            f"ingredients is {given!r:.60}; give lists of words: {{harmless = ['zlork'], fish = ['hoki']}}.",
        )
    words = {str(name): sorted(words) for name, words in sorted(given.items())}
    return {"ingredients": json.dumps(words, ensure_ascii=False)} if words else {}


OF_THE_MARKET = "of the market"
_CHECK_KEYS = ("severity", "weight", "only", "except", "in_force", "until")


def checks_of(rule: str, written: Any, place: TomlText, away: Sequence[str] = ()) -> Iterator[Check]:
    """Yield the checks that a profile makes of a rule.

    Parameters
    ----------
    rule, written
        Name of the rule, and what the profile says below it.
    place
        Its text.
    away
        Packs of rules that the profile asks and that are not here: a rule that nobody knows may be one of theirs.
    """
    entries = written if isinstance(written, list) else [written]
    known = all_rules()
    # [checks.x] and [[checks.x]] are one check and a list of them.
    for number, entry in enumerate(entries):
        here = ("checks", rule, number)
        if rule not in known and not away:
            raise place.error(here, f"there is no rule {rule!r}{hint_of(rule, known)}")
        if not isinstance(entry, Mapping):
            raise place.error(here, f"{entry!r} is not a table; write [checks.{rule}] and its keys below.")
        if rule not in known:
            yield _check_of_missing(rule, entry, away, place, here)
        else:
            yield from _expanded(rule, entry, place, here)


def _check_of_missing(
    rule: str, entry: Mapping[str, Any], away: Sequence[str], place: TomlText, here: tuple[str | int, ...]
) -> Check:
    """Return a check that is unknown of every product: its rule is in a pack that is not here."""
    weights = {"severity": entry.get("severity", "warning"), "weight": entry.get("weight")}
    with place.named(here):
        return Check.of_rule(missing_rule(rule, away), scope=_scope_of_entry(entry, place, here), **weights)


def _expanded(
    rule: str, entry: Mapping[str, Any], place: TomlText, here: tuple[str | int, ...]
) -> Iterator[Check]:
    """Make one check for each combination of the values given for single-valued parameters."""
    declared = {parameter.name: parameter for parameter in all_rules()[rule].parameters}
    given: dict[str, list[Any]] = {}
    for key, value in entry.items():
        if key in _CHECK_KEYS:
            continue
        if key not in declared:
            raise place.error(
                (*here, key), f"there is no key {key!r}{hint_of(key, [*declared, *_CHECK_KEYS])}"
            )
        is_list = isinstance(value, list | tuple) and not declared[key].several
        # No value would make no check, and what is not asked passes.
        if is_list and not value:
            raise place.error(
                (*here, key), f"{key} is an empty list, which asks nothing. Leave the check out."
            )
        given[key] = list(value) if is_list else [value]
    # Read once: the condition is the same for every combination.
    scope = _scope_of_entry(entry, place, here)
    # Three attributes in two languages are six checks, each a column.
    for values in itertools.product(*given.values()):
        chosen = dict(zip(given, values, strict=True))
        with place.named((*here, "language")):
            by_market = list(_by_market(chosen, scope))
        for parameters, condition in by_market:
            yield _check_of_entry(rule, parameters, entry, condition, place, here)


def _scope_of_entry(entry: Mapping[str, Any], place: TomlText, here: tuple[str | int, ...]) -> Selection:
    read = {}
    for key in ("only", "except"):
        value = entry.get(key, {})
        if not isinstance(value, Mapping):
            words = f"{key} is {value!r}; give columns and values: {{ brand_code = 12 }}."
            raise place.error((*here, key), words)
        with place.named((*here, key)):
            read[key] = read_scope(**{"only" if key == "only" else "excepted": value}, place="condition")
    return replace(read["only"], excepted=(*read["only"].excepted, *read["except"].excepted))


def _by_market(parameters: dict[str, Any], scope: Selection) -> Iterator[tuple[dict[str, Any], Selection]]:
    """Replace the language "of the market" by each language, for the markets that require it."""
    if parameters.get("language") != OF_THE_MARKET:
        yield parameters, scope
        return
    chosen = scope.columns.get("market", tuple(map(str, REQUIRED_LANGUAGES)))
    if other := [str(market) for market in chosen if market not in set(map(str, REQUIRED_LANGUAGES))]:
        raise InputError(
            f"no language is known for the market {' and '.join(other)}, so {OF_THE_MARKET!r} asks nothing there. Name "
            'the language, such as language = "da".'
        )
    for language in dict.fromkeys(one for required in REQUIRED_LANGUAGES.values() for one in required):
        markets = tuple(str(m) for m, required in REQUIRED_LANGUAGES.items() if language in required)
        if meant := tuple(market for market in markets if market in chosen):
            yield (
                parameters | {"language": language},
                replace(scope, columns={**scope.columns, "market": meant}),
            )


def _check_of_entry(
    rule: str,
    parameters: dict[str, Any],
    entry: Mapping[str, Any],
    scope: Selection,
    place: TomlText,
    here: tuple[str | int, ...],
) -> Check:
    try:
        made = Check.of(
            rule,
            parameters,
            severity=entry.get("severity"),
            weight=entry.get("weight"),
            scope=scope,
            **{name: day_given(entry.get(name), name) for name in ("in_force", "until")},
        )
        # prodex's own profiles are tested; only users' profiles are validated against a catalogue.
        if place.shipped:
            return made
        named = [key for key in ("attribute", "attributes", "kinds", "only", "except") if key in entry]
        return replace(made, place=place.where((*here, *named[:1])))
    except InputError as error:
        key = [key for key in entry if str(error).startswith((f"{key} is ", f"{key} '"))]
        raise place.error((*here, *key), str(error)) from error


def markets_without_language(checks: Iterable[Check], markets: Iterable[pa.ChunkedArray]) -> dict[str, int]:
    """Return how many products there are of each market of which no language is known, where that is asked for.

    Parameters
    ----------
    checks
        Those of an audit. Unless they ask for the languages of all markets that are known, the others are not meant.
    markets
        The markets of the products, as `markets_of` has them.
    """
    asked = {
        (market, dict(check.parameters).get("language"))
        for check in checks
        for scope in check.scopes
        for market in scope.columns.get("market", ())
    }
    known = {(str(market), one) for market, required in REQUIRED_LANGUAGES.items() for one in required}
    if not known <= asked:
        return {}
    counts: Counter[str] = Counter()
    for column in markets:
        counts.update({row["values"]: row["counts"] for row in pc.value_counts(column).to_pylist()})
    spoken = {None, *(market for market, _ in known)}
    return {market: counts[market] for market in sorted(counts.keys() - spoken)}


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
            ((assumed[name],),) = read_scope({name: value}).columns.values()
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


def declared_attributes(given: Any, place: TomlText) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Return the custom attributes of a profile, and where the catalogue has fields that laws ask for."""
    if not isinstance(given, Mapping):
        return own_attributes(given, place), {}
    fields: dict[str, tuple[str, ...]] = {}
    for name, paths in given.items():
        if name == "others":
            continue
        if name not in FIELDS:
            raise place.error(
                ("attributes", str(name)), f"there is no field {name!r}{hint_of(str(name), FIELDS)}"
            )
        each = [paths] if isinstance(paths, str) else paths
        is_list = isinstance(each, list | tuple)
        if not is_list or not each or not all(isinstance(one, str) and one.strip() for one in each):
            near = FIELDS[str(name)].suggestions
            example = near[0] if near else "lidColour"
            raise place.error(
                ("attributes", str(name)),
                f"{name} is {paths!r:.60}; give the attribute where this catalogue has it, such as {example!r}.",
            )
        fields[str(name)] = tuple(each)
    return own_attributes(given.get("others", ()), place), fields


def hint_of(name: str, known: Iterable[str]) -> str:
    """Return the end of a sentence that refuses a name: the nearest known one, or all of them."""
    return hint(name, known, f"Give one of {', '.join(known)}.")


#: Columns of `products` whose values are kinds, with the wire path of each.
_KINDS = {"kind_code": "kind.code", "gpc_code": "GPC.code"}


def confirm(
    catalog: Catalog,
    checks: Iterable[Check],
    own: Collection[str] = (),
    requirements: Requirements | None = None,
) -> None:
    """Refuse attributes that neither the specification nor the catalogue knows, and warn of kinds that no product has.

    Parameters
    ----------
    catalog
        What is to be judged.
    checks
        Those of the profile; prodex's own profiles are not checked.
    own
        Custom attributes that the profile declares: no product may have them yet.
    requirements
        What is asked beside the checks.

    Raises
    ------
    InputError
        With file, line and key, and the nearest name.
    """
    # Shipped profiles have no place: their attributes are those of the specification.
    written = [check for check in checks if check.place]
    if not len(catalog):  # an empty catalogue knows no attribute
        return
    named = [(check.place, name) for check in written for name in check.attributes]
    if requirements is not None:
        named += list(
            dict.fromkeys(
                (f"{_REQUIREMENTS}{requirements.name}", one.asked.path) for one in requirements.requirements
            )
        )
    doubted = [
        (place, name)
        for place, name in named
        if name.partition(".")[0] not in {*ATTRIBUTES, *MEASURES, *own} or ("." in name and name not in PATHS)
    ]
    if doubted:
        with suppress(NotExported):  # what an export left out may have had the attribute
            _confirm_attributes(catalog, doubted, own)
    for column, path in _KINDS.items():
        mentions = [(check, value) for check in written for value in _kinds_in_scope(check, column)]
        if mentions and catalog.origin.asked(path):
            with suppress(NotExported):
                _confirm_kinds(catalog, column, mentions)


_REQUIREMENTS = "requirements "


def _confirm_attributes(catalog: Catalog, doubted: list[tuple[str, str]], own: Collection[str]) -> None:
    """Refuse all that is unknown at once: whoever corrects one name should not have to wait for the next."""
    seen = _wire_paths_held(catalog)
    known = {*ATTRIBUTES, *own, *(name.partition(".")[0] for name in seen)}
    wrong = []
    for place, name in doubted:
        head, _, deeper = name.partition(".")
        if not catalog.origin.asked(name):
            continue  # the check is unknown anyway
        if head not in known:
            near = hint(head, sorted(known), "`catalog.drift` and `prodex tables` list names.")
            if place.startswith(_REQUIREMENTS) and nearest(head, sorted(known), cutoff=0.75) is None:
                # It was there when the requirements were written, and that nobody has it is what they are for.
                warnings.warn(f"{place}: no product of this catalogue has {name!r}{near}", stacklevel=5)
                continue
            wrong.append(
                f"{place}: there is no attribute {name!r} in the specification, and no product of this catalogue "
                f"has it{near} If it is a custom attribute that is not filled yet, declare it in the profile: "
                f"attributes = [{head!r}]."
            )
            continue
        within = [path for path in (*PATHS, *seen) if path.startswith(f"{head}.")]
        if deeper and not any(is_within(path, name) for path in within):
            near_path = nearest(name, within, cutoff=0.85)
            if near_path:  # deeper paths are open: a name unlike any other is accepted
                wrong.append(f"{place}: there is nothing at {name!r}; did you mean {near_path!r}?")
    if wrong:
        raise InputError("\n".join(wrong))


def _wire_paths_held(catalog: Catalog) -> set[str]:
    """Return the wire paths that the catalogue holds."""
    found = {attribute for name in catalog.presence.columns if (attribute := attribute_of(name)) is not None}
    for table in BY_SHAPE:
        values = pc.unique(catalog.arrow(table, ["attribute"])["attribute"]).to_pylist()
        found.update(own_path(value) for value in values if value)
    return found


def _kinds_in_scope(check: Check, column: str) -> Iterator[str]:
    for scope in check.scopes:
        for one in scope.every():
            yield from (str(value) for value in one.columns.get(column, ()) if value is not None)
    if column == "kind_code":
        yield from dict(check.parameters).get("kinds", ())


def _confirm_kinds(catalog: Catalog, column: str, mentions: list[tuple[Check, str]]) -> None:
    there = [code for code in pc.unique(catalog.arrow("products", [column])[column]).to_pylist() if code]
    for place, value in dict.fromkeys((check.place, value) for check, value in mentions):
        begins = value.removesuffix("*")
        if value in there or (value.endswith("*") and any(code.startswith(begins) for code in there)):
            continue
        near = hint(begins, there, f"It has {len(there):,} others.")
        message = f"{place}: no product of this catalogue has the {column} {value!r}{near}"
        warnings.warn(message, stacklevel=4)
