"""The layout of a sheet of requirements: what names its rows and columns, in words that people may have translated."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from prodex.messages import unaccented
from prodex.tables.fill_state import FillState

#: Version of the layout, in the hidden sheet.
FORMAT = 1
#: Names of sheets that have no requirements.
READ_ME, KEYS_SHEET = "Read me", "prodex requirements"
#: What the column for all families is called.
ALL_FAMILIES = "All families"
#: What a cell shows of what was not asked for when the catalogue was loaded.
NOT_ASKED = str(FillState.NOT_ASKED)

#: The headings of rows, in their order.
TEXT, CODE, QUANTITY, SINGLE = "Names and texts", "Codes", "Quantities", "Dates and other single values"
PICTURE, NUTRIENT, HIERARCHY = "Pictures by face", "Nutrition and nutrients", "Hierarchies and units"
LABEL, OTHER = "Labels and documents", "Other attributes"
GROUPS = (TEXT, CODE, QUANTITY, SINGLE, PICTURE, NUTRIENT, HIERARCHY, LABEL, OTHER)


class SheetPlace(StrEnum):
    """What a heading says of its column, or a first cell of its row or of the cell beside it."""

    ATTRIBUTE = "Attribute"
    LANGUAGE = "Language"
    PATH = "Path"
    FILLED = "Filled"
    CHANNEL = "Channel"
    MARKET = "Market"
    UNITS = "Units"
    CODE = "Family code"
    PRODUCTS = "Number of products"
    PARENT = "Belongs to"


#: Other words for them, in English, French, German and Dutch.
_WORDS: Mapping[SheetPlace, str] = {
    SheetPlace.ATTRIBUTE: "attribute|attributes|field|attribut|champ|merkmal|feld|attribuut|kenmerk|veld",
    SheetPlace.LANGUAGE: "language|lang|langue|sprache|taal",
    SheetPlace.PATH: "path|wire path|technical path|chemin|pfad|pad",
    SheetPlace.FILLED: "filled|share filled|rempli|taux de remplissage|gefullt|befullt|gevuld",
    SheetPlace.CHANNEL: "channel|canal|kanal|vertriebskanal|kanaal",
    SheetPlace.MARKET: "market|target market|marche|markt|zielmarkt|doelmarkt|land|country|pays",
    SheetPlace.UNITS: "units|unites|einheiten|eenheden",
    SheetPlace.CODE: "family code|code of family|code famille|code de la famille|familiencode|familiecode",
    SheetPlace.PRODUCTS: "number of products|nombre de produits|anzahl produkte|anzahl der produkte|aantal producten",
    SheetPlace.PARENT: "belongs to|parent|parent family|appartient a|famille parente|gehort zu|hoort bij",
}
_PLACE_OF = {word: place for place, words in _WORDS.items() for word in words.split("|")}
_ALL_WORDS = frozenset(
    {"*", "all families", "all", "toutes les familles", "toutes", "alle familien", "alle", "alle families"}
)
_CONSUMER = frozenset(
    {
        *("", "consumer units", "consumer units only", "consumer unit", "consumer"),
        *("unites consommateur", "verbrauchereinheiten", "consumenteneenheden"),
    }
)
_EVERY_UNIT = frozenset({"all", "all units", "all products", "toutes", "alle"})


def place_of(text: str) -> SheetPlace | None:
    """Return what a heading says; None for any other text.

    >>> place_of(" Family code: "), place_of("Attribut"), place_of("Remark")
    (<SheetPlace.CODE: 'Family code'>, <SheetPlace.ATTRIBUTE: 'Attribute'>, None)
    """
    return _PLACE_OF.get(_plain(text))


def is_word_of_sheet(text: str) -> bool:
    """Whether a text names a row or a column of sheets, so that no family can be called so.

    >>> is_word_of_sheet("Attribute"), is_word_of_sheet("alle Familien"), is_word_of_sheet("TEA")
    (True, True, False)
    """
    return place_of(text) is not None or (is_all_families(text) and text != "*")


def is_all_families(text: str) -> bool:
    """Whether a heading means all families."""
    return _plain(text) in _ALL_WORDS


_REMARKS = frozenset(
    {
        *("remark", "remarks", "comment", "comments", "note", "notes"),
        *("remarque", "remarques", "commentaire", "commentaires", "observation", "observations"),
        *(
            "bemerkung",
            "bemerkungen",
            "kommentar",
            "kommentare",
            "anmerkung",
            "anmerkungen",
            "notiz",
            "notizen",
        ),
        *("opmerking", "opmerkingen", "notitie", "notities", "toelichting"),
    }
)


def is_remark(text: str) -> bool:
    """Whether a heading says that remarks are below it.

    >>> is_remark("Remarques:"), is_remark("Tea")
    (True, False)
    """
    return _plain(text) in _REMARKS


def consumer_units(text: str) -> bool | None:
    """Return whether a cell says that only consumer units are meant; None where it says neither.

    >>> consumer_units("Consumer units only"), consumer_units("all"), consumer_units("pallets")
    (True, False, None)
    """
    word = _plain(text)
    return True if word in _CONSUMER else False if word in _EVERY_UNIT else None


def is_not_asked(text: str) -> bool:
    """Whether a cell only says that nothing was asked for."""
    return _plain(text) == NOT_ASKED


def _plain(text: str) -> str:
    return " ".join(unaccented(text).split()).rstrip(":").strip()
