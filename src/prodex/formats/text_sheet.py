"""A sheet of a workbook in which every text is text: no formula, no markup, no code of a character.

XlsxWriter takes a text from `<r>` to `</r>` for its own markup and writes it without escaping it, formulas included;
and of `_x0041_x0042_` it escapes only the first code. Both are corrected here, where it writes a text. The module is
imported only when a workbook is written, because importing XlsxWriter takes time.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from prodex.formats.spreadsheet import without_codes

if TYPE_CHECKING:

    class Worksheet:
        """XlsxWriter ships no types; without this, its sheets and ours would be unknown to type checkers."""

        def _xml_number_element(self, number: Any, attributes: Any) -> None: ...

        def __getattr__(self, name: str) -> Any: ...

else:
    from xlsxwriter.worksheet import Worksheet

#: Characters that XML cannot hold, or would change; workbooks write them as `_x0000_`.
_CODED = re.compile("[\x00-\x08\x0b-\x1f]")


class TextSheet(Worksheet):
    """A sheet for `Workbook.add_worksheet(worksheet_class=...)`, written row by row (`constant_memory`)."""

    @staticmethod
    def _escape_control_characters(data: object) -> object:
        if not isinstance(data, str):  # a number, on its way to become text
            return data
        return _CODED.sub(lambda found: f"_x{ord(found[0]):04X}_", without_codes(data))

    # XlsxWriter writes numbers with 16 digits, and some doubles need 17 to be read back exactly.
    def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
        if not isinstance(number, float):
            super()._xml_number_element(number, attributes)
            return
        described = "".join(f' {name}="{self._escape_attributes(value)}"' for name, value in attributes)
        self.fh.write(f"<c{described}><v>{float(number)!r}</v></c>")

    # Never markup: a text that looks like it is escaped like any other.
    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, True, attributes)
