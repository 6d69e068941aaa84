"""The plan of planted defects, read back from the records by plain code that knows nothing of the generator.

Each reading below says for one record which (attribute, language) shows a defect. Over the whole sample the readings
have to give exactly the plan: every planted defect is seen, and none on a product that is not planned.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.cases import each_row

from prodex_sandbox.sample import AS_OF, CONSEQUENCES, DEFECTS, STALE_AFTER, plan, shared_products, write_plan

pytestmark = pytest.mark.xdist_group("sample")

COUNT = 3_000
REQUIRED = {250: ["fr"], 56: ["nl", "fr"], 276: ["de"], 528: ["nl"], 724: ["es"], 826: ["en"]}
NAMES = ("nameLegal", "namePublicShort", "namePublicLong")
LOCALIZED = (
    *NAMES,
    "productionVariantName",
    "description",
    "composition",
    "allergens",
    "conservationAdvices",
)
LOCALIZED += ("consumptionAdvice", "advertisedInformations")
PLACEHOLDERS = {"tbd", "n/a", "-", "test", "xxx"}

# Words that hardly any sentence of a language does without, and that the other four do not use.
COMMON_WORDS = {
    "en": {"the", "and", "with", "that", "by", "our", "it", "is", "of", "will"},
    "fr": {"les", "et", "nous", "notre", "avec", "du", "au", "une", "est", "dans", "ou", "le"},
    "de": {"und", "mit", "der", "die", "das", "wird", "nach", "sich", "ein", "ist", "zum"},
    "es": {"y", "con", "los", "las", "del", "para", "por", "se", "una", "su", "al", "el"},
    "nl": {"het", "een", "van", "wij", "met", "en", "na", "dat", "ons", "wordt", "om", "aan"},
}

# The 14 allergen groups of Regulation (EU) 1169/2011, Annex II: beginnings of their words in the five languages.
ALLERGENS = {
    "gluten": "gluten wheat rye oat barley blé seigle avoine orge weizen roggen hafer gerste trigo centeno avena"
    " cebada tarwe rogge haver hartweizen durumtarwe",
    "crustaceans": "crustac krebstier crustáceo schaaldier prawn crevette garnele gamba garnal",
    "eggs": "egg œuf eier eigelb eiweiß eipulver volleipulver huevo eigeel eiwit heeleipoeder kippeneieren"
    " hühnereier eieren ei",
    "fish": "fish poisson fisch pescado vis",
    "peanuts": "peanut arachide erdnüsse cacahuete pinda",
    "soya": "soya soja",
    "milk": "milk lait milch vollmilch kuhmilch leche melk vollemelk koemelk volle melk",
    "nuts": "hazelnut noisette haselnüsse avellana hazelnoot hazelnoten almond amande mandeln almendra amandel cashew"
    " cajou anacardo walnut cerneaux walnuss nueces walnoot walnoten",
    "celery": "celery céleri sellerie apio selderij",
    "mustard": "mustard moutarde senf mostaza mosterd",
    "sesame": "sesame sésame sesam sésamo",
    "sulphites": "sulphite sulfite sulfito sulfiet",
    "lupin": "lupin süßlupin altramu",
    "molluscs": "mollus weichtier molusc weekdier",
}
# Foods whose names only sound like allergens.
SOUND_ALIKE = re.compile(
    r"coconut milk|lait de coco|kokosmilch|leche de coco|kokosmelk"
    r"|cocoa butter|beurre de cacao|kakaobutter|manteca de cacao|cacaoboter"
    r"|nutmeg|noix de muscade|muskatnuss|nuez moscada|nootmuskaat"
)

Seen = set[tuple[str, str]]


@pytest.fixture(scope="module")
def records() -> list[dict]:
    """The sample's records."""
    return [shared.record for shared in shared_products(COUNT)]


@pytest.fixture(scope="module")
def planned() -> dict[str, dict[str, Seen]]:
    """The plan: kind of defect, then product id, then (attribute, language)."""
    by_defect: dict[str, dict[str, Seen]] = defaultdict(lambda: defaultdict(set))
    for defect in plan(COUNT):
        by_defect[defect.defect][defect.product_id].add((defect.attribute, defect.language))
    return by_defect


@pytest.fixture(scope="module")
def gtins(records) -> Counter[str]:
    """How many products bear each GTIN."""
    return Counter(record["gtin"] for record in records)


@pytest.fixture(scope="module")
def parents(records) -> dict[str, set[str]]:
    """GTIN of each unit to the GTINs of the units that hold it."""
    found: dict[str, set[str]] = defaultdict(set)
    for record in records:
        for parent, child in edges(record):
            found[child["gtin"]].add(parent["gtin"])
    return found


# Reading records


def items(value) -> list:
    """Return a list's items without nulls, an object as a list of one."""
    if isinstance(value, dict):
        return [value]
    return [item for item in value or [] if item is not None]


def texts(record, attribute) -> dict[str, str]:
    """Return language to text of one attribute."""
    return {item["expressedIn"]["normalizedCode"]: item["data"] for item in items(record.get(attribute))}


#: The texts of records that have been read, by the identity of the record, which is kept beside them.
_TEXTS: dict[int, tuple[dict, list[tuple[str, str, str]]]] = {}


def all_texts(record) -> list[tuple[str, str, str]]:
    """Return all texts of a record; a score of readings ask for those of the same thousands."""
    if id(record) not in _TEXTS:
        found = [
            (attribute, language, text)
            for attribute in LOCALIZED
            for language, text in texts(record, attribute).items()
        ]
        _TEXTS[id(record)] = record, found
    return _TEXTS[id(record)][1]


def is_food(record) -> bool:
    return "keepRefrigeratedBefore" in record


def amount(value) -> float:
    """Return a weight in grams or a length in millimetres."""
    quantity = items(value)[0]
    return quantity["data"] * (1_000 if quantity["expressedIn"]["code"] == "KGM" else 1)


def pictures(record) -> list[dict]:
    return items(record["assets"]["pictures"])


def is_front_packshot(picture) -> bool:
    return picture["isPackshot"] and picture["productFace"] == 1


def nutrients(record) -> dict[tuple[str, str], float]:
    declared = items(record.get("isPartitionedBy"))
    contains = declared[0]["contains"] if declared else []
    return {
        (each["isConceptualizedBy"]["code"], each["expressedIn"]["code"]): each["quantity"]
        for each in contains
    }


def flat(node) -> dict:
    """Return a hierarchy node of either shape with its attributes beside its GTIN."""
    return {**node, **node.get("version", {})}


def nodes(record) -> list[list[dict]]:
    """Return the nodes of each hierarchy and sharing unit of a record."""

    def walk(node) -> Iterator[dict]:
        yield flat(node)
        for child in items(node.get("children")):
            yield from walk(child)

    roots = items(record["logisticalHierarchies"]) + items(record["sharingUnits"])
    return [list(walk(root)) for root in roots]


def edges(record) -> Iterator[tuple[dict, dict]]:
    for tree in nodes(record):
        for node in tree:
            for child in items(node.get("children")):
                yield node, flat(child)


def with_facts(record, node) -> dict:
    """Return a node, or the fuller one of the same GTIN where this one only repeats it."""
    if "typePackaging" in node:
        return node
    return next(other for tree in nodes(record) for other in tree if other["gtin"] == node["gtin"])


def is_whole(quantity) -> bool:
    return isinstance(quantity, int) and quantity >= 1


def spoken(text) -> str:
    """Return the language whose common words a text has most of."""
    words = Counter(re.findall(r"\w+", text.lower()))
    return max(COMMON_WORDS, key=lambda language: sum(words[word] for word in COMMON_WORDS[language]))


def named_groups(text) -> set[str]:
    words = re.findall(r"[^\W\d_]+", SOUND_ALIKE.sub(" ", text.lower()))
    return {
        group
        for group, beginnings in ALLERGENS.items()
        if any(word.startswith(tuple(beginnings.split())) and not _only_begins(group, word) for word in words)
    }


def _only_begins(group, word) -> bool:
    """Say whether a word begins like an allergen and is none."""
    return group == "eggs" and word.startswith("ei") and word not in ALLERGENS["eggs"].split()


# The readings: record to what of a defect can be seen in it


def at(attribute: str, condition: Callable[[dict], object]) -> Callable[[dict], Seen]:
    """Make a reading that points at one attribute."""
    return lambda record: {(attribute, "")} if condition(record) else set()


def missing(attribute: str, applies: Callable[[dict], object]) -> Callable[[dict], Seen]:
    return at(attribute, lambda record: applies(record) and not items(record.get(attribute)))


def in_texts(condition: Callable[[str, str, str], object], *attributes: str) -> Callable[[dict], Seen]:
    """Make a reading of every text of some attributes (all, when none is named)."""
    return lambda record: {
        (attribute, language)
        for attribute, language, text in all_texts(record)
        if (not attributes or attribute in attributes) and condition(attribute, language, text)
    }


def missing_languages(record) -> Seen:
    required = REQUIRED[record["product_key"]["target_market_id"]]
    return {
        (attribute, language)
        for attribute in LOCALIZED
        for language in required
        if texts(record, attribute) and language not in texts(record, attribute)
    }


def missing_texts(record) -> Seen:
    wanted = (*NAMES, "description") if record["isConsumerUnit"] else NAMES
    return {(attribute, "") for attribute in wanted if not items(record.get(attribute))}


def copies(record) -> Seen:
    return {
        (attribute, language)
        for attribute, language, text in all_texts(record)
        if any(other == text for tongue, other in texts(record, attribute).items() if tongue != language)
    }


def says_everything_twice(record) -> Seen:
    """Return the descriptions that end with that of another language."""
    said = texts(record, "description")
    return {
        ("description", language)
        for language, text in said.items()
        if any(text != other and text.endswith(f" {other}") for other in said.values())
    }


def brand_label(record) -> str:
    return (record.get("brand") or {}).get("label") or ""


def nameless_cereal(text) -> set[str]:
    """Return gluten where flour, semolina or malt do not say what they are of."""
    names = "flour farine mehl harina bloem semolina semoule grieß sémola griesmeel malt malz malta mout"
    nameless = rf"(?:^|[:,] )(?:{names.replace(' ', '|')})(?: \(\d+ %\))?[,.]"
    return {"gluten"} if re.search(nameless, text.lower()) else set()


def unlisted_allergens(record) -> bool:
    if not is_food(record):
        return False
    listed = texts(record, "allergens")
    return any(
        (named_groups(text) | nameless_cereal(text)) - named_groups(listed.get(language, ""))
        for language, text in texts(record, "composition").items()
    )


def macro(record) -> tuple[float, float, float]:
    figures = nutrients(record)
    return tuple(figures.get((code, "GRM"), 0) for code in ("FAT", "CHOAVL", "PRO-"))


def energy_is_off(record) -> bool:
    fat, carbohydrate, protein = macro(record)
    computed = 9 * fat + 4 * carbohydrate + 4 * protein
    declared = nutrients(record).get(("ENER-", "E14"), 0)
    kilojoules = nutrients(record).get(("ENER-", "KJO"), 0)
    tolerance = max(0.15 * computed, 3)
    return abs(declared - computed) > tolerance or abs(kilojoules / 4.184 - computed) > tolerance


def energies_disagree(record) -> bool:
    figures = nutrients(record)
    kilojoules, kilocalories = figures.get(("ENER-", "KJO"), 0), figures.get(("ENER-", "E14"), 0)
    return not 3.7 * kilocalories - 2 <= kilojoules <= 4.7 * kilocalories + 2


def exceeds(part: str, whole: str) -> Callable[[dict], bool]:
    return lambda record: nutrients(record).get((part, "GRM"), 0) > nutrients(record).get((whole, "GRM"), 0)


def file_name(picture) -> re.Match | None:
    return re.fullmatch(r"(\d{14})_[A-E](\d)[CLRN]\d\.(jpg|tif)", picture["gdsnFileName"])


def check_digit_is_wrong(record) -> bool:
    digits = [int(digit) for digit in record["gtin"]]
    return sum(digit * (3 if place % 2 == 0 else 1) for place, digit in enumerate(digits)) % 10 != 0


def lighter(record) -> bool:
    for tree in nodes(record):
        for node in tree:
            children = [flat(child) for child in items(node.get("children"))]
            if not children or not all(is_whole(child.get("quantity")) for child in children):
                continue
            held = sum(
                child["quantity"] * amount(with_facts(record, child)["grossWeight"]) for child in children
            )
            if amount(node["grossWeight"]) < held:
                return True
    return False


def smaller(record) -> bool:
    def sides(node) -> list[float]:
        facts = with_facts(record, node)
        return sorted(amount(facts[side]) for side in ("height", "width", "depth"))

    return any(
        any(outer < inner for outer, inner in zip(sides(parent), sides(child), strict=True))
        for parent, child in edges(record)
    )


def is_cyclic(record) -> bool:
    def walk(node, above) -> bool:
        return node["gtin"] in above or any(
            walk(child, above | {node["gtin"]}) for child in items(node.get("children"))
        )

    return any(walk(root, frozenset()) for root in items(record["logisticalHierarchies"]))


def no_unit_is(flag: str) -> Callable[[dict], bool]:
    return lambda record: any(not any(node.get(flag) for node in tree) for tree in nodes(record))


def any_node(condition: Callable[[dict], object]) -> Callable[[dict], bool]:
    return lambda record: any(
        condition(node) for tree in nodes(record) for node in tree if node.get("typePackaging") is not None
    )


def certificate_ended(record) -> bool:
    ends = [
        detail["certificationEffectiveEndDate"]
        for certificate in items(record.get("certificationInformationList"))
        for detail in certificate["certificationDetailsList"]
    ]
    ends += [document["fileEffectiveEndDateTime"] for document in record["assets"]["documents"]]
    return any(datetime.fromtimestamp(end, UTC) < AS_OF.replace(tzinfo=UTC) for end in ends)


def pictures_are_stale(record) -> bool:
    touched = record["assets"]["lastUpdatedAt"]["pictures"]
    return touched is not None and datetime.fromisoformat(touched) < AS_OF - timedelta(days=1_095)


def consumer(record) -> bool:
    return record["isConsumerUnit"]


def kind_code(record) -> object:
    return record["kind"]["code"] if record.get("kind") else None


PREPARED = {
    "CHICKEN_FILLET",
    "SAUSAGES",
    "TOFU",
    "PIZZA",
    "LASAGNE",
    "FROZEN_PEAS",
    "PRAWNS",
    "MUSSELS",
    "PASTA",
}
PREPARED |= {"RICE", "SOUP", "COCONUT_CURRY", "COFFEE", "TEA"}
ORIGIN = {
    "EGGS",
    "HAM",
    "CHICKEN_FILLET",
    "SAUSAGES",
    "SMOKED_SALMON",
    "PRAWNS",
    "MUSSELS",
    "HONEY",
    "OLIVE_OIL",
}
ORIGIN |= {"TINNED_TUNA", "MINERAL_WATER", "WINE"}
ALCOHOL = {"BEER", "WINE", "CIDER"}


def wants_nutrition(record) -> bool:
    return consumer(record) and is_food(record) and kind_code(record) not in ALCOHOL


def has_packshot_problem(condition: Callable[[dict], object]) -> Callable[[dict], bool]:
    return lambda record: any(
        is_front_packshot(picture) and condition(picture) for picture in pictures(record)
    )


def any_picture(condition: Callable[[dict], object]) -> Callable[[dict], bool]:
    return lambda record: any(condition(picture) for picture in pictures(record))


def ends_before_it_begins(picture) -> bool:
    end = picture.get("fileEffectiveEndDateTime")
    return end is not None and end < picture["fileEffectiveStartDateTime"]


def has_ended(picture) -> bool:
    end = picture.get("fileEffectiveEndDateTime")
    return end is not None and datetime.fromisoformat(end) < AS_OF


NUTRIENTS = "isPartitionedBy.contains"
TREE = "logisticalHierarchies"
FILE = "assets.pictures.gdsnFileName"

READINGS: dict[str, Callable[[dict], Seen]] = {
    "missing_language": missing_languages,
    "missing_text": missing_texts,
    "missing_name": at("namePublicLong", lambda record: not any(items(record.get(name)) for name in NAMES)),
    "name_too_long": in_texts(lambda _, __, text: len(text) > 200, "namePublicLong"),
    "short_name_too_long": in_texts(lambda _, __, text: len(text) > 35, "namePublicShort"),
    "text_too_long": in_texts(lambda _, __, text: len(text) > 20_000),
    "control_character": in_texts(lambda _, __, text: re.search(r"[\x00-\x1f\x7f]", text)),
    "line_break_in_name": in_texts(lambda _, __, text: "\n" in text, *NAMES),
    "placeholder_text": in_texts(
        lambda _, __, text: text.lower() in PLACEHOLDERS or text.startswith("Lorem ipsum")
    ),
    "html_in_text": in_texts(lambda _, __, text: re.search(r"<[a-z/][^<>]*>", text)),
    "mojibake": in_texts(lambda _, __, text: "Ã" in text),
    "all_capitals": in_texts(lambda _, __, text: text.upper() == text and re.search("[A-Z]", text)),
    "untranslated_copy": copies,
    "wrong_language": in_texts(lambda _, tongue, text: spoken(text) != tongue, "description"),
    "missing_net_content": missing("netContent", consumer),
    "missing_composition": missing("composition", wants_nutrition),
    "missing_contact": missing("contact", lambda record: consumer(record) and is_food(record)),
    "missing_storage": missing("conservationAdvices", lambda record: consumer(record) and is_food(record)),
    "missing_instructions": missing(
        "consumptionAdvice", lambda record: consumer(record) and kind_code(record) in PREPARED
    ),
    "missing_origin": missing(
        "originCountry", lambda record: consumer(record) and kind_code(record) in ORIGIN
    ),
    "missing_alcohol": missing(
        "percentageOfAlcoholByVolume", lambda record: consumer(record) and kind_code(record) in ALCOHOL
    ),
    "missing_nutrition": missing("isPartitionedBy", wants_nutrition),
    "allergen_not_listed": at("allergens", unlisted_allergens),
    "nutrient_over_100": at(
        NUTRIENTS,
        lambda record: any(value > 105 for (_, unit), value in nutrients(record).items() if unit == "GRM"),
    ),
    "nutrient_sum_over_100": at(NUTRIENTS, lambda record: sum(macro(record)) > 105),
    "energy_too_high": at(NUTRIENTS, lambda record: nutrients(record).get(("ENER-", "KJO"), 0) > 3_800),
    "energy_inconsistent": at(NUTRIENTS, energies_disagree),
    "computed_energy_off": at(NUTRIENTS, energy_is_off),
    "saturates_over_fat": at(NUTRIENTS, exceeds("FASAT", "FAT")),
    "sugars_over_carbohydrate": at(NUTRIENTS, exceeds("SUGAR-", "CHOAVL")),
    "gtin_check_digit": at("gtin", check_digit_is_wrong),
    "gtin_all_zeros": at("gtin", lambda record: set(record["gtin"]) == {"0"}),
    "restricted_prefix": at("gtin", lambda record: re.match(r".(02|04|2)", record["gtin"])),
    "consumer_unit_indicator": at(
        "gtin", lambda record: consumer(record) and record["gtin"][0] in "12345678"
    ),
    "missing_brand": at("brand", lambda record: not record.get("brand")),
    "missing_kind": at("kind", lambda record: not record.get("kind")),
    "no_picture": at("assets.pictures", lambda record: consumer(record) and not pictures(record)),
    "no_front_packshot": at(
        "assets.pictures",
        lambda record: consumer(record) and not any(map(is_front_packshot, pictures(record))),
    ),
    "packshot_disagrees": at(
        FILE, has_packshot_problem(lambda each: file_name(each) and file_name(each)[2] != "1")
    ),
    "packshot_too_small": at(
        "assets.pictures.width", has_packshot_problem(lambda each: max(each["width"], each["height"]) < 500)
    ),
    "picture_not_web_format": at(
        "assets.pictures.format", any_picture(lambda each: each["format"] != "jpeg")
    ),
    "no_1024_rendition": at(
        "assets.pictures.exportables",
        any_picture(lambda each: 1024 not in {rendition["width"] for rendition in each["exportables"]}),
    ),
    "expired_picture": at("assets.pictures.fileEffectiveEndDateTime", any_picture(has_ended)),
    "picture_dates_reversed": at(
        "assets.pictures.fileEffectiveEndDateTime", any_picture(ends_before_it_begins)
    ),
    "duplicate_picture": at(
        "assets.pictures.crc32",
        lambda record: len({each["crc32"] for each in pictures(record)}) < len(pictures(record)),
    ),
    "several_packshots": at(
        "assets.pictures.isPackshot", lambda record: sum(map(is_front_packshot, pictures(record))) > 1
    ),
    "picture_file_name": at(FILE, any_picture(lambda each: not file_name(each))),
    "picture_of_another_gtin": at(
        FILE,
        lambda record: any(
            file_name(each) and file_name(each)[1] != record["gtin"] for each in pictures(record)
        ),
    ),
    "stale_pictures": at("assets.lastUpdatedAt.pictures", pictures_are_stale),
    "hierarchy_quantity_missing": at(
        f"{TREE}.quantity", lambda record: any(child.get("quantity") is None for _, child in edges(record))
    ),
    "hierarchy_quantity_invalid": at(
        f"{TREE}.quantity",
        lambda record: any(
            child.get("quantity") is not None and not is_whole(child["quantity"])
            for _, child in edges(record)
        ),
    ),
    "hierarchy_without_children": at(
        f"{TREE}.children",
        any_node(lambda node: node["typePackaging"]["code"] != "EACH" and not items(node.get("children"))),
    ),
    "leaf_not_consumer_unit": at(
        TREE, any_node(lambda node: not node["isConsumerUnit"] and not items(node.get("children")))
    ),
    "hierarchy_cycle": at(f"{TREE}.children", is_cyclic),
    "no_despatch_unit": at(f"{TREE}.isDespatchUnit", no_unit_is("isDespatchUnit")),
    "no_orderable_unit": at(f"{TREE}.isOrderableUnit", no_unit_is("isOrderableUnit")),
    "pallet_is_consumer_unit": at(
        f"{TREE}.isConsumerUnit",
        any_node(
            lambda node: (
                node["typePackaging"]["code"] == "PALLET"
                and node["isConsumerUnit"]
                and not node["isDisplayUnit"]
            )
        ),
    ),
    "parent_lighter_than_children": at(f"{TREE}.grossWeight", lighter),
    "parent_smaller_than_child": at(f"{TREE}.height", smaller),
    "net_weight_over_gross": at(
        "netWeight", lambda record: amount(record["netWeight"]) > amount(record["grossWeight"])
    ),
    "not_yet_accepted": at(
        "lastRequest",
        lambda record: (
            record["targetProductStatus"] == "TO_BE_VALIDATED" and record["manufacturerSharingStatus"] == 4
        ),
    ),
    "update_pending": at(
        "lastRequest", lambda record: record["targetProductStatus"] == "UPDATED" and record["lastRequest"]
    ),
    "sharing_draft": at("manufacturerSharingStatus", lambda record: record["manufacturerSharingStatus"] == 2),
    "sharing_pending": at(
        "manufacturerSharingStatus", lambda record: record["manufacturerSharingStatus"] == 3
    ),
    "validation_not_ok": at("validation.status", lambda record: record["validation"]["status"] == 1),
    "validation_correction": at("validation.status", lambda record: record["validation"]["status"] == 3),
    "validation_suggestions": at(
        "validation.nbSuggestions", lambda record: record["validation"]["nbSuggestions"] > 0
    ),
    "stale": at(
        "updatedAt", lambda record: datetime.fromisoformat(record["updatedAt"]) < AS_OF - STALE_AFTER
    ),
    "certificate_expired": at(
        "certificationInformationList.certificationDetailsList.certificationEffectiveEndDate",
        certificate_ended,
    ),
    "hostile_strings": at("", lambda record: "xHostile" in record),
    "text_cut_by_column": in_texts(
        lambda _, __, text: len(text) == 100 and not text.endswith("."), "composition"
    ),
    "text_breaks_off": in_texts(lambda _, __, text: text.endswith("..."), "description"),
    "bracket_never_closed": in_texts(lambda _, __, text: text.count("(") > text.count(")"), "composition"),
    "ingredients_with_more": in_texts(lambda _, __, text: re.search(r" kJ|www\.", text), "composition"),
    "ingredients_misread": in_texts(lambda _, __, text: re.search(r"\w!\w", text), "composition"),
    "several_languages_in_text": says_everything_twice,
    "name_unfinished": in_texts(lambda _, __, text: text.endswith(","), *NAMES),
    "brand_is_company": at(
        "brand.label", lambda record: re.search(r" (GmbH|S\.A\.S\.|Ltd|B\.V\.|S\.L\.)$", brand_label(record))
    ),
    "brand_spelled_otherwise": at("brand.label", lambda record: brand_label(record).isupper()),
    "nutrient_in_wrong_unit": at(
        NUTRIENTS, lambda record: 0 < nutrients(record).get(("SALTEQ", "GRM"), 0) < 0.005
    ),
    "nutrition_all_zero": at(
        NUTRIENTS,
        lambda record: (
            nutrients(record)
            and not any(nutrients(record).values())
            and kind_code(record) != "MINERAL_WATER"  # which has nothing in it
        ),
    ),
    "net_content_of_serving": at("netContent", lambda record: len(items(record.get("isPartitionedBy"))) > 1),
}
ACROSS_PRODUCTS = {"duplicate_gtin", "several_parents", "unknown_child_gtin"}


def test_every_kind_of_defect_is_read_here_and_planted(planned) -> None:
    """No kind of defect is declared without being planted in the sample, and none escapes the readings below."""
    assert set(DEFECTS) == set(READINGS) | ACROSS_PRODUCTS
    assert set(DEFECTS) == set(planned)


@each_row("defect", sorted(READINGS))
def test_a_planted_defect_is_seen_where_planned_and_nowhere_else(defect, records, planned) -> None:
    """Reading all records for one kind of defect gives the plan, but for what follows from other planted defects."""
    seen = {str(record["id"]): READINGS[defect](record) for record in records}
    seen = {product: places for product, places in seen.items() if places}
    explained = {
        product
        for cause, consequences in CONSEQUENCES.items()
        if defect in consequences or cause == "hostile_strings"
        for product in planned[cause]
    } - set(planned[defect])
    assert planned[defect] == {
        product: places for product, places in seen.items() if product not in explained
    }


def test_products_of_one_gtin_are_those_planned(records, planned, gtins) -> None:
    """Every product that shares its GTIN with another one is in the plan."""
    assert set(planned["duplicate_gtin"]) == {str(each["id"]) for each in records if gtins[each["gtin"]] > 1}


def test_twins_have_different_owners(records, planned) -> None:
    """Two products of one GTIN come from two suppliers."""
    owners = defaultdict(set)
    for record in records:
        if str(record["id"]) in planned["duplicate_gtin"]:
            owners[record["gtin"]].add(record["owner"]["name"])
    assert {2} == {len(names) for names in owners.values()}


def test_units_of_several_parents_are_those_planned(records, planned, parents) -> None:
    """Every unit that is packed in two sorts of outer units is in the plan."""
    several = {str(record["id"]) for record in records if len(parents[record["gtin"]]) > 1}
    assert set(planned["several_parents"]) == several


def test_unknown_children_are_those_planned(records, planned, gtins) -> None:
    """Every unit that a hierarchy names is a product of the sample, unless the plan says otherwise."""
    unknown = {
        str(record["id"])
        for record in records
        if any(child["gtin"] not in gtins for _, child in edges(record))
    }
    assert set(planned["unknown_child_gtin"]) == unknown


def test_most_products_are_clean() -> None:
    """Two of three products have no defect at all."""
    assert 0.68 < 1 - len({defect.product_id for defect in plan(COUNT)}) / COUNT < 0.85


def test_the_plan_can_be_read_back_from_its_file(tmp_path) -> None:
    """The written plan holds the same defects in the same order."""
    write_plan(tmp_path / "plan.json", 300)
    written = json.loads((tmp_path / "plan.json").read_text("utf-8"))
    assert [(each.defect, each.product_id, each.attribute, each.language) for each in plan(300)] == [
        (each["defect"], each["product_id"], each["attribute"], each["language"]) for each in written
    ]
