"""Days that pass in a sandbox: what suppliers do, what it looks like to a caller, and the way back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from filled import fill, opened
from small_exchange import SHOP, Caller
from tests.cases import each_row
from writer import Writer

import prodex
from prodex.sandbox import INCIDENTS, Incident, Journal, Sandbox
from prodex_sandbox import sample
from prodex_sandbox.home import store_file
from prodex_sandbox.media.files import MEDIA
from prodex_sandbox.records.baseline import reset_store
from prodex_sandbox.records.store import Store
from prodex_sandbox.simulation import ACTIONS, read_journal, simulate_store
from prodex_sandbox.simulation.journal import Entry

#: Enough for every action to happen within a month.
COUNT = 600
#: Enough for the incidents of a day, which concern one large supplier or every second product.
FEWER = 250
SHOPKEEPER = sample.organizations()[0]
NOW = datetime(2026, 11, 24, 3, 0, tzinfo=UTC)


@contextmanager
def store_of(home: Path, count: int = COUNT) -> Iterator[Store]:
    """Open a new store of a sample."""
    if not store_file(home).exists():
        fill(home, count)
    with opened(home, count) as store:
        yield store


def simulated(store: Store, days: int, seed: int = 1, *incidents: Incident | str) -> Journal:
    return simulate_store(store, days, seed, incidents, lambda: NOW)


def content(store: Store) -> dict[str, list[Any]]:
    """Return all that anybody could see of a store; keys of products that were added are those of their order."""
    wanted = {
        "records": "SELECT products.owner_id, records.body FROM records JOIN products USING (key) ORDER BY key",
        "products": "SELECT * FROM products ORDER BY key",
        "views": "SELECT * FROM views ORDER BY product_key, organization_id",
        "tags": "SELECT * FROM tags ORDER BY product_key, organization_id, name",
        "texts": "SELECT rowid, * FROM texts ORDER BY rowid",
        "organizations": "SELECT * FROM organizations ORDER BY id",
        "versions": "SELECT * FROM versions",
        "imports": "SELECT * FROM imports",
        "activations": "SELECT * FROM activations",
        "journal": "SELECT * FROM journal ORDER BY number",
    }
    return {name: store.rows(sql) for name, sql in wanted.items()}


def everything(base_url: str) -> dict[str, dict[str, Any]]:
    """Return every product that the principal retailer sees, by id; addresses of files as they are stored."""
    caller = Caller(base_url, SHOPKEEPER).log_in()
    found: dict[str, dict[str, Any]] = {}
    with caller.session:
        cursor = ""
        while page := caller.call("POST", limit=500, next_page=cursor):
            if not page["data"]:
                return found
            stored = json.loads(json.dumps(page["data"]).replace(f"{base_url}/media", MEDIA))
            found |= {str(one["id"]): one for one in stored}
            cursor = page["next_page"]
    raise AssertionError


def value_at(record: Mapping[str, Any], attribute: str, language: str) -> Any:
    value: Any = record
    for name in attribute.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    if not language:
        return value
    texts = {item["expressedIn"]["normalizedCode"]: item["data"] for item in value or ()}
    return texts.get(language)


def undated(value: Any) -> str:
    """Return a value without the dates of its pictures: a later write of the same second moves them, too."""
    return re.sub(r'"updatedAt": "[^"]*"', "", json.dumps(value or None))


@pytest.fixture(scope="module")
def month(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Journal]]:
    """Let a month pass."""
    with store_of(tmp_path_factory.mktemp("month")) as store:
        yield store, simulated(store, 40)


@pytest.mark.slow
def test_the_same_seed_tells_the_same_story(month: tuple[Store, Journal], tmp_path: Path) -> None:
    """Two stores of one sample hold the same bytes after the same days; another seed tells another story."""
    store, journal = month
    with store_of(tmp_path / "again") as again:
        assert list(journal) == list(simulated(again, 40))
        assert content(store) == content(again)
    with store_of(tmp_path / "other") as other:
        assert list(journal) != list(simulated(other, 40, 2))


@pytest.mark.slow
def test_days_one_by_one_are_days_at_once(tmp_path: Path) -> None:
    """Ten days are the same in one call and in ten, each of which continues where the last one ended."""
    with store_of(tmp_path / "at once") as store:
        whole, at_once = simulated(store, 10), content(store)
    with store_of(tmp_path / "one by one") as store:
        parts = [simulated(store, 1) for _ in range(10)]
        assert list(whole) == [entry for part in parts for entry in part]
        assert at_once == content(store)
        assert list(whole) == list(read_journal(store))
        assert whole.days == read_journal(store).days


def test_days_follow_the_newest_update(month: tuple[Store, Journal]) -> None:
    """The first day is the one after the sample's newest update, whatever day it is; they have no gap."""
    _, journal = month
    assert (date(2026, 11, 2), date(2026, 12, 11), 40) == (
        journal.days[0],
        journal.days[-1],
        len(journal.days),
    )


def test_every_action_happens(month: tuple[Store, Journal]) -> None:
    """In a month suppliers do everything that they can do, and hardly anything on Sundays."""
    _, journal = month
    assert set(ACTIONS) == {entry.action for entry in journal}
    by_weekday = [0] * 7
    for day, counts in journal.counts.items():
        by_weekday[day.weekday()] += sum(counts.values())
    assert by_weekday[6] * 5 < min(by_weekday[:5])


def test_suppliers_differ() -> None:
    """Some suppliers do many times as much as others, and careful ones break less."""
    from prodex_sandbox.sample.products.participants import SUPPLIERS
    from prodex_sandbox.simulation.run import activity

    monday = date(2026, 11, 2)
    much = [activity(one.name, monday) for one in SUPPLIERS]
    assert max(much) > 4 * min(much)
    assert much == [activity(one.name, monday) for one in SUPPLIERS]


@pytest.mark.slow
def test_a_correction_leaves_one_defect_less(tmp_path: Path) -> None:
    """What is corrected is right afterwards: the value is that of the sample without its defect."""
    with store_of(tmp_path) as store:
        journal = simulated(store, 60)
        corrected = [entry for entry in journal if entry.action == "corrected"]
        broken = {(entry.product_id, entry.attribute, entry.language): entry for entry in journal}
    planned = {(defect.product_id, defect.defect) for defect in sample.plan(COUNT)}
    made = {(entry.product_id, entry.detail) for entry in journal if entry.action == "broken"}
    assert corrected
    assert broken
    assert set() == {(entry.product_id, entry.detail) for entry in corrected} - planned - made
    assert [] == [entry for entry in corrected if entry.before == entry.after]


@pytest.mark.slow
def test_every_entry_is_seen_by_a_caller() -> None:
    """The last entry about each value of a product is what the service then serves; what was withdrawn is gone."""
    with Sandbox(sample.shared_products(COUNT)) as sandbox:
        before = everything(sandbox.base_url)
        journal = sandbox.simulate(20, 3, ["supplier_loses_pictures@20"])
        after = everything(sandbox.base_url)
        assert list(journal) == list(sandbox.journal)
    last = {(entry.product_id, entry.attribute, entry.language): entry for entry in journal}
    withdrawn = {entry.product_id for entry in journal if entry.action == "withdrawn"}
    added = {entry.product_id for entry in journal if entry.action == "added"}
    assert withdrawn
    assert added
    assert set() == withdrawn & after.keys()
    assert after.keys() == (before.keys() | added) - withdrawn
    seen = {place: entry for place, entry in last.items() if entry.product_id in after and entry.attribute}
    # A whole value that was written later includes its texts.
    whole = {(entry.product_id, entry.attribute) for entry in seen.values() if not entry.language}
    wrong = [
        entry
        for (id_, attribute, language), entry in seen.items()
        if not (language and (id_, attribute) in whole)
        and undated(value_at(after[id_], attribute, language)) != undated(entry.after)
    ]
    assert [] == wrong
    touched = {entry.product_id for entry in journal}
    assert [] == [id_ for id_ in before.keys() & after.keys() - touched if before[id_] != after[id_]]
    assert [] == [id_ for id_ in after.keys() & touched if after[id_] == before.get(id_)]


@pytest.mark.slow
def test_what_nobody_touched_keeps_every_byte(month: tuple[Store, Journal], tmp_path: Path) -> None:
    """Records, views and tags of products that the journal does not name are as they were."""
    store, _ = month
    touched = {key for (key,) in store.rows("SELECT DISTINCT product_key FROM journal")}
    with store_of(tmp_path) as new:
        for sql in (
            "SELECT key, body FROM records",
            "SELECT product_key, * FROM views ORDER BY organization_id",
            "SELECT product_key, * FROM tags ORDER BY organization_id, name",
        ):
            before = [row for row in new.rows(sql) if row[0] not in touched]
            after = [row for row in store.rows(sql) if row[0] <= COUNT and row[0] not in touched]
            assert before == after
            assert before


@pytest.fixture(scope="module")
def without_incident(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], list[Entry]]:
    """Return the records and the journal after two days on which nothing special happens."""
    with store_of(tmp_path_factory.mktemp("without"), FEWER) as store:
        simulated(store, 2)
        return dict(store.rows("SELECT key, body FROM records")), list(read_journal(store))


@pytest.mark.slow
@pytest.mark.parametrize("name", INCIDENTS)
def test_an_incident_does_what_it_says_and_only_that(
    name: str, tmp_path: Path, without_incident: tuple[dict[str, Any], list[Entry]]
) -> None:
    """Beside its incident a day is as it would have been, and the sentence names as many products as were changed."""
    before, plain = without_incident
    with store_of(tmp_path / "with", FEWER) as store:
        journal = simulated(store, 2, 1, f"{name}@2")
        after = dict(store.rows("SELECT key, body FROM records"))
        seen = dict(
            store.rows("SELECT product_key, count(*) FROM views WHERE organization_id = 1 GROUP BY 1")
        )
    (sentence,) = journal.incidents
    its = [entry for entry in journal if entry.incident]
    if name == "updates_stop":
        assert {date(2026, 11, 2)} == {entry.day for entry in journal if not entry.incident}
        assert "All suppliers: nothing is updated from this day on. No product was changed." == sentence
        return
    assert plain == [entry for entry in journal if not entry.incident]
    ids = {entry.product_id for entry in its if entry.gtin}
    assert f" {len(ids):,} product" in sentence
    changed = {
        str(json.loads(body)["id"]) for key, body in after.items() if key not in before or body != before[key]
    }
    assert changed == ids
    records = {str(json.loads(body)["id"]): json.loads(body) for body in after.values()}
    suppliers = {entry.supplier for entry in its if entry.gtin}
    if not INCIDENTS[name].concerns_all:
        assert 1 == len(suppliers)
    theirs = [record for record in records.values() if record["owner"]["name"] in suppliers]
    match name:
        case "supplier_loses_pictures":
            assert not any(record["assets"]["pictures"] for record in theirs)
        case "language_disappears":
            language = sentence.split("'")[1]
            assert [] == [one["id"] for one in theirs if value_at_any(one.get("namePublicLong"), language)]
        case "volume_halves":
            assert len(before) // 2 - 5 <= len(seen) <= len(before) // 2 + 5
        case "bulk_overwrite":
            texts = {json.dumps(record.get("description")) for record in theirs}
            assert 1 == len(texts)
        case "packs_shrink":
            assert all(
                9 == round(10 * float(entry.after[0]["data"]) / entry.before[0]["data"])
                for entry in its
                if entry.gtin and entry.before[0]["data"] >= 10
            )
        case "attribute_emptied":
            (attribute,) = {entry.attribute for entry in its if entry.gtin}
            assert not any(record.get(attribute) for record in theirs)
        case "kinds_reassigned":
            assert 1 == len({json.dumps(record["kind"]) for record in theirs})
        case "duplicates_flood":
            assert len(after) == len(before) + len(ids)
            assert {entry.gtin for entry in its if entry.gtin} <= {
                json.loads(body)["gtin"] for body in before.values()
            }


def value_at_any(items: Any, language: str) -> bool:
    return any(item["expressedIn"]["normalizedCode"] == language for item in items or () if item)


@pytest.mark.slow
def test_an_incident_has_its_day_and_owner(tmp_path: Path) -> None:
    """A day and a supplier can be given, in any case of letters; without, it is the middle day and a large supplier."""
    with store_of(tmp_path) as store:
        journal = simulated(
            store,
            5,
            1,
            "bulk_overwrite@2:biscuiterie tramoy",
            Incident("attribute_emptied"),
            "volume_halves@5:all",
        )
    noted = {entry.incident: entry for entry in journal if entry.action == "incident"}
    assert (2, "Biscuiterie Tramoy") == (
        noted["bulk_overwrite"].day.day - 1,
        noted["bulk_overwrite"].supplier,
    )
    assert 4 == noted["attribute_emptied"].day.day
    assert "All suppliers" == noted["volume_halves"].supplier


@pytest.mark.slow
@each_row(
    ("days", "incident", "message"),
    [
        (0, (), "days is 0; it has to be a whole number from 1 to 3,660"),
        (True, (), "days is True"),
        (2, "picture_loss", "'picture_loss' is not an incident"),
        (2, "volume_halve", "Did you mean volume_halves?"),
        (2, "volume_halves@3", "volume_halves is planned for day 3, and 2 are simulated"),
        (2, "volume_halves@0", "days of a simulation are counted from 1"),
        (2, "volume_halves@x", r"is not written as NAME\[@DAY\]\[:OWNER\]"),
        (2, "volume_halves:Tramoi", "No supplier with products is named 'Tramoi'"),
        (2, "volume_halves:Biscuiterie Tramoi", "Did you mean 'Biscuiterie Tramoy'?"),
    ],
)
def test_what_cannot_be_simulated_is_refused(days: int, incident: str, message: str, tmp_path: Path) -> None:
    """A wrong number, name, day or supplier is named before anything has happened."""
    with store_of(tmp_path, 60) as store:
        before = content(store)
        with pytest.raises(ValueError, match=message):
            simulate_store(store, days, 1, incident, lambda: NOW)
        assert before == content(store)


@pytest.mark.slow
def test_a_refresh_after_each_night_equals_a_fresh_load() -> None:
    """Whoever loads, and refreshes after each of seven nights, has every change, and no product too many."""
    with Sandbox(sample.shared_products(FEWER)) as sandbox:
        key = sandbox.credentials[0]
        service = prodex.connect(
            sandbox.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
        )
        old = prodex.load_products(service, name="nights", progress=False)
        for night in range(1, 8):
            incidents = {3: ["volume_halves"], 5: ["language_disappears"]}.get(night, [])
            journal = sandbox.simulate(1, incidents=incidents)
            # Dates of update alone have to be enough; without sweep, what has gone shows by the counts.
            new = prodex.refresh("nights", service, sweep=False, progress=False)
            difference = prodex.diff(old, new).products
            found = set(difference.loc[difference["change"] != "unchanged", "product_id"])
            assert found <= {entry.product_id for entry in journal}
            # What is sent again unchanged within the second of an earlier night leaves no trace.
            assert found >= {entry.product_id for entry in journal if entry.attribute}
            old = new
        fresh = prodex.load_products(service, name="fresh", progress=False)
        assert not prodex.diff(new, fresh)
        assert sorted(new.arrow("raw")["json"].to_pylist()) == sorted(fresh.arrow("raw")["json"].to_pylist())


@pytest.mark.slow
def test_a_retailers_own_text_stays() -> None:
    """What a retailer has written is not overwritten by what its manufacturer does later; the rest follows it."""
    with Sandbox(sample.shared_products(60)) as sandbox:
        writer = Writer(sandbox.base_url, SHOPKEEPER)
        with writer.log_in().session:
            text = [{"expressedIn": {"code": "fra-FR"}, "data": "Le nôtre"}]
            gtins = [one["gtin"] for one in everything(sandbox.base_url).values()]
            single = sorted(gtin for gtin in gtins if gtins.count(gtin) == 1)
            status = writer.write(*({"gtin": gtin, "description": text} for gtin in single))
            written = [one["gtin"] for one in status["products"] if one["status"] == "SUCCESS"]
            sandbox.simulate(1, incidents=["bulk_overwrite:all", "supplier_loses_pictures:all"])
            for gtin in written:
                stored = writer.stored(gtin)
                assert "Le nôtre" == stored["description"][0]["data"]
                assert not stored["assets"]["pictures"]
    assert len(written) > 30


def test_a_store_of_other_products_lives_too() -> None:
    """Products that are not the sample's get updates and incidents, whatever they lack."""
    records = [{"id": number, "gtin": f"{number:014d}"} for number in range(1, 400)]
    records += [{"gtin": "1", "grossWeight": "x", "assets": [], "kind": 3, "logisticalHierarchies": {}}]
    with Sandbox(records, organizations=[SHOP], labels={}) as sandbox:
        incidents = [f"{name}@30:all" for name in INCIDENTS]
        journal = sandbox.simulate(30, 1, incidents)
        assert len(INCIDENTS) == len(journal.incidents)
        assert {"updated", "delisted", "withdrawn", "incident"} <= {entry.action for entry in journal}


def test_what_a_supplier_typed_moves_no_cursor() -> None:
    """Control characters of a name or a GTIN are escaped where a journal is printed, and kept in its entries."""
    record = {"id": 1, "gtin": "\x1b[2J1\n2", "owner": {"name": "Evil\x1b[2J\u202e Ltd"}}
    with Sandbox([record], organizations=[SHOP], labels={}) as sandbox:
        journal = sandbox.simulate(1, incidents=["volume_halves"])
    assert "\x1b" not in repr(journal)
    assert "\u202e" not in repr(journal)
    assert 2 == len(repr(journal).splitlines())
    assert record["gtin"] in {entry.gtin for entry in journal}


def test_an_empty_store_has_quiet_days() -> None:
    """Where nobody has products, nothing happens, and an incident says so; the days are those of the sample."""
    with Sandbox([], organizations=[SHOP], labels={}) as sandbox:
        journal = sandbox.simulate(1, incidents=list(INCIDENTS))
        assert [date(2026, 11, 2)] == list(journal.days)
        assert len(INCIDENTS) == sum(text.endswith("No product was changed.") for text in journal.incidents)
        assert 0 == sandbox.reset()


def test_a_journal_is_a_table_and_a_text(month: tuple[Store, Journal]) -> None:
    """A journal has a row for each value, and prints one line for each day."""
    _, journal = month
    frame = journal.to_frame()
    assert len(journal) == len(frame)
    assert ["day", "supplier", "action", "detail", "incident", "gtin"] == list(frame.columns)[:6]
    assert "datetime64" in str(frame["day"].dtype)
    lines = repr(journal).splitlines()
    assert 40 == len(lines)
    assert lines[0].startswith("Mon 2026-11-02  ")
    assert ["day"] == list(Journal([]).to_frame().columns)[:1]


@pytest.mark.slow
def test_a_reset_gives_the_beginning_back(tmp_path: Path) -> None:
    """After a reset every table is as it was filled, and the same days tell the same story again."""
    with store_of(tmp_path) as store:
        before = content(store)
        story = simulated(store, 20, 1, "duplicates_flood", "volume_halves")
        told = content(store)["records"]
        assert reset_store(store) > 100
        assert before == content(store)
        assert 0 == reset_store(store)
        assert list(story) == list(simulated(store, 20, 1, "duplicates_flood", "volume_halves"))
        assert told == content(store)["records"]


@pytest.mark.slow
def test_a_reset_takes_back_what_anybody_wrote(tmp_path: Path) -> None:
    """Upserts of retailers and manufacturers, changes, removals, new products and owners and scenarios are undone."""
    with Sandbox(sample.shared_products(60), home=tmp_path) as sandbox:
        store = Store(tmp_path / "store.sqlite")
        before = content(store)
        seen = everything(sandbox.base_url)
        gtins = [one["gtin"] for one in seen.values()]
        gtin = next(gtin for gtin in gtins if gtins.count(gtin) == 1)
        maker = next(one for one in sandbox.organizations if one.type == 1)
        text = [{"expressedIn": {"code": "fra-FR"}, "data": "Neu"}]
        for who, product in (
            (SHOPKEEPER, {"gtin": gtin, "description": text}),
            (maker, {"gtin": "03036811359935", "nameLegal": text}),
        ):
            writer = Writer(sandbox.base_url, who)
            with writer.log_in().session:
                assert "SUCCESS" == writer.write(product)["status"]
        sandbox.change([{"gtin": "12345670", "owner": {"name": "A new owner"}}, {"gtin": gtins[-1]}])
        sandbox.remove([gtins[-2]])
        sandbox.simulate(5)
        assert before != content(store)
        sandbox.reset()
        assert before == content(store)
        assert seen == everything(sandbox.base_url)
        store.close()


@pytest.mark.slow
def test_single_products_are_taken_back(tmp_path: Path) -> None:
    """Products named by GTIN are what they were but for the date, which a refresh finds; all others stay."""
    with Sandbox(sample.shared_products(60), home=tmp_path) as sandbox:
        before = everything(sandbox.base_url)
        gtins = [one["gtin"] for one in before.values()]
        first, second = [gtin for gtin in gtins if gtins.count(gtin) == 1][:2]
        writer = Writer(sandbox.base_url, SHOPKEEPER)
        with writer.log_in().session:
            text = [{"expressedIn": {"code": "fra-FR"}, "data": "Neu"}]
            assert (
                "SUCCESS"
                == writer.write(*({"gtin": one, "nameLegal": text} for one in (first, second)))["status"]
            )
            written = int(datetime.now(UTC).timestamp())
            assert 1 == sandbox.reset(first.lstrip("0"))
            assert 0 == sandbox.reset([gtins[-1]])
            assert first in writer.gtins(updated_at_from=written - 2)
            (id_,) = (id_ for id_, one in before.items() if one["gtin"] == first)
            old, new = before[id_], everything(sandbox.base_url)[id_]
            assert old["updatedAt"] < new["updatedAt"]
            assert old == new | {"updatedAt": old["updatedAt"]}
            assert "Neu" == writer.stored(second)["nameLegal"][0]["data"]
        with pytest.raises(LookupError, match="No product of the sandbox has, or had, the GTIN '5'"):
            sandbox.reset([second, "5"])
        assert second in [one["gtin"] for one in everything(sandbox.base_url).values()]


@pytest.mark.slow
def test_an_audit_finds_what_was_broken_and_not_what_was_corrected() -> None:
    """Rules of the client, written by others, agree with the journal about the defects that they know."""
    rules = {
        "placeholder_text": "texts_without_placeholders",
        "mojibake": "texts_without_mojibake",
        "html_in_text": "texts_without_markup",
        "missing_brand": "has_brand",
        "missing_net_content": "has_net_content",
        "no_front_packshot": "has_front_packshot",
        "no_picture": "has_picture",
    }
    with Sandbox(sample.shared_products(COUNT)) as sandbox:
        journal = sandbox.simulate(200)
        records = everything(sandbox.base_url)
    audit = prodex.audit(prodex.flatten(records.values()), {"checks": {rule: {} for rule in rules.values()}})
    failing = {name: set(audit.failures(rule=rule)["product_id"]) for name, rule in rules.items()}
    last: dict[tuple[str, str], str] = {}
    for entry in journal:
        if entry.detail in rules:
            last[entry.product_id, entry.detail] = entry.action
        elif entry.attribute:
            # A new description, or another picture, may put right what was broken before.
            last = {place: action for place, action in last.items() if place[0] != entry.product_id}
    broken = [place for place, action in last.items() if action == "broken" and place[0] in records]
    corrected = [place for place, action in last.items() if action == "corrected" and place[0] in records]
    assert len(broken) > 3
    assert len(corrected) > 5
    assert [] == [(id_, detail) for id_, detail in broken if id_ not in failing[detail]]
    assert [] == [(id_, detail) for id_, detail in corrected if id_ in failing[detail]]
