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
    ONE_TABLE,
    ExportRequest,
    ShownTable,
    export_formats,
    export_products,
)
from prodex.formats.registry import FORMATS, FormatName
from prodex.notebook.session.actions import Block, Panel, task
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import button, fold
from prodex.notebook.views.columns import columns_of
from prodex.notebook.views.downloads import handed_over
from prodex.notebook.views.forms import FormField, beside, form, form_values
from prodex.notebook.views.paths import path_typed
from prodex.notebook.views.products_left import ids_digest, left_of, shown_digest
from prodex.notebook.views.table import name_language_of, ordered, places
from prodex.notebook.views.written_files import CANCELLED, write_files, written_blocks
from prodex.phrases import counted
from prodex.progress import Reporter

_FORM, _SLOT = "products-export", "products.export"
_FOLDER = f"{_FORM}.folder"
_CHOICES = [(one, one) for one in (AS_SHOWN, ONE_TABLE, EVERYTHING)]
SAFE = "Safe for spreadsheets (puts an apostrophe before text that would run as a formula)"


@dataclass(frozen=True)
class AskedExport:
    """The export that somebody was asked about last.

    Attributes
    ----------
    existing
        Names of files that it would replace, which somebody has to agree to.
    of
        The request and the products that these files are in the way of: for others it is asked again.
    """

    existing: tuple[str, ...] = ()
    of: tuple[Any, ...] = ()


def export_fold(session: Session) -> Block:
    """Return the form, folded."""
    return fold(session, "export", "Export", lambda: export_blocks(session))


def export_blocks(session: Session) -> Sequence[Block | None]:
    """Return the form, what runs, and what became of the last export."""
    fields, values = _fields(session)
    asked, count = session.part(AskedExport), _count(session, values)
    is_asked = bool(asked.existing) and asked.of == _what(session, values)
    existing = asked.existing if is_asked else ()
    off = "" if count else "No products are shown."
    off = "An export is running." if _SLOT in session.works else off
    if session.can(_SLOT):
        label = (
            f"Replace {counted(len(existing), 'file')}" if is_asked else f"Export {counted(count, 'product')}"
        )
        press = button(
            label,
            _SLOT,
            key="export",
            look="main",
            off=off,
            of=_of(session, values),
            replacing=list(existing),
        )
    else:
        label = f"Download {counted(count, 'product')}"
        press = button(
            label, "products.download", key="export", look="main", off=off, of=_of(session, values)
        )
    return (
        form(session, _FORM, fields, press, label="Export"),
        *written_blocks(session, _SLOT, key="export-said")[: 2 if is_asked or not asked.existing else 1],
    )


def _fields(session: Session) -> tuple[list[FormField], Mapping[str, Any]]:
    """Return the fields that there are for what stands in them, and what stands in them."""
    selected = len(session.selected)
    what = FormField("what", "Export", "choice", AS_SHOWN, _CHOICES)
    chosen = form_values(session, _FORM, [what])["what"]
    formats = [(name, title) for title, name in export_formats(chosen)]
    as_ = FormField("format", "as", "choice", formats[0][0], formats)
    format_ = FORMATS[form_values(session, _FORM, [as_])["format"]]
    fields = [
        what,
        as_,
        FormField("folder", "to folder", "folder", "export") if session.can(_SLOT) else None,
        FormField("only", f"Only the {counted(selected, 'selected product')}", "tick", value=False)
        if selected
        else None,
    ]
    if chosen != AS_SHOWN and not format_.holds_records:
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


def _of(session: Session, values: Mapping[str, Any]) -> str:
    """Return what names the products that are exported."""
    return ids_digest(session.selected) if values.get("only") else shown_digest(session)


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


@task(_SLOT)
def start_export(app: Panel, of: str, replacing: list[str]) -> None:
    """Export these products; `replacing` are the files of which somebody has agreed that they are replaced."""
    session, (_, values) = app.session, _fields(app.session)
    app.change(lambda session: _said(session, ""))
    if of != _of(session, values):
        raise Refused("Nothing was exported: other products are shown by now. Press again to export these.")
    request, what = _request(values), _what(session, values)
    existing = request.existing_files
    if existing and (existing != replacing or session.part(AskedExport).of != what):
        said = f"{request.folder.absolute()} already contains {_first_names(existing)}."
        asked = AskedExport(tuple(existing), what)
        app.change(lambda session: _said(session, said).with_part(asked))
        return
    only = session.selected if values.get("only") else None
    write = partial(export_products, request, *shown_table(session, only))
    title = f"Exporting {counted(_count(session, values), 'product')}"
    write_files(app, _SLOT, write, title, failed=_failed, cancelled=CANCELLED)


@task("products.download")
def start_download(app: Panel, of: str) -> None:
    """Hand these products over to the browser."""
    session, (_, values) = app.session, _fields(app.session)
    app.change(lambda session: _said(session, ""))
    if of != _of(session, values):
        raise Refused("Nothing was handed over: other products are shown by now. Press again for these.")
    table = shown_table(session, session.selected if values.get("only") else None)

    def write(folder: Path, reporter: Reporter) -> str:
        return export_products(_request({**values, "folder": str(folder)}), *table, reporter)

    handing = partial(handed_over, app, "products", values["format"], write)
    title = f"Writing {counted(_count(session, values), 'product')}"
    write_files(app, _SLOT, handing, title, failed=_failed, cancelled=CANCELLED)


def _said(session: Session, sentence: str) -> Session:
    """Say what became of an export; nobody is asked about it any more."""
    return session.with_part(AskedExport()).noting(sentence, section=_SLOT)


def _request(values: Mapping[str, Any]) -> ExportRequest:
    return ExportRequest(
        values["what"],
        cast("FormatName", values["format"]),
        path_typed(values, _FOLDER, "Enter a folder for the files, such as out."),
        bool(values.get("safe")),
        _comma_words(values.get("languages")),
        _comma_words(values.get("columns")),
    )


def _failed(session: Session, error: BaseException) -> Session:
    """Say what is wrong beside the field that it is about."""
    said, (_, values) = error_text(error), _fields(session)
    at = "folder" if isinstance(error, StorageError) else ""
    if isinstance(error, QueryError):
        is_column = any(repr(one) in said for one in _comma_words(values.get("columns")))
        at = "columns" if is_column else "languages"
    if at in values:
        return beside(f"{_FORM}.{at}")(session, error)
    return session.noting(said, is_problem=True, section=_SLOT)


def _comma_words(text: Any) -> tuple[str, ...]:
    return tuple(word.strip() for word in str(text or "").split(",") if word.strip())


def _first_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return shown if len(names) <= 3 else f"{shown} and {counted(len(names) - 3, 'other file')}"
