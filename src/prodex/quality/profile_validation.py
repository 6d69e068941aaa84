"""Validating a profile against a catalogue: the attributes and kinds of product that it names.

A profile is read without a catalogue, so only the names of the specification are known then. Whether another name is
a custom attribute or a typing error is decided when a catalogue is judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress

import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.errors import InputError, NotExported
from prodex.facts.pending import own_path
from prodex.facts.presence import BY_SHAPE
from prodex.quality.check import Check
from prodex.quality.requested import is_within
from prodex.tables.attributes import ATTRIBUTES, PATHS, attribute_of
from prodex.text import hint, nearest

#: Columns of `products` whose values are kinds, with the wire path of each.
_KINDS = {"kind_code": "kind.code", "gpc_code": "GPC.code"}


def confirm(catalog: Catalog, checks: Iterable[Check], own: Collection[str] = ()) -> None:
    """Refuse attributes that neither the specification nor the catalogue knows, and warn of kinds that no product has.

    Parameters
    ----------
    catalog
        What is to be judged.
    checks
        Those of the profile; prodex's own profiles are not checked.
    own
        Custom attributes that the profile declares: no product may have them yet.

    Raises
    ------
    InputError
        With file, line and key, and the nearest name.
    """
    # Shipped profiles have no place: their attributes are those of the specification.
    written = [check for check in checks if check.place]
    if not len(catalog):  # an empty catalogue knows no attribute
        return
    doubted = [
        (check, name)
        for check in written
        for name in check.attributes
        if name.partition(".")[0] not in {*ATTRIBUTES, *own} or ("." in name and name not in PATHS)
    ]
    if doubted:
        with suppress(NotExported):  # what an export left out may have had the attribute
            _confirm_attributes(catalog, doubted, own)
    for column, path in _KINDS.items():
        mentions = [(check, value) for check in written for value in _kinds(check, column)]
        if mentions and catalog.origin.asked(path):
            with suppress(NotExported):
                _confirm_kinds(catalog, column, mentions)


def _confirm_attributes(catalog: Catalog, doubted: list[tuple[Check, str]], own: Collection[str]) -> None:
    seen = _seen(catalog)
    known = {*ATTRIBUTES, *own, *(name.partition(".")[0] for name in seen)}
    for check, name in doubted:
        head, _, deeper = name.partition(".")
        if not catalog.origin.asked(name):
            continue  # the check is unknown anyway
        if head not in known:
            near = hint(head, sorted(known), "`catalog.drift` and `prodex tables` list names.")
            raise InputError(
                f"{check.place}: there is no attribute {name!r} in the specification, and no product of this catalogue "
                f"has it{near} If it is a custom attribute that is not filled yet, declare it in the profile: "
                f"attributes = [{head!r}]."
            )
        within = [path for path in (*PATHS, *seen) if path.startswith(f"{head}.")]
        if deeper and not any(is_within(path, name) for path in within):
            near_path = nearest(name, within, cutoff=0.85)
            if near_path:  # deeper paths are open: a name unlike any other is accepted
                raise InputError(f"{check.place}: there is nothing at {name!r}; did you mean {near_path!r}?")


def _seen(catalog: Catalog) -> set[str]:
    """Return the wire paths that the catalogue holds."""
    found = {attribute for name in catalog.presence.columns if (attribute := attribute_of(name)) is not None}
    for table in BY_SHAPE:
        values = pc.unique(catalog.arrow(table, ["attribute"])["attribute"]).to_pylist()
        found.update(own_path(value) for value in values if value)
    return found


def _kinds(check: Check, column: str) -> Iterator[str]:
    for scope in check.scopes:
        for name, values in (*scope.only, *scope.excepted):
            yield from (value for value in values if name == column and isinstance(value, str))
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
