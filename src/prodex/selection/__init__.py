"""Which products are meant, as one value: plain data, written, read, put into words, and asked of columns.

`prodex.exploration.filtering` finds the products of a catalogue that a selection means, and `prodex.selection.request`
what of it a service can be asked.
"""

from prodex.selection.selection import Begins, Code, FailingChecks, ProductList, Range, Selection

__all__ = ["Begins", "Code", "FailingChecks", "ProductList", "Range", "Selection"]
