"""Who changed it: since when a value is there, in which snapshot it came, what was before, and whether we sent it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.corrections.history import histories_of
from prodex.errors import InputError, SnapshotNotFound
from prodex.ledger.earlier_records import forget_earlier_records
from prodex.ledger.upsert_file import ledger_folder
from tests.corrections.machines import Machines, machines, names
from tests.send.mill_exchange import gtin

GTIN = "03036811359935"


@pytest.fixture
def mill() -> Iterator[Machines]:
    """Give a manufacturer at this machine and at another one."""
    with machines() as found:
        yield found


def text(data: str, code: str = "fra-FR") -> dict[str, Any]:
    """Return a text as the service sends it."""
    return {"expressedIn": {"code": code}, "data": data}


def saved(*records: dict[str, Any] | list[dict[str, Any]], name: str = "shop") -> None:
    """Keep one snapshot for each record, or for each list of records."""
    for one in records:
        prodex.flatten(one if isinstance(one, list) else [one]).save(name, progress=False)


def product(**attributes: Any) -> dict[str, Any]:
    """Return a product with a GTIN."""
    return {"id": 7, "gtin": GTIN, **attributes}


def rows(frame: pd.DataFrame, *columns: str, attribute: str | None = None) -> list[list[Any]]:
    """Return some columns of a history, None for what is missing."""
    found = frame if attribute is None else frame[frame["attribute"] == attribute]
    found = found[list(columns)].astype(object)
    return found.where(found.notna(), None).to_numpy().tolist()


def test_a_text_that_went_and_came_back_has_three_steps() -> None:
    """A -> B -> A: the second A is not the first one."""
    saved(*(product(namePublicLong=[text(one)]) for one in ("A", "B", "A")))

    found = prodex.history(GTIN)

    assert [
        ["changed", "A", "B", "fr"],
        ["changed", "B", "A", "fr"],
        ["in the first snapshot", "A", None, "fr"],
    ] == rows(found, "event", "value", "before", "language")
    assert "Unknown since when." == found["note"].iloc[-1]
    assert [False, False, False] == found["since"].notna().tolist()


def test_what_has_no_data_does_not_change_where_fields_were_chosen() -> None:
    """A reply of chosen fields has no null; between two replies of all fields null that becomes empty still counts."""
    query = prodex.ProductQuery(source_include=["brand"])
    for value, asked in (
        ({"brand": None}, None),
        ({}, query),
        ({"brand": None}, None),
        ({"brand": []}, None),
    ):
        catalog = prodex.flatten([product(**value)])
        dataclasses.replace(catalog, origin=prodex.catalog.Origin("service", asked)).save(
            "shop", progress=False
        )

    assert [
        ["still missing, in another way", "empty", "null"],
        ["in the first snapshot", "null", "not asked for"],
    ] == rows(prodex.history(GTIN), "event", "state", "before_state")


def test_a_value_is_dated_by_the_product_where_it_says_so() -> None:
    """What was there at first has no date, since nobody knows since when."""
    saved(
        product(lifeCycle=1, updatedAt="2026-11-01T10:00:00"),
        product(lifeCycle=2, updatedAt="2026-11-05T10:00:00"),
    )

    found = prodex.history(GTIN)

    assert [["2", "2026-11-05"], ["1", None]] == [
        [value, None if pd.isna(since) else str(since.date())]
        for value, since in zip(found["value"], found["since"], strict=True)
    ]
    assert found["snapshot"].iloc[1] == found["not_in"].iloc[0] != found["snapshot"].iloc[0]


def test_the_four_faces_of_missing_are_kept_apart() -> None:
    """Null, empty and absent are three states; what nobody asked for is none of them."""
    saved(product(brand="A"), product(brand=None), product(brand=[]), product(), product(brand="B"))

    assert [
        ["added", "filled", "absent"],
        ["still missing, in another way", "absent", "empty"],
        ["still missing, in another way", "empty", "null"],
        ["taken away", "null", "filled"],
        ["in the first snapshot", "filled", "not asked for"],
    ] == rows(prodex.history(GTIN), "event", "state", "before_state")


def test_a_product_that_came_back_under_another_id_is_followed_by_its_gtin() -> None:
    """It was gone for one snapshot, and its values were not changed by that."""
    saved(
        [product(brand="A"), {"id": 1}],
        [{"id": 1}],
        [product(brand="A") | {"id": 9, "gtin": GTIN.lstrip("0")}, {"id": 1}],
    )

    for given in (GTIN, GTIN.lstrip("0"), 3036811359935, "9", "7", {"product_id": "9", "gtin": GTIN}):
        found = prodex.history(given)
        assert [
            ["", "product came back", "9"],
            ["", "product gone", None],
            ["brand", "in the first snapshot", "A"],
        ] == rows(found, "attribute", "event", "value")
        assert "Under the id 9; it had 7." == found["note"].iloc[0]
        assert any("not in 1 snapshot" in note for note in found.attrs["notes"])


def test_two_products_with_one_gtin_are_two() -> None:
    """They were there at the same time, so one is not the other one under another id."""
    both = [product(brand="A"), product(brand="B") | {"id": 8}]
    saved(both, [both[0] | {"brand": "C"}, both[1]])

    assert [["7", "C"], ["7", "A"]] == rows(prodex.history("7"), "product_id", "value")
    assert {("7", "C"), ("7", "A"), ("8", "B")} == {
        (one, other) for one, other in rows(prodex.history(GTIN), "product_id", "value")
    }


def test_an_id_that_looks_like_another_gtin_is_the_id() -> None:
    """The product with this GTIN is another one."""
    saved([{"id": int(GTIN), "gtin": "00000000000017", "brand": "A"}, product(brand="B")])

    assert [["A"]] == rows(prodex.history(GTIN.lstrip("0")), "value")


@pytest.mark.slow
def test_an_attribute_that_nobody_knows_is_refused_with_the_nearest(mill: Machines) -> None:
    """One without a value has no history; a misspelled one has none either, and that would be no answer."""
    mill.load()
    assert not prodex.history(gtin(1), "mine", attribute="namePublicLong.data").empty
    assert prodex.history(gtin(1), "mine", attribute="consumptionAdvice").empty
    with pytest.raises(InputError, match=r"no attribute 'namePublicLng'.*did you mean 'namePublicLong'"):
        prodex.history(gtin(1), "mine", attribute="namePublicLng")


@pytest.mark.slow
def test_what_was_not_asked_for_is_not_taken_away(mill: Machines) -> None:
    """A narrower query in between, by attribute and by language, is no change."""
    mill.load()
    mill.load(source_include=["lifeCycle"])
    mill.load(product_languages=["fr"])
    mill.elsewhere(namePublicLong=names("Nouveau"))
    mill.load()

    found = prodex.history(gtin(1), "mine", attribute="namePublicLong")

    assert [
        ["fr", "changed", "Nouveau", "no"],
        ["fr", "in the first snapshot", "Name 1 fr", "no"],
        ["de", "in the first snapshot", "Name 1 de", "no"],
        ["en", "in the first snapshot", "Name 1 en", "no"],
    ] == sorted(
        rows(found, "language", "event", "value", "sent"),
        key=lambda one: (one[0] != "fr", one[0]) if one[0] != "fr" else (False, ""),
    )
    assert all("Not asked for" in note for note in found["note"].tolist()[-1:])


def test_an_attribute_that_was_asked_for_later_is_not_new(mill: Machines) -> None:
    """It may have been there before."""
    mill.load(source_include=["brand"])
    mill.load()

    assert [["first asked for", "1"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle"), "event", "value"
    )


def test_a_snapshot_of_other_products_does_not_say_that_one_is_gone(mill: Machines) -> None:
    """It was loaded by another query."""
    mill.load()
    mill.load(gtins_in=[gtin(2)])

    found = prodex.history(gtin(1))

    assert [] == rows(found, "event", attribute="")
    assert any("Loaded by a query for other products" in note for note in found.attrs["notes"])


@pytest.mark.parametrize("table", ["raw", "products"])
def test_a_damaged_snapshot_is_named_and_the_others_are_read(table: str) -> None:
    """What it held is not taken for a change."""
    # Of a row that differs in each, so that no other file says what is in the damaged one.
    saved(*(product(brand=one, lifeCycle=i) for i, one in enumerate("ABC", 1)))
    damaged = Path(prodex.list_snapshots("shop")["folder"].iloc[1])
    (damaged / table / "part-00000.parquet").write_bytes(b"no Parquet")

    found = prodex.history(GTIN)

    assert [["C", "A"], ["A", None]] == rows(found, "value", "before", attribute="brand")
    assert 1 == sum("could not be read" in note for note in found.attrs["notes"])


def test_what_another_file_has_byte_for_byte_is_not_lost_with_a_damaged_one() -> None:
    """The rows of `products` are the same in all three, and are taken from whichever file was read."""
    saved(*(product(brand=one) for one in ("A", "B", "C")))
    digests = {
        prodex.open_snapshot(folder).parts[0].facts["products"]["sha256"]
        for folder in prodex.list_snapshots("shop")["folder"]
    }
    assert 1 == len(digests)
    assert [["C", "B"], ["B", "A"], ["A", None]] == rows(prodex.history(GTIN), "value", "before")


def test_a_damaged_part_hides_no_product_of_another_one() -> None:
    """The product is in a part that can be read."""
    two = prodex.flatten([product(brand="A")]), prodex.flatten([{"id": 1}])
    both = dataclasses.replace(two[0], parts=(*two[0].parts, *two[1].parts))
    both.save("shop", progress=False)
    (folder,) = prodex.list_snapshots("shop")["folder"]
    (Path(folder) / "products" / "part-00001.parquet").write_bytes(b"no Parquet")

    found = prodex.history(GTIN)
    assert [["A"]] == rows(found, "value")
    assert not any("could not be read" in note for note in found.attrs["notes"])


def test_what_was_sent_while_a_snapshot_was_loaded_may_be_in_it(mill: Machines) -> None:
    """Its load began before, and its page was read after."""
    mill.load()
    mill.here(lifeCycle=5)
    mill.load()
    first, folder = map(Path, prodex.list_snapshots("mine")["folder"])
    began = json.loads((first / "manifest.json").read_text("utf-8"))["origin"]["loaded_at"]
    manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
    manifest["origin"]["loaded_at"] = began
    (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")

    assert [["5", "yes"], ["1", "no"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle"), "value", "sent"
    )


def test_what_the_service_stored_otherwise_is_told(mill: Machines) -> None:
    """We sent something else, which no snapshot shows."""
    mill.load()
    mill.here(namePublicLong=names("Riz  "))
    mill.elsewhere(namePublicLong=names("Riz"))
    mill.load()

    found = prodex.history(gtin(1), attribute="namePublicLong")
    assert "had sent another value." in found["note"].iloc[0]


def test_a_manifest_that_is_cut_is_named() -> None:
    """As is any snapshot that cannot be opened."""
    saved(product(brand="A"), product(brand="A"))
    (Path(prodex.list_snapshots("shop")["folder"].iloc[0]) / "manifest.json").write_text("{", "utf-8")

    assert any("could not be read" in note for note in prodex.history(GTIN).attrs["notes"])


def test_each_name_has_a_history_of_its_own() -> None:
    """Two deliveries of one product are not compared with each other."""
    saved(product(brand="A"), product(brand="B"), name="shop")
    saved(product(brand="X"), name="other")

    assert [["other", "X"], ["shop", "B"], ["shop", "A"]] == rows(prodex.history(GTIN), "name", "value")
    assert [["B"], ["A"]] == rows(prodex.history(GTIN, "shop"), "value")
    assert [["X"]] == rows(prodex.history(GTIN, prodex.open_snapshot("other")), "value")


def test_what_nobody_has_is_said_so() -> None:
    """The error names where it was looked for; a name that is wrong is another error."""
    saved(product())
    with pytest.raises(InputError, match="No snapshot"):
        prodex.history("04012345678901")
    with pytest.raises(SnapshotNotFound, match="shop"):
        prodex.history(GTIN, "shopp")
    for odd in (None, 3.5, True, pd.DataFrame({"gtin": ["1", "2"]}), {"name": "x"}, ""):
        with pytest.raises(InputError):
            prodex.history(odd)


def test_a_value_sent_from_here_is_told_by_whom_and_why(mill: Machines) -> None:
    """With the tracking identifier and the upsert; what was carried along unchanged was not sent."""
    mill.load()
    sent = mill.here(namePublicLong=names("Corrigé"))
    mill.load()

    found = prodex.history(gtin(1), attribute="namePublicLong")

    (newest, *others) = rows(found, "language", "value", "before", "sent", "tracking", "by", "why", "upsert")
    assert [
        "fr",
        "Corrigé",
        "Name 1 fr",
        "yes",
        str(sent.tracking_ids[0]),
        "max",
        "spelling",
        prodex.list_upserts()["name"].iloc[0],
    ] == newest
    assert {"no"} == {one[3] for one in others}


@pytest.mark.slow
def test_what_the_supplier_put_back_was_not_sent(mill: Machines) -> None:
    """Sent from here, and changed back by somebody else."""
    mill.load()
    mill.here(namePublicLong=names("Corrigé"))
    mill.load()
    mill.elsewhere(namePublicLong=names("Name 1 fr"))
    mill.load()

    assert [
        ["Name 1 fr", "Corrigé", "no"],
        ["Corrigé", "Name 1 fr", "yes"],
        ["Name 1 fr", None, "no"],
    ] == rows(prodex.history(gtin(1), attribute="namePublicLong")[:3], "value", "before", "sent")


@pytest.mark.slow
def test_what_overrides_ours_says_so(mill: Machines) -> None:
    """The value that was sent from here was there, and somebody else changed it."""
    mill.load()
    mill.here(lifeCycle=5)
    mill.load()
    mill.elsewhere(lifeCycle=9)
    mill.load()

    (newest, *others) = prodex.history(gtin(1), attribute="lifeCycle")["note"]
    assert "It overrides what was sent from here." in newest
    assert not any("overrides" in one for one in others)


def test_a_value_that_was_sent_twice_is_one_change(mill: Machines) -> None:
    """The first upsert has sent it, and the second one is named."""
    mill.load()
    mill.here(lifeCycle=5, wait=False)
    mill.here(lifeCycle=5)
    mill.load()
    found = prodex.history(gtin(1), attribute="lifeCycle")

    assert [["5", "yes"], ["1", "no"]] == rows(found, "value", "sent")
    assert prodex.list_upserts()["name"].iloc[1] == found["upsert"].iloc[0]


def test_what_was_sent_and_overwritten_before_the_next_snapshot_is_there(mill: Machines) -> None:
    """No snapshot shows it, and it was sent nevertheless."""
    mill.load()
    mill.here(lifeCycle=5)
    mill.elsewhere(lifeCycle=9)
    mill.load()

    assert [
        ["changed", "9", "no"],
        ["sent, not seen", "5", "yes"],
        ["in the first snapshot", "1", "no"],
    ] == rows(prodex.history(gtin(1), attribute="lifeCycle"), "event", "value", "sent")


@pytest.mark.slow
def test_what_we_sent_long_ago_is_not_ours_when_somebody_else_sends_it(mill: Machines) -> None:
    """Snapshots without it have shown that it was gone, although none of them differs from the one before."""
    mill.load()
    mill.here(lifeCycle=5)
    mill.elsewhere(lifeCycle=1)
    mill.load()
    mill.load()
    mill.elsewhere(lifeCycle=5)
    mill.load()

    assert [
        ["changed", "5", "no"],
        ["sent, not seen", "5", "yes"],
        ["in the first snapshot", "1", "no"],
    ] == rows(prodex.history(gtin(1), attribute="lifeCycle"), "event", "value", "sent")


def test_what_we_put_back_before_anybody_saw_it_is_named(mill: Machines) -> None:
    """No snapshot shows the value in between, so there is no change; that it was sent is told."""
    mill.load()
    mill.elsewhere(lifeCycle=5)
    mill.here(lifeCycle=1)
    mill.load()

    found = prodex.history(gtin(1), attribute="lifeCycle")
    assert [["in the first snapshot", "1"]] == rows(found, "event", "value")
    assert "Sent again by the upsert" in found["note"].iloc[0]


def test_what_is_not_visible_yet_is_not_overridden(mill: Machines) -> None:
    """No snapshot was loaded since."""
    mill.load()
    mill.here(lifeCycle=5)

    assert [["sent, not visible yet", "5"], ["in the first snapshot", "1"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle"), "event", "value"
    )


def test_what_was_deleted_from_here_was_sent(mill: Machines) -> None:
    """A deletion is a value as well."""
    mill.load()
    mill.here(description=prodex.DELETE)
    mill.load()

    (newest, *_) = rows(prodex.history(gtin(1), attribute="description"), "event", "value", "sent")
    assert ["taken away", None, "yes"] == newest


def test_a_call_that_was_refused_is_told(mill: Machines) -> None:
    """Nothing of it arrived, whoever refused it: the call as a whole, or the product."""
    mill.load()
    assert ["ERROR"] == mill.here(lifeCycle=5, assets=[]).products["status"].tolist()
    with contextlib.suppress(prodex.ProdexError):
        mill.service.upsert_products(b"no JSON")
    mill.load()

    found = prodex.history(gtin(1), attribute="lifeCycle")
    assert [["in the first snapshot", "1", "no"]] == rows(
        found[found["sent"] == "no"], "event", "value", "sent"
    )
    assert {"sent, refused by the service"} == set(found[found["sent"] == "yes"]["event"])
    assert "5" in found["value"].tolist()


def test_an_upsert_of_which_nothing_is_kept_is_not_known(mill: Machines) -> None:
    """It wrote this attribute, and nobody knows what; another attribute was certainly not sent."""
    mill.load()
    prodex.upsert(
        mill.service,
        [{"gtin": gtin(1), "lifeCycle": 5, "nameLegal": [text("x")]}],
        keep_before=False,
        progress=False,
    ).wait(progress=False)
    mill.elsewhere(namePublicLong=names("Autre"))
    mill.load()

    found = prodex.history(gtin(1))
    changed = found[found["event"] == "changed"]
    assert {("lifeCycle", "not known"), ("namePublicLong", "no")} == {
        (one, sent) for one, sent in rows(changed, "attribute", "sent")
    }


@pytest.mark.slow
def test_corrections_of_which_only_digests_are_left_are_known_as_sent(mill: Machines) -> None:
    """A value that is not theirs is not."""
    catalog = mill.load()
    frame = pd.DataFrame(
        {
            "product_id": ["1"],
            "gtin": [gtin(1)],
            "attribute": ["namePublicLong"],
            "language": ["fr"],
            "text": ["Corrigé"],
        }
    )
    prodex.upsert(mill.service, catalog.changes_from(frame), progress=False).wait(progress=False)
    forget_earlier_records()
    mill.load()
    mill.elsewhere(namePublicLong=names("Autre"))
    mill.load()

    assert [["Autre", "no"], ["Corrigé", "yes"], ["Name 1 fr", "no"]] == rows(
        prodex.history(gtin(1), attribute="namePublicLong")[:3], "value", "sent"
    )


def test_a_journal_that_cannot_be_read_leaves_it_open(mill: Machines) -> None:
    """The upsert is named."""
    mill.load()
    mill.here(lifeCycle=5)
    mill.load()
    for journal in ledger_folder().rglob("upsert.sqlite"):
        journal.write_bytes(b"damaged " + gtin(1).encode())

    found = prodex.history(gtin(1), attribute="lifeCycle")
    assert [["5", "not known"]] == rows(found[:1], "value", "sent")
    assert any("cannot be read, and has this GTIN" in note for note in found.attrs["notes"])


def test_a_clock_that_was_ahead_changes_no_order(mill: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots are compared in the order of publication, and what was sent in between is found."""
    mill.load()
    parent = Path(prodex.list_snapshots("mine")["folder"].iloc[0])
    parent.rename(parent.with_name("2099-01-01T000000.000000Z"))
    mill.here(lifeCycle=5)
    mill.load()

    assert [["5", "yes"], ["1", "no"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle"), "value", "sent"
    )


@pytest.mark.slow
@pytest.mark.parametrize("year", [2001, 2099])
def test_a_load_by_a_wrong_clock_hides_nothing_that_was_sent(mill: Machines, year: int) -> None:
    """Whether it was ahead or set back, what we sent after it is ours."""
    mill.load()
    mill.load()
    for folder in map(Path, prodex.list_snapshots("mine")["folder"][1:]):
        manifest = json.loads((folder / "manifest.json").read_text("utf-8"))
        manifest["origin"]["loaded_at"] = f"{year}-01-01T00:00:00+00:00"
        (folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        folder.rename(folder.with_name(f"{year}-01-01T000000.000000Z"))
    mill.here(lifeCycle=5)
    mill.load()
    mill.elsewhere(lifeCycle=9)
    mill.load()

    assert [["9", "no"], ["5", "yes"], ["1", "no"]] == rows(
        prodex.history(gtin(1), attribute="lifeCycle"), "value", "sent"
    )


def test_nested_texts_and_lists_are_followed_by_what_they_are(mill: Machines) -> None:
    """An item that moved is the same one, and so is a text in another order."""
    saved(
        product(
            allergens=[{"code": "A"}, {"code": "B"}], net=[{"expressedIn": {"code": "GRM"}, "data": 500}]
        ),
        product(
            allergens=[{"code": "C"}, {"code": "B"}, {"code": "A"}],
            net=[{"expressedIn": {"code": "GRM"}, "data": 0.5}],
        ),
    )
    found = prodex.history(GTIN)
    assert {
        ("allergens", "C", "added", "C"),
        ("allergens", "A", "in the first snapshot", "A"),
        ("allergens", "B", "in the first snapshot", "B"),
        ("net", "GRM", "changed", "0.5 GRM"),
        ("net", "GRM", "in the first snapshot", "500 GRM"),
    } == set(map(tuple, rows(found, "attribute", "item", "event", "value")))


def test_long_texts_and_markup_are_kept_as_they_are() -> None:
    """40,000 characters, text from right to left, and half of a pair."""
    hostile = ["<img src=x onerror=alert(1)>", "שלום \u202e עולם", "x" * 40_000, "=1+1", "\ud83d"]
    saved(*(product(namePublicLong=[text(one)]) for one in hostile))

    found = prodex.history(GTIN)["value"].tolist()[::-1]
    # Half of a pair is no character: it is shown as it was sent.
    assert [*hostile[:4], "\\ud83d"] == found


@pytest.mark.slow
@pytest.mark.parametrize("depth", [100, 450, 800])
def test_a_record_that_nests_deeply_hides_no_other_attribute(depth: int, tmp_path: Path) -> None:
    """Where it cannot be followed, or not even decoded, the notes say so."""
    for brand in ("A", "B"):
        path = tmp_path / f"{brand}.json"
        deep = "[" * depth + "]" * depth
        path.write_text(f'[{{"id": 7, "gtin": "{GTIN}", "brand": "{brand}", "deep": {deep}}}]', "utf-8")
        prodex.read_products(path).save("shop", progress=False)

    found = prodex.history(GTIN)
    is_followed = [["B"], ["A"]] == rows(found, "value", attribute="brand")
    assert is_followed or any("cannot be decoded" in note for note in found.attrs["notes"])


@pytest.mark.slow
def test_three_hundred_snapshots_are_followed(capsys: pytest.CaptureFixture[str]) -> None:
    """Each has another text; the time is printed."""
    saved(product(namePublicLong=[text("0")]))
    first = Path(prodex.list_snapshots("shop")["folder"].iloc[0])
    for number in range(1, 300):
        copy = first.with_name(
            f"2026-01-01T{number // 3600:02d}{number // 60 % 60:02d}{number % 60:02d}.000000Z"
        )
        shutil.copytree(first, copy)
        manifest = copy / "manifest.json"
        found = json.loads(manifest.read_text("utf-8"))
        manifest.write_text(json.dumps(found | {"sequence": number + 1}), "utf-8")
    saved(product(namePublicLong=[text("1")]))

    begin = perf_counter()
    (history,) = histories_of(GTIN)
    seconds = perf_counter() - begin
    with capsys.disabled():
        sys.stdout.write(f"\n{history.snapshots} snapshots: {seconds:.2f} s\n")
    assert (301, ["1", "0"]) == (
        history.snapshots,
        [event.change.after for value in history.values for event in value.events],
    )


_CAFE = "Caf\u00e9", "Cafe\u0301"


def test_letters_in_another_normal_form_are_no_change(mill: Machines) -> None:
    """As in a comparison: a system that writes an accent as a letter of its own has changed nothing."""
    for name in _CAFE:
        mill.elsewhere(namePublicLong=names(name))
        mill.load()
    mill.elsewhere(namePublicLong=names("Th\u00e9"))
    mill.load()

    found = prodex.history(gtin(1), attribute="namePublicLong")

    french = [one for one in rows(found, "language", "event", "value", "before") if one[0] == "fr"]
    assert [
        ["fr", "changed", "Th\u00e9", _CAFE[1]],
        ["fr", "in the first snapshot", _CAFE[0], ""],
    ] == [[*one[:3], one[3] if isinstance(one[3], str) else ""] for one in french]


def test_what_was_sent_is_there_in_another_normal_form_too(mill: Machines) -> None:
    """Nobody has overridden it, and it was sent from here."""
    mill.load()
    mill.here(namePublicLong=names(_CAFE[0]))
    mill.elsewhere(namePublicLong=names(_CAFE[1]))
    catalog = mill.load()

    (newest, *_) = rows(prodex.history(gtin(1), attribute="namePublicLong"), "language", "value", "sent")
    assert ["fr", _CAFE[1], "yes"] == newest
    assert 0 == len(catalog.overridden())
