"""Search for words in products: any part of a text matches, whatever its case and accents.

Every input can be read, also the half of a search that is still being typed: it is never an error (`WordQuery`).

The words of a part are kept in files (`SearchIndex`), as a copy that is never trusted. A file is named after the
digests of its source, and its content is checked whenever it is read. What is missing, damaged or of another version is
made again. The files are in the folder of the snapshot, `.search`, and are removed with it; whoever deletes them loses
nothing but seconds. Where a disk refuses, and for a catalogue that is in memory or filtered, the words are kept in
memory.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from prodex.catalog import Catalog, Part
from prodex.errors import SnapshotDamaged, StorageError
from prodex.executors import side_by_side
from prodex.exploration.product_columns import ProductColumns
from prodex.files import parquet
from prodex.files.atomic import make_folder, remove_leftovers, storage, writing
from prodex.files.untrusted import Count, Digest, is_file, is_folder, is_there, read_json
from prodex.progress import Show
from prodex.tables.columns import Mask, as_one_chunk, encoded, of_each, places, unaccented_texts

#: Columns of `products` that are searched in addition to the texts.
_COLUMNS = (
    *("gtin", "product_id", "supplier_id", "owner", "packaging", "gpc"),
    *("brand", "brand_code", "kind", "kind_code"),
)
#: What is searched, for people.
LABELS = "brands, kinds, owners, packaging, GPC classes and numbers"
TEXTS = f"all texts, {LABELS}"

#: Texts of which it is remembered which products contain them, since a search grows letter by letter and word by word.
_REMEMBERED = 16
#: White space in an unaccented text; other spaces have become plain ones.
_SPACE = r"[\s\pZ\x0b\x1c-\x1f\x{85}]+"


class Search:
    """Finds words in a catalogue.

    Parameters
    ----------
    products
        The products.

    Attributes
    ----------
    index
        The words of all texts, which take a while to be made when a snapshot is searched for the first time.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> search = Search(ProductColumns(prodex.flatten([tea, {"id": 8, "gtin": "03036811359935"}])))
    >>> search.find("GLACE the").tolist(), search.find("3036811359935").tolist()
    ([True, False], [False, True])
    >>> search.find("-glacé").tolist(), search.find('"glacé the" OR 3036').tolist()
    ([False, True], [False, True])
    """

    def __init__(self, products: ProductColumns) -> None:
        self._products = products
        self._remembered: dict[str, Mask] = {}
        self.index: SearchIndex = SearchIndex(products.catalog)

    def find(self, words: str) -> Mask:
        """Return which products meet a search, as `WordQuery` reads it, in all texts, labels and numbers.

        Each word may be in another text. A number matches GTINs with or without its leading zeros.

        Parameters
        ----------
        words
            What was typed.
        """
        search = WordQuery.read(words)
        found = self._containing(search.texts)
        return search.met(found.__getitem__, len(self._products))

    def find_in_labels(self, words: str) -> Mask:
        """Return which products meet a search in labels and numbers alone: an answer while the words are made."""
        return WordQuery.read(words).met(
            lambda text: self._in_labels(_SearchTerm.of(text)), len(self._products)
        )

    def _containing(self, texts: Sequence[str]) -> dict[str, Mask]:
        """Return which products contain each of some texts."""
        known = {text: self._remembered[text] for text in texts if text in self._remembered}
        new = {text: _SearchTerm.of(text) for text in texts if text not in known}
        known |= dict(zip(new, self._in_texts(list(new.values())), strict=True))
        for text, term in new.items():
            known[text] |= self._in_labels(term)
        others = {text: mask for text, mask in self._remembered.items() if text not in known}
        self._remembered = dict([*others.items(), *known.items()][-_REMEMBERED:])
        return known

    def _in_texts(self, terms: list[_SearchTerm]) -> list[Mask]:
        if not terms:
            return []

        def containing(words: PartWords) -> list[Mask]:
            return [words.containing_all(one.words) for one in terms]

        nobody = [np.zeros(0, bool) for _ in terms]
        pieces = zip(*[nobody, *self.index.each(containing)], strict=True)
        found = [np.concatenate(masks) for masks in pieces]
        return [
            mask if one.is_word else self._having(one, mask) for one, mask in zip(terms, found, strict=True)
        ]

    def _having(self, term: _SearchTerm, candidates: Mask) -> Mask:
        """Return which of the products that have all words of a phrase have them together in one text."""

        def having(part: Part, before: int) -> Mask:
            mine = candidates[before : before + part.size].copy()
            if mine.any():
                chosen = part.take(pa.array(mine))
                ids = as_one_chunk(chosen.read("products", ["product_id"])["product_id"])
                rows = chosen.encoded("texts", ["product_id", "text"])
                distinct, text = encoded(rows["text"])
                has = np.append(term.is_in(unaccented_texts(distinct)), False)[text]
                places_ = np.flatnonzero(mine)[places(as_one_chunk(rows["product_id"]), ids)[has]]
                mine[:] = False
                mine[places_] = True
            return mine

        return np.concatenate([np.zeros(0, bool), *self._products.each_part(having)])

    def _in_labels(self, term: _SearchTerm) -> Mask:
        found = np.zeros(len(self._products), bool)
        self._products.read(*_COLUMNS)
        for name in _COLUMNS:
            values = self._products.column(name)
            if pa.types.is_dictionary(values.type):
                found |= of_each(term.is_in(unaccented_texts(values.dictionary)), values, False)
            else:
                found |= term.is_in(unaccented_texts(values))
        if term.number:
            # Only in GTINs: in texts a number without its zeros would match too much.
            found |= _containing_piece(self._products.column("gtin"), term.number)
        return found


@dataclass(frozen=True)
class _SearchTerm:
    """A word or phrase in the form in which words are compared.

    Attributes
    ----------
    folded
        The whole of it; None for what no text can hold.
    words
        What is between white spaces.
    is_phrase
        Whether it was typed with spaces, of which any number will do.
    number
        Digits without the zeros in front: a GTIN is stored with 14 digits, and people type the 8, 12 or 13 of a pack.
    """

    folded: str | None
    words: tuple[str, ...]
    is_phrase: bool = False
    number: str = ""

    @classmethod
    def of(cls, text: str) -> _SearchTerm:
        try:
            folded: str = unaccented_texts(pa.array([text], pa.string()))[0].as_py()
        except UnicodeEncodeError:  # half of a surrogate pair
            return cls(None, ())
        number = text.lstrip("0") if text.isascii() and text.isdigit() else ""
        return cls(folded, tuple(folded.split()), " " in text, number)

    @property
    def is_word(self) -> bool:
        """Whether a text holds it if one of its words does."""
        return self.folded is None or self.words == (self.folded,)

    def is_in(self, texts: pa.Array) -> Mask:
        """Return which texts, in the form in which words are compared, hold it."""
        if self.folded is None:
            return np.zeros(len(texts), bool)
        if not self.is_phrase:
            return _containing_piece(texts, self.folded)
        pattern = _SPACE.join(map(re.escape, self.words))
        return _match_mask(pc.match_substring_regex(texts, pattern))


def _containing_piece(texts: pa.Array, piece: str) -> Mask:
    return _match_mask(pc.match_substring(texts, piece))


def _match_mask(matches: pa.Array) -> Mask:
    return np.asarray(pc.fill_null(matches, False).to_numpy(zero_copy_only=False), bool)


def searched_texts(products: ProductColumns, *, texts: bool = True) -> tuple[list[str], list[list[int]]]:
    """Return all that is searched, each once and as it is compared, and for each product the numbers of its own.

    Parameters
    ----------
    products
        The products.
    texts
        Whether the texts of products are among it, or labels and numbers alone.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé"}]}
    >>> searched_texts(ProductColumns(prodex.flatten([tea, {"id": 8}])))
    (['the', '7', '8'], [[0, 1], [2]])
    """
    number: dict[str, int] = {}
    of: list[dict[int, None]] = [{} for _ in range(len(products))]

    def add(values: Any, rows: Iterable[int]) -> None:
        distinct, codes = encoded(values)
        # A dictionary may have values that no row has.
        known: dict[int, int] = {}
        folded = unaccented_texts(distinct).to_pylist()
        for row, code in zip(rows, codes.tolist(), strict=True):
            if code >= 0:
                if code not in known:
                    known[code] = number.setdefault(folded[code], len(number))
                of[row][known[code]] = None

    for rows, found in products.children("texts", "text") if texts else ():
        add(found["text"], rows.tolist())
    products.read(*_COLUMNS)
    for name in _COLUMNS:
        add(products.column(name), range(len(products)))
    return list(number), [list(one) for one in of]


def contains(labels: Sequence[str], words: str) -> Mask:
    """Return which labels contain all words.

    >>> contains(["Crème fraîche", "Lait"], "FRAI cre").tolist()
    [True, False]
    """
    texts = unaccented_texts(pa.array(labels, pa.string()))
    return WordQuery.read(words).met(lambda text: _SearchTerm.of(text).is_in(texts), len(labels))


#: How a search works, in one sentence for people.
HELP = (
    "A product has to contain all words, whole or in part, whatever their case and accents; OR between two words finds "
    'either, NOT or - before a word leaves out the products with it, and "quotation marks" keep words together.'
)

_AND, _OR, _NOT = "AND", "OR", "NOT"
_OPERATORS = frozenset({_AND, _OR, _NOT})
#: The quotation marks of other languages, and those that programs write in place of the plain ones.
_MARKS = "\u201c\u201d\u201e\u201f\u00ab\u00bb"
#: A phrase in quotation marks, of which the last may still be missing, or a word; a minus may precede either.
_TOKEN = re.compile(
    rf'(?P<minus>-(?=\S))?(?:"(?P<phrase>[^"]*)"?|[{_MARKS}](?P<marked>[^{_MARKS}]*)[{_MARKS}]?|(?P<word>\S+))'
)


@dataclass(frozen=True)
class Term:
    """A word or phrase that a product has to contain, or must not contain.

    Attributes
    ----------
    text
        The word as it was typed, or the words of the phrase with one space between two.
    is_excluded
        Whether a product must not contain it.
    """

    text: str
    is_excluded: bool = False


_Token: TypeAlias = str | Term


@dataclass(frozen=True)
class WordQuery:
    """A search: a product meets it if it meets at least one term of every group.

    Attributes
    ----------
    groups
        The terms between which OR was written; most groups have one. Without groups every product meets the search.

    Examples
    --------
    >>> search = WordQuery.read('lait OR soja NOT bio "sans  sucre')
    >>> [[(term.is_excluded, term.text) for term in group] for group in search.groups]
    [[(False, 'lait'), (False, 'soja')], [(True, 'bio')], [(False, 'sans sucre')]]
    """

    groups: tuple[tuple[Term, ...], ...] = ()

    @classmethod
    def read(cls, typed: str) -> Self:
        """Read what was typed.

        OR joins the two terms beside it; the groups are joined by AND, which may be written or not. An operator without
        a term that it could apply to is ignored, unless nothing else was typed: then it is looked for as a word.
        """
        tokens = list(_tokens(typed))
        groups = tuple(map(tuple, _alternatives(tokens)))
        return cls(groups or tuple((Term(str(one)),) for one in tokens))

    @property
    def texts(self) -> tuple[str, ...]:
        """What has to be looked for, each once."""
        return tuple(dict.fromkeys(term.text for group in self.groups for term in group))

    def met(self, containing: Callable[[str], Mask], size: int) -> Mask:
        """Return which products meet the search.

        Parameters
        ----------
        containing
            Returns which products contain a text.
        size
            Number of products.

        Examples
        --------
        >>> names = ["lait", "soja", "lait au chocolat"]
        >>> search = WordQuery.read("lait OR soja -chocolat")
        >>> search.met(lambda text: np.array([text in name for name in names]), 3).tolist()
        [True, True, False]
        """
        met = np.ones(size, bool)
        for group in self.groups:
            either = np.zeros(size, bool)
            for term in group:
                either |= containing(term.text) ^ term.is_excluded
            met &= either
        return met


def _tokens(typed: str) -> Iterator[_Token]:
    """Yield operators and terms; quotation marks with nothing between them are no term."""
    for found in _TOKEN.finditer(typed):
        minus, word = found["minus"], found["word"]
        phrase = found["marked"] if found["phrase"] is None else found["phrase"]
        if phrase is None and minus is None and word in _OPERATORS:
            yield word
        elif text := word if phrase is None else " ".join(phrase.split()):
            yield Term(text, minus is not None)


def _alternatives(tokens: Iterable[_Token]) -> Iterator[list[Term]]:
    """Yield the terms that OR joins, group by group."""
    group: list[Term] = []
    is_joined = is_negated = False
    for token in tokens:
        if isinstance(token, Term):
            if group and not is_joined:
                yield group
                group = []
            group.append(replace(token, is_excluded=token.is_excluded ^ is_negated))
            is_joined = is_negated = False
        elif token == _NOT:
            is_negated = not is_negated
        else:
            is_joined, is_negated = token == _OR, False
    if group:
        yield group


#: How words are kept in a file: the places of the products of each word are numbers, one behind the other.
SCHEMA = pa.schema({"word": pa.string(), "products": pa.binary()})


@dataclass(frozen=True, eq=False)
class PartWords:
    """The words of the texts of some products, in the form in which they are compared.

    A word is what is between two white spaces: whoever searches for a part of a word looks through the words, of which
    a part of 10,000 products has some thousands, and not through its texts, of which it has a hundred thousand.

    Attributes
    ----------
    size
        Number of products.
    words
        The words, each once.
    ends
        Where the products of each word end among `products`.
    products
        Places of products, word by word.

    Examples
    --------
    >>> import prodex
    >>> tea = {"id": 7, "namePublicLong": [{"expressedIn": {"code": "fra-FR"}, "data": "Thé glacé"}]}
    >>> PartWords.of(prodex.flatten([tea, {"id": 8}]).parts[0]).containing("glac").tolist()
    [True, False]
    """

    size: int
    words: pa.Array
    ends: npt.NDArray[np.int64]
    products: npt.NDArray[np.unsignedinteger[Any]]

    @classmethod
    def of(cls, part: Part) -> Self:
        """Read the texts of a part; nothing of them is left out, also not of an update that waits."""
        ids = as_one_chunk(part.read("products", ["product_id"])["product_id"])
        rows = part.encoded("texts", ["product_id", "text"])
        # Arrow's split reads beyond a text that ends in a space, and may lose its last word.
        lists = pc.utf8_split_whitespace(pc.utf8_trim_whitespace(rows["text"]))
        lengths = as_one_chunk(pc.fill_null(pc.list_value_length(lists), 0)).to_numpy()
        spellings, spelling = encoded(pc.list_flatten(lists))
        # To take accents away takes most of the time, so that each spelling is looked at once.
        words, word = encoded(unaccented_texts(spellings))
        # One number for a word and a product: sorted, they are in order, and equal ones side by side.
        pairs = word[spelling] * part.size + np.repeat(places(as_one_chunk(rows["product_id"]), ids), lengths)
        pairs.sort()
        pairs = pairs[np.diff(pairs, prepend=-1) > 0]
        word, product = np.divmod(pairs, max(part.size, 1))
        ends = np.cumsum(np.bincount(word, minlength=len(words)))
        return cls(part.size, words, ends, product.astype(_place_type(part.size)))

    @classmethod
    def from_table(cls, table: pa.Table, size: int) -> Self:
        """Read what `to_table` returned.

        Raises
        ------
        ValueError
            When it cannot be of a part of so many products.
        """
        if table.schema.names != SCHEMA.names or table.schema.types != SCHEMA.types:
            raise ValueError("its columns are others")
        words, lists = as_one_chunk(table["word"]), as_one_chunk(table["products"])
        if words.null_count or lists.null_count:
            raise ValueError("a word or its products are missing")
        flat = b"" if not len(lists) else lists.buffers()[2]
        products = np.frombuffer(flat or b"", _place_type(size))
        ends = np.cumsum(pc.binary_length(lists).to_numpy()) // products.itemsize
        if len(products) != (ends[-1] if len(ends) else 0) or (len(products) and products.max() >= size):
            raise ValueError(f"it is not of {size:,} products")
        return cls(size, words, ends, products)

    def to_table(self) -> pa.Table:
        """Return the words as a table, to be written to a file."""
        offsets = np.concatenate([[0], self.ends]).astype(np.int32) * np.int32(self.products.itemsize)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(self.products)]
        lists = pa.Array.from_buffers(pa.binary(), len(self.words), buffers)
        return pa.table([self.words, lists], schema=SCHEMA)

    def containing_all(self, pieces: Sequence[str]) -> Mask:
        """Return which products have words that contain all pieces, each in any word."""
        found = np.ones(self.size, bool)
        for piece in pieces:
            found &= self.containing(piece)
        return found

    def containing(self, piece: str) -> Mask:
        """Return which products have a word that contains a piece, which is in the form in which words are compared."""
        found = np.zeros(self.size, bool)
        hits = np.flatnonzero(pc.match_substring(self.words, piece).to_numpy(zero_copy_only=False))
        starts = self.ends[hits - 1] * (hits > 0)
        for start, end in zip(starts.tolist(), self.ends[hits].tolist(), strict=True):
            found[self.products[start:end]] = True
        return found


def _place_type(size: int) -> type[np.unsignedinteger[Any]]:
    """Return the type of the places of so many products."""
    return np.uint16 if size <= 2**16 else np.uint32


#: A change of how words are made or kept needs a new number. Another version of Arrow may have other normal forms of
#: letters, so that what it made is made again as well.
_FORMAT = f"1, Arrow {pa.__version__}"
_FOLDER, _LIST = ".search", "index.json"

_Made = TypeVar("_Made")


class _WordsFile(msgspec.Struct):
    """What the list holds of a file; see `prodex.files.parquet.FileFacts`."""

    rows: Count
    bytes: Count
    sha256: Digest
    footer: Digest


class _List(msgspec.Struct):
    made_as: str
    files: dict[str, _WordsFile]


class SearchIndex:
    """The words of the texts of a catalogue, part by part.

    Parameters
    ----------
    catalog
        The catalogue.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._parts = [part for part in catalog.parts if part.size]
        self._folder = None if catalog.folder is None else catalog.folder / _FOLDER
        self._held: dict[int, PartWords] = {}
        self._files = self._listed()
        self._making = threading.Lock()

    @property
    def is_ready(self) -> bool:
        """Whether the words of all parts are there: then a search takes no longer than the next one."""
        return not self._missing()

    def make(self, show: Show = lambda *_: None) -> None:
        """Make the words that are not there yet.

        Parameters
        ----------
        show
            Called with the number of parts whose words are there, and the number of all parts.
        """
        with self._making:  # two searches may begin before there are any words
            if not (missing := self._missing()):
                return
            there = len(self._parts) - len(missing)
            for number, _ in enumerate(side_by_side(self._make, missing), there + 1):
                show(number, len(self._parts))
            self._write_list()

    def each(self, work: Callable[[PartWords], _Made]) -> Iterator[_Made]:
        """Work on the words of all parts in threads, and yield the results in the order of the catalogue."""
        self.make()
        before = dict(self._files)
        yield from side_by_side(lambda number: work(self._words(number)), range(len(self._parts)))
        if self._files != before:
            self._write_list()

    def _missing(self) -> list[int]:
        return [
            number
            for number, part in enumerate(self._parts)
            if number not in self._held and self._path(part) is None
        ]

    def _words(self, number: int) -> PartWords:
        """Return the words of a part; if their file is damaged, they are made again."""
        if number in self._held:
            return self._held[number]
        part = self._parts[number]
        path = self._path(part)
        if path is None:
            return self._make(number)
        try:
            facts = msgspec.to_builtins(self._files[path.name])
            return PartWords.from_table(parquet.read(path, facts), part.size)
        except (SnapshotDamaged, ValueError):
            return self._make(number)

    def _make(self, number: int) -> PartWords:
        part = self._parts[number]
        words = PartWords.of(part)
        if self._folder is None or (name := _words_file_name(part)) is None:
            self._held[number] = words
            return words
        try:
            self._files[name] = _write_words(words, self._folder / name)
        except (OSError, StorageError):
            # Somebody else's folder, or a full disk: whoever searches has no need to know.
            self._held[number] = words
        return words

    def _path(self, part: Part) -> Path | None:
        """Return the file with the words of a part, if there is one; its content is checked when it is read."""
        name = _words_file_name(part)
        if self._folder is None or name not in self._files or not is_file(self._folder / name):
            return None
        return self._folder / name

    def _listed(self) -> dict[str, _WordsFile]:
        if self._folder is None or not is_folder(self._folder):
            return {}
        try:
            found = read_json(self._folder / _LIST, _List)
        except (OSError, ValueError):
            return {}
        return found.files if found.made_as == _FORMAT else {}

    def _write_list(self) -> None:
        if self._folder is None or not is_folder(self._folder):
            return
        content = msgspec.json.encode(_List(_FORMAT, self._files))
        try:
            remove_leftovers(self._folder)
            with writing(self._folder / _LIST, private=True) as beside:
                beside.write_bytes(content)
        except (OSError, StorageError):
            return  # without the list the words are made again next time


def _words_file_name(part: Part) -> str | None:
    """Return the name of the file for the words of a part; none for a part in memory, or with some of its products."""
    if part.chosen is not None or not {"products", "texts"} <= part.facts.keys():
        return None
    made_of = "".join(str(part.facts[table]["sha256"]) for table in ("products", "texts"))
    return f"{hashlib.sha256(made_of.encode()).hexdigest()[:32]}.parquet"


def _write_words(words: PartWords, path: Path) -> _WordsFile:
    # The folder of a snapshot that was removed meanwhile must not be made again, and a link is not followed.
    if not is_folder(path.parent.parent) or (is_there(path.parent) and not is_folder(path.parent)):
        raise OSError(f"{path.parent} is not a folder")
    with storage(path):
        make_folder(path.parent, private=True)
    with writing(path, private=True) as beside:
        with parquet.writer(beside, SCHEMA, use_dictionary=False) as file:
            file.write_table(words.to_table())
        facts = parquet.facts_of(beside)
    return msgspec.convert(facts, _WordsFile)
