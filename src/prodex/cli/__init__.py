"""The commands; parsing and printing only.

Exit codes: 0 success, 1 failure (the message says why), 2 the command was not understood.
"""

from __future__ import annotations

import logging
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from prodex.cli import demo, exchange, fix, history, jobs, lab, opened, quality, recipes, snapshots
from prodex.cli.output import PrintableFormatter, accept_all_letters, say
from prodex.cli.words import error_in_words
from prodex.errors import ProdexError

#: The order of `prodex --help`: what a new user needs first, then the way of the data.
SECTIONS: dict[str, tuple[str, ...]] = {
    "First steps": ("demo", "lab", "sandbox", "check"),
    "Load and keep": ("load", "refresh", "recover", "snapshots", "vacuum"),
    "Look, compare and export": (
        "open",
        "tables",
        "diff",
        "history",
        "overridden",
        "pictures",
        "export",
        "publish",
    ),
    "Audit": (
        "audit",
        "requirements",
        "accept",
        "withdraw",
        "accepted",
        "rules",
        "laws",
        "profiles",
        "watch",
        "run",
    ),
    "Correct and send": ("fix", "recipe", "upsert", "track", "upserts", "send-rest", "undo"),
    "Ask the service": ("organizations", "segments", "scenarios"),
}


#: What Ctrl-C has stopped, and what continues it.
_STOPPED = (
    "prodex: stopped. No unfinished file was left. The same command continues a load, a download of pictures or the "
    "sending of answers; `prodex send-rest` lists what an upsert has not sent."
)


class _Sections(TyperGroup):
    """Lists the commands by what they are for: nearly thirty in one list are hard to read."""

    # Typer has Click's classes under a name of its own in some versions, so they are not named here.
    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # Here, and not around the whole: Typer ends a command at Ctrl-C itself, and says nothing.
            say(_STOPPED, aside=True)
            # 128 + SIGINT, as shells report an interrupted program.
            raise typer.Exit(130) from None

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - as Click calls it
        longest = max(map(len, self.commands))
        for title, names in SECTIONS.items():
            with formatter.section(title):
                # A longer sentence would be cut; a test finds those.
                width = formatter.width - 6 - longest
                formatter.write_dl(
                    [(name.ljust(longest), self.commands[name].get_short_help_str(width)) for name in names]
                )


app: typer.Typer = typer.Typer(
    name="prodex",
    cls=_Sections,
    help="Product data from an exchange service, as tables that an analyst can trust.",
    no_args_is_help=True,
    # Installing completion writes to the shell's configuration, which nobody expects of a tool for data.
    add_completion=False,
    # Typer's tracebacks show local variables, which may contain secrets.
    pretty_exceptions_enable=False,
    # Rich would take [brackets] in messages of the service for markup.
    rich_markup_mode=None,
)


def main() -> None:
    """Run the command; an error of prodex becomes one line and exit code 1."""
    accept_all_letters()
    try:
        app(prog_name="prodex")
    except ProdexError as error:
        say(f"prodex: {error_in_words(error)}", aside=True)
        sys.exit(1)


def _show_version(asked: bool) -> None:
    if asked:
        say(f"prodex {version('prodex')}")
        raise typer.Exit


@app.callback()
def _common_options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log every call.")] = False,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    if verbose:
        lines = logging.StreamHandler(sys.stderr)
        lines.setFormatter(PrintableFormatter("%(asctime)s %(name)s %(message)s"))
        logging.basicConfig(level=logging.DEBUG, handlers=[lines])


for _part in (exchange, snapshots, history, quality, fix, recipes, jobs, demo, lab, opened):
    app.add_typer(_part.app)
