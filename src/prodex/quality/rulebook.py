"""Rules: a sentence that should be true of a product, with the function that says of which products it is not.

Rules of a kind (those of all texts, of food, of pictures) share most of their declaration: their modules give it once,
as `functools.partial(rule, ...)`.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from threading import RLock
from typing import Any, Literal, TypeAlias, TypeVar, get_args, get_origin

import pandas as pd
import pyarrow as pa

from prodex.errors import InputError
from prodex.installed_packs import installed_packs
from prodex.phrases import hint
from prodex.quality.declared_fields import FIELDS
from prodex.quality.laws import Law
from prodex.quality.products import Products
from prodex.quality.scope import EVERYTHING, read_scope
from prodex.quality.verdict import Verdict
from prodex.selection import Selection
from prodex.written_dates import day_given

Severity = Literal["blocker", "error", "warning", "info"]
Block = Literal["identity", "texts", "food", "pictures", "hierarchies", "freshness"]
#: Which part of a verdict is certain when only some of the data that a rule needs was requested.
Certain = Literal["fails", "passes"] | None
Dimension = Literal["completeness", "validity", "consistency", "uniqueness", "accuracy", "timeliness"]

#: Changes whenever a rule is added, changed or taken away: scores of different versions are not the same measure.
RULE_SET = "6"

#: Severities, the worst first, each with its weight in a score unless a rule or a profile gives another. Each weighs
#: twice the next, and what only informs lowers no score.
SEVERITIES: Mapping[str, float] = {"blocker": 4.0, "error": 2.0, "warning": 1.0, "info": 0.0}
BLOCKS: tuple[str, ...] = get_args(Block)
DIMENSIONS: tuple[str, ...] = get_args(Dimension)

RuleFunction: TypeAlias = Callable[..., Verdict]
_Function = TypeVar("_Function", bound=RuleFunction)


@dataclass(frozen=True)
class Rule:
    """A rule and what is known about it.

    Attributes
    ----------
    id
        Its name: that of its function, unless it has another one.
    function
        Takes `Products` and the parameters by keyword, returns a `Verdict`; a function or a `RuleForm`.
    title
        The sentence that should be true; `{attribute}` and other parameters are filled in.
    problem
        The problem where it is not true, as lists and charts show it; parameters are filled in as labels and names.
        If it is empty, the title is negated.
    why
        Why it matters: the docstring of the function, unless it was given.
    fix
        What the maintainer of the product has to do.
    reason
        The reason shown for a failing product without evidence.
    severity, weight
        How bad it is, and how much it counts in a score.
    dimension, block
        Which kind of quality it is about, and under which heading it is listed.
    needs
        Wire paths that the rule requires: where one was not requested, the check is unknown.
    certain
        What is certain when only a part of what it needs was requested: "fails" of a rule that no text or picture may
        break, "passes" of one that a single one satisfies, or None where both would be a guess.
    scope
        To which products it applies.
    parameters
        Those of the function, with type and default.
    whole
        Columns that it needs of all parts at once, as "products.gtin".
    gather
        Makes a small table of each part, where whole columns would be too large.
    prepare
        Makes of these columns (or of these tables, one below the other) what each part is given; called once.
    source
        The standard or the service's rule behind it.
    exact
        Whether it is certain (a check digit) or a judgement that can be wrong (a language).
    pack
        The package that it comes with: "prodex", or an installed pack of rules; "" of one's own.
    shipped
        Whether it comes with prodex, and not with somebody else's pack or one's own code.
    says_unknown
        Whether the function says itself of which products it does not know, by whatever was requested and is readable:
        the engine then takes its verdict as it is.
    law, article
        The law that asks for it, and where in it; None and empty where none does.
    in_force, until
        The first and the last day on which it is asked for; None where it always was, and where no end is known.
    cannot_see
        What a product can be wrong in, and the rule cannot see it: one sentence.
    """

    id: str
    title: str
    function: RuleFunction = field(compare=False)  # code has no value
    problem: str = ""
    why: str = ""
    fix: str = ""
    reason: str = ""
    severity: str = "warning"
    weight: float = SEVERITIES["warning"]
    dimension: str = "validity"
    block: str = "identity"
    needs: tuple[str, ...] = ()
    certain: Certain = None
    scope: Selection = EVERYTHING
    parameters: tuple[Parameter, ...] = ()
    whole: tuple[str, ...] = field(default=(), compare=False)
    gather: Callable[[Products], pa.Table] | None = field(default=None, compare=False)
    prepare: Callable[[Any], Any] | None = field(default=None, compare=False)
    source: str = ""
    exact: bool = True
    says_unknown: bool = False
    pack: str = ""
    shipped: bool = True
    law: Law | None = None
    article: str = ""
    in_force: date | None = None
    until: date | None = None
    cannot_see: str = ""

    @cached_property
    def declared(self) -> tuple[str, ...]:
        """The fields that a profile has to declare before it can be asked; see `prodex.quality.declared_fields`."""
        return tuple(each.name for each in self.parameters if each.name in FIELDS)

    @property
    def needs_all_parts(self) -> bool:
        """Whether it is given something that was made of all parts, as `whole`."""
        return bool(self.whole) or self.gather is not None

    @property
    def of_requirements(self) -> bool:
        """Whether requirements make checks of it: no profile and no user can."""
        return self.says_unknown


#: The scope of rules that ask for what consumers see: a case or a pallet needs none of it.
CONSUMER_UNITS: Mapping[str, Any] = {"is_consumer_unit": True}

#: All rules by id that were defined so far.
_DEFINED: dict[str, Rule] = {}


def all_rules() -> Mapping[str, Rule]:
    """Return all rules by id: those of prodex and of installed packs, and one's own as soon as they are defined.

    Raises
    ------
    PackConflict
        When two packs have a rule of one name.
    """
    import_packs()
    return _DEFINED


def rule(
    *,
    title: str,
    name: str = "",
    why: str = "",
    problem: str = "",
    fix: str = "",
    reason: str = "no data: absent, null or empty",
    severity: Severity = "warning",
    weight: float | None = None,
    dimension: Dimension = "validity",
    block: Block = "identity",
    needs: str | Sequence[str] = (),
    certain: Certain = None,
    scope: Mapping[str, Any] | None = None,
    whole: str | Sequence[str] = (),
    gather: Callable[[Products], pa.Table] | None = None,
    prepare: Callable[[Any], Any] | None = None,
    source: str = "",
    exact: bool = True,
    law: Law | None = None,
    article: str = "",
    in_force: date | str | None = None,
    until: date | str | None = None,
    cannot_see: str = "",
    replace: bool = False,
) -> Callable[[_Function], _Function]:
    """Make a function a rule; profiles then know it by the function's name.

    The function takes the `Products` of a part, and its parameters by keyword with type and, where there is one,
    default. It returns a `Verdict`. Defining it again (running the cell again) replaces it.

    Parameters
    ----------
    title
        The sentence that should be true: "the brand is no private label".
    name, why
        Its name, and why it matters: the name and the docstring of the function unless given.
    problem
        The problem where it is not, as lists and charts show it: "Private label". Parameters are filled in as people
        say them: `{attribute}` as "long name", `{language}` as "French". Without one they show "Not true: " and the
        title.
    fix
        What the maintainer of the product has to do.
    reason
        The reason shown for a failing product without evidence.
    severity
        "blocker", "error", "warning" or "info".
    weight
        How much it counts in a score; that of its severity (4, 2, 1, 0) unless given.
    dimension, block
        Which kind of quality, and under which heading.
    needs
        Wire paths that the rule requires, by default all that it reads; `{attribute}` is replaced by
        the parameter of that name, and of "nameLegal.data or description.data" one is enough.
    certain
        What is certain when only some of these were requested (one of several texts, one language): "fails" where
        one that is wrong is enough to fail, "passes" where one that is there is enough to pass. Unknown unless given.
    scope
        Column of `products` = value for which it is a question: `{"is_consumer_unit": True}`.
    whole
        Columns that it needs of all parts at once ("products.gtin"); the function takes them as `whole`.
    gather
        Makes a small table of the `Products` of each part, before any is judged; the function takes these tables, one
        below the other, as `whole`. For what is counted over all products without holding all their texts in memory.
    prepare
        Makes something smaller of these columns or of this table, once, before the parts are judged.
    source
        The standard behind it; by default the law and its article.
    exact
        False when it is a judgement that can be wrong.
    law, article
        The law that asks for it, and where in it.
    in_force
        The first day on which it is asked for; that of the law unless given. Before it the check is a warning.
    until
        The last day on which it is asked for. After it the check applies to no product.
    cannot_see
        What a product can be wrong in, and the rule cannot see it: one sentence.
    replace
        Allow a rule of one's own to replace one of prodex or of a pack.

    Examples
    --------
    >>> import prodex
    >>> @prodex.packs.rule(title="the brand is no private label", problem="Private label", needs="brand")
    ... def is_branded(products):
    ...     return prodex.packs.Verdict(fails=products["brand_code"].isin(["PRIVATE"]))
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "PRIVATE"}}, {"id": 8, "brand": {"code": "ACME"}}])
    >>> prodex.audit(catalog, {"checks": {"is_branded": {}}}).failures()[["product_id", "problem"]].values.tolist()
    [['7', 'Private label']]
    """

    def register(function: _Function) -> _Function:
        rule_id = name or function.__name__
        pack = _pack_of(function)
        _check_words(rule_id, severity, dimension, block)
        try:
            given_weight = weight_given(weight)
            first_day, last_day = day_given(in_force, "in_force"), day_given(until, "until")
        except InputError as error:
            raise InputError(f"Rule {rule_id}: {error}") from error
        made = Rule(
            id=rule_id,
            function=function,
            title=title,
            problem=problem,
            why=why or inspect.getdoc(function) or "",
            fix=fix,
            reason=reason,
            severity=severity,
            weight=SEVERITIES[severity] if given_weight is None else given_weight,
            dimension=dimension,
            block=block,
            needs=(needs,) if isinstance(needs, str) else tuple(needs),
            certain=certain,
            scope=read_scope(scope, place=f"rule {rule_id}") if scope else EVERYTHING,
            parameters=parameters_of(function, reserved="whole" if whole or gather else None),
            whole=(whole,) if isinstance(whole, str) else tuple(whole),
            gather=gather,
            prepare=prepare,
            source=source or ("" if law is None else law.cited(article)),
            exact=exact,
            law=law,
            article=article,
            in_force=law.in_force if first_day is None and law is not None else first_day,
            until=last_day,
            cannot_see=cannot_see,
            pack=pack,
            shipped=pack == _PRODEX or (pack != "" and installed_packs()[pack].is_shipped),
        )
        _define(made, replace)
        return function

    return register


#: The largest weight: sums of more of them would not be exact.
MOST_WEIGHT = 1_000_000


def weight_given(weight: Any) -> float | None:
    """Return the weight that somebody gave a rule or a check; None of None.

    Raises
    ------
    InputError
        When a score could not be made with it: it is negative, no number, or too large.
    """
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if weight is not None and not (is_number and 0 <= weight <= MOST_WEIGHT):
        raise InputError(f"weight is {weight!r:.40}; give a number from 0 to {MOST_WEIGHT:,}.")
    return None if weight is None else float(weight)


def _check_words(name: str, severity: str, dimension: str, block: str) -> None:
    for what, value, known in (
        ("severity", severity, tuple(SEVERITIES)),
        ("dimension", dimension, DIMENSIONS),
        ("block", block, BLOCKS),
    ):
        if value not in known:
            near = hint(str(value), known)
            raise InputError(f"Rule {name}: {what} {value!r} is not one of {', '.join(known)}{near}")


_PRODEX = "prodex"


class PackConflict(InputError):
    """Two packs have a rule of one name: nobody can say which of them a profile means."""


def _pack_of(function: RuleFunction) -> str:
    """Return the package that a rule comes with; "" of one's own."""
    package = str(function.__module__).partition(".")[0]
    return package if package == _PRODEX or package in installed_packs() else ""


def _define(made: Rule, replace: bool) -> None:
    if not made.pack:
        # What comes with packs has to be known before one of one's own takes its name.
        import_packs()
    there = _DEFINED.get(made.id)
    # Modules can be loaded again, and cells run again: the same place may define its rule once more.
    if there is not None and there.function.__module__ != made.function.__module__:
        if made.pack and there.pack:
            raise PackConflict(
                f"Two packs of rules have a rule {made.id!r}: {there.pack} and {made.pack}. Remove one of them, or "
                "give its rule another name."
            )
        if there.pack and not replace:
            raise InputError(
                f"{made.id!r} is one of the rules of {there.pack}. Give yours another name, or pass replace=True."
            )
    _DEFINED[made.id] = made


#: Packs that could not be imported, with the reason.
_BROKEN: dict[str, str] = {}
_IMPORTED: set[str] = set()
#: Held while packs are imported: a second thread waits until their rules are known.
_IMPORTING = RLock()


def import_packs() -> Mapping[str, str]:
    """Import the packs that are installed, once; return those that cannot be imported, with the reason.

    Raises
    ------
    PackConflict
        When two packs have a rule of one name.
    """
    with _IMPORTING:
        for name, pack in installed_packs().items():
            if name in _IMPORTED:
                continue
            # A pack that asks for rules while it is imported is not imported again.
            _IMPORTED.add(name)
            try:
                for entry in pack.entries:
                    entry.load()
            except PackConflict:
                _IMPORTED.discard(name)
                raise
            # A pack is somebody else's code, and the others work. One that ends the program would end each audit, and
            # with the code of a success.
            except (Exception, SystemExit) as error:  # noqa: BLE001
                _BROKEN[name] = f"{type(error).__name__}: {error}"
                # Half of a pack is no pack.
                for one in [one.id for one in _DEFINED.values() if one.pack == name]:
                    del _DEFINED[one]
                warnings.warn(
                    f"The pack of rules {name} cannot be imported ({_BROKEN[name]:.200}); its rules are unknown.",
                    stacklevel=2,
                )
    return _BROKEN


@dataclass(frozen=True)
class _Missing:
    """Takes the place of a rule that is in a pack which is not here: nobody knows of any product."""

    said: str

    def __call__(self, products: Products) -> Verdict:
        unknown = pd.array([pd.NA] * len(products), "boolean")
        return Verdict(unknown, unjudged=self.said)


def missing_rule(name: str, packs: Sequence[str]) -> Rule:
    """Return what stands in for a rule that one of some packs may have, which are not installed or cannot be imported.

    Examples
    --------
    >>> missing_rule("has_composition", ["prodex_food"]).title
    'has_composition'
    """
    said = "; ".join(map(_why_away, packs))
    return Rule(name, title=name, function=_Missing(said), problem=name, exact=False)


def _why_away(pack: str) -> str:
    if pack in _BROKEN:
        return f"the pack of rules {pack} cannot be imported ({_BROKEN[pack]})"
    # What comes with prodex is never installed alone.
    what = _PRODEX if pack.startswith(f"{_PRODEX}_") else pack
    return f"the pack of rules {pack} is not installed; run: pip install --force-reinstall {what}"


def rules() -> pd.DataFrame:
    """Return all rules, one's own included: id, title, problem, why, fix, severity and the other columns of a rule.

    A rule is a sentence that should be true of a product (its title), with the problem where it is not. A profile makes
    checks of some of them: a check is a rule with its parameters, so that there are more checks than rules.

    Examples
    --------
    >>> rules().set_index("rule").loc["valid_gtin", ["block", "title"]].tolist()
    ['identity', 'the GTIN has 14 digits with a correct check digit']
    """
    rows = [
        {
            "rule": r.id,
            **{name: getattr(r, name) for name in ("block", "severity", "weight", "dimension")},
            **{name: getattr(r, name) for name in ("title", "problem", "why", "fix")},
            "parameters": ", ".join(map(str, r.parameters)),
            "scope": str(r.scope),
            **{name: getattr(r, name) for name in ("exact", "source", "pack", "shipped")},
            "law": None if r.law is None else r.law.cited(r.article),
            "in_force": r.in_force,
            "until": r.until,
        }
        for r in all_rules().values()
    ]
    return pd.DataFrame(rows)


def laws() -> pd.DataFrame:
    """Return the laws behind rules: one row per rule and law, with its first and last day.

    Returns
    -------
    pandas.DataFrame
        law (with the article), name (what it is about), rule, title, in_force and until (None where no end is known),
        declare (fields that a profile has to declare before the rule can be asked), cannot_see (what the rule cannot
        see), source (address of the law), checked (when article and days were checked there).

    Examples
    --------
    >>> laws().set_index("rule").loc["has_composition", ["law", "in_force"]].tolist()
    ['Regulation (EU) No 1169/2011, Art. 9(1)(b) and 18', datetime.date(2014, 12, 13)]
    """
    rows = [
        (
            *(r.law.cited(r.article), r.law.name, r.id, r.title, r.in_force, r.until),
            *(", ".join(r.declared), r.cannot_see, r.law.source, r.law.checked),
        )
        for r in all_rules().values()
        if r.law is not None
    ]
    columns = [
        "law",
        "name",
        "rule",
        "title",
        "in_force",
        "until",
        "declare",
        "cannot_see",
        "source",
        "checked",
    ]
    return pd.DataFrame(rows, columns=columns).sort_values(["law", "rule"], kind="stable", ignore_index=True)


_SIMPLE = (str, int, float, bool)


@dataclass(frozen=True)
class Parameter:
    """One parameter of a rule.

    Attributes
    ----------
    name
        As in the function.
    kind
        `str`, `int`, `float` or `bool`; of the items, when it takes several.
    several
        Whether it takes a list of values.
    default
        What it is unless given; `inspect.Parameter.empty` when it has to be given.
    """

    name: str
    kind: type
    several: bool
    default: Any

    @classmethod
    def of(cls, name: str, kind: type, several: bool, required: bool, default: Any) -> Parameter:
        """Return a parameter that was saved."""
        return cls(name, kind, several, inspect.Parameter.empty if required else default)

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    def __str__(self) -> str:
        kind = f"list of {self.kind.__name__}" if self.several else self.kind.__name__
        return f"{self.name}: {kind}" + ("" if self.required else f" = {self.default!r}")

    def __repr__(self) -> str:
        return f"Parameter({self})"

    def read(self, value: Any) -> Any:
        """Return the value as the function takes it: lists as tuples, whole numbers as floats where asked for.

        Raises
        ------
        InputError
            When it is of another type.
        """
        if not self.several:
            return self._one(value)
        # A text would be read as a list of its letters.
        if isinstance(value, str) or not isinstance(value, list | tuple | set | frozenset):
            raise InputError(f"{self.name} is {value!r}; give a list of {self.kind.__name__}.")
        # Where there are values unless others are given, none of them would leave nothing to judge, which passes.
        if not value and (self.required or self.default):
            raise InputError(f"{self.name} is an empty list, which asks nothing. Leave the check out.")
        return tuple(
            # Sets have no order, and an order becomes part of the check's id.
            self._one(item)
            for item in (sorted(value) if isinstance(value, set | frozenset) else value)
        )

    def _one(self, value: Any) -> Any:
        # `True` is an int in Python, and TOML tells the two apart.
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if self.kind is float and is_number:
            return float(value)
        if type(value) is not self.kind:
            raise InputError(f"{self.name} is {value!r}; give {_ARTICLE[self.kind]}.")
        return value


_ARTICLE = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


def parameters_of(function: Callable[..., Any], reserved: str | None = None) -> tuple[Parameter, ...]:
    """Read the parameters of a rule off its function: all but the first argument (and the reserved one).

    >>> def recent(products, *, days: int = 365): ...
    >>> parameters_of(recent)
    (Parameter(days: int = 365),)
    """
    name = getattr(function, "__name__", "rule")
    try:
        # Annotations are texts where a module postpones them.
        signature = inspect.signature(function, eval_str=True)
    except NameError as error:
        raise InputError(f"Rule {name}: the type of a parameter is not known here ({error}).") from error
    _, *others = signature.parameters.values() or [None]
    return tuple(_parameter_of(name, one) for one in others if one is not None and one.name != reserved)


def _parameter_of(rule: str, declared: inspect.Parameter) -> Parameter:
    kind: Any = declared.annotation
    several = get_origin(kind) is tuple
    if several:
        kind = get_args(kind)[0]
    if kind is inspect.Parameter.empty:
        kind = type(declared.default)
    if kind not in _SIMPLE:
        raise InputError(
            f"Rule {rule}: parameter {declared.name} needs a type: str, int, float, bool, or a tuple of one of "
            "them, as in `languages: tuple[str, ...] = ()`."
        )
    return Parameter(declared.name, kind, several, declared.default)


def read_parameters(declared: tuple[Parameter, ...], given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """Return all parameters in the order of their declaration, given or default.

    Raises
    ------
    InputError
        When one is unknown, missing or of another type.
    """
    names = [parameter.name for parameter in declared]
    for name in given:
        if name not in names:
            takes = f"It takes {', '.join(names) or 'none'}."
            raise InputError(f"there is no parameter {name!r}{hint(name, names, takes)}")
    missing = [p.name for p in declared if p.required and p.name not in given]
    if missing:
        raise InputError(f"{' and '.join(missing)} must be given.")
    return tuple((p.name, p.read(given[p.name]) if p.name in given else p.default) for p in declared)
