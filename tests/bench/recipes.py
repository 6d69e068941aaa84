"""What a recipe of 20 steps costs: one that changes a little in each step, and one that changes every product often.

`python -m tests.bench.recipes [PRODUCTS]` keeps products of the sample as a snapshot; with the name of a snapshot in
PRODEX_HOME instead of a number it opens that one. Printed is reading what the steps need, doing them, and, of the first
recipe, making the answers and judging them, which reads the records of the products that change. The last line has the
figures as JSON; `make bench` shows them.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from time import perf_counter

import prodex
from prodex import operations as do
from prodex.corrections.products_in_work import ProductsInWork
from prodex.corrections.stepping import do_step
from prodex.executors import without_collecting
from prodex.send.known_products import received_products
from tests.bench.profiles import _KEEP, run

#: Seconds that the steps may take beyond reading, of 100,000 products.
MOST = 5.0

_SOURCE = Path(__file__).parents[2] / "src"
_NAMES = ("namePublicLong", "namePublicShort", "nameLegal", "description")


def typical(catalog: prodex.Catalog) -> prodex.Recipe:
    """Return a recipe whose steps change one to three of a hundred products each."""
    brands = [one for one in catalog.products["brand_code"].value_counts().index if one][:16]
    own = [{"brand_code": brands[number % len(brands)]} for number in range(16)]
    made = [
        prodex.RecipeStep(do.TrimSpaces(), "namePublicLong", where=own[0]),
        prodex.RecipeStep(do.ReplaceText("le", "Le"), "namePublicShort", "fr", where=own[1]),
        prodex.RecipeStep(
            do.ReplaceText(r"(\d+) ?g\b", r"\1 g", pattern=True), "namePublicLong", where=own[2]
        ),
        prodex.RecipeStep(do.ChangeCase("upper"), "nameLegal", "fr", where=own[3]),
        prodex.RecipeStep(do.ChangeCase("sentence"), "nameLegal", "fr", where=own[4]),
        prodex.RecipeStep(do.ChangeCase("title"), "nameLegal", "nl", where=own[5]),
        prodex.RecipeStep(do.RemovePrefix("La"), "namePublicLong", where=own[6]),
        prodex.RecipeStep(do.SetValue("Nom"), "namePublicShort", "fr", where=own[7]),
        prodex.RecipeStep(do.CopyFrom("nameLegal"), "description", "fr", where=own[8]),
        prodex.RecipeStep(do.MoveText("productionVariantName"), "description", "fr", where=own[9]),
        prodex.RecipeStep(do.SetCode(str(brands[0])), "brand", where=own[10]),
        prodex.RecipeStep(do.ConvertUnit("CMT"), "height", where=own[11]),
        prodex.RecipeStep(do.ConvertUnit("g"), "netWeight", where=own[12]),
        prodex.RecipeStep(do.RemoveValue(), "consumptionAdvice", "fr", where=own[13]),
        prodex.RecipeStep(do.SetValue(value=True), "isPromotionalItem", where=own[14]),
        prodex.RecipeStep(
            do.CopyFrom(from_language="fr", replace=True), "namePublicShort", "nl", where=own[15]
        ),
    ]
    return prodex.Recipe((*made, *made[:4]), title="typical")


def worst() -> prodex.Recipe:
    """Return a recipe that changes every product in several steps."""
    steps = []
    for name in _NAMES:
        steps += [
            prodex.RecipeStep(do.ChangeCase("upper"), name),
            prodex.RecipeStep(do.ReplaceText("E", "e "), name),
            prodex.RecipeStep(do.TrimSpaces(), name),
            prodex.RecipeStep(do.ReplaceText("e", "E", ignore_case=True), name),
        ]
    steps += [
        prodex.RecipeStep(do.ConvertUnit("CMT"), "height"),
        prodex.RecipeStep(do.SetValue("1 m"), "width"),
        prodex.RecipeStep(do.SetValue("Nom"), "namePublicShort", "fr"),
        prodex.RecipeStep(do.SetCode("4003"), "brand"),
    ]
    return prodex.Recipe(tuple(steps), title="worst")


def cost(catalog: prodex.Catalog, recipe: prodex.Recipe) -> dict[str, float]:
    """Return what a recipe costs, part by part, in seconds, and how many values its steps change."""
    moments = [perf_counter()]
    work = ProductsInWork(catalog, catalog)
    work.prepare(recipe.steps)
    for step in recipe.steps:
        work.mask(step.where)
    moments.append(perf_counter())
    results = [do_step(work, step) for step in recipe.steps]
    moments.append(perf_counter())
    reading, steps = (after - before for before, after in pairwise(moments))
    return {"reading": reading, "steps": steps, "changed": sum(len(one.changed) for one in results)}


def measure(what: str = "100000") -> dict[str, float]:
    """Print what recipes cost, and return it."""
    if not what.isdigit():
        return _measured(prodex.open_snapshot(what))
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as name:
        os.environ["PRODEX_HOME"] = name
        run(_SOURCE, Path(name), _KEEP, what)
        return _measured(prodex.open_snapshot("bench"))


def _measured(catalog: prodex.Catalog) -> dict[str, float]:
    figures: dict[str, float] = {}
    for recipe in (typical(catalog), worst()):
        found = cost(catalog, recipe)
        print(
            f"{len(catalog):,} products, {len(recipe.steps)} steps, {recipe.title}: reading {found['reading']:.1f} s, "
            f"steps {found['steps']:.2f} s (at most {MOST:g} s), {found['changed']:,.0f} values changed"
        )
        figures |= {f"{recipe.title} {name}": value for name, value in found.items()}
    # What is sent is judged, which needs the records of the products that change.
    recipe = typical(catalog)
    begin = perf_counter()
    fix = prodex.apply_recipe(catalog, recipe)
    whole = perf_counter() - begin
    changed = fix.answers["product_id"].unique().tolist()
    begin = perf_counter()
    with without_collecting():  # as the recipe reads them
        received_products(catalog, changed)
    records = perf_counter() - begin
    figures["typical answers"] = float(len(fix.answers))
    figures["typical records"] = records
    figures["typical whole"] = whole - figures["typical reading"] - records
    reading = figures["typical reading"] + records
    print(
        f"typical, with {len(fix.answers):,} answers made and judged: reading {reading:.1f} s, of it {records:.1f} s "
        f"records of {len(changed):,} products; all else {figures['typical whole']:.1f} s (at most {MOST:g} s); "
        f"{fix.counts['accepted']:,} values would be sent"
    )
    return figures


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
