"""How values look in a notebook: a headline, a few lines, tables and footnotes, in one form for all of them.

Everything is escaped here, once: no caller writes markup around what a supplier typed, unless it says so with `Html` or
lets a template make it. The class `mathjax_ignore` keeps a notebook from rendering formulas in it, and each text is
isolated, so that Arabic or Hebrew in it does not turn its neighbours around.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from prodex.colour_scale import stylesheet
from prodex.pictures.resize import data_url
from prodex.untrusted_text import ends, label, on_one_line, words

if TYPE_CHECKING:
    import jinja2

    from prodex.languages import Translation

#: Longer texts are cut: a cell is read at a glance, and the frames have the whole text.
_WHOLE = 400


class Html(str):
    """Markup that is complete: a table shows it as it is, as it does what a template has made."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


def block(
    headline: str,
    lines: Iterable[tuple[str, bool]] = (),
    tables: Iterable[str] = (),
    notes: Iterable[str] = (),
) -> str:
    """Return the HTML of a value for a notebook.

    Parameters
    ----------
    headline
        What the value is.
    lines
        Further lines, each with whether it is a warning.
    tables
        Tables from `table`.
    notes
        Footnotes, such as how reliable the figures are.

    Examples
    --------
    >>> block("Milk & more", [("incomplete", True)]).partition("</style>")[2]
    '<p class="headline"><bdi>Milk &amp; more</bdi></p><p class="warning"><bdi>incomplete</bdi></p></div>'
    """
    paragraphs = [
        _paragraph("headline", headline),
        *(_paragraph("warning" if is_warning else "", line) for line, is_warning in lines),
        *tables,
        *(_paragraph("note", note) for note in notes),
    ]
    return (
        # The style sheet is in every output: a notebook may show one of them without the others.
        f'<div class="prodex-summary prodex-tables mathjax_ignore"><style>{stylesheet("tables", "summary")}</style>'
        f"{''.join(paragraphs)}</div>"
    )


def table(
    caption: str,
    headings: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    numbers: Collection[str] = (),
    codes: Collection[str] = (),
    look: str = "",
) -> str:
    """Return a table whose first column names its rows, which is what a screen reader reads out before each cell.

    Parameters
    ----------
    caption
        What the table shows.
    headings
        Of the columns; none for a table of facts, each row a name with a value.
    rows
        One value for each column: numbers are written with commas between thousands.
    numbers
        Headings of the columns that are aligned on the right.
    codes
        Headings of the columns that hold identifiers.
    look
        Classes of the table.

    Examples
    --------
    >>> print(table("Counts", ["table", "rows"], [["texts", 1200]], numbers=["rows"]).replace("<t", "\\n<t").strip())
    <table><caption>Counts</caption>
    <thead>
    <tr>
    <th scope="col">table</th>
    <th scope="col" class="n">rows</th></tr></thead>
    <tbody>
    <tr>
    <th scope="row"><bdi dir="auto">texts</bdi></th>
    <td class="n">1,200</td></tr></tbody></table>
    """
    classes = [
        ' class="n"' if name in numbers else ' class="id"' if name in codes else "" for name in headings
    ]
    head = "".join(
        f'<th scope="col"{kind}>{_cell_html(name)}</th>' for name, kind in zip(headings, classes, strict=True)
    )
    body = "".join(_table_row(row, classes or [""] * len(row)) for row in rows)
    return (
        f"<table{f' class={look!r}' if look else ''}><caption>{_cell_html(caption)}</caption>"
        f"{f'<thead><tr>{head}</tr></thead>' if head else ''}<tbody>{body}</tbody></table>"
    )


@cache
def template(package: str, folder: str, name: str, language: str = "en") -> jinja2.Template:
    """Return a template in a language that escapes everything, with the filters of all pages; each is parsed once."""
    import jinja2  # a repr needs no template, and should not wait for jinja2

    from prodex.languages import Translation

    translation = Translation(language)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package, folder),
        # Everything is escaped unless the template says otherwise, and an attribute that does not exist is an error.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.install_gettext_callables(*_markup_of(translation), newstyle=False)  # type: ignore[attr-defined]
    # `closed` ends the marks of direction that a text leaves open: <bdi> alone does not contain them.
    environment.filters |= {
        "say": translation.say,
        "n": translation.number,
        "percent": translation.percent,
        "day": translation.day,
        "moment": translation.moment,
        "data_url": data_url,
        "words": words,
        "closed": lambda text: text + ends(text),
        "language": lambda code: "" if code is None else translation.language_label(code),
    }
    return environment.get_template(name)


def _markup_of(translation: Translation) -> tuple[Callable[..., str], Callable[..., str]]:
    """Return what a template calls for a message, and for one of a number of things: their values are escaped."""
    from markupsafe import Markup, escape

    from prodex.languages import Message

    def escaped(values: dict[str, Any]) -> dict[str, Any]:
        return {
            place: value if isinstance(value, Real) else escape(translation.say(value))
            for place, value in values.items()
        }

    def gettext(message: str, **values: Any) -> str:
        if not values:
            return Markup(translation.gettext(message))  # noqa: S704 - our own words
        return Markup(translation.say(Message(message, **escaped(values))))  # noqa: S704 - the same

    def ngettext(one: str, many: str, number: int, **values: Any) -> str:
        return Markup(translation.say(Message.of_number(one, many, number, **escaped(values))))  # noqa: S704 - the same

    return gettext, ngettext


def typed(text: object, missing: str = "none") -> str:
    """Return text as HTML that shows it unchanged; of a long text the beginning, and how much of the whole that is.

    >>> typed("<b>"), typed(None), typed("x" * 500)[-46:]
    ('<bdi dir="auto">&lt;b&gt;</bdi>', 'none', 'x</bdi> <small>(160 of 500 characters)</small>')
    """
    if text is None:
        return missing
    whole = str(text)
    shown = label(whole)
    if shown.is_cut and len(whole) > _WHOLE:
        cut = f" <small>({len(shown.text):,} of {shown.length:,} characters)</small>"
        return f'<bdi dir="auto">{escape(shown.text)}</bdi>{shown.ends}{cut}'
    # Whole, but with control characters spelled out: they could turn the words around the text.
    return f'<bdi dir="auto">{escape(on_one_line(whole))}</bdi>'


def _table_row(values: Sequence[object], classes: Sequence[str]) -> str:
    name, *others = (
        f"{one:,}" if isinstance(one, Integral) else _cell_html(one) if _is_markup(one) else typed(one)
        for one in values
    )
    first, *kinds = classes
    cells = "".join(f"<td{kind}>{value}</td>" for value, kind in zip(others, kinds, strict=True))
    return f'<tr><th scope="row"{first}>{name}</th>{cells}</tr>'


def _is_markup(text: object) -> bool:
    # The protocol that jinja2 and MarkupSafe have for it.
    return hasattr(text, "__html__")


def _cell_html(text: object) -> str:
    return str(text) if _is_markup(text) else escape(str(text))


def _paragraph(kind: str, text: str) -> str:
    shown = escape(on_one_line(text))
    return f'<p class="{kind}"><bdi>{shown}</bdi></p>' if kind else f"<p><bdi>{shown}</bdi></p>"
