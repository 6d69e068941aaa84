"""Upserts to a service that nobody here made: a case, and what became of it."""

from __future__ import annotations

import json
import random
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tests.load.strange import Judged, connected
from tests.stranger import TRAITS, Stranger
from tests.stranger.catalogue import gtin_of

import prodex
from prodex.errors import ProdexError
from prodex.service import Client

#: Products of a case, in how many calls.
TOTAL, BATCH = 12, 4

#: Seconds after which a case counts as hung.
LONGEST = 30

#: Seconds for which an import is followed; one that never ends costs as many.
_FOLLOWED = 6


class WriteCase(NamedTuple):
    """One case: the traits of the service, and the form in which products are sent."""

    traits: Mapping[str, Any]
    form: str

    def __str__(self) -> str:
        return f"{' + '.join(self.traits)}, as {self.form}"


def writing_traits() -> list[str]:
    """Return the traits that a write can meet, sorted."""
    return sorted(name for name, trait in TRAITS.items() if trait.kind == "write")


def write_cases(pairs: int, seed: int = 1) -> Iterator[WriteCase]:
    """Yield each trait alone, in turn as JSON and as XML, then pairs of traits, drawn by a seed."""
    chance = random.Random(seed)
    names = writing_traits()
    for number, name in enumerate(names):
        yield WriteCase({name: True}, ("json", "xml")[number % 2])
    made = 0
    while made < pairs:
        one, other = chance.sample(names, 2)
        try:
            Stranger(0, {one: True, other: True}).close()
        except ValueError:  # of one family
            continue
        made += 1
        yield WriteCase({one: True, other: True}, chance.choice(("json", "xml")))


def records() -> list[dict[str, Any]]:
    """Return products that JSON and XML both carry."""
    return [
        {
            "gtin": gtin_of(700_000_000_000 + number),
            "isConsumerUnit": True,
            "namePublicLong": [
                {"expressedIn": {"code": "fra-FR"}, "data": f"produit {number}"},
                {"expressedIn": {"code": "eng-GB"}, "data": f"product {number}"},
            ],
        }
        for number in range(TOTAL)
    ]


def judged_write(case: WriteCase, followed: float = _FOLLOWED) -> Judged:
    """Send and follow products, and hold what is said of them against what the service received and stored."""
    begin = time.monotonic()
    products = records()
    gtins = {one["gtin"] for one in products}
    with Stranger(0, dict(case.traits)) as stranger:
        client = connected(stranger)
        try:
            tracking = prodex.upsert(client, products, format=case.form, batch_size=BATCH, progress=False)
            outcome, detail = _followed(client, tracking, stranger, gtins, followed)
        except ProdexError as error:
            outcome, detail = "refused", f"{type(error).__name__}: {error}"
            try:  # a process that begins later
                outcome, detail = _followed(client, prodex.track(client), stranger, gtins, followed)
            except ProdexError as later:
                detail += f" / {type(later).__name__}: {later}"
        except Exception as error:  # noqa: BLE001 - what is none of ours is what is looked for
            outcome, detail = "broke", f"{type(error).__name__}: {error}"
        twice = [gtin for gtin, times in received(stranger).items() if times > 1]
        if twice:
            outcome, detail = "twice", f"{len(twice)}: {twice[:3]}"
    took = time.monotonic() - begin
    return Judged("hung" if took > LONGEST else outcome, f"{took:.0f} s {detail}")


def _followed(
    client: Client, tracking: prodex.send.Tracking, stranger: Stranger, gtins: set[str], seconds: float
) -> tuple[str, str]:
    """Follow an upsert, and say what is wrong with what is told of each product."""
    try:
        tracking.wait(timeout=seconds)
    except (ProdexError, TimeoutError) as error:
        problem = f"{type(error).__name__}: {error}"
    else:
        problem = ""
    told = dict(zip(tracking.products["gtin"], tracking.products["status"], strict=True))
    missing = gtins - told.keys()
    if missing:
        return "lost", f"{len(missing)} products are not accounted for; {problem}"
    stored = stranger.stored
    wrong = [gtin for gtin in gtins if told[gtin] == "SUCCESS" and gtin not in stored]
    if wrong:
        return "invented", f"SUCCESS of {len(wrong)} products that the service does not have: {wrong[:3]}"
    arrived = received(stranger)
    resent = [gtin for gtin in gtins if told[gtin] == "not sent" and arrived[gtin]]
    if resent:
        return "invented", f"'not sent' of {len(resent)} products that arrived: {resent[:3]}"
    if tracking.status == "SUCCESS" and not gtins <= stored.keys():
        return "invented", "SUCCESS of all, and not all are there"
    repr(tracking)
    return ("whole" if tracking.status == "SUCCESS" else "refused"), f"{tracking.status} {problem}"


def received(stranger: Stranger) -> Counter[str]:
    """Count how often each GTIN arrived at the service."""
    arrived: Counter[str] = Counter()
    for body, content_type in stranger.received:
        if "xml" in content_type:
            arrived.update(re.findall(r"<gtin>([0-9]+)</gtin>", body.decode("utf-8", "replace")))
        else:
            arrived.update(one["gtin"] for one in json.loads(body)["data"])
    return arrived
