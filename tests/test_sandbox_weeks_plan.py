"""What happens in the simulated weeks, on whatever day they end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from prodex.quality.unusual import NEEDED
from prodex.sandbox_weeks import loads_until
from tests.cases import each_row

MONDAY = datetime(2026, 11, 16, 9, tzinfo=UTC)


@each_row("hour", [0, 9, 23])
@each_row("days", range(7))
def test_there_is_a_monday_to_compare_with(days: int, hour: int) -> None:
    """Two to eight days ago; there are three, a week apart, and suppliers are asked on the second."""
    end = MONDAY.replace(hour=hour) + timedelta(days=days)
    steps = loads_until(end)
    mondays = [step.moment for step in steps if step.is_monday]

    assert [0, 0, 0] == [monday.weekday() for monday in mondays]
    assert 2 <= (end.date() - mondays[-1].date()).days <= 8
    assert [timedelta(days=7)] * 2 == [mondays[1] - mondays[0], mondays[2] - mondays[1]]
    assert [mondays[1]] == [step.moment for step in steps if step.asks]


@each_row("days", range(7))
def test_days_pass_one_after_another(days: int) -> None:
    """Each day once, the last with an incident, and audits enough for a watch."""
    end = MONDAY + timedelta(days=days)
    steps = loads_until(end)
    moments = [step.moment for step in steps]

    assert sorted(set(moments)) == moments
    assert end == moments[-1]
    assert NEEDED <= len(steps) <= NEEDED + 1
    assert (end.date() - moments[0].date()).days == sum(step.days for step in steps)
    assert [0] == [place for place, step in enumerate(steps) if step.days == 0]
    assert [len(steps) - 1] == [place for place, step in enumerate(steps) if step.has_incident]
