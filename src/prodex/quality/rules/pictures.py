"""Rules of pictures: names, formats and dates of files, files sent twice; a front packshot, its size and its age."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from prodex.languages import Message, Said
from prodex.quality.picture_columns import (
    FACES,
    FRONT,
    LANGUAGE_NEEDS,
    PICTURES,
    PictureColumns,
    in_one_language,
)
from prodex.quality.products import Products
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.verdict import Verdict, product_verdict
from prodex.tables.columns import Rows, as_one_chunk, encoded, is_true, occurrences

_FILE = f"{PICTURES}.gdsnFileName"
_ENDS = f"{PICTURES}.fileEffectiveEndDateTime"
_PACKSHOT = (f"{PICTURES}.isPackshot", f"{PICTURES}.productFace")
_SIZE = (f"{PICTURES}.width", f"{PICTURES}.height")
#: Minimums in pixels, and who requires them: a finding says whose it is, since receivers ask for different ones.
PRESETS: Mapping[int, Said] = {
    500: Message("Google Merchant Center from 2027"),
    800: Message("marketplaces that offer zoom"),
    1200: Message("many receivers"),
    2500: "GS1 New Zealand",
}

#: Declares a rule of pictures.
_rule = partial(rule, block="pictures", source="GS1 Product Image Specification 4.4")


@_rule(
    title="picture files are named by the GS1 pattern",
    problem="Picture file not named by the GS1 pattern",
    fix="Name the file GTIN_type face angle state, as in 03036811359935_C1N1.jpg.",
    severity="info",
    dimension="validity",
    needs=_FILE,
)
def picture_file_named_as_gs1(products: Products) -> Verdict:
    """The name states the product and the view, wherever the file is copied."""
    pictures = PictureColumns.of(products)
    # A picture without a file name breaks no pattern, and no other rule asks for one.
    named = is_true(pc.greater(pc.utf8_length(pictures["gdsn_file_name"]), 0))
    wrong = named & ~pictures.follows_gs1
    return pictures.verdict(wrong, named, _FILE, "gdsn_file_name", Message("not GTIN_type face angle state"))


@_rule(
    title="the GTIN in the file name of a picture is the product's",
    problem="Picture file with another GTIN",
    fix="Find out which product it shows: rename the file, or move it to that product.",
    severity="error",
    dimension="consistency",
    needs=("gtin", _FILE),
)
def picture_of_this_gtin(products: Products) -> Verdict:
    """It is probably the picture of another product, which customers will then expect."""
    pictures = PictureColumns.of(products)
    own = products.column("gtin").take(pa.array(pictures.product))
    # Names of other patterns may hold any digits, also those of an article number.
    comparable = pictures.follows_gs1 & is_true(own.is_valid())
    # A GTIN of 8, 12 or 13 digits is written with leading zeros in file names.
    full = pc.utf8_lpad(own, 14, "0")
    wrong = comparable & is_true(pc.not_equal(full, pictures.gtin_in_name))
    return pictures.verdict(
        wrong,
        comparable,
        _FILE,
        "gdsn_file_name",
        Message("the file name has another GTIN"),
        lambda rows: own.take(pa.array(rows)).to_pylist(),
    )


@_rule(
    title="pictures are in a format that browsers display",
    problem="Picture in a format that browsers do not display",
    fix="Send the picture as one of: {formats}.",
    severity="warning",
    dimension="validity",
    needs=f"{PICTURES}.format",
)
def picture_format_for_web(
    products: Products, *, formats: tuple[str, ...] = ("jpeg", "jpg", "png")
) -> Verdict:
    """A TIFF is fine for print but shows as a broken picture in an online shop."""
    pictures = PictureColumns.of(products)
    # JPEG and PNG are what receivers take for the web. "image/jpeg", ".JPG" and "jpeg " are one format.
    formats_given = pc.utf8_lower(pc.utf8_ltrim(pc.utf8_trim_whitespace(pictures["format"]), "."))
    formats_given = pc.replace_substring_regex(formats_given, "^image/", "")
    filled = is_true(pc.greater(pc.utf8_length(formats_given), 0))
    shown = is_true(pc.is_in(formats_given, pa.array([each.lower() for each in formats], pa.string())))
    reason = Message("none of {formats}", formats=formats)
    return pictures.verdict(filled & ~shown, filled, f"{PICTURES}.format", "format", reason)


@_rule(
    title="no picture is past its period of use",
    problem="Picture past its period of use",
    fix="Remove the picture, or extend the right to use it.",
    severity="error",
    dimension="timeliness",
    # A picture of which nothing was requested but its address has no row without it, and would seem not to be there.
    needs=(_ENDS, f"{PICTURES}.url"),
    certain="fails",
)
def picture_not_expired(products: Products) -> Verdict:
    """The right to use the picture has expired: whoever shows it can be charged."""
    pictures = PictureColumns.of(products)
    # Every picture is judged: one without an end date may be used for ever.
    now = pa.scalar(products.now, pictures["effective_end"].type)
    over = is_true(pc.less(pictures["effective_end"], now))
    return pictures.verdict(over, slice(None), _ENDS, "effective_end", Message("its end date has passed"))


@_rule(
    title="the period of use of a picture begins before it ends",
    problem="Period of use of a picture ends before it begins",
    fix="Correct the first and the last date of use of the picture.",
    severity="error",
    dimension="consistency",
    needs=(f"{PICTURES}.fileEffectiveStartDateTime", _ENDS),
)
def picture_dates_in_order(products: Products) -> Verdict:
    """A picture whose period of use ends before it begins is never shown."""
    pictures = PictureColumns.of(products)
    begins, ends = pictures["effective_start"], pictures["effective_end"]
    both = is_true(pc.and_(begins.is_valid(), ends.is_valid()))
    return pictures.verdict(
        is_true(pc.less(ends, begins)),
        both,
        _ENDS,
        "effective_end",
        lambda rows: Message(
            "begins {moment}, ends {then_moment}",
            moment=pictures.seen("effective_start", rows),
            then_moment=pictures.seen("effective_end", rows),
        ),
        ("effective_start", "effective_end"),
    )


@_rule(
    title="no product has the same picture file twice",
    problem="Same picture file twice",
    fix="Remove the second one, or send the picture that was intended.",
    severity="warning",
    dimension="uniqueness",
    needs=f"{PICTURES}.crc32",
)
def pictures_differ(products: Products) -> Verdict:
    """The same checksum means the same file: the view it should show is missing."""
    pictures = PictureColumns.of(products)
    # By checksum and not by address: one file may be served under several addresses.
    sums, code = encoded(pictures["crc32"])
    known = code >= 0
    # One number for product and checksum: equal numbers are the same file.
    file = pictures.product * (len(sums) + 1) + code
    twice = known & (occurrences(file) > 1)
    reason = Message("the same file (crc32) as another picture of the product")
    return pictures.verdict(
        twice,
        known,
        f"{PICTURES}.crc32",
        "crc32",
        reason,
        lambda rows: pictures.names_alike(file, twice, rows),
    )


@_rule(
    title="the product has a picture",
    problem="No picture",
    fix="Add pictures, first one of the front on a white background.",
    severity="error",
    dimension="completeness",
    needs=f"{PICTURES}.url",
    scope=CONSUMER_UNITS,
    source="GS1 Product Image Specification 4.4; of what is no food also Regulation (EU) 2023/988, Art. 19(c)",
)
def has_picture(products: Products) -> Verdict:
    """Nobody buys online what they cannot see."""
    return Verdict(~PictureColumns.of(products).pictured)


@_rule(
    title="the product has a front packshot",
    problem="No front packshot",
    fix="Add a picture of the front on a white background, marked as packshot and as face 1 (front).",
    severity="blocker",
    dimension="completeness",
    needs=_PACKSHOT,
    scope=CONSUMER_UNITS,
)
def has_front_packshot(products: Products) -> Verdict:
    """Nobody buys online what they cannot see; receivers refuse products without it."""
    pictures = PictureColumns.of(products)
    fails = ~pictures.any(pictures.is_front_packshot)
    # Pictures that are almost a front packshot are shown: mostly only a mark is missing.
    nearly = pictures.is_packshot | is_true(pc.equal(pictures["product_face"], FRONT))
    nearly |= is_true(pc.equal(pictures.face_in_name, FRONT))

    def marks(rows: Rows) -> list[tuple[bool, str | None]]:
        faces = pictures.seen("product_face", rows).to_pylist()
        return [*zip(pictures.is_packshot[rows].tolist(), faces, strict=True)]

    marked = Message("marked as packshot, face {face}")
    unmarked = Message("not marked as packshot, face {face}")

    def reasons(rows: Rows) -> list[Message]:
        return [
            (marked if is_marked else unmarked).with_values(face=_face_in_words(face))
            for is_marked, face in marks(rows)
        ]

    near = nearly & fails[pictures.product]
    verdict = pictures.verdict(near, near, PICTURES, "gdsn_file_name", reasons, marks)
    # Also products without any picture fail, and those leave no evidence.
    return Verdict(fails, evidence=verdict.evidence)


@_rule(
    title="only one picture is the front packshot",
    problem="Several front packshots",
    fix="Mark only one picture per language as packshot of face 1 (front).",
    severity="warning",
    dimension="uniqueness",
    needs=(*_PACKSHOT, *LANGUAGE_NEEDS),
)
def one_front_packshot(products: Products) -> Verdict:
    """If several pictures claim to be the front packshot, each shop shows another.

    Packs that are printed for several languages have a front in each; a front that says no language is meant for
    all.
    """
    pictures = PictureColumns.of(products)
    fronts = pictures.is_front_packshot
    # Only products with several fronts are looked at further: reading languages is expensive.
    counted = products.count(pictures.product[fronts])[pictures.product]
    several = in_one_language(pictures, fronts & (counted > 1))
    return pictures.verdict(
        several,
        fronts,
        f"{PICTURES}.isPackshot",
        "gdsn_file_name",
        lambda rows: Message("one of {count} packshots of the front", count=counted[rows]),
        lambda rows: pictures.names_alike(pictures.product, fronts, rows),
    )


@_rule(
    title="the face stated for a picture agrees with its file name",
    problem="Stated face of a picture differs from its file name",
    fix="Correct the stated face, or rename the file to match the view.",
    severity="warning",
    dimension="consistency",
    needs=(*_PACKSHOT, _FILE),
)
def face_agrees_with_file_name(products: Products) -> Verdict:
    """Receivers rely on one or the other: where they differ, some of them show the back as the front."""
    pictures = PictureColumns.of(products)
    face, named = pictures["product_face"], pictures.face_in_name
    # Where one of the two is missing there is nothing to compare.
    comparable = is_true(pc.and_(face.is_valid(), named.is_valid()))

    def both(rows: Rows) -> list[list[Any]]:
        return [one.take(pa.array(rows)).to_pylist() for one in (face, named)]

    def reason(rows: Rows) -> Message:
        stated, other = ([*map(_face_in_words, faces)] for faces in both(rows))
        return Message(
            "face {face} is stated, and face {other_face} is in the file name", face=stated, other_face=other
        )

    wrong = is_true(pc.not_equal(face, named))
    return pictures.verdict(
        wrong, comparable, _FILE, "gdsn_file_name", reason, lambda rows: [*zip(*both(rows), strict=True)]
    )


def _face_in_words(face: str | None) -> Said:
    if face is None:
        return Message("not given")
    return Message("{face} ({said})", face=face, said=Message(FACES[face])) if face in FACES else face


@_rule(
    title="the front packshot has at least {pixels} pixels on its longest side",
    problem="Front packshot under {pixels} pixels",
    fix="Send the original in its full size: at least {pixels} pixels on the longest side.",
    severity="warning",
    dimension="validity",
    needs=(*_PACKSHOT, *_SIZE),
    source="published minimums of receivers: 500, 800, 1200 and 2500 pixels",
)
def packshot_large_enough(products: Products, *, pixels: int = 500) -> Verdict:
    """A picture below the minimum of a receiver is rejected, or shown so small that nobody can read the pack."""
    pictures = PictureColumns.of(products)
    known = pictures.is_front_packshot & ~np.isnan(pictures.longest_side)
    # One that is large enough will do, whatever the others are.
    has_large = pictures.any(known & (pictures.longest_side >= pixels))
    # By default the least that any of them asks: who sells elsewhere has a larger one in the profile.
    preset = Message("as the profile says")
    if pixels in PRESETS:
        preset = Message("preset: {said}", said=PRESETS[pixels])
    reason = Message("longest side under {pixels:d} pixels ({said})", pixels=pixels, said=preset)

    def sizes(rows: Rows) -> list[str]:
        return [f"{width} x {height}" for width, height in pictures.seen_together(("width", "height"), rows)]

    return pictures.verdict(known & ~has_large[pictures.product], known, _SIZE[0], sizes, reason)


@_rule(
    title="the size of the front packshot is given",
    problem="Size of the front packshot missing",
    fix="Send width and height of the original in pixels.",
    severity="info",
    dimension="completeness",
    needs=(*_PACKSHOT, *_SIZE),
)
def packshot_size_known(products: Products) -> Verdict:
    """Without width and height, whether the picture is large enough is only known after a download."""
    pictures = PictureColumns.of(products)
    fronts = pictures.is_front_packshot
    unknown = fronts & np.isnan(pictures.longest_side)
    return pictures.verdict(
        unknown,
        fronts,
        _SIZE[0],
        "definition",
        Message("width and height are not both given"),
        ("width", "height"),
    )


@_rule(
    title="the front packshot has a rendition of {side} pixels",
    problem="Front packshot has no rendition of {side} pixels",
    fix="Have the renditions made again; if the original is smaller, send a larger one.",
    severity="warning",
    dimension="completeness",
    needs=(*_PACKSHOT, f"{PICTURES}.exportables.width", f"{PICTURES}.exportables.height"),
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
    served = _picture_keys(large["product"], of_picture)
    fronts = pictures.is_front_packshot
    wanted = _picture_keys(pa.array(pictures.product[fronts]), pictures["position"].filter(pa.array(fronts)))
    without = fronts.copy()
    without[fronts] = ~is_true(pc.is_in(wanted, served))
    reason = Message("no rendition of {side:d} pixels or more", side=side)

    def largest(rows: Rows) -> list[int | None]:
        longest = pc.max_element_wise(renditions["width"], renditions["height"])
        picture = pc.replace_substring_regex(renditions["position"], "[.][0-9]+$", "")
        keys = _picture_keys(renditions["product"], picture)
        of_each = pa.table([keys, as_one_chunk(longest)], names=["key", "side"]).group_by("key")
        known = of_each.aggregate([("side", "max")])
        own = _picture_keys(pa.array(pictures.product[rows]), pictures["position"].take(pa.array(rows)))
        found: list[int | None] = (
            known["side_max"].take(pc.index_in(own, as_one_chunk(known["key"]))).to_pylist()
        )
        return found

    return pictures.verdict(without, fronts, f"{PICTURES}.exportables", "gdsn_file_name", reason, largest)


def _picture_keys(products: pa.Array | pa.ChunkedArray, positions: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return one text for each picture of a part."""
    return as_one_chunk(pc.binary_join_element_wise(pc.cast(products, pa.string()), positions, " "))


@_rule(
    title="a picture was changed within {days} days",
    problem="No picture changed for {days} days",
    fix="Compare the pictures with the current pack, and send new ones if it changed.",
    severity="warning",
    dimension="timeliness",
    needs=("assets.lastUpdatedAt.pictures", f"{PICTURES}.url"),
)
def pictures_fresh(products: Products, *, days: int = 1095) -> Verdict:
    """Packs are redesigned every few years; the old design in a shop makes customers doubt the product.

    The date remains when the last picture is removed: a product without pictures has no outdated ones.
    """
    # The service has one date for all pictures of a product. Three years are our own default, of no standard.
    touched = products["pictures_updated_at"]
    pictured = PictureColumns.of(products).pictured
    return product_verdict(
        (touched < products.now - timedelta(days=days)) & pictured,
        "assets.lastUpdatedAt.pictures",
        touched,
        Message("no picture touched for {days:d} days", days=days),
        applies=touched.notna() & pictured,
    )
