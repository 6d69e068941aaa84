"""Products are kept as they were before they are written: beside the journal, for their owner, and not for ever."""

from __future__ import annotations

import random
import stat
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from mill_exchange import MILL, SHOP, client, gtin, small_exchange, text
from tests.ledgered import contents, rewrite, spoil
from tests.on_the_way import ending_with

import prodex
from prodex.errors import InputError, OtherLayout, ServiceError, SettingsError
from prodex.ledger.earlier_records import EarlierRecord, earlier_records, remove_old
from prodex.ledger.upsert_file import UPSERT_FILE, ledger_folder
from prodex.limits import KeepingLimits
from prodex.sandbox import Behaviour, Sandbox
from prodex.service import Client

NAME = [text("fra-FR", "Autre")]
NEW = {"gtin": gtin(77), "namePublicLong": NAME, "kind": {"code": "70020"}}


@pytest.fixture
def exchange() -> Iterator[Sandbox]:
    """Serve five products of the mill."""
    with small_exchange() as sandbox:
        yield sandbox


@pytest.fixture
def mill(exchange: Sandbox) -> Client:
    """The manufacturer whose products they are."""
    return client(exchange, MILL)


def written(number: int = 1, **attributes: Any) -> dict[str, Any]:
    """Return what is sent of a product."""
    return {"gtin": gtin(number), "namePublicLong": NAME, **attributes}


def file_of(name: str) -> Path:
    """Return the file of an upsert."""
    return ledger_folder() / name / UPSERT_FILE


def sent(service: Client, *products: dict[str, Any], **options: Any) -> str:
    """Send products to the end, and return the name of the upsert."""
    tracking = prodex.upsert(service, list(products) or [written()], progress=False, **options)
    assert tracking.name is not None
    tracking.wait(progress=False)
    return tracking.name


def kept() -> list[str]:
    """Return the upserts of which earlier records are kept, the newest first."""
    names: list[str] = prodex.list_upserts().query("earlier_records > 0")["name"].tolist()
    return names


def test_a_product_is_kept_as_it_was_and_what_was_sent_of_it(mill: Client) -> None:
    """One that the service did not list is kept as new."""
    name = sent(mill, written(lifeCycle=2), NEW)
    known, new = earlier_records(name)
    assert known.before is not None
    assert ("1", 1, "2026-11-01T12:00:00") == (
        known.product,
        known.before["lifeCycle"],
        known.before["updatedAt"],
    )
    assert {"namePublicLong": NAME, "lifeCycle": 2} == known.sent
    assert (True, "", gtin(77), False) == (new.is_new, new.product, new.gtin, known.is_new)


def test_it_is_on_the_disk_before_the_first_call_for_its_owner_only(mill: Client) -> None:
    """As payloads are."""
    found = []
    send = mill.upsert_products

    def upsert_products(*arguments: Any) -> Any:
        (path,) = ledger_folder().glob(f"*/{UPSERT_FILE}")
        found.append(stat.S_IMODE(path.lstat().st_mode))
        return send(*arguments)

    mill.upsert_products = upsert_products  # type: ignore[method-assign]
    name = sent(mill)
    content = file_of(name).read_bytes()
    assert [0o600] == found
    assert (False, False) == (b"mill-secret" in content, b"Name 1" in content)


def test_who_and_why_are_said(mill: Client) -> None:
    """The user of the machine, unless somebody else is given."""
    first, second = sent(mill), sent(mill, by="Ana", why="spelling")
    listed = prodex.list_upserts()
    assert [second, first] == kept() == listed["name"].tolist()
    assert [1, 1] == listed["products"].tolist()
    own, other = listed["by"]
    assert "Ana" == own != other != ""
    assert [1, 2] == listed["number"].tolist()
    assert ["spelling", "upsert of records"] == listed["why"].tolist()
    assert [sum(map(len, contents(file_of(one), "records"))) for one in (second, first)] == listed[
        "earlier_records"
    ].tolist()
    days = (listed["kept_until"] - pd.to_datetime(listed["at"], utc=True)).dt.round("D")
    assert [timedelta(days=90)] * 2 == days.tolist()


def test_without_keeping_nothing_is_requested(mill: Client, exchange: Sandbox) -> None:
    """And the reason why it cannot be taken back is known."""
    before = len(exchange.requests)
    name = sent(mill, keep_before=False)
    assert ["/public/v1/products"] == [
        path for method, path, _ in exchange.requests[before:] if method == "POST" and "token" not in path
    ]
    with pytest.raises(InputError, match="keep_before=False"):
        list(earlier_records(name))


@pytest.mark.parametrize("variable", ["PRODEX_EARLIER_RECORDS_DAYS", "PRODEX_EARLIER_RECORDS_GB"])
def test_a_setting_of_zero_keeps_nothing(
    mill: Client, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """As keep_before=False does."""
    monkeypatch.setenv(variable, "0")
    assert not contents(file_of(sent(mill)), "records")


@pytest.mark.parametrize("value", ["-1", "many", "nan", "inf"])
def test_a_setting_that_is_no_number_is_refused(
    mill: Client, exchange: Sandbox, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    """Before anything is sent."""
    monkeypatch.setenv("PRODEX_EARLIER_RECORDS_GB", value)
    with pytest.raises(SettingsError, match="PRODEX_EARLIER_RECORDS_GB is"):
        prodex.upsert(mill, [written()], progress=False)
    monkeypatch.delenv("PRODEX_EARLIER_RECORDS_GB")
    assert prodex.list_upserts().empty


def test_products_that_cannot_be_requested_are_not_sent(mill: Client, exchange: Sandbox) -> None:
    """The error says what to do."""

    def refused(*_: Any, **__: Any) -> Any:
        raise ServiceError("no searching today")

    mill.search_products = refused  # type: ignore[method-assign]
    with pytest.raises(ServiceError) as caught:
        prodex.upsert(mill, [written()], progress=False)
    assert "keep_before=False sends them without" in caught.value.__notes__[0]
    assert prodex.list_upserts().empty
    assert (
        "SUCCESS"
        == prodex.upsert(mill, [written()], keep_before=False, progress=False).wait(progress=False).status
    )


def test_a_damaged_entry_is_named_and_hides_no_other(mill: Client) -> None:
    """Wherever its bit is wrong, every product is named, and none has another record."""
    name = sent(mill, written(1), written(2), written(3))
    path = file_of(name)
    whole = path.read_bytes()
    kept = {one.gtin: one for one in earlier_records(name)}
    packed = contents(path, "records")[1][-60:]
    begin = whole.index(packed)
    for place in range(begin, begin + len(packed), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = list(earlier_records(name))
        assert [gtin(1), gtin(2), gtin(3)] == [one.gtin for one in found]
        assert [False, True, False] == [bool(one.problem) for one in found]
        assert all(one == kept[one.gtin] for one in found if not one.problem)


@pytest.mark.slow
def test_no_damaged_bit_gives_a_product_another_record(mill: Client) -> None:
    """Anywhere in the file: it is as it was kept, or named, or the upsert cannot be read."""
    name = sent(mill, written(1), written(2), written(3))
    path = file_of(name)
    whole = path.read_bytes()
    kept = {one.gtin: one for one in earlier_records(name)}
    for place in range(0, len(whole), 83):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        try:
            found = list(earlier_records(name))
        except (InputError, OtherLayout):
            continue
        assert all(one == kept[one.gtin] for one in found if not one.problem), place


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"\xff", zlib.compress(b"["), zlib.compress(b'{"product": 7, "before": null}')]
)
def test_an_entry_of_another_form_is_named_by_its_gtin(mill: Client, content: bytes) -> None:
    """Although its checksum is right."""
    name = sent(mill, written(1), written(2))
    rewrite(file_of(name), "records", 0, content)
    assert [(gtin(1), True), (gtin(2), False)] == [
        (one.gtin, bool(one.problem)) for one in earlier_records(name)
    ]


def test_what_is_forgotten_is_in_no_byte(mill: Client) -> None:
    """Neither in the file nor beside it, and the file becomes smaller."""
    product = written(1, description=[text("fra-FR", "Un secret de la maison")])
    name = sent(mill, product)
    packed = contents(file_of(name), "records")[0]
    size = file_of(name).stat().st_size
    assert packed[:30] in file_of(name).read_bytes()
    for number in range(40):
        sent(mill, written(2, lifeCycle=number))
    words = [text("fra-FR", random.Random(1).randbytes(9_000).hex())]
    large = sent(mill, *(written(n, description=words) for n in (1, 2, 3, 4, 5)))
    before = file_of(large).stat().st_size
    prodex.send.forget_earlier_records()
    every = b"".join(path.read_bytes() for path in ledger_folder().rglob("*") if path.is_file())
    assert (False, False) == (packed[:30] in every, b"secret de la maison" in every)
    assert file_of(name).stat().st_size <= size
    assert file_of(large).stat().st_size < before
    assert 42 == len(prodex.list_upserts())


def test_some_products_are_found_without_reading_all(mill: Client) -> None:
    """By id or GTIN."""
    name = sent(mill, written(1), written(2), written(3))
    assert [["2"], ["3"], []] == [
        [one.product for one in earlier_records(name, [wanted])] for wanted in ("2", gtin(3).lstrip("0"), "9")
    ]


def test_a_file_that_is_a_link_is_not_read(mill: Client, tmp_path: Path) -> None:
    """It would lead elsewhere."""
    name = sent(mill)
    elsewhere = tmp_path / "elsewhere"
    file_of(name).rename(elsewhere)
    file_of(name).symlink_to(elsewhere)
    with pytest.raises(InputError, match="it is no plain file"):
        list(earlier_records(name))


def test_what_is_kept_is_removed_by_name_or_all_of_it(mill: Client) -> None:
    """What was sent remains known."""
    first, second, third = sent(mill), sent(mill), sent(mill)
    assert prodex.send.forget_earlier_records(second) > 0
    assert [third, first] == kept()
    prodex.send.forget_earlier_records()
    assert ([], 3, [0, 0, 0]) == (
        kept(),
        len(prodex.list_upserts()),
        prodex.list_upserts()["earlier_records"].tolist(),
    )
    with pytest.raises(InputError, match="no upsert 'x'"):
        prodex.send.forget_earlier_records("x")


def test_the_oldest_are_removed_first_and_the_newest_stays(mill: Client) -> None:
    """However small the size is."""
    names = [sent(mill) for _ in range(3)]
    size = prodex.list_upserts()["earlier_records"].iloc[-1]
    assert [names[0]] == remove_old(KeepingLimits(90, 2.5 * size / 1e9))
    assert [names[1]] == remove_old(KeepingLimits(90, 1e-9))
    assert [names[2]] == kept()


def test_what_is_too_old_is_removed_by_the_next_upsert(mill: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest one as well, once its time is over."""
    name = sent(mill)
    later = datetime.now(UTC) + timedelta(days=91)
    assert [] == remove_old(KeepingLimits(92, 1), later)
    assert [name] == remove_old(KeepingLimits(90, 1), later)
    old = sent(mill)
    monkeypatch.setenv("PRODEX_EARLIER_RECORDS_DAYS", "0.0000001")
    new = sent(mill)
    assert [new] == kept()
    assert old != new


def test_those_of_an_upsert_that_is_under_way_stay(mill: Client) -> None:
    """Its rest may still be sent, and its import may still run."""
    unfinished = prodex.upsert(mill, [written()], progress=False)  # nobody has seen its end
    assert unfinished.name is not None
    sent(mill)
    limits = KeepingLimits(90, 1e-9)
    assert [] == remove_old(limits)
    unfinished.wait(progress=False)
    assert [unfinished.name] == remove_old(limits)


def test_what_is_sent_later_is_kept_as_it_is_then(mill: Client) -> None:
    """Somebody has changed it between the plan and the sending; what was being sent may have arrived, and stays."""
    with ending_with(mill, gtin(2)), pytest.raises(KeyboardInterrupt):
        prodex.upsert(mill, [written(n) for n in (1, 2, 3, 4)], batch_size=1, progress=False)
    name = prodex.list_upserts()["name"][0]
    sent(mill, written(2, lifeCycle=9), written(3, lifeCycle=9), keep_before=False)
    prodex.track(mill, upsert=name).send_rest(also="unknown", progress=False).wait(progress=False)
    kept = {one.product: one.before["lifeCycle"] for one in earlier_records(name) if one.before is not None}
    assert {"1": 1, "2": 1, "3": 9, "4": 1} == kept
    assert ["3"] == [one.product for one in earlier_records(name, ["3"])]
    assert [{"namePublicLong": NAME}] * 4 == [one.sent for one in earlier_records(name)]

    spoil(file_of(name), "records", len(contents(file_of(name), "records")) - 1)
    newest = list(earlier_records(name))
    assert [gtin(4)] == [one.gtin for one in newest if one.problem]
    assert 4 == len(newest), "an older one is not taken for it"


def test_a_fix_keeps_the_products_that_it_was_judged_by(mill: Client, exchange: Sandbox) -> None:
    """They are not requested once more."""
    catalog = prodex.load_products(mill, progress=False)
    correction = prodex.TextCorrection("1", "namePublicLong", "fr", "Autre", before="Name 1 fr")
    fix = prodex.correct_from([correction], catalog)
    before = len(exchange.requests)
    tracking = fix.apply(mill, progress=False)
    assert tracking.name is not None
    (kept,) = earlier_records(tracking.name)
    assert kept.before is not None
    assert ("1", "Name 1 fr") == (kept.product, kept.before["namePublicLong"][0]["data"])
    assert ["namePublicLong"] == list(kept.sent)
    # With this filter the products of an upsert of records are requested.
    assert not any("allow_not_consumer_units" in str(body) for *_, body in exchange.requests[before:])
    assert "corrections that were typed" == prodex.list_upserts()["why"][0]


def test_a_product_that_is_no_consumer_unit_is_kept_too() -> None:
    """Services do not list these unless they are asked for."""
    with small_exchange(Behaviour(only_consumer_units=True)) as sandbox:
        service = client(sandbox, MILL)
        sent(service, written(isConsumerUnit=False))
        name = sent(service, written())
        (kept,) = earlier_records(name)
    assert not kept.is_new


def test_what_a_retailer_writes_is_kept_as_it_sees_it(exchange: Sandbox) -> None:
    """And an entry says nothing of what it does not see."""
    shop = client(exchange, SHOP)
    tracking = prodex.upsert(shop, [written()], progress=False).wait(progress=False)
    assert tracking.name is not None
    assert isinstance(next(earlier_records(tracking.name)), EarlierRecord)
