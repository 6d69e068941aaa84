"""The commands that need no exchange service: the sandbox, and the demo on it."""

from __future__ import annotations

import typer

import prodex
from prodex.cli.shown import say
from prodex.demo import audit_the_sample, correct_a_text, refresh_and_compare, show_tables

app = typer.Typer()


@app.command(
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Example: prodex sandbox --port 8080",
)
def sandbox(context: typer.Context) -> None:
    """Run a complete exchange service on this machine (prodex sandbox --help)."""
    try:
        from prodex.sandbox.command import main as serve
    except ImportError as error:
        raise prodex.errors.MissingExtra(
            f"The sandbox needs {error.name}: pip install 'prodex[sandbox]'."
        ) from error
    raise typer.Exit(serve(context.args))


@app.command(epilog="Example: prodex demo")
def demo() -> None:
    """Pull the sandbox's catalogue over HTTP, show every table, correct a text, audit."""
    client = prodex.connect("sandbox")
    say(f"The sandbox answers at {client.base_url}; its catalogue comes through the real client.\n")
    catalog = prodex.load_products(client, name="sample", max_age=0, progress=True)
    say("")
    show_tables(catalog, say)
    say(f"\nThe snapshot is in {catalog.folder}.\n")
    correct_a_text(client, catalog, say)
    say("")
    fresh = refresh_and_compare(client, catalog, say)
    say("")
    audit_the_sample(fresh, say)
    say("Next: make lab opens the first notebook; prodex --help lists the commands.")
