"""What may be handed in to be written, and what is made of it."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from tests import wire

import prodex
from prodex.errors import InputError
from prodex.send.records import DELETE, records_of

GTIN = "03036811359935"


@pytest.mark.parametrize("nothing", [None, float("nan"), np.nan, pd.NA, pd.NaT])
def test_no_value_is_left_out(nothing):
    """At the top of a product, in a frame and in a record."""
    assert [{"gtin": GTIN}] == records_of([{"gtin": GTIN, "lifeCycle": nothing}])
    assert [{"gtin": GTIN}] == records_of(pd.DataFrame({"gtin": [GTIN], "lifeCycle": [nothing]}))


def test_nan_never_becomes_null_inside_a_value():
    """NaN goes with its key; a null that came inside a value stays as it came."""
    value = {"a": float("nan"), "b": None, "c": [1, np.float64("nan"), None]}
    assert [{"x": {"b": None, "c": [1, None]}}] == records_of([{"x": value}])


def test_deleting_takes_the_marker_or_a_word():
    """DELETE becomes null; None does only with null_deletes, and NaN never."""
    record = {"gtin": GTIN, "a": DELETE, "b": None, "c": float("nan")}
    assert [{"gtin": GTIN, "a": None}] == records_of([record])
    assert [{"gtin": GTIN, "a": None, "b": None}] == records_of([record], null_deletes=True)


def test_the_marker_is_one_of_a_kind():
    """However it travels: copied, pickled, in a frame."""
    frame = pd.DataFrame({"gtin": [GTIN], "brand": [DELETE]})
    assert all(
        one is DELETE for one in (copy.deepcopy(DELETE), pickle.loads(pickle.dumps(DELETE)), frame.brand[0])
    )
    assert "prodex.DELETE" == repr(prodex.DELETE)
    assert [{"gtin": GTIN, "brand": None}] == records_of(frame)


def test_numpy_is_written_as_json_has_it():
    """Numbers, booleans and arrays out of frames and Parquet."""
    value = [np.int64(3), np.float64(0.5), np.bool_(True), np.array([1, 2]), (1,), np.str_("x")]
    (record,) = records_of([{"x": value}])
    assert [3, 0.5, True, [1, 2], [1], "x"] == record["x"]
    assert [int, float, bool, list, list, str] == [type(one) for one in record["x"]]


def test_whole_numbers_that_pandas_made_floats_are_whole_again():
    """In a column of floats, and wherever such a value stands; what may be a fraction within one stays as it is."""
    picture = {"width": 480.0, "angleHorizontal": 15.0, "isPackshot": 1.0, "exportables": [{"fileSize": 9.0}]}
    node = {"quantity": 6.0, "product_key_id": 7.0, "isOrderableUnit": 0.0, "typePackaging": {"code": 12.0}}
    frame = pd.DataFrame(
        {
            "gtin": [GTIN, "03663215000110"],
            "lifeCycle": [1, None],
            "isConsumerUnit": [1.0, None],
            "abv": [5.0, None],
            "brand": [{"code": 12.0, "label": "Twelve"}, None],
            "netContent": [[{"data": 500.0, "expressedIn": {"code": "GRM"}}], None],
            "assets": [{"pictures": [picture]}, None],
            "logisticalHierarchies": [[node | {"children": [{"children": [node]}], "version": node}], None],
        }
    )
    fitted = {"quantity": 6.0, "product_key_id": 7, "isOrderableUnit": False, "typePackaging": {"code": "12"}}
    expected = {
        "gtin": GTIN,
        "lifeCycle": 1,
        "isConsumerUnit": True,
        "abv": 5,
        "brand": {"code": "12", "label": "Twelve"},
        "netContent": [{"data": 500.0, "expressedIn": {"code": "GRM"}}],
        "assets": {
            "pictures": [
                {"width": 480, "angleHorizontal": 15, "isPackshot": True, "exportables": [{"fileSize": 9}]}
            ]
        },
        "logisticalHierarchies": [
            fitted | {"children": [{"children": [fitted]}], "version": fitted | {"product_key_id": 7.0}}
        ],
    }

    first, second = records_of(frame)

    assert {"gtin": "03663215000110"} == second
    assert json.dumps(expected, sort_keys=True) == json.dumps(first, sort_keys=True)


def test_a_gtin_that_a_spreadsheet_made_a_number_comes_back():
    """Where it is right; a wrong one stays as it is, for preflight to tell."""
    gtins = [3036811359935, 3036811359935.0, "3036811359935", "1", None, 5]
    found = [record.get("gtin") for record in records_of([{"gtin": gtin} for gtin in gtins])]
    assert [GTIN, GTIN, GTIN, "1", None, 5] == found


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ([{"x": datetime(2026, 1, 1)}], "record 0, x is datetime"),  # noqa: DTZ001
        ([{"x": float("inf")}], "inf"),
        ([{"x": {1, 2}}], "set"),
        ([{"x": {1: 2}}], "has the key 1"),
        ([{1: 2}], "attribute 1"),
        ([{"x": {"y": DELETE}}], "Only a whole attribute can be deleted"),
        ([{"gtin": GTIN}, "two"], "Record 1 is a str"),
        ({"gtin": GTIN}, "Put it into a list"),
        (pd.DataFrame({"name": ["x"]}), "no column 'gtin'"),
        (pd.DataFrame({"gtin": [GTIN], "namePublicLong.fr": ["x"]}), "catalog.changes_from"),
        (pd.DataFrame({"gtin": [GTIN], "is_consumer_unit": [True]}), "catalog.changes_from"),
        (pd.DataFrame({"gtin": [GTIN], "attribute": ["x"], "text": ["y"]}), "catalog.changes_from"),
    ],
)
def test_what_cannot_be_a_product_is_refused(source, why):
    """With its place and what to do."""
    with pytest.raises(InputError, match=why):
        records_of(source)


def test_what_is_nested_without_end_is_refused():
    """No crash, and no half of it."""
    endless = []
    endless.append(endless)
    with pytest.raises(InputError, match="nested too deeply"):
        records_of([{"x": endless}])


def test_a_file_with_a_spoilt_line_is_taken_not_at_all(tmp_path):
    """Half a file is not what the user wanted to send."""
    path = tmp_path / "products.jsonl"
    path.write_text('{"gtin": "03036811359935"}\n{"gtin": \n')
    with pytest.raises(
        InputError, match=r"1 of the products in products\.jsonl cannot be read, so none is used"
    ):
        records_of(path)
    with pytest.raises(InputError, match="cannot be read"):
        records_of(tmp_path / "missing.json")


def with_codes(value):
    """Return a value in which a code that pandas made a float is text again."""
    if isinstance(value, list):
        return list(map(with_codes, value))
    if not isinstance(value, dict):
        return value
    is_number = {name: isinstance(one, float) and one.is_integer() for name, one in value.items()}
    return {
        name: str(int(one)) if name == "code" and is_number[name] else with_codes(one)
        for name, one in value.items()
    }


@pytest.mark.slow
@given(wire.products)
@example({"id": {"code": 0.0}})
def test_what_is_filled_goes_out_as_it_came(product):
    """Wild products lose nothing but their nulls at the top (and half surrogates and NaN, which are not JSON)."""
    (record,) = records_of([product])
    assert with_codes({k: v for k, v in product.items() if v is not None and k != "gtin"}) == {
        k: v for k, v in record.items() if k != "gtin"
    }
