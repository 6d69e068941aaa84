"""The values of an attribute at several times, place by place: which text was what, and where it was not there.

A place is known as in `prodex.changes`: by language, code or address, and by its index only where nothing else
tells items apart. So a text that moved to another index is the same text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from prodex.changes import ABSENT, Item, NoValue, absence_of
from prodex.changes.change import Path, Step
from prodex.changes.identity import aligned
from prodex.changes.sameness import is_one_value
from prodex.changes.sameness import is_same as is_same_value
from prodex.locales import short_language
from prodex.written_json import written_json

#: What a place holds: a value as the record has it, or why there is none.
Held: TypeAlias = Any


@dataclass(frozen=True)
class Trail:
    """A place, and what it held at each time.

    Attributes
    ----------
    attribute
        Wire path, as in the tables: `productBenefits.text`.
    language, language_code
        Of a text, in the short form and as sent.
    item
        What tells its item from others, where it is in a list: a code, an address, an index.
    held
        A value for each time.
    path
        The place as a change has it.
    """

    attribute: str
    language: str | None
    language_code: str | None
    item: str
    held: tuple[Held, ...]
    path: Path = ()


def trails(root: str, versions: Sequence[Any]) -> Iterator[Trail]:
    """Yield the places of an attribute, with what each holds in every version.

    Parameters
    ----------
    root
        The attribute.
    versions
        Its values; ABSENT where the record does not have it, NOT_ASKED where nobody asked for it.

    Examples
    --------
    >>> french = {"expressedIn": {"code": "fra-FR"}, "data": "Riz"}
    >>> dutch = {"expressedIn": {"code": "nld-NL"}, "data": "Rijst"}
    >>> for one in trails("namePublicLong", [[french], [dutch, french], None]):
    ...     print(one.language, one.held)
    fr ('Riz', 'Riz', NULL)
    nl (ABSENT, 'Rijst', NULL)
    """
    yield from _trails(root, (), [_held(one) for one in versions])


def is_same(one: Held, other: Held) -> bool:
    """Whether a place holds the same twice; why it has none does not matter."""
    if isinstance(one, NoValue) or isinstance(other, NoValue):
        return isinstance(one, NoValue) and isinstance(other, NoValue)
    return is_same_value(one, other)


def shown_value(held: Held) -> str | None:
    """Return a value as text: a code with its label behind, an amount with its unit, JSON of anything larger.

    >>> shown_value({"code": "FR", "label": "France"}), shown_value({"expressedIn": {"code": "GRM"}, "data": 500})
    ('FR (France)', '500 GRM')
    >>> shown_value(NoValue.NULL), shown_value(True), shown_value("verbatim")
    (None, 'true', 'verbatim')
    """
    found = _in_words(held)
    # Half of a surrogate pair, which no frame can hold, is shown as it was sent.
    return None if found is None else found.encode("utf-8", "backslashreplace").decode()


def _in_words(held: Held) -> str | None:
    match held:
        case NoValue():
            return None
        case str():
            return held
        case {"expressedIn": {"code": str(unit)}, "data": int() | float() as amount} if len(held) == 2:
            return f"{written_json(amount)} {unit}"
        case {"code": str() | int() as code} if held.keys() <= {"code", "label", "description"}:
            label = held.get("label")
            return f"{code} ({label})" if isinstance(label, str) and label != str(code) else str(code)
    return json.dumps(held, ensure_ascii=False, default=str)


def _held(value: Any) -> Held:
    return absence_of(value) or value


def _trails(root: str, path: tuple[Step, ...], versions: list[Held]) -> Iterator[Trail]:
    filled = [one for one in versions if not isinstance(one, NoValue)]
    if filled and all(isinstance(one, dict) and not is_one_value(one) for one in filled):
        for name in dict.fromkeys(name for one in filled for name in one):
            yield from _trails(
                root,
                (*path, name),
                [one if isinstance(one, NoValue) else _held(one.get(name, ABSENT)) for one in versions],
            )
        return
    if filled and all(isinstance(one, list) for one in filled):
        items = aligned([[] if isinstance(one, NoValue) else one for one in versions])
        if items is not None:
            for step, each in items.items():
                held = [
                    whole if isinstance(whole, NoValue) else _held(one)
                    for one, whole in zip(each, versions, strict=True)
                ]
                yield from _trails(root, (*path, step), held)
            return
    yield _trail(root, path, versions)


def _trail(root: str, path: tuple[Step, ...], versions: list[Held]) -> Trail:
    filled = [one for one in versions if not isinstance(one, NoValue)]
    # A plain string that became a localized text is another value, and no text in a language.
    is_text = bool(filled) and all(map(_is_text, filled))
    codes = [one["expressedIn"].get("code") for one in filled] if is_text else []
    code = next((one for one in reversed(codes) if isinstance(one, str)), None)
    language = None if code is None else (short_language(code, None) or code)
    keys = [step for step in path if not isinstance(step, str)]
    match keys:
        # The language of a text is in a column of its own.
        case [*_, Item(name="language", number=number)] if code is not None:
            keys[-1:] = [Item("language", "", number)] if number else []
    held = tuple(one["data"] if is_text and not isinstance(one, NoValue) else one for one in versions)
    names = [root, *(step for step in path if isinstance(step, str))]
    return Trail(".".join(names), language, code, " / ".join(map(_step_in_words, keys)), held, (root, *path))


def _is_text(value: Held) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("expressedIn"), dict)
        and isinstance(value.get("data"), str)
    )


def _step_in_words(step: Step) -> str:
    if not isinstance(step, Item):
        return str(step)
    return f"{step.value} (no. {step.number + 1})".strip() if step.number else step.value
