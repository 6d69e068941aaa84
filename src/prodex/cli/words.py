"""What the library names in Python, in the words of a terminal: options and commands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from datetime import datetime
from enum import Enum
from typing import Any

from prodex.advice import Named, PythonCall, in_words
from prodex.errors import ProdexError, on_one_line
from prodex.query import ProductQuery
from prodex.query.filters import FILTERS, Form

#: Values of one option that are shown; a file may have given thousands.
_MOST_VALUES = 5

#: Arguments whose option is not called as they are.
OPTIONS: Mapping[str, str] = {
    **{name: f"--{one.option}" for name, one in FILTERS.items()},
    "by": "--user",
    "languages": "--language",
    "tables": "--table",
}

#: Lines of Python, and what does the same in a terminal; nothing where only Python has it.
CALLS: Mapping[str, str] = {
    'connect("sandbox")': "--service sandbox",
    'connect("{url}")': "--service {url}",
    "Give connect({name}=...), or set": "Set",
    "{setting}(retry=px.service.RetryPolicy({name}=...))": "--retry-seconds",
    "RetryPolicy({name}={value})": "--retry-seconds {value}",
    "LoadBudget({name}={value})": "--most-{name} {value}",
    "budget=LoadBudget(...)": "--most-calls, --most-seconds or --most-bytes",
    "datetime(..., tzinfo=UTC), or value.astimezone() for this machine's zone": "{value}+01:00, or {value}Z for UTC",
    ", or read it with dtype=str": "",
    "refresh({name!r}, service)": "prodex refresh {name}",
    "prodex.history({gtin!r})": "prodex history {gtin}",
    "None": "nothing",
    "catalog.export({folder}, {format!r})": "--to {folder} --format {format}",
    "tables=['products']": "--table products",
    ", or {line} for a single file": "",
    "catalog.export_wide({path})": "--wide fr --to {path}",
    "wide()": "--wide",
    " catalog.wide().columns are its names; wide(attributes=...) shows what lies deeper.": (
        " `prodex tables products` lists columns, and any attribute can be named as well."
    ),
    "prodex.write_requirements({file!r}, catalog)": "`prodex requirements shop --to {file}`",
    "prodex.read_worklist({file!r})": "`prodex fix {file}`",
    "prodex.audit(catalog, path)": "--profile FILE",
    "prodex.audit(catalog, {profile!r})": "--profile {profile}",
    "prodex.list_snapshots()": "`prodex snapshots`",
    "prodex.publish": "`prodex publish`",
    "read_worklist(files, catalog)": "--snapshot NAME",
    "read_worklist(files, profile='own.toml')": "--profile own.toml",
    "All are in .findings of this error; upsert(..., dry_run=True) shows them too.": (
        "The same command without --send lists all."
    ),
    "prodex.send.forget_earlier_records({name!r})": "`prodex upserts --forget {name}`",
    "prodex.track(service, [...])": "`prodex track ID`",
    "prodex.list_upserts()": "`prodex upserts`",
    "send_rest()": "`prodex send-rest --send`",
    'send_rest(also="{what}")': "`prodex send-rest --send --also {what}`",
    "; all in .failed": "",
    ", see .broken": "",
    "all in .refused, .conflicts and .needs_confirmation": (
        "--show refused, --show conflicts and --show needs-confirmation list all"
    ),
    ".notes": "--show notes",
    " in .findings": "",
    "; open_published(uri, at=...) opens an earlier publication": "",
    "prodex.read_products(files, name={name!r})": "reading them again",
    " and more (error.products)": " and more",
    "load_products with max_age=0": "prodex load",
    "verify()": "`prodex snapshots --verify`",
    "; save this one under another name: audit.save('other')": "",
    "prodex.rules()": "`prodex rules`",
    "prodex.track(service, {ids})": "`prodex track {words}`",
    ".tracking of this error has the state of each product, and its send_rest()": "`prodex send-rest --send`",
    ". Load them, and choose then: catalog.where(selection, audit=prodex.audit(catalog))": "",
    "catalog.where(selection)": "by --select of another command",
    ", or write where(lambda products: products[{column!r}].dt.normalize() == {day!r})": "",
    " Give one: audit=...": "",
    "apply_recipe(catalog, recipe, profile='core')": "--profile core",
    "languages": "--languages",
    "by='owner'": "--by owner",
    "{query!r}": "nothing of a service",
    "; catalog.save(name) keeps it": "",
    "; all in catalog.origin.ledger.set_aside": "",
}


def error_in_words(error: ProdexError) -> str:
    """Return an error and its notes on one line, as a command says them.

    >>> from prodex.advice import Argument, advice
    >>> said = advice("There is {file}. Give another path, or {it}.", file="a.xlsx", it=Argument("replace", True))
    >>> error_in_words(ProdexError(said))
    'There is a.xlsx. Give another path, or --replace.'
    """
    said = (in_words(one, of_terminal) for one in (error, *getattr(error, "__notes__", ())))
    return on_one_line(" ".join(said))


def of_terminal(named: Named) -> str:
    """Return an argument as the option that gives it, and a call as the command that does the same."""
    if isinstance(named, PythonCall):
        match named.values:
            case {"query": ProductQuery() as query}:
                return query_in_options(query)
        return CALLS[named.line].format(**named.values)
    option = OPTIONS.get(named.name, f"--{named.name.replace('_', '-')}")
    match named.value:
        case (True,) | ():
            return option
        case (False,):
            return f"--no-{option.removeprefix('--')}"
    (value,) = named.value
    return f"{option} {value!r}" if " " in str(value) else f"{option} {value}"


def query_in_options(query: ProductQuery) -> str:
    """Return a query as the options of `load` that ask for the same; of many values of one, some and their number.

    >>> query_in_options(ProductQuery(target_market=250, tags_in=["new range"]))
    "--tag 'new range' --market 250"
    """
    options = []
    for name, one in FILTERS.items():
        values = [*_typed_values(one.kind.form, getattr(query, name))]
        options += [f"--{one.option} {_quoted(value)}".rstrip() for value in values[:_MOST_VALUES]]
        if len(values) > _MOST_VALUES:
            options.append(f"({_MOST_VALUES} of {len(values):,})")
    options += [f"--extra {_quoted(f'{wire}={json.dumps(value)}')}" for wire, value in query.extra.items()]
    return " ".join(options) or "all products"


def _typed_values(form: Form, value: Any) -> Iterator[str]:
    """Yield what is typed behind an option for each value of a filter; nothing behind a flag."""
    match form, value:
        case _, None:
            return
        case Form.FLAG, _:
            yield ""
        case Form.WORDS, _:
            yield from (f"{word}@{','.join(fields)}" for word, fields in value)
        case _, tuple():
            yield from (str(one.name if isinstance(one, Enum) else one) for one in value)
        case _, Enum():
            yield value.name
        case _, datetime():
            yield value.isoformat()
        case _:
            yield str(value)


def _quoted(value: str) -> str:
    return shlex.quote(on_one_line(value)) if value else ""
