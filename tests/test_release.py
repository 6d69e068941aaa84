"""What a release needs is in step: the versions of Python that are named, tried and found, and what its job calls."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from .pythons import ROOT, interpreter, main, run, supported

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


def test_the_newest_python_that_pyenv_keeps_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """3.98.10 comes after 3.98.9, and one that does not start is passed over."""
    for name, text in (("3.98.9", "3.98"), ("3.98.10", "3.98"), ("3.98.11", "")):
        python = tmp_path / "versions" / name / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.write_text(f"#!/bin/sh\necho '{text}'\n", "utf-8")
        python.chmod(0o700)
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    found = interpreter("3.98")
    assert found is not None
    assert "3.98.10" == found.parts[-3]


def test_a_version_that_is_missing_is_said_and_no_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `--list`, as CI asks, and when the tests of those that are there are to run."""
    for arguments in (["3.99", "--list"], ["3.99"]):
        assert 0 == main(arguments)
        assert "Python 3.99: missing on this machine, not tested\n" == capsys.readouterr().out
    here = "{}.{}".format(*sys.version_info[:2])
    assert 0 == main([here, "--list"])
    assert capsys.readouterr().out.startswith(f"Python {here}: found (")
    assert "tests.pythons --list" in (ROOT / ".ci" / "run").read_text("utf-8")


@pytest.mark.slow
def test_what_failed_is_in_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counts, and each test by its name; of a file that cannot be imported as well."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # they take a second to import
    good, bad = tmp_path / "test_good.py", tmp_path / "test_bad.py"
    good.write_text("def test_a(): pass\n\n\ndef test_b(): assert 1 == 2\n", "utf-8")
    bad.write_text("import nothing_of_this_name\n", "utf-8")
    options = ["-c", "/dev/null", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
    is_good, outcome = run(Path(sys.executable), [*options, str(tmp_path)])
    assert not is_good
    assert "1 failed, 1 passed, 1 error" in outcome.counts
    assert ["ERROR", "FAILED"] == sorted(line.split()[0] for line in outcome.failed)
    assert "test_b" in capsys.readouterr().out


def test_the_release_job_builds_twice_and_publishes_without_a_secret() -> None:
    """By the target of make that anybody can run, from the group that it installs."""
    text = (WORKFLOWS / "release.yml").read_text("utf-8")
    assert "run: make dist" in text
    assert "id-token: write" in text
    assert "secrets." not in text
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    assert {"cyclonedx-bom", "hatchling", "wheel"} == {re.split("[<>=]", one)[0] for one in groups["release"]}
