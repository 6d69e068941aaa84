"""What `make check` runs: all but browsers, notebooks, kills and the large sample, and a tenth of what takes long.

A test that takes a fifth of a second or more of processor time, all cases together, has the mark `slow`. Of its cases,
or of the rows of its table, a quick run takes every tenth, so that one without as many is left out; and of a law that
Hypothesis tests it draws a tenth of the examples (tests/laws.py), and none of one that has fewer than ten.
Of any other test with more than ten cases it takes every third.
The choice depends on nothing but the tests, so that it is the same everywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

#: Marker -> names of the files whose tests have it. A quick run does not even import these.
LEFT_OUT: Mapping[str, tuple[str, ...]] = {
    "browser": (
        "test_*_in_browser.py",
        "test_*_in_one_browser.py",
        "test_lab.py",
        "test_notebooks_in_lab.py",
    ),
    "notebooks": ("test_notebooks.py", "test_notebooks_in_lab.py"),
    "kills": ("test_killed*.py",),
    "sample": ("test_sample*.py", "test_planted*.py"),
}

#: Of the cases of a slow test a quick run takes one in so many.
ONE_IN = 10
#: Of the cases of any other test that has more than so many, a quick run takes one in so many.
MANY, ONE_OF_MANY = 10, 3


@cache
def marks_of(path: Path) -> list[str]:
    """Return the markers of the tests in a file.

    >>> marks_of(Path("tests/notebook/test_lab.py")), marks_of(Path("tests/test_query.py"))
    (['browser'], [])
    """
    return [mark for mark, names in LEFT_OUT.items() if any(path.match(name) for name in names)]


def function_of(test: str) -> str:
    """Return a test without its case and its group.

    >>> function_of("tests/test_gtin.py::test_digits[8]@browser")
    'tests/test_gtin.py::test_digits'
    """
    return test.partition("[")[0].partition("@")[0]


def chosen(tests: Collection[str], slow: Collection[str]) -> set[str]:
    """Return the tests of a quick run.

    Parameters
    ----------
    tests
        All tests, cases apart.
    slow
        Those that take long, and of which every tenth case is enough.

    Examples
    --------
    >>> tests = ["proof", "fast", *(f"cases[{number:02}]" for number in range(1, 16))]
    >>> sorted(chosen(tests, set(tests) - {"fast"}))
    ['cases[10]', 'fast']
    >>> sorted(chosen(tests, {"proof"}))
    ['cases[01]', 'cases[04]', 'cases[07]', 'cases[10]', 'cases[13]', 'fast']
    """
    of_function = Counter(map(function_of, tests))
    cases: Counter[str] = Counter()
    kept = set()
    for test in tests:
        function = function_of(test)
        cases[function] += 1
        is_chosen = of_function[function] <= MANY or cases[function] % ONE_OF_MANY == 1
        if cases[function] % ONE_IN == 0 if test in slow else is_chosen:
            kept.add(test)
    return kept
