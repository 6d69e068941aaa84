"""What a release needs is in step: the versions of Python that are named, tried and found, and what its job calls."""

from __future__ import annotations

import re
import sys
import tomllib

from .pythons import ROOT, interpreter, supported

WORKFLOWS = ROOT / ".github" / "workflows"


def test_the_matrix_tries_the_versions_that_the_package_names() -> None:
    """On Linux, macOS and Windows."""
    text = (WORKFLOWS / "test.yml").read_text("utf-8")
    (matrix,) = re.findall(r"python: \[(.*)\]", text)
    assert supported() == re.findall(r'"(3\.\d+)"', matrix)
    assert "os: [ubuntu-latest, macos-latest, windows-latest]" in text


def test_the_python_of_these_tests_is_found() -> None:
    """And a version that nobody has is missing, and no error."""
    here = "{}.{}".format(*sys.version_info[:2])
    assert here in supported()
    assert interpreter(here) is not None
    assert interpreter("3.99") is None


def test_the_release_job_builds_twice_and_publishes_without_a_secret() -> None:
    """By the target of make that anybody can run, from the group that it installs."""
    text = (WORKFLOWS / "release.yml").read_text("utf-8")
    assert "run: make dist" in text
    assert "id-token: write" in text
    assert "secrets." not in text
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert {"cyclonedx-bom", "hatchling", "wheel"} == {re.split("[<>=]", one)[0] for one in groups["release"]}
