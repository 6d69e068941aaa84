"""Every function that takes a path, given one that no file can have: an error of ours says so, and nothing hangs."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import ProdexError
from prodex.files.untrusted import leads_to_file
from tests.cases import each_row
from tests.public import PUBLIC

RECORDS = [{"id": 7, "gtin": "03036811359935", "brand": {"code": "A"}}]
QUIET: Mapping[str, Any] = {"progress": False}
#: Which the products fail.
ONE_RULE: Mapping[str, Any] = {"checks": {"updated_within": {"days": 31}}}
#: A table that was copied from a spreadsheet, and what its columns mean.
PASTED = ("EAN\tNom\n03036811359935\tSirop\n", ["gtin", "namePublicLong.fr"])

Call = Callable[[Any], object]


@cache
def calls() -> Mapping[str, Call]:
    """Return every function and method that takes a path, by its name and that of the parameter."""
    catalog = prodex.flatten(RECORDS)
    audit = prodex.audit(catalog, ONE_RULE, **QUIET)
    recipe = prodex.Recipe([prodex.RecipeStep(prodex.operations.TrimSpaces(), "namePublicLong")])
    wanted = prodex.Requirements(channels=())
    failing = audit.failures().head(1)
    step = (prodex.operations.TrimSpaces(), "namePublicLong")
    fix = prodex.correct(catalog, "namePublicLong", prodex.operations.TrimSpaces())
    return {
        "Audit.to_html path": audit.to_html,
        "Audit.to_markdown path": audit.to_markdown,
        "Audit.worklists folder": lambda path: audit.worklists(path, **QUIET),
        "Catalog.export folder": lambda path: catalog.export(path, "csv", tables=["products"], **QUIET),
        "Catalog.export_wide path": lambda path: catalog.export_wide(path, **QUIET),
        "Difference.to_html path": prodex.diff(catalog, catalog, **QUIET).to_html,
        "Explore.to_html path": prodex.explore(catalog).to_html,
        "Fix.accept to": lambda path: fix.accept(to=path),
        "Fix.recipe path": fix.recipe,
        "Fix.worklist folder": fix.worklist,
        "Gallery.to_html path": catalog.gallery(**QUIET).to_html,
        "Profile.read source": prodex.Profile.read,
        "Profile.with_requirements requirements": prodex.Profile.read("core").with_requirements,
        "Recipe.read path": prodex.Recipe.read,
        "Recipe.save path": recipe.save,
        "Selection.read path": prodex.Selection.read,
        "Selection.save path": prodex.Selection.of(brand_code="ACME").save,
        "Requirements.is_file path": prodex.Requirements.is_file,
        "Requirements.read path": prodex.Requirements.read,
        "Requirements.write path": wanted.write,
        "accept to": lambda path: prodex.accept(failing, reason="agreed", to=path),
        "accepted name": prodex.accepted,
        "add_messages messages": lambda path: prodex.packs.add_messages("fr", path),
        "apply_recipe catalog": lambda path: prodex.apply_recipe(path, recipe),
        "apply_recipe recipe": lambda path: prodex.apply_recipe(catalog, path),
        "apply_recipe profile": lambda path: prodex.apply_recipe(catalog, recipe, profile=path),
        "audit catalog": lambda path: prodex.audit(path, "core", **QUIET),
        "audit profile": lambda path: prodex.audit(catalog, path, **QUIET),
        "audit requirements": lambda path: prodex.audit(catalog, requirements=path, **QUIET),
        "audit accepted": lambda path: prodex.audit(catalog, "core", accepted=path, **QUIET),
        "correct catalog": lambda path: prodex.correct(path, step[1], step[0]),
        "correct profile": lambda path: prodex.correct(catalog, step[1], step[0], profile=path),
        "correct_from catalog": lambda path: prodex.correct_from(PASTED[0], path, PASTED[1]),
        "correct_from profile": lambda path: prodex.correct_from(PASTED[0], catalog, PASTED[1], profile=path),
        "download_pictures folder": lambda path: prodex.download_pictures(catalog, path, **QUIET),
        "explore catalog": prodex.explore,
        "correct_from corrections": lambda path: prodex.correct_from([path], catalog),
        "Catalog.gallery folder": lambda path: catalog.gallery(folder=path, **QUIET),
        "open_audit name": prodex.open_audit,
        "open_published uri": prodex.open_published,
        "open_snapshot name": prodex.open_snapshot,
        "propose_headings catalog": lambda path: prodex.worklists.propose_headings(PASTED[0], path),
        "publish catalog": lambda path: prodex.publish(path, "out"),
        "publish uri": lambda path: prodex.publish(catalog, path),
        "read_export folder": prodex.read_export,
        "read_workbook path": prodex.read_workbook,
        "read_worklist files": prodex.read_worklist,
        "read_worklist catalog": lambda path: prodex.read_worklist("list.csv", path),
        "read_worklist profile": lambda path: prodex.read_worklist("list.csv", catalog, profile=path),
        "write_requirements path": lambda path: prodex.write_requirements(path, catalog),
        "write_requirements catalog": lambda path: prodex.write_requirements("new.xlsx", path, replace=True),
        "write_requirements start": lambda path: prodex.write_requirements(
            "new.xlsx", catalog, start=path, replace=True
        ),
        "run_job path": prodex.run_job,
        "verify name": lambda path: prodex.verify(path, **QUIET),
        "withdraw to": lambda path: prodex.withdraw(failing, to=path),
        # These take a name or a folder, and are not written so.
        "Audit.save name": audit.save,
        "Catalog.save name": catalog.save,
        "list_snapshots name": prodex.list_snapshots,
        "list_audits name": prodex.list_audits,
        "vacuum name": prodex.vacuum,
        "watch name": prodex.watch,
        "recover name": prodex.recover,
        "diff old": lambda path: prodex.diff(path, catalog, **QUIET),
        "diff new": lambda path: prodex.diff(catalog, path, **QUIET),
        "read_products source": lambda path: prodex.read_products(path, **QUIET),
    }


#: Paths and names that a person, a file of a job or a program may give.
PATHS: Mapping[str, Callable[[Path], Any]] = {
    "a zero": lambda _: "\0",
    "a zero in a name": lambda _: "a\0b.toml",
    "a zero in a path": lambda folder: folder / "a\0b" / "c.xlsx",
    "a zero in a folder": lambda _: Path("a\0b"),
    "half a character": lambda _: "a\ud800.csv",
    "a long name": lambda _: f"{'x' * 5_000}.xlsx",
    "a long path": lambda folder: folder / "/".join(["xxxxxxxxxx"] * 600) / "a.html",
    "nothing": lambda _: "",
    "blanks": lambda _: "  ",
    "a folder": lambda folder: folder / "folder",
    "a folder like a file": lambda folder: folder / "folder.toml",
    "a file as a folder": lambda folder: folder / "file.toml" / "a.toml",
    "a file": lambda folder: folder / "file.toml",
    "a circle of links": lambda folder: folder / "circle.toml",
    "a pipe": lambda folder: folder / "pipe.toml",
    "another scheme": lambda _: "s3:\0//x",
    "a path of an address": lambda _: Path("s3://bucket/shop.html"),
    "nobody's home": lambda _: "~nobody-here/list.csv",
}

#: Parameters that hold a path of what is there already, or are taken by panels, which show errors.
_NOT_CALLED = {
    *(
        "Audit folder",
        "Audit catalog_folder",
        "Catalog folder",
    ),
    *("ExportedFiles files", "JobResult path", "Pictures folder"),
    *(
        "SimulatedWeeks sent",
        "SimulatedWeeks returned",
        "SimulatedWeeks _audits",
        "undo catalog",
        "undo profile",
    ),
}


def taking_paths() -> Iterator[str]:
    """Yield every public function and method with a parameter that is declared as a path."""
    for name, value in PUBLIC.items():
        several = {name: value} if callable(value) else {}
        if inspect.isclass(value) and issubclass(value, BaseException):
            continue
        if inspect.isclass(value):
            # Of class and static methods, the function.
            members = inspect.getmembers_static(value)
            methods = {one: getattr(method, "__func__", method) for one, method in members}
            several |= {f"{name}.{one}": method for one, method in methods.items() if one[0] != "_"}
        for called, function in several.items():
            if inspect.isfunction(function) or inspect.isclass(function):
                parameters = inspect.signature(function).parameters.values()
                yield from (f"{called} {one.name}" for one in parameters if "Path" in str(one.annotation))


def test_every_function_that_takes_a_path_is_in_the_table() -> None:
    """A new one has to be given what no file can be called."""
    assert set(taking_paths()) <= {*calls(), *_NOT_CALLED}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a folder with what paths lead to, as the folder of work and the home."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "file.toml").write_text("x = 1\n")
    (tmp_path / "list.csv").write_text("GTIN;Field;Language;New value\n3036811359935;nameLegal;fr;Sirop\n")
    if os.name != "nt":
        (tmp_path / "circle.toml").symlink_to("circle.toml")
        os.mkfifo(tmp_path / "pipe.toml")
    monkeypatch.setattr("prodex.files.unpacking.A_WRITER_COMES", 0.1)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("called", PATHS)
def test_a_path_of_no_file_is_an_error_of_ours(called: str, place: Path) -> None:
    """Whatever is called with it works, or ends in an error that names what to do."""
    strange = {}
    for name, call in calls().items():
        try:
            call(PATHS[called](place))
        except ProdexError as error:
            if len(str(error)) < 20:
                strange[name] = str(error)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is what is asked for
            strange[name] = repr(error)
    assert {} == strange


#: Functions that take addresses, and reach them.
_TAKE_ADDRESSES = {"publish uri", "open_published uri"}


@each_row(
    "address", ["s3://bucket/out", "s3://bucket/list.html", "file:///list.toml", Path("gs://bucket/x.xlsx")]
)
def test_nothing_is_written_below_a_folder_that_is_called_as_an_address_begins(
    address: str | Path, place: Path
) -> None:
    """`Path("s3://bucket")` is a folder "s3:" here, in which nobody looks: the error says who takes addresses."""
    before = {one.name for one in place.iterdir()}
    said = {}
    for name, call in calls().items():
        if name not in _TAKE_ADDRESSES:
            try:
                call(address)
            except ProdexError as error:
                said[name] = str(error)

    assert before | {"home", "out", "new.xlsx"} >= {one.name for one in place.iterdir()}
    assert {"Audit.worklists folder", "Audit.to_markdown path"} <= {
        name for name, error in said.items() if "is an address, and files are written to folders" in error
    }
    if str(address).endswith("out"):
        assert "is an address" in said["Catalog.export folder"]


#: Functions that write a file where they are told to.
_WRITERS = (
    "Audit.to_html path",
    "Audit.to_markdown path",
    "Fix.recipe path",
    "Gallery.to_html path",
    "Recipe.save path",
    "Selection.save path",
    "Requirements.write path",
    "accept to",
)


def test_a_name_that_no_file_can_have_leads_to_none() -> None:
    """Too long for any system, or with a character that ends names in it: a profile of this name is misspelled."""
    assert not [name[:3] for name in ("x" * 5_000, "a\0b") if leads_to_file(Path(name))]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes in folders")
@each_row("name", _WRITERS)
def test_a_pipe_or_a_device_is_never_replaced_by_a_file(name: str, tmp_path: Path) -> None:
    """Who is root may rename a file to `/dev/null`, and nothing on the machine would work any more."""
    pipe = tmp_path / f"a.{'toml' if 'recipe' in name.lower() or 'Requirements' in name else 'html'}"
    os.mkfifo(pipe)

    with pytest.raises(ProdexError):
        calls()[name](pipe)

    assert pipe.is_fifo()
    assert [pipe] == list(tmp_path.iterdir())
