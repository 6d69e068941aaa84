"""The form that exports the products that are shown: the table as it is, or every table of their catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from prodex.catalog import Catalog
from prodex.catalog.origin import Chosen
from prodex.errors import QueryError, StorageError
from prodex.exploration.table_export import (
    AS_SHOWN,
    EVERYTHING,
    ExportRequest,
    ShownTable,
    export_formats,
    export_products,
)
from prodex.formats.registry import FORMATS, FormatName
from prodex.messages import counted
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.blocks import button, fold, paragraph, typed_text, work
from prodex.notebook.views.columns import columns_of
from prodex.notebook.views.downloads import handed_over
from prodex.notebook.views.forms import FormField, form, form_values, required
from prodex.notebook.views.paths import path_of
from prodex.notebook.views.products_left import left_of
from prodex.notebook.views.table import name_language_of, ordered, places
from prodex.progress import Reporter

_FORM = "products-export"
_FOLDER = f"{_FORM}.folder"
SAFE = "Safe for spreadsheets (puts an apostrophe before text that would run as a formula)"
CANCELLED = "Cancelled. Nothing was written; files that were there before are as they were."


@dataclass(frozen=True)
class ExportState:
    """The last export.

    Attributes
    ----------
    said, is_problem
        What became of it, or what it would replace.
    existing
        Names of files that it would replace, which somebody has to agree to; and the export that this is about.
    of
        The request and the products that these files are in the way of: for others it is asked again.
    """

    said: str = ""
    is_problem: bool = False
    existing: tuple[str, ...] = ()
    of: tuple[Any, ...] = ()


def export_fold(session: Session) -> Block:
    """Return the form, folded."""
    return fold(session, "export", "Export", lambda: export_blocks(session))


def export_blocks(session: Session) -> Sequence[Block | None]:
    """Return the form, what runs, and what became of the last export."""
    fields, values = _fields(session)
    state, count = session.part(ExportState), _count(session, values)
    if not session.can("products.export"):
        return _download_blocks(session, fields, count)
    is_asked = bool(state.existing) and state.of == _what(session, values)
    label = (
        f"Replace {counted(len(state.existing), 'file')}"
        if is_asked
        else f"Export {counted(count, 'product')}"
    )
    press = button(
        label,
        "products.export",
        key="export",
        look="main",
        off=_why_not(session, count),
        count=count,
        replacing=list(state.existing) if is_asked else [],
    )
    said = state.said if is_asked or not state.existing else ""
    return _with_outcome(session, form(session, _FORM, fields, press, label="Export"), said)


def _download_blocks(session: Session, fields: list[FormField], count: int) -> Sequence[Block | None]:
    """Return the form in a page that writes nothing here: its browser saves the file."""
    label = f"Download {counted(count, 'product')}"
    press = button(
        label, "products.download", key="download", look="main", off=_why_not(session, count), count=count
    )
    blocks = form(session, _FORM, fields, press, label="Download")
    return _with_outcome(session, blocks, session.part(ExportState).said)


def _why_not(session: Session, count: int) -> str:
    if "products.export" in session.works:
        return "An export is running."
    return "" if count else "No products are shown."


def _with_outcome(session: Session, form: Block, said: str) -> Sequence[Block | None]:
    tone = "problem" if session.part(ExportState).is_problem else "note"
    return (
        form,
        work(session, "products.export"),
        paragraph(typed_text(said), key="export-said", tone=tone) if said else None,
    )


def _fields(session: Session) -> tuple[list[FormField], Mapping[str, Any]]:
    """Return the fields that there are for what stands in them, and what stands in them."""
    selected = len(session.selected)
    what = FormField("what", "Export", "choice", AS_SHOWN, [(one, one) for one in (AS_SHOWN, EVERYTHING)])
    chosen = form_values(session, _FORM, [what])["what"]
    formats = [(name, title) for title, name in export_formats(chosen)]
    as_ = FormField("format", "as", "choice", formats[0][0], formats)
    format_ = FORMATS[form_values(session, _FORM, [as_])["format"]]
    fields = [
        what,
        as_,
        FormField("folder", "to folder", "folder", "export") if session.can("products.export") else None,
        FormField("only", f"Only the {counted(selected, 'selected product')}", "tick", value=False)
        if selected
        else None,
    ]
    if chosen == EVERYTHING and not format_.holds_records:
        fields += [
            FormField("languages", "languages", placeholder="all, or such as fr, nl"),
            FormField("columns", "columns", placeholder="all, or such as brand, text"),
        ]
    # Only CSV has no types: a spreadsheet reads a text in it as a formula.
    if format_.can_escape_formulas:
        fields.append(FormField("safe", SAFE, "tick", value=True))
    there = [one for one in fields if one]
    return there, form_values(session, _FORM, there)


def _count(session: Session, values: Mapping[str, Any]) -> int:
    return len(session.selected) if values.get("only") else len(left_of(session))


def _what(session: Session, values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what is exported, to compare: of the same products, with the same values."""
    of = session.selected if values.get("only") else (session.conditions, columns_of(session))
    return tuple(sorted((name, str(value)) for name, value in values.items())), of, id(session.catalog)


def shown_table(session: Session, only: tuple[str, ...] | None = None) -> tuple[ShownTable, Catalog]:
    """Return what an export writes: the products that are shown, or only some of the catalogue, shown or not.

    >>> import prodex
    >>> len(shown_table(Session(prodex.flatten([{"id": 7}, {"id": 8}])), ("8",))[1])
    1
    """
    products, columns, language = session.filter.products, columns_of(session), name_language_of(session)
    if only is None:
        return ShownTable(products, places(session), columns, language), session.chosen
    whole, every = session.catalog, ordered(session)
    chosen = Chosen.again(whole.chosen, len(whole), ["selected one by one"])
    rows = every[products.having(only)[every]]
    return ShownTable(products, rows, columns, language), replace(
        whole.where(product_id=list(only)), chosen=chosen
    )


@task("products.export")
def start_export(app: Panel, count: int, replacing: list[str]) -> None:
    """Export so many products; `replacing` are the files of which somebody has agreed that they are replaced."""
    session = app.session
    app.change(lambda session: session.with_part(ExportState()))
    _, values = _fields(session)
    if count != _count(session, values):
        raise Refused("Nothing was exported: other products are shown by now. Press again to export these.")
    folder = required(values, _FORM, "folder", "Enter a folder for the files, such as out.")
    request = _request(values, path_of(folder, at=_FOLDER))
    existing = request.existing_files
    what = _what(session, values)
    if existing and (existing != replacing or session.part(ExportState).of != what):
        said = f"{request.folder.absolute()} already contains {_first_names(existing)}."
        app.change(lambda session: session.with_part(ExportState(said, existing=tuple(existing), of=what)))
        return
    write = partial(
        export_products, request, *shown_table(session, session.selected if values.get("only") else None)
    )
    app.run(
        "products.export",
        write,
        lambda session, said: session.with_part(ExportState(said)),
        title=f"Exporting {counted(count, 'product')}",
        failed=_failed,
        cancelled=lambda session: session.with_part(ExportState(CANCELLED)),
    )


@task("products.download")
def start_download(app: Panel, count: int) -> None:
    """Hand so many products over to the browser."""
    session = app.session
    app.change(lambda session: session.with_part(ExportState()))
    _, values = _fields(session)
    if count != _count(session, values):
        raise Refused("Nothing was handed over: other products are shown by now. Press again for these.")
    table = shown_table(session, session.selected if values.get("only") else None)

    def write(folder: Path, reporter: Reporter) -> str:
        export_products(_request(values, folder), *table, reporter)
        return f"{counted(count, 'product')}."

    app.run(
        "products.export",
        partial(handed_over, app, "products", write),
        lambda session, said: session.with_part(ExportState(said)),
        title=f"Writing {counted(count, 'product')}",
        failed=_failed,
        cancelled=lambda session: session.with_part(ExportState(CANCELLED)),
    )


def _request(values: Mapping[str, Any], folder: Path) -> ExportRequest:
    return ExportRequest(
        values["what"],
        cast("FormatName", values["format"]),
        folder,
        bool(values.get("safe")),
        _comma_words(values.get("languages")),
        _comma_words(values.get("columns")),
    )


def _failed(session: Session, error: BaseException) -> Session:
    """Say what is wrong beside the field that it is about."""
    said, (_, values) = error_text(error), _fields(session)
    at = ""
    if isinstance(error, StorageError):
        at = "folder"
    elif isinstance(error, QueryError):
        is_column = any(repr(one) in said for one in _comma_words(values.get("columns")))
        at = "columns" if is_column else "languages"
    if at in values:
        return session.replaced(errors={**session.errors, f"{_FORM}.{at}": said})
    return session.with_part(ExportState(said, is_problem=True))


def _comma_words(text: Any) -> tuple[str, ...]:
    return tuple(word.strip() for word in str(text or "").split(",") if word.strip())


def _first_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"
