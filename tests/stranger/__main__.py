"""Print the table of traits, or serve: ``python -m tests.stranger serve --trait total_capped=10000``."""

from __future__ import annotations

import argparse
import json
import sys
import threading
from typing import Any

from .service import Stranger
from .traits import KINDS, TRAITS, Trait


def table() -> str:
    """All traits as a Markdown table, by kind."""
    rows = ["| trait | kind | what it does | parameter | when | not with |", "|---|---|---|---|---|---|"]
    ordered = sorted(TRAITS.values(), key=lambda trait: KINDS.index(trait.kind))
    return "\n".join([*rows, *map(_row, ordered)]) + "\n"


def _row(trait: Trait) -> str:
    parameter = f"{trait.parameter} = {trait.default!r}" if trait.parameter else ""
    when = "at every call" if trait.at is None else f"at call {trait.at}"
    family = f"others of family {trait.family!r}" if trait.family else ""
    cells = (f"`{trait.name}`", trait.kind, trait.sentence, parameter, when, family)
    return f"| {' | '.join(cells)} |"


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and do what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.stranger", description=__doc__)
    parser.add_argument("action", nargs="?", choices=("traits", "serve"), default="traits")
    parser.add_argument("--trait", action="append", default=[], help="a name, or name=value with JSON")
    parser.add_argument("--products", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--import-delay", type=float, default=0.0, help="seconds")
    asked = parser.parse_args(arguments)
    if asked.action == "traits":
        sys.stdout.write(table())
        return
    pairs = (text.partition("=") for text in asked.trait)
    traits = {name: _value(value) if equals else True for name, equals, value in pairs}
    with Stranger(asked.products, traits, seed=asked.seed, import_delay=asked.import_delay) as stranger:
        sys.stdout.write(f"{stranger.url} {stranger.client_id} {stranger.client_secret}\n")
        sys.stdout.flush()
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            sys.stdout.write("stopped\n")


if __name__ == "__main__":
    main()
