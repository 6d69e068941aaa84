"""Labels of codes in further languages: of chosen products, only those of codes that one of them has.

The labels are loaded once for all products, and stored beside the first part. A brand or a range is a code like any
other, so that the labels of all codes would say what the other products are.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from prodex.catalog.catalog import Catalog
from prodex.catalog.part import Part
from prodex.tables.codes import Code, declared_codes


def of_codes_in_use(labels: pa.Table, catalog: Catalog) -> pa.Table:
    """Return the rows of `code_labels` whose code a catalogue has; of one that was not filtered, all.

    Examples
    --------
    >>> import prodex
    >>> catalog = prodex.flatten([{"id": 7, "brand": {"code": "ACME"}}, {"id": 8, "brand": {"code": "ZEST"}}])
    >>> labels = pa.table({"attribute": ["brand", "brand"], "code": ["ACME", "ZEST"]})
    >>> of_codes_in_use(labels, catalog.head(1))["code"].to_pylist(), len(of_codes_in_use(labels, catalog))
    (['ACME'], 2)
    """
    if not len(labels) or all(part.chosen is None for part in catalog.parts):
        return labels
    used = {code for part in catalog.parts if part.size for code in _codes(part)}
    keys = zip(labels["attribute"].to_pylist(), labels["code"].to_pylist(), strict=True)
    return labels.filter(pa.array([key in used for key in keys], pa.bool_()))


def _codes(part: Part) -> Iterator[Code]:
    # An export may have left tables and columns out: what is not there has no codes to label.
    if part.holds("codes") and {"attribute", "code"} <= set(part.columns("codes")):
        rows = part.read("codes", ["attribute", "code"]).group_by(["attribute", "code"]).aggregate([])
        yield from zip(rows["attribute"].to_pylist(), rows["code"].to_pylist(), strict=True)
    for one in declared_codes():
        if part.holds(one.table) and one.code in part.columns(one.table):
            codes = part.read(one.table, [one.code])[one.code].unique()
            yield from ((one.attribute, code) for code in codes.to_pylist())
