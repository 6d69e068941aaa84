"""What a trait is, the one dict of them, and the set that is switched on for one stranger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

KINDS = ("lie", "fault", "misunderstanding", "write", "shape")

STAGES = {
    "setup": "once at the start, on the settings",
    "head": "before the body is read; False hangs up",
    "request": "before the service answers; a reply replaces the answer",
    "query": "on the filters as they were sent",
    "found": "on the records found, before paging",
    "page": "on the answer before it becomes JSON",
    "form": "on the answer after all of ``page``, where its form may break",
    "reply": "on the reply with its JSON text and headers",
    "wire": "on the reply as it is packed, framed and sent",
}

Act = Callable[[Any, Any, Any], Any]


@dataclass(frozen=True)
class Trait:
    """One way in which a service differs from what a client hopes for.

    ``act`` receives what its stage works on, the parameter's value and the call, and returns what the
    stage goes on with. ``at`` is the call at which it happens by default, counted for each route; None
    means at every call. Two traits of one ``family`` cannot be switched on together.
    """

    name: str
    kind: str
    sentence: str
    stage: str
    act: Act
    route: str = "products"
    parameter: str = ""
    default: Any = None
    at: int | None = None
    family: str = ""


TRAITS: dict[str, Trait] = {}
"""Every trait by its name."""


def declare(name: str, kind: str, sentence: str, stage: str, act: Act, **more: Any) -> None:
    """Add one trait to the dict."""
    if name in TRAITS:
        raise ValueError(f"the trait {name!r} is declared twice")
    if kind not in KINDS or stage not in STAGES:
        raise ValueError(f"the trait {name!r} has an unknown kind {kind!r} or stage {stage!r}")
    TRAITS[name] = Trait(name, kind, sentence, stage, act, **more)


def once(name: str, at: int = 3) -> None:
    """Declare a second trait that does the same at one call only."""
    lasting = TRAITS[name]
    changes = {"name": f"{name}_once", "at": at, "family": ""}
    sentence = f"{lasting.sentence.rstrip('.')}, but only once."
    TRAITS[f"{name}_once"] = Trait(**{**vars(lasting), **changes, "sentence": sentence})


@dataclass(frozen=True)
class Active:
    """A trait that is switched on, with its value and its calls (None: all of them)."""

    trait: Trait
    value: Any
    calls: frozenset[int] | None

    def is_due(self, route: str, number: int) -> bool:
        """Whether the trait acts on this call."""
        return self.trait.route in {"any", route} and (self.calls is None or number in self.calls)


class Switches:
    """The traits of one stranger, run stage by stage in the order in which they were named."""

    def __init__(self, traits: Mapping[str, Any] | Iterable[str] | None = None) -> None:
        asked = traits if isinstance(traits, Mapping) else dict.fromkeys(traits or (), True)
        self.active = [_activate(name, value) for name, value in asked.items() if value is not False]
        families: dict[str, str] = {}
        for active in self.active:
            family, name = active.trait.family, active.trait.name
            if family and families.setdefault(family, name) != name:
                raise ValueError(f"{name!r} and {families[family]!r} exclude each other ({family})")

    def run(self, stage: str, value: Any, call: Any) -> Any:
        """Hand a value through all traits of a stage that are due."""
        for active in self.active:
            # A trait before this one may have left no object; then there is nothing more to change.
            if stage in {"page", "form"} and not isinstance(value, dict):
                return value
            if active.trait.stage == stage and active.is_due(call.route, call.number):
                value = active.trait.act(value, active.value, call)
        return value

    def set_up(self, settings: Any) -> None:
        """Let the traits that change the settings do so, once."""
        for active in self.active:
            if active.trait.stage == "setup":
                active.trait.act(settings, active.value, None)


def _activate(name: str, asked: Any) -> Active:
    if name not in TRAITS:
        near = [known for known in TRAITS if name.split("_", maxsplit=1)[0] in known][:8]
        raise ValueError(f"there is no trait {name!r}; near it: {', '.join(near) or 'none'}")
    trait = TRAITS[name]
    value, at = trait.default, trait.at
    if isinstance(asked, Mapping):
        unknown = set(asked) - {"at", "value", trait.parameter}
        if unknown:
            raise ValueError(f"the trait {name!r} has no parameter {sorted(unknown)[0]!r}")
        at = asked.get("at", at)
        value = asked.get("value", asked.get(trait.parameter, value) if trait.parameter else value)
    elif asked is not True:
        # A bare value is the parameter; a trait without one takes it as the number of the call.
        if trait.parameter:
            value = asked
        elif isinstance(asked, int | list | tuple | set):
            at = asked
        else:
            raise ValueError(f"the trait {name!r} takes no value, got {asked!r}")
    return Active(trait, value, _calls(at))


def _calls(at: Any) -> frozenset[int] | None:
    if at is None or at == "all":
        return None
    return frozenset([at] if isinstance(at, int) else at)
