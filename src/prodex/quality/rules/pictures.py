"""Rules of pictures: present, with a front packshot, and large enough."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.picture_columns import FACES, FRONT, LANGUAGE_NEEDS, PictureColumns, in_one_language
from prodex.quality.products import Products
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Evidence, Verdict
from prodex.tables.columns import is_true

_GS1 = "GS1 Product Image Specification 4.4"
#: Whose minimum a number of pixels is.
PRESETS = {
    500: "Google Merchant Center from 2027",
    800: "marketplaces that offer zoom",
    1200: "many receivers",
    2500: "GS1 New Zealand",
}


@rule(
    title="the product has a picture",
    problem="No picture",
    fix="Add pictures, first one of the front on a white background.",
    severity="error",
    dimension="completeness",
    block="pictures",
    needs="assets.pictures.url",
    scope={"is_consumer_unit": True},
    source=_GS1,
)
def has_picture(products: Products) -> Verdict:
    """Nobody buys online what they cannot see."""
    return Verdict(~PictureColumns.of(products).pictured)


@rule(
    title="the product has a front packshot",
    problem="No front packshot",
    fix="Add a picture of the front on a white background, marked as packshot with productFace 1.",
    severity="blocker",
    dimension="completeness",
    block="pictures",
    needs=("assets.pictures.isPackshot", "assets.pictures.productFace"),
    scope={"is_consumer_unit": True},
    source=_GS1,
)
def has_front_packshot(products: Products) -> Verdict:
    """Nobody buys online what they cannot see; receivers refuse products without it."""
    pictures = PictureColumns.of(products)
    fails = ~products.any(pictures.product[pictures.is_front_packshot])
    # What is almost a front packshot is shown: mostly only a mark is missing.
    nearly = pictures.is_packshot | is_true(pc.equal(pictures["product_face"], FRONT))
    nearly |= is_true(pc.equal(pictures.face_in_name, FRONT))
    near = pictures.in_order(nearly & fails[pictures.product])
    marked = np.where(pictures.is_packshot[near], "marked", "not marked")
    faces = pictures.seen("product_face", near).fill_null("not given").to_pylist()
    reasons = [f"{mark} as packshot, productFace {face}" for mark, face in zip(marked, faces, strict=True)]
    return Verdict(
        fails,
        evidence=pictures.evidence(near, "assets.pictures", "gdsn_file_name", reasons),
    )


@rule(
    title="only one picture is the front packshot",
    problem="Several front packshots",
    fix="Keep isPackshot with productFace 1 on one picture per language.",
    severity="warning",
    dimension="uniqueness",
    block="pictures",
    needs=("assets.pictures.isPackshot", "assets.pictures.productFace", *LANGUAGE_NEEDS),
    source=_GS1,
)
def one_front_packshot(products: Products) -> Verdict:
    """If several pictures claim to be the front packshot, each shop shows another.

    Packs that are printed for several languages have a front in each; a front that says no language is meant for
    all.
    """
    pictures = PictureColumns.of(products)
    fronts = pictures.is_front_packshot
    # Only products with several fronts are looked at further: reading languages is expensive.
    counted = products.count(pictures.product[fronts])
    several = in_one_language(pictures, pictures.in_order(fronts & (counted > 1)[pictures.product]))
    whose = pictures.product[several]
    reasons = [f"one of {count} packshots of the front" for count in counted[whose]]
    return Verdict(
        products.any(whose),
        applies=counted > 0,
        evidence=pictures.evidence(several, "assets.pictures.isPackshot", "gdsn_file_name", reasons),
    )


@rule(
    title="the face stated for a picture agrees with its file name",
    problem="Stated face of a picture differs from its file name",
    fix="Correct productFace, or rename the file to match the view.",
    severity="warning",
    dimension="consistency",
    block="pictures",
    needs=("assets.pictures.isPackshot", "assets.pictures.productFace", "assets.pictures.gdsnFileName"),
    source=_GS1,
)
def face_agrees_with_file_name(products: Products) -> Verdict:
    """Receivers rely on one or the other: where they differ, some of them show the back as the front."""
    pictures = PictureColumns.of(products)
    face, named = pictures["product_face"], pictures.face_in_name
    # Where one of the two is missing there is nothing to compare.
    comparable = is_true(pc.and_(face.is_valid(), named.is_valid()))
    wrong = pictures.in_order(comparable & is_true(pc.not_equal(face, named)))
    reasons = [
        f"productFace {stated}{_shown(stated)}, and face {other}{_shown(other)} in the file name"
        for stated, other in zip(
            face.take(pa.array(wrong)).to_pylist(), named.take(pa.array(wrong)).to_pylist(), strict=True
        )
    ]
    return Verdict(
        products.any(pictures.product[wrong]),
        applies=products.any(pictures.product[comparable]),
        evidence=pictures.evidence(wrong, "assets.pictures.gdsnFileName", "gdsn_file_name", reasons),
    )


def _shown(face: str) -> str:
    return f" ({FACES[face]})" if face in FACES else ""


@rule(
    title="the front packshot has at least {pixels} pixels on its longest side",
    problem="Front packshot under {pixels} pixels",
    fix="Send the original in its full size: at least {pixels} pixels on the longest side.",
    severity="warning",
    dimension="validity",
    block="pictures",
    needs=(
        "assets.pictures.isPackshot",
        "assets.pictures.productFace",
        "assets.pictures.width",
        "assets.pictures.height",
    ),
    source="published minimums of receivers: 500, 800, 1200 and 2500 pixels",
)
def packshot_large_enough(products: Products, *, pixels: int = 500) -> Verdict:
    """A picture below the minimum of a receiver is rejected, or shown so small that nobody can read the pack."""
    pictures = PictureColumns.of(products)
    known = pictures.is_front_packshot & ~np.isnan(pictures.longest_side)
    large = pictures.longest_side >= pixels
    fails = products.any(pictures.product[known]) & ~products.any(pictures.product[known & large])
    small = pictures.in_order(known & fails[pictures.product])
    preset = f"preset: {PRESETS[pixels]}" if pixels in PRESETS else "as the profile says"
    sizes = zip(
        pictures.seen("width", small).to_pylist(), pictures.seen("height", small).to_pylist(), strict=True
    )
    return Verdict(
        fails,
        applies=products.any(pictures.product[known]),
        evidence=Evidence(
            pictures.product[small],
            "assets.pictures.width",
            value=[f"{width} x {height}" for width, height in sizes],
            reason=pictures.numbered(small, f"longest side under {pixels} pixels ({preset})"),
        ),
    )


@rule(
    title="the size of the front packshot is given",
    problem="Size of the front packshot missing",
    fix="Send width and height of the original in pixels.",
    severity="info",
    dimension="completeness",
    block="pictures",
    needs=(
        "assets.pictures.isPackshot",
        "assets.pictures.productFace",
        "assets.pictures.width",
        "assets.pictures.height",
    ),
    source=_GS1,
)
def packshot_size_known(products: Products) -> Verdict:
    """Without width and height, whether the picture is large enough is only known after a download."""
    pictures = PictureColumns.of(products)
    fronts = pictures.is_front_packshot
    unknown = pictures.in_order(fronts & np.isnan(pictures.longest_side))
    return Verdict(
        products.any(pictures.product[unknown]),
        applies=products.any(pictures.product[fronts]),
        evidence=pictures.evidence(
            unknown, "assets.pictures.width", "definition", "width and height are not both given"
        ),
    )


@rule(
    title="the front packshot has a rendition of {side} pixels",
    problem="Front packshot has no rendition of {side} pixels",
    fix="Have the renditions made again; if the original is smaller, send a larger one.",
    severity="warning",
    dimension="completeness",
    block="pictures",
    needs=(
        "assets.pictures.isPackshot",
        "assets.pictures.productFace",
        "assets.pictures.exportables.width",
        "assets.pictures.exportables.height",
    ),
    source="renditions of the service: 1024, 512, 256, 128 and 64 pixels",
)
def packshot_has_rendition(products: Products, *, side: int = 1024) -> Verdict:
    """Shops use the ready-made renditions; without a large one they enlarge a small one."""
    pictures = PictureColumns.of(products)
    renditions = products.arrow("exportables", "position", "width", "height")
    long = is_true(pc.greater_equal(pc.max_element_wise(renditions["width"], renditions["height"]), side))
    large = renditions.filter(pa.array(long))
    # A rendition's position is its picture's with one more index: "0.3" is the fourth rendition of picture "0".
    of_picture = pc.replace_substring_regex(large["position"], "[.][0-9]+$", "")
    served = _keys(large["product"], of_picture)
    fronts = pictures.in_order(pictures.is_front_packshot)
    wanted = _keys(pa.array(pictures.product[fronts]), pictures.seen("position", fronts))
    without = fronts[~is_true(pc.is_in(wanted, served))]
    return Verdict(
        products.any(pictures.product[without]),
        applies=products.any(pictures.product[fronts]),
        evidence=pictures.evidence(
            without, "assets.pictures.exportables", "gdsn_file_name", f"no rendition of {side} pixels or more"
        ),
    )


def _keys(products: pa.Array | pa.ChunkedArray, positions: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one text for each picture of a part."""
    joined = pc.binary_join_element_wise(pc.cast(products, pa.string()), positions, " ")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


@rule(
    title="a picture was changed within {days} days",
    problem="No picture changed for {days} days",
    fix="Compare the pictures with the current pack, and send new ones if it changed.",
    severity="warning",
    dimension="timeliness",
    block="pictures",
    needs=("assets.lastUpdatedAt.pictures", "assets.pictures.url"),
    source=_GS1,
)
def pictures_fresh(products: Products, *, days: int = 1095) -> Verdict:
    """Packs are redesigned every few years; the old design in a shop makes customers doubt the product.

    The date remains when the last picture is removed: a product without pictures has no outdated ones.
    """
    touched = products["pictures_updated_at"]
    pictured = PictureColumns.of(products).pictured
    old = (touched < products.now - timedelta(days=days)).to_numpy() & pictured
    stale = np.flatnonzero(old)
    seen = touched.iloc[stale].dt.strftime("%Y-%m-%dT%H:%M:%S")
    return Verdict(
        old,
        applies=touched.notna().to_numpy() & pictured,
        evidence=Evidence(
            stale, "assets.lastUpdatedAt.pictures", None, seen, f"no picture touched for {days} days"
        ),
    )
