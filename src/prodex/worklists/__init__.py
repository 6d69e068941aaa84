"""Worklists: a workbook for everybody who has to fix something, with room for the new values."""

from prodex.worklists.folder import write_worklists

__all__ = ["write_worklists"]
