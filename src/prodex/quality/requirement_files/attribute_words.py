"""Attributes of requirements in words: what a row of the workbook is called, and which attribute people mean by it.

A row is known by its wire path; its words count where somebody has deleted the path. Words are read in English, French,
German and Dutch, and as wire names.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Self

from prodex.errors import InputError, QueryError
from prodex.languages.labels import attribute_title
from prodex.locales import known_language_tag, language_name, language_tag, short_of
from prodex.messages import nearest, unaccented
from prodex.quality.picture_columns import FACES, PICTURES
from prodex.quality.requirements import NUTRIENTS, AskedAttribute, checked_attribute, selector_of
from prodex.tables.attributes import ATTRIBUTES, PATHS

#: What people call attributes: English, French, German, Dutch; several words of one language are divided by "|".
_WORDS: Mapping[str, tuple[str, str, str, str]] = {
    "nameLegal": (
        "legal name",
        "nom légal|dénomination légale",
        "gesetzliche Bezeichnung",
        "wettelijke benaming",
    ),
    "namePublicShort": ("short name", "nom court|libellé court", "Kurzname|kurzer Name", "korte naam"),
    "namePublicLong": ("long name", "nom long|libellé long", "Langname|langer Name", "lange naam"),
    "description": ("description", "description", "Beschreibung", "beschrijving|omschrijving"),
    "composition": (
        "ingredients|ingredient list",
        "ingrédients|composition",
        "Zutaten|Zutatenliste",
        "ingrediënten",
    ),
    "allergens": ("allergens", "allergènes", "Allergene", "allergenen"),
    "productionVariantName": ("variant name|variant", "nom de la variante|variante", "Variante", "variant"),
    "conservationAdvices": (
        *("storage conditions|storage", "conseils de conservation|conservation"),
        *("Lagerhinweise|Aufbewahrung", "bewaaradvies|bewaarvoorschrift"),
    ),
    "consumptionAdvice": (
        *("instructions for use", "conseils d'utilisation|mode d'emploi"),
        *("Gebrauchsanweisung|Verwendungshinweise", "gebruiksaanwijzing"),
    ),
    "brand": ("brand", "marque", "Marke", "merk"),
    "kind": ("kind|category", "catégorie|type de produit", "Produktart|Kategorie", "soort|categorie"),
    "GPC": ("GS1 brick|GPC|brick", "brique GS1|GPC", "GS1 Brick|GPC", "GS1 brick|GPC"),
    "typePackaging": (
        "type of packaging|packaging type",
        "type d'emballage",
        "Verpackungsart",
        "verpakkingstype",
    ),
    "originCountry": (
        "country of origin|origin",
        "pays d'origine",
        "Ursprungsland|Herkunftsland",
        "land van herkomst",
    ),
    "netContent": ("net content", "contenu net", "Nettoinhalt|Inhalt", "netto-inhoud|netto inhoud"),
    "netWeight": ("net weight", "poids net", "Nettogewicht", "nettogewicht"),
    "grossWeight": ("gross weight", "poids brut", "Bruttogewicht", "brutogewicht"),
    "drainedWeight": ("drained weight", "poids égoutté", "Abtropfgewicht", "uitlekgewicht"),
    "height": ("height", "hauteur", "Höhe", "hoogte"),
    "width": ("width", "largeur", "Breite", "breedte"),
    "depth": ("depth", "profondeur", "Tiefe", "diepte"),
    "percentageOfAlcoholByVolume": (
        *("alcoholic strength|alcohol", "degré d'alcool|titre alcoométrique"),
        *("Alkoholgehalt", "alcoholgehalte"),
    ),
    # "Price" alone may be another one: it needs confirmation with this name.
    "suggestedRetailPrice": (
        *(
            "suggested retail price|recommended retail price|RRP",
            "prix de vente conseillé|prix public conseillé",
        ),
        *("unverbindliche Preisempfehlung|UVP|empfohlener Verkaufspreis", "adviesprijs|adviesverkoopprijs"),
    ),
    "gtin": ("GTIN|EAN|barcode", "GTIN|EAN|code-barres", "GTIN|EAN|Barcode|Strichcode", "GTIN|EAN|barcode"),
    "assets.pictures": (
        "pictures|picture|images",
        "images|photos|visuels",
        "Bilder|Bild",
        "afbeeldingen|foto's",
    ),
    "assets.documents": ("documents", "documents", "Dokumente", "documenten"),
    "assets.videos": ("videos", "vidéos", "Videos", "video's"),
    "isPartitionedBy": (
        *("nutrition declaration|nutrition", "déclaration nutritionnelle|nutrition"),
        *("Nährwertdeklaration|Nährwerte", "voedingswaardevermelding|voedingswaarden"),
    ),
    "isLabeledBy": (
        "labels|certificates",
        "labels|certifications",
        "Label|Siegel|Zertifikate",
        "keurmerken|labels",
    ),
    "logisticalHierarchies": (
        *("hierarchy|logistical hierarchy", "hiérarchie|hiérarchie logistique"),
        *("Hierarchie|Logistikhierarchie", "hiërarchie|logistieke hiërarchie"),
    ),
    "contact": ("contact", "contact", "Kontakt", "contact"),
    "warnings": ("warnings", "avertissements|mises en garde", "Warnhinweise", "waarschuwingen"),
    "startAvailabilityDateTime": (
        *("first day of availability", "début de disponibilité"),
        *("erster Verfügbarkeitstag|verfügbar ab", "eerste dag van beschikbaarheid|beschikbaar vanaf"),
    ),
    "endAvailabilityDateTime": (
        *("last day of availability", "fin de disponibilité"),
        *("letzter Verfügbarkeitstag|verfügbar bis", "laatste dag van beschikbaarheid|beschikbaar tot"),
    ),
}
#: Faces of the picture of a product.
_FACES: Mapping[str, tuple[str, str, str, str]] = {
    "front": ("front", "avant|face|face avant", "vorn|vorne|Vorderseite", "voorkant|voorzijde"),
    "left": ("left", "gauche", "links|linke Seite", "links|linkerkant"),
    "top": ("top", "dessus|haut", "oben|Oberseite", "boven|bovenkant"),
    "back": ("back", "arrière|dos", "hinten|Rückseite", "achterkant|achterzijde"),
    "right": ("right", "droite", "rechts|rechte Seite", "rechts|rechterkant"),
    "bottom": ("bottom", "dessous|bas", "unten|Unterseite", "onder|onderkant"),
}
#: Nutrients of Annex XV of Regulation (EU) No 1169/2011, by the code that services use.
_NUTRIENTS: Mapping[str, tuple[str, str, str, str]] = {
    "ENER-": ("energy", "énergie|valeur énergétique", "Energie|Brennwert", "energie"),
    "FAT": ("fat", "matières grasses|lipides", "Fett", "vetten|vet"),
    "FASAT": (
        "saturates",
        "acides gras saturés|dont acides gras saturés",
        "gesättigte Fettsäuren",
        "verzadigde vetzuren",
    ),
    "CHOAVL": ("carbohydrate|carbohydrates", "glucides", "Kohlenhydrate", "koolhydraten"),
    "SUGAR-": ("sugars|sugar", "sucres", "Zucker", "suikers"),
    "FIBTG": ("fibre|fiber", "fibres|fibres alimentaires", "Ballaststoffe", "vezels"),
    "PRO-": ("protein", "protéines", "Eiweiß|Protein", "eiwitten"),
    "SALTEQ": ("salt", "sel", "Salz", "zout"),
    "POLYL": ("polyols", "polyols", "mehrwertige Alkohole|Polyole", "polyolen"),
    "STARCH": ("starch", "amidon", "Stärke", "zetmeel"),
}
_PICTURE = ("picture", "image|photo|visuel", "Bild", "afbeelding|foto")
_NUTRIENT = ("nutrient|nutrition", "nutriment|nutrition", "Nährwert|Nährstoff", "voedingsstof|voedingswaarde")

#: How alike a path and a known one are where it is taken for a typing error.
_ALIKE = 0.8
#: How alike it is at least to the one that a message proposes.
_FAR = 0.6
#: Names of a file for which the nearest is looked for.
_MOST_SOUGHT = 200
#: How many attributes share a word at most that says something of them, and from how many letters on a word does.
_MOST_SHARING, _SHORTEST_WORD = 5, 4
#: Words that are in the names of quite different attributes.
_SAYS_NOTHING = frozenset(
    {"code", "codes", "type", "date", "datum", "first", "last", "jour", "list", "mode", "data"}
)
#: Names that a message proposes.
_PROPOSED = 3
#: How somebody confirms that an attribute of no list is meant: own: shelfLife, or "shelfLife".
_CONFIRMED = re.compile(r"""own\s*[:=]\s*(?P<own>.+)|["'“”„«](?P<quoted>[^"'“”„«»]+)["'“”»]""", re.IGNORECASE)
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_PATH = re.compile(r"[A-Za-z_][\w\\.-]*(?:\[[^\[\]]+\])?")
_WIRE_NAME = re.compile(r"[a-z_][a-z0-9]*[A-Z._\[]")
_ANY_LANGUAGE = frozenset(
    {"", "-", "–", "*", "any", "any language", "all", "toutes", "alle", "all languages"}
)
_KNOWN = frozenset({*ATTRIBUTES, *PATHS, *_WORDS})
_BEFORE_LANGUAGE = re.compile(
    r"[\s,;:/|@–—-]*[\[(]?\s*([^\[\](),;:/|@–—]+(?:[-_][A-Za-z]{2,4})?)\s*[\])]?\s*"
)


def title_of(attribute: str, label: str = "") -> str:
    """Return what a row is called: the name of its attribute, with the face or the nutrient.

    Parameters
    ----------
    attribute
        A wire path, a picture's face or a nutrient.
    label
        What the catalogue calls the nutrient.

    Examples
    --------
    >>> title_of("namePublicLong"), title_of("assets.pictures[front]"), title_of("isPartitionedBy.contains[FAT]")
    ('Long name', 'Picture: front', 'Nutrient: fat')
    """
    path, chosen = selector_of(attribute)
    if not chosen:
        return attribute_title(path)
    if path == PICTURES:
        return f"Picture: {chosen}"
    known = _NUTRIENTS.get(chosen)
    name = known[0].partition("|")[0] if known else label or chosen
    return f"Nutrient: {name}"


def language_of(text: str) -> str:
    """Return the short code of a language in words; an empty text is none.

    Raises
    ------
    InputError
        When no language is called so; the message names the nearest.

    Examples
    --------
    >>> language_of("French"), language_of("fr-FR"), language_of("français (France)"), language_of("")
    ('fr', 'fr', 'fr', '')
    """
    whole = _spaced(text)
    if whole.casefold() in _ANY_LANGUAGE:
        return ""
    for one in (whole, re.sub(r"\s*\([^)]*\)$", "", whole)):
        if (tag := known_language_tag(one)) is not None:
            return short_of(tag)
    try:
        return short_of(language_tag(whole))
    except QueryError as error:
        raise InputError(str(error)) from error


@dataclass(frozen=True)
class AttributeWords:
    """What attributes are called in a file: by the specification, and by the words that the file was written with.

    Attributes
    ----------
    paths
        The attributes that are known.
    is_whole
        Whether the file knows all attributes of its catalogue: any other one has to be confirmed.
    """

    paths: frozenset[str] = _KNOWN
    is_whole: bool = False
    _by_words: Mapping[str, str] = field(default_factory=dict, repr=False)
    _sought: dict[tuple[str, int, float], str | None] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, titles: Mapping[str, str] | None = None, known: Iterable[str] = ()) -> Self:
        """Add attributes with their titles, and further attributes that are known.

        Parameters
        ----------
        titles
            The words of attributes.
        known
            Attributes that are known to exist.
        """
        titles = titles or {}
        words = {**_words(), **{_folded(title): attribute for attribute, title in titles.items()}}
        return cls(_KNOWN.union(titles, known), bool(titles), words)

    def asked(self, path: str, words: str, language: str) -> AskedAttribute:
        """Return what a row is about.

        Parameters
        ----------
        path
            Its wire path; empty where somebody has deleted it.
        words
            Its name in words.
        language
            The language in words.

        Raises
        ------
        InputError
            When nobody knows; the message names the nearest.

        Examples
        --------
        >>> AttributeWords.of().asked("", "Nom long, français", "")
        AskedAttribute(attribute='namePublicLong', language='fr')
        """
        spoken = language_of(language)
        path, words = _spaced(path), _spaced(words)
        confirmed = _CONFIRMED.fullmatch(path or words)
        own = (confirmed["own"] or confirmed["quoted"]).strip() if confirmed is not None else ""
        if own and _PATH.fullmatch(own) is not None:
            return AskedAttribute(checked_attribute(own), spoken)
        attribute, in_words = self._attribute(path or words, is_path=bool(path))
        if attribute is None:
            # Where the path is misspelt, the words are still those of the row.
            raise InputError(self._unknown(path or words, words))
        if spoken and in_words and spoken != in_words:
            raise InputError(
                f"it names two languages: {language_name(in_words)} beside the attribute, and {language!r:.40}."
            )
        return AskedAttribute(checked_attribute(attribute), spoken or in_words)

    def as_written(self, text: str) -> str:
        """Return the attribute of a text that was written by a program; words of people are understood as well.

        Raises
        ------
        InputError
            When it is no wire path, and like the words of an attribute.
        """
        if (found := self._exactly(text)) is not None:
            return found
        if re.search(r"\s", text) and self._nearest(_folded(text), self._by_words, _FAR) is not None:
            raise InputError(self._unknown(text, text))
        return text

    def _attribute(self, text: str, *, is_path: bool) -> tuple[str | None, str]:
        """Return the attribute of a text, and the language that follows it."""
        if (found := self._exactly(text)) is not None:
            return found, ""
        for place in sorted((one.start() for one in re.finditer(r"[\s,;:/|@\[(–—-]", text)), reverse=True):
            language = _BEFORE_LANGUAGE.fullmatch(text, place)
            if language is None or (tag := known_language_tag(language[1].strip())) is None:
                continue
            if (found := self._exactly(text[:place].strip(" ,;:/|@–—-"))) is not None:
                return found, short_of(tag)
        # Among words a wire name is known by its capitals and dots: "Colour" is a word, "lidColour" a name.
        is_name = is_path or _WIRE_NAME.match(text) is not None
        return (text, "") if is_name and self._is_own(text) else (None, "")

    def _exactly(self, text: str) -> str | None:
        if text in self.paths or (selector_of(text)[1] and selector_of(text)[0] in {PICTURES, NUTRIENTS}):
            return text
        return self._by_words.get(_folded(text))

    def _is_own(self, text: str) -> bool:
        """Whether a text is the wire path of an attribute that is in no list, and like none that is."""
        if self.is_whole or _PATH.fullmatch(text) is None:
            return False
        # After so many they are somebody's own: an audit asks its catalogue in any case.
        return self._nearest(text, self.paths, _ALIKE) is None

    def _unknown(self, text: str, words: str) -> str:
        near = self._meant(text, words)
        meant = f"; did you mean {' or '.join(near)}?" if near else "."
        what_to_do = (
            " Copy the row of the attribute that you mean, or write its name here, or delete this row."
        )
        if self.is_whole:
            name = f"'own: {text}'" if _PATH.fullmatch(text) else "own: and its technical name"
            what_to_do += f" If the attribute is your own, write {name} in the column Path."
        return f"there is no attribute {text!r:.60}{meant}{what_to_do if self.is_whole or not near else ''}"

    def _meant(self, text: str, words: str) -> list[str]:
        """Return the attributes that were perhaps meant, in words: the most certain way to find one decides."""
        if (near := self._nearest(text, self.paths, _ALIKE)) is not None:
            return [near]
        in_words = self._by_words.get(_folded(words)) or self._by_near_words(words, _ALIKE)
        if in_words is not None:
            return [_named(in_words)]
        if shared := _sharing(f"{words} {text}"):
            return [_named(one) for one in shared]
        if (near := self._nearest(text, self.paths, _FAR)) is not None:
            return [near]
        in_words = self._by_near_words(text, _FAR)
        return [] if in_words is None else [_named(in_words)]

    def _by_near_words(self, words: str, cutoff: float) -> str | None:
        near = self._nearest(_folded(words), self._by_words, cutoff)
        return None if near is None else self._by_words[near]

    def _nearest(self, text: str, among: Collection[str], cutoff: float) -> str | None:
        """Return the nearest name; of a file with hundreds of unknown ones, only of the first: each takes a while."""
        key = (text, len(among), cutoff)
        if key not in self._sought and len(self._sought) < _MOST_SOUGHT:
            self._sought[key] = nearest(text, among, cutoff)
        return self._sought.get(key)


@cache
def _words() -> Mapping[str, str]:
    """Return attributes by what they are called in any language."""
    found: dict[str, str] = {}
    groups = (
        (_WORDS, lambda key: key, None),
        (_FACES, lambda key: f"{PICTURES}[{key}]", _PICTURE),
        (_NUTRIENTS, lambda key: f"{NUTRIENTS}[{key}]", _NUTRIENT),
    )
    for path in sorted(_KNOWN):
        found.setdefault(_folded(attribute_title(path)), path)
        found.setdefault(_folded(path), path)
    for words, attribute, around in groups:
        for key, by_language in words.items():
            for place, several in enumerate(by_language):
                for word in several.split("|"):
                    if around is None:
                        found[_folded(word)] = attribute(key)
                        continue
                    for one in around[place].split("|"):
                        found |= dict.fromkeys(
                            map(_folded, (f"{one}: {word}", f"{word} {one}")), attribute(key)
                        )
    # "Salt" is the nutrient where nothing else is called so; a face alone is not enough.
    for key, by_language in _NUTRIENTS.items():
        for word in "|".join(by_language).split("|"):
            found.setdefault(_folded(word), f"{NUTRIENTS}[{key}]")
    return found


def _named(attribute: str) -> str:
    return f"{attribute} ({title_of(attribute)})"


@cache
def _attributes_by_word() -> Mapping[str, frozenset[str]]:
    """Return the attributes whose names have a word, in any language."""
    found: dict[str, set[str]] = {}
    for words, attribute in _words().items():
        # Parts of an attribute say the same as the attribute.
        for word in words.split() if "." not in attribute else ():
            found.setdefault(word, set()).add(attribute)
    return {word: frozenset(attributes) for word, attributes in found.items()}


def _is_part(short: str, long: str) -> bool:
    """Whether a word is composed of another one and more: Verkaufspreis, and pricepublic."""
    is_composed = len(short) > _SHORTEST_WORD and len(long) >= len(short) + 3
    return is_composed and (long.startswith(short) or long.endswith(short))


def _sharing(text: str) -> list[str]:
    """Return the attributes with a rare word of a text, most first: "prix" is in one name, "type" in many.

    >>> _sharing("Prix de vente TTC"), _sharing("pricepublic")[:1]
    (['suggestedRetailPrice'], ['suggestedRetailPrice'])
    """
    score: dict[str, float] = {}
    for word in dict.fromkeys(_folded(_HUMPS.sub(" ", text)).split()):
        if len(word) < _SHORTEST_WORD or word in _SAYS_NOTHING:
            continue
        for known, attributes in _attributes_by_word().items():
            is_part = len(known) > _SHORTEST_WORD and (word.startswith(known) or word.endswith(known))
            if (known == word or is_part) and len(attributes) <= _MOST_SHARING:
                for one in attributes:
                    score[one] = score.get(one, 0) + (1 if known == word else 0.9) / len(attributes)
    best = sorted(score, key=lambda one: (-score[one], one))
    return [one for one in best[:_PROPOSED] if score[one] * 2 >= score[best[0]]]


@cache
def known_words() -> frozenset[str]:
    """Return the words of attributes in all languages, as they are written, and with a capital."""
    several = (words for group in (_WORDS, _FACES, _NUTRIENTS) for words in group.values())
    found = {word for words in several for some in words for word in some.split("|")}
    return frozenset({*found, *(one[:1].upper() + one[1:] for one in found), *map(str.lower, found)})


def _folded(text: str) -> str:
    """Return words as they are compared: in small letters, without accents, signs and double spaces."""
    return re.sub(r"[^\w]+", " ", unaccented(text)).strip()


def _spaced(text: str) -> str:
    """Return a text with plain single spaces, as people mean it."""
    return re.sub(r"[\s ]+", " ", text).strip()


#: The faces that pictures have, in the order in which rows show them.
FACES_SHOWN = tuple(one for one in _FACES if one in FACES.values())
#: The nutrients that labels have to show, in their order.
NUTRIENTS_SHOWN = tuple(_NUTRIENTS)
