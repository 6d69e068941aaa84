"""Absence needs a control: what a service does not show has disappeared only if it showed something else beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import prodex
from prodex.errors import IncompleteLoad
from prodex.service import Client
from prodex.store.archive import snapshots_folder
from tests.cases import each_row
from tests.load.exchange import paged
from tests.load.strange import connected
from tests.stranger import TRAITS, Stranger, products

TOTAL = 234

#: What an index shows while it is built anew.
PARTS: dict[str, Callable[[list[Any]], list[Any]]] = {
    "nothing": lambda found: found[:0],
    "one product": lambda found: found[:1],
    "the first third": lambda found: found[: len(found) // 3],
    "every fourth product": lambda found: found[1::4],
}


class Index:
    """The index of a service, apart from its products: it can show fewer of them for a while."""

    def __init__(self, stranger: Stranger) -> None:
        self._stranger, self._all = stranger, dict(stranger.products)

    def show(self, part: Callable[[list[Any]], list[Any]]) -> None:
        """Show a part of the products from now on."""
        shown = part(sorted(self._all))
        self._stranger.products = {key: self._all[key] for key in shown}


def loaded(client: Client, query: prodex.ProductQuery | None = None) -> prodex.Catalog:
    """Load everything."""
    return prodex.load_products(client, query, name="shop", page_size=100, progress=False)


def refreshed(client: Client, **options: Any) -> prodex.Catalog:
    """Refresh, whether the result is complete or not."""
    return prodex.refresh("shop", client, allow_incomplete=True, progress=False, **options)


def held(catalog: prodex.Catalog) -> set[int]:
    """Return the ids of the products of a catalogue."""
    return {int(key) for key in catalog.products["product_id"]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("part", "sweep"),
    [
        *((part, None) for part in PARTS),
        ("nothing", False),
        ("every fourth product", True),
        ("one product", False),
    ],
)
def test_an_index_that_is_built_anew_costs_no_product(part: str, sweep: bool | None) -> None:
    """A refresh keeps what it does not show, is incomplete and says so of each product; the next one is well."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        old = loaded(client)
        index.show(PARTS[part])
        with pytest.raises(IncompleteLoad, match="may have disappeared") as raised:
            prodex.refresh("shop", client, sweep=sweep, progress=False)
        catalog = refreshed(client, sweep=sweep)
        missing = held(old) - set(stranger.products)
        index.show(list)
        mended = prodex.refresh("shop", client, progress=False)
    assert (held(old), False) == (held(catalog), catalog.complete)
    assert {f"product {key}, GTIN" for key in missing} == {
        what[: what.index("GTIN") + 4] for what in catalog.problems["what"]
    }
    assert raised.value.ledger.problems == catalog.origin.ledger.problems
    assert any(f"{len(missing)} products are kept" in note for note in catalog.origin.ledger.notes)
    assert {"not comparable", "unchanged"} >= set(prodex.diff(old, catalog).outcomes["change"].to_pylist())
    assert (held(old), True, ()) == (held(mended), mended.complete, mended.origin.ledger.notes)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "part"),
    [
        *((call, "nothing" if call % 2 else "every fourth product") for call in range(1, 8)),
        (4, "nothing"),
    ],
)
def test_an_index_that_empties_in_the_middle_costs_no_product(part: str, call: int) -> None:
    """From any call of a refresh on: nothing is dropped, and it is complete only if everything was seen."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        old = loaded(client)
        stranger.at_call(stranger.count() + call, lambda _: index.show(PARTS[part]))
        catalog = refreshed(client)
        assert held(old) == held(catalog)
        assert catalog.complete == (not catalog.origin.ledger.doubtful)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "first"),
    [(call, first) for call in range(2, 8) for first in ((0.4, 0.8) if call % 2 else (0.6,))],
)
def test_an_index_that_grows_costs_no_product(first: float, call: int) -> None:
    """It shows a large part, and from some call on another twentieth: what is missing is not gone."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        old = loaded(client)
        index.show(lambda found: found[: int(len(found) * first)])
        stranger.at_call(
            stranger.count() + call,
            lambda _: index.show(lambda found: found[: int(len(found) * (first + 0.05))]),
        )
        catalog = refreshed(client)
    # Where it grew before all that is there was counted, listed and requested, or after it, nobody can tell.
    if catalog.complete:
        assert any("have disappeared at once" in note for note in catalog.origin.ledger.notes)
    else:
        assert held(old) == held(catalog)


def test_many_products_that_have_really_gone_are_a_note() -> None:
    """Half of them, with everything else as it should be: they are removed, and the catalogue says how many."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        loaded(client)
        index.show(lambda found: found[: TOTAL // 2])
        catalog = prodex.refresh("shop", client, progress=False)
    assert (TOTAL // 2, True) == (len(catalog), catalog.complete)
    (note,) = catalog.origin.ledger.notes
    assert note.startswith("117 of 234 products have disappeared at once")


@pytest.mark.slow
@pytest.mark.parametrize("from_call", [4, 5, 6])
def test_an_index_that_fills_while_it_is_asked_costs_no_product(from_call: int) -> None:
    """Some products that the list does not name come a moment later, so the list says nothing of the others."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        old = loaded(client)
        index.show(lambda found: found[:-9])
        begin = stranger.count()
        for number in range(6):
            stranger.at_call(
                begin + from_call + number,
                lambda _, number=number: index.show(lambda found: found[: number - 8]),
            )
        catalog = refreshed(client)
    assert (held(old), False) == (held(catalog), catalog.complete)


@pytest.mark.slow
@each_row(
    ("way", "call"),
    # A load makes 12 calls by scroll, and 32 by windows.
    [*(("scroll", call) for call in range(4, 14, 2)), *(("windows", call) for call in range(4, 32, 3))],
)
def test_an_index_that_empties_during_a_load_costs_no_product(
    way: str, call: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What came is kept; whether it is all, and whether it is still there, is not claimed."""
    paged(way, monkeypatch)
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        stranger.at_call(call, lambda _: index.show(PARTS["nothing"]))
        catalog = prodex.load_products(
            client, name="shop", page_size=40, windows=2, allow_incomplete=True, progress=False
        )
    ledger = catalog.origin.ledger
    # Where every page and the listing of all keys had come by then, it is whole.
    assert (TOTAL, ()) == (len(catalog), ledger.doubtful) if catalog.complete else bool(ledger.problems)


@pytest.mark.slow
@pytest.mark.parametrize("deaf", ["gtins_ignored", "filters_ignored", "lists_ignored"])
def test_a_filter_that_is_ignored_proves_no_removal(deaf: str) -> None:
    """The service sends others than it is asked for: what the list does not name is kept, and listed as a problem."""
    with Stranger(products(TOTAL)) as stranger:
        client = connected(stranger)
        old = loaded(client)
        removed = stranger.ids()[5:7]
        for key in removed:
            stranger.remove(key)
        stranger.switches = type(stranger.switches)([deaf])
        catalog = refreshed(client)
        with pytest.raises(IncompleteLoad):
            prodex.refresh("shop", client, progress=False)
        stranger.switches = type(stranger.switches)([])
        mended = prodex.refresh("shop", client, progress=False)
    assert (held(old), False) == (held(catalog), catalog.complete)
    assert [f"product {key}, GTIN {stranger_gtin(old, key)}" for key in removed] == catalog.problems[
        "what"
    ].tolist()
    assert all("ignores this filter" in why for why in catalog.problems["why"])
    assert (held(old) - set(removed), True) == (held(mended), mended.complete)


def stranger_gtin(catalog: prodex.Catalog, product: int) -> str:
    """Return the GTIN of a product of a catalogue."""
    (gtin,) = catalog.where(product_id=str(product)).products["gtin"]
    return str(gtin)


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_list_of_which_only_the_beginning_is_read_proves_no_removal(most: int) -> None:
    """A control is the first GTIN of a request, and another one the last."""
    with Stranger(products(TOTAL)) as stranger:
        client = connected(stranger)
        old = loaded(client)
        index = Index(stranger)
        index.show(lambda found: [one for one in found if one not in found[50:55]])
        stranger.switches = type(stranger.switches)({"gtins_cut": most})
        catalog = refreshed(client)
    assert (held(old), False, 5) == (held(catalog), catalog.complete, len(catalog.problems))


@pytest.mark.slow
@pytest.mark.parametrize(
    "trait", ["gtins_of_13", "gtins_as_numbers", "ids_absent", "uuids_absent", "one GTIN"]
)
def test_what_has_really_gone_is_removed(trait: str) -> None:
    """A few of many, whatever their keys look like, also where all share one GTIN: the others come beside them."""
    known = products(60)
    if trait == "one GTIN":
        known = [{**one, "gtin": known[0]["gtin"]} for one in known]
    with Stranger(known, [trait] if trait in TRAITS else []) as stranger:
        client = connected(stranger)
        loaded(client)
        for key in stranger.ids()[3:9]:
            stranger.remove(key)
        catalog = prodex.refresh("shop", client, progress=False)
        new = loaded(client)
    assert (54, True, ()) == (len(catalog), catalog.complete, catalog.origin.ledger.doubtful)
    assert set(new.products["product_id"]) == set(catalog.products["product_id"])


def test_the_only_product_of_a_query_is_not_dropped_without_a_control() -> None:
    """Nothing shows that the service answers at all. A load, which claims nothing about before, finds nothing."""
    with Stranger(products(60)) as stranger:
        client = connected(stranger)
        first = stranger.products[stranger.ids()[0]]
        query = prodex.ProductQuery(gtins_in=[first["gtin"]])
        loaded(client, query)
        stranger.remove(first["id"])
        catalog = refreshed(client)
        assert ({first["id"]}, False) == (held(catalog), catalog.complete)
        anew = prodex.load_products(client, query, name="shop", max_age=0, progress=False)
    assert (0, True) == (len(anew), anew.complete)


def test_a_load_of_nothing_says_so_and_is_not_reused() -> None:
    """Nothing that came shows that the service has an index, and a moment later it may have one."""
    with Stranger(products(60)) as stranger:
        client, index = connected(stranger), Index(stranger)
        index.show(PARTS["nothing"])
        nothing = loaded(client)
        index.show(list)
        catalog = loaded(client)
    assert (0, True, 60) == (len(nothing), nothing.complete, len(catalog))
    (note,) = nothing.origin.ledger.notes
    assert note.startswith("the service showed no product")


@each_row(("most", "known"), [(0, 0), (100, 100), (None, 120)])
def test_gtins_that_did_not_come_are_not_called_unknown_without_a_control(
    most: int | None, known: int
) -> None:
    """None came, or only the first of a call: whether the service has the others is open."""
    with Stranger(products(120), {} if most is None else {"gtins_cut": most}) as stranger:
        wanted = [one["gtin"] for one in stranger.products.values()] + [
            f"{number:014d}" for number in range(1, 4)
        ]
        catalog = loaded(connected(stranger), prodex.ProductQuery(gtins_in=wanted))
    assert (known, 123 - known) == (len(catalog), len(catalog.problems))
    notes = catalog.origin.ledger.notes
    if most is None:
        assert () == notes
        assert {"asked for by GTIN, and the service has none for this query"} == set(catalog.problems["why"])
    elif most:
        assert ["of 123 GTINs in one request the first 100 came"] == [
            note.partition(",")[0] for note in notes
        ]
    else:
        assert all("is not known" in why for why in catalog.problems["why"])


def test_a_product_without_a_gtin_is_kept_in_doubt() -> None:
    """It cannot be requested by itself, so the catalogue is not called whole."""
    known = products(60)
    for one in known[10:12]:
        del one["gtin"]
    with Stranger(known) as stranger:
        client = connected(stranger)
        old = loaded(client)
        assert old.complete
        stranger.remove(known[10]["id"])
        catalog = refreshed(client)
    assert (60, False) == (len(catalog), catalog.complete)
    assert [f"product {known[10]['id']}, GTIN None"] == catalog.problems["what"].tolist()


def test_a_recovered_load_drops_nothing_without_a_control(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages of an interrupted load are judged as those of a load are."""
    with Stranger(products(TOTAL)) as stranger:
        client, index = connected(stranger), Index(stranger)
        stranger.at_call(8, lambda _: index.show(PARTS["nothing"]))
        with pytest.raises(IncompleteLoad):
            prodex.load_products(client, name="shop", page_size=40, progress=False)
        assert list((snapshots_folder() / "shop").glob(".journal-*"))
        catalog = prodex.recover("shop", allow_incomplete=True, progress=False)
    assert (TOTAL, False) == (len(catalog), catalog.complete)
