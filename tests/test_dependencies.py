"""What is needed is declared, with bounds that hold; CI installs exact versions, and from nowhere else."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

import prodex

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
CONSTRAINTS = [
    line
    for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    if line and not line.startswith("#")
]
SOURCE = Path(prodex.__file__).parents[1]
PACKAGES = ("prodex", "prodex_sandbox")


def declared(*groups: list[str]) -> list[Requirement]:
    """Return the requirements of some lists, but for prodex's own extras."""
    every = [Requirement(text) for group in groups for text in group]
    return [one for one in every if one.name != "prodex"]


USED = declared(PROJECT["project"]["dependencies"], *PROJECT["project"]["optional-dependencies"].values())
EVERY = [*USED, *declared(*PROJECT["dependency-groups"].values())]


def pinned() -> dict[str, Version]:
    """Return the exact version of each package."""
    parts = [line.split("==") for line in CONSTRAINTS]
    return {canonicalize_name(name): Version(version) for name, version in parts}


def imported() -> Iterator[tuple[str, Path]]:
    """Yield the full name of each module, or of what is taken from one, that the package imports, wherever it does."""
    for path in (path for package in PACKAGES for path in (SOURCE / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, path) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from ((f"{node.module}.{alias.name}", path) for alias in node.names)


def test_every_requirement_has_a_lower_bound_that_its_exact_version_meets() -> None:
    """A bound above what CI installs was never tried; without one, any old hole may be installed."""
    versions = pinned()

    assert [] == [str(one) for one in EVERY if ">=" not in str(one.specifier)]
    assert [] == [str(one) for one in EVERY if canonicalize_name(one.name) not in versions]
    assert [] == [
        f"{one} but {versions[canonicalize_name(one.name)]} is installed"
        for one in EVERY
        if versions[canonicalize_name(one.name)] not in one.specifier
    ]


def test_constraints_are_exact_versions_and_nothing_else() -> None:
    """No address, path or index: whoever installs decides where from."""
    assert [] == [line for line in CONSTRAINTS if not re.fullmatch(r"[A-Za-z0-9._-]+==[0-9][\w.!+]*", line)]
    assert len(CONSTRAINTS) == len(pinned())
    for name in ("pyproject.toml", "Makefile", ".ci/run", "constraints.txt"):
        text = (ROOT / name).read_text("utf-8")
        assert not re.search(r"index-url|extra-index|trusted-host|https?://", text), name


def test_make_installs_exact_versions_only() -> None:
    """Each line of the Makefile that installs something is held to the constraints, but that which renews them."""
    text = (ROOT / "Makefile").read_text("utf-8")
    lines = [line for line in text.splitlines() if re.search(r"pip install|\(PIP\) install", line)]

    others = [line for line in lines if "upgrade pip" not in line and "$(FRESH)" not in line]
    assert ["INSTALL := -m pip install --quiet --constraint constraints.txt"] == others
    assert 6 == text.count("/python $(INSTALL) ")


@pytest.mark.slow
def test_what_is_imported_is_declared() -> None:
    """No package is used only because another one happens to bring it along."""
    names = {canonicalize_name(one.name) for one in USED}
    homes = packages_distributions()
    undeclared = {
        f"{path.relative_to(SOURCE)} imports {module}"
        for module, path in ((name.partition(".")[0], path) for name, path in imported())
        if module not in sys.stdlib_module_names.union(PACKAGES)
        and not {canonicalize_name(home) for home in homes.get(module, [module])} & names
    }

    assert set() == undeclared


@pytest.mark.slow
def test_no_private_name_of_a_library_is_imported() -> None:
    """Any version of a library may change one; deltalake alone has no public name for what is needed of it."""
    private = {
        f"{path.relative_to(SOURCE).as_posix()} imports {name}"
        for name, path in imported()
        if name.partition(".")[0] not in {*PACKAGES, "__future__"} and re.search(r"\._(?!_)", name)
    }

    assert {"prodex/publishing/destination.py imports deltalake._internal.DeltaFileSystemHandler"} == private
