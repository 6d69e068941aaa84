"""Suppliers who are asked to correct products do so, and it is known what would be right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filled import fill

from prodex import sandbox
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox import sample
from prodex_sandbox.simulation.run import activity, care

COUNT = 600
NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give the user a home with a sample."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    return fill(tmp_path / "sandbox", COUNT)


@pytest.fixture(scope="module")
def gtins() -> list[str]:
    """Return the GTINs of the sample."""
    return [str(one.record["gtin"]) for one in sample.shared_products(COUNT) if "gtin" in one.record]


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_what_is_wrong_is_what_was_planted(gtins: list[str]) -> None:
    """Each value belongs to a planned defect, is the one that the product has, and is not right."""
    found = sandbox.open_defects(gtins)
    planned = {(one.product_id, one.defect) for one in sample.plan(COUNT)}

    assert len(found) > 100
    assert set() == set(zip(found["product_id"], found["defect"], strict=True)) - planned
    assert set(found["gtin"]) <= set(gtins)
    assert [] == [one for one in found.itertuples() if one.value == one.right]
    assert {"placeholder_text", "missing_translation"} & set(found["defect"])


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_what_was_asked_for_is_corrected(gtins: list[str]) -> None:
    """Within two weeks most of it, by the right values; of other products no more than ever."""
    asked = gtins[: COUNT // 2]
    before = sandbox.open_defects(gtins)
    journal = sandbox.simulate(14, requested=asked).to_frame()
    corrected = journal[journal["action"] == "corrected"]
    others = corrected[~corrected["gtin"].isin(asked)]
    after = sandbox.open_defects(asked)

    assert len(after) < 0.6 * before["gtin"].isin(asked).sum()
    assert len(others) < 0.1 * len(corrected)
    place = ["product_id", "attribute", "language"]
    right = before.astype({"right": str}).set_index(place)["right"].to_dict()
    known = corrected[corrected["product_id"].isin(before["product_id"])]
    told = {tuple(one[:3]): str(one[3]) for one in known[[*place, "after"]].itertuples(index=False)}
    assert len(told) > 50
    assert {key: right.get(key, value) for key, value in told.items()} == told


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_suppliers_answer_as_they_work(gtins: list[str]) -> None:
    """Those who are careful and do much correct a larger share in a week than the others."""
    before = sandbox.open_defects(gtins).groupby("supplier")["product_id"].nunique()
    sandbox.simulate(7, requested=gtins)
    after = sandbox.open_defects(gtins).groupby("supplier")["product_id"].nunique()
    share = (1 - after.reindex(before.index).fillna(0) / before)[before >= 5]
    pace = [care(name) * activity(name, sample.AS_OF.date()) for name in share.index]
    ranks = share.rank().corr(share.set_axis(pace).reset_index()["index"].rank().set_axis(share.index))

    assert len(share) > 8
    assert ranks > 0.5


@dataclass(frozen=True, kw_only=True)
class Standing(Behaviour):
    """A service whose clock stands still."""

    def now(self) -> datetime:
        return NOW


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_days_without_a_request_are_as_ever(gtins: list[str]) -> None:
    """What a request changes is what was asked for alone: all else of the day is drawn as without it."""
    # The hour of a change is that of the clock, which goes on between the two.
    asked = sandbox.simulate(1, requested=gtins[:1], behaviour=Standing())
    sandbox.reset()
    plain = sandbox.simulate(1, behaviour=Standing())

    assert [one for one in asked if one.gtin != gtins[0]] == [one for one in plain if one.gtin != gtins[0]]


@pytest.mark.slow
@pytest.mark.usefixtures("home")
def test_what_a_supplier_broke_is_known_too() -> None:
    """With the value that it had before."""
    journal = sandbox.simulate(20).to_frame()
    broken = journal[journal["action"] == "broken"].drop_duplicates("product_id", keep="last").iloc[-1]
    found = sandbox.open_defects(broken["gtin"])

    assert broken["detail"] in set(found["defect"])


@pytest.mark.slow
def test_nobody_knows_what_is_right_for_other_products() -> None:
    """Products that the sample did not make have no original, and a GTIN that no product has asks nobody."""
    with Sandbox([{"id": 1, "gtin": "03036811359935"}]) as exchange:
        assert [] == [
            one for one in exchange.simulate(3, requested=["3036811359935", "1"]) if one.action == "corrected"
        ]
