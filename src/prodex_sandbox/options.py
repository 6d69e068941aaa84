"""The options of the command `prodex sandbox`, and its help."""

from __future__ import annotations

import argparse
from dataclasses import fields
from enum import StrEnum
from pathlib import Path
from textwrap import fill
from typing import Final, get_type_hints

from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.faults.fault import ENDPOINTS, Fault
from prodex_sandbox.faults.kinds import FAULTS
from prodex_sandbox.simulation import INCIDENTS, Incident

_HOW_TO_ORDER: Final = (
    "faults: each hits the calls whose numbers follow @, counted from 1 among those of its endpoint, or every call. "
    f"Options: times (calls in a row), endpoint ({', '.join(ENDPOINTS)}; list unless given), and those of the kind."
)


_HOW_TO_PLAN: Final = (
    "incidents: each happens on the day that follows @, counted from 1 (the middle one), to the products of the "
    "supplier whose name follows the colon, or of all. Unless given, a larger one is drawn, or it is as said here."
)


def parser() -> argparse.ArgumentParser:
    """Make the parser of the command's options; one for each setting of `Behaviour`."""
    options = argparse.ArgumentParser(
        prog="prodex sandbox",
        description="Serve a complete product data exchange service on this machine, with sample products.",
        epilog=_named_in_words(),
        formatter_class=_Formatter,
    )
    options.add_argument("--host", default=LOOPBACK, help="address to listen on (%(default)s)")
    options.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        dest="allow_hosts",
        help="also answer calls under this name; those of this machine and of --host are always answered",
    )
    options.add_argument(
        "--port", type=int, help="port to listen on (always the same for its home, where free)"
    )
    options.add_argument("--home", type=Path, help="folder of the store, kept between runs (the user's)")
    options.add_argument("--ready", type=Path, metavar="FILE", help="file to write once it answers")
    options.add_argument("--stop-with", type=int, metavar="PID", help="end when this process has ended")
    options.add_argument(
        "--products",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="fill a new store with these JSON or JSON-lines files, gzip too, instead of the sample",
    )
    options.add_argument(
        "--sample", type=int, metavar="N", help="products of the sample in a new store (12000)"
    )
    options.add_argument(
        "--seed", type=int, metavar="N", help="seed of the sample, or with --simulate of the days (1)"
    )
    options.add_argument(
        "--import",
        type=Path,
        nargs="+",
        metavar="FILE",
        dest="imports",
        help="import these JSON or XML files, as an upsert would; the tracking ids are reported",
    )
    options.add_argument("--import-as", metavar="CLIENT_ID", help="who imports them (the first organisation)")
    options.add_argument(
        "--fault",
        type=_fault,
        action="append",
        default=[],
        metavar="KIND[@CALL[,CALL...]][,OPTION=VALUE...]",
        dest="faults",
        help="what goes wrong, and at which calls; see below, and give it as often as you like",
    )
    options.add_argument("--openapi", type=Path, metavar="FILE", help="write the OpenAPI document and end")
    changes = options.add_argument_group(
        "changes", "Made in the store of the home, whether a sandbox is running there or not; then it ends."
    )
    changes.add_argument(
        "--simulate",
        type=int,
        metavar="DAYS",
        help="let days pass: suppliers correct, break, add, delist, share",
    )
    changes.add_argument(
        "--incident",
        type=_incident,
        action="append",
        default=[],
        metavar="NAME[@DAY][:OWNER]",
        dest="incidents",
        help="what else happens in these days; see below, and give it as often as you like",
    )
    changes.add_argument(
        "--reset",
        nargs="*",
        metavar="GTIN",
        help="restore these products, or the whole store, to what they were at the beginning",
    )
    settings = options.add_argument_group("behaviour")
    types = get_type_hints(Behaviour)
    for field in fields(Behaviour):
        flag, meaning = "--" + field.name.replace("_", "-"), f"{field.metadata['meaning']} (%(default)s)"
        kind = types[field.name]
        if kind is bool:
            settings.add_argument(
                flag, default=field.default, action=argparse.BooleanOptionalAction, help=meaning
            )
        elif issubclass(kind, StrEnum):
            settings.add_argument(flag, type=kind, default=field.default, choices=list(kind), help=meaning)
        else:
            unit = {float: "SECONDS", int: "N"}.get(kind, "NAME")
            settings.add_argument(flag, type=kind, default=field.default, metavar=unit, help=meaning)
    return options


class _Formatter(argparse.HelpFormatter):
    """Fills paragraphs and items of the epilog each on its own."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(
            fill(
                line,
                width,
                initial_indent=indent,
                subsequent_indent=indent + " " * 16 * line.startswith("  "),
            )
            for line in text.splitlines()
        )


def _named_in_words() -> str:
    kinds = {name: kind for name, kind in FAULTS.items() if "run" not in kind.options}
    return "\n".join(
        (
            "examples:",
            "  prodex sandbox --port 8080 --products mine.jsonl.gz",
            "  prodex sandbox --fault lost-cursor@3 --fault 429@2,5,endpoint=upsert,retry_after=1 --latency 0.2",
            "  prodex sandbox --simulate 7 --incident supplier_loses_pictures@3",
            "  prodex sandbox --reset",
            "",
            _HOW_TO_ORDER,
            *(f"  {name:14}{kind.meaning.replace('`', '')}" for name, kind in kinds.items()),
            "",
            _HOW_TO_PLAN,
            *(f"  {name:24}{kind.meaning}" for name, kind in INCIDENTS.items()),
        )
    )


def _fault(text: str) -> Fault:
    try:
        return Fault.from_text(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _incident(text: str) -> Incident:
    try:
        return Incident.from_text(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
