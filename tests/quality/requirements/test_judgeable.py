"""What is asked is judged by some product, or refused when it is read: conditions by shapes of attributes."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from openpyxl import load_workbook

import prodex
from prodex.errors import InputError
from prodex.quality.asks import Level, ask_of
from prodex.quality.states import State
from prodex.store.reading import flatten
from tests.cases import each_row
from tests.quality.requirements.sheets import asks, in_words, made, table

PASS, FAIL, UNKNOWN = State.PASS, State.FAIL, State.UNKNOWN


def text(words: str) -> list[dict[str, Any]]:
    """Return a localized text as the service sends it."""
    return [{"expressedIn": {"code": "fra-FR"}, "data": words}]


def grams(value: float) -> list[dict[str, Any]]:
    """Return an amount in grams as the service sends it."""
    return [{"expressedIn": {"code": "GRM"}, "data": value}]


def pictures(side: int) -> dict[str, Any]:
    """Return the assets of a product with one picture of its front."""
    return {
        "pictures": [{"url": "https://x.invalid/1", "productFace": "1", "width": side, "height": side}],
        "documents": [{"url": "https://x.invalid/2"}],
        "lastUpdatedAt": {"pictures": "2026-11-01T00:00:00"},
    }


@dataclass(frozen=True)
class Asked:
    """An attribute with two products, of which one is as asked and the other is not, where that can be said."""

    good: Mapping[str, Any]
    bad: Mapping[str, Any]
    #: The conditions that are judged; any other is refused.
    judged: Sequence[str] = ()
    language: str = ""


#: What each condition asks: all but one are met by the text A12 alone, and that one by a longer text alone.
CONDITIONS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "codes": ({"one_of": ["A12"]}, "one of: A12"),
    "at least": ({"shortest": 4}, "at least 4 characters"),
    "at most": ({"longest": 3}, "at most 3 characters"),
    "pattern": ({"pattern": "A[0-9]{2}"}, "pattern: A[0-9]{2}"),
    "pixels": ({"pixels": 800}, "at least 800 pixels"),
}
OF_TEXTS = ("codes", "at least", "at most", "pattern")
OF_CODES = ("codes", "pattern")

#: Every shape that the wire JSON has: what is asked about, and a value that is as asked beside one that is not.
SHAPES: Mapping[str, Asked] = {
    "namePublicLong": Asked(
        {"namePublicLong": text("A12")}, {"namePublicLong": text("Beaucoup")}, OF_TEXTS, "fr"
    ),
    "consumptionAdvice": Asked(
        {"consumptionAdvice": text("A12")}, {"consumptionAdvice": text("Beaucoup")}, OF_TEXTS, "fr"
    ),
    "warnings": Asked({"warnings": [{"text": text("A12")}]}, {}, (), "fr"),
    "warnings.text": Asked(
        {"warnings": [{"text": text("A12")}]}, {"warnings": [{"text": text("Beaucoup")}]}, OF_TEXTS, "fr"
    ),
    "synonyms": Asked({"synonyms": [{"text": text("A12")}]}, {}, (), "fr"),
    "brand": Asked({"brand": {"code": "A12"}}, {"brand": {"code": "B"}}, OF_CODES),
    "brand.code": Asked({"brand": {"code": "A12"}}, {"brand": {"code": "B"}}, OF_CODES),
    "brand.label": Asked({"brand": {"label": "A12"}}, {"brand": {"label": "Bestes"}}, OF_TEXTS),
    "originCountry": Asked(
        {"originCountry": [{"code": "A12"}]}, {"originCountry": [{"code": "B"}]}, OF_CODES
    ),
    "flavors": Asked({"flavors": [{"flavor": {"code": "A12"}}]}, {}),
    "flavors.flavor": Asked(
        {"flavors": [{"flavor": {"code": "A12"}}]}, {"flavors": [{"flavor": {"code": "Best"}}]}, OF_TEXTS
    ),
    "lifeCycle": Asked({"lifeCycle": 7}, {"lifeCycle": 8}, OF_CODES),
    "isConsumerUnit": Asked({"isConsumerUnit": True}, {"isConsumerUnit": False}, OF_CODES),
    "unitType": Asked({"unitType": "A12"}, {"unitType": "B"}, OF_CODES),
    "uuid": Asked({"uuid": "A12"}, {"uuid": "Bestes"}, OF_TEXTS),
    "gtin": Asked({"gtin": "3017620422003"}, {}),
    "id": Asked({}, {}),
    "netContent": Asked({"netContent": grams(500)}, {}),
    "netContent.data": Asked({"netContent": grams(500)}, {}),
    "isPartitionedBy.contains[FAT]": Asked(
        {"isPartitionedBy": [{"contains": [{"isConceptualizedBy": {"code": "FAT"}, "quantity": 500}]}]}, {}
    ),
    "isPartitionedBy": Asked({"isPartitionedBy": [{"name": "A12"}]}, {}),
    "isPartitionedBy.contains.quantity": Asked({"isPartitionedBy": [{"contains": [{"quantity": 5}]}]}, {}),
    "isLabeledBy": Asked({"isLabeledBy": [{"isConceptualizedBy": {"code": "A12"}}]}, {}),
    "isLabeledBy.value": Asked({"isLabeledBy": [{"value": "A12"}]}, {}),
    "hasTags": Asked({"hasTags": [{"tag": "A12"}]}, {}),
    "isIdentifiedBy": Asked({"isIdentifiedBy": [{"reference": "A12"}]}, {}),
    "logisticalHierarchies": Asked({"logisticalHierarchies": [{"quantity": 5}]}, {}),
    "validation": Asked({"validation": {"status": 1, "nbSuggestions": 5}}, {}),
    "owner": Asked({"owner": {"name": "A12"}}, {}),
    "assets": Asked({"assets": pictures(900)}, {}),
    "assets.documents": Asked({"assets": pictures(900)}, {}),
    "assets.documents.url": Asked({"assets": pictures(900)}, {}),
    "assets.pictures": Asked({"assets": pictures(900)}, {"assets": pictures(9)}, ("pixels",)),
    "assets.pictures[front]": Asked({"assets": pictures(900)}, {"assets": pictures(9)}, ("pixels",)),
    "xOwn": Asked({"xOwn": "A12"}, {"xOwn": "Beste"}, OF_TEXTS),
    "xCode": Asked({"xCode": {"code": "A12"}}, {"xCode": {"code": "Beste"}}, OF_TEXTS),
    "xText": Asked({"xText": text("A12")}, {"xText": text("Beaucoup")}, OF_TEXTS, "fr"),
}
#: What is asked of values that are no texts.
OTHER: Mapping[str, Mapping[str, str]] = {
    "lifeCycle": {"codes": "7", "pattern": "7"},
    "isConsumerUnit": {"codes": "true", "pattern": "t.*"},
}


def cases() -> Iterator[tuple[str, str, Mapping[str, Any], str]]:
    """Yield each attribute with each condition, in a frame and in words."""
    for attribute in SHAPES:
        for condition, (row, words) in CONDITIONS.items():
            other = OTHER.get(attribute, {}).get(condition)
            if other is None:
                yield attribute, condition, row, words
            else:
                name = "one_of" if condition == "codes" else condition
                yield attribute, condition, {name: other}, f"{words.partition(':')[0]}: {other}"


def frame(attribute: str, language: str, **more: Any) -> pd.DataFrame:
    """Return requirements of one attribute."""
    row = {"channel": "Shop", "family": "*", "attribute": attribute, "language": language, "level": "must"}
    return pd.DataFrame([row | in_words(more)])


def states(wanted: prodex.Requirements, *records: Mapping[str, Any]) -> list[State]:
    """Return the states of some products under the only check."""
    catalog = flatten([{"id": number, **record} for number, record in enumerate(records)])
    return list(map(State, prodex.audit(catalog, wanted, progress=False).states[:, 0]))


@pytest.mark.slow
def test_each_condition_is_judged_or_refused(tmp_path: Path) -> None:
    """By a frame, by TOML and by a sheet alike: no condition is read that leaves every product unknown."""
    for attribute, condition, row, words in cases():
        asked = SHAPES[attribute]
        key = f"'{attribute}'" + (f".{asked.language}" if asked.language else "")
        toml = tmp_path / "r.toml"
        toml.write_text(
            f'requirements = 1\n[[channels]]\nname = "Shop"\n[asked.Shop."*"]\n{key} = "must; {words}"\n'
        )
        sheet = tmp_path / "r.csv"
        row_of = {"Attribute": attribute, "Language": asked.language, "Condition": words}
        with sheet.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(table({"Channel": "Shop", "Market": "all"} | row_of))
        of_frame = frame(attribute, asked.language, **row)
        if condition not in asked.judged:
            for read in (
                lambda of_frame=of_frame: prodex.Requirements.of(of_frame),
                lambda toml=toml: prodex.Requirements.read(toml),
                lambda sheet=sheet: prodex.Requirements.read(sheet),
            ):
                with pytest.raises(
                    InputError, match=r"cannot be asked of this attribute, which is|no attribute 'netContent"
                ):
                    read()
            continue
        wanted = prodex.Requirements.of(of_frame)
        expected = [FAIL, PASS] if condition == "at least" else [PASS, FAIL]
        assert expected == states(wanted, asked.good, asked.bad), (attribute, condition)
        for other in (prodex.Requirements.read(toml), prodex.Requirements.read(sheet)):
            assert wanted.requirements[0].ask == other.requirements[0].ask, (attribute, condition)


def test_a_refusal_names_what_can_be_asked() -> None:
    """Of a list of texts the place of the text, of anything else what is judged there."""
    with pytest.raises(InputError, match=r"Ask it of warnings\.text, or write the level alone"):
        prodex.Requirements.of(frame("warnings", "fr", longest=80))
    with pytest.raises(InputError, match=r"a pattern .* the key of a product\. Write the level alone"):
        prodex.Requirements.of(frame("gtin", "", pattern="30.*"))
    with pytest.raises(InputError, match=r"codes .* a quantity with its unit"):
        prodex.Requirements.of(frame("netContent", "", one_of=["500"]))


def test_what_has_no_language_is_asked_in_none() -> None:
    """A brand in French is missing in every product, whatever they have."""
    single = ("brand", "netContent", "assets.pictures[front]", "gtin", "isConsumerUnit")
    for attribute in (*single, "owner", "logisticalHierarchies", "hasTags", "isPartitionedBy"):
        with pytest.raises(InputError, match=r"in no language\. Remove the language French"):
            prodex.Requirements.of(frame(attribute, "fr"))
    prodex.Requirements.of(frame("warnings", "fr"))


def test_a_variant_of_a_language_is_asked_in_no_file(tmp_path: Path) -> None:
    """French of Belgium is not French of France: frames and TOML refuse it as sheets do."""
    with pytest.raises(InputError, match=r"'fr-BE' is a variant of a language.* Write fr\."):
        prodex.Requirements.of(frame("namePublicLong", "fr-BE"))
    toml = tmp_path / "r.toml"
    toml.write_text(
        'requirements = 1\n[[channels]]\nname = "Shop"\n[asked.Shop."*"]\nnamePublicLong.fr-BE = "must"\n'
    )
    with pytest.raises(InputError, match=r"'fr-BE' is a variant of a language"):
        prodex.Requirements.read(toml)


def test_a_quantity_is_compared_with_no_code() -> None:
    """Also where only a product says that its attribute is a quantity: 500 is of grams or of litres."""
    wanted = prodex.Requirements.of(frame("xAmount", "", one_of=["500", "7"]))
    assert [UNKNOWN, UNKNOWN, PASS] == states(
        wanted, {"xAmount": grams(500)}, {"xAmount": grams(3)}, {"xAmount": 500}
    )


def test_numbers_are_compared_by_value() -> None:
    """12.0 is 12, sent as a number; a text or a code is what it is."""
    for codes in (["12.0"], ["12"]):
        wanted = prodex.Requirements.of(frame("xOwn", "", one_of=codes))
        assert [PASS, PASS, FAIL] == states(wanted, {"xOwn": 12}, {"xOwn": 12.0}, {"xOwn": 12.5})
    wanted = prodex.Requirements.of(frame("xOwn", "", one_of=["12.50", "007"]))
    assert [PASS, FAIL, FAIL, PASS] == states(
        wanted, {"xOwn": 12.5}, {"xOwn": "12.5"}, {"xOwn": 7}, {"xOwn": "007"}
    )
    rows = pd.concat([frame("brand", "", one_of=["12"]), frame("lifeCycle", "", one_of=["12.0"])])
    wanted = prodex.Requirements.of(rows)
    catalog = flatten([{"id": 1, "brand": {"code": "12"}, "lifeCycle": 12}])
    assert [[PASS, PASS]] == prodex.audit(catalog, wanted, progress=False).states.tolist()


def test_codes_in_a_column_of_doubles_are_whole() -> None:
    """Where a frame has a gap, pandas makes 10000043 the double 10000043.0."""
    rows = pd.DataFrame(
        {
            "channel": ["Shop", "Shop"],
            "attribute": ["brand", "kind"],
            "level": ["must", "must"],
            "family": [10000043.0, None],
            "market": [250.0, None],
        }
    )
    (found,) = (one for one in prodex.Requirements.of(rows, by="gpc").requirements if one.family != "*")
    assert ("10000043", "Shop (France)") == (found.family, found.channel)


def test_digits_with_a_comma_need_confirmation() -> None:
    """12,5 is one number in most of Europe, and two codes where a blank is between them."""
    for given in ("12,5", "1,234", "250,276", "1,2,3", "12,500,000", "1.234,5", "12,5; at most 9 characters"):
        with pytest.raises(InputError, match="may be one code or several"):
            ask_of(Level.MUST, f"one of: {given}")
    read = {"12, 5": ("12", "5"), '"12,5"': ("12,5",), "12.5, 7": ("12.5", "7")}
    assert read == {given: ask_of(Level.MUST, f"one of: {given}").one_of for given in read}


@each_row("code", ["T\0A", "T\x1bA"])
def test_a_family_that_no_file_can_hold_is_refused(code: str, tmp_path: Path) -> None:
    """A control is in no file: frames and TOML say so at once."""
    for row in ({"family": code}, {"family": "A", "family_parent": code}):
        with pytest.raises(InputError, match="is no character of a text"):
            prodex.Requirements.of(frame("brand", "").assign(**row))
    toml = tmp_path / "r.toml"
    name = code.replace("\0", "\\u0000").replace("\x1b", "\\u001b")
    toml.write_text(f'requirements = 1\n[families]\n"{name}" = {{label = "Rice"}}\n')
    with pytest.raises(InputError, match="is no character of a text"):
        prodex.Requirements.read(toml)


@each_row(("code", "words"), [("", "shows nothing"), (" ", "shows nothing"), ("*", "all families")])
def test_a_family_without_a_code_of_its_own_is_refused(code: str, words: str, tmp_path: Path) -> None:
    """No product is of it; a listed `*` would make every family one that somebody has listed."""
    path = tmp_path / "r.toml"
    path.write_text(f'requirements = 1\n[families]\n"{code}" = {{label = "Rice"}}\n')
    with pytest.raises(InputError, match=words):
        prodex.Requirements.read(path)


def test_a_family_and_a_channel_may_be_called_like_a_heading(tmp_path: Path) -> None:
    """In the table, in the matrix and in CSV: what a cell means is said by its column."""
    rows = [
        {"Channel": "Channel", "Family": "Attribute", "Family label": "Level"},
        {"Channel": "Channel", "Family": "Level", "Family label": "Attribute", "Attribute": "kind"},
    ]
    read = prodex.Requirements.read(made(tmp_path / "own.xlsx", {"Channel": table(*rows)}))
    assert {("brand", "Attribute"): "must", ("kind", "Level"): "must"} == asks(read)
    for ending in (".csv", ".toml", ".xlsx"):
        folder = tmp_path / ending[1:]
        folder.mkdir()
        assert read == prodex.Requirements.read(read.write(folder / f"own{ending}"))


def test_a_catalogue_with_a_family_that_no_file_holds_has_its_workbook(tmp_path: Path) -> None:
    """It has no row, as families beyond the fortieth, and whoever chooses it is told why."""
    records = [{"id": n, "kind": {"code": code}} for n, code in enumerate(["TEA", "T\0A", "*", " "])]
    catalog = flatten(records)
    path = prodex.write_requirements(tmp_path / "r.xlsx", catalog, channels="Shop")
    assert ["*", "TEA"] == [one.value for one in load_workbook(path)["Shop"][4][4:]]
    assert ["TEA"] == [one.code for one in prodex.Requirements.read(path).families]
    with pytest.raises(InputError, match="families: '\\*' means all families"):
        prodex.write_requirements(tmp_path / "s.xlsx", catalog, families=["*"])
