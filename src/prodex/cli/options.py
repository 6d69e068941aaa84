"""What the commands have in common: each option that several of them have is declared here, once.

`command` makes a command of a function. A parameter whose annotation is one of the groups below, or `ProductQuery`,
means all options of that group: Typer reads the signature of a command, which gets one in which they are expanded. Its
help lists arguments first, then what only this command has, then these groups, in this order in every command.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime, time
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import pandas as pd
import typer
from typer.models import ArgumentInfo

import prodex
from prodex.cli.output import Format, say, show
from prodex.cli.typed_numbers import integer, number
from prodex.cli.words import of_terminal
from prodex.encodings import NotUtf8, utf8_text
from prodex.errors import InputError, QueryError
from prodex.gtin import listed_in
from prodex.limits import WINDOWS
from prodex.query import SEARCH_FIELDS
from prodex.query.filters import FILTERS, Form
from prodex.written_dates import written_date

#: A function whose parameters are options, arguments and groups of options.
Command = Callable[..., None]

Snapshot = Annotated[
    str, typer.Argument(metavar="SNAPSHOT", help='"shop", or "shop@2026-11-13" for an earlier one.')
]
#: All snapshots of a name, or what belongs to them.
SnapshotName = Annotated[str, typer.Argument(metavar="NAME", help='Name of the snapshots, such as "shop".')]
ProfileName = Annotated[
    str, typer.Argument(metavar="PROFILE", help="Name of a profile, or the path of your own (.toml).")
]
Send = Annotated[bool, typer.Option("--send", help="Send it to the service; without it nothing is sent.")]
Select = Annotated[Path | None, typer.Option(help="Only the products of this selection (.toml).")]
By = Annotated[
    str, typer.Option(help="Group by owner, brand, kind, market, language, tag or a column of products.")
]
User = Annotated[str, typer.Option(help="Who does it; by default the user of this machine.")]
Until = Annotated[str, typer.Option(help="Last day on which findings are accepted, as 2027-01-05.")]
TextLanguages = Annotated[
    list[str],
    typer.Option(help="Only texts in this language: fr or French, or fr-BE for one country (repeat)."),
]
WordsLanguage = Annotated[
    str, typer.Option(help="Language of what prodex says: English, French, German or Dutch.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace what is there.")]
Gtins = Annotated[list[str], typer.Option(help="A GTIN (repeat), or @FILE with one per line.")]
AllowIncomplete = Annotated[
    bool, typer.Option("--allow-incomplete", help="Save what was received even if it is incomplete.")
]
BatchSize = Annotated[int, typer.Option(parser=integer, help="Products per call, 500 at most.")]
UpsertName = Annotated[
    str,
    typer.Option("--upsert", help='Name of an upsert ("prodex upserts" lists them); by default the last.'),
]
Also = Annotated[
    list[str],
    typer.Option(
        help='"unknown": send again what may have arrived already; "refused": what was refused (repeat).'
    ),
]


@dataclass(frozen=True)
class ServiceOptions:
    """Which service, and how it is called."""

    service: Annotated[
        str, typer.Option(help='"sandbox", a base URL, or "" for the service in your settings.')
    ] = ""
    retry_seconds: Annotated[
        float | None,
        typer.Option(
            parser=number,
            help="Seconds for which a failed call is tried again; by default 20, and 300 inside a load.",
        ),
    ] = None
    token_version: Annotated[
        int,
        typer.Option(
            parser=integer, help="2, or 1 for a service that only has the deprecated token endpoint."
        ),
    ] = 2

    def connect(self) -> prodex.service.Client:
        """Return a client of this service."""
        seconds = self.retry_seconds
        retry = None if seconds is None else prodex.service.RetryPolicy(seconds=seconds, load_seconds=seconds)
        return prodex.connect(self.service or None, retry=retry, token_version=self.token_version)


@dataclass(frozen=True)
class OutputOptions:
    """In which format a table is shown, and where."""

    format: Annotated[
        Format,
        typer.Option(
            help="Format of the result; csv is safe in a spreadsheet, csv-verbatim has the exact texts."
        ),
    ] = Format.TABLE
    out: Annotated[Path | None, typer.Option(help="File to write to; required for Parquet.")] = None

    def show(self, frame: pd.DataFrame) -> None:
        """Show a table, or write it to the file."""
        show(frame, self.format, self.out)


@dataclass(frozen=True)
class FollowOptions:
    """Whether a command waits for imports."""

    # With an explicit name, since Typer would add a --no-wait.
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the outcome of each product.")] = False
    timeout: Annotated[float, typer.Option(parser=number, help="Seconds to wait at most, with --wait.")] = (
        3600
    )

    def follow(self, tracking: prodex.send.Tracking, output: OutputOptions) -> None:
        """Show a tracking, after waiting if requested; exit with 1 unless everything arrived."""
        from prodex.display.tracking import text_of

        if self.wait:
            tracking.wait(self.timeout)
        say(text_of(tracking, of_terminal), aside=True)
        output.show(tracking.products if self.wait else tracking.batches)
        if tracking.status not in {"SUCCESS", "IN_PROGRESS"}:
            raise typer.Exit(1)


@dataclass(frozen=True)
class SendOptions:
    """Whether corrections are sent, and what of them beside what is accepted."""

    send: Send = False
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm", help="All that --show needs-confirmation lists is meant as it is: send it, too."
        ),
    ] = False
    elsewhere: Annotated[
        bool,
        typer.Option(
            "--elsewhere",
            help="Send them although the products come from another service or address, or from none.",
        ),
    ] = False
    also: Also = field(default_factory=list)

    def confirmed(self, fix: prodex.worklists.Fix) -> prodex.worklists.Fix:
        """Return corrections; what of them needs confirmation is confirmed, if that was said."""
        return fix.confirm() if self.confirm and fix.counts["needs confirmation"] else fix


_BUDGET = prodex.limits.LoadBudget()


@dataclass(frozen=True)
class LoadOptions:
    """How products are loaded, and the limits of a load."""

    windows: Annotated[
        int,
        typer.Option(
            parser=integer, help="Windows of time fetched in parallel in large loads; 0 for a single scroll."
        ),
    ] = WINDOWS
    allow_incomplete: AllowIncomplete = False
    most_calls: Annotated[
        float,
        typer.Option(parser=number, help="End the load after this many calls, and keep what was received."),
    ] = _BUDGET.calls
    most_seconds: Annotated[float, typer.Option(parser=number, help="The same after this many seconds.")] = (
        _BUDGET.seconds
    )
    most_bytes: Annotated[
        float, typer.Option(parser=number, help="The same after this many bytes, decompressed.")
    ] = _BUDGET.bytes

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that all loaders accept."""
        budget = prodex.limits.LoadBudget(
            calls=self.most_calls, seconds=self.most_seconds, bytes=self.most_bytes
        )
        return {"windows": self.windows, "allow_incomplete": self.allow_incomplete, "budget": budget}


#: The groups in the order in which every help lists them, behind the filters of a query.
_GROUPS: list[type[Any]] = [LoadOptions, SendOptions, FollowOptions, OutputOptions, ServiceOptions]
_QUERY = -1


@dataclass(frozen=True)
class _Group:
    """A group: its place in a help, its options, and the function that makes its value of them."""

    place: int
    parameters: list[inspect.Parameter] = field(repr=False)
    make: Callable[..., Any]


def command(
    to: typer.Typer, *, example: str, name: str | None = None
) -> Callable[[Callable[..., None]], Command]:
    """Make a command of a function, with an example in its help, and add it to an application or a group.

    Parameters
    ----------
    to
        The application.
    example
        A line that can be pasted, or several of them with semicolons between.
    name
        The name of the command; that of the function unless given.
    """

    def added(function: Callable[..., None]) -> Command:
        return to.command(name, epilog=f"Example: {example}")(_with_groups(function))

    return added


def _with_groups(function: Callable[..., None]) -> Command:
    """Return a function in whose signature every group of options is expanded, in the order of every help."""
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, _Group] = {}
    own: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is prodex.ProductQuery:
            groups[name] = _Group(_QUERY, _query_parameters(), _query_of_options)
        elif hints[name] in _GROUPS:
            group = hints[name]
            groups[name] = _Group(_GROUPS.index(group), _parameters_of(group), group)
        else:
            # Typer passes values by name. Keyword-only parameters may follow in any order, with defaults or without.
            own.append(parameter.replace(annotation=hints[name], kind=inspect.Parameter.KEYWORD_ONLY))
    shared = sorted(groups.values(), key=lambda group: group.place)
    parameters = [*sorted(own, key=_is_option), *(one for group in shared for one in group.parameters)]

    @wraps(function)
    def called(**values: Any) -> None:
        made = {
            name: group.make(**{one.name: values.pop(one.name) for one in group.parameters})
            for name, group in groups.items()
        }
        function(**values, **made)

    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined] # read by inspect.signature
    return called


def _is_option(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is an option and no argument: arguments are listed first."""
    return not any(isinstance(one, ArgumentInfo) for one in getattr(parameter.annotation, "__metadata__", ()))


def values_of(words: list[str]) -> list[str]:
    """Return the values of a repeated option; @FILE means the words in a file.

    Raises
    ------
    QueryError
        When a file cannot be read.
    """
    values: list[str] = []
    for word in words:
        if not word.startswith("@"):
            values.append(word)
            continue
        try:
            # Between any white space, as a column copied from a spreadsheet has it.
            values += listed_in(utf8_text(Path(word[1:]).read_bytes()))
        except OSError as error:
            raise QueryError(
                f"{word} cannot be read: {error}. Give @FILE with one value per line."
            ) from error
        except NotUtf8 as error:
            raise QueryError(f"{word} {error}") from error
    return values


def _parameters_of(group: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(group, include_extras=True)
    return [
        _signature_parameter(one.name, hints[one.name], [] if one.default is MISSING else one.default)
        for one in fields(group)
    ]


def _signature_parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def moment_of(option: str, text: str) -> datetime | None:
    """Return the time that an option gives; a day without a time begins at midnight UTC.

    Raises
    ------
    QueryError
        When it is not a time, or may be two.
    """
    if not text:
        return None
    try:
        found = written_date(text)
    except InputError as error:
        raise QueryError(f"--{option}: {error}") from error
    # A day alone is clear enough. A time of day without a zone is not: the query refuses it.
    return found if isinstance(found, datetime) else datetime.combine(found, time.min, UTC)


def _search(entry: str) -> tuple[str, list[str]]:
    # The last sign is that of the fields: a word may be an address.
    word, sign, names = entry.rpartition("@")
    return (word, names.split(",")) if sign and names else (word or names, list(SEARCH_FIELDS))


#: The type of an option by the form of its filter, its default, and how its text becomes a value.
_FORMS: Mapping[Form, tuple[Any, Any, Callable[[str, Any], Any]]] = {
    Form.VALUE: (str, "", lambda _, text: text),
    Form.LIST: (list[str], [], lambda _, words: words),
    Form.LIST_OR_FILE: (list[str], [], lambda _, words: values_of(words)),
    Form.FLAG: (bool, False, lambda _, flag: flag),
    Form.TIME: (str, "", moment_of),
    Form.WORDS: (list[str], [], lambda _, words: [_search(word) for word in words]),
}


def _query_parameters() -> list[inspect.Parameter]:
    """Return an option for each filter, and one for filters that this version does not know."""
    parameters = []
    for name, one in FILTERS.items():
        type_, default, _ = _FORMS[one.kind.form]
        option = typer.Option(f"--{one.option}", help=one.help)
        parameters.append(_signature_parameter(name, Annotated[type_, option], default))
    # Services have filters that the specification does not list; they must be usable without a new version.
    extra = typer.Option("--extra", help="Any other filter, as WIRE_NAME=VALUE (repeat).")
    return [*parameters, _signature_parameter("extra", Annotated[list[str], extra], [])]


def _query_of_options(*, extra: list[str], **values: Any) -> prodex.ProductQuery:
    """Return the query of the options; those that are not given do not filter."""
    given = {}
    for name, value in values.items():
        if value:
            kind, option = FILTERS[name].kind, FILTERS[name].option
            given[name] = _FORMS[kind.form][2](option, value)
            # What is wrong with it is said of the option, and not of the field that it becomes.
            kind.read(f"--{option}", given[name])
    return prodex.ProductQuery(**given, extra=dict(map(_wire_pair, extra)))


def _wire_pair(entry: str) -> tuple[str, Any]:
    name, separator, value = entry.partition("=")
    if not separator:
        raise QueryError(f"--extra {entry!r} is not WIRE_NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
