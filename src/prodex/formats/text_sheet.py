"""A sheet of a workbook in which every text is text: no formula, no markup, no code of a character.

XlsxWriter takes a text from `<r>` to `</r>` for markup of its own and writes it as it is, formulas included; and of
`_x0041_x0042_` it guards only the first code. Both are set right where it spells a text.
"""

from __future__ import annotations

import re
from typing import Any

from xlsxwriter.worksheet import Worksheet

from prodex.formats.spreadsheet import without_codes

#: What XML cannot hold, or would not give back; workbooks spell it as a code.
_CODED = re.compile("[\x00-\x08\x0b-\x1f]")


class TextSheet(Worksheet):  # type: ignore[misc]  # XlsxWriter publishes no types
    """A sheet for `Workbook.add_worksheet(worksheet_class=...)`, written row by row (`constant_memory`)."""

    @staticmethod
    def _escape_control_characters(data: object) -> object:
        if not isinstance(data, str):  # a number, on its way to become text
            return data
        return _CODED.sub(lambda found: f"_x{ord(found[0]):04X}_", without_codes(data))

    def _xml_number_element(self, number: Any, attributes: Any = ()) -> None:
        if not isinstance(number, float):
            super()._xml_number_element(number, attributes)
            return
        described = "".join(f' {name}="{self._escape_attributes(value)}"' for name, value in attributes)
        self.fh.write(f"<c{described}><v>{float(number)!r}</v></c>")

    def _xml_rich_inline_string(self, string: str, attributes: Any = ()) -> None:
        self._xml_inline_string(string, True, attributes)
