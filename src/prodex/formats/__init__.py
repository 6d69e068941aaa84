"""Files of every kind: exports, a module for each format; workbooks and CSV that people have saved; XML."""

from prodex.formats.exporting import ExportedFiles
from prodex.formats.formulas import unescape_formulas

__all__ = ["ExportedFiles", "unescape_formulas"]
