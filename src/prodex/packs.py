"""What packs of rules are made of: the names that anybody's rules may use.

A pack is a module whose import defines rules, and which tells of itself by the entry point group `prodex.rules`. A rule
takes the `Products` of a part, looks at them by columns of texts, nutrients and pictures, and returns a `Verdict`; see
"A pack of rules" in the documentation.
"""

from prodex.facts.market import languages_of
from prodex.facts.name import NAMES
from prodex.facts.requested_data import EVERY_TEXT, Asked, asked_for
from prodex.languages import Message
from prodex.locales import is_in_union
from prodex.messages import unaccented
from prodex.quality.cut_texts import CutLengths, are_cut
from prodex.quality.language_detection import DetectedLanguages, detect, is_familiar, sections
from prodex.quality.laws import FOOD_INFORMATION, Law
from prodex.quality.nutrition_columns import Nutrient, NutritionColumns
from prodex.quality.origin_shares import Origins
from prodex.quality.picture_columns import PictureColumns
from prodex.quality.products import Products
from prodex.quality.remembered import Remembered, has_match
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.text_columns import AttributeTexts, FoldedTexts, TextColumns
from prodex.quality.text_normalization import MARK, folded
from prodex.quality.units import in_base_unit, quantities
from prodex.quality.verdict import PENDING, Evidence, Verdict, compared_with, missing_data, product_verdict
from prodex.tables.columns import Answer, Mask, Numbers, Rows, by_value, encoded, is_true, numbers

__all__ = [
    "CONSUMER_UNITS",
    "EVERY_TEXT",
    "FOOD_INFORMATION",
    "MARK",
    "NAMES",
    "PENDING",
    "Answer",
    "Asked",
    "AttributeTexts",
    "CutLengths",
    "DetectedLanguages",
    "Evidence",
    "FoldedTexts",
    "Law",
    "Mask",
    "Message",
    "Numbers",
    "Nutrient",
    "NutritionColumns",
    "Origins",
    "PictureColumns",
    "Products",
    "Remembered",
    "Rows",
    "TextColumns",
    "Verdict",
    "are_cut",
    "asked_for",
    "by_value",
    "compared_with",
    "detect",
    "encoded",
    "folded",
    "has_match",
    "in_base_unit",
    "is_familiar",
    "is_in_union",
    "is_true",
    "languages_of",
    "missing_data",
    "numbers",
    "product_verdict",
    "quantities",
    "rule",
    "sections",
    "unaccented",
]
