"""Parameters of rules: declared by the signature of the function, checked before anything is judged."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, get_args, get_origin

from prodex.errors import InputError
from prodex.text import hint

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
    return tuple(_parameter(name, one) for one in others if one is not None and one.name != reserved)


def _parameter(rule: str, declared: inspect.Parameter) -> Parameter:
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
