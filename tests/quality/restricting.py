"""Restricted catalogues: what a service gives when less is asked for, and what an audit then says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np

import prodex
from prodex import Catalog, ProductQuery
from prodex.quality.audit import Audit
from prodex.quality.states import State
from prodex.query.product_query import ALWAYS_REQUESTED, RICH_CONTENT
from prodex_sandbox.api.projection import Projection
from prodex_sandbox.sample import AS_OF
from tests.quality.test_audit_laws import profile

Record = dict[str, Any]

#: Languages of which a query chooses one or two.
LANGUAGES = ("fr", "nl", "de", "en", "es", "it")


def restricted(records: list[Record], query: ProductQuery) -> Catalog:
    """Return the catalogue that a service gives for a query with fewer fields or languages."""
    shape = Projection(query.source_include or (), query.source_exclude or (), query.product_languages or ())
    served = [json.loads(shape.serve(json.dumps(record).encode())) for record in records]
    catalog = prodex.flatten(served)
    return replace(catalog, origin=replace(catalog.origin, query=query))


def contradictions(records: list[Record], query: ProductQuery, everything: Audit) -> list[str]:
    """Return in words each cell that differs from its value when everything was requested."""
    audit = prodex.audit(restricted(records, query), profile(), now=AS_OF, progress=False)
    assert () == audit.crashes
    wrong = (audit.states != everything.states) & (audit.states != State.UNKNOWN)
    return sorted(
        {
            f"{audit.checks[check].id}: {State(everything.states[row, check]).name} became "
            f"{State(audit.states[row, check]).name}"
            for row, check in zip(*np.nonzero(wrong), strict=True)
        }
    )


def paths_of(value: Any, before: str = "") -> Iterator[str]:
    """Yield every path of a record, through lists."""
    if isinstance(value, list):
        for item in value:
            yield from paths_of(item, before)
    elif isinstance(value, dict):
        for name, inner in value.items():
            if "." not in name and "," not in name and name.strip():
                yield f"{before}{name}"
                yield from paths_of(inner, f"{before}{name}.")


def without_keys(paths: list[str]) -> list[str]:
    """Leave out what a query refuses to leave out."""
    needed = [path for path in paths if path not in ALWAYS_REQUESTED and ".expressedIn." not in f"{path}."]
    return needed or ["assets"]


def audited(records: list[Record]) -> tuple[list[Record], Audit]:
    return records, prodex.audit(prodex.flatten(records), profile(), now=AS_OF, progress=False)


def drawn(records: list[Record], count: int, seed: int) -> Iterator[ProductQuery]:
    """Yield restrictions: the rich content, then fields that are included or left out, languages, or both."""
    yield ProductQuery(source_include=list(RICH_CONTENT))
    chance = Random(seed)
    paths = sorted({path for record in records for path in paths_of(record)})
    roots = sorted({path.partition(".")[0] for path in paths})
    for number in range(count - 1):
        among = chance.choice((paths, roots, roots))
        fields = [chance.choice(among) for _ in range(chance.randint(1, 8))]
        spoken = chance.sample(LANGUAGES, chance.randint(1, 2))
        match number % 5:
            case 0 | 1:
                yield ProductQuery(source_include=fields)
            case 2:
                yield ProductQuery(source_exclude=without_keys(fields))
            case 3:
                yield ProductQuery(product_languages=spoken)
            case 4:
                yield ProductQuery(source_exclude=without_keys(fields), product_languages=spoken)
