"""Rules: a sentence that should be true of a product, with the function that says of which products it is not."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, get_args

import numpy as np

from prodex.errors import InputError
from prodex.quality.parameters import Parameter, parameters_of
from prodex.quality.products import Products
from prodex.quality.scope import EVERYTHING, Condition
from prodex.tables.columns import Answer, Mask
from prodex.text import hint

if TYPE_CHECKING:
    import pandas as pd


Severity = Literal["blocker", "error", "warning", "info"]
Block = Literal["identity", "texts", "food", "pictures", "hierarchies", "freshness"]
#: What of a verdict stands when only a part of what a rule needs was asked for.
Certain = Literal["fails", "passes"] | None
Dimension = Literal["completeness", "validity", "consistency", "uniqueness", "accuracy", "timeliness"]

#: From the worst to the least, each with the weight that it has in a score unless a rule or a profile says another.
SEVERITIES: Mapping[str, float] = {"blocker": 4.0, "error": 2.0, "warning": 1.0, "info": 0.0}
BLOCKS: tuple[str, ...] = get_args(Block)
DIMENSIONS: tuple[str, ...] = get_args(Dimension)

#: One value for all rows of evidence, or one for each.
Words: TypeAlias = "str | Sequence[Any] | pd.Series | None"


@dataclass(frozen=True)
class Evidence:
    """What was found on failing products: one row for each finding; a product can have several.

    Attributes
    ----------
    product
        Positions of the products in their part, as `Products.rows` gives them under `product`.
    attribute
        Wire path of where it was seen: one for all rows, or one for each (this holds for the next three as well).
    language
        Short language code, where the finding has one.
    value
        The value found there, verbatim.
    reason
        What is wrong with it, in words.

    Examples
    --------
    >>> import prodex
    >>> prodex.Evidence([0], attribute="namePublicLong", language="fr", value="??", reason="no letters").reason
    'no letters'
    """

    product: Any
    attribute: Words = None
    language: Words = None
    value: Words = None
    reason: Words = None


@dataclass(frozen=True)
class Verdict:
    """The result of a rule for the products of a part. Only the engine turns it into states.

    Both columns of booleans may hold missing values (None, `pd.NA`): there the check is unknown.
    pandas' "boolean" arrays compute with them as logic does: unknown and False is False, unknown and True is unknown.

    Attributes
    ----------
    fails
        One boolean for each product: whether the rule's sentence is not true of it.
    applies
        One boolean for each product: whether the rule applies to it. Where this is False, the check is not applicable,
        whatever `fails` holds. By default it applies to the whole scope.
    evidence
        What was seen on failing products. Missing data need no evidence.

    Examples
    --------
    >>> import prodex
    >>> prodex.Verdict(fails=[True, False], evidence=prodex.Evidence([0], value="??")).fails
    [True, False]
    """

    fails: Any
    applies: Any = None
    evidence: Evidence | None = None


RuleFunction: TypeAlias = Callable[..., Verdict]
_Function = TypeVar("_Function", bound=RuleFunction)


@dataclass(frozen=True)
class Rule:
    """A rule and what is known about it.

    Attributes
    ----------
    id
        Name of its function.
    function
        Takes `Products` and the parameters by keyword, returns a `Verdict`.
    title
        The sentence that should be true; `{attribute}` and other parameters are filled in.
    problem
        The problem where it is not true, as lists and charts show it; parameters are filled in as labels and names.
        If it is empty, the title is negated.
    why
        Why it matters: the docstring of the function.
    fix
        What the maintainer of the product has to do.
    reason
        The reason shown for a failing product without evidence.
    severity, weight
        How bad it is, and how much it counts in a score.
    dimension, block
        Which kind of quality it is about, and under which heading it stands.
    needs
        Wire paths that the rule requires: where one was not requested, the check is unknown.
    certain
        What stands when only a part of what it needs was asked for: "fails" of a rule that no text or picture may
        break, "passes" of one that a single one satisfies, or None where both would be a guess.
    scope
        To which products it applies.
    parameters
        Those of the function, with type and default.
    whole
        Columns that it needs of all parts at once, as "products.gtin".
    prepare
        Makes of these columns what each part is given; called once, with a dict of Arrow columns.
    source
        The standard or the service's rule behind it.
    exact
        Whether it is certain (a check digit) or a judgement that can be wrong (a language).
    """

    id: str
    function: RuleFunction
    title: str
    problem: str
    why: str
    fix: str
    reason: str
    severity: str
    weight: float
    dimension: str
    block: str
    needs: tuple[str, ...]
    certain: Certain
    scope: Condition
    parameters: tuple[Parameter, ...]
    whole: tuple[str, ...]
    prepare: Callable[[dict[str, Any]], Any] | None
    source: str
    exact: bool

    @property
    def shipped(self) -> bool:
        """Whether it is one of prodex's rules, not a user's own."""
        return str(self.function.__module__).partition(".")[0] == "prodex"


#: All rules by id: prodex's own, and user-defined ones as soon as their functions are defined.
RULES: dict[str, Rule] = {}


def rule(
    *,
    title: str,
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
    prepare: Callable[[dict[str, Any]], Any] | None = None,
    source: str = "",
    exact: bool = True,
    replace: bool = False,
) -> Callable[[_Function], _Function]:
    """Make a function a rule; profiles then know it by the function's name.

    The function takes the `Products` of a part, and its parameters by keyword with type and, where there is one,
    default. It returns a `Verdict`. Defining it again (running the cell again) replaces it.

    Parameters
    ----------
    title
        The sentence that should be true: "the brand is no private label".
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
        Wire paths that the rule requires, by default all that it reads; `{attribute}` stands for
        the parameter of that name, and of "nameLegal.data or description.data" one is enough.
    certain
        What stands when only some of these were asked for (one of several texts, one language): "fails" where one that
        is wrong is enough to fail, "passes" where one that is there is enough to pass. Unknown unless given.
    scope
        Column of `products` = value for which it is a question: `{"is_consumer_unit": True}`.
    whole
        Columns that it needs of all parts at once ("products.gtin"); the function takes them as `whole`.
    prepare
        Makes something smaller of these columns, once, before the parts are judged.
    source
        The standard behind it.
    exact
        False when it is a judgement that can be wrong.
    replace
        Allow a user's rule to replace one of prodex's rules of the same name.

    Examples
    --------
    >>> import prodex
    >>> @prodex.rule(title="the brand is no private label", problem="Private label", needs="brand")
    ... def is_branded(products):
    ...     return prodex.Verdict(fails=products["brand_code"].isin(["PRIVATE"]))
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "PRIVATE"}}, {"id": 8, "brand": {"code": "ACME"}}])
    >>> prodex.audit(catalog, {"checks": {"is_branded": {}}}).failures()[["product_id", "problem"]].values.tolist()
    [['7', 'Private label']]
    """

    def register(function: _Function) -> _Function:
        name = function.__name__
        _check_words(name, severity, dimension, block)
        made = Rule(
            id=name,
            function=function,
            title=title,
            problem=problem,
            why=inspect.getdoc(function) or "",
            fix=fix,
            reason=reason,
            severity=severity,
            weight=SEVERITIES[severity] if weight is None else float(weight),
            dimension=dimension,
            block=block,
            needs=(needs,) if isinstance(needs, str) else tuple(needs),
            certain=certain,
            scope=Condition.of(scope, place=f"rule {name}") if scope else EVERYTHING,
            parameters=parameters_of(function, reserved="whole" if whole else None),
            whole=(whole,) if isinstance(whole, str) else tuple(whole),
            prepare=prepare,
            source=source,
            exact=exact,
        )
        _register(made, replace)
        return function

    return register


def _check_words(name: str, severity: str, dimension: str, block: str) -> None:
    for what, value, known in (
        ("severity", severity, tuple(SEVERITIES)),
        ("dimension", dimension, DIMENSIONS),
        ("block", block, BLOCKS),
    ):
        if value not in known:
            near = hint(str(value), known)
            raise InputError(f"Rule {name}: {what} {value!r} is none of {', '.join(known)}{near}")


def _register(made: Rule, replace: bool) -> None:
    there = RULES.get(made.id)
    # Modules can be loaded again, and cells run again: the same place may define its rule once more.
    same_place = there is not None and there.function.__module__ == made.function.__module__
    if there is not None and there.shipped and not same_place and not replace:
        raise InputError(
            f"{made.id!r} is one of prodex's rules. Give yours another name, or pass replace=True."
        )
    RULES[made.id] = made


def is_importable(function: RuleFunction) -> bool:
    """Whether another process finds this function by its name: not one of a notebook, nor one inside another."""
    module = sys.modules.get(function.__module__)
    return function.__module__ != "__main__" and getattr(module, function.__qualname__, None) is function


#: The reason of a failure that needs no work, only acceptance.
PENDING = "pending under lastRequest: filled as soon as the update is accepted"


def missing_data(products: Products, attribute: str, applies: Answer | Mask) -> Verdict:
    """Fail the products without data for an attribute; data pending acceptance are evidence, not data."""
    fails = ~products.filled(attribute)
    waiting = np.flatnonzero(fails & products.filled(f"lastRequest.{attribute}"))
    return Verdict(fails, applies, Evidence(waiting, attribute, None, None, PENDING))
