"""What Windows does otherwise with files, as a simulation on Linux; see tests/windows.py."""

from __future__ import annotations

import errno
import subprocess
import time
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
from prodex_sandbox.home import open_store, server_file
from prodex_sandbox.sample import LABELS, organizations, shared_products
from tests.cases import each_row
from tests.windows import Windows, fault, on_windows, open_here

#: Of a product with more text than a cell of a workbook holds.
pytestmark = pytest.mark.filterwarnings("ignore:.*does not hold everything:UserWarning")


@pytest.fixture(scope="module")
def exchange() -> Iterator[Sandbox]:
    """Serve a few products, from a store that is no part of what is simulated."""
    with Sandbox(products=shared_products(12)) as sandbox:
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


#: A check that none of the records passes.
WANTED = {"market": 250, "checks": {"required_text": {"attribute": "composition", "language": ["fr"]}}}

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
    audit.to_html(folder / "report.html")
    for _ in range(2):
        audit.worklists(folder / "to_fix", replace=True)
        prodex.publish(swept, folder / "published")
    for kind in FORMATS:
        catalog.export(folder / f"out-{kind}", kind)
        assert 12 == len(prodex.read_export(folder / f"out-{kind}"))
    prodex.read_worklist(folder / "to_fix", catalog=catalog)
    assert 12 == len(prodex.open_published(folder / "published"))
    prodex.download_pictures(swept, folder / "pictures", size=128, progress=False)
    frame = catalog.texts.head(2).assign(text="Un autre texte")
    prodex.upsert(service, catalog.changes_from(frame))
    assert {"shop"} == set(prodex.list_audits()["name"])
    prodex.vacuum("shop", keep=1)
    assert 1 == len(prodex.list_snapshots())


@pytest.mark.slow
def test_a_day_of_an_analyst(windows: Windows, exchange: Sandbox, tmp_path: Path) -> None:
    """Load, refresh, audit, export, publish, send and vacuum: nothing is refused, or done to a file that is open."""
    day(exchange, tmp_path)
    assert [] == windows.faults


def test_a_sandbox_that_is_kept(windows: Windows, tmp_path: Path) -> None:
    """It is filled, served, announced, opened again and taken back on such a disk."""
    home = tmp_path / "sandbox"
    for _ in range(2):
        with open_store(home, lambda: iter(shared_products(3)), organizations(), LABELS, "three") as store:
            assert 3 == store.product_count()
            with server_file(home, tmp_path / "ready.json", {"base_url": "http://127.0.0.1:9", "pid": 1}):
                assert (home / "server.json").read_bytes().endswith(b"}\n")
    assert [] == windows.faults


def test_a_process_that_is_started_does_not_get_the_keys_of_the_terminal(
    windows: Windows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C is for the program itself; Windows has groups of processes for that, and no sessions."""
    asked: list[dict[str, Any]] = []

    def started(command: list[str], **options: Any) -> None:
        asked.append(options)
        raise OSError(errno.ENOENT, "nothing is started here")

    monkeypatch.setattr(subprocess, "Popen", started)
    with pytest.raises(OSError, match="nothing is started"):
        prodex.connect("sandbox")
    (options,) = asked
    assert subprocess.CREATE_NEW_PROCESS_GROUP == options["creationflags"]  # type: ignore[attr-defined]
    assert not {"start_new_session", "process_group", "preexec_fn"} & options.keys()


@pytest.mark.slow
def test_names_of_suppliers_are_files_that_every_system_holds(windows: Windows, tmp_path: Path) -> None:
    """In worklists, pictures and exports: none is refused, shortened or mixed up with another."""
    records = [record(f"{name}{number}", number, name) for number, name in enumerate(OWNERS)]
    catalog = prodex.flatten(records)
    audit = prodex.audit(catalog, WANTED)
    for by in ("owner", "brand"):
        index = audit.worklists(tmp_path / f"by-{by}", by=by)
        assert len(index) == len({one.casefold() for one in index["file"]})
        assert set(index["file"]) <= {path.name for path in (tmp_path / f"by-{by}").iterdir()}
        assert len(OWNERS) - (by == "brand") == len(
            index
        )  # brands are compared by their letters, whatever the form
    assert [] == windows.faults


#: One writer is tried with all of them, the others with the first and the last: a character and a device.
REFUSED = ["to_fix?", "a:b", "what*", 'q"q', "a|b", "<x>", "CON"]

WRITERS: dict[str, Callable[[Path], object]] = {
    "export": lambda folder: CATALOG.export(folder, "csv"),
    "worklists": lambda folder: AUDIT.worklists(folder, by="brand"),
    "report": lambda folder: AUDIT.to_html(folder / "report.html"),
    "report file": lambda folder: AUDIT.to_html(folder.with_name(f"{folder.name}.html")),
    "publish": lambda folder: prodex.publish(CATALOG.save("kept"), folder),
    "pictures": lambda folder: prodex.download_pictures(PICTURED, folder, progress=False),
    "file of a command": lambda folder: show(CATALOG.products, Format.CSV, folder / "out.csv"),
}


@pytest.mark.slow
@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_windows_refuses_is_an_error_of_ours(
    windows: Windows, tmp_path: Path, writer: str
) -> None:
    """With the name and what to do, and nothing is written."""
    for name in REFUSED if writer == "export" else REFUSED[::6]:
        with pytest.raises(StorageError) as caught:
            WRITERS[writer](tmp_path / name)
        assert name in str(caught.value)
        assert "hoose another" in str(caught.value)
    assert {"home"} >= {path.name for path in tmp_path.iterdir()}


@each_row("name", ["CON", "con.txt", "nul", "COM1", "lpt¹", "a.", "a ", "a:b", "a?", "é" * 200, "漢" * 100])
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
AUDIT = prodex.audit(CATALOG, WANTED)


@pytest.mark.slow
@each_row("name", ["zero\0", "half\ud800"])
@each_row("writer", WRITERS)
def test_a_name_that_is_no_text_is_an_error_of_ours(tmp_path: Path, writer: str, name: str) -> None:
    """On this system as well."""
    with pytest.raises(StorageError, match="no file can have this name"):
        WRITERS[writer](tmp_path / name)
    assert {"home"} >= {path.name for path in tmp_path.iterdir()}


@pytest.mark.slow
def test_a_file_that_excel_has_open_is_named(
    windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was there stays, and the message says what to do; once it is closed, the same line works."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    audit, folder = AUDIT, tmp_path / "to_fix"
    audit.worklists(folder)
    CATALOG.export(tmp_path / "out", "csv")
    audit.to_html(tmp_path / "report.html")
    (tmp_path / "frame.csv").write_text("mine", "utf-8")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    again: dict[Path, Callable[[], object]] = {
        folder / "Mill-4.xlsx": lambda: audit.worklists(folder, replace=True),
        tmp_path / "out" / "texts.csv": lambda: CATALOG.export(tmp_path / "out", "csv"),
        tmp_path / "report.html": lambda: audit.to_html(tmp_path / "report.html"),
        tmp_path / "frame.csv": lambda: show(CATALOG.products, Format.CSV, tmp_path / "frame.csv"),
    }
    for file, write in again.items():
        windows.hold(file)
        with pytest.raises(StorageError, match=r"Excel may have .* open: close it there"):
            write()
        windows.let_go()
        assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for write in again.values():
        write()
    assert [] == [path for path in tmp_path.rglob("*.part") if "home" not in path.parts]


@pytest.mark.slow
def test_a_scanner_that_opens_each_new_file_for_a_moment_is_waited_for(
    windows: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scanners for viruses do; the third attempt succeeds."""
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            windows.let_go()

    monkeypatch.setattr(time, "sleep", sleep)
    AUDIT.to_html(tmp_path / "report.html")
    windows.hold(tmp_path / "report.html")
    AUDIT.to_html(tmp_path / "report.html")
    assert 3 == len(pauses)


@pytest.mark.slow
def test_files_have_the_same_bytes_on_every_system(tmp_path: Path) -> None:
    """No line end becomes two characters: neither in a cell nor where a digest was taken."""
    catalog = prodex.flatten([record(1, 4, "Mill", namePublicLong=[text("a\nb\r\nc")])])
    audit = prodex.audit(catalog, WANTED)

    def written(folder: Path) -> dict[str, bytes]:
        for kind in ("csv", "jsonl"):
            catalog.export(folder / kind, kind)
        audit.worklists(folder / "to_fix")
        show(catalog.texts, Format.CSV, folder / "texts.csv")
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.suffix in {".csv", ".jsonl"}
        }

    here = written(tmp_path / "linux")
    with on_windows(tmp_path):
        there = written(tmp_path / "windows")
    assert here == there
    assert len(here) > 10


@pytest.mark.slow
def test_what_was_read_is_closed_whatever_came_of_it(tmp_path: Path) -> None:
    """A workbook that is refused, or not read to its end, can be saved again at once, while the error is still held."""
    from tests.load.test_workbook import GTIN, write

    whole = write(tmp_path / "a.xlsx", One=[("gtin", "", [GTIN] * 50)], Two=[("gtin", "", [GTIN])])
    AUDIT.worklists(tmp_path / "to_fix")
    CATALOG.export(tmp_path / "out", "xlsx")
    book = next((tmp_path / "out").glob("*.xlsx"))
    cut = tmp_path / "cut.xlsx"
    cut.write_bytes(whole.read_bytes()[:-30])
    readers: dict[Path, Callable[[], object]] = {
        whole: lambda: prodex.read_workbook(whole, limits=prodex.limits.Limits(unpacked_bytes=1_500)),
        cut: lambda: prodex.read_workbook(cut),
        book: lambda: prodex.read_export(book.parent, limits=prodex.limits.Limits(unpacked_bytes=1_500)),
        tmp_path / "to_fix" / "Mill-4.xlsx": lambda: prodex.read_worklist(
            tmp_path / "to_fix", catalog=CATALOG, profile="core"
        ),
    }
    held: list[Exception] = []
    for path, read in readers.items():
        try:
            read()
        except prodex.ProdexError as error:
            held.append(error)
        assert [] == open_here(path)
    assert held
