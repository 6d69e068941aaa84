"""What packs of rules are made of: the names that anybody's rules may use.

A pack is a module whose import defines rules, and which tells of itself by the entry point group `prodex.rules`. A rule
takes the `Products` of a part, looks at them by columns of texts, nutrients and pictures, and returns a `Verdict`; see
"A pack of rules" in the documentation.
"""

from prodex.facts.market import languages_of
from prodex.facts.name import NAMES
from prodex.languages import Message, add_messages
from prodex.locales import is_in_union
from prodex.once_per_process import once_per_process
from prodex.phrases import unaccented
from prodex.quality.cut_texts import CutLengths
from prodex.quality.language_detection import DetectedLanguages, is_familiar
from prodex.quality.laws import FOOD_INFORMATION, Law
from prodex.quality.nutrition_columns import Nutrient, NutritionColumns
from prodex.quality.origin_shares import Origins
from prodex.quality.picture_columns import PictureColumns
from prodex.quality.products import Products, once_per_part
from prodex.quality.remembered import Remembered, has_match
from prodex.quality.rulebook import CONSUMER_UNITS, rule
from prodex.quality.text_columns import AttributeTexts, TextColumns
from prodex.quality.text_normalization import MARK, folded
from prodex.quality.units import quantities
from prodex.quality.verdict import Evidence, Verdict, compared_with, missing_data
from prodex.tables.columns import Answer, Mask, Numbers, Rows, by_value, encoded, is_true

__all__ = [
    "CONSUMER_UNITS",
    "FOOD_INFORMATION",
    "MARK",
    "NAMES",
    "Answer",
    "AttributeTexts",
    "CutLengths",
    "DetectedLanguages",
    "Evidence",
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
    "add_messages",
    "by_value",
    "compared_with",
    "encoded",
    "folded",
    "has_match",
    "is_familiar",
    "is_in_union",
    "is_true",
    "languages_of",
    "missing_data",
    "once_per_part",
    "once_per_process",
    "quantities",
    "rule",
    "unaccented",
]
