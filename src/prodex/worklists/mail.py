"""The mail that a worklist is sent with, as a draft that mail programs open."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from prodex.untrusted_text import on_one_line
from prodex.worklists.answer_fields import AnswerCell
from prodex.worklists.layout import SEVERAL_SHEET, TO_FIX_SHEET
from prodex.worklists.sheets import Worklist, summary_sentences

#: Characters of a name in a subject.
_LONGEST = 80
#: Characters that a line of a header may have.
_UNFOLDED = 998
_WORKBOOK = "vnd.openxmlformats-officedocument.spreadsheetml.sheet"
#: No line of base64 or quoted-printable text begins like it.
_BOUNDARY = "=_prodex_worklist"


def mail_of(worklist: Worklist, workbook: Path, states: Sequence[AnswerCell]) -> bytes:
    """Return a mail as a draft with the workbook, without a recipient: whoever sends it adds one.

    Parameters
    ----------
    worklist
        The worklist.
    workbook
        Its workbook, which is attached.
    states
        The states of its cells "New value", one for each finding.
    """
    words = worklist.words
    _ = words.gettext
    title = on_one_line(worklist.called)
    short = title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
    asked = sum(one is AnswerCell.ASKED for one in states)
    lines = [
        _("Hello,"),
        "",
        _("some data of your products need a correction ({owner}).", owner=title),
        "",
        *(on_one_line(line) for line in summary_sentences(worklist, states)),
        "",
        *_what_to_do(worklist, on_one_line(workbook.name), asked),
        "",
        _("Thank you."),
        "",
    ]
    mail = EmailMessage(policy=SMTP)
    # With this header, mail programs open the file as a draft, and not as a mail that was received.
    mail["X-Unsent"] = "1"
    subject = words.ngettext(
        "Product data to correct: {owner}, {number} answer asked for",
        "Product data to correct: {owner}, {number} answers asked for",
        asked,
        owner=short,
    )
    if not asked:
        subject = _("Product data to correct: {owner}", owner=short)
    mail["Subject"] = subject
    mail.set_content("\n".join(lines), charset="utf-8", cte="quoted-printable")
    mail.add_attachment(workbook.read_bytes(), "application", _WORKBOOK, filename=workbook.name)
    mail.set_boundary(_BOUNDARY)  # a drawn one would make each file another one
    # Folded, a subject without other letters than those of ASCII would begin with a line break.
    return mail.as_bytes(policy=SMTP.clone(max_line_length=_UNFOLDED) if subject.isascii() else None)


def _what_to_do(worklist: Worklist, workbook: str, asked: int) -> list[str]:
    """Return what its reader has to do: a workbook that asks for nothing, or for nothing alike, has no place for it."""
    _ = worklist.words.gettext
    sheet = _(TO_FIX_SHEET)
    if not asked:
        return [
            _(
                'The workbook {file} is attached. Each row of its sheet "{sheet}" is one product and what is wrong '
                'with it. None asks for a new value: the column "How to answer" says why.',
                file=workbook,
                sheet=sheet,
            )
        ]
    several = _(
        'where many rows ask for the same, write it once, in the sheet "{sheet}";', sheet=_(SEVERAL_SHEET)
    )
    steps = [
        _('open the sheet "{sheet}": each row is one product and what is wrong with it;', sheet=sheet),
        _('write the correct value into the column "New value", as the column beside it says;'),
        *[several] * worklist.has_several,
        _("leave empty what you do not know, and send the workbook back."),
    ]
    return [
        _("The workbook {file} is attached. Please", file=workbook),
        *(f"{number}. {step}" for number, step in enumerate(steps, 1)),
    ]
