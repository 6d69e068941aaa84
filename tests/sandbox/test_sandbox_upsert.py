"""What an upsert changes in the store, what it leaves alone, and what it refuses of a product."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from small_exchange import (
    BREAD,
    BUTTER,
    CIDER,
    DAIRY,
    ENGLISH,
    FRENCH,
    LABELS,
    MARKET,
    MILL,
    PALLET,
    PRODUCTS,
    RECORDS,
    SHOP,
    text,
)
from tests.cases import each_row
from writer import Writer, messages

from prodex.sandbox import Sandbox
from prodex_sandbox.records.model import Organization, SharedProduct, View

WriterOf = Callable[[Organization], Writer]
NEW = "03037494555003"
FAR_AHEAD = "2999-01-01T00:00:00"


@pytest.fixture
def writer_of() -> Iterator[WriterOf]:
    """Write as anybody to a small exchange of one's own."""
    yield from serve()


@pytest.fixture(scope="module")
def common_writer_of() -> Iterator[WriterOf]:
    """Write as anybody to a small exchange on which others are refused too."""
    yield from serve()


def serve() -> Iterator[WriterOf]:
    writers: dict[int, Writer] = {}
    ahead = SharedProduct(
        {"id": 9, "gtin": "00000000000017", "updatedAt": FAR_AHEAD}, MILL.id, (View(SHOP.id),)
    )
    with Sandbox([*PRODUCTS, ahead], organizations=[SHOP, MARKET, MILL, DAIRY], labels=LABELS) as sandbox:

        def writer_of(organization: Organization) -> Writer:
            if organization.id not in writers:
                writers[organization.id] = Writer(sandbox.base_url, organization)
                writers[organization.id].log_in()
            return writers[organization.id]

        yield writer_of
        for writer in writers.values():
            writer.session.close()


def members(writer: Writer, gtin: str) -> dict[str, bytes]:
    """Return each attribute of a product as the bytes it is served as."""
    content = writer.search(filter_gtins_in=[gtin]).content
    envelope = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    (product,) = msgspec.json.decode(envelope["data"], type=list[dict[str, msgspec.Raw]])
    return {name: bytes(raw) for name, raw in product.items()}


def in_language(code: str, data: str = "x") -> list[dict[str, Any]]:
    return [{"expressedIn": {"code": code}, "data": data}]


def in_unit(code: str) -> list[dict[str, Any]]:
    return [{"expressedIn": {"code": code}, "data": 1.5}]


def named(name: str = "New") -> list[dict[str, Any]]:
    return in_language("fra-FR", name)


def test_one_changed_text_leaves_every_other_attribute_byte_for_byte(writer_of: WriterOf) -> None:
    """A write changes the bytes of the attribute that was sent and of updatedAt, and no others."""
    mill, shop = writer_of(MILL), writer_of(SHOP)
    before = members(shop, BREAD)
    record = mill.write({"gtin": BREAD, "description": [text("Au levain"), text("Sourdough", ENGLISH)]})
    after = members(shop, BREAD)
    assert "SUCCESS" == record["status"]
    assert {"description", "updatedAt"} == {name for name in after if after[name] != before[name]}
    assert before.keys() == after.keys()
    assert [text("Au levain"), text("Sourdough", ENGLISH)] == json.loads(after["description"])


def test_a_present_array_replaces_the_whole_array(writer_of: WriterOf) -> None:
    """An array of two languages that is replaced by one of one language has one language."""
    mill = writer_of(MILL)
    mill.write({"gtin": BREAD, "namePublicLong": [text("Pain")]})
    assert [text("Pain")] == mill.stored(BREAD)["namePublicLong"]


def test_null_deletes_and_an_empty_array_is_kept(writer_of: WriterOf) -> None:
    """null deletes an attribute, and an empty array is stored as such."""
    mill = writer_of(MILL)
    mill.write({"gtin": BREAD, "composition": None, "synonyms": [], "neverThere": None})
    stored = mill.stored(BREAD)
    assert "composition" not in stored
    assert "neverThere" not in stored
    assert [] == stored["synonyms"]


def test_updated_at_moves_on_at_every_write(writer_of: WriterOf) -> None:
    """updatedAt is the second of the last write, by local time, and never goes back, even where it is of the future."""
    mill = writer_of(MILL)
    start = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    seen = [mill.stored(BREAD)["updatedAt"]]
    for number in range(3):
        mill.write({"gtin": BREAD, "lifeCycle": number})
        seen.append(mill.stored(BREAD)["updatedAt"])
    end = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    assert sorted(seen) == seen
    assert seen[0] < start <= seen[1] <= seen[-1] <= end
    mill.write({"gtin": "00000000000017", "lifeCycle": 1})
    assert "2999-01-01T00:00:00" == mill.stored("00000000000017")["updatedAt"]


def test_a_write_is_found_by_its_time(writer_of: WriterOf) -> None:
    """updated_at_from finds what was written since."""
    mill = writer_of(MILL)
    since = int(datetime.now(UTC).timestamp())
    assert ["00000000000017"] == mill.gtins(updated_at_from=since)
    mill.write({"gtin": PALLET, "namePublicLong": [text("Palette")]})
    assert [PALLET, "00000000000017"] == mill.gtins(updated_at_from=since)


def test_other_pictures_move_the_date_of_pictures(writer_of: WriterOf) -> None:
    """Pictures replace pictures, documents stay, and the date of pictures and the packshot filters follow."""
    mill, shop = writer_of(MILL), writer_of(SHOP)
    before = shop.stored(BREAD)["assets"]
    mill.write({"gtin": BREAD, "assets": {"pictures": before["pictures"]}})
    assert before == shop.stored(BREAD)["assets"]
    pictures = [{"url": "https://pictures.test/new.jpg", "isPackshot": False}]
    mill.write({"gtin": BREAD, "assets": {"pictures": pictures, "videos": None}})
    stored = shop.stored(BREAD)
    updated_at = stored["updatedAt"]
    wanted = {
        "pictures": pictures,
        "documents": before["documents"],
        "lastUpdatedAt": {"pictures": updated_at},
    }
    assert wanted == stored["assets"]
    since = int(datetime.fromisoformat(f"{updated_at}Z").timestamp() * 1000)
    assert [BREAD] == shop.gtins(filter_pictures_last_updated_at_from=since)
    assert [] == shop.gtins(filter_has_packshot=True)


def test_assets_that_are_null_are_gone(writer_of: WriterOf) -> None:
    """Null deletes assets as a whole, but for the date of the change; `document` is another name of documents."""
    mill = writer_of(MILL)
    mill.write({"gtin": BREAD, "assets": {"document": [{"fileName": "b.pdf"}]}})
    assert [{"fileName": "b.pdf"}] == mill.stored(BREAD)["assets"]["documents"]
    mill.write({"gtin": BREAD, "assets": None})
    stored = mill.stored(BREAD)
    assert {"lastUpdatedAt": {"pictures": stored["updatedAt"]}} == stored["assets"]


def test_text_search_and_unit_filters_see_what_was_written(writer_of: WriterOf) -> None:
    """Words that were written are found, words that were replaced no longer."""
    mill, shop = writer_of(MILL), writer_of(SHOP)

    def find(word: str) -> list[str]:
        return shop.gtins(advanced_search={"must": [{"query": word, "fields": ["namePublicLong.data"]}]})

    assert ([BREAD], []) == (find("campagne"), find("baguette"))
    mill.write({"gtin": BREAD, "namePublicLong": [text("Baguette")]})
    assert ([], [BREAD]) == (find("campagne"), find("baguette"))


def test_an_unknown_gtin_creates_a_draft_of_the_manufacturers_own(writer_of: WriterOf) -> None:
    """A manufacturer's new product has what the exchange sets, and nobody else sees it."""
    mill, shop = writer_of(MILL), writer_of(SHOP)
    record = mill.write({"gtin": NEW, "namePublicLong": named(), "isConsumerUnit": True})
    stored = mill.stored(NEW)
    assert "SUCCESS" == record["status"]
    assert (NEW, 3, 2) == (stored["gtin"], stored["_jsonVersion"], stored["manufacturerSharingStatus"])
    assert {"type": 1, "name": "Mill"} == stored["owner"]
    # Updated when the transaction ends, which may be in the next second.
    assert stored["createdAt"] <= stored["updatedAt"]
    assert stored["id"] > max(record["id"] for record in RECORDS.values())
    assert stored["uuid"]
    assert [text("New", FRENCH)] == stored["namePublicLong"]
    assert [] == shop.gtins(filter_gtins_in=[NEW])
    mill.write({"gtin": NEW, "isConsumerUnit": False})
    assert [NEW] == mill.gtins(filter_gtins_in=[NEW])


def test_a_manufacturer_never_writes_on_anothers_product(writer_of: WriterOf) -> None:
    """The same GTIN sent by another manufacturer is a product of its own."""
    dairy, mill = writer_of(DAIRY), writer_of(MILL)
    before = mill.stored(BREAD)
    dairy.write({"gtin": BREAD, "namePublicLong": named("Brioche")})
    assert before == mill.stored(BREAD)
    assert "Brioche" == dairy.stored(BREAD)["namePublicLong"][0]["data"]


def test_what_a_retailer_writes_only_it_sees(writer_of: WriterOf) -> None:
    """Only the retailer that wrote a text sees it instead of the manufacturer's; tags and statuses stay."""
    shop, market, mill = writer_of(SHOP), writer_of(MARKET), writer_of(MILL)
    others = [market.stored(BREAD), mill.stored(BREAD)]
    before = members(shop, BREAD)
    assert "SUCCESS" == shop.write({"gtin": BREAD, "description": [text("À nous")]})["status"]
    after = members(shop, BREAD)
    assert {"description", "updatedAt"} == {name for name in after if after[name] != before[name]}
    assert others == [market.stored(BREAD), mill.stored(BREAD)]
    assert [BREAD] == shop.gtins(filter_tags_in=["exportable"])
    assert [BREAD, BUTTER, CIDER, PALLET, "00000000000017"] == shop.gtins()
    search = {"must": [{"query": "nous", "fields": ["description.data"]}]}
    assert ([BREAD], []) == (shop.gtins(advanced_search=search), market.gtins(advanced_search=search))


def test_a_manufacturers_change_reaches_a_retailer_but_for_what_it_wrote(writer_of: WriterOf) -> None:
    """After a retailer wrote a description, the manufacturer's other changes still reach it."""
    shop, market, mill = writer_of(SHOP), writer_of(MARKET), writer_of(MILL)
    shop.write({"gtin": BREAD, "description": [text("À nous")], "assets": {"videos": []}})
    shop.write({"gtin": BREAD, "isNomadic": True})
    video = [{"url": "https://videos.test/1"}]
    mill.write(
        {
            "gtin": BREAD,
            "description": [text("À tous")],
            "lifeCycle": 7,
            "assets": {"videos": video},
            "isNomadic": False,
        }
    )
    ours, theirs = shop.stored(BREAD), market.stored(BREAD)
    assert ("À nous", 7, [], True) == (
        ours["description"][0]["data"],
        ours["lifeCycle"],
        ours["assets"]["videos"],
        ours["isNomadic"],
    )
    assert ("À tous", 7, video, False) == (
        theirs["description"][0]["data"],
        theirs["lifeCycle"],
        theirs["assets"]["videos"],
        theirs["isNomadic"],
    )


def test_a_retailer_writes_only_on_what_it_sees(writer_of: WriterOf) -> None:
    """A GTIN that is not shared with a retailer is refused, whether it exists or not."""
    market = writer_of(MARKET)
    record = market.write(
        {"gtin": BUTTER, "namePublicLong": named()}, {"gtin": NEW, "namePublicLong": named()}
    )
    assert "CONTAINS_ERRORS" == record["status"]
    assert [
        f"product 1: gtin {BUTTER} is not shared with Market; only manufacturers create products",
        f"product 2: gtin {NEW} is not shared with Market; only manufacturers create products",
    ] == messages(record)


def test_a_record_goes_back_as_it_came(writer_of: WriterOf) -> None:
    """A whole record is accepted as it was read, and changes only updatedAt; null deletes."""
    for writer in (writer_of(SHOP), writer_of(MARKET), writer_of(MILL)):
        before = writer.stored(BREAD)
        assert "SUCCESS" == writer.write(before)["status"]
        filled = {name: value for name, value in before.items() if value is not None}
        assert filled == writer.stored(BREAD) | {"updatedAt": before["updatedAt"]}


@each_row(
    ("member", "words"),
    [
        (
            {"updatedAt": "2020-01-01T00:00:00"},
            'updatedAt is set by the exchange; leave it out, or send it as it is: "2026',
        ),
        ({"id": "1"}, "id is set by the exchange; leave it out, or send it as it is: 1"),
        ({"uuid": None}, "uuid is set by the exchange"),
        ({"hasTags": []}, "hasTags is set by the exchange"),
        ({"owner": {"name": "Me"}}, "owner is set by the exchange; leave it out, or send it as it is: null"),
        ({"assets": {"lastUpdatedAt": {}}}, "assets.lastUpdatedAt is set by the exchange"),
    ],
)
def test_what_the_exchange_sets_cannot_be_written(
    common_writer_of: WriterOf, member: dict[str, Any], words: str
) -> None:
    """An attribute that the exchange sets is refused unless it is sent as it is stored."""
    shop = common_writer_of(SHOP)
    before = shop.stored(BREAD)
    record = shop.write({"gtin": BREAD, **member})
    assert words in messages(record)[0]
    assert before == shop.stored(BREAD)


def test_a_new_product_cannot_bring_what_the_exchange_sets(common_writer_of: WriterOf) -> None:
    """A new product with an id of its own is refused."""
    record = common_writer_of(DAIRY).write({"gtin": NEW, "namePublicLong": named(), "id": 5})
    assert ["product 1: id is set by the exchange; leave it out of a new product"] == messages(record)


@each_row(
    ("gtin", "words"),
    [
        ("030368113599351", "has 15 digits; a GTIN has 8, 12, 13 or 14"),
        ("03037494555004", "ends in 4; its check digit is 3"),
        ("0303749455500X", "is not made of digits"),
        ("٠٣٠٣٧٤٩٤٥٥٥٠٠٣", "is not made of digits"),
        ("", "gtin is empty"),
        (None, "gtin is missing"),
        (3037494555003, "gtin is 3037494555003, not a string"),
        (["03037494555003"], "not a string"),
    ],
)
def test_a_gtin_that_is_none_is_refused(common_writer_of: WriterOf, gtin: Any, words: str) -> None:
    """A product whose GTIN is missing or wrong is refused with what is wrong; its neighbours are imported."""
    mill = common_writer_of(MILL)
    record = mill.write({"gtin": gtin, "namePublicLong": named()}, {"gtin": NEW, "namePublicLong": named()})
    assert words in messages(record)[0]
    assert ["ERROR", "SUCCESS"] == [product["status"] for product in record["products"]]
    assert (gtin if isinstance(gtin, str) else "") == record["products"][0]["gtin"]


@pytest.mark.parametrize("sent", ["3037494555003", "03037494555003"])
def test_a_gtin_is_kept_as_14_digits(common_writer_of: WriterOf, sent: str) -> None:
    """A shorter GTIN is padded, and is the same product the next time."""
    mill = common_writer_of(MILL)
    for _ in range(2):
        assert [NEW] == [
            one["gtin"] for one in mill.write({"gtin": sent, "namePublicLong": named()})["products"]
        ]
    assert [NEW] == mill.gtins(filter_gtins_in=[NEW])


def test_a_product_needs_a_name(writer_of: WriterOf) -> None:
    """A product without a name is not created, and the last name is not deleted; one without may be written on."""
    mill = writer_of(MILL)
    no_name = "the product has no name; it needs a text in one of nameLegal, namePublicLong, namePublicShort"
    for product in (
        {"gtin": NEW},
        {"gtin": NEW, "nameLegal": [], "namePublicShort": None},
        {"gtin": NEW, "nameLegal": named("  ")},
        {"gtin": BREAD, "namePublicLong": None},
    ):
        assert [f"product 1: {no_name}"] == messages(mill.write(product))
    assert "SUCCESS" == mill.write({"gtin": PALLET, "lifeCycle": 2})["status"]
    assert "SUCCESS" == mill.write({"gtin": BREAD, "namePublicLong": None, "nameLegal": named()})["status"]


@each_row(
    ("member", "words"),
    [
        ({"description": in_language("fra-XX")}, "description: 'fra-XX' is not in the referential languages"),
        ({"netContent": in_unit("STONE")}, "'STONE' is not in the referential netcontents"),
        ({"grossWeight": in_unit("MLT")}, "'MLT' is not in the referential weights"),
        ({"height": in_unit("ELL")}, "'ELL' is not in the referential units"),
        ({"warnings": [{"text": in_language("x")}]}, "warnings: 'x' is not in the referential languages"),
        ({"brand": {"code": "ACME"}}, "brand: 'ACME' is not in the referential brands"),
        ({"kind": {"code": 532}}, "kind: '532' is not in the referential kinds"),
        ({"typePackaging": {"code": "SACK"}}, "typePackaging: 'SACK' is not in the referential packagings"),
        ({"brand": "ACME"}, 'brand is "ACME", not an object with a code'),
        ({"isConsumerUnit": "TRUE"}, 'isConsumerUnit is "TRUE", not true, false or null'),
        ({"lifeCycle": 1.5}, "lifeCycle is 1.5, not an integer"),
        ({"nameLegal": "Pain"}, 'nameLegal is "Pain", not an array of localized texts'),
        ({"nameLegal": [{"data": "Pain"}]}, "nameLegal[0] has no language"),
        ({"nameLegal": [text("Pain") | {"data": 5}]}, "nameLegal[0].data is 5, not a text"),
        ({"description": [text("x" * 20_001)]}, "a text of 20,001 characters; at most 20,000 are allowed"),
        ({"assets": []}, "assets is not an object"),
        ({"assets": {"pictures": {}}}, "assets.pictures is {}, not an array of pictures"),
        ({"assets": {"pictures": [{"isPackshot": True}]}}, "assets.pictures[0] has no url"),
        ({"assets": {"pictures": [{"url": "x", "isPackshot": 1}]}}, "isPackshot is 1, not true, false or null"),
    ],
)  # fmt: skip
def test_a_value_that_does_not_fit_is_named_and_nothing_of_the_product_is_imported(
    common_writer_of: WriterOf, member: dict[str, Any], words: str
) -> None:
    """A wrong value, or one outside its referential, is the product's error and names both; the next is imported."""
    mill = common_writer_of(MILL)
    before = mill.stored(BREAD)
    record = mill.write({"gtin": BREAD, "lifeCycle": 9, **member}, {"gtin": PALLET, "lifeCycle": 9})
    assert "CONTAINS_ERRORS" == record["status"]
    assert words in messages(record)[0]
    assert before == mill.stored(BREAD)
    assert 9 == mill.stored(PALLET)["lifeCycle"]


@pytest.mark.parametrize("number", [b"1e999", b"-1e999"])
def test_a_number_out_of_range_is_refused(common_writer_of: WriterOf, number: bytes) -> None:
    """A number that no double holds is the product's error."""
    mill = common_writer_of(MILL)
    record = mill.wait(mill.send(b'{"data": [{"gtin": "%b", "size": %b}]}' % (BREAD.encode(), number)))
    assert ["product 1: size holds a number that is out of range"] == messages(record)


def test_a_code_that_comes_alone_is_completed(writer_of: WriterOf) -> None:
    """What the exchange knows of a code is stored with it; what comes with more stays as it was sent."""
    mill = writer_of(MILL)
    mill.write(
        {
            "gtin": PALLET,
            "namePublicLong": named(),
            "brand": {"code": "APPLE"},
            "kind": {"code": "530", "label": "My butter"},
            "netWeight": [{"expressedIn": {"code": "KGM"}, "data": 2}],
        }
    )
    stored = mill.stored(PALLET)
    assert [text("New", FRENCH)] == stored["namePublicLong"]
    assert RECORDS[BREAD]["brand"] == stored["brand"]
    assert {"code": "530", "label": "My butter"} == stored["kind"]
    assert [{"expressedIn": {"code": "KGM", "label": "Kilogram"}, "data": 2}] == stored["netWeight"]


def test_products_of_one_payload_are_written_in_their_order(writer_of: WriterOf) -> None:
    """A GTIN that comes twice is written twice, the second over the first."""
    mill = writer_of(MILL)
    record = mill.write(
        {"gtin": NEW, "namePublicLong": named("One"), "lifeCycle": 1},
        {"gtin": NEW, "namePublicLong": named("Two")},
    )
    assert 2 == record["count"]
    stored = mill.stored(NEW)
    assert ("Two", 1) == (stored["namePublicLong"][0]["data"], stored["lifeCycle"])


def test_without_a_single_brand_every_brand_is_taken() -> None:
    """A referential without a single known code accepts every value."""
    with Sandbox([], organizations=[MILL], labels={}) as sandbox:
        mill = Writer(sandbox.base_url, MILL)
        with mill.session:
            mill.log_in()
            assert (
                "SUCCESS"
                == mill.write({"gtin": NEW, "nameLegal": named(), "brand": {"code": "ACME"}})["status"]
            )
            assert {"code": "ACME"} == mill.stored(NEW)["brand"]
