"""Segments, organisations and scenarios of a service that nobody here made, in shapes that no specification shows."""

from __future__ import annotations

import pytest
from tests.cases import each_row
from tests.load.strange import connected
from tests.stranger import TRAITS, Stranger

import prodex
from prodex.errors import ProdexError


def traits(prefix: str) -> list[str]:
    return sorted(name for name in TRAITS if name.startswith(prefix))


def names_of(shape: str | None) -> set[str]:
    """Return the names of segments that a service gives in some shape."""
    with Stranger(5, [shape] if shape else []) as stranger:
        return set(prodex.load_segments(connected(stranger))["name"].dropna())


@pytest.mark.slow
@each_row("shape", traits("segments_"))
def test_no_segment_is_lost(shape: str) -> None:
    """Whatever they are called and however they hang together, their names are those of the documented shape."""
    expected = names_of(None)
    found = names_of(shape)
    if shape == "segments_deep":
        assert len(found) >= 100
    elif shape == "segments_empty":
        assert not found
    else:
        # A root that has no name, or that a list leaves out, is the only one that does not come.
        assert expected - found <= {"All products"}


@each_row("shape", traits("organizations_"))
def test_no_organization_is_lost(shape: str) -> None:
    """Nor is one invented where paging is ignored; what cannot be read is an error that shows the reply."""
    with Stranger(5) as stranger:
        expected = len(prodex.load_organizations(connected(stranger)))
    with Stranger(5, [shape]) as stranger:
        if shape in {"organizations_403", "organizations_wrong_total"}:
            with pytest.raises(
                ProdexError, match=r"HTTP 403|5 organisations were received, but the service announced 15"
            ):
                prodex.load_organizations(connected(stranger))
        else:
            assert expected == len(prodex.load_organizations(connected(stranger)))


@each_row("shape", traits("scenarios_"))
def test_any_success_is_done(shape: str) -> None:
    """A 2xx means success, whatever its body; a refusal is reported for its batch."""
    with Stranger(5, [shape]) as stranger:
        uuid = next(iter(stranger.products.values()))["uuid"]
        client = connected(stranger)
        if shape == "scenarios_403":
            with pytest.raises(ProdexError, match="only for retailers"):
                prodex.require_scenarios(client, [uuid], {"7": True})
        else:
            outcome = prodex.require_scenarios(client, [uuid], {"7": True})
            assert ["DONE"] == [str(status).upper() for status in outcome["status"]]
        assert (shape != "scenarios_403") == bool(stranger.activations)
