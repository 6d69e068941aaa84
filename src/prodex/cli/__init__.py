"""The commands; parsing and printing only.

Exit codes: 0 success, 1 failure (the message says why), 2 the command was not understood.
"""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from prodex.cli import demo, exchange, fix, jobs, lab, quality, snapshots
from prodex.cli.output import PrintableFormatter, say
from prodex.display_text import on_one_line
from prodex.errors import ProdexError

app: typer.Typer = typer.Typer(
    name="prodex",
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
    try:
        app(prog_name="prodex")
    except ProdexError as error:
        say(on_one_line(" ".join([f"prodex: {error}", *getattr(error, "__notes__", ())])), aside=True)
        sys.exit(1)
    except KeyboardInterrupt:
        say(
            "prodex: stopped. No unfinished file was left, and the same command continues a load.", aside=True
        )
        # 128 + SIGINT, as shells report an interrupted program.
        sys.exit(130)


@app.callback()
def _all(verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log every call.")] = False) -> None:
    if verbose:
        lines = logging.StreamHandler(sys.stderr)
        lines.setFormatter(PrintableFormatter("%(asctime)s %(name)s %(message)s"))
        logging.basicConfig(level=logging.DEBUG, handlers=[lines])


for _part in (exchange, snapshots, quality, fix, jobs, demo, lab):
    app.add_typer(_part.app)
