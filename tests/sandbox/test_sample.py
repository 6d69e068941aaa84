"""The sample catalogue: what is true of every product that is served from it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from prodex_sandbox.records.model import PRODUCT_STATUSES, OrganizationType, SharedProduct, SharingStatus
from prodex_sandbox.sample import LABELS, organizations, plan, shared_products
from prodex_sandbox.sample.__main__ import main
from prodex_sandbox.sample.products.vocabulary import INGREDIENTS, KINDS, LANGUAGES, PHRASES, VARIANTS

pytestmark = pytest.mark.xdist_group("sample")

COUNT = 3_000
COMMITTED = Path(__file__).parents[2] / "data" / "sample"
PAIRS = {"fr": "fra-FR", "en": "eng-GB", "de": "deu-DE", "es": "spa-ES", "nl": "nld-NL"}


@pytest.fixture(scope="module")
def products() -> list[SharedProduct]:
    """The beginning of the sample."""
    return list(shared_products(COUNT))


@pytest.fixture(scope="module")
def clean(products) -> list[dict]:
    """Return the records without a planted defect."""
    spoiled = {defect.product_id for defect in plan(COUNT)}
    return [each.record for each in products if str(each.record["id"]) not in spoiled]


def walk(value, path=()):
    """Yield every object of a record with the path of keys to it."""
    if isinstance(value, dict):
        yield path, value
        for key, item in value.items():
            yield from walk(item, (*path, key))
    elif isinstance(value, list):
        for item in value:
            yield from walk(item, path)


def as_bytes(count: int, seed: int = 1) -> bytes:
    return b"\n".join(
        json.dumps([each.record, each.owner_id, [str(view) for view in each.views]]).encode()
        for each in shared_products(count, seed)
    )


# The same everywhere


def test_another_process_makes_the_same_bytes() -> None:
    """Neither the hash seed of a process nor what was generated before changes a byte."""
    program = "import sys; from tests.sandbox.test_sample import as_bytes; sys.stdout.buffer.write(as_bytes(300, 7))"
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONHASHSEED": "4711"},
    )
    assert as_bytes(300, seed=7) == run.stdout


def test_another_seed_makes_another_catalogue() -> None:
    """Another seed gives another catalogue, the same seed the same one."""
    assert as_bytes(5, seed=1) != as_bytes(5, seed=2)


def test_a_smaller_catalogue_is_the_beginning_of_a_larger_one(products) -> None:
    """A smaller catalogue is the beginning of a larger one, except for its last family, which has to fit."""
    smaller = [each.record for each in shared_products(500)]
    assert smaller[:495] == [each.record for each in products[:495]]


def test_the_count_is_exact() -> None:
    """The catalogue has exactly as many products as were asked for, including none."""
    assert [0, 1, 7, 203] == [len(list(shared_products(count))) for count in (0, 1, 7, 203)]


def test_the_committed_files_are_what_the_generator_writes(tmp_path) -> None:
    """The files in `data/sample` are what the command in its README writes."""
    main(["--out", str(tmp_path)])
    for name in ("products.json", "plan.json"):
        assert (COMMITTED / name).read_text("utf-8") == (tmp_path / name).read_text("utf-8")


def test_the_committed_products_are_one_reply_of_the_service() -> None:
    """The file can be read as if the service had answered."""
    reply = json.loads((COMMITTED / "products.json").read_text("utf-8"))
    assert (200, 200, 0) == (reply["totalResults"], len(reply["data"]), reply["offset"])


# Identity


def test_ids_uuids_and_clean_gtins_are_unique(clean) -> None:
    """No two products share an identifier that has to be unique."""
    for name in ("id", "uuid", "gtin"):
        assert len(clean) == len({record[name] for record in clean})


def test_gtins_have_14_digits_and_the_check_digit_of_gs1(clean) -> None:
    """Weighted 1 and 3 in turn from the right, the digits of each GTIN sum to a multiple of ten."""
    for record in clean:
        digits = [int(digit) for digit in record["gtin"]]
        assert 14 == len(digits)
        assert 0 == (sum(digits[-1::-2]) + 3 * sum(digits[-2::-2])) % 10


def test_gtins_of_8_12_13_and_14_digits_are_all_there(clean) -> None:
    """There are leading zeros of every length, and outer units have indicators."""
    lengths = Counter(len(record["gtin"].lstrip("0")) for record in clean)
    assert {8, 12, 13, 14} == set(lengths)


def test_files_have_checksums_of_their_own(clean) -> None:
    """No two pictures or renditions of clean products share a crc32."""
    sums = [value["crc32"] for record in clean for _, value in walk(record["assets"]) if "crc32" in value]
    assert len(sums) == len(set(sums))


# Variety


def test_there_are_sixty_kinds_and_ninety_brands_of_forty_suppliers(products) -> None:
    """The catalogue has many kinds, brands, markets and languages."""
    kinds = {str(record["kind"]["code"]) for each in products if (record := each.record).get("kind")}
    brands = {str(record["brand"]["code"]) for each in products if (record := each.record).get("brand")}
    assert len(kinds) >= 60
    # A planted company in place of the brand has a code of its own.
    brands = {code for code in brands if not code.endswith("_COMPANY")}
    assert (90, 40) == (len(brands), len({each.owner_id for each in products}))


def test_every_code_is_a_string(products) -> None:
    """Codes are strings, as the specification says; those of some brands and kinds are made of digits alone."""
    digits = set()
    for each in products:
        for path, value in walk(each.record):
            if isinstance(value, dict) and "code" in value:
                assert isinstance(value["code"], str), path
                digits |= {path[0]} if path and value["code"].isdigit() else set()
    assert {"brand", "kind"} <= digits


def test_no_blank_is_of_another_kind_than_documented(products) -> None:
    """An attribute without data is null or an empty array, and an empty text or object only where it was planted."""
    blanks = [
        (path, value)
        for each in products
        for path, holder in walk(each.record)
        if isinstance(holder, dict)
        for value in holder.values()
        if value in ("", {}) and isinstance(value, str | dict)
    ]
    assert [] == blanks


def test_every_packaging_is_a_product_of_its_own(products) -> None:
    """The catalogue holds single units, packs, cases and pallets."""
    packaging = Counter(each.record["typePackaging"]["code"] for each in products)
    assert {"EACH", "PACK", "CASE", "PALLET"} == set(packaging)
    assert min(packaging.values()) > 100


def test_empty_attributes_come_as_null_empty_and_absent(clean) -> None:
    """The same attribute is null here, empty there, and missing elsewhere."""
    shown = {
        json.dumps(record.get("isLabeledBy", "absent"))[:8] for record in clean if record["isConsumerUnit"]
    }
    assert {"null", "[]", '"absent"'} <= shown


def test_legal_oddities_are_there(products) -> None:
    """Some records have an object for a list, a null in a list, huge integers, right-to-left text or deep nesting."""
    records = [each.record for each in products]
    assert any(isinstance(record.get("contact"), dict) for record in records)
    assert any(
        value[:1] == [None] for record in records for value in record.values() if isinstance(value, list)
    )
    assert any(
        record["xLegacyReference"]["hash"] > 2**63 for record in records if "xLegacyReference" in record
    )
    assert any("شاي" in record["xImporterNote"]["text"] for record in records if "xImporterNote" in record)
    assert any(len(path) >= 12 for record in records for path, _ in walk(record.get("xNested")))
    assert {250, 0.5, 1.0} <= {
        record["netContent"][0]["data"] for record in records if record.get("netContent")
    }


def test_many_products_were_updated_in_the_same_second(products) -> None:
    """Update times have ties, as after an import."""
    ties = Counter(each.record["updatedAt"] for each in products)
    assert sum(count for count in ties.values() if count > 1) > COUNT / 3


def test_exactly_one_product_is_hostile(products) -> None:
    """Exactly one product has markup and formulas in its texts."""
    hostile = [each.record["id"] for each in products if "onerror" in json.dumps(each.record)]
    assert [int(defect.product_id) for defect in plan(COUNT) if defect.defect == "hostile_strings"] == hostile


def test_both_shapes_of_hierarchies_come_up(products) -> None:
    """Suppliers send flat nodes or nodes with `version`, never both."""
    shapes: dict[str, set[bool]] = {}
    for each in products:
        for hierarchy in each.record["logisticalHierarchies"]:
            shapes.setdefault(each.record["owner"]["name"], set()).add("version" in hierarchy)
    assert {True, False} == set.union(*shapes.values())
    assert {1} == {len(found) for found in shapes.values()}


# Agreement


def test_active_listings_stand_among_the_sharing_units(products) -> None:
    """A hierarchy is a sharing unit exactly when its listing is active."""
    for each in products:
        active = [tree["gtin"] for tree in each.record["logisticalHierarchies"] if tree["activeListing"]]
        assert active == [tree["gtin"] for tree in each.record["sharingUnits"]]


def test_a_product_agrees_with_the_hierarchies_that_show_it(products) -> None:
    """Flags, weights and sizes of a node are those of the product with its uuid."""
    by_uuid = {each.record["uuid"]: each.record for each in products}
    compared = 0
    for each in products:
        for _, node in walk(each.record["logisticalHierarchies"]):
            record = by_uuid.get(node.get("uuid"))
            facts = node.get("version", node)
            if record is not None and "typePackaging" in facts:
                compared += 1
                for name in ("isConsumerUnit", "isDespatchUnit", "isOrderableUnit", "grossWeight", "height"):
                    assert record[name] == facts[name]
    assert compared > COUNT


def test_texts_come_in_the_languages_that_the_product_declares(clean) -> None:
    """Every localized attribute has exactly the product's languages, with the wire's codes."""
    for record in clean:
        declared = {entity["code"] for entity in record["expressedIn"][0]["presentEntities"]}
        for path, value in walk(record):
            if isinstance(value.get("data"), str):
                assert PAIRS[value["expressedIn"]["normalizedCode"]] == value["expressedIn"]["code"]
                assert value["expressedIn"]["code"] in declared, path
        assert declared == {item["expressedIn"]["code"] for item in record["namePublicLong"]}


def test_allergens_of_clean_products_are_exactly_those_of_the_recipe(clean) -> None:
    """A kind whose recipe holds no allergen lists none; the others list something, in every language."""
    recipes = {kind.noun["en"]: kind for kind in KINDS}
    for record in clean:
        kind = recipes[record["kind"]["label"]]
        if not record["isConsumerUnit"] or not kind.is_food:
            assert not record.get("allergens")
        elif any(INGREDIENTS[code].allergen for code in kind.recipe):
            assert len(record["allergens"]) == len(record["composition"])


def test_nutrition_of_clean_products_is_possible(clean) -> None:
    """Parts stay within wholes, the whole within 100 g, and energy follows from the parts."""
    declared = 0
    for record in clean:
        for partition in record.get("isPartitionedBy") or ():
            declared += 1
            rows = {
                (row["isConceptualizedBy"]["code"], row["expressedIn"]["code"]): row["quantity"]
                for row in partition["contains"]
            }
            fat, saturates, carbohydrate, sugars, protein, salt = (
                rows[code, "GRM"] for code in ("FAT", "FASAT", "CHOAVL", "SUGAR-", "PRO-", "SALTEQ")
            )
            fibre = rows.get(("FIBTG", "GRM"), 0)
            energy = 9 * fat + 4 * carbohydrate + 4 * protein + 2 * fibre
            assert saturates <= fat
            assert sugars <= carbohydrate
            assert fat + carbohydrate + protein + fibre + salt <= 100
            assert energy == pytest.approx(rows["ENER-", "E14"], abs=0.51)
            assert 4.184 * energy == pytest.approx(rows["ENER-", "KJO"], abs=0.51)
    assert declared > 500


def test_dates_are_in_order(clean) -> None:
    """A product is created, then its pictures, then it is updated; all within three years before the sample."""
    for record in clean:
        touched = record["assets"]["lastUpdatedAt"]["pictures"] or record["updatedAt"]
        assert "2023-11-01" < record["createdAt"] <= touched <= record["updatedAt"] < "2026-11-01T06:00:00"


# Views and participants


def test_the_principal_retailer_sees_every_product_first(products) -> None:
    """The first view is the principal's, and the record is written for it."""
    principal = organizations()[0].id
    for each in products:
        view, record = each.views[0], each.record
        assert principal == view.organization_id
        assert (view.shared_from, view.product_status, view.validation_status) == (
            record["manufacturerSharingStatus"],
            record["targetProductStatus"],
            record["validation"]["status"],
        )
        assert (
            [tag for tag, _ in view.tags] == record["isTaggedBy"] == [tag["tag"] for tag in record["hasTags"]]
        )


def test_the_other_retailers_see_a_third_and_a_few(products) -> None:
    """The second retailer sees about a third of the products, the third one in twenty."""
    seen = Counter(view.organization_id for each in products for view in each.views)
    shares = [seen[organization.id] / COUNT for organization in organizations()[:3]]
    assert [1, pytest.approx(0.33, abs=0.04), pytest.approx(0.05, abs=0.02)] == shares


def test_every_status_comes_up(products) -> None:
    """Each filter on statuses finds something."""
    views = [view for each in products for view in each.views]
    assert set(PRODUCT_STATUSES) == {view.product_status for view in views}
    assert set(SharingStatus) == {view.shared_from for view in views} == {view.shared_with for view in views}
    assert {0, 1, 2, 3} == {view.validation_status for view in views}
    assert {True, False} == {view.active_range for view in views}
    assert {56, 250, 276, 528, 724, 826} == {view.target_market for view in views}


def test_everybody_has_credentials_of_their_own() -> None:
    """There are three retailers, the principal first, and forty manufacturers; ids and keys are unique."""
    everybody = organizations()
    assert Counter({OrganizationType.MANUFACTURER: 40, OrganizationType.RETAILER: 3}) == Counter(
        organization.type for organization in everybody
    )
    assert ("sandbox-retailer", "sandbox-retailer-secret") == (
        everybody[0].client_id,
        everybody[0].client_secret,
    )
    assert "sandbox-supplier-01" in {organization.client_id for organization in everybody}
    for name in ("id", "client_id", "client_secret", "username", "name"):
        assert 43 == len({getattr(organization, name) for organization in everybody})


def test_every_product_is_owned_by_a_manufacturer(products) -> None:
    """The owner of a product can sign in, and its name is in the record."""
    names = {organization.id: organization.name for organization in organizations()}
    assert all(names[each.owner_id] == each.record["owner"]["name"] for each in products)


# Words


def test_every_code_label_has_its_translations(products) -> None:
    """Every code with a label has translations into four more languages; brands keep their names."""
    used = {
        (str(value["code"]), value["label"])
        for each in products
        for path, value in walk(each.record)
        if "label" in value and path[-1] not in {"brand", "isBrandedBy"}
    }
    assert set() == used - set(LABELS)
    assert {("de", "es", "fr", "nl")} == {tuple(sorted(words)) for words in LABELS.values()}


def test_no_two_languages_share_a_text() -> None:
    """A text that is the same in two languages would look like a forgotten translation."""
    expressions = [words for phrases in PHRASES.values() for words in phrases]
    expressions += [ingredient.words for ingredient in INGREDIENTS.values()]
    expressions += [variant.words for variants in VARIANTS.values() for variant in variants]
    expressions += [
        {language: f"{kind.noun[language]} {variant.words[language]}" for language in LANGUAGES}
        for kind in KINDS
        for variant in VARIANTS[kind.variants]
    ]
    assert {len(LANGUAGES)} == {len(set(words.values())) for words in expressions}
