"""A panel in a script that ends says nothing: neither while it is made, nor while the process ends with it at work."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

_BEGIN = """
    import prodex
    from prodex.notebook.widget import explore
    from prodex_sandbox.sample import shared_products
    catalog = prodex.flatten(one.record for one in shared_products({products}))
"""
_SCRIPTS = {
    "made": "explored = explore(catalog)\nprint(explored)",
    "looked at, with what it lacks being read": "explored = explore(catalog)\nexplored.app.view()",
    "pressed and searched": """
        explored = explore(catalog)
        explored.app.view()
        explored.app.act("search.set", value="pain")
        explored.app.act("table.open", product_id=catalog.products.product_id[0])
        explored.app.act("fold.set", key="bulk", is_open=True)
        print(len(explored.catalog))
    """,
    "with an error of the script": "explored = explore(catalog)\nexplored.app.view()\nraise SystemExit(0)",
    "with work that goes on while the process ends": """
        from prodex.executors import side_by_side
        explored = explore(catalog)
        explored.app.view()
        def late(_):
            while True:  # until no thread can begin
                list(side_by_side(str.upper, "ab"))
        explored.app.run("late", late, lambda session, found: session.noting(str(found)))
    """,
    "waited for": """
        explored = explore(catalog, product_id=catalog.products.product_id[0])
        explored.app.view()
        explored.wait()
        assert "text/html" in explored._repr_mimebundle_()
    """,
}


def _ran(body: str, home: Path, *options: str, products: int = 300) -> subprocess.CompletedProcess[str]:
    begin = textwrap.dedent(_BEGIN.format(products=products))
    script = home / "script.py"
    home.mkdir(parents=True, exist_ok=True)
    script.write_text(begin + textwrap.dedent(body), "utf-8")
    command = [sys.executable, *options, str(script)]
    return subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("body", _SCRIPTS.values(), ids=_SCRIPTS.keys())
def test_a_script_that_ends_prints_no_traceback(body: str, home: Path) -> None:
    """Not even a warning is an error that is printed, whatever is still read in the background."""
    ended = _ran(body, home, "-W", "error")
    assert (0, "") == (ended.returncode, ended.stderr)


def test_nothing_is_read_that_nobody_looks_at(home: Path) -> None:
    """A script that makes a panel, and never shows it, starts no thread."""
    body = """
        import threading
        explored = explore(catalog)
        explored.app.act("section.open", name="coverage")
        print([one.name for one in threading.enumerate() if one is not threading.main_thread()])
    """
    ended = _ran(body, home, products=30)
    assert ("[]\n", "") == (ended.stdout, ended.stderr)
