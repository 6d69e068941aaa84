"""`diff`: what tells one record of a product from another, place by place.

It is exact. Each place that is written in another way is a change, to the spelling of a number and the order of keys,
so that `prodex.changes.apply` makes the other record. `says_the_same` knows which of them say nothing new."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from prodex.changes.change import ABSENT, ORDER, Change, Path, step_as_json
from prodex.changes.identity import is_ambiguous, items_of, telling_apart
from prodex.changes.sameness import is_exact, is_one_value, is_text, language_of
from prodex.locales import is_same_language
from prodex.tables.plain_walk import product_key

#: A place, and what is there before and after.
Found: TypeAlias = tuple[Path, Any, Any]
_Key = TypeVar("_Key", bound=Hashable)


def diff(before: Any, after: Any, *, product: str | None = None) -> tuple[Change, ...]:
    """Return what tells one record of a product from another.

    `apply(before, diff(before, after))` is `after`, and `inverse` of them leads back. The values of an attribute are
    told apart as `prodex.changes.identity` says. Where nobody can say which items belong together, the list changes as
    a whole.

    Parameters
    ----------
    before, after
        Records as `prodex.written_json.read_written` reads them, or ABSENT. An attribute that nobody asked for has the
        value NOT_ASKED.
    product
        The key of the product; that of `before` by default.

    Examples
    --------
    >>> from prodex.changes import change_in_words
    >>> dutch = {"expressedIn": {"code": "nld-NL"}, "data": "Rijst"}
    >>> before = {"id": 7, "serves": 4, "namePublicLong": [dutch]}
    >>> for one in diff(before, {"id": 7, "serves": 6, "namePublicLong": []}):
    ...     print(change_in_words(one))
    serves: 4 -> 6
    namePublicLong (nld-NL): Rijst -> nothing
    """
    if product is None:
        product = product_key(after if before is ABSENT else before)
    return tuple(Change(product, *one) for one in differing(before, after))


def differing(before: Any, after: Any) -> Iterator[Found]:
    """Yield the places at which two records differ."""
    if type(before) is type(after) is dict:
        yield from _of_objects((), before, after)
    elif not is_exact(before, after):
        yield (), before, after


def _of_values(path: Path, before: Any, after: Any) -> Iterator[Found]:
    if is_exact(before, after):
        return
    one, other = type(before), type(after)
    if one is other is dict and _is_walked(before, after):
        yield from _of_objects(path, before, after)
    elif (one is list and (other is list or _is_none(after))) or (other is list and _is_none(before)):
        yield from _of_lists(path, before, after)
    else:
        yield path, before, after


def _is_none(value: Any) -> bool:
    return value is None or value is ABSENT


def _is_walked(before: Any, after: Any) -> bool:
    """Whether objects change by their members: a code, an amount, or a text in another language changes as a whole."""
    if is_text(before) and is_text(after):
        return is_same_language(language_of(before), language_of(after))
    return not is_one_value(before) and not is_one_value(after)


def _of_objects(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Found]:
    are_texts = bool(path) and is_text(before) and is_text(after)
    for name, old in before.items():
        if name not in after:
            continue
        new = after[name]
        if name == "expressedIn" and are_texts:
            # However the language is written, it is one value.
            if not is_exact(old, new):
                yield (*path, name), old, new
        else:
            yield from _of_values((*path, name), old, new)
    # What is taken away is put back by the inverse, which begins with the last change.
    for name in reversed([one for one in before if one not in after]):
        yield from _of_values((*path, name), before[name], ABSENT)
    for name, new in after.items():
        if name not in before:
            yield from _of_values((*path, name), ABSENT, new)
    yield from _of_order(path, [*before], [*after], {})


def _of_lists(path: Path, before: Any, after: Any) -> Iterator[Found]:
    old, new = ([] if _is_none(one) else one for one in (before, after))
    found = _of_items(path, old, new)
    if found is None:
        yield path, before, after
        return
    # Between nothing and items there is a list without any: so an item is a place of its own also where it is the
    # first.
    if old is not before:
        yield path, before, []
    yield from found
    if new is not after:
        yield path, [], after


def _of_items(path: Path, before: Sequence[Any], after: Sequence[Any]) -> list[Found] | None:
    """Return the items that differ; None where nobody can say which ones belong together."""
    name = telling_apart(before, after)
    if name is None:
        if len(before) != len(after):
            return None
        pairs = enumerate(zip(before, after, strict=True))
        return [one for place, pair in pairs for one in _of_values((*path, place), *pair)]
    items = items_of(name, before, after)
    if items is None:
        return None
    was, becomes = items
    old, new = dict(zip(was, before, strict=True)), dict(zip(becomes, after, strict=True))
    if any(one.of > 1 or is_ambiguous(one, was, becomes) for one in old.keys() ^ new.keys()):
        # Of several that are known by the same, nobody can say which one is gone.
        return None
    found = [one for item in was if item in new for one in _of_values((*path, item), old[item], new[item])]
    # An item that another one replaces at its index is one change. A text in another language is another text.
    replaced = {
        one: other
        for one, other in zip(was, becomes, strict=False)
        if one not in new and other not in old and name != "language"
    }
    found += [((*path, one), old[one], new[other]) for one, other in replaced.items()]
    gone = old.keys() - new.keys() - replaced.keys()
    found += [((*path, one), old[one], ABSENT) for one in reversed(was) if one in gone]
    added = new.keys() - old.keys() - {*replaced.values()}
    found += [((*path, one), ABSENT, new[one]) for one in becomes if one in added]
    return [*found, *_of_order(path, was, becomes, replaced)]


def _of_order(
    path: Path, before: Sequence[_Key], after: Sequence[_Key], replaced: Mapping[_Key, _Key]
) -> Iterator[Found]:
    """Yield the change of an order, unless it follows from the others: what is added comes last."""
    was = [replaced.get(one, one) for one in before]
    there, then = set(was), set(after)
    stay, remain = [one for one in was if one in then], [one for one in after if one in there]
    moved = there ^ then
    if stay == remain:
        if was[: len(stay)] == stay and list(after[: len(stay)]) == stay:
            return
    else:
        moved = there | then
    yield (
        (*path, ORDER),
        _runs(before, [one in moved for one in was]),
        _runs(after, [one in moved for one in after]),
    )


def _runs(keys: Sequence[Any], is_moved: Sequence[bool]) -> list[list[Any]]:
    """Return what comes in between others, each run with the one that it follows; null at the beginning."""
    runs: list[list[Any]] = []
    for place, key in enumerate(keys):
        if not is_moved[place]:
            continue
        if place == 0 or not is_moved[place - 1]:
            runs.append([step_as_json(keys[place - 1]) if place else None])
        runs[-1].append(step_as_json(key))
    return runs
