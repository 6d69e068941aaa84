"""Recipes at a service: in a night, from the command line, and under SIGKILL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import prodex
from prodex import operations as do
from prodex.cli import app
from prodex.errors import InputError
from prodex.job.job_file import read_job
from prodex.sandbox import Sandbox
from prodex_sandbox.sample import shared_products
from tests.forks import forking
from tests.job.exchange import job_file, reached

#: The first supplier: a retailer writes nothing.
SUPPLIER = 3

RECIPE = """\
title = "legal names"

[[steps]]
do = "replace text"
attribute = "nameLegal"
language = "fr"
pattern = true
find = "^(?!Le )(.)"
by = "Le \\\\1"

[[steps]]
do = "trim spaces"
attribute = "nameLogal"
"""

_IMPORTED = """
import os, signal
import prodex, prodex.job.steps, prodex.job.run, prodex.corrections.bulk
"""
#: Ends itself where the upsert was sent and the step is not noted, when it was told to.
_RUN = """
if dies:
    whole = prodex.worklists.Fix.apply
    def apply(*given, **more):
        whole(*given, **more)
        os.kill(os.getpid(), signal.SIGKILL)
    prodex.worklists.Fix.apply = apply
os._exit(prodex.run_job(path).exit_code)
"""


@pytest.fixture
def exchange(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """Serve products to write to, as their supplier sees them."""
    with Sandbox(products=shared_products(40)) as sandbox:
        sandbox.credentials[0] = sandbox.credentials[SUPPLIER]
        reached(sandbox, monkeypatch)
        yield sandbox


@pytest.fixture
def supplier(exchange: Sandbox) -> prodex.service.Client:
    """Reach them as their supplier."""
    key = exchange.credentials[0]
    return prodex.connect(
        base_url=exchange.base_url, client_id=key["client_id"], client_secret=key["client_secret"]
    )


def names(service: prodex.service.Client) -> list[str]:
    """Return the legal names in French that the service has, sorted."""
    texts = prodex.load_products(service, max_age=0).texts
    return sorted(texts.query("attribute == 'nameLegal' and language == 'fr'")["text"])


def night(folder: Path, more: str = "") -> Path:
    """Write a job with the recipe."""
    (folder / "names.toml").write_text(RECIPE, "utf-8")
    return job_file(folder, 'profile = "core"', f'[[recipes]]\nfile = "names.toml"\n{more}')


@pytest.mark.slow
def test_a_night_shows_a_recipe_and_sends_it_only_where_it_is_told_to(
    supplier: prodex.service.Client, tmp_path: Path
) -> None:
    """Without send the service has what it had; with it, each name once, and the next night has nothing left to do."""
    before = names(supplier)
    path = night(tmp_path)
    shown = prodex.run_job(path)
    (step,) = [one for one in shown.steps if one.name == "recipe 1 (names.toml)"]
    # One of its steps cannot be done, and nobody may miss that.
    assert ("failed", len(before)) == (step.state, step.figures["changed"])
    assert "did you mean 'nameLegal'" in step.error
    assert 1 == shown.exit_code
    assert "Nothing was sent" in shown.markdown
    assert "no product here has an attribute" in shown.markdown
    assert before == names(supplier)

    night(tmp_path, "send = true")
    assert "2 steps of names.toml, and send what is accepted" in prodex.run_job(path, dry_run=True).markdown
    sent = prodex.run_job(path)
    assert (
        len(before) == {one.name: one for one in sent.steps}["recipe 1 (names.toml)"].figures["sent SUCCESS"]
    )
    assert sorted(f"Le {one}" for one in before) == names(supplier)


@pytest.mark.slow
def test_a_night_sends_nothing_of_a_recipe_that_grows(
    supplier: prodex.service.Client, tmp_path: Path
) -> None:
    """What would change again every night has to be confirmed, with the question; the service has what it had."""
    before = names(supplier)
    path = night(tmp_path, "send = true")
    (tmp_path / "names.toml").write_text(RECIPE.replace("^(?!Le )(.)", "^(.)"), "utf-8")
    night_of = prodex.run_job(path)
    (step,) = [one for one in night_of.steps if one.name == "recipe 1 (names.toml)"]
    assert (0, len(before)) == (step.figures["changed"], step.figures["needs_confirmation"])
    assert "Done again, this changes again: the new value would become" in night_of.markdown
    assert "There is nothing to send" in night_of.markdown
    assert before == names(supplier)


@pytest.mark.slow
def test_a_night_that_is_killed_after_sending_does_not_send_again(
    supplier: prodex.service.Client, home: Path, tmp_path: Path, exchange: Sandbox
) -> None:
    """The same command follows what was sent; nothing is written twice."""
    from tests.job.exchange import variables

    before = names(supplier)
    path = night(tmp_path, "send = true")
    environment = {**variables(exchange), "PRODEX_HOME": str(home)}
    with forking(_IMPORTED, _RUN, tmp_path / "complaints.txt") as forks:
        assert forks.start(environment, path=str(path), dies=True).wait() < 0
        upserts = len(prodex.list_upserts())
        assert 1 == forks.start(environment, path=str(path), dies=False).wait()
    assert 1 == upserts == len(prodex.list_upserts())
    assert sorted(f"Le {one}" for one in before) == names(supplier)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("[[recipes]]\nsend = true", "there is no file"),
        ("[[recipes]]\nfile = 'x'\nsendd = true", "did you mean 'send'"),
        ("[[recipes]]\nfile = 'x'\nsend = 1", "give true or false"),
        ("[[recipes]]\nfile = 'x'\nprofile = 'core2'", "there is no 'core2'"),
        ("recipes = 'x'", r"write \[\[recipes\]\]"),
    ],
)
def test_a_job_file_with_a_wrong_recipe_names_its_line(tmp_path: Path, entry: str, words: str) -> None:
    """A recipe of a job is checked as its other keys are."""
    path = tmp_path / "shop.toml"
    path.write_text(f'name = "shop"\n{entry}\n', "utf-8")
    with pytest.raises(InputError, match=words):
        read_job(path)


@pytest.mark.slow
def test_the_command_shows_and_sends(
    exchange: Sandbox, supplier: prodex.service.Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It shows what each step would change, says that nothing was sent, and sends with --send."""
    key = exchange.credentials[0]
    for name in ("base_url", "client_id", "client_secret"):
        monkeypatch.setenv(
            f"PRODEX_{name.upper()}", str(exchange.base_url if name == "base_url" else key[name])
        )
    catalog = prodex.load_products(supplier, name="shop")
    before = names(supplier)
    path = prodex.correct(catalog, "nameLegal", do.ReplaceText(before[0], "Ganz neu"), language="fr").recipe(
        tmp_path / "one.toml"
    )
    shown = CliRunner().invoke(app, ["recipe", str(path), "shop", "--format", "csv"])
    assert (0, True) == (shown.exit_code, "Nothing was sent. --send" in shown.stderr), shown.stderr
    assert "replace" in shown.stdout
    assert before == names(supplier)
    sent = CliRunner().invoke(app, ["recipe", str(path), "shop", "--send", "--wait"])
    assert 0 == sent.exit_code, sent.stderr
    assert "Ganz neu" in names(supplier)
    rows = CliRunner().invoke(app, ["recipe", str(path), "shop", "--show", "rows", "--format", "csv"])
    assert "product_id" in rows.stdout
    path.write_text(path.read_text("utf-8").replace("nameLegal", "nameLogal"), "utf-8")
    wrong = CliRunner().invoke(app, ["recipe", str(path), "shop"])
    assert 1 == wrong.exit_code
