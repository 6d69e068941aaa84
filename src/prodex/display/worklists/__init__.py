"""Worklists: for whoever has to mend something, one workbook with what it is and room for the new value."""

from prodex.display.worklists.folder import write_worklists

__all__ = ["write_worklists"]
