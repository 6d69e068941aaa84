"""Rules of pictures."""

from __future__ import annotations

import re

from prodex.quality.products import Products
from prodex.quality.rulebook import Evidence, Verdict, rule

#: GTIN, type, face, angle and state of a file name (GS1 Product Image Specification): its face is group 1.
_NAMED = re.compile(r"^[0-9]{14}_[A-E]([0-9])[CLRN]", re.IGNORECASE)
_FRONT = "1"


@rule(
    title="there is a packshot of the front",
    fix="Add a picture of the front on a white background, marked as packshot with productFace 1.",
    severity="blocker",
    dimension="completeness",
    block="pictures",
    needs=("assets.pictures.isPackshot", "assets.pictures.productFace"),
    scope={"is_consumer_unit": True},
    source="GS1 Product Image Specification 4.4",
)
def has_front_packshot(products: Products) -> Verdict:
    """Nobody buys online what they cannot see; receivers refuse products without it."""
    pictures = products.rows("pictures", "is_packshot", "product_face", "gdsn_file_name")
    packshot = pictures["is_packshot"].fillna(False).astype(bool)
    front = pictures["product_face"] == _FRONT
    fails = ~products.any(pictures["product"][packshot & front])
    named_front = pictures["gdsn_file_name"].str.extract(_NAMED, expand=False) == _FRONT
    near = pictures[(packshot | front | named_front) & fails[pictures["product"]]]
    marked = packshot[near.index].map({True: "marked", False: "not marked"})
    face = near["product_face"].fillna("not told")
    return Verdict(
        fails,
        evidence=Evidence(
            near["product"],
            "assets.pictures",
            value=near["gdsn_file_name"],
            reason=marked + " as packshot, productFace " + face,
        ),
    )
