"""The earlier snapshots that are offered for a comparison are those that people mean by their words."""

from __future__ import annotations

from prodex.notebook.snapshots.comparison import snapshots_to_compare
from prodex.notebook.snapshots.saved import SnapshotEntry
from tests.cases import each_row


def made(*times: str, name: str = "shop") -> list[SnapshotEntry]:
    """Return snapshots made at these times of November 2026, newest first."""
    days = [(f"2026-11-{time[:2]}T{time[3:] or '050000'}.000000Z") for time in times]
    return [SnapshotEntry(name, day, f"/{name}/{day}", 9, 9, True, "") for day in days]


def offered(kept: list[SnapshotEntry], newest: int = 0) -> list[tuple[str, str]]:
    return [(label, one.time[8:13]) for label, one in snapshots_to_compare(kept, kept[newest])]


@each_row(
    ("times", "expected"),
    [
        # The 16th is a Monday. A snapshot of that day is the one that the week began with.
        (["19", "18", "16", "15"], [("Since 18 November", "18T05"), ("Since Monday (16 November)", "16T05")]),
        # Without one, the last before it.
        (["19", "18", "15"], [("Since 18 November", "18T05"), ("Since Monday (15 November)", "15T05")]),
        # On a Monday, the Monday before.
        (["16", "13", "09"], [("Since 13 November", "13T05"), ("Since Monday (9 November)", "09T05")]),
        # Two of one day are told apart by their time.
        (["19 120000", "19 080000"], [("Since 08:00", "19T08")]),
        (["19"], []),
    ],
)
def test_days_are_counted_from_the_newest_snapshot(times: list[str], expected: list[tuple[str, str]]) -> None:
    """The words say which snapshot is meant, and each is offered once."""
    assert expected == offered(made(*times))


def test_a_month_ago_is_the_last_snapshot_of_that_time() -> None:
    """Of several in between none is taken."""
    kept = made("30", "29", "20")
    month = SnapshotEntry("shop", "2026-10-28T050000.000000Z", "/month", 9, 9, True, "")
    labels = [label for label, _ in snapshots_to_compare([*kept, month], kept[0])]
    assert "Since a month ago (28 October)" == labels[-1]


def test_snapshots_of_other_names_and_later_ones_are_not_offered() -> None:
    """A shop is compared with itself, and with its past."""
    kept = made("19", "18", "17")
    assert [("Since 17 November", "17T05")] == offered([*kept, *made("16", name="other")], newest=1)


def test_a_folder_with_a_name_of_its_own_is_left_alone() -> None:
    """Somebody renamed it, and nobody knows when it was made."""
    kept = [SnapshotEntry("shop", "mine", "/mine", 9, 9, True, ""), *made("18")]
    assert [] == snapshots_to_compare(kept, kept[0])
