"""What a person may give first by mistake: it is taken where its meaning is certain, or the error has the right line.

No AttributeError or KeyError from the depth; a TypeError only where Python itself refuses the call.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from enum import EnumType
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import prodex
from prodex.errors import InputError, ProdexError, QueryError, SettingsError
from tests.cases import each_row, own_home
from tests.lived import exchange_in
from tests.public import PUBLIC

RECORDS = [{"id": 7, "gtin": "03036811359935"}, {"id": 8}]

#: What stands behind the first argument where a call needs more.
MORE: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "diff": lambda _: (prodex.flatten(RECORDS),),
    "download_pictures": lambda folder: (folder / "pictures",),
    "refresh": lambda _: ("sandbox",),
    "require_scenarios": lambda _: (prodex.flatten(RECORDS), {"12": True}),
    "upsert": lambda _: ([],),
}

#: Second arguments that are easily mistaken, each with a first one that is right.
SECOND: dict[str, Callable[[prodex.service.Client], tuple[Any, ...]]] = {
    "audit": lambda _: (prodex.flatten(RECORDS),),
    "catalog.changes_from": lambda _: (pd.DataFrame({"product_id": ["7"]}),),
    "diff": lambda _: (prodex.flatten(RECORDS),),
    "download_pictures": lambda _: (prodex.flatten(RECORDS),),
    "load_organizations": lambda service: (service,),
    "load_products": lambda service: (service,),
    "load_rich_content": lambda service: (service,),
    "load_segments": lambda service: (service,),
    "open_audit": lambda _: ("shop",),
    "refresh": lambda _: ("shop",),
    "track": lambda service: (service,),
    "upsert": lambda service: (service,),
}

WRONG: dict[str, Callable[[Path], Any]] = {
    "None": lambda _: None,
    "the word sandbox": lambda _: "sandbox",
    "a name": lambda _: "shop",
    "a number": lambda _: 7,
    "a frame": lambda _: pd.DataFrame({"gtin": ["03036811359935"]}),
    "a catalogue": lambda _: prodex.flatten(RECORDS),
    "an opened snapshot": lambda _: prodex.open_snapshot("shop"),
    "a path": lambda folder: folder,
    "an object": lambda _: object(),
}

#: An enumeration refuses a value that it does not have by itself, with its name and that value.
CALLABLE: dict[str, Callable[..., Any]] = {
    name: value for name, value in PUBLIC.items() if callable(value) and not isinstance(value, EnumType)
} | {
    "catalog.changes_from": lambda frame, service=None: prodex.flatten(RECORDS).changes_from(
        frame, service=service
    )
}


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """Serve two products, and return where they are kept."""
    kept = tmp_path_factory.mktemp("exchange")
    with exchange_in(kept, RECORDS):
        yield kept / "sandbox"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Keep a snapshot of the name "shop"."""
    folder = tmp_path_factory.mktemp("kept") / "home"
    with own_home(folder):
        prodex.flatten(RECORDS).save("shop")
    return folder


@pytest.fixture
def service(exchange, kept, home, tmp_path, monkeypatch):
    """Have it found by connect("sandbox"), and a snapshot of the name "shop" beside it."""
    monkeypatch.chdir(tmp_path)  # "shop" and "sandbox" are folders, too, for what writes files
    shutil.copytree(kept, home)
    # Its store is that of this home as well: what lives in the store would fill another one with the whole sample.
    (home / "sandbox").symlink_to(exchange)
    return prodex.connect("sandbox")


def refused(call: Callable[..., Any], *arguments: Any) -> str:
    """Call, and return what went wrong that should not."""
    try:
        call(*arguments)
    except ProdexError as error:
        return "" if len(str(error)) > 20 else f"{error!r} says too little"
    except TypeError as error:
        # Python's own refusal of the call, or ours in the same words: "diff() takes two catalogues".
        by_python = error.__traceback__ is not None and error.__traceback__.tb_next is None
        return (
            ""
            if by_python or str(error).startswith(f"{call.__name__}() takes")
            else f"{error!r} from the depth"
        )
    except Exception as error:  # noqa: BLE001 - whatever it is, is the finding
        return repr(error)
    return ""


@pytest.mark.slow
@each_row("name", sorted(CALLABLE))
def test_no_first_argument_ends_in_the_depth(name, service, tmp_path):
    """Each is taken, or refused in words."""
    more = MORE.get(name, lambda _: ())(tmp_path)
    wrong = {kind: refused(CALLABLE[name], make(tmp_path), *more) for kind, make in WRONG.items()}

    assert {} == {kind: problem for kind, problem in wrong.items() if problem}


@pytest.mark.slow
@each_row("name", SECOND)
def test_no_second_argument_ends_in_the_depth(name, service, tmp_path):
    """Where the first one is right."""
    others = {**WRONG, "a service": lambda _: service}
    wrong = {
        kind: refused(CALLABLE[name], *SECOND[name](service), make(tmp_path)) for kind, make in others.items()
    }

    assert {} == {kind: problem for kind, problem in wrong.items() if problem}


@pytest.mark.slow
@each_row("name", ["load_products", "load_rich_content", "load_organizations", "load_segments"])
def test_the_word_sandbox_is_taken_for_the_sandbox(name, service):
    """As `prodex.connect` takes it."""
    assert refused(CALLABLE[name], "sandbox") == ""
    assert 2 == len(prodex.load_products("sandbox", progress=False))


def test_a_name_in_place_of_a_service_is_told_the_line(service):
    """What was meant can be copied from the message."""
    with pytest.raises(InputError, match=r'load_products\(prodex\.connect\("sandbox"\), \.\.\.\)'):
        prodex.load_products("shop")
    with pytest.raises(InputError, match=r"service is a Catalog"):
        prodex.load_products(prodex.flatten(RECORDS))
    with pytest.raises(QueryError, match=r"name='shop'"):
        prodex.load_products(service, "shop")
    with pytest.raises(QueryError, match=r"ProductQuery\(target_market=250\)"):
        prodex.load_products(service, {"target_market": 250})


def test_arguments_the_wrong_way_round_are_told_the_line(service):
    """A service and a name cannot be mistaken for each other."""
    with pytest.raises(InputError, match=r"refresh\('shop', service\)"):
        prodex.refresh(service, "shop")


def test_a_snapshot_that_is_open_is_refreshed_like_its_name(service):
    """Its newest, as with the name; a selection and an earlier one are refused in words."""
    catalog = prodex.load_products(service, name="mine", progress=False)
    newer = prodex.refresh(catalog, service, progress=False)

    assert newer.folder is not None
    assert "mine" == newer.folder.parent.name
    assert len(catalog) == len(newer)
    with pytest.raises(QueryError, match=r"refresh\('mine', service\)"):
        prodex.refresh(catalog, service)
    with pytest.raises(InputError, match=r"about all of its products: write refresh\('mine'"):
        prodex.refresh(newer.where(product_id="7"), service)
    with pytest.raises(InputError, match="in memory"):
        prodex.refresh(prodex.flatten(RECORDS), service)


@pytest.mark.slow
def test_names_and_opened_snapshots_do_the_same(service, tmp_path):
    """Wherever one of them works."""
    shop = prodex.open_snapshot("shop")

    assert shop.folder == prodex.open_snapshot(shop).folder
    assert prodex.verify("shop").equals(prodex.verify(shop))
    assert prodex.list_snapshots("shop").equals(prodex.list_snapshots(shop))
    assert len(prodex.audit("shop")) == len(prodex.audit(shop)) == 2
    assert not prodex.diff("shop", shop)
    assert 2 == len(prodex.open_snapshot("shop").with_pending_updates())
    assert repr(prodex.open_snapshot("shop").gallery()) == repr(shop.gallery())
    assert len(prodex.download_pictures("shop", tmp_path / "some").files) == 0
    saved = prodex.audit(shop).save()
    assert saved.folder == prodex.open_audit(shop).folder
    assert 1 == len(prodex.list_audits(shop))
    assert prodex.vacuum("shop", dry_run=True).equals(prodex.vacuum(shop, dry_run=True))


def test_a_catalogue_in_memory_has_no_name():
    """What to write instead is in the message."""
    with pytest.raises(InputError, match=r"catalog\.save\(name\)"):
        prodex.verify(prodex.flatten(RECORDS))


def test_a_service_is_asked_for_only_where_one_is_needed():
    """Settings are looked for when somebody connects, and not when somebody errs."""
    with pytest.raises(InputError):
        prodex.track(None)
    with pytest.raises(SettingsError):
        prodex.connect()
