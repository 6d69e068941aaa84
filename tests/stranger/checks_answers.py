"""What shows that each trait of products, upserts, tracking and the undocumented answers does what it says."""

from __future__ import annotations

import time
from typing import Any

from .catalogue import gtin_of
from .checks_paging import Checks
from .probe import Probe

WITH: dict[str, Any] = {
    "upsert_413_beyond": 2,
    "upsert_slow_after_accepted": {"seconds": 0.3},
    "segments_deep": 40,
}


def _nth(name: str, nth: int = 2) -> Any:
    return lambda probe: probe.item(nth).get(name, "absent")


def _text(probe: Probe) -> Any:
    return probe.item()["namePublicLong"][0]["data"]


def _has(piece: bytes) -> Any:
    return lambda probe: piece in probe.read().body


def _twins(probe: Probe) -> tuple[int, bool]:
    """The id of the third item, and whether its date differs from that of the second."""
    second, third = probe.page()["data"][1:3]
    return third["id"], second["updatedAt"] != third["updatedAt"]


def _name(probe: Probe) -> Any:
    """The long name of a product in English and French."""
    return probe.item()["namePublicLong"]


def _answer(probe: Probe) -> tuple[int, bytes]:
    answer = probe.upsert()
    return answer.status, answer.body


def _is_late(probe: Probe) -> bool:
    start = time.monotonic()
    return probe.upsert().status == 200 and time.monotonic() - start >= 0.3


def _refused(probe: Probe) -> tuple[int, int, int]:
    """The status of an upsert, what was received by then, and the status of the next."""
    status = probe.upsert().status
    received = len(probe.stranger.received)
    return status, received, probe.upsert().status


def _lost(probe: Probe) -> tuple[bool, int]:
    """Whether an upsert ended without an answer, and how many were received."""
    try:
        probe.upsert()
    except OSError:
        return True, len(probe.stranger.received)
    return False, len(probe.stranger.received)


def _field(name: str) -> Any:
    return lambda probe: probe.tracked().get(name, "absent")


def _outcome(name: str) -> Any:
    return lambda probe: probe.tracked()["products"][0].get(name, "absent")


def _polls(probe: Probe) -> list[tuple[int, bool]]:
    """The status of three polls, and whether each gives a tracking record."""
    probe.upsert()
    answers = [probe.track() for _ in range(3)]
    return [(answer.status, "products" in answer.json) for answer in answers]


def _keys(probe: Probe) -> list[str]:
    """The keys of a node inside the tree of segments."""
    tree = probe.segments()
    inner = next(value for value in tree.values() if isinstance(value, list))
    return sorted(inner[0])


def _depth(tree: Any) -> int:
    return 1 + max((_depth(child) for child in tree["children"]), default=0)


def _activated(probe: Probe) -> tuple[int, bytes]:
    answer = probe.activate()
    return answer.status, answer.body


def _organizations(probe: Probe) -> Any:
    return probe.organizations().json


XML = b"<response><tracking>7</tracking></response>"
GTIN = gtin_of(300_000_000_007)
WRITTEN = gtin_of(400_000_000_000)

CHECKS: Checks = {
    "product_null_before": ([None, 1001], lambda p: [p.item(2), p.item(3)["id"]]),
    "product_is_null": ([None, 1002], lambda p: [p.item(2), p.item(3)["id"]]),
    "product_is_text": ("product", Probe.item),
    "product_is_number": (7, Probe.item),
    "product_is_list": (list, lambda probe: type(probe.item())),
    "product_is_empty": ({}, Probe.item),
    "product_twice": ([1001, 1001], lambda p: [p.item(2)["id"], p.item(3)["id"]]),
    "product_twice_differing": (
        (1001, True),
        _twins,
    ),
    "product_and_another_with_its_id": (
        (1001, 1001, True),
        lambda p: (p.item(2)["id"], p.item(3)["id"], p.item(2)["gtin"] != p.item(3)["gtin"]),
    ),
    "product_and_another_with_its_gtin": (
        (True, False, 40),
        lambda p: (
            p.item(2)["gtin"] == p.item(3)["gtin"],
            "id" in p.item(2),
            p.item(3)["product_key"]["target_market_id"],
        ),
    ),
    "product_with_nan": (True, _has(b'"lifeCycle": NaN')),
    "product_with_infinity": (True, _has(b'"lifeCycle": -Infinity')),
    "product_with_lone_surrogate": ("a\ud800b", _text),
    "product_with_nul": ("a\0b", _text),
    "product_with_controls": ("\x1b", lambda probe: _text(probe)[0]),
    "product_with_html": ("<script>", lambda probe: _text(probe)[:8]),
    "product_with_formula": ("=1+1", _text),
    "product_without_id": ("absent", _nth("id")),
    "product_without_uuid": ("absent", _nth("uuid")),
    "product_without_gtin": ("absent", _nth("gtin")),
    "product_with_null_id": (None, _nth("id")),
    "product_with_null_gtin": (None, _nth("gtin")),
    "product_with_id_text": ("1001", _nth("id")),
    "product_with_id_beyond_64_bits": (2**70, _nth("id")),
    "product_with_gtin_number": (int(GTIN), _nth("gtin")),
    "product_with_gtin_13": (GTIN[1:], _nth("gtin")),
    "product_with_gtin_spaces": (f" {GTIN} ", _nth("gtin")),
    "product_with_gtin_wrong_check": (False, lambda probe: _nth("gtin")(probe) == GTIN),
    "product_with_deep_nesting": (True, _has(b"[" * 3000 + b"]" * 3000)),
    "product_with_endless_nesting": (True, _has(b"[" * 200_000)),
    "product_with_long_integer": (10**400, _nth("lifeCycle")),
    "product_with_longer_integer": (True, _has(b"1" * 5000)),
    "product_with_huge_float": (True, _has(b'"lifeCycle": 1e999')),
    "product_with_long_text": (40_000, lambda probe: len(probe.item()["description"][0]["data"])),
    "product_of_5_megabytes": (True, lambda probe: len(probe.read().body) > 5_000_000),
    "product_with_many_keys": (True, lambda probe: len(probe.item()) > 5000),
    "product_with_duplicate_keys": (True, _has(b'"owner": {"name": "A", "name": "B"}')),
    "product_with_cycle": (GTIN, lambda probe: probe.item()["logisticalHierarchies"][0]["gtin"]),
    "product_with_odd_keys": (["", "a.b", " name ", "__class__"], lambda probe: list(probe.item()["owner"])),
    "texts_plain": ("Butter biscuit 1", _name),
    "texts_object": ("Butter biscuit 1", lambda probe: _name(probe)["data"]),
    "texts_by_language": (["en", "fr"], lambda probe: sorted(_name(probe))),
    "texts_null_data": (None, lambda probe: _name(probe)[-1]["data"]),
    "texts_without_language": (["data"], lambda probe: list(_name(probe)[0])),
    "texts_null_items": (None, lambda probe: _name(probe)[0]),
    "codes_plain": ("102", _nth("kind")),
    "codes_numbers": (int, lambda probe: type(probe.item()["brand"]["code"])),
    "codes_null": (None, lambda probe: probe.item()["brand"]["code"]),
    "codes_lists": (list, lambda probe: type(probe.item()["brand"])),
    "codes_labels_objects": ({"en": "Biscuit"}, lambda probe: probe.item()["kind"]["label"]),
    "empty_lists_null": (None, _nth("isTaggedBy", 1)),
    "nulls_absent": ("absent", _nth("isTaggedBy", 1)),
    "booleans_as_text": ("true", _nth("isConsumerUnit")),
    "booleans_as_numbers": (True, _has(b'"isConsumerUnit": 1,')),
    "keys_in_snake_case": (True, lambda probe: "name_public_long" in probe.item()),
    "ids_as_text": (["1000", "1001"], lambda p: [p.item(1)["id"], p.item(2)["id"]]),
    "ids_change": (False, lambda probe: probe.item()["id"] == probe.item()["id"]),
    "ids_absent": ("absent", _nth("id", 5)),
    "uuids_absent": ("absent", _nth("uuid", 5)),
    "uuids_upper_case": (True, lambda probe: probe.item()["uuid"].isupper()),
    "gtins_of_13": (GTIN[1:], _nth("gtin")),
    "gtins_as_numbers": (int(GTIN), _nth("gtin")),
    "gtins_equal": (1, lambda probe: len({item["gtin"] for item in probe.page()["data"]})),
    "assets_singular": (True, lambda probe: "document" in probe.item()["assets"]),
    "assets_list": (list, lambda probe: type(probe.item()["assets"])),
    "products_wrapped": (["product"], lambda probe: list(probe.item())),
    "products_under_last_request": (
        (True, "absent"),
        lambda p: ("brand" in p.item()["lastRequest"], _nth("brand")(p)),
    ),
    "attributes_unknown": ({"a": [1, None, {}]}, _nth("x-new")),
    "totals_key_renamed": (30, lambda probe: probe.page()["total"]),
    "data_key_renamed": (20, lambda probe: len(probe.page()["products"])),
    "cursor_key_renamed": (True, lambda probe: "nextPage" in probe.page(next_page="")),
    "envelope_wrapped": (["result"], lambda probe: list(probe.page())),
    "upsert_tracking_text": ((200, b'{"tracking": "7"}'), _answer),
    "upsert_tracking_float": ((200, b'{"tracking": 7.0}'), _answer),
    "upsert_tracking_nested": ((200, b'{"data": {"tracking": 7}}'), _answer),
    "upsert_tracking_list": ((200, b'[{"tracking": 7}]'), _answer),
    "upsert_tracking_id_key": ((200, b'{"trackingId": 7}'), _answer),
    "upsert_tracking_snake_key": ((200, b'{"tracking_id": 7}'), _answer),
    "upsert_bare_number": ((200, b"7"), _answer),
    "upsert_bare_text": ((200, b'"7"'), _answer),
    "upsert_no_content": ((204, b""), _answer),
    "upsert_tracking_null": ((200, b'{"tracking": null}'), _answer),
    "upsert_tracking_zero": ((200, b'{"tracking": 0}'), _answer),
    "upsert_tracking_absent": ((200, b'{"status": "accepted"}'), _answer),
    "upsert_says_ok": ((200, b"OK"), _answer),
    "upsert_empty_body": ((200, b""), _answer),
    "upsert_xml_with_bom": ((200, b"\xef\xbb\xbf" + XML), _answer),
    "upsert_xml_attribute": ((200, b'<response tracking="7"/>'), _answer),
    "upsert_xml_namespace": (True, lambda probe: b"<p:tracking>7</p:tracking>" in probe.upsert().body),
    "upsert_xml_root": (True, lambda probe: probe.upsert().body.endswith(b"\n<tracking> 7 </tracking>")),
    "upsert_xml_deep": (True, lambda probe: b"<a><b><c><tracking>7<" in probe.upsert().body),
    "upsert_xml_cut": ((200, b"<response><tracking>7</track"), _answer),
    "upsert_xml_entities": (True, lambda probe: b'<!ENTITY n "7">' in probe.upsert().body),
    "upsert_tracking_large": (
        (2**31 + 7, 200),
        lambda p: (n := p.upsert().json["tracking"], p.track(n).status),
    ),
    "upsert_created": ((201, b'{"tracking": 7}'), _answer),
    "upsert_accepted": ((202, b'{"tracking": 7}'), _answer),
    "upsert_500_after_accepted": ((500, 1, 200), _refused),
    "upsert_504_after_accepted": ((504, 1, 200), _refused),
    "upsert_closed_after_accepted": ((True, 1), _lost),
    "upsert_slow_after_accepted": (True, _is_late),
    "upsert_closed_before_read": ((True, 0), _lost),
    "upsert_503_not_accepted": ((503, 0, 200), _refused),
    "upsert_400_not_accepted": ((400, 0, 200), _refused),
    "upsert_429_not_accepted": ((429, 0, 200), _refused),
    "upsert_413_beyond": ([200, 413], lambda probe: [probe.upsert(2).status, probe.upsert(3).status]),
    "upsert_401": ((401, 0, 401), _refused),
    "upsert_403": ((403, 0, 403), _refused),
    "tracking_404_first": ([(404, False), (404, False), (200, True)], _polls),
    "tracking_empty_first": ([(200, False), (200, False), (200, True)], _polls),
    "tracking_503_first": ([(503, False), (503, False), (200, True)], _polls),
    "tracking_500_for_one": (
        [500, 200],
        lambda p: [p.upsert(n) and p.track(n).status for n in (7, 8)],
    ),
    "tracking_401": (401, lambda probe: probe.track().status),
    "tracking_never_ends": ("IN_PROGRESS", _field("status")),
    "tracking_status_unknown": ("DONE", _field("status")),
    "tracking_status_queued": ("QUEUED", _field("status")),
    "tracking_status_lower_case": ("success", _field("status")),
    "tracking_status_missing": ("absent", _field("status")),
    "tracking_status_null": (None, _field("status")),
    "tracking_status_timeout": ("TIMEOUT", _field("status")),
    "tracking_status_error": ("ERROR", _field("status")),
    "tracking_products_null": (None, _field("products")),
    "tracking_products_missing": ("absent", _field("products")),
    "tracking_products_empty": ([], _field("products")),
    "tracking_products_gtins_of_13": (WRITTEN[1:], _outcome("gtin")),
    "tracking_products_gtins_as_numbers": (int(WRITTEN), _outcome("gtin")),
    "tracking_products_lower_case": ("success", _outcome("status")),
    "tracking_products_without_status": ("absent", _outcome("status")),
    "tracking_products_null_items": (None, lambda probe: probe.tracked()["products"][0]),
    "tracking_products_short": (1, lambda probe: len(probe.tracked()["products"])),
    "tracking_products_disagree": (
        ("SUCCESS", "ERROR"),
        lambda probe: ((record := probe.tracked())["status"], record["products"][0]["status"]),
    ),
    "tracking_count_differs": (3, _field("count")),
    "tracking_count_missing": ("absent", _field("count")),
    "tracking_of_another": (1007, _field("tracking")),
    "tracking_number_text": ("7", _field("tracking")),
    "tracking_in_list": (list, lambda probe: type(probe.tracked())),
    "tracking_in_data": (["data"], lambda probe: list(probe.tracked())),
    "segments_uuid_and_label": (["children", "label", "uuid"], _keys),
    "segments_code_and_title": (["children", "code", "title"], _keys),
    "segments_root_without_id": (["name", "children"], lambda probe: list(probe.segments())),
    "segments_root_only_children": (["children"], lambda probe: list(probe.segments())),
    "segments_list_at_top": (2, lambda probe: len(probe.segments())),
    "segments_flat_parent": ("PS_42_0_root", lambda probe: probe.segments()[1]["parent"]),
    "segments_flat_parent_id": ("PS_42_0_root", lambda probe: probe.segments()[1]["parentId"]),
    "segments_flat_parent_object": ({"id": "PS_42_2_other"}, lambda probe: probe.segments()[0]["parent"]),
    "segments_sub_segments": (["id", "name", "subSegments"], _keys),
    "segments_nodes": (["id", "name", "nodes"], _keys),
    "segments_in_data": (["data"], lambda probe: list(probe.segments())),
    "segments_list_in_data": (2, lambda probe: len(probe.segments()["data"])),
    "segments_names_localized": ("All products", lambda probe: probe.segments()["name"][0]["data"]),
    "segments_ids_numbers": (42, lambda probe: probe.segments()["id"]),
    "segments_children_null": (None, lambda probe: probe.segments()["children"][-1]["children"]),
    "segments_deep": (40, lambda probe: _depth(probe.segments())),
    "segments_empty": ([], Probe.segments),
    "organizations_list": (5, lambda probe: len(_organizations(probe))),
    "organizations_data_only": (["data"], lambda probe: list(_organizations(probe))),
    "organizations_key": (["organizations"], lambda probe: list(_organizations(probe))),
    "organizations_wrong_total": (15, lambda probe: _organizations(probe)["totalResults"]),
    "organizations_paging_ignored": (7, lambda p: p.organizations("?offset=2&limit=2").json["data"][0]["id"]),
    "organizations_uuid_and_name": (["name", "type", "uuid"], lambda p: sorted(_organizations(p)["data"][0])),
    "organizations_403": (403, lambda probe: probe.organizations().status),
    "scenarios_ok_text": ((200, b"OK"), _activated),
    "scenarios_ok_as_json": ((200, b"OK"), _activated),
    "scenarios_no_content": ((204, b""), _activated),
    "scenarios_accepted": ((202, b""), _activated),
    "scenarios_list": (list, lambda probe: type(probe.activate().json)),
    "scenarios_null": ((200, b"null"), _activated),
    "scenarios_403": ((403, 0), lambda p: (p.activate().status, len(p.stranger.activations))),
    "scenarios_says_false": (False, lambda probe: probe.activate().json["success"]),
}
