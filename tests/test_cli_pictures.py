"""`prodex pictures` as a user runs it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import prodex
from prodex.cli import app
from prodex.errors import InputError, SnapshotNotFound
from prodex.sandbox import Fault, Sandbox


def run(*words: object) -> Result:
    return CliRunner().invoke(app, ["pictures", *map(str, words)])


@pytest.fixture
def shop(sample_exchange: Sandbox, service: prodex.service.Client) -> prodex.Catalog:
    """Keep a snapshot of a few products that have pictures."""
    catalog = prodex.load_products(service)
    ids = list(catalog.pictures["product_id"].unique()[:3])
    return catalog.where(product_id=ids).save("shop")


@pytest.mark.slow
def test_pictures_come_into_a_folder(shop: prodex.Catalog, tmp_path: Path) -> None:
    """Exit code 0, and how many of how many; a second time nothing is fetched."""
    words = ("shop", "--to", tmp_path / "images", "--size", 128)
    first, again = run(*words), run(*words)
    count = len(shop.pictures)

    assert [0, 0] == [first.exit_code, again.exit_code], first.output
    assert f"{count} of {count} pictures" in first.stdout
    assert f"0 downloaded, {count} already there" in again.stdout
    assert count == len(list((tmp_path / "images").glob("*_128.jpg")))


@pytest.mark.slow
def test_only_packshots_when_asked(shop: prodex.Catalog, tmp_path: Path) -> None:
    """The others are in the index as not asked for."""
    result = run("shop", "--to", tmp_path, "--size", 64, "--packshots-only", "--workers", 2)
    index = pd.read_csv(tmp_path / "pictures.csv")

    assert 0 == result.exit_code, result.output
    assert len(shop.pictures) == len(index)
    assert shop.pictures["is_packshot"].sum() == (index["state"] == "downloaded").sum()


@pytest.mark.slow
def test_a_contact_sheet_is_written_when_asked(shop: prodex.Catalog, tmp_path: Path) -> None:
    """Of what is in the folder."""
    result = run("shop", "--to", tmp_path / "images", "--size", 256, "--html", tmp_path / "sheet.html")

    assert f": products 1-{len(shop)} of {len(shop)} (chosen from 600 products), page 1 of 1" in result.stderr
    assert len(shop) == (tmp_path / "sheet.html").read_text("utf-8").count("<img ")


def test_the_exit_code_says_that_some_are_missing(home: Path, tmp_path: Path) -> None:
    """It exits with 1 after everything else was done, so that a job at night is known to have failed."""
    prodex.flatten([{"id": 1, "assets": {"pictures": [{"url": "ftp://media.example/a.jpg"}]}}]).save("lost")
    result = run("lost", "--to", tmp_path)

    assert 1 == result.exit_code
    assert "0 of 1 pictures; 1 not downloaded\n" in result.stdout
    assert "only http and https are requested" in result.stdout
    assert "ftp" in (tmp_path / "pictures.csv").read_text("utf-8")


def test_what_cannot_be_done_is_said(home: Path, tmp_path: Path) -> None:
    """A snapshot that is not there, and a size that is none."""
    prodex.flatten([{"id": 1}]).save("shop")

    assert isinstance(run("nothing", "--to", tmp_path).exception, SnapshotNotFound)
    assert isinstance(run("shop", "--to", tmp_path, "--size", 0).exception, InputError)


def test_help_gives_an_example() -> None:
    """As with every command."""
    assert "Example: prodex pictures shop --to images" in run("--help").stdout


@pytest.mark.slow
def test_what_is_missing_is_said_in_the_words_of_a_terminal(
    shop: prodex.Catalog, sample_exchange: Sandbox, tmp_path: Path
) -> None:
    """It names the list in the folder, and no attribute of Python."""
    sample_exchange.order(Fault("404", at=1, times=10_000, endpoint="media"))
    try:
        result = run("shop", "--to", tmp_path, "--size", 64)
    finally:
        sample_exchange.clear_faults()

    assert 1 == result.exit_code
    assert f"0 of {len(shop.pictures)} pictures; {len(shop.pictures)} not downloaded\n" in result.stdout
    assert "listed in pictures.csv" in result.stdout
