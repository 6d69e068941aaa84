"""What ten nights with kills leave of accepted findings: none returns unchanged, all return after a change, 0 lost.

`python -m tests.soak accepted`. Each night products change, a snapshot and an audit are saved and more findings are
accepted, each in a process that is killed at a random moment and begun again. Some products are created again each
night, under another id. A model beside it knows of each product which version of its datum was accepted.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import json
import os
import random
import tempfile
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import prodex
from prodex.gtin import check_digit
from tests.forks import Forks, forking

_IMPORTED = """
import json
from datetime import datetime
import prodex
from prodex import clock
"""
_WORK = """
with clock.at(datetime.fromisoformat(moment)):
    if step == "save":
        with open(records) as file:
            catalog = prodex.flatten(json.loads(line) for line in file)
        catalog.save("shop")
    elif step == "audit":
        prodex.audit("shop", {"checks": checks}, progress=False).save()
    else:
        # Saved audits do not know the profile any more than its name.
        judged = prodex.audit("shop", {"checks": checks}, progress=False)
        for start in range(0, len(products), 10):
            found = judged.failures(product_id=products[start:start + 10])
            prodex.accept(judged, found, reason="looked at", by="Ana")
"""

CHECKS: dict[str, Any] = {
    "valid_gtin": {},
    "names_not_in_capitals": {},
    "net_not_over_gross": {},
    "one_text_per_language": {},
    "texts_without_placeholders": {},
}


def _text(data: str) -> dict[str, Any]:
    return {"expressedIn": {"code": "fra-FR"}, "data": data}


def _weight(grams: int) -> list[dict[str, Any]]:
    return [{"data": grams, "expressedIn": {"code": "GRM"}}]


def record(number: int, version: int, night: int) -> dict[str, Any]:
    """Return a product that fails one check; what that is about has a version, and something else changes nightly."""
    body = f"030{number:010}"
    digit = check_digit(body)
    about: dict[str, Any] = {"gtin": f"{body}{digit}", "namePublicLong": [_text("Riz")]}
    match number % 5:
        case 0:
            wrong = (int(digit) + 1 + version % 9) % 10
            about["gtin"] = f"{body}{wrong if wrong != int(digit) else (wrong + 1) % 10}"
        case 1:
            about["namePublicLong"] = [_text(f"RIZ BLANC LONG {version}")]
        case 2:
            about |= {"netWeight": _weight(1000), "grossWeight": _weight(900 - version)}
        case 3:
            about["description"] = [_text("Du riz"), _text(f"Du riz {version}")]
        case _:
            about["description"] = [_text("x" * (3 + version))]
    return {"id": id_of(number, night), "remark": f"of night {night}", **about}


def id_of(number: int, night: int) -> str:
    """Return the id of a product in a night: every seventh is created again each night."""
    return f"{number}-{night}" if number % 7 == 3 else str(number)


def _number_of(product: str) -> str:
    return product.partition("-")[0]


@dataclass
class Outcome:
    """What the nights have left.

    Attributes
    ----------
    kills
        How many processes were killed.
    returned
        Accepted findings that came back although nothing about them had changed.
    hidden
        Findings that had changed, and were still accepted.
    lost
        Findings that were accepted, and are in no line of the file.
    changed, checked
        Findings that had changed, and all that were looked at, night by night.
    """

    kills: int = 0
    returned: int = 0
    hidden: int = 0
    lost: int = 0
    changed: int = 0
    checked: int = 0
    seconds: dict[str, float] = field(default_factory=dict)


def live(products: int, accepted: int, nights: int, seed: int = 7) -> Outcome:
    """Let the nights pass, and return what became of the accepted findings."""
    chance, outcome = random.Random(seed), Outcome()
    version = dict.fromkeys(range(products), 0)
    begun: dict[int, int] = {}
    with tempfile.TemporaryDirectory(prefix="prodex-soak-") as home:
        os.environ["PRODEX_HOME"] = home
        lines = Path(home, "records.jsonl")
        with forking(_IMPORTED, _WORK, Path(home, "complaints")) as forks:
            for night in range(nights + 1):
                moment = datetime(2026, 11, 1, 4, tzinfo=UTC) + timedelta(days=night)
                known = list(begun)
                for number in chance.sample(known, len(known) // 10):
                    # Forwards, or back to what was accepted: then it is accepted again.
                    version[number] += -1 if version[number] > begun[number] else 1
                new = [n for n in range(products) if n not in begun]
                new = chance.sample(new, accepted if night == 0 else accepted // 50)
                with lines.open("w") as file:
                    file.writelines(f"{json.dumps(record(n, v, night))}\n" for n, v in version.items())
                names = {
                    "moment": moment.isoformat(),
                    "records": str(lines),
                    "checks": CHECKS,
                    "products": [id_of(n, night) for n in new],
                }
                for step in ("save", "audit", "accept"):
                    outcome.kills += _killed(forks, home, step, names, chance, outcome)
                begun |= {number: version[number] for number in new}
                _look(outcome, version, begun)
    return outcome


def _killed(
    forks: Forks, home: str, step: str, names: dict[str, Any], chance: random.Random, outcome: Outcome
) -> int:
    """Kill a step at a random moment, and do it again to its end; return how often it was killed."""
    process = forks.start({"PRODEX_HOME": home}, step=step, **names)
    time.sleep(chance.random() * outcome.seconds.get(step, 0.5))
    killed = process.is_running()
    process.kill()
    begin = time.perf_counter()
    process = forks.start({"PRODEX_HOME": home}, step=step, **names)
    assert process.wait() == 0, process.complaints()
    outcome.seconds[step] = time.perf_counter() - begin
    return int(killed)


def _look(outcome: Outcome, version: dict[int, int], begun: dict[int, int]) -> None:
    """Compare what an audit says with what the model knows."""
    audit = prodex.audit("shop", {"checks": CHECKS}, progress=False)
    found = audit.failures()
    marked = found.assign(
        is_accepted=found["accepted"].notna(), number=found["product_id"].astype(str).map(_number_of)
    )
    by_product = marked.groupby("number")["is_accepted"].agg(["all", "any"])
    assert audit.accepted_findings is not None
    written = {_number_of(line.product) for line in audit.accepted_findings.lines}
    for number, accepted_version in begun.items():
        outcome.checked += 1
        outcome.lost += str(number) not in written
        same = version[number] == accepted_version
        outcome.changed += not same
        outcome.returned += same and not by_product.loc[str(number), "all"]
        outcome.hidden += not same and bool(by_product.loc[str(number), "any"])
    others = set(by_product.index[by_product["any"]]) - {str(number) for number in begun}
    assert not others, f"accepted although nobody has accepted it: {sorted(others)[:5]}"


def nights(products: int = 3_000, accepted: int = 500, count: int = 10) -> bool:
    """Print what became of accepted findings, and whether it is as it has to be."""
    found = live(products, accepted, count)
    print(
        f"{count} nights of {products:,} products with {accepted} accepted findings at first, {found.kills} of "
        f"{3 * (count + 1)} processes killed before their end: {found.returned} returned unchanged, {found.hidden} of "
        f"{found.changed:,} stayed after a change, {found.lost} lost ({found.checked:,} looked at)"
    )
    return not found.returned and not found.hidden and not found.lost and bool(found.kills)
