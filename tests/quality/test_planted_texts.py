"""The plan of planted defects against the rules: every defect found, and none that nobody planted."""

from __future__ import annotations

import pytest

import prodex
from prodex.quality.outcome import Audit
from prodex.sandbox.sample import AS_OF, shared_products
from tests.quality.planted import CHECKS, COUNT, explained, found, planted, profile

pytestmark = pytest.mark.xdist_group("sample")


@pytest.fixture(scope="module")
def audit() -> Audit:
    """Judge the sample by the checks that stand for a kind of defect."""
    catalog = prodex.flatten(product.record for product in shared_products(COUNT))
    return prodex.audit(catalog, profile(), now=AS_OF, progress=False)


def test_every_check_is_asked(audit: Audit) -> None:
    """No rule crashes, and nothing is unknown."""
    assert () == audit.crashes
    assert 0 == (audit.states == 3).sum()


@pytest.mark.parametrize("defect", sorted(CHECKS))
def test_every_planted_defect_is_found(audit: Audit, defect: str) -> None:
    """Recall is 1."""
    assert set() != planted(defect)
    assert set() == planted(defect) - found(audit, defect)


@pytest.mark.parametrize("defect", sorted(CHECKS))
def test_no_defect_is_invented(audit: Audit, defect: str) -> None:
    """Precision is 1: what a check finds was planted, or follows from what was planted."""
    assert set() == found(audit, defect) - explained(defect)
