"""Rules of picture files: name, format, dates of use, and the same file twice."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.quality.picture_columns import PictureColumns
from prodex.quality.products import Products
from prodex.quality.rulebook import rule
from prodex.quality.verdict import Verdict
from prodex.tables.columns import is_true

_GS1 = "GS1 Product Image Specification 4.4"
_ENDS = "assets.pictures.fileEffectiveEndDateTime"


@rule(
    title="picture files are named by the GS1 pattern",
    problem="Picture file not named by the GS1 pattern",
    fix="Name the file GTIN_type face angle state, as in 03036811359935_C1N1.jpg.",
    severity="info",
    dimension="validity",
    block="pictures",
    needs="assets.pictures.gdsnFileName",
    source=_GS1,
)
def picture_file_named_as_gs1(products: Products) -> Verdict:
    """The name states the product and the view, wherever the file is copied."""
    pictures = PictureColumns.of(products)
    named = is_true(pc.greater(pc.utf8_length(pictures["gdsn_file_name"]), 0))
    other = pictures.in_order(named & ~pictures.follows_gs1)
    return Verdict(
        products.any(pictures.product[other]),
        applies=products.any(pictures.product[named]),
        evidence=pictures.evidence(
            other, "assets.pictures.gdsnFileName", "gdsn_file_name", "not GTIN_type face angle state"
        ),
    )


@rule(
    title="the GTIN in the file name of a picture is the product's",
    problem="Picture file with another GTIN",
    fix="Find out which product it shows: rename the file, or move it to that product.",
    severity="error",
    dimension="consistency",
    block="pictures",
    needs=("gtin", "assets.pictures.gdsnFileName"),
    source=_GS1,
)
def picture_of_this_gtin(products: Products) -> Verdict:
    """It is probably the picture of another product, which customers will then expect."""
    pictures = PictureColumns.of(products)
    own = products.column("gtin").take(pa.array(pictures.product))
    # Names of other patterns may hold any digits, also those of an article number.
    comparable = pictures.follows_gs1 & is_true(own.is_valid())
    # A GTIN of 8, 12 or 13 digits is written with leading zeros in file names.
    full = pc.utf8_lpad(own, 14, "0")
    wrong = pictures.in_order(comparable & is_true(pc.not_equal(full, pictures.gtin_in_name)))
    return Verdict(
        products.any(pictures.product[wrong]),
        applies=products.any(pictures.product[comparable]),
        evidence=pictures.evidence(
            wrong, "assets.pictures.gdsnFileName", "gdsn_file_name", "the file name has another GTIN"
        ),
    )


@rule(
    title="pictures are in a format that browsers display",
    problem="Picture in a format that browsers do not display",
    fix="Send the picture as one of: {formats}.",
    severity="warning",
    dimension="validity",
    block="pictures",
    needs="assets.pictures.format",
    source=_GS1,
)
def picture_format_for_web(
    products: Products, *, formats: tuple[str, ...] = ("jpeg", "jpg", "png")
) -> Verdict:
    """A TIFF is fine for print but shows as a broken picture in an online shop."""
    pictures = PictureColumns.of(products)
    formats_given = pc.utf8_lower(pc.utf8_ltrim(pc.utf8_trim_whitespace(pictures["format"]), "."))
    formats_given = pc.replace_substring_regex(formats_given, "^image/", "")
    filled = is_true(pc.greater(pc.utf8_length(formats_given), 0))
    shown = is_true(pc.is_in(formats_given, pa.array([each.lower() for each in formats], pa.string())))
    other = pictures.in_order(filled & ~shown)
    return Verdict(
        products.any(pictures.product[other]),
        applies=products.any(pictures.product[filled]),
        evidence=pictures.evidence(
            other, "assets.pictures.format", "format", f"none of {', '.join(formats)}"
        ),
    )


@rule(
    title="no picture is past its period of use",
    problem="Picture past its period of use",
    fix="Remove the picture, or extend the right to use it.",
    severity="error",
    dimension="timeliness",
    block="pictures",
    needs=_ENDS,
    source=_GS1,
)
def picture_not_expired(products: Products) -> Verdict:
    """The right to use the picture has expired: whoever shows it can be charged."""
    pictures = PictureColumns.of(products)
    now = pa.scalar(products.now, pictures["effective_end"].type)
    over = pictures.in_order(is_true(pc.less(pictures["effective_end"], now)))
    return Verdict(
        products.any(pictures.product[over]),
        applies=pictures.pictured,
        evidence=pictures.evidence(over, _ENDS, "effective_end", "its end date has passed"),
    )


@rule(
    title="the period of use of a picture begins before it ends",
    problem="Period of use of a picture ends before it begins",
    fix="Correct the first and the last date of use of the picture.",
    severity="error",
    dimension="consistency",
    block="pictures",
    needs=("assets.pictures.fileEffectiveStartDateTime", _ENDS),
    source=_GS1,
)
def picture_dates_in_order(products: Products) -> Verdict:
    """A picture whose period of use ends before it begins is never shown."""
    pictures = PictureColumns.of(products)
    begins, ends = pictures["effective_start"], pictures["effective_end"]
    both = is_true(pc.and_(begins.is_valid(), ends.is_valid()))
    wrong = pictures.in_order(both & is_true(pc.less(ends, begins)))
    seen = (pictures.seen(column, wrong).to_pylist() for column in ("effective_start", "effective_end"))
    reasons = [f"begins {begin}, ends {end}" for begin, end in zip(*seen, strict=True)]
    return Verdict(
        products.any(pictures.product[wrong]),
        applies=products.any(pictures.product[both]),
        evidence=pictures.evidence(wrong, _ENDS, "effective_end", reasons),
    )


@rule(
    title="no product has the same picture file twice",
    problem="Same picture file twice",
    fix="Remove the second one, or send the picture that was intended.",
    severity="warning",
    dimension="uniqueness",
    block="pictures",
    needs="assets.pictures.crc32",
    source=_GS1,
)
def pictures_differ(products: Products) -> Verdict:
    """The same checksum means the same file: the view it should show is missing."""
    pictures = PictureColumns.of(products)
    sums = pictures["crc32"].dictionary_encode()
    known = np.flatnonzero(is_true(pictures["crc32"].is_valid()))
    codes = sums.indices.take(pa.array(known)).to_numpy().astype(np.int64)
    _, place, counts = np.unique(
        pictures.product[known] * max(len(sums.dictionary), 1) + codes,
        return_inverse=True,
        return_counts=True,
    )
    chosen = np.zeros(len(pictures.product), bool)
    chosen[known[counts[place] > 1]] = True
    twice = pictures.in_order(chosen)
    return Verdict(
        products.any(pictures.product[twice]),
        applies=products.any(pictures.product[known]),
        evidence=pictures.evidence(
            twice, "assets.pictures.crc32", "crc32", "the same file (crc32) as another picture of the product"
        ),
    )
