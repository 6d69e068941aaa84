"""A sandbox as a context manager and as a process: starting, ending, and starting again."""

from __future__ import annotations

import gzip
import json
import os
import re
import runpy
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests
from small_exchange import DAIRY, LABELS, MARKET, MILL, PRODUCTS, SHOP, Caller

import prodex.sandbox
import prodex_sandbox
from prodex.sandbox import Behaviour, Sandbox
from prodex_sandbox.api.filters import FILTERS
from prodex_sandbox.behaviour import LOOPBACK
from prodex_sandbox.command import main
from prodex_sandbox.command_options import parser
from prodex_sandbox.home import default_home
from prodex_sandbox.records.store import StoreUnusable
from prodex_sandbox.server import base_url_of, listen_on_home_port

CallerOf = Callable[..., Caller]
ORGANIZATIONS = [SHOP, MARKET, MILL, DAIRY]


def test_a_sandbox_starts_again_with_what_its_home_holds(tmp_path: Path, caller_of: CallerOf) -> None:
    """Products, views, labels, organisations and tokens survive a restart; nothing is filled in again."""
    with Sandbox(PRODUCTS, home=tmp_path, organizations=ORGANIZATIONS, labels=LABELS) as sandbox:
        caller = caller_of(MARKET, sandbox)
        before = caller.call("POST", language="fr")
    with Sandbox([{"gtin": "new"}], home=tmp_path, organizations=[SHOP], labels={}) as sandbox:
        caller.base_url = sandbox.base_url
        assert before == caller.call("POST", language="fr")
        assert "Pommes" == before["data"][0]["brand"]["label"]
        assert tuple(ORGANIZATIONS) == sandbox.organizations


def test_a_cursor_is_lost_by_a_restart(tmp_path: Path, caller_of: CallerOf) -> None:
    """A scroll has to start again after a restart."""
    with Sandbox(PRODUCTS, home=tmp_path, organizations=ORGANIZATIONS, labels={}) as sandbox:
        caller = caller_of(SHOP, sandbox)
        cursor = caller.call("POST", next_page="")["next_page"]
    with Sandbox(home=tmp_path, organizations=[], labels={}) as sandbox:
        caller.base_url = sandbox.base_url
        assert 410 == caller.search(next_page=cursor).status_code


def test_a_home_has_one_sandbox_at_a_time(tmp_path: Path) -> None:
    """A second sandbox in the same home is refused while the first runs."""
    with (
        Sandbox([], home=tmp_path, organizations=[SHOP], labels={}),
        pytest.raises(StoreUnusable, match="Another sandbox runs in"),
        Sandbox([], home=tmp_path, organizations=[SHOP], labels={}),
    ):
        pass


def test_a_store_of_another_version_is_refused(tmp_path: Path) -> None:
    """A store that another version made is refused with what to do."""
    with Sandbox([], home=tmp_path, organizations=[SHOP], labels={}):
        pass
    with sqlite3.connect(tmp_path / "store.sqlite") as connection:
        connection.execute("UPDATE settings SET value = '0' WHERE name = 'version'")
    connection.close()
    with pytest.raises(
        StoreUnusable, match=r"made by another version of the sandbox .*delete it or give another home"
    ):
        Sandbox([], home=tmp_path, organizations=[SHOP], labels={}).__enter__()


@pytest.mark.parametrize("content", [b"not a database at all, but long enough for a header" * 10, b""])
def test_a_store_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    """A damaged or foreign file in place of the store is named, not overwritten."""
    (tmp_path / "store.sqlite").write_bytes(content)
    with pytest.raises(StoreUnusable, match=r"store\.sqlite is not a store of the sandbox"):
        Sandbox([], home=tmp_path, organizations=[SHOP], labels={}).__enter__()
    assert content == (tmp_path / "store.sqlite").read_bytes()


def test_a_store_that_could_not_be_filled_is_not_kept(tmp_path: Path) -> None:
    """A fill that fails leaves no store behind, and the next start fills one."""

    def failing() -> Iterator[dict[str, str]]:
        yield {"gtin": "1"}
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        Sandbox(failing(), home=tmp_path, organizations=[SHOP], labels={}).__enter__()
    with Sandbox([{"gtin": "2"}], home=tmp_path, organizations=[SHOP], labels={}) as sandbox:
        assert 1 == requests.get(f"{sandbox.base_url}/health").json()["products"]


def test_a_sandbox_notes_the_calls_that_came(caller_of: CallerOf) -> None:
    """Method, path, and parameters or body of each call are there to be counted, refused ones too."""
    with Sandbox([], organizations=[SHOP], labels={}) as sandbox:
        caller = caller_of(SHOP, sandbox)
        caller.get(limit=1)
        caller.search(limit=501)
        login = {"client_id": "shop", "client_secret": "shop-secret", "grant_type": "client_credentials"}
        assert [
            ("POST", "/auth/v2/token", login),
            ("GET", "/public/v1/products", {"limit": "1"}),
            ("POST", "/public/v1/products/list", {"limit": 501}),
        ] == sandbox.requests


def test_a_sandbox_tells_its_access_keys(sandbox: Sandbox) -> None:
    """The organisations' names, types and keys are available, in the order they were given."""
    shop = {"organization": "Shop", "type": 2, "client_id": "shop", "client_secret": "shop-secret"}
    assert shop == sandbox.credentials[0]
    assert [2, 2, 1, 1] == [one["type"] for one in sandbox.credentials]


def test_a_sandbox_is_gone_when_its_context_ends() -> None:
    """After the context nothing answers, and no temporary folder is left."""
    with Sandbox([], organizations=[SHOP], labels={}) as sandbox:
        assert 200 == requests.get(f"{sandbox.base_url}/health").status_code
    with pytest.raises(requests.ConnectionError):
        requests.get(f"{sandbox.base_url}/health")


def test_health_needs_no_token(sandbox: Sandbox) -> None:
    """GET /health says what runs and how many products it holds, without a token."""
    wanted = {"service": "prodex sandbox", "products": 5}
    assert wanted == requests.get(f"{sandbox.base_url}/health").json()


def test_the_openapi_document_names_every_parameter_and_refusal(sandbox: Sandbox, tmp_path: Path) -> None:
    """The document at /openapi.json has every endpoint, parameter and status; --openapi writes the same."""
    document = requests.get(f"{sandbox.base_url}/openapi.json").json()
    get = document["paths"]["/public/v1/products"]["get"]
    post = document["paths"]["/public/v1/products/list"]["post"]
    assert [name for name, one in FILTERS.items() if "GET" in one.methods] + ["Accept-language"] == [
        parameter["name"] for parameter in get["parameters"]
    ]
    search = post["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert list(FILTERS) == list(document["components"]["schemas"][search]["properties"])
    assert {"200", "400", "401", "410"} == get["responses"].keys()
    assert {"200", "400", "401", "410", "413", "415"} == post["responses"].keys()
    assert document["paths"]["/auth/v1/token"]["post"]["deprecated"]
    assert 0 == main(["--openapi", str(tmp_path / "openapi.json")])
    assert document == json.loads((tmp_path / "openapi.json").read_bytes())


@pytest.mark.slow
def test_the_sandbox_runs_without_prodex(tmp_path: Path) -> None:
    """A program that has only `prodex_sandbox` starts one and calls it."""
    shutil.copytree(Path(prodex_sandbox.__file__).parent, tmp_path / "prodex_sandbox")
    code = """
import importlib.abc, sys, requests
class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] == "prodex":
            raise ImportError(name)
sys.meta_path.insert(0, Without())
from prodex_sandbox import Sandbox
with Sandbox([{"gtin": "03036811359935"}]) as sandbox:
    print(requests.get(f"{sandbox.base_url}/health", timeout=10).json()["products"])
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    assert "1\n" == subprocess.check_output([sys.executable, "-c", code], text=True, env=environment)


@pytest.mark.filterwarnings("ignore:'prodex.sandbox' found in sys.modules:RuntimeWarning")
@pytest.mark.parametrize("words", [("prodex", "sandbox"), ("prodex.sandbox",), ("prodex_sandbox",)])
def test_each_name_of_the_command_runs_it(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Through the command line, the module that users import, and the package itself."""
    path = tmp_path / "openapi.json"
    module, *others = words
    monkeypatch.setattr(sys, "argv", [module, *others, "--openapi", str(path)])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__", alter_sys=True)  # as `python -m` does
    assert not ended.value.code
    assert json.loads(path.read_bytes())["openapi"].startswith("3.")


def test_prodex_passes_on_every_name_of_the_sandbox() -> None:
    """`prodex.sandbox` has the public names of `prodex_sandbox`, and no others."""
    assert prodex_sandbox.__all__ == prodex.sandbox.__all__
    assert [] == [
        name
        for name in prodex_sandbox.__all__
        if getattr(prodex.sandbox, name) is not getattr(prodex_sandbox, name)
    ]


@pytest.mark.slow
def test_whoever_lacks_a_package_reads_how_to_install_it() -> None:
    """Importing the sandbox without its extra names the package and the line that installs it."""
    code = """
import sys
sys.modules["starlette"] = sys.modules["markupsafe"] = sys.modules["uvicorn"] = None
sys.modules["anyio"] = sys.modules["jwt"] = sys.modules["defusedxml"] = None
import prodex.errors
try:
    from prodex.sandbox import Sandbox
except prodex.errors.MissingExtra as error:
    print(error)
"""
    printed = subprocess.check_output([sys.executable, "-c", code], text=True)
    assert re.fullmatch(r"The sandbox needs \w+\. Install it with: .*\[sandbox\]'\n", printed)


@contextmanager
def process(tmp_path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, Any]]]:
    """Run the command until it says that it answers."""
    with subprocess.Popen(
        [sys.executable, "-m", "prodex_sandbox", "--home", str(tmp_path / "home"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        try:
            assert started.stdout is not None
            yield started, json.loads(started.stdout.readline())
        finally:
            started.kill()


@pytest.fixture
def signals() -> Iterator[None]:
    """Restore the signal handlers that the command replaces when it runs in this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def products(tmp_path: Path) -> Path:
    """Write two records and a bad line."""
    path = tmp_path / "products.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"gtin": "1", "owner": {"name": "Mine"}}\nbad\n{"gtin": "2"}\n'))
    return path


@pytest.mark.slow
def test_a_process_says_where_it_answers_until_it_is_stopped(tmp_path: Path, products: Path) -> None:
    """The line, the ready file and server.json agree; a stop removes server.json and exits with 0."""
    ready = tmp_path / "ready.json"
    with process(tmp_path, "--products", str(products), "--ready", str(ready)) as (started, word):
        assert {"service", "base_url", "pid", "products", "credentials"} == word.keys()
        assert ("prodex sandbox", started.pid, 2) == (word["service"], word["pid"], word["products"])
        assert (
            word == json.loads(ready.read_bytes()) == json.loads((tmp_path / "home/server.json").read_bytes())
        )
        assert "Mine" in [one["organization"] for one in word["credentials"]]
        principal = word["credentials"][0]
        keys = {"client_id": principal["client_id"], "client_secret": principal["client_secret"]}
        token = requests.post(
            f"{word['base_url']}/auth/v2/token", json={**keys, "grant_type": "client_credentials"}
        ).json()["access_token"]
        reply = requests.get(
            f"{word['base_url']}/public/v1/products", headers={"Authorization": f"Bearer {token}"}
        )
        assert (
            b'{"totalResults":2,"data":[{"gtin": "1", "owner": {"name": "Mine"}},{"gtin": "2"}]'
            in reply.content
        )
        started.send_signal(signal.SIGTERM)
        assert 0 == started.wait(10)
        assert started.stderr is not None
        complaints = started.stderr.read()
        assert f"prodex sandbox: {products}, line 2: not JSON" in complaints
        assert "1 such in all were left out; 2 products are served" in complaints
        assert not (tmp_path / "home/server.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("signals")
def test_a_home_filled_with_something_else_is_not_taken_for_what_is_asked(
    tmp_path: Path, products: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A home that holds other products than those asked for is named, and left as it is."""
    home = str(tmp_path / "home")
    with process(tmp_path, "--products", str(products)):
        pass
    assert 2 == main(["--home", home, "--sample", "30"])
    complaint = capsys.readouterr().err
    assert f"holds the products of {products}, not the sample of 30 products with seed 1" in complaint
    for same in (["--products", str(products)], []):
        with process(tmp_path, *same) as (_, word):
            assert 2 == word["products"]


@pytest.mark.slow
def test_a_process_ends_by_interrupt_as_well(tmp_path: Path, products: Path) -> None:
    """Ctrl-C ends the process cleanly."""
    with process(tmp_path, "--products", str(products)) as (started, _):
        started.send_signal(signal.SIGINT)
        assert 0 == started.wait(10)
        assert not (tmp_path / "home/server.json").exists()


@pytest.mark.slow
def test_a_process_ends_with_the_one_it_was_told(tmp_path: Path, products: Path) -> None:
    """With --stop-with the sandbox ends soon after the other process has ended."""
    with (
        subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other,
        process(tmp_path, "--products", str(products), "--stop-with", str(other.pid)) as (started, word),
    ):
        assert 200 == requests.get(f"{word['base_url']}/health").status_code
        other.kill()
        assert 0 == started.wait(10)


@pytest.mark.slow
def test_the_sample_fills_a_new_home(tmp_path: Path) -> None:
    """Without --products the store is filled with the sample, of the size asked for."""
    with process(tmp_path, "--sample", "30") as (_, word):
        assert 30 == word["products"]


def test_every_setting_is_an_option() -> None:
    """Each setting of Behaviour is an option of the command, with the same default."""
    settings = vars(Behaviour())
    by_default = vars(parser().parse_args([]))
    assert settings == {name: by_default[name] for name in settings}
    changes = "--token-lifetime 5 --cursor-lifetime 6 --no-cursor-changes --scroll-end null-cursor"
    changes += (
        " --integer-codes --odd-blanks --documents-key document --token-type-key type --only-consumer-units"
    )
    changes += (
        " --body-limit 7 --upsert-limit 8 --import-delay 1 --import-timeout 2 --no-organizations-need-token"
    )
    changes += " --organizations-as-list --no-organizations-total --no-organizations-paged"
    changes += (
        " --endless-scroll --total-shrinks 1 --exclusive-from --exclusive-to --latency 1 --clock-skew -1"
    )
    changed = vars(parser().parse_args(changes.split()))
    assert [] == [name for name, default in settings.items() if changed[name] == default]


def test_help_fits_a_screen_and_leads_to_every_option(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first page has 24 lines of 80 letters; each option is on the page of one topic, and on that of all."""
    monkeypatch.setenv("COLUMNS", "80")

    def shown(*topic: str) -> str:
        with pytest.raises(SystemExit, match="0"):
            main(["--help", *topic])
        return capsys.readouterr().out

    first = shown().splitlines()
    assert len(first) <= 24
    assert max(map(len, first)) <= 80
    flags = {*re.findall(r"^  (--[\w-]+)", shown("all"), re.MULTILINE)}
    by_default = vars(parser().parse_args([]))
    assert len(by_default) == len(flags) > 30
    topics = [
        flag
        for topic in ("serving", "faults", "days", "settings")
        for flag in re.findall(r"^  (--[\w-]+)", shown(topic), re.MULTILINE)
    ]
    assert sorted(flags) == sorted(topics)


def test_what_the_sandbox_needs_and_has_not_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Without the sandbox's extra the command reports how to install it."""
    monkeypatch.delitem(sys.modules, "prodex_sandbox.app", raising=False)
    monkeypatch.setitem(sys.modules, "starlette.applications", None)
    assert 2 == main(["--openapi", str(tmp_path / "openapi.json")])
    assert (
        "prodex sandbox: it needs starlette.applications: pip install 'prodex[sandbox]'"
        in capsys.readouterr().err
    )


@pytest.mark.usefixtures("signals")
def test_a_file_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing file of products ends the command with 2 and its name."""
    missing = tmp_path / "missing.json"
    assert 2 == main(["--home", str(tmp_path / "home"), "--products", str(missing)])
    assert str(missing) in capsys.readouterr().err
    assert not (tmp_path / "home/store.sqlite").exists()


def test_the_home_is_in_the_users_data_unless_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """PRODEX_HOME names the folder above the sandbox's; else it is the user's data folder."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path))
    assert tmp_path / "sandbox" == default_home()
    monkeypatch.delenv("PRODEX_HOME")
    assert ("prodex", "sandbox") == default_home().parts[-2:]


def test_a_home_is_found_at_the_same_address(tmp_path: Path) -> None:
    """A sandbox has the same address in every run; where its port is taken, it has another."""
    with listen_on_home_port(LOOPBACK, tmp_path) as first:
        address = base_url_of(first)
        with listen_on_home_port(LOOPBACK, tmp_path) as second:
            assert address != base_url_of(second)
    with listen_on_home_port(LOOPBACK, tmp_path) as again:
        assert address == base_url_of(again)
