"""What `make check` runs: all but browsers, notebooks, kills and the large sample, and a tenth of what takes long.

`tests/slow.txt` lists the tests that take long, with their seconds. `pytest --list-slow` runs and writes it anew; on a
machine that does nothing else, these are the seconds that a quick run saves.

Of a slow test with several cases a quick run takes every tenth, and of a law that Hypothesis tests a tenth of the
examples; what takes longer than a second by itself is left out. The choice depends on nothing but the tests and this
list, so that it is the same everywhere.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

#: Marker -> names of the files whose tests have it. A quick run does not even import these.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "browser": ("test_*_in_browser.py", "test_lab.py", "test_notebooks_in_lab.py"),
    "notebooks": ("test_notebooks.py", "test_notebooks_in_lab.py"),
    "kills": ("test_killed*.py",),
    "sample": ("test_sample*.py", "test_planted*.py"),
}

#: Of the cases of a slow test, and of the examples of a law, a quick run takes one in so many.
ONE_IN = 10

#: A test whose cases together take as many seconds is listed.
SLOW_FROM = 0.15

#: A case that takes more seconds is left out.
LONGEST = 1.0

LIST = Path(__file__).with_name("slow.txt")
_VARIABLE = "PRODEX_QUICK_TESTS"


def be_quick() -> None:
    """Let the modules that are imported from now on know that this run is quick."""
    os.environ[_VARIABLE] = "1"


def examples(number: int) -> int:
    """Return how many examples Hypothesis draws of a law, of which a whole run draws so many."""
    return max(number // ONE_IN, 1) if os.environ.get(_VARIABLE) else number


def marks_of(path: Path) -> list[str]:
    """Return the markers of the tests in a file.

    >>> marks_of(Path("tests/notebook/test_lab.py")), marks_of(Path("tests/test_query.py"))
    (['browser'], [])
    """
    return [mark for mark, names in LEFT_OUT.items() if any(path.match(name) for name in names)]


def function_of(test: str) -> str:
    """Return a test without its case and its group.

    >>> function_of("tests/test_gtin.py::test_digits[8]@browser-0")
    'tests/test_gtin.py::test_digits'
    """
    return test.partition("[")[0].partition("@")[0]


def listed() -> dict[str, float]:
    """Return the tests that take long, with the seconds of all their cases together."""
    lines = [line.split() for line in LIST.read_text("utf-8").splitlines()]
    return {test: float(seconds) for seconds, test in lines}


def write_list(seconds: Mapping[str, float]) -> None:
    """Write the list of the tests that take long, from the seconds of every case."""
    together: dict[str, float] = {}
    for test, one in seconds.items():
        together[function_of(test)] = together.get(function_of(test), 0) + one
    slow = sorted(test for test, all_of_it in together.items() if all_of_it >= SLOW_FROM)
    LIST.write_text("".join(f"{together[test]:7.2f} {test}\n" for test in slow), "utf-8")


def chosen(tests: Iterable[str], slow: Mapping[str, float], laws: Collection[str]) -> set[str]:
    """Return the tests of a quick run.

    Parameters
    ----------
    tests
        All tests, cases apart.
    slow
        Those that take long, with the seconds of all their cases together.
    laws
        Those of which Hypothesis draws fewer examples.

    Examples
    --------
    >>> tests = ["proof", "law", "fast", *(f"cases[{number:02}]" for number in range(15))]
    >>> sorted(chosen(tests, {"proof": 9, "law": 9, "cases": 9}, {"law"}))
    ['cases[00]', 'cases[10]', 'fast', 'law']
    """
    kept: set[str] = set()
    cases: dict[str, list[str]] = {}
    for test in tests:
        function = function_of(test)
        if function in slow and function not in laws:
            cases.setdefault(function, []).append(test)
        else:
            kept.add(test)
    for function, found in cases.items():
        if slow[function] / len(found) <= LONGEST:
            kept.update(found[::ONE_IN])
    return kept
