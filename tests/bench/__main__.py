"""`make bench`: what users do, measured on what they have, and prodex beside other ways to load JSON.

Every figure comes from fresh processes. What is compared is measured in turns in one run, so that a noisy machine is
noisy for all. Numbers never fail the run; rows that disagree, an incomplete load or a lost leaf do.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.bench import results
from tests.bench.measuring import HERE, HOME, Measured, alone
from tests.bench.operations import OPERATIONS
from tests.bench.pinned import kept
from tests.bench.products import real_products, sizes, write_pages
from tests.bench.requirements import FAMILIES
from tests.bench.results import Figure, Table, exponent, number, table_of
from tests.notebook.lab import browser_program

#: Contestants beside prodex, each with the package that it needs.
_PEERS = {"json_normalize": "pandas", "dlt": "dlt", "polars": "polars", "duckdb": "duckdb"}
_PAGE = Path(__file__).with_name("RESULTS.md")
_PICTURE = HOME / "docs" / "images" / "benchmark.svg"

#: What is to be reached at a million products: seconds, and MB.
_AT_A_MILLION: dict[str, tuple[float | None, float | None]] = {
    "read_products from JSON lines": (None, 1_000),
    "open and repr": (0.2, None),
    "open and HTML": (0.2, None),
    "where one brand, then its texts": (1.0, None),
    "three columns of all texts": (1.2, None),
    "sql: group all texts": (2.5, None),
    "wide('fr')": (6, None),
    "audit": (30, 1_500),
    "diff, 1 % changed": (15, None),
}
#: Largest growth of the peak of memory from 100,000 to 1,000,000 products.
_FLAT = 1.25
_FLAT_OPERATIONS = (
    "read_products from JSON lines",
    "audit",
    "audit and worklists",
    "diff, 1 % changed",
    "export as Parquet",
    "verify",
    "refresh, 1 % changed",
)
#: A million products take minutes each time, and nothing that takes so long is noisy: above this it is measured once.
_OFTEN = 100_000
#: Seconds. What takes as long for fewer products is measured once, too: three rounds would double the time of all.
_LONG = 2.5
#: Contestants that take minutes for what takes prodex seconds: they have one turn.
_SLOW_PEERS = {"json_normalize", "dlt"}


@dataclass
class _Run:
    """What this run measures, and what it found so far."""

    options: argparse.Namespace
    folder: Path
    tables: list[Table] = field(default_factory=list)
    race: dict[str, float] = field(default_factory=dict)
    growth: dict[str, dict[int, float]] = field(default_factory=dict)
    reading: dict[int, Measured] = field(default_factory=dict)
    whole: bool = True

    def lines(self, count: int) -> Path:
        """Return the file of so many products, which is made once and kept for the next run."""
        path = kept() / f"products-{count}.jsonl"
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            alone("main_job", "catalogue", count, unfinished)
            unfinished.rename(path)
        return path

    def home(self, count: int) -> Path:
        """Return a home in which so many products are kept as the snapshot `bench`, and as `changed`."""
        home = self.folder / f"home-{count}"
        if not home.exists():
            self.reading[count] = Measured(*alone("operations", "keep", self.lines(count), home=home))
        return home

    def sampled(self, count: int) -> Path:
        """Return a home in which so many products of the sandbox's sample are kept as the snapshot `bench`."""
        home = self.folder / f"sample-{count}"
        if not home.exists():
            alone("audits", "keep", count, home=home)
        return home

    def served(self, count: int) -> Path:
        """Return where a sandbox keeps so many products."""
        return self.folder / f"served-{count}"

    def add(self, heading: str, figures: list[Figure]) -> None:
        for figure in figures:
            print(figure.line(), flush=True)
        print()
        self.tables.append(table_of(heading, figures))


def main(arguments: list[str] | None = None) -> int:
    options = _options(arguments)
    print(f"{results.machine()}\n")
    with tempfile.TemporaryDirectory(prefix="prodex-bench-") as folder:
        run = _Run(options, Path(folder))
        for name in options.only or [one for one in _SECTIONS if one not in _ON_REQUEST]:
            began = perf_counter()
            _SECTIONS[name](run)
            print(f"({name}: {perf_counter() - began:.0f} s)\n", flush=True)
            if not options.quick:  # after each, so that whoever ends it has what was measured
                results.write_page(_PAGE, f"{datetime.now(UTC):%Y-%m-%d}", run.tables)
    if not options.quick:
        if run.race and run.growth:
            results.draw(_PICTURE, run.race, run.growth)
        print(f"written to {_PAGE.relative_to(HOME)}")
    return 0 if run.whole else 1


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=list(_SECTIONS),
        help="only these sections; some are measured in no other way",
    )
    parser.add_argument(
        "--sizes", nargs="+", type=int, default=[10_000, 100_000], help="sizes of the catalogue"
    )
    parser.add_argument("--loaded", nargs="+", type=int, default=[30_000], help="products of the main job")
    parser.add_argument("--rounds", type=int, default=3, help="of which each figure is the median")
    parser.add_argument("--products", type=int, default=20_000, help="how many products the race is about")
    parser.add_argument("--leaves", type=int, default=5_000, help="products to compare with a naive walk")
    parser.add_argument("--explored", nargs="+", type=int, default=[100_000], help="products in the explorer")
    parser.add_argument("--filed", type=int, default=5_000, help="products of a file for colleagues")
    parser.add_argument(
        "--nightly", nargs="+", type=int, default=[30_000], help="products of the nightly job"
    )
    parser.add_argument("--wide", type=int, default=100_000, help="products of the wide table")
    parser.add_argument("--required", type=int, default=30_000, help="products with requirements")
    parser.add_argument("--clustered", type=int, default=30_000, help="products for the workers of a cluster")
    parser.add_argument("--published", type=int, default=12_000, help="products to publish")
    parser.add_argument("--quick", action="store_true", help="small counts: whether it works, not how fast")
    options = parser.parse_args(arguments)
    if options.quick:
        options.products = options.leaves = 100
        options.explored = options.nightly = [100]
        options.wide = options.clustered = options.published = 100
        options.required = 80
        options.filed = 40
        HERE.set()
        options.sizes, options.loaded, options.rounds = [100], [100], 1
    return options


def main_job(run: _Run) -> None:
    """Load whole catalogues, against downloading them."""
    found = {}
    for count in run.options.loaded:
        lines = run.lines(count)
        rounds = run.options.rounds if count <= _OFTEN else 1
        found[f"{count:,} products of the sandbox"] = alone(
            "main_job", "measured", lines, rounds, run.served(count)
        )
    if real_products().exists():
        found["the 5,000 real products"] = alone("main_job", "measured", real_products(), run.options.rounds)
    else:
        print("the real products are not here (PRODEX_REAL_PRODUCTS names their file)")
    figures = []
    for what, one in found.items():
        target = -1.5 if "real" in what else -1.0
        figures += [
            Figure(f"{what}: load / download and json()", one["ratio"], target),
            Figure(f"{what}: load, s", one["load"], -250 if one["products"] == 1_000_000 else None),
            Figure(f"{what}: download and json(), s", one["download"]),
            Figure(f"{what}: load, products/s", one["products"] / one["load"]),
            Figure(f"{what}: load, peak memory in MB", one["peak_mb"], -800),
        ]
    small, large = (found.get(f"{count:,} products of the sandbox") for count in (100_000, 1_000_000))
    if small and large:
        figures.append(
            Figure("load: memory at 1,000,000 / 100,000", large["peak_mb"] / small["peak_mb"], -_FLAT)
        )
    run.add("The main job: a whole load against downloading the same pages", figures)


def race(run: _Run) -> None:
    """Convert page bytes to Parquet in every way."""
    pages = run.folder / "pages"
    count = run.options.products
    size = write_pages(pages, count)
    bytes_each, leaves_each = sizes(min(count, 500))
    print(f"a product: {bytes_each:,.0f} bytes, {leaves_each:.0f} leaves; all pages: {size / 1e6:,.0f} MB")
    peers = [name for name, module in _PEERS.items() if find_spec(module) is not None]
    for name in _PEERS.keys() - peers:
        print(f"{name} is not installed")
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in ("prodex", *peers)}
    for turn, name in enumerate(_turns(peers, run.options.rounds)):
        if name in _SLOW_PEERS and runs[name]:
            continue
        runs[name].append(alone("contestants", name, pages, run.folder / f"{turn}-{name}", 1))
    seconds = {name: median(s for one in found for s in one["seconds"]) for name, found in runs.items()}
    rows = []
    for name, found in runs.items():
        run.race[name] = count / seconds[name]
        cpu = median(s for one in found for s in one["cpu"]) / count * 1000
        peak = max(one["peak_mb"] for one in found)
        ratio = seconds[name] / seconds["prodex"]
        rows.append((name, number(run.race[name]), f"{ratio:.1f}", f"{cpu:.2f} ms", f"{peak:,.0f} MB"))
    columns = ("page bytes to zstd Parquet", "products/s", "slower by", "CPU a product", "peak memory")
    table = Table(f"Page bytes to tables: {count:,} products of {bytes_each / 1000:.1f} kB", columns, rows)
    print(table.text(), "\n")
    run.tables.append(table)
    targets = {"json_normalize": 16, "dlt": 20, "polars": 6, "duckdb": 2.2}
    figures = [
        *(Figure(f"times {name}", seconds[name] / seconds["prodex"], targets.get(name)) for name in peers),
        Figure("prodex, peak memory in MB", max(one["peak_mb"] for one in runs["prodex"]), -500),
    ]
    run.add("Page bytes to tables: targets", figures)
    run.whole &= agree({name: found[0]["rows"] for name, found in runs.items()})


def _turns(peers: list[str], times: int) -> Iterator[str]:
    for _ in range(times):
        for name in peers:
            yield "prodex"
            yield name
    yield "prodex"


def agree(rows: dict[str, dict[str, int]]) -> bool:
    """Say whether all contestants made the same rows; name each list about which they differ."""
    ours = rows["prodex"]
    differing = {
        path: {name: found.get(path, 0) for name, found in rows.items()}
        for path in ours
        if any(found.get(path, 0) != ours[path] for found in rows.values())
    }
    for path, found in differing.items():
        print(f"DISAGREE about {path}: {found}")
    if not differing:
        print(f"rows of {len(ours)} shared lists agree: {sum(ours.values()):,} each\n")
    return not differing


def odd(run: _Run) -> None:
    """Measure what unusual products cost."""
    named = {
        "one_in_a_block": ("one odd product in 1,500, times a clean block", -1.05),
        "sample": ("the pinned sample, times its clean products", -1.3),
        "every": ("every product odd, times clean ones", -4.0),
        "attributes": ("20,000 distinct attributes, s", -3.0),
    }
    part = 20 if run.options.quick else 1
    figures = [
        Figure(what, alone("odd_products", name, run.options.rounds, part), target)
        for name, (what, target) in named.items()
    ]
    run.add("Odd products", figures)


def operations(run: _Run) -> None:
    """Measure what users do with a catalogue, at every size."""
    # That all of them work is a test of its own.
    names = list(OPERATIONS)[:2] if run.options.quick else list(OPERATIONS)
    slow = ("read_products from JSON lines", "refresh, 1 % changed")
    found: dict[str, dict[int, Measured]] = {name: {} for name in (slow[0], *names, slow[1])}
    for count in run.options.sizes:
        home = run.home(count)
        found["read_products from JSON lines"][count] = run.reading[count]
        rounds = run.options.rounds if count <= _OFTEN else 1
        for name in names:
            turns = [Measured(*alone("operations", name, home=home))]
            while len(turns) < rounds and turns[0].seconds < _LONG:
                turns.append(Measured(*alone("operations", name, home=home)))
            found[name][count] = _median(turns)
            print(f"{name}, {count:,} products: {found[name][count].seconds:.2f} s", flush=True)
        found["refresh, 1 % changed"][count] = Measured(
            *alone("operations", "refresh", run.lines(count), run.served(count), home=home)
        )
    sizes = run.options.sizes
    run.growth = {
        name: {count: one.seconds for count, one in by_size.items()} for name, by_size in found.items()
    }
    columns = [
        "",
        *(f"{count:,}: s" for count in sizes),
        *(f"{count:,}: MB" for count in sizes),
        "exponent of s",
    ]
    rows = [
        (
            name,
            *(number(one.seconds) for one in by_size.values()),
            *(number(one.peak_mb) for one in by_size.values()),
            str(exponent(sizes, [one.seconds for one in by_size.values()])),
        )
        for name, by_size in found.items()
    ]
    table = Table("What users do, by number of products", columns, rows)
    print(f"\n{table.text()}\n")
    run.tables.append(table)
    if figures := list(_at_a_million(found)):
        run.add("What users do: targets", figures)


def _median(turns: list[Measured]) -> Measured:
    return Measured(*(median(values) for values in zip(*turns, strict=True)))


def _at_a_million(found: dict[str, dict[int, Measured]]) -> Iterator[Figure]:
    for name, (seconds, peak) in _AT_A_MILLION.items():
        if one := found.get(name, {}).get(1_000_000):
            if seconds:
                yield Figure(f"{name}, 1,000,000 products, s", one.seconds, -seconds)
            if peak:
                yield Figure(f"{name}, 1,000,000 products, MB", one.peak_mb, -peak)
    for name in _FLAT_OPERATIONS:
        by_size = found.get(name, {})
        if (large := by_size.get(1_000_000)) and (small := by_size.get(100_000)):
            yield Figure(f"{name}: memory at 1,000,000 / 100,000", large.peak_mb / small.peak_mb, -_FLAT)


def nightly(run: _Run) -> None:
    """Measure the nightly job: refresh, audit, worklists."""
    figures = []
    for count in run.options.nightly:
        lines = run.lines(count)
        night = Measured(
            *alone("operations", "night", lines, run.served(count), home=run.folder / f"n-{count}")
        )
        what = f"{count:,} products, one in a hundred changed"
        figures += [
            Figure(f"{what}: refresh, audit and worklists, s", night.seconds),
            Figure(f"{what}: refresh, audit and worklists, peak memory in MB", night.peak_mb),
        ]
    run.add("The nightly job", figures)


def wide(run: _Run) -> None:
    """Measure one wide table of a large catalogue, against what it returns."""
    count = run.options.wide
    home = run.home(count)
    turns = [alone("operations", "wide over result", home=home) for _ in range(run.options.rounds)]
    seconds, over = (median(values) for values in zip(*turns, strict=True))
    what = f"wide('fr') of {count:,} products"
    run.add(
        "One wide table",
        [
            Figure(f"{what}, s", seconds, -count * 6e-6),
            Figure(f"{what}, MB over its result", over, -count / 200),
        ],
    )


def team(run: _Run) -> None:
    """Measure a cluster of two workers against one, and publishing."""
    if find_spec("distributed") is None or find_spec("deltalake") is None:
        print("the cluster and publishing are left out: they need distributed and deltalake\n")
        return
    dask = alone("team", "cluster", run.options.clustered, run.options.rounds)
    published = alone("team", "publish", run.options.published, run.options.rounds)
    figures = [
        *(
            Figure(
                f"Dask, {run.options.clustered:,} products: two workers of one thread against one, {what}",
                times,
                1.6,
            )
            for what, times in dask.items()
        ),
        Figure(f"publish {run.options.published:,} products, the first time, s", published["first"], -3),
        Figure("publish again when nothing has changed, s", published["again"], -0.3),
    ]
    run.add("Past one machine", figures)


def further(run: _Run) -> None:
    """Measure the parser, the import and the sandbox, and count leaves."""
    rounds = run.options.rounds
    figures = []
    if real_products().exists():
        parsed = alone("figures", "parse", rounds, real_products())
        figures.append(Figure("split and parse, real products/s", parsed, 30_000))
    figures += [
        Figure(
            "import over pandas and pyarrow, share of theirs", alone("figures", "import_time", rounds), -0.2
        ),
        Figure("sample catalogue made, products/s", alone("figures", "sample", run.options.products), 1_500),
    ]
    run.add("Further figures", figures)
    leaves, wrong = map(int, alone("figures", "leaves", run.options.leaves))
    print(f"{wrong:,} of {leaves:,} leaves lost or invented, in {run.options.leaves:,} products\n")
    run.whole &= wrong == 0


def rules(run: _Run) -> None:
    """Audit by every rule there is, not only by those of one profile."""
    count = min(run.options.explored)
    found = alone("audits", "judge", count, home=run.sampled(count))
    judged = f"{found['products']:,} products x {found['checks']} checks"
    figures = [
        Figure(f"{judged}, s", found["audit"], -20),
        Figure("the same, peak memory in GB", found["peak_mb"] / 1000, -2),
        Figure("detecting the languages of their texts, s", found["languages"], -20),
        Figure("scores by owner, kind and market, s", found["scores"], -1),
    ]
    run.add("An audit by every rule", figures)


def small(run: _Run) -> None:
    """Measure what small work costs, which tests and notebooks do by the hundred."""
    count, turns = (10, 1) if run.options.quick else (100, 7)
    found = alone("small", count, run.options.rounds, turns)["this"]
    run.add(
        f"Small work: processor time for {count} products, s",
        [Figure(name, seconds) for name, seconds in found.items()],
    )


def completeness(run: _Run) -> None:
    """Audit by a workbook of requirements, and with tens of thousands of accepted findings."""
    count = run.options.required
    accepted = count // 4 if run.options.quick else count // 2
    asked = alone("requirements", count, run.options.rounds, 3 if run.options.quick else FAMILIES)
    cost = alone("accepted", count, accepted, run.options.rounds)
    what = f"{count:,} products by {asked['cells']:,.0f} cells"
    figures = [
        Figure(f"{what}: times an audit by online-listing", asked["ratio"], -1.3),
        Figure("peak memory for a quarter of them, MB", asked["quarter_mb"]),
        Figure("peak memory for all of them, MB", asked["whole_mb"], -_FLAT * asked["quarter_mb"]),
        Figure("writing, filling in and reading the workbook, s", asked["workbook"]),
        Figure(f"{accepted:,} accepted findings: share of an audit", cost["cost"], -0.05),
        Figure("accepting them, s", cost["accepting"]),
    ]
    run.add("Requirements and accepted findings", figures)


def recipes(run: _Run) -> None:
    """Do recipes of 20 steps: one that changes little in each step, and one that changes every product often."""
    count = 100 if run.options.quick else 100_000
    found = alone("recipes", "bench", home=run.sampled(count))
    figures = []
    for kind in ("typical", "worst"):
        what = f"{count:,} products, {kind}"
        figures += [
            Figure(f"{what}: reading what the steps need, s", found[f"{kind} reading"]),
            Figure(f"{what}: 20 steps beyond reading, s", found[f"{kind} steps"], -5),
            Figure(f"{what}: values changed by them", found[f"{kind} changed"]),
        ]
    figures.append(Figure("typical: values to send", found["typical answers"]))
    figures.append(Figure("typical: reading the records of their products, s", found["typical records"]))
    figures.append(
        Figure("typical: steps, answers and their judging beyond reading, s", found["typical whole"], -5)
    )
    run.add("Recipes", figures)


def explorer(run: _Run) -> None:
    """Measure the explorer in a real browser."""
    if find_spec("playwright") is None or browser_program() is None:
        print("the explorer is left out: it needs playwright and chromium\n")
        return
    figures = []
    for count in run.options.explored:
        if (load := os.getloadavg()[0]) > (cores := os.cpu_count() or 1):
            print(f"the machine is busy (load {load:.1f} on {cores} cores): times are longer than alone")
        found = alone("explorer", "bench", home=run.sampled(count))
        of = f"{found['products']:,} products"
        large = count > _OFTEN
        up, words = (3, 1.5) if large else (1.5, None)
        figures += [
            Figure(f"{of}: from the key to the first painted row, s", found["up"], -up),
            Figure(f"{of}: the first click on a facet, while others are read, s", found["first_click"]),
            Figure(f"{of}: from a click on a facet to the painted table, s", found["click"], -0.15),
            Figure(f"{of}: what kernel and page worked for it, s", found["click_worked"]),
            Figure(f"{of}: the slowest of these clicks, s", found["slowest_click"]),
            Figure(f"{of}: from a click on a row to its painted card, s", found["card"], -0.2),
            Figure(f"{of}: what kernel and page worked for it, s", found["card_worked"]),
            Figure(f"{of}: from the last letter to what the first words find, s", found["first_words"]),
            Figure(
                f"{of}: from the last letter to what the next words find, s", found["words"], words and -words
            ),
            Figure(f"{of}: sent to the browser, MB", found["sent_mb"], -2),
            Figure(f"{of}: peak memory of the kernel, MB", found["peak_mb"], -2_000 if large else None),
        ]
    run.add("The explorer, kernel and browser together, as the browser measures it", figures)


def html_file(run: _Run) -> None:
    """Measure the file for colleagues: made, and opened in a real browser."""
    if find_spec("playwright") is None or browser_program() is None:
        print("the file for colleagues is left out: it needs playwright and chromium\n")
        return
    found = alone("html_file", run.options.filed)
    of = f"{found['products']:,} products"
    figures = [
        Figure(f"{of}: making the file, s", found["made"]),
        Figure(f"{of}: what Python worked for it, s", found["made_worked"]),
        Figure(f"{of}: the file, MB", found["mb"], -15),
        Figure(f"{of}: from opening it to the first painted row, s", found["first_row"], -1),
        Figure(f"{of}: what the page worked for it, s", found["first_row_worked"]),
        Figure(f"{of}: from a click on a filter to the painted table, s", found["filter"], -0.15),
        Figure(f"{of}: from a click on a row to its painted card, s", found["card"], -0.5),
    ]
    run.add("A file for colleagues, as the browser measures it", figures)


def first_report(run: _Run) -> None:
    """Measure how long a new user waits for the first report."""
    if run.options.quick:
        print("the first report is left out: it installs from the package index\n")
        return
    pip, make = (alone("first_report", way, run.options.rounds) for way in ("pip", "make"))
    run.add(
        "The first report, on a new machine with what pip keeps in its cache",
        [
            Figure("by pip, s", pip["all"], -90),
            Figure("of which making the environment, s", pip["environment"]),
            Figure("of which pip install 'prodex[sandbox,lab]', s", pip["install"]),
            Figure("processor time of both, s", pip["install_processor"]),
            Figure("of which prodex demo until the first report, s", pip["demo"]),
            Figure("the share of prodex in it", pip["share"]),
            Figure("prodex demo to its end, s", pip["whole_demo"]),
            Figure("by make demo in a fresh checkout, s", make["make demo"], -180),
            Figure("of which installing, s", make["install"]),
            Figure("of which make demo until the first report, s", make["demo"]),
        ],
    )


#: The sections from which users' figures come are first.
_SECTIONS = {
    "main_job": main_job,
    "race": race,
    "operations": operations,
    "nightly": nightly,
    "small": small,
    "explorer": explorer,
    "html_file": html_file,
    "wide": wide,
    "odd": odd,
    "rules": rules,
    "recipes": recipes,
    "completeness": completeness,
    "team": team,
    "further": further,
    "first_report": first_report,
}
#: It installs everything again and again, which takes ten minutes and a package index.
_ON_REQUEST = {"first_report"}


if __name__ == "__main__":
    sys.exit(main())
