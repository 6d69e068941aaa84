"""Whether the tests see a wrong line: mutants of the source by a seed, each judged by the tests that reach it.

    python -m tests.guard draw MUTANTS.json --seed 1 --count 120
    python -m tests.guard run MUTANTS.json RESULTS --checkout FOLDER
    python -m tests.guard compare BEFORE/verdicts.json AFTER/verdicts.json

A mutant is one expression of the source written wrongly: a comparison turned round, `and` for `or`, a number greater
by one. `draw` looks for them in the modules that work without widgets. `run` is `probe`, which runs the tests once over
a copy of the source that notes which of these expressions each test reaches, and `judge`, which plants one mutant after
another in another copy and runs the tests that reach it, the cheapest first, until one fails. Both continue where they
were interrupted; remove RESULTS to begin anew. Tests and source are those of the checkout, which may be of another
commit than the mutants: an expression is found again by its function and its line.

Tests that fail over a copy do not count, nor those that read the source. `RESULTS/reached` has what each test reaches,
and `RESULTS/verdicts.json` has for each mutant one of

- killed: a test failed that passes without the mutant,
- late: the tests did not end in time, and did without the mutant, which kills it as well,
- survived: all passed,
- slow: the tests did not end, and would not have without it,
- not reached: by no test,
- gone: the checkout has no such line.
"""

from __future__ import annotations

import argparse
import ast
import json
import math
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

PACKAGES = ("prodex", "prodex_sandbox")
#: Folders and modules that have widgets, are soon replaced, need services, or are what a terminal shows.
LEFT_OUT = frozenset({"cli", "compare", "corrections", "exploration", "notebook", "publishing", "send"}) | {
    *("worklists", "__main__.py", "sandbox_weeks.py", "command.py", "executors.py", "terminal.py")
}
#: Tests that look through a browser, run notebooks, build, measure, or read the source itself.
NOT_RUN = (
    *(
        "*_in_browser.py",
        "*_in_one_browser.py",
        "*test_lab.py",
        "*notebooks*",
        "test_docs_build.py",
        "test_packaging.py",
        "test_bench.py",
    ),
    *("test_demo.py", "test_architecture.py", "test_house.py", "test_messages.py", "test_public_names.py"),
    *("test_guard.py", "test_makefile.py", "test_release.py", "test_sandbox_weeks.py"),
)
#: And folders of tests of which the mutants are farthest, or whose tests build and measure.
FOLDERS_NOT_RUN = frozenset(
    {"bench", "clock", "extending", "kept", "notebook", "publishing", "send", "soak"}
) | {"worklists"}
#: No part of the tests takes longer over a noting copy; in one that does, a test waits for something.
_AT_MOST_A_PART = 1_800

#: So many tests of a mutant run at most, which together took so many seconds of processor time.
AT_MOST_TESTS, AT_MOST_PROCESSOR = 300, 10.0
#: So many bytes a process may use: a wrong loop must not take the memory of the machine.
_AT_MOST_MEMORY = 16 * 2**30
#: Files in memory, and what stands for the end of a run that was stopped.
_MEMORY, _TOO_LATE = Path("/dev/shm"), -1000

_COMPARED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_JOINED = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.And: ast.Or, ast.Or: ast.And}


@dataclass(frozen=True)
class Mutant:
    """One expression of a module, and what is written in its place; `start` and `end` count bytes of the module."""

    path: str
    function: str
    line: int
    start: int
    end: int
    kind: str
    original: str
    replacement: str
    text: str

    @property
    def name(self) -> tuple[str, ...]:
        """What it is called in every commit that has it."""
        return (self.path, self.function, self.text, self.original, self.replacement)

    def planted(self, source: bytes, text: str) -> bytes:
        """Return the module with a text in place of the expression."""
        return source[: self.start] + text.encode() + source[self.end :]


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Return every mutant of a module, in the order of its lines."""
    lines = source.splitlines(keepends=True)
    begins = [0, *accumulate(map(len, lines))]
    visitor = _Wrong()
    visitor.visit(ast.parse(source))
    found = []
    for function, node, kind, replacement in visitor.found:
        start, end = (begins[row - 1] + column for row, column in _span(node))
        original, text = source[start:end].decode(), lines[node.lineno - 1].decode().strip()
        found.append(
            Mutant(path, function, node.lineno, start, end, kind, original, f"({replacement})", text)
        )
    return sorted(found, key=lambda one: (one.start, one.end, one.replacement))


def _span(node: ast.expr) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno or 0, node.end_col_offset or 0)


class _Wrong(ast.NodeVisitor):
    """Finds what can be written wrongly inside functions; not in annotations, messages of errors and f-strings."""

    def __init__(self) -> None:
        self.found: list[tuple[str, ast.expr, str, str]] = []
        self._names: list[str] = []
        self._functions = 0

    def _add(self, node: ast.expr, kind: str, wrong: ast.expr) -> None:
        if self._functions:
            self.found.append((".".join(self._names), node, kind, ast.unparse(wrong)))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._names.append(node.name)
        for one in node.body:
            self.visit(one)
        self._names.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if node.name != "__repr__":
            self._names.append(node.name)
            self._functions += 1
            for one in node.body:
                self.visit(one)
            self._functions -= 1
            self._names.pop()

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Pass over a message."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Pass over an f-string: until Python 3.12 its parts do not know where they are."""

    def visit_If(self, node: ast.If) -> None:
        if "TYPE_CHECKING" not in ast.unparse(node.test):
            self.generic_visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        if node.arg != "strict":  # it refuses what other lines would have to do wrongly first
            self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value:
            self.visit(node.value)

    def visit_match_case(self, node: ast.match_case) -> None:
        for one in filter(None, [node.guard, *node.body]):
            self.visit(one)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value and ast.unparse(node.value) != "None":
            self._add(node.value, "return", ast.Constant(None))
            self.visit(node.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for number, one in enumerate(node.ops):
            operators = [*node.ops[:number], _COMPARED[type(one)](), *node.ops[number + 1 :]]
            self._add(node, "comparison", ast.Compare(node.left, operators, node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if wrong := _JOINED.get(type(node.op)):
            self._add(node, "sum", ast.BinOp(node.left, wrong(), node.right))
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self._add(node, "and, or", ast.BoolOp(_JOINED[type(node.op)](), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self._add(node, "not", node.operand)
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._add(node, "truth", ast.Constant(not node.value))
        elif isinstance(node.value, int):
            self._add(node, "number", ast.Constant(node.value + 1))


def modules(source: Path) -> list[str]:
    """Return the modules in which mutants are looked for, as paths below the folder of the source."""
    found = (path.relative_to(source) for package in PACKAGES for path in (source / package).rglob("*.py"))
    return sorted(path.as_posix() for path in found if not LEFT_OUT & set(path.parts[1:]))


def draw(source: Path, seed: int, count: int) -> list[Mutant]:
    """Return so many mutants, at most one on a line: a module by how many it has, of these a kind, of these one."""
    chance = random.Random(seed)
    every = {path: mutants_of(path, (source / path).read_bytes()) for path in modules(source)}
    paths, weights = list(every), [len(found) for found in every.values()]
    lines = {(one.path, one.line) for found in every.values() for one in found}
    drawn: dict[tuple[str, int], Mutant] = {}
    while len(drawn) < min(count, len(lines)):
        kinds = defaultdict(list)
        for one in every[chance.choices(paths, weights)[0]]:
            kinds[one.kind].append(one)
        one = chance.choice(kinds[chance.choice(sorted(kinds))])
        drawn.setdefault((one.path, one.line), one)
    return sorted(drawn.values(), key=lambda one: (one.path, one.start))


def found_again(mutants: Iterable[Mutant], source: Path) -> dict[int, Mutant]:
    """Return by its number where each mutant is in a checkout, perhaps some lines away; some may be gone."""
    found = {}
    for number, mutant in enumerate(mutants):
        path = source / mutant.path
        every = mutants_of(mutant.path, path.read_bytes()) if path.exists() else []
        if same := [one for one in every if one.name == mutant.name]:
            found[number] = min(same, key=lambda one: abs(one.start - mutant.start))
    return found


@dataclass(frozen=True)
class Trial:
    """A checkout, the folder of the results, and how long the tests of a mutant may take by the clock."""

    checkout: Path
    results: Path
    seconds: float = 60

    @property
    def source(self) -> Path:
        """The source itself, which nothing here changes."""
        return self.checkout / "src"

    def copy(self, name: str) -> Path:
        """Make a copy of the source anew, with the plugin beside it."""
        to = self.results / name / "src"
        shutil.rmtree(to, ignore_errors=True)
        shutil.copytree(self.source, to, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(Path(__file__).with_name("guard_probe.py"), to)
        for one in self.checkout.iterdir():  # what is looked for beside the source
            if one.name != "src" and not (to.parent / one.name).exists():
                (to.parent / one.name).symlink_to(one)
        return to

    def pytest(
        self, source: Path, tests: Iterable[str], to: Path, *options: str, seconds: float | None = None
    ) -> int:
        """Run tests in their order over a copy, and return how pytest ended; the plugin writes lines into a file."""
        with tempfile.TemporaryDirectory(
            prefix="guard-", dir=_MEMORY if _MEMORY.is_dir() else None
        ) as folder:
            names = Path(folder, "tests.txt")
            names.write_text("\n".join(tests), "utf-8")
            command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "--tb=line", "--hypothesis-seed=0"]
            command += ["-p", "no:cacheprovider", "-p", "guard_probe", *options, f"@{names}"]
            environment = {
                **os.environ,
                "PYTHONPATH": str(source),
                "PRODEX_GUARD_FILE": str(to),
                "HYPOTHESIS_STORAGE_DIRECTORY": str(Path(folder, "hypothesis")),
                "TMPDIR": folder,
            }
            environment.pop("PYTHONDONTWRITEBYTECODE", None)  # each would compile prodex anew
            with to.with_suffix(".log").open("wb") as log:
                process = subprocess.Popen(
                    command,
                    cwd=self.checkout,
                    env=environment,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
                resource.prlimit(process.pid, resource.RLIMIT_AS, (_AT_MOST_MEMORY, _AT_MOST_MEMORY))
                try:
                    return process.wait(seconds)
                except subprocess.TimeoutExpired:
                    return _TOO_LATE
                finally:
                    with suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                    process.wait()

    def probe(self, mutants: Sequence[Mutant]) -> None:
        """Write for every test what it costs and which of these it reaches, a file for each part of the tests."""
        copy = self.copy("probe")
        of_path = defaultdict(dict)
        for number, one in found_again(mutants, self.source).items():
            of_path[one.path][number] = one
        for path, found in of_path.items():
            (copy / path).write_bytes(noting((self.source / path).read_bytes(), found))
        reached = self.results / "reached"
        reached.mkdir(exist_ok=True)
        ignored = [f"--ignore-glob=*/{name.removeprefix('*/')}" for name in NOT_RUN]
        for name, tests in parts(self.checkout / "tests").items():
            if not (reached / f"{name}.jsonl").exists():
                to = reached / f"{name}.part"
                to.unlink(missing_ok=True)
                began = time.time()
                ended = self.pytest(copy, tests, to, *ignored, seconds=_AT_MOST_A_PART)
                _say(f"{name}: pytest ended with {ended} after {time.time() - began:.0f} s")
                to.rename(to.with_suffix(".jsonl"))

    def tests_of(self) -> tuple[dict[str, float], dict[int, set[str]]]:
        """Return what each test costs that passes, and which tests reach each mutant."""
        costs: dict[str, float] = {}
        reaching = defaultdict(set)
        for file in sorted((self.results / "reached").glob("*.jsonl")):
            for line in map(json.loads, file.read_text("utf-8").splitlines()):
                if line.get("passed"):
                    costs[line["test"]] = line["processor"]
                for number in line["reached"]:
                    reaching[number].add(line["test"])
        return costs, reaching

    def judge(self, mutants: Sequence[Mutant]) -> None:
        """Write a verdict on each mutant; those that are written already stay."""
        to = self.results / "verdicts.json"
        verdicts = {tuple(one["name"]): one for one in _read(to)}
        costs, reaching = self.tests_of()
        copy, here = self.copy("judged"), found_again(mutants, self.source)
        while waiting := {number: one for number, one in enumerate(mutants) if one.name not in verdicts}:
            for number, mutant in waiting.items():
                began, tests = time.time(), cheapest_first(reaching[number], costs)
                verdict = self._verdict(copy, here[number], tests) if number in here else {"verdict": "gone"}
                seconds = {"tests": len(tests), "seconds": round(time.time() - began, 1)}
                verdicts[mutant.name] = {
                    "name": mutant.name,
                    "line": mutant.line,
                    "kind": mutant.kind,
                    **verdict,
                    **seconds,
                }
                to.write_text(json.dumps(list(verdicts.values()), indent=1, ensure_ascii=False), "utf-8")
                _say(f"{number} {mutant.path}:{mutant.line} {verdict} {seconds}")
            # What fails without any mutant as well has killed none.
            killers = {one["by"] for one in verdicts.values() if one.get("by", "") in costs}
            lines = self.results / "judged" / "killers.jsonl"
            lines.unlink(missing_ok=True)
            self.pytest(copy, sorted(killers), lines)
            for test in {line["test"] for line in _lines(lines) if not line.get("passed", True)}:
                _say(f"{test} fails without any mutant as well")
                costs.pop(test, None)
            verdicts = {
                name: one for name, one in verdicts.items() if one.get("by") not in killers - costs.keys()
            }

    def _verdict(self, copy: Path, mutant: Mutant, tests: Sequence[str]) -> dict[str, str]:
        if not tests:
            return {"verdict": "not reached"}
        path, lines = copy / mutant.path, self.results / "judged" / "tests.jsonl"
        source = path.read_bytes()
        lines.unlink(missing_ok=True)
        try:
            path.write_bytes(mutant.planted(source, mutant.replacement))
            os.utime(path, (mutant.start, mutant.start))  # what is compiled already is of another time
            ended = self.pytest(copy, tests, lines, "-x", seconds=self.seconds)
        finally:
            path.write_bytes(source)
        if failed := [line["test"] for line in _lines(lines) if not line.get("passed", True)]:
            return {"verdict": "killed", "by": failed[0]}
        if ended == _TOO_LATE:
            without = self.pytest(copy, tests, lines, seconds=self.seconds)
            return {"verdict": "slow" if without == _TOO_LATE else "late"}
        return {"verdict": "killed", "by": f"pytest ended with {ended}"} if ended else {"verdict": "survived"}


def noting(source: bytes, mutants: Mapping[int, Mutant]) -> bytes:
    """Return a module in which each of these expressions first notes that it is reached."""
    # Where two begin at one place, the longer one is outside; where two end there, it is the last to end.
    texts = [
        ((one.start, 1, -one.end, number), f"(__import__('guard_probe').hit({number}) or (")
        for number, one in mutants.items()
    ]
    texts += [((one.end, 0, -one.start, -number), "))") for number, one in mutants.items()]
    for (place, *_), text in sorted(texts, reverse=True):
        source = source[:place] + text.encode() + source[place:]
    return source


def parts(folder: Path) -> dict[str, list[str]]:
    """Return the tests in parts that can each be one run: the folders, and the modules beside them by their letters."""
    found = defaultdict(list)
    # What is farthest from the mutants comes last.
    for path in sorted(folder.iterdir(), key=lambda one: (one.name in LEFT_OUT, one.name)):
        name = f"{folder.name}/{path.name}"
        if path.is_dir() and path.name not in FOLDERS_NOT_RUN and any(path.rglob("test_*.py")):
            found[path.name].append(name)
        elif path.match("test_*.py") and not any(path.match(one) for one in NOT_RUN):
            found[f"test_{path.stem[5]}"].append(name)
    return dict(found)


def cheapest_first(tests: Iterable[str], costs: Mapping[str, float]) -> list[str]:
    """Return what reaches a mutant and then what is in the same modules, the cheapest first, as many as may run.

    Tests of about the same cost remain together by module, so that what these share is made once.
    """
    reaching = set(tests) & costs.keys()
    files = {_module(test) for test in reaching}
    beside = {test for test in costs if _module(test) in files}

    def place(test: str) -> tuple[bool, int, str, float]:
        twice = math.frexp(max(costs[test], 0.01))[1]
        return test not in reaching, twice, _module(test), costs[test]

    chosen, together = [], 0.0
    for test in sorted(beside, key=place):
        together += costs[test]
        if chosen and (len(chosen) == AT_MOST_TESTS or together > AT_MOST_PROCESSOR):
            break
        chosen.append(test)
    return chosen


def comparison(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> str:
    """Return how many have each verdict before and after, and each mutant of which it is another."""
    sides = [{tuple(one["name"]): one for one in side} for side in (before, after)]
    counts = [Counter(one["verdict"] for one in side.values()) for side in sides]
    text = [
        f"{verdict:12} {counts[0][verdict]:4} {counts[1][verdict]:4}"
        for verdict in sorted(counts[0] | counts[1])
    ]
    for name, one in sides[0].items():
        now = sides[1].get(name, {"verdict": "not judged"})["verdict"]
        if one["verdict"] != now:
            by = f", before by {one['by']}" if "by" in one else ""
            text.append(f"{one['verdict']} -> {now}: {name[0]}:{one['line']} {name[3]} -> {name[4]}{by}")
    return "\n".join(text)


def _module(test: str) -> str:
    return test.partition("::")[0]


def _read(path: Path) -> list[dict[str, Any]]:
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    """Do what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.guard", description=__doc__.partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("mutants", type=Path)
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("--count", type=int, default=120)
    for name in ("probe", "judge", "run"):
        running = commands.add_parser(name)
        running.add_argument("mutants", type=Path)
        running.add_argument("results", type=Path)
        running.add_argument("--checkout", type=Path, default=Path())
        running.add_argument("--seconds", type=float, default=60, help="more on a busy machine")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    asked = parser.parse_args()
    if asked.command == "draw":
        drawn = draw(Path("src"), asked.seed, asked.count)
        asked.mutants.write_text(
            json.dumps([asdict(one) for one in drawn], indent=1, ensure_ascii=False), "utf-8"
        )
    elif asked.command == "compare":
        _say(comparison(_read(asked.before), _read(asked.after)))
    else:
        mutants = [Mutant(**one) for one in _read(asked.mutants)]
        asked.results.mkdir(parents=True, exist_ok=True)
        trial = Trial(asked.checkout.resolve(), asked.results.resolve(), asked.seconds)
        if asked.command != "judge":
            trial.probe(mutants)
        if asked.command != "probe":
            trial.judge(mutants)


if __name__ == "__main__":
    main()
