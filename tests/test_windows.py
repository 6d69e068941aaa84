"""What Windows does otherwise with files, as a simulation on Linux; see tests/windows.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import prodex
from prodex.formats.registry import FORMATS
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products
from tests.windows import Windows, faults, on_windows


#: Of a product with more text than a cell of a workbook holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*does not hold everything:UserWarning")


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve a few products, from a store that is no part of what is simulated."""
    with Sandbox(products=shared_products(25)) as sandbox:
        yield sandbox


@pytest.fixture
def windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Windows]:
    """Keep everything on a disk of Windows."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    with on_windows(tmp_path) as system:
        yield system


def service_of(exchange: Sandbox) -> prodex.Client:
    organization = exchange.organizations[0]
    return prodex.connect(
        base_url=exchange.base_url,
        client_id=organization.client_id,
        client_secret=organization.client_secret,
    )


def test_a_day_of_an_analyst(windows: Windows, exchange: Sandbox, tmp_path: Path) -> None:
    """Load, refresh, audit, export, worklists, report, pictures, publication and vacuum: nothing is refused there."""
    service = service_of(exchange)
    catalog = prodex.load_products(service, name="shop", progress=False)
    again = prodex.load_products(service, name="shop", progress=False)
    assert len(catalog) == len(again) == 25
    refreshed = prodex.refresh("shop", service, progress=False)
    swept = prodex.refresh("shop", service, sweep=True, progress=False)
    audit = prodex.audit(refreshed, "online-listing")
    audit.save("shop")
    for _ in range(2):
        audit.to_html(tmp_path / "report.html")
        audit.worklists(tmp_path / "to_fix", replace=True)
        for format in FORMATS:
            catalog.export(tmp_path / f"out-{format}", format)
            prodex.read_export(tmp_path / f"out-{format}")
        prodex.read_worklist(tmp_path / "to_fix", catalog=catalog)
        prodex.publish(swept, tmp_path / "published")
    prodex.open_published(tmp_path / "published")
    prodex.download_pictures(swept, tmp_path / "pictures", size=128, progress=False)
    prodex.open_snapshot("shop").products
    prodex.open_audit("shop").gaps()
    prodex.diff("shop", catalog).summary
    prodex.vacuum("shop", keep=1)
    assert 1 == len(prodex.list_snapshots())
    assert [] == faults(tmp_path)
    assert ([], [], []) == (windows.names, windows.in_use, windows.unnamed_encodings)
