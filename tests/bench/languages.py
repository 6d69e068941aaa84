"""How well languages are told, on texts that no list of words was made from: `python -m tests.bench.languages [FILE]`.

A file of one's own has a language code and a text in each line, with a tab between: texts of strangers are the better
judge, since whoever wrote the lists wrote the held texts as well.
"""

# ruff: noqa: T201 - it prints figures

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa

from prodex.quality.language_detection import DetectedLanguages
from tests.quality.language_texts import Labelled, in_capitals, measure, written

#: Texts of which the speed is told, and how often.
_TEXTS, _ROUNDS = 50_000, 5


def main(files: Sequence[str]) -> int:
    held = written("held")
    _print("held texts", held)
    _print("the same in capitals without accents", in_capitals(held))
    for name in files:
        _print(Path(name).name, read(Path(name)))
    print(f"texts/s: {speed(held):,.0f}")
    return 0


def read(file: Path) -> list[Labelled]:
    """Return the texts of a file of one's own."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [Labelled(*line.split("\t", 1)) for line in lines if "\t" in line]


def speed(texts: Sequence[Labelled]) -> float:
    """Return texts per second, of many texts whose words come again, as in a catalogue."""
    many = pa.array([texts[number % len(texts)].text for number in range(_TEXTS)], pa.string())
    seconds = []
    for _ in range(_ROUNDS):
        started = perf_counter()
        DetectedLanguages.of(many)
        seconds.append(perf_counter() - started)
    return _TEXTS / median(seconds)


def _print(title: str, texts: Sequence[Labelled]) -> None:
    found = measure(texts)
    known, others = found.count(found.known), found.count(found.others)
    print(f"{title}: {known:,} in known languages, {others:,} in {len(found.others)} others")
    if known:
        each = "  ".join(f"{language} {found.share([language]):.2f}" for language in sorted(found.known))
        print(f"  likeliest answer right   {found.share(found.known):.3f}   {each}")
        print(f"  false alarms             {len(found.alarms) / known:.3f}")
    if others:
        each = "  ".join(f"{language} {found.share([language]):.2f}" for language in sorted(found.others))
        print(f"  none of these            {found.share(found.others):.3f}   {each}")
        print(f"  surely called a known    {len(found.mistaken) / others:.3f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
