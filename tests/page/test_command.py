"""What `prodex open` says where it cannot open anything, and what a page holds."""

from __future__ import annotations

import importlib.util
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prodex as px
from prodex.cli import app
from prodex.errors import InputError, MissingExtra, SnapshotNotFound
from prodex.network.listening import LOOPBACK
from prodex.notebook.session.rights import Right
from prodex.page.serving import SnapshotPage, serve
from tests.marked import Files, texts_in

RECORDS = [{"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Pain"}]}, {"id": 8}]


@pytest.fixture
def week() -> list[str]:
    """Hold two snapshots of a shop; return their days."""
    for day, records in ((20, RECORDS), (27, RECORDS[:1])):
        folder = px.flatten(records).save("shop").folder
        assert folder is not None
        folder.rename(folder.parent / f"2026-11-{day}T050102.000000Z")
    return ["shop@2026-11-20", "shop@2026-11-27"]


def refused(*words: str) -> BaseException:
    """Return why a command did nothing."""
    ended = CliRunner().invoke(app, ["open", *words])
    assert 0 != ended.exit_code
    assert ended.exception is not None
    return ended.exception


def test_an_unknown_snapshot_is_named_with_those_that_there_are(week: list[str]) -> None:
    """Nothing is served, and the nearest name is proposed."""
    error = refused("shpo")

    assert isinstance(error, SnapshotNotFound)
    assert "shop" in str(error).replace("shpo", "")


def test_without_marimo_the_line_that_installs_it_is_named(
    week: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever has prodex alone is told what is missing, in words."""
    found = importlib.util.find_spec
    monkeypatch.setattr("prodex.cli.opened.find_spec", lambda name: None if name == "marimo" else found(name))
    error = refused("shop")

    assert isinstance(error, MissingExtra)
    assert "prodex open needs marimo. Install it with: " in str(error)
    assert "[page]" in str(error)


def test_a_service_without_send_is_a_mistake_that_is_said(week: list[str]) -> None:
    """Somebody who names one thinks that something is sent."""
    assert "Add --send" in str(refused("shop", "--service", "sandbox"))


@pytest.mark.parametrize(
    "words", [["--service", "sandbox"], ["--send"], ["--port", "8500"], ["--no-browser"]]
)
def test_what_says_nothing_about_a_file_is_not_ignored(
    week: list[str], words: list[str], tmp_path: Path
) -> None:
    """Somebody who names a service, or a port, with --to expects something of it."""
    error = refused("shop", "--to", str(tmp_path / "shop.html"), *words)

    assert isinstance(error, InputError)
    assert words[0] in str(error) or "options of a service" in str(error)
    assert [] == [*tmp_path.glob("*.html")]


def test_a_file_is_written_of_a_selection(week: list[str], tmp_path: Path) -> None:
    """Of a snapshot its products, of two what changed of them; a page has filters, and takes none."""
    chosen = px.Selection(columns={"product_id": ["8"]})
    chosen.save(tmp_path / "one.toml")
    held = {}
    for name, snapshots in {"shop": week[:1], "changes": week}.items():
        to = tmp_path / f"{name}.html"
        words = ["open", *snapshots, "--select", str(tmp_path / "one.toml"), "--to", str(to)]
        ended = CliRunner().invoke(app, words)
        assert 0 == ended.exit_code, ended.output
        held[name] = "\n".join(texts_in(Files(to)))

    assert "Pain" not in held["shop"]
    assert "1 of 2 products" in held["shop"]
    assert "Pain" not in held["changes"]
    assert "--select is for a file" in str(refused("shop", "--select", str(tmp_path / "one.toml")))


@pytest.mark.parametrize("words", [["shop", "shop@2026-11-27"], ["shop", "shop", "shop"]])
def test_what_cannot_be_compared_is_said(week: list[str], words: list[str]) -> None:
    """A snapshot with itself, and three."""
    error = refused(*words)

    assert isinstance(error, InputError)
    assert "same snapshot" in str(error) or "these are 3" in str(error)


def test_a_port_that_is_taken_is_said(week: list[str]) -> None:
    """With the way out."""
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        error = refused("shop", "--no-browser", "--port", str(other.getsockname()[1]))

    assert isinstance(error, InputError)
    assert "Give another one" in str(error)
    with pytest.raises(InputError, match="cannot be used"):
        serve(SnapshotPage.of(["shop"]), print, port=70_000)


@pytest.mark.parametrize("is_newer_first", [True, False])
def test_what_changed_is_what_changed_until_the_newer_one(week: list[str], is_newer_first: bool) -> None:
    """Whichever is named first."""
    panel = SnapshotPage.of(sorted(week, reverse=is_newer_first)).panel()

    assert panel.difference is not None
    assert {"removed": 1} == {
        name: number
        for name, number in panel.difference.summary.set_index("change")["products"].items()
        if number and name != "unchanged"
    }
    assert 1 == len(panel.catalog)
    assert "snapshots" == panel.section


def test_each_tab_has_a_panel_of_its_own_over_the_same_products(week: list[str]) -> None:
    """They read once, and do not share what is chosen."""
    page = SnapshotPage.of(["shop@2026-11-20"])
    one, other = page.panel(), page.panel()
    one.selected = ("7",)

    assert () == other.selected
    assert one.app.session.catalog is other.app.session.catalog
    assert Right.READ is one.app.session.may


def test_the_newest_audit_of_this_snapshot_is_shown(week: list[str]) -> None:
    """Not that of an earlier one, and none that cannot be read."""
    old, new = map(px.open_snapshot, week)
    first = px.audit(new, {"checks": {"valid_gtin": {}}}).save()
    px.audit(old, {"checks": {"valid_gtin": {}}}).save()
    last = px.audit(new, {"checks": {"valid_gtin": {}}}).save()

    for audit in (last, first):
        shown = SnapshotPage.of(["shop"]).audit
        assert shown is not None
        assert audit.folder is not None
        assert audit.folder == shown.folder
        (audit.folder / "manifest.json").write_text("spoiled", "utf-8")
    assert SnapshotPage.of(["shop"]).audit is None


def test_importing_the_commands_imports_no_server() -> None:
    """Other commands start as before, and without the extra."""
    asked = "import sys, prodex.cli; print({'marimo', 'uvicorn', 'anywidget'} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert "set()" == done.stdout.strip()
