"""What can be compared in two catalogues: only what was requested for both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from prodex.advice import PythonCall, advice
from prodex.catalog import Origin
from prodex.locales import short_language, variant_of
from prodex.query import ProductQuery
from prodex.tables.attributes import child_path
from prodex.tables.descriptors import is_text
from prodex.tables.fill_state import state_of
from prodex.tables.values import fit, storable

#: Language of the labels where none was asked for (spec, "Language rule").
_DEFAULT = "en-US"
_FILTERED = "fields were chosen in one load: attributes without data do not come then"


@dataclass(frozen=True)
class Scope:
    """What was requested for both of two catalogues.

    Attributes
    ----------
    old, new
        Their origins.
    left_out
        How many products hold what cannot be compared: by attribute, language and reason. Filled while products
        are compared.
    """

    old: Origin
    new: Origin
    left_out: Counter[tuple[str, str | None, str]] = field(default_factory=Counter)

    @cached_property
    def same_labels(self) -> bool:
        """Whether labels of codes were requested in the same language."""
        languages = {(origin.accept_language or _DEFAULT).lower() for origin in (self.old, self.new)}
        return len(languages) == 1

    @cached_property
    def everything(self) -> bool:
        """Whether nothing has to be left out."""
        queries = (origin.query or ProductQuery() for origin in (self.old, self.new))
        some = any(q.source_include or q.source_exclude or q.product_languages for q in queries)
        some |= any(origin.extent is not None for origin in (self.old, self.new))
        return self.same_labels and not some

    @cached_property
    def _one_is_filtered(self) -> bool:
        """Whether one side chose its fields, and has no attributes without data."""
        return self.old.chose_fields != self.new.chose_fields

    @cached_property
    def _why(self) -> Any:
        # Asked for every item of every product, of which few differ in attribute and language.
        @lru_cache(maxsize=65536)
        def why(attribute: str, language: str | None) -> str | None:
            sides = {"old": self.old, "new": self.new}
            silent = [name for name, origin in sides.items() if not origin.asked(attribute, language)]
            if silent:
                return f"not requested in {' and '.join(silent)}"
            doubtful = [
                name
                for name, origin in sides.items()
                if origin.extent is not None and origin.extent.is_in_part(attribute)
            ]
            return f"not all of it could be read in {' and '.join(doubtful)}" if doubtful else None

        return why

    def why_not(self, attribute: str, language: str | None = None) -> str | None:
        """Say why an attribute, or its texts in a language, cannot be compared; None when they can."""
        reason: str | None = self._why(attribute, language)
        return reason

    def comparable(
        self, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return of two records of one product what both catalogues were asked for."""
        if self.everything:
            return dict(old), dict(new)
        seen: set[tuple[str, str | None, str]] = set()
        kept = self._pruned(old, "", seen), self._pruned(new, "", seen)
        for before, one, other in ((old, *kept), (new, *reversed(kept))):
            _drop_silent(before, one, other)
        if self._one_is_filtered:
            _drop_empty(*kept, seen)
        # A product counts once for each reason, whatever the number of its texts.
        self.left_out.update(seen)
        return kept

    def _pruned(self, value: Any, path: str, seen: set[tuple[str, str | None, str]]) -> Any:
        if isinstance(value, list):
            return [self._pruned(item, path, seen) for item in value if self._is_asked(item, path, seen)]
        if not isinstance(value, Mapping):
            return value
        kept = {}
        for key, item in value.items():
            inner = child_path(path, storable(key))
            if (reason := self.why_not(inner)) is not None:
                seen.add((inner, None, reason))
            # An attribute can hold a text instead of a list of them.
            elif self._is_asked(item, inner, seen):
                kept[key] = self._pruned(item, inner, seen)
        return kept if self.same_labels else _without_labels(kept)

    def _is_asked(self, item: Any, path: str, seen: set[tuple[str, str | None, str]]) -> bool:
        """Whether an item is of a language that was asked for, if it is a text at all."""
        if not isinstance(item, Mapping) or not isinstance(item.get("data"), str):
            return True
        described = item.get("expressedIn")
        if not isinstance(described, Mapping):
            return True
        code = fit(described.get("code"), "code")
        short = fit(described.get("normalizedCode"), "string")
        if (code is None and short is None) or not is_text(path, code, short, item["data"]):
            return True
        language = short_language(code, short) or code
        reason = self.why_not(path, language) if language else None
        if reason is None and (variant := variant_of(code, short)):
            # One side may have asked for another variant of the language.
            language, reason = variant, self.why_not(path, variant)
        if reason is not None:
            seen.add((path, language, reason))
        return reason is None


def _drop_silent(whole: Mapping[str, Any], kept: dict[str, Any], other: dict[str, Any]) -> None:
    """Leave out attributes of which nothing is kept but what stood around texts in languages that are left out.

    Whether the other reply has an empty list in their place, null or nothing, says only that these texts did not come.
    """
    for name, value in whole.items():
        there = kept.get(name)
        if state_of(other.get(name)) != "filled" and _has_texts(value) and not _has_texts(there):
            kept.pop(name, None)
            other.pop(name, None)


def _has_texts(value: Any) -> bool:
    """Whether there is a text in a language anywhere in a value."""
    waiting = [value]
    while waiting:  # a stack, not recursion: products may be nested very deep
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, Mapping):
            if isinstance(one.get("data"), str) and isinstance(one.get("expressedIn"), Mapping):
                return True
            waiting.extend(one.values())
    return False


def _drop_empty(old: dict[str, Any], new: dict[str, Any], seen: set[tuple[str, str | None, str]]) -> None:
    """Leave out attributes without data in both: what is null or empty in one reply is absent in the other."""
    for name in old.keys() | new.keys():
        states = {state_of(side[name]) if name in side else "absent" for side in (old, new)}
        # If one side has data the difference is real: an empty value became a filled one.
        if "filled" not in states and len(states) > 1:
            seen.add((child_path("", storable(name)), None, _FILTERED))
            old.pop(name, None)
            new.pop(name, None)


def _without_labels(described: dict[str, Any]) -> dict[str, Any]:
    if fit(described.get("code"), "code") is None and fit(described.get("normalizedCode"), "string") is None:
        return described
    return {key: item for key, item in described.items() if key not in {"label", "description"}}


def notes_on(old: Origin, new: Origin) -> list[str]:
    """Describe what else may make two catalogues differ: other sources, other access keys, other queries."""
    notes = []
    if old.source != new.source:
        notes.append(f"The sources differ: old is from {old.source}, new from {new.source}.")
    if old.asked_by and new.asked_by and old.asked_by != new.asked_by:
        notes.append("Different access keys asked: what a service shows depends on who asks.")
    if old.query != new.query:
        notes.append(
            advice(
                "The queries differ: old asked {old}, new asked {new}. A product can be missing in one because that "
                "query does not hold it.",
                old=PythonCall("{query!r}", query=old.query),
                new=PythonCall("{query!r}", query=new.query),
            )
        )
    return notes
