"""How long an audit takes, by every check of the shipped profiles and every other shipped rule: figures as JSON.

`python -m tests.bench.audits COUNT` keeps COUNT products of the sample as a snapshot and judges it in a process of its
own, so that the peak of memory is the audit's.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from time import perf_counter
from typing import Any

import prodex
from prodex.quality.check import Check
from prodex.quality.rulebook import all_rules
from prodex_sandbox.sample import AS_OF, shared_products

#: Two threads, whatever the machine: the figures are meant to be compared.
_THREADS = 2
_AT_ONCE = 10_000
#: The rules that detect in which languages texts are.
_DETECTING = {"in_stated_language", "text_in_one_language"}


def measured(count: int) -> dict[str, Any]:
    """Return the figures of judging so many products."""
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        environment = {**os.environ, "PRODEX_HOME": folder}
        for step in ("keep", "judge"):
            command = [sys.executable, "-m", "tests.bench.audits", step, str(count)]
            ended = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True)
        figures: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
        return figures


def keep(count: int) -> None:
    """Keep products of the sample as a snapshot, some thousands at a time: a million of them fit in no memory."""
    made = (product.record for product in shared_products(count))
    pieces = []
    while piece := list(islice(made, _AT_ONCE)):
        pieces.append(prodex.flatten(piece).save(f"piece-{len(pieces)}"))
    replace(pieces[0], parts=tuple(part for one in pieces for part in one.parts)).save("bench")


def judge() -> dict[str, Any]:
    """Judge the snapshot: without telling languages, then that alone, then ask for scores."""
    catalog = prodex.open_snapshot("bench")
    telling = [check for check in checks() if check.rule.id in _DETECTING]
    if {check.rule.id for check in telling} != _DETECTING:
        raise SystemExit(f"not every rule of {_DETECTING} is there any more")
    others = [check for check in checks() if check not in telling]
    seconds = {}
    with ThreadPoolExecutor(_THREADS) as threads:
        for name, chosen in (("audit", others), ("languages", telling)):
            started = perf_counter()
            profile = prodex.Profile(name, checks=tuple(chosen), market=250)
            audit = prodex.audit(catalog, profile, executor=threads, progress=False, now=AS_OF)
            seconds[name] = perf_counter() - started
            if audit.crashes:
                raise SystemExit(f"{audit.crashes[0].check} crashed: {audit.crashes[0].message}")
            if name == "audit":
                started = perf_counter()
                for by in ("owner", "kind", "market"):
                    audit.scores(by)
                seconds["scores"] = perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    return {"products": len(catalog), "checks": len(others), "peak_mb": peak, **seconds}


def checks() -> list[Check]:
    """Return every check of the shipped profiles, and every other rule that needs nothing to be given."""
    names = prodex.profiles()["profile"]
    found = {check.id: check for name in names for check in prodex.Profile.read(name).checks}
    for rule in all_rules().values():
        if not any(parameter.required for parameter in rule.parameters):
            check = Check.of(rule.id)
            found.setdefault(check.id, check)
    return list(found.values())


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["keep", count]:
            keep(int(count))
            print(json.dumps(int(count)))
        case ["judge", *_]:
            print(json.dumps(judge()))
        case [count]:
            print(json.dumps(measured(int(count))))
