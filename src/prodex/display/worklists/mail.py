"""The mail that goes with a worklist: a draft that mail programs open, to which the workbook is attached."""

from __future__ import annotations

from collections.abc import Sequence
from email.message import EmailMessage
from email.policy import SMTP
from pathlib import Path

from prodex.display.worklists.fields import AnswerCell
from prodex.display.worklists.sheets import Worklist, standing
from prodex.fix.layout import SEVERAL_SHEET
from prodex.messages import counted
from prodex.untrusted_text import on_one_line

#: Characters of a name in a subject.
_LONGEST = 80
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
    title = on_one_line(worklist.called)
    short = title if len(title) <= _LONGEST else f"{title[:_LONGEST]}…"
    asked = sum(one is AnswerCell.ASKED for one in states)
    lines = [
        "Hello,",
        "",
        f"some data of your products need a correction ({title}).",
        "",
        *(on_one_line(line) for line in standing(worklist, states)),
        "",
        f"The workbook {on_one_line(workbook.name)} is attached. Please",
        '1. open the sheet "To fix": each row is one product and what is wrong with it;',
        '2. write the correct value into the column "New value", as the column beside it says;',
        f'3. where many rows ask for the same, write it once, in the sheet "{SEVERAL_SHEET}";',
        "4. leave empty what you do not know, and send the workbook back.",
        "",
        "Thank you.",
        "",
    ]
    mail = EmailMessage(policy=SMTP)
    # Mail programs open such a file as a new mail, and not as one that came.
    mail["X-Unsent"] = "1"
    mail["Subject"] = f"Product data to correct: {short}, {counted(asked, 'answer')} asked for"
    mail.set_content("\n".join(lines), charset="utf-8", cte="quoted-printable")
    mail.add_attachment(workbook.read_bytes(), "application", _WORKBOOK, filename=workbook.name)
    mail.set_boundary(_BOUNDARY)  # a drawn one would make each file another one
    return mail.as_bytes()
