"""The options of `prodex sandbox` by topic, and its help: first what most people need, then a topic at a time."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from textwrap import fill
from typing import Any, Final, get_type_hints

from prodex_sandbox.behaviour import LOOPBACK, Behaviour
from prodex_sandbox.faults.kinds import ENDPOINTS, FAULTS, Fault
from prodex_sandbox.simulation import INCIDENTS, Incident

#: The first page of help, and all pages as one.
_FIRST, _ALL = "", "all"


@dataclass(frozen=True)
class _Option:
    """An option of the command.

    Attributes
    ----------
    flag, topic
        How it is written, and the page of help that it is on.
    settings
        What argparse is told of it.
    on_first_page
        Whether most people need it.
    """

    flag: str
    topic: str
    settings: Mapping[str, Any]
    on_first_page: bool = False

    @property
    def name(self) -> str:
        """Under which its value is found."""
        return str(self.settings.get("dest", self.flag.removeprefix("--").replace("-", "_")))


def _from_text(read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return a reader whose ValueError is shown as the command's own."""

    def reader(text: str) -> Any:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return reader


def _option(flag: str, topic: str, meaning: str, *, first: bool = False, **settings: Any) -> _Option:
    return _Option(flag, topic, {"help": meaning, **settings}, first)


def _repeated(read: Callable[[str], Any], metavar: str, dest: str) -> dict[str, Any]:
    return {"type": read, "action": "append", "default": [], "metavar": metavar, "dest": dest}


_FILES: Final[dict[str, Any]] = {"type": Path, "nargs": "+", "metavar": "FILE"}
_FILE: Final[dict[str, Any]] = {"type": Path, "metavar": "FILE"}
_OPTIONS: Final = (
    _option("--host", "serving", "address to listen on (%(default)s)", default=LOOPBACK),
    _option(
        "--allow-host",
        "serving",
        "also answer calls under this name; those of this machine and of --host are always answered",
        **_repeated(str, "NAME", "allow_hosts"),
    ),
    _option("--port", "serving", "port to listen on (the same for its home)", first=True, type=int),
    _option("--home", "serving", "folder of the store, kept between runs", first=True, type=Path),
    _option("--ready", "serving", "file to write once it answers", **_FILE),
    _option("--progress", "serving", "file that says how far a new store is, once a second", **_FILE),
    _option("--stop-with", "serving", "end when this process has ended", type=int, metavar="PID"),
    _option(
        "--products",
        "serving",
        "fill a new store with these files, not the sample",
        first=True,
        **_FILES,
    ),
    _option(
        "--sample",
        "serving",
        "products of the sample in a new store (12000)",
        first=True,
        type=int,
        metavar="N",
    ),
    _option(
        "--seed", "serving", "seed of the sample, or with --simulate of the days (1)", type=int, metavar="N"
    ),
    _option(
        "--import",
        "serving",
        "import these JSON or XML files, as an upsert would; the tracking ids are reported",
        dest="imports",
        **_FILES,
    ),
    _option("--import-as", "serving", "who imports them (the first organisation)", metavar="CLIENT_ID"),
    _option("--openapi", "serving", "write the OpenAPI document and end", first=True, **_FILE),
    _option(
        "--fault",
        "faults",
        "what goes wrong, and at which calls",
        first=True,
        **_repeated(_from_text(Fault.from_text), "KIND[@CALL[,CALL...]][,OPTION=VALUE...]", "faults"),
    ),
    _option("--simulate", "days", "let days pass in the store", first=True, type=int, metavar="DAYS"),
    _option(
        "--incident",
        "days",
        "what else happens in these days",
        first=True,
        **_repeated(_from_text(Incident.from_text), "NAME[@DAY][:OWNER]", "incidents"),
    ),
    _option(
        "--reset",
        "days",
        "take back all changes of the store, or of products",
        first=True,
        nargs="*",
        metavar="GTIN",
    ),
)


def _settings() -> tuple[_Option, ...]:
    """Return the options of `Behaviour`, one for each of its settings."""
    types = get_type_hints(Behaviour)
    made = []
    for field in fields(Behaviour):
        kind = types[field.name]
        if kind is bool:
            how: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        elif issubclass(kind, StrEnum):
            how = {"type": kind, "choices": list(kind)}
        else:
            how = {"type": kind, "metavar": {float: "SECONDS", int: "N"}.get(kind, "NAME")}
        flag, meaning = f"--{field.name.replace('_', '-')}", f"{field.metadata['meaning']} (%(default)s)"
        made.append(_option(flag, "settings", meaning, default=field.default, **how))
    return tuple(made)


def _listed(width: int, meanings: Mapping[str, str]) -> list[str]:
    return [f"  {name:{width}}{meaning}" for name, meaning in meanings.items()]


_HOW_TO_FILL: Final = "Files of products are JSON or JSON lines, gzip too."
_HOW_TO_ORDER: Final = (
    "Each fault hits the calls whose numbers follow @, counted from 1 among those of its endpoint, or every call; "
    f"--fault may be repeated. Options: times (calls in a row), endpoint ({', '.join(ENDPOINTS)}; list unless given), "
    "and those of the kind."
)
_HOW_TO_CHANGE: Final = (
    "The store of the home is changed, whether a sandbox is running there or not; then the command ends. In simulated "
    "days suppliers correct, break, add, delist and share products. A reset restores the products of some GTINs, or "
    "the whole store, to what they were at the beginning."
)
_HOW_TO_PLAN: Final = (
    "Each incident happens on the day that follows @, counted from 1 (the middle one), to the products of the "
    "supplier whose name follows the colon, or of all; --incident may be repeated. Unless given, a larger one is "
    "drawn, or it is as described here."
)


def _faults() -> list[str]:
    kinds = {
        name: kind.meaning.replace("`", "") for name, kind in FAULTS.items() if "run" not in kind.options
    }
    return [_HOW_TO_ORDER, *_listed(14, kinds)]


def _days() -> list[str]:
    incidents = {name: kind.meaning for name, kind in INCIDENTS.items()}
    return [_HOW_TO_CHANGE, "", _HOW_TO_PLAN, *_listed(24, incidents)]


_EXAMPLES: Final = (
    "examples:",
    "  prodex sandbox --port 8080 --products mine.jsonl.gz",
    "  prodex sandbox --fault lost-cursor@3 --latency 0.2",
    "  prodex sandbox --simulate 7 --incident supplier_loses_pictures@3",
)
#: Topic -> what its page says below the options.
_EXPLAINED: Final[Mapping[str, Callable[[], Sequence[str]]]] = {
    _FIRST: lambda: _EXAMPLES,
    "serving": lambda: [_HOW_TO_FILL],
    "faults": _faults,
    "days": _days,
    "settings": lambda: (),
    _ALL: lambda: [*_EXAMPLES, "", _HOW_TO_FILL, "", *_faults(), "", *_days()],
}
_TOPICS: Final = tuple(filter(None, _EXPLAINED))


def given_options(values: Mapping[str, Any]) -> list[str]:
    """Return the options that have another value than unless given."""
    by_default = vars(parser().parse_args([]))
    return [one.flag for one in (*_OPTIONS, *_settings()) if values[one.name] != by_default[one.name]]


class _Help(argparse.Action):
    """Shows a page of help and ends the command."""

    def __call__(
        self, called: argparse.ArgumentParser, _values: object, topic: Any, _flag: str | None = None
    ) -> None:
        parser(topic or _FIRST).print_help()
        called.exit()


def parser(topic: str = _ALL) -> argparse.ArgumentParser:
    """Make the parser of all options; its help shows those of a topic, or of the first page where it is empty."""
    made = argparse.ArgumentParser(
        prog="prodex sandbox",
        usage="%(prog)s [options]",
        description="Serve a complete product data exchange service on this machine.",
        epilog="\n".join(_EXPLAINED[topic]()),
        formatter_class=_Formatter,
        add_help=False,
    )
    for one in (*_OPTIONS, *_settings()):
        is_shown = topic in (_ALL, one.topic) or (topic == _FIRST and one.on_first_page)
        made.add_argument(
            one.flag, **one.settings if is_shown else {**one.settings, "help": argparse.SUPPRESS}
        )
    made.add_argument(
        *("-h", "--help"),
        action=_Help,
        default=argparse.SUPPRESS,
        nargs="?",
        choices=_TOPICS,
        metavar="TOPIC",
        help=f"more about {', '.join(_TOPICS[:-1])}, or {_ALL}",
    )
    return made


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
