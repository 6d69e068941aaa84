"""What an audit of few products does once: reading, and what it remembers of texts."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from threading import current_thread

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.catalog import Part
from prodex.errors import NotExported, SnapshotDamaged
from prodex.executors import side_by_side
from prodex.quality.remembered import Remembered, has_match
from prodex.quality.rulebook import all_rules
from prodex.quality.states import states_of_verdict
from prodex.tables.frames import to_frame, to_series
from prodex_food.allergen_detection import is_ingredient
from prodex_sandbox.sample import AS_OF, shared_products
from tests.cases import each_row

_PATTERNS = (r"(?i)\bé", r"\pL-$", "^$", "a|b", r"[^\pL]")


@given(st.lists(st.none() | st.text(max_size=8), max_size=12), st.sampled_from(_PATTERNS))
def test_what_is_remembered_is_what_is_found(texts: list[str | None], pattern: str) -> None:
    """A text has a match or none whether it is looked at for the first time or was before, nulls as well."""
    column = pa.array(texts, pa.string())

    for _ in range(2):
        assert pc.match_substring_regex(column, pattern).to_pylist() == has_match(column, pattern).to_pylist()


@each_row("count", [0, 1, 2_000, 2_001, 5_001])
def test_any_number_of_texts_is_answered(count: int) -> None:
    """What was remembered is forgotten when it is too much, and what is asked at once is answered all the same."""
    asked: list[int] = []

    def length(texts: pa.Array) -> pa.Array:
        asked.append(len(texts))
        return pc.utf8_length(texts)

    remembered = Remembered(length, pa.int32())
    for start in (0, count, 2 * count, 0):
        texts = [f"{number:06}" for number in range(start, start + count)] + ["é", "é"]
        assert [*[6] * count, 1, 1] == remembered(pa.array(texts)).to_pylist()

    assert max(asked) <= count + 2


def test_each_text_is_looked_at_once() -> None:
    """Equal texts are one, in one call and in the next."""
    asked: list[list[str]] = []

    def length(texts: pa.Array) -> pa.Array:
        asked.append(texts.to_pylist())
        return pc.utf8_length(texts)

    remembered = Remembered(length, pa.int32())
    remembered(pa.chunked_array([["a", "b"], ["a"]]))
    remembered(pa.array(["b", "c"]))

    assert [["a", "b"], ["c"]] == asked


def test_threads_remember_together() -> None:
    """Of many threads each gets its own answers, also while another one forgets."""
    remembered = Remembered(pc.utf8_length, pa.int32())

    def ask(number: int) -> bool:
        texts = ["x" * (number + length % 7) + str(length) for length in range(1_500)]
        return [len(text) for text in texts] == remembered(pa.array(texts)).to_pylist()

    with ThreadPoolExecutor(4) as threads:
        assert [True] * 24 == list(threads.map(ask, range(24)))


@pytest.fixture
def kept() -> prodex.Catalog:
    """A snapshot of some products of the sample."""
    return prodex.flatten([product.record for product in shared_products(40)][:40]).save("kept")


@pytest.mark.slow
def test_a_part_that_is_read_once_is_the_same(kept: prodex.Catalog) -> None:
    """Every table, every column of it, and a choice of products are as the files have them."""
    (whole,) = kept.parts
    few = whole.choose(pc.field("is_consumer_unit") == True)  # noqa: E712 - an expression

    for part in (whole, few):
        once = part.read_once()
        for table in prodex.flatten([]).tables.index:
            assert part.read(table).equals(once.read(table))
            assert part.rows(table) == once.rows(table)
            assert part.columns(table) == once.columns(table)
            for column in part.columns(table)[:4]:
                assert part.read(table, [column]).equals(once.read(table, [column]))


def test_a_part_that_is_read_once_lacks_what_the_files_lack(kept: prodex.Catalog) -> None:
    """What was not exported is not known, and a damaged file is damaged."""
    (part,) = kept.parts
    files = {name: path for name, path in part.files.items() if name != "texts"}
    without = replace(part, files=files, lacking={"products": frozenset({"brand"})}).read_once()

    with pytest.raises(NotExported, match="texts is not in this catalogue"):
        without.read("texts")
    with pytest.raises(NotExported, match="no column 'brand'"):
        without.read("products", ["brand"])
    assert not without.holds("texts")

    path: Path = part.files["codes"]
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(content)
    with pytest.raises(SnapshotDamaged):
        part.read_once().read("codes", ["attribute"])


@pytest.mark.slow
def test_what_was_not_exported_is_unknown_to_many_products_as_to_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An export without a column of a child table is judged by what it has: nothing crashes, however it is read."""
    prodex.flatten([product.record for product in shared_products(40)]).export(
        tmp_path / "part",
        columns={"texts": ["product_id", "attribute", "text"], "pictures": ["product_id", "url"]},
    )
    catalog = prodex.read_export(tmp_path / "part")

    few = prodex.audit(catalog, "core", progress=False, now=AS_OF)
    monkeypatch.setattr("prodex.quality.run._FEW", 0)
    many = prodex.audit(catalog, "core", progress=False, now=AS_OF)

    assert np.array_equal(few.states, many.states)
    assert [] == list(few.crashes) == list(many.crashes)


@pytest.mark.slow
def test_few_products_are_judged_as_many(kept: prodex.Catalog) -> None:
    """From files, from memory and by an executor, which reads column by column, an audit is the same."""
    in_memory = prodex.flatten([product.record for product in shared_products(40)][:40])
    with ThreadPoolExecutor(2) as threads:
        audits = [
            prodex.audit(catalog, "online-listing", executor=executor, progress=False, now=AS_OF)
            for catalog, executor in ((kept, None), (in_memory, None), (kept, threads))
        ]

    first = audits[0]
    for other in audits[1:]:
        assert first.matrix.equals(other.matrix)
        # Only findings of a snapshot are dated.
        found, others = (one.failures().drop(columns="first_seen") for one in (first, other))
        assert found.equals(others)


def test_a_profile_follows_a_rule_that_takes_the_place_of_a_shipped_one() -> None:
    """Profiles of prodex are read once a process, unless one of their rules is another one now."""
    assert prodex.Profile.read("core") is prodex.Profile.read("core")
    shipped = all_rules()["valid_gtin"]

    @prodex.packs.rule(title="own", severity="info", dimension="validity", block="identity", replace=True)
    def valid_gtin(products: object) -> prodex.packs.Verdict:
        """Ours."""
        return prodex.packs.Verdict([False] * len(products))  # type: ignore[arg-type]

    try:
        (ours,) = [one for one in prodex.Profile.read("core").checks if one.rule.id == "valid_gtin"]
        (inherited,) = [one for one in prodex.Profile.read("food-eu").checks if one.rule.id == "valid_gtin"]
        assert ("own", "own") == (str(ours.title), str(inherited.title))
    finally:
        all_rules()["valid_gtin"] = shipped
    (again,) = [one for one in prodex.Profile.read("core").checks if one.rule.id == "valid_gtin"]
    assert shipped is again.rule


def test_one_item_is_done_where_it_is_asked_for() -> None:
    """Most catalogues are of one part, for which no thread is started; more items have threads."""
    here = current_thread().name

    assert [] == list(side_by_side(str, []))
    assert [here] == list(side_by_side(lambda _: current_thread().name, [1]))
    assert here not in list(side_by_side(lambda _: current_thread().name, [1, 2]))
    assert 1 == len({*side_by_side(lambda _: current_thread().name, range(5), threads=1)} - {here})
    with pytest.raises(ValueError, match="invalid literal"):
        list(side_by_side(int, ["x"]))


@each_row(
    "values",
    [
        pa.array(["a", None]),
        pa.array(["a", None, "a"]).dictionary_encode(),
        pa.array([1, None], pa.int64()),
        pa.array([True, None]),
        pa.array([1.5, None]),
        pa.array([datetime(2026, 1, 1), None], pa.timestamp("ms")),  # noqa: DTZ001 - as the service sends them
        pa.array([datetime(2026, 1, 1), None], pa.timestamp("s", "UTC")),  # noqa: DTZ001
        pa.array([], pa.string()),
    ],
)
def test_a_column_is_as_that_of_a_frame(values: pa.Array) -> None:
    """One column has the dtype, the values and the name that it has in a frame."""
    whole = to_frame(pa.table([values], names=["it"]))["it"]
    alone = to_series("it", values)

    assert (whole.dtype, whole.name) == (alone.dtype, alone.name)
    assert whole.equals(alone)


def test_verdicts_without_a_finding_still_have_evidence_that_fits() -> None:
    """Evidence of no row is none, whatever its words are; words for rows that do not exist are refused."""
    from prodex.quality.states import VerdictRefused

    scope = pc.equal(pa.array([1, 1]), 1)
    for words in (None, "a", [], pa.array([], pa.string())):
        _, findings, _ = states_of_verdict(
            prodex.packs.Verdict([False, False], evidence=prodex.packs.Evidence([], "a", None, words)),
            scope,
            0,
        )
        assert 0 == findings.num_rows
    with pytest.raises(VerdictRefused, match="1 values of value for 0 rows"):
        states_of_verdict(
            prodex.packs.Verdict([False, False], evidence=prodex.packs.Evidence([], "a", None, ["x"])),
            scope,
            0,
        )


@each_row(
    ("word", "language", "known"),
    [("tomaten", "de", True), ("tomatensaft", "de", True), ("verpackung", "de", False), ("", "de", False)],
)
def test_ingredients_are_known_by_whole_words_and_by_patterns(word: str, language: str, known: bool) -> None:
    """A word of the list and a word made with one name an ingredient, and no other does."""
    assert known == is_ingredient(word, (language,))


@pytest.mark.slow
def test_a_command_imports_what_it_does() -> None:
    """The command line begins without the network, rules, sending, comparisons and panels."""
    code = "import sys, prodex.cli; print(*sorted(sys.modules))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    later = {"service", "quality", "send", "compare", "load", "worklists", "corrections", "notebook", "store"}
    assert set() == {f"prodex.{name}" for name in later} & set(ended.stdout.split())


def test_a_part_in_memory_stays_as_it_is() -> None:
    """There is nothing to read of a part that is in memory."""
    part = Part.in_memory({"products": prodex.flatten([{"id": 7}]).arrow("products")})

    assert part is part.read_once()
