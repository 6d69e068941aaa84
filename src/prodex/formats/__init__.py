"""Exports: one module for each format, written batch by batch so that nothing has to fit in memory, and read back."""

from prodex.formats.exporting import ExportedFiles
from prodex.formats.formulas import unescape_formulas

__all__ = ["ExportedFiles", "unescape_formulas"]
