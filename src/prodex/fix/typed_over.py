"""Values that were typed over: somebody wrote into "Value seen", and left "New value" empty.

That is no answer, and must not be lost. A mark knows what a cell showed; without one, what a cell shows is compared
with the product, and only a difference that nothing else explains is taken for somebody's words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog
from prodex.fix.decisions import assigned, decided
from prodex.fix.evidence import alike, same_moment, visible
from prodex.fix.fresh import products_of
from prodex.fix.reading import Answer
from prodex.fix.row_marks import RowMark
from prodex.fix.shapes import AnswerShape, Shapes
from prodex.locales import short_of
from prodex.send.corrections import KnownProducts

#: Attribute, language and text.
_Texts = list[tuple[str, str | None, str]]


def typed_over(doubtful: Sequence[Answer], catalog: Catalog, known: KnownProducts) -> list[Answer]:
    """Return the cells "Value seen" that were typed over, of those whose rows have no answer.

    Parameters
    ----------
    doubtful
        Cells that are not what their mark says, or that have no mark.
    catalog
        The products.
    known
        Facts of them.
    """
    if not doubtful:
        return []
    rows = catalog.arrow("products", ["product_id", "gtin", "updated_at"]).to_pylist()
    gtins = {row["product_id"]: row["gtin"] for row in rows}
    changed = {row["product_id"]: row["updated_at"] for row in rows}
    shapes = Shapes.of(catalog)
    owned = [(assigned(one, known, gtins).product, one) for one in doubtful]
    texts = _texts(catalog, {product for product, _ in owned if product is not None})
    found, unsure = [], []
    for product, one in owned:
        if product is None:
            continue
        is_text = shapes.of_attribute(one.keys.get("attribute")) is AnswerShape.TEXT
        if RowMark.read(one.keys.get("row_mark")) is not None:
            if not (is_text and _is_there(one, texts[product])):
                found.append(one)
        elif _is_of_now(one, changed[product]) and not _is_shown(one.text, texts[product]):
            # What a rule shows may be computed, and nobody knows of what.
            if is_text:
                found.append(one)
            elif one.keys.get("check") is None:
                unsure.append((product, one))
    if unsure:
        products = products_of(catalog, [product for product, _ in unsure], known)
        made = decided([one for _, one in unsure], products, catalog)
        found += [one.answer for one in made if one.holds is False]
    return found


def _texts(catalog: Catalog, products: set[str]) -> defaultdict[str, _Texts]:
    concerned = pc.field("product_id").isin(pa.array(sorted(products), pa.string()))
    found: defaultdict[str, _Texts] = defaultdict(list)
    for row in catalog.arrow("texts", ["product_id", "attribute", "language", "text"], concerned).to_pylist():
        found[row["product_id"]].append((row["attribute"], row["language"], row["text"] or ""))
    return found


def _is_there(answer: Answer, texts: _Texts) -> bool:
    """Whether the place has the text of a cell, which an encoding may have changed."""
    attribute, language = answer.keys.get("attribute"), answer.keys.get("language")
    return any(
        alike(text, answer.text)
        for name, of_text, text in texts
        if name == attribute and (language is None or of_text == short_of(language))
    )


def _is_of_now(answer: Answer, changed: object) -> bool:
    """Whether a cell shows the product as it is, so that a difference was typed."""
    then = answer.keys.get("updated_at")
    if then is None:
        # Of a worklist it is not known how old it is; a table of one's own is new.
        return answer.keys.get("check") is None
    return changed is not None and same_moment(then, str(changed)) is True


def _is_shown(seen: str, texts: _Texts) -> bool:
    """Whether a product has a text, or a rule may have shown a word of one."""
    return any(alike(text, seen) or visible(seen) in visible(text) for *_, text in texts)
