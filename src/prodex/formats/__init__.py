"""Exports: one module for each format, written batch by batch so that nothing has to fit in memory, and read back."""

from prodex.formats.csv_files import read_csv, write_csv
from prodex.formats.exporting import export
from prodex.formats.package import PACKAGE, Package, Resource, read_package
from prodex.formats.registry import FORMATS, write_parquet
from prodex.formats.workbook_reading import read_xlsx
from prodex.formats.workbooks import LONGEST, MOST_ROWS, beginning, workbook, write_xlsx

__all__ = [
    "FORMATS",
    "LONGEST",
    "MOST_ROWS",
    "PACKAGE",
    "Package",
    "Resource",
    "beginning",
    "export",
    "read_csv",
    "read_package",
    "read_xlsx",
    "workbook",
    "write_csv",
    "write_parquet",
    "write_xlsx",
]
