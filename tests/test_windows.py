"""What Windows does otherwise with files, as a simulation on Linux; see tests/windows.py."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.cli.output import Format, show
from prodex.errors import SettingsError, StorageError
from prodex.files.atomic import checked_name
from prodex.formats.registry import FORMATS
from prodex.sandbox import Sandbox
from prodex.sandbox.sample import shared_products
from tests.windows import Windows, fault, faults, on_windows


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


def text(data: str, language: str = "fr") -> dict[str, Any]:
    return {"expressedIn": {"code": language, "normalizedCode": language}, "data": data}


def record(identity: object, owner: object, name: str, **more: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "gtin": "03036811359935",
        "namePublicLong": [text("Riz")],
        "owner": {"id": owner, "name": name},
        "brand": {"code": name, "label": name},
    } | more


#: Owners that Windows or macOS would give one name, or refuse.
OWNERS = [
    "Käse & Co",
    "Ka\u0308se & Co",
    "KÄSE & CO",
    "CON",
    "con.",
    "nul.txt",
    "COM¹",
    "a:b",
    "what?",
    "trailing. ",
    "..",
    "C:\\Windows",
    "\\\\server\\share",
    "ß",
    "ss",
    "SS",
    "ﬁ",
    "fi",
    "\u212a",
    "k",
    "漢" * 300,
    "x" * 300,
]


def day(exchange: Sandbox, folder: Path) -> None:
    """Do what an analyst does."""
    organization = exchange.organizations[0]
    service = prodex.connect(
        base_url=exchange.base_url,
        client_id=organization.client_id,
        client_secret=organization.client_secret,
    )
    prodex.load_products(service, name="shop", progress=False)
    catalog = prodex.load_products(service, name="shop", progress=False)
    prodex.refresh("shop", service, progress=False)
    swept = prodex.refresh("shop", service, sweep=True, progress=False)
    audit = prodex.audit(swept, "core").save("shop")
    for _ in range(2):
        audit.to_html(folder / "report.html")
        audit.worklists(folder / "to_fix", replace=True)
        prodex.publish(swept, folder / "published")
    for format in FORMATS:
        catalog.export(folder / f"out-{format}", format)
        assert 25 == len(prodex.read_export(folder / f"out-{format}"))
    prodex.read_worklist(folder / "to_fix", catalog=catalog)
    assert 25 == len(prodex.open_published(folder / "published"))
    prodex.download_pictures(swept, folder / "pictures", size=128, progress=False)
    changes = prodex.changes_from_frame(catalog.products[["gtin"]].head(2).assign(lifeCycle=2))
    prodex.upsert(service, changes, progress=False)
    assert {"shop"} == set(prodex.list_audits()["name"])
    prodex.vacuum("shop", keep=1)
    assert 1 == len(prodex.list_snapshots())


def test_a_day_of_an_analyst(windows: Windows, exchange: Sandbox, tmp_path: Path) -> None:
    """Load, refresh, audit, export, publish, send and vacuum: nothing is refused, or done to a file that is open."""
    day(exchange, tmp_path)
    assert [] == faults(tmp_path)
    assert ([], [], []) == (windows.names, windows.in_use, windows.unnamed_encodings)


def test_names_of_suppliers_are_files_that_every_system_holds(windows: Windows, tmp_path: Path) -> None:
    """In worklists, pictures and exports: none is refused, shortened or mixed up with another."""
    records = [record(f"{name}{number}", number, name) for number, name in enumerate(OWNERS)]
    catalog = prodex.flatten(records)
    audit = prodex.audit(catalog, {"checks": {"has_front_packshot": {}}})
    for by in ("owner", "brand"):
        index = audit.worklists(tmp_path / f"by-{by}", by=by)
        assert len(index) == len({one.casefold() for one in index["file"]})
        assert set(index["file"]) <= {path.name for path in (tmp_path / f"by-{by}").iterdir()}
    assert len(OWNERS) == len(index)
    assert [] == faults(tmp_path)
    assert ([], [], []) == (windows.names, windows.in_use, windows.unnamed_encodings)


REFUSED = ["to_fix?", "a:b", "what*", 'q"q', "a|b", "<x>"]

WRITERS: dict[str, Callable[[Path], object]] = {
    "export": lambda folder: CATALOG.export(folder, "csv"),
    "worklists": lambda folder: AUDIT.worklists(folder),
    "report": lambda folder: AUDIT.to_html(folder / "report.html"),
    "report file": lambda folder: AUDIT.to_html(folder.with_name(f"{folder.name}.html")),
    "publish": lambda folder: prodex.publish(CATALOG.save("kept"), folder),
    "difference": lambda folder: prodex.diff(CATALOG, CATALOG).to_html(folder / "diff.html"),
    "pictures": lambda folder: prodex.download_pictures(PICTURED, folder, progress=False),
    "file of a command": lambda folder: show(CATALOG.products, Format.CSV, folder / "out.csv"),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_windows_refuses_is_an_error_of_ours(
    windows: Windows, tmp_path: Path, writer: str
) -> None:
    """With the name and what to do, and nothing is written."""
    for name in REFUSED:
        with pytest.raises(StorageError, match="character that this system does not allow") as caught:
            WRITERS[writer](tmp_path / name)
        assert name in str(caught.value)
    assert {"home"} >= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize("name", ["CON", "con.txt", "nul", "COM1", "lpt¹", "a.", "a ", "a:b", "a?", "é" * 200, "漢" * 100])
def test_a_snapshot_cannot_have_a_name_that_some_system_refuses(name: str) -> None:
    """On any system: a home may be copied to another one. The message has a name that can be used."""
    with pytest.raises(SettingsError) as caught:
        CATALOG.save(name)
    proposed = str(caught.value).rpartition("for example ")[2].strip("'.")
    assert proposed == checked_name(proposed)
    assert fault(proposed) is None
    assert len(proposed.encode()) <= 240


CATALOG = prodex.flatten([record(1, 4, "Mill")])
PICTURED = prodex.flatten(
    [record(1, 4, "Mill", assets={"pictures": [{"uniformResourceIdentifier": "http://127.0.0.1:9/a.jpg"}]})]
)
AUDIT = prodex.audit(CATALOG, {"checks": {"has_front_packshot": {}}})
