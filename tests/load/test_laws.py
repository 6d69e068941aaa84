"""Law 3: any total, page size, way of paging, faults and changes: each product once, or an error of ours."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prodex.errors import IncompleteLoad, ServiceError
from prodex.sandbox import FAULTS, Behaviour, Fault, Sandbox, ScrollEnd
from tests.load.exchange import WAYS, asked, loaded, named, records, renamed

pytestmark = pytest.mark.slow

#: More attempts than a load makes of one call.
_TOO_OFTEN = 7

calls = st.integers(1, 24)
faults = st.builds(
    lambda kind, at, times: Fault(kind, at=at, times=times, **{"429": {"retry_after": 0}}.get(kind, {})),
    st.sampled_from([kind for kind in FAULTS if kind not in {"call", "latency", "stalled", "slow"}]),
    calls,
    st.sampled_from([1, 1, 2, _TOO_OFTEN]),
)
changes = st.tuples(calls, st.sampled_from(["change", "add", "remove"]), st.integers(0, 99))
behaviours = st.builds(
    Behaviour,
    scroll_end=st.sampled_from(ScrollEnd),
    cursor_changes=st.booleans(),
    exclusive_from=st.booleans(),
    exclusive_to=st.booleans(),
)


class Catalogue:
    """What the service had at which of its calls."""

    def __init__(self, sandbox: Sandbox, known: list[dict[str, Any]]) -> None:
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._now = {one["id"]: one for one in known}
        self._next = 1_000
        #: Number of the call, and what each product was called from then on.
        self.states = [(-1, self._names())]

    def happen(self, what: str, number: int) -> None:
        """Add a product, or change or remove one of those that are there."""
        with self._lock:
            if what == "add":
                self._next += 1
                self._now[self._next] = {"id": self._next, "gtin": f"{self._next:014d}"}
            if not self._now:
                return
            one = self._next if what == "add" else sorted(self._now)[number % len(self._now)]
            if what == "remove":
                self._sandbox.remove([one])
                del self._now[one]
            else:
                self._now[one] = renamed(self._now[one], f"{what} {len(self.states)}")
                self._sandbox.change([self._now[one]])
            self.states.append((len(self._sandbox.requests), self._names()))

    def since(self, call: int) -> list[dict[int, str]]:
        """Return what it held when a call was made, and after each change from then on."""
        before = [names for at, names in self.states if at <= call]
        return [before[-1], *(names for at, names in self.states if at > call)]

    def _names(self) -> dict[int, str]:
        return {key: one["namePublicLong"][0]["data"] for key, one in self._now.items()}


@contextmanager
def paged_by(way: str, page_size: int) -> Iterator[None]:
    """Have pages go one of the ways, and lists of keys come in pages as small."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in WAYS[way].items():
            patch.setattr(name, value)
        patch.setattr("prodex.service.paging.LARGEST_PAGE", page_size)
        yield


def last_look(sandbox: Sandbox, began: datetime) -> int | None:
    """Return the number of the call from which on a change may be too late: where what changed is looked through."""
    for number, (_, path, body) in enumerate(sandbox.requests):
        is_page = path.endswith("/list") and body.get("limit") != 1
        if (
            is_page
            and "updated_at_to" not in body
            and body.get("updated_at_from", 0) > began.timestamp() - 600
        ):
            return number
    return None


@example(total=0, page_size=3, way="offset", ordered=[], happening=[(2, "add", 0)], behaviour=Behaviour())
@example(
    total=41,
    page_size=7,
    way="offset",
    ordered=[],
    happening=[(4, "remove", 0), (6, "remove", 9), (7, "add", 0)],
    behaviour=Behaviour(exclusive_from=True),
)
@example(
    total=40,
    page_size=10,
    way="scroll",
    ordered=[Fault("500", at=3, times=1), Fault("500", at=9, times=_TOO_OFTEN)],
    happening=[(3, "change", 1), (5, "remove", 2)],
    behaviour=Behaviour(cursor_changes=True),
)
@example(
    total=60,
    page_size=10,
    way="windows",
    ordered=[],
    happening=[(8, "change", 59), (12, "add", 0), (15, "remove", 5)],
    behaviour=Behaviour(exclusive_to=True),
)
@given(
    total=st.integers(0, 60),
    page_size=st.integers(3, 25),
    way=st.sampled_from(sorted(WAYS)),
    ordered=st.lists(faults, max_size=3),
    happening=st.lists(changes, max_size=4),
    behaviour=behaviours,
)
def test_each_product_comes_once_or_an_error_says_what_is_missing(
    total: int,
    page_size: int,
    way: str,
    ordered: list[Fault],
    happening: list[tuple[int, str, int]],
    behaviour: Behaviour,
) -> None:
    """A catalogue that says it is complete holds every product, in a state it had when changes were looked through.

    What changed later may be in it or not. Where something changed later, so that the numbers can agree by chance,
    a product that was removed earlier may still be there.
    """
    known = records(total)
    with Sandbox(known, behaviour=behaviour) as sandbox, paged_by(way, page_size):
        catalogue = Catalogue(sandbox, known)
        for call, what, number in happening:
            sandbox.at_call(call, lambda what=what, number=number: catalogue.happen(what, number))
        sandbox.order(*ordered)
        began = datetime.now(UTC)
        try:
            catalog = loaded(sandbox, way, page_size=page_size)
        except (ServiceError, IncompleteLoad):
            assert ordered or happening
            sandbox.clear_faults()
            began = datetime.now(UTC)
            catalog = loaded(sandbox, way, page_size=page_size)
        held = named(catalog)
        assert catalog.complete
        look = last_look(sandbox, began)
        # What came on one page needs no second look.
        assert look is not None or total <= page_size + len(happening)
        late = catalogue.since(look or 0)
        assert len(asked(sandbox)) < 200
    if len(late) == 1:
        assert late[0] == held
    for product in held.keys() | late[0].keys():
        may_be = {names.get(product) for names in late}
        if len(late) > 1:
            may_be |= {
                names[product] for _, names in catalogue.states if product in names and product not in late[0]
            }
        assert held.get(product) in may_be, product
