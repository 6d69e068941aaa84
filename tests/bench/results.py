"""What was measured: figures with their targets, as lines to print, as the page RESULTS.md, and as a picture."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from math import log
from pathlib import Path

import pyarrow as pa

_PACKAGES = ("prodex", "pyarrow", "pandas", "numpy", "msgspec", "duckdb", "polars", "dlt")


@dataclass(frozen=True)
class Figure:
    """One figure.

    Parameters
    ----------
    what
        What was measured, with its unit.
    value
        The median of its rounds.
    target
        What is to be reached; negative where less is better, None where nothing was promised.
    """

    what: str
    value: float
    target: float | None = None

    @property
    def reached(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.target > 0 else self.value <= -self.target

    @property
    def wanted(self) -> str:
        """The target in words."""
        if self.target is None:
            return ""
        return f"{'at least' if self.target > 0 else 'at most'} {abs(self.target):,g}"

    def line(self) -> str:
        ending = f"   {self.wanted}: {'reached' if self.reached else 'NOT reached'}" if self.target else ""
        return f"{self.what:<52}{number(self.value):>10}{ending}"


@dataclass(frozen=True)
class Table:
    """Some figures side by side: a heading, names of columns, and rows."""

    heading: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Return the table with aligned columns."""
        lines = [self.columns, *self.rows]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if place else cell.ljust(width)
                for place, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )

    def markdown(self) -> str:
        head = f"| {' | '.join(self.columns)} |\n|---|{'--:|' * (len(self.columns) - 1)}"
        return f"## {self.heading}\n\n" + "\n".join([head, *(f"| {' | '.join(row)} |" for row in self.rows)])


def table_of(heading: str, figures: Sequence[Figure]) -> Table:
    """Return figures as a table with their targets."""
    rows = [
        (one.what, number(one.value), one.wanted, ("yes" if one.reached else "no") if one.target else "")
        for one in figures
    ]
    return Table(heading, ("", "measured", "to reach", "reached"), rows)


def number(value: float) -> str:
    """Write a number with three digits that count.

    >>> number(5356.4), number(0.0301), number(12.345)
    ('5,356', '0.0301', '12.3')
    """
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def exponent(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Return the power with which values grow between the two largest sizes: 1 is in proportion, 0 is not at all.

    >>> exponent([1_000, 10_000], [2.0, 20.0])
    1.0
    """
    if len(sizes) < 2:
        return float("nan")
    return round(log(values[-1] / values[-2]) / log(sizes[-1] / sizes[-2]), 2)


def machine() -> str:
    """Say what was measured on: cores, memory, and versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    found = []
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return (
        f"{os.cpu_count()} cores ({platform.machine()}), {memory:.0f} GiB, {platform.system()}, "
        f"Python {platform.python_version()}, Arrow's memory by {pa.default_memory_pool().backend_name}; "
        + ", ".join(found)
    )


def write_page(path: Path, day: str, tables: Sequence[Table]) -> None:
    """Write RESULTS.md; tables that were not measured this time stay as they are, with their day.

    Parameters
    ----------
    path
        The page.
    day
        When this was measured.
    tables
        What was measured.
    """
    sections = _sections(path.read_text("utf-8")) if path.exists() else {}
    for table in tables:
        sections[table.heading] = f"{table.markdown()}\n\nMeasured {day}: {machine()}."
    intro = (
        "# Results\n\n`make bench` prints these figures and writes this page. Each is the median of its rounds; ratios "
        "are of one run.\nThe products are those of `tests/bench/pinned.py` where nothing else is said.\n"
    )
    path.write_text("\n\n".join([intro.rstrip(), *sections.values()]) + "\n", "utf-8")


def _sections(page: str) -> dict[str, str]:
    """Return the sections of a page by their headings."""
    parts = re.split(r"(?m)^(?=## )", page)[1:]
    return {part.partition("\n")[0].removeprefix("## "): part.strip() for part in parts}


def draw(path: Path, race: Mapping[str, float], growth: Mapping[str, Mapping[int, float]]) -> None:
    """Draw how fast each contestant is, and how the time of each operation grows with the catalogue.

    Parameters
    ----------
    path
        Where the picture goes.
    race
        Products a second of each contestant.
    growth
        Seconds by number of products, of each operation.
    """
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(11, 4.6), layout="constrained")
    bars, lines = drawing.subplots(1, 2, width_ratios=(2, 3))
    names = sorted(race, key=race.__getitem__)
    shown = bars.barh(names, [race[name] for name in names], color="#0b62a8")
    bars.bar_label(shown, [number(race[name]) for name in names], padding=4)
    bars.set(title="Page bytes to Parquet, products/s", xlim=(0, max(race.values()) * 1.2))
    bars.spines[["top", "right"]].set_visible(False)
    markers = "osv^D<>ph*XP"
    for place, (name, seconds) in enumerate(growth.items()):
        lines.plot(list(seconds), list(seconds.values()), marker=markers[place % len(markers)], label=name)
    lines.set(xscale="log", yscale="log", xlabel="products", title="Seconds by size of the catalogue")
    lines.grid(alpha=0.3)
    lines.legend(fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    # Without the date the same figures give the same file.
    drawing.savefig(path, metadata={"Date": None})
