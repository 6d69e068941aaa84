"""The notebooks run from top to bottom, and what they show is fit to be kept.

Here their cells run in this process, one notebook after another beside one sandbox; in a kernel of its own the fifth
runs in tests/test_packaging.py, and the third in JupyterLab, in tests/notebook/test_notebooks_in_lab.py.
`python tests/test_notebooks.py --write` runs them in kernels on the whole sample and keeps what they show; `--write 03`
one.
"""

from __future__ import annotations

import base64
import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from prodex.cli.lab import is_tutorial
from prodex.notebook.session.jobs import let_end
from tests.lived import three_weeks

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell
    from nbformat import NotebookNode

ROOT = Path(__file__).parents[1]
#: Those that are ours: somebody may have saved others beside them.
NOTEBOOKS = [path for path in sorted((ROOT / "notebooks").glob("*.ipynb")) if is_tutorial(path)]

#: Seconds that one cell may take; a load of the whole sample is the longest.
_CELL_TIME = 180
_OUTPUT_SIZE = 200_000
_NOTEBOOK_SIZE = 300_000
#: The whole sample, as users have it.
_WHOLE = 12_000

_WIDGET = "application/vnd.jupyter.widget-view+json"
_PATH = re.compile(r"(?<![\w./:<])(?:/(?:home|root|Users|tmp|var|private|opt|usr|mnt|srv|work)/|[A-Z]:\\)")
#: What a panel is called where only text is shown.
_SENTENCE = re.compile(r"([A-Z][a-z ]+?)(: [\d,]+ products?)?\. Run this cell to use it\.")
_TOKEN = re.compile(r"eyJ[\w-]{8,}\.|client_secret|Bearer ")


def run(path: Path, folder: Path) -> NotebookNode:
    """Run a notebook in `folder`, where all that it keeps stays, and return it with what it showed."""
    import nbformat  # here and below, since it takes seconds to import, and every run of tests imports this module
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    # A relative PRODEX_HOME: what is shown then has no path of this machine in it.
    environment = {
        **os.environ,
        "PRODEX_HOME": "data",
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONWARNINGS": "default",
    }
    client = NotebookClient(
        notebook,
        timeout=_CELL_TIME,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=False,
        record_timing=False,
    )
    client.execute(env=environment)
    return notebook


def outputs(notebook: NotebookNode) -> Iterator[NotebookNode]:
    for cell in notebook.cells:
        yield from cell.get("outputs", ())


def shown(notebook: NotebookNode) -> str:
    """Return all that a notebook shows as text; pictures apart."""
    texts = []
    for output in outputs(notebook):
        texts.append(output.get("text", ""))
        texts += [
            text
            for kind, text in output.get("data", {}).items()
            if isinstance(text, str) and not kind.startswith("image/")
        ]
    return "\n".join(texts)


def flaws(notebook: NotebookNode) -> list[str]:
    """Name what a kept notebook must not show: paths and names of a machine, secrets, errors, warnings, bulk."""
    import nbformat

    text = shown(notebook)
    found = [f"path: {text[match.start() :][:60]!r}" for match in _PATH.finditer(text)]
    found += [f"secret: {match[0]!r}" for match in _TOKEN.finditer(text)]
    places = {str(ROOT), str(Path.home()), tempfile.gettempdir(), sys.prefix} - {"/"}
    found += [f"of this machine: {place!r}" for place in sorted(places) if place in text]
    for output in outputs(notebook):
        if output.output_type == "error":
            found.append(f"error: {output.ename}: {output.evalue}")
        if output.get("name") == "stderr" and "Warning" in output.text:
            found.append(f"warning: {output.text}")
        if (size := len(nbformat.v4.writes(nbformat.v4.new_notebook(cells=[_cell(output)])))) > _OUTPUT_SIZE:
            found.append(f"an output of {size:,} characters")
    return found


def tidied(notebook: NotebookNode) -> NotebookNode:
    """Leave out what is of its moment only: progress, and views of widgets, of which the pictures stay.

    Pictures are kept in few colours, a third of the size.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [o for o in cell.outputs if not _is_of_its_moment(o)]
            for output in cell.outputs:
                output.get("data", {}).pop(_WIDGET, None)
                if png := output.get("data", {}).get("image/png"):
                    output.data["image/png"] = base64.b64encode(
                        _in_few_colours(base64.b64decode(png))
                    ).decode()
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _is_of_its_moment(output: NotebookNode) -> bool:
    """Whether an output is progress, or what takes the place of a panel where that cannot be drawn."""
    data = output.get("data", {})
    is_bar = _WIDGET in data and "text/html" not in data
    return output.get("name") == "stderr" or is_bar or data.get("text/html", "").startswith("<script")


def _in_few_colours(png: bytes) -> bytes:
    few = Image.open(io.BytesIO(png)).convert("RGBA").quantize(64, method=Image.Quantize.FASTOCTREE)
    few.save(written := io.BytesIO(), "PNG", optimize=True)
    return written.getvalue()


def _cell(output: NotebookNode) -> NotebookNode:
    import nbformat

    return nbformat.v4.new_code_cell(outputs=[output])


@contextmanager
def sandbox(folder: Path, products: int, home: Path = Path("data/sandbox")) -> Iterator[None]:
    """Serve a small sample where `prodex.connect("sandbox")` looks for it first."""
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    command = [sys.executable, "-m", "prodex_sandbox", "--home", str(home), "--ready", str(ready)]
    command += ["--sample", str(products), "--stop-with", str(os.getpid())]
    with (
        (folder / "sandbox.txt").open("wb") as said,
        subprocess.Popen(command, cwd=folder, stdout=said, stderr=subprocess.STDOUT) as process,
    ):
        try:
            end = time.monotonic() + _CELL_TIME
            while not ready.exists():
                assert process.poll() is None, (folder / "sandbox.txt").read_text("utf-8")
                assert time.monotonic() < end, "the sandbox takes too long to start"
                time.sleep(0.05)
            yield
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Serve one sandbox, in which three weeks have passed, to all notebooks; they keep what they keep beside it."""
    folder = tmp_path_factory.mktemp("notebooks")
    with three_weeks(folder / "data"):
        yield folder


@pytest.fixture(scope="module")
def shell() -> Iterator[InteractiveShell]:
    """Give all notebooks what runs and shows cells in a kernel, without the kernel; leave nothing of it behind."""
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.pylabtools import select_figure_formats
    from traitlets.config import Config

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        patch.setattr(sys, "path", list(sys.path))
        for prompt in ("ps1", "ps2", "ps3"):
            patch.setattr(sys, prompt, "", raising=False)
        shell = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        select_figure_formats(shell, {"png"})
        yield shell
        InteractiveShell.clear_instance()


def run_here(path: Path, shell: InteractiveShell) -> NotebookNode:
    """Run the cells of a notebook in this process up to the first that fails, and return it with what it showed."""
    import nbformat
    from IPython.utils.capture import capture_output

    notebook = nbformat.read(path, as_version=4)
    shell.reset(new_session=True)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in code:
        cell.outputs, cell.execution_count = [], None
    for number, cell in enumerate(code, start=1):
        # Within the trap, values of cells are shown as well to what captures.
        with shell.display_trap, capture_output() as captured:
            done = shell.run_cell(cell.source, store_history=True)
        cell.execution_count = number
        for name in ("stdout", "stderr"):
            if text := getattr(captured, name):
                cell.outputs.append(nbformat.v4.new_output("stream", name=name, text=text))
        for one in captured.outputs:
            data = {
                kind: base64.b64encode(value).decode() if isinstance(value, bytes) else value
                for kind, value in one.data.items()
            }
            cell.outputs.append(nbformat.v4.new_output("display_data", data=data))
        if error := done.error_before_exec or done.error_in_exec:
            cell.outputs.append(
                nbformat.v4.new_output("error", ename=type(error).__name__, evalue=str(error))
            )
            break
    return notebook


def kinds(notebook: NotebookNode) -> dict[str, list[str]]:
    """Return of each cell with code in which forms it shows what is no mere line: text, table, picture."""
    return {
        cell.source: sorted({kind for one in cell.outputs for kind in one.get("data", ())})
        for cell in notebook.cells
        if cell.cell_type == "code"
    }


pytestmark = pytest.mark.xdist_group("notebooks")  # one sandbox for all of them
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
def test_runs(path: Path, folder: Path, shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook runs from top to bottom without an error, a warning, a path or a secret, and shows what it keeps."""
    import nbformat

    monkeypatch.chdir(folder)
    # A relative one: what is shown then has no path of this machine in it.
    monkeypatch.setenv("PRODEX_HOME", "data")
    notebook = run_here(path, shell)
    let_end(60)  # what a panel still reads belongs to this folder

    assert [] == flaws(notebook)
    assert [] == [
        cell.source for cell in notebook.cells if cell.cell_type == "code" and not cell.execution_count
    ]
    kept, shown = (kinds(tidied(one)) for one in (nbformat.read(path, as_version=4), notebook))
    assert {} == {cell: (kept[cell], shown[cell]) for cell in kept if kept[cell] != shown[cell]}


@each_notebook
def test_kept_outputs(path: Path) -> None:
    """What is kept comes from one run, is small, and says nothing of the machine that it ran on."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    assert list(range(1, len(counts) + 1)) == counts
    assert [] == flaws(notebook)
    assert path.stat().st_size < _NOTEBOOK_SIZE


def test_all_notebooks_are_found() -> None:
    """The first notebook is among those that are run."""
    assert "01_first_look" in [path.stem for path in NOTEBOOKS]


def test_panels_keep_a_picture() -> None:
    """Whoever reads the tutorials without running them sees their tables, and never a widget or a style sheet."""
    import nbformat

    seen = {}
    for path in NOTEBOOKS:
        for output in outputs(nbformat.read(path, as_version=4)):
            data = output.get("data", {})
            assert _WIDGET not in data
            assert "children=" not in data.get("text/plain", "")
            assert not data.get("text/html", "").startswith("<script")
            if found := _SENTENCE.fullmatch(data.get("text/plain", "")):
                seen[found[1]] = data["text/html"]
    assert {"Load", "Explore", "Card", "Quality"} <= seen.keys()
    assert "<table>" in seen["Explore"]
    assert "<table" in seen["Card"]
    assert "products match" in seen["Load"]
    assert "France" in seen["Load"]


@pytest.mark.parametrize(
    "text",
    [
        "in /home/ana/data/shop",
        "C:\\Users\\ana",
        sys.prefix,
        "Bearer eyJhbGciOi.x",
        '"client_secret": "x"',
        "x" * (_OUTPUT_SIZE + 1),
    ],
    ids=["home", "windows", "prefix", "token", "secret", "bulk"],
)
def test_what_must_not_be_kept_is_found(text: str) -> None:
    """A path, a secret or bulk in an output is named."""
    import nbformat

    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    assert flaws(nbformat.v4.new_notebook(cells=[_cell(output)]))


@pytest.mark.parametrize(
    "text", ["at https://shop.example/home/a", "in data/snapshots/shop", "and/or", "</p>"]
)
def test_what_may_be_kept_passes(text: str) -> None:
    """An address or a relative path is nobody's secret."""
    import nbformat

    output = nbformat.v4.new_output("stream", name="stdout", text=text)
    assert [] == flaws(nbformat.v4.new_notebook(cells=[_cell(output)]))


def test_warnings_are_found() -> None:
    """A warning that a cell shows is named; progress is not."""
    import nbformat

    warning = nbformat.v4.new_output("stream", name="stderr", text="x.py:1: DeprecationWarning: old")
    progress = nbformat.v4.new_output("stream", name="stderr", text="Products: 100%")
    assert ["warning: x.py:1: DeprecationWarning: old"] == flaws(
        nbformat.v4.new_notebook(cells=[_cell(warning)])
    )
    assert [] == flaws(nbformat.v4.new_notebook(cells=[_cell(progress)]))


def _write(numbers: list[str]) -> None:
    import nbformat

    # Served beside the notebooks, so that none of them says that it has started the sandbox.
    with tempfile.TemporaryDirectory() as folder, sandbox(Path(folder), _WHOLE):
        for path in (one for one in NOTEBOOKS if not numbers or one.name[:2] in numbers):
            notebook = tidied(run(path, Path(folder)))
            if found := flaws(notebook):
                sys.exit(f"{path.name} is not kept: {found}")
            nbformat.write(notebook, path)


if __name__ == "__main__":
    if sys.argv[1:2] != ["--write"]:
        sys.exit(__doc__)
    _write(sys.argv[2:])
