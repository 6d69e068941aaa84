"""Wheel and sdist are complete, and the wheel runs in an environment that has nothing of the checkout."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email import message_from_string
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"

#: What a user might have set: exact versions, few words, and no compilation of what nobody imports. pip wants options
#: with "no" in their name to be false: "1" would compile everything.
PIP = {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_NO_COMPILE": "0", "PIP_QUIET": "1"}

# One worker builds once for all of them.
pytestmark = [pytest.mark.xdist_group("packaging"), pytest.mark.slow]


def unavailable(what: str) -> None:
    """Skip where a developer lacks something; under CI nothing may be left out."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def build(checkout: Path, target: str, folder: Path) -> Path:
    """Build a wheel or an sdist of a checkout, with the build backend that is installed here."""
    if find_spec("hatchling") is None:
        unavailable("hatchling is missing")
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(folder)]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=False)
    assert 0 == done.returncode, done.stderr
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the sdist from the checkout."""
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the sdist: what somebody has who takes a copy of the repository."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (copy,) = folder.iterdir()
    return copy


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the sdist, as an installer without a wheel would."""
    return build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))


def required(requirements: list[str]) -> list[Distribution]:
    """Return what is installed here of some requirements, and of theirs; nothing else of this environment."""
    waiting = [(Requirement(text), "") for text in requirements]
    found: dict[str, Distribution] = {}
    seen = set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        name = canonicalize_name(requirement.name)
        for wanted in ("", *requirement.extras):
            if (name, wanted) in seen:
                continue
            seen.add((name, wanted))
            try:
                found[name] = distribution(name)
            except PackageNotFoundError:  # pip will fetch it
                continue
            waiting += [(Requirement(text), wanted) for text in found[name].requires or ()]
    return list(found.values())


def link(distributions: list[Distribution], environment: Path) -> Path:
    """Put links to the files of distributions into an environment that pip then need not fill; return its packages.

    To unpack a gigabyte of others, and to compile what is imported of it, takes longer than all that is tested.
    """
    packages = (
        environment / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    )
    packages.mkdir(parents=True)
    made = {packages}
    programs = environment / "bin"
    for file in (file for one in distributions for file in one.files or ()):
        there = Path(os.path.normpath(file.locate()))
        here = Path(os.path.normpath(packages / file))
        if here.is_symlink() or not there.is_file():
            continue
        folder = here.parent
        pairs = [(there, here)]
        compiled = Path(cache_from_source(there))
        if there.suffix == ".py" and compiled.is_file():
            pairs.append((compiled, folder / "__pycache__" / compiled.name))
        for source, target in pairs:
            if target.parent not in made:
                target.parent.mkdir(parents=True, exist_ok=True)
                made.add(target.parent)
            if folder == programs and (text := source.read_bytes()).startswith(b"#!"):
                target.write_bytes(f"#!{programs / 'python'}".encode() + text[text.index(b"\n") :])
                target.chmod(0o755)
            elif not target.is_symlink():
                target.symlink_to(source)
    return packages


@pytest.fixture(scope="module")
def installed(unpacked: Path, wheel: Path) -> Path:
    """Paste the first block of the README, up to the demo, into a shell; return the folder of its programs.

    What the wheel declares lies in the environment already, where pip finds it; whatever else prodex uses is missing.
    """
    lines = blocks("sh")[0].replace("prodex demo", "command -v prodex")
    extras = re.findall(r"'\.\[([a-z,]+)\]'", lines)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        declared = message_from_string(archive.read(name).decode()).get_all("Requires-Dist") or []
    link(required(_chosen(declared, {"", *extras[0].split(",")})), unpacked / ".venv")
    # The first `python3` of the path is the one that runs the tests; nothing else of its environment is there.
    path = f"{Path(sys.base_prefix) / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    given = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    done = subprocess.run(
        ["bash", "-ex"],
        input=lines,
        env={**given, **PIP, "PATH": path, "HOME": str(unpacked.parent)},
        cwd=unpacked,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        unavailable(f"the first lines of the README fail: {done.stderr[-1000:]}")
    programs = Path(done.stdout.splitlines()[-1]).parent
    assert programs.parent == unpacked / ".venv"
    return programs


def _chosen(declared: list[str], extras: set[str]) -> list[str]:
    """Return what is declared for some extras, without the condition; an extra may name others of the same package."""
    chosen, wanted = [], set(extras)
    before: set[str] = set()
    while wanted != before:
        before = set(wanted)
        chosen = [
            one
            for one in map(Requirement, declared)
            if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in before)
        ]
        wanted |= {extra for one in chosen if one.name == "prodex" for extra in one.extras}
    for one in chosen:
        one.marker = None
    return [str(one) for one in chosen if one.name != "prodex"]


def blocks(language: str) -> list[str]:
    """Return the blocks of the README in one language."""
    fence = re.compile(rf"^```{language}\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return fence.findall((ROOT / "README.md").read_text("utf-8"))


def settings_of(programs: Path, folder: Path, **more: str) -> dict[str, str]:
    """Return an environment that says nothing, but where programs and data are, and where pip finds packages."""
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    path = f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin"
    return {**pip, "PATH": path, "HOME": str(folder), "PRODEX_HOME": str(folder / "home"), **more}


def run(programs: Path, folder: Path, *command: str, fails: bool = False) -> str:
    """Run a command outside the checkout, and return what it printed."""
    done = subprocess.run(
        [programs / command[0], *command[1:]],
        capture_output=True,
        text=True,
        env=settings_of(programs, folder),
        cwd=folder,
        check=False,
    )
    assert fails == bool(done.returncode), done.stderr[-2000:]
    return done.stdout + done.stderr if fails else done.stdout


@contextmanager
def served(programs: Path, folder: Path) -> Iterator[None]:
    """Serve 300 products of the sample instead of 12,000 where programs look for a sandbox first."""
    ready = folder / "ready.json"
    ready.unlink(missing_ok=True)
    options = ["--sample", "300", "--ready", str(ready), "--home", str(folder / "home" / "sandbox")]
    serving = subprocess.Popen(
        [programs / "prodex", "sandbox", *options],
        env=settings_of(programs, folder),
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(ready.exists, serving)
        yield
    finally:
        serving.terminate()
        serving.wait(30)


def wait_for(come: Callable[[], bool], process: subprocess.Popen[Any], seconds: float = 120) -> None:
    """Wait until something has come, while a process runs."""
    end = time.monotonic() + seconds
    while not come():
        assert process.poll() is None, "the process ended"
        assert time.monotonic() < end, "the process takes too long"
        time.sleep(0.1)


def tutorials() -> set[str]:
    """Return the notebooks and the pictures that they show."""
    notebooks = list((ROOT / "notebooks").glob("*.ipynb"))
    shown = {
        name
        for path in notebooks
        for name in re.findall(r"\((images/[a-z-]+\.png)\)", path.read_text("utf-8"))
    }
    return shown | {path.name for path in notebooks}


def test_every_file_of_the_package_is_in_the_wheel(wheel: Path) -> None:
    """Modules, profiles, word lists, styles, templates, notebooks: what is in the source tree, and nothing else."""
    there = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    } | {f"prodex/tutorials/{name}" for name in tutorials()}
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}

    assert there == packed
    kinds = {Path(name).suffix for name in packed if not name.endswith("/py.typed")}
    assert {".py", ".csv", ".tsv", ".toml", ".css", ".html"} <= kinds, kinds
    assert {"prodex/py.typed", "prodex_sandbox/py.typed"} <= packed


def test_the_sdist_has_what_it_takes_to_test_it(sdist: Path) -> None:
    """Tests, sample, docs and exact versions; nothing that a run has left."""
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    for name in (
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "LICENSE",
        "README.md",
        "docs/conf.py",
        "tests/test_packaging.py",
        "data/sample/products.json",
    ):
        assert name in names
    assert [] == [
        name
        for name in names
        if name.startswith((".venv", "docs/_build", "data/snapshots")) or ".pyc" in name
    ]


@pytest.fixture(scope="module")
def demo(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """Run the demo in an empty folder, and return the folder and what was printed; the sandbox is still there."""
    folder = tmp_path_factory.mktemp("demo")
    with served(installed, folder):
        yield folder, run(installed, folder, "prodex", "demo")


def test_the_demo_runs_from_the_wheel(installed: Path, demo: tuple[Path, str]) -> None:
    """In an empty environment, outside the checkout: it needs no file that the wheel does not have."""
    folder, shown = demo
    code = "import prodex; print(prodex.__file__)"
    assert str(ROOT) not in run(installed, folder, "python", "-c", code)

    count = "import prodex; print(len(prodex.open_snapshot(prodex.list_snapshots('french-shop')['folder'].iloc[0])))"
    products = run(installed, folder, "python", "-c", count).strip()
    assert 50 < int(products) < 300  # those for France, of the 300 that are served
    for words in (
        "status SUCCESS",
        "1 changed",
        f"Audit of {products} products",
        "The report opens in a browser",
    ):
        assert words in shown, words
    assert list((folder / "home" / "reports").glob("*/report.html"))


def test_what_the_demo_says_next_can_be_done(installed: Path, demo: tuple[Path, str]) -> None:
    """Each command, and each line of Python, in the same folder and environment; `make` is not there, and not named."""
    folder, shown = demo
    said = shown[shown.rindex("\nTo take back what was corrected: ") :]
    *commands, python = [line.partition(": ")[2] for line in said.strip().splitlines()]

    assert "make " not in said
    assert ["prodex sandbox --reset", "prodex sandbox --simulate 7", "prodex lab"] == commands
    for command in commands[:2]:
        run(installed, folder, *command.split())
    assert "px.audit" in python
    run(installed, folder, "python", "-c", python)


def test_the_readme_runs_as_it_is_pasted(installed: Path, demo: tuple[Path, str]) -> None:
    """After the demo, in its folder: Python line by line, as at its prompt, then the commands; nothing is empty."""
    folder, _ = demo
    (folder / "page.py").write_text(blocks("python")[0], "utf-8")
    prompt = "import code; c = code.InteractiveConsole(); [c.push(line.rstrip()) for line in open('page.py')]"
    printed = run(installed, folder, "python", "-c", prompt)
    commands = "\n".join([*blocks("sh")[1].splitlines(), "prodex watch french-shop"])
    done = subprocess.run(
        ["bash", "-e"],
        input=commands,
        env=settings_of(installed, folder),
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stderr[-2000:]
    for shown in (printed, done.stdout + done.stderr):
        for words in ("Traceback", "Error", "Empty DataFrame", "[0 rows", " 0 products"):
            assert words not in shown, shown
    for words in ("status:       SUCCESS", " bio", "[1 rows x "):
        assert words in printed, printed
    assert list((folder / "worklists").glob("*.xlsx"))
    assert list((folder / "to_fix").glob("*.xlsx"))
    assert list((folder / "csv").glob("*.csv"))
    assert (folder / "report.html").exists()


def test_the_notebooks_run_in_jupyterlab_of_the_wheel(installed: Path, demo: tuple[Path, str]) -> None:
    """`prodex lab` copies them and serves them; one with SQL and charts runs with what the README installs."""
    home, _ = demo
    folder, token, port = home / "prodex-notebooks", "of-the-tests", free_port()
    # Without a browser; whoever tests may be root, whom JupyterLab refuses.
    server = {"open_browser": False, "port": port}
    configuration = home / "configuration"
    configuration.mkdir()
    text = json.dumps({"ServerApp": server, "IdentityProvider": {"token": token}})
    (configuration / "jupyter_server_config.json").write_text(text, "utf-8")
    settings = settings_of(installed, home, JUPYTER_CONFIG_DIR=str(configuration))
    command = [installed / "prodex", "lab", "--allow-root"]
    lab = subprocess.Popen(command, env=settings, cwd=home, stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: asked(port, token) is not None, lab)
        listed = {one["name"] for one in (asked(port, token) or {})["content"]}
    finally:
        lab.terminate()
        lab.wait(30)
    one = folder / "05_hierarchies.ipynb"
    run(installed, home, "jupyter", "execute", str(one), "--allow-errors", "--inplace")

    assert {name.partition("/")[0] for name in tutorials()} == listed
    cells = [cell for cell in json.loads(one.read_text("utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert all(cell["execution_count"] for cell in cells)
    assert [] == [one for cell in cells for one in cell["outputs"] if one["output_type"] == "error"]


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def asked(port: int, token: str) -> dict[str, Any] | None:
    """Return what a server of Jupyter lists in its folder; None while it does not answer."""
    request = Request(f"http://127.0.0.1:{port}/api/contents", headers={"Authorization": f"token {token}"})
    try:
        with urlopen(request, timeout=10) as reply:
            return dict(json.load(reply))
    except OSError:
        return None


def test_notebooks_that_were_edited_are_kept(installed: Path, tmp_path: Path) -> None:
    """A second `prodex lab` adds only what is missing."""
    run(installed, tmp_path, "prodex", "lab", "--to", "course", "--copy-only")
    edited, removed = (tmp_path / "course" / name for name in ("01_first_look.ipynb", "04_pictures.ipynb"))
    edited.write_text("{}", "utf-8")
    removed.unlink()
    run(installed, tmp_path, "prodex", "lab", "--to", "course", "--copy-only")

    assert "{}" == edited.read_text("utf-8")
    assert removed.exists()


def test_the_line_after_a_missing_extra_installs_it(installed: Path, tmp_path: Path) -> None:
    """It works as it is pasted into a shell, and leaves the prodex that is there, which no index has."""
    code = 'import prodex; prodex.flatten([{"id": 1}]).save("one"); prodex.publish(prodex.open_snapshot("one"), "out")'
    said = run(installed, tmp_path, "python", "-c", code, fails=True).strip().splitlines()[-1]
    line = said.partition("Install it with: ")[2]

    assert line.endswith("python -m pip install 'prodex[publish]'")
    settings = settings_of(installed, tmp_path, **PIP)
    subprocess.run(["sh", "-c", line], env=settings, cwd=tmp_path, check=True, capture_output=True)
    run(installed, tmp_path, "python", "-c", code)
    assert (tmp_path / "out" / "products").is_dir()
