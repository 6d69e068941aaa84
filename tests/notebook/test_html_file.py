"""Files for colleagues, as Python writes them: what is in them, what is left out, and that nothing is markup."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import prodex
from prodex.cli import main
from prodex.errors import InputError, StorageError
from prodex.notebook.assets import file_script
from prodex.notebook.html_file.packing import PackedParts, Packer, packed_together
from prodex.notebook.views.card_contents import read_card, read_cards
from prodex.notebook.views.card_parts import card_parts
from prodex.notebook.widget import explore
from prodex.progress import SILENT
from prodex.selection import Selection
from prodex_sandbox.sample import AS_OF, shared_products
from tests.notebook import canary
from tests.quality import hostile
from tests.quality.hostile import LONG, STRINGS

_PART = re.compile(r'<script type="text/x-prodex" id="prodex-([\w-]+)">([\w+/=]*)</script>')
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inside: st.lists(inside) | st.dictionaries(st.text(max_size=3), inside, max_size=3),
    max_leaves=20,
)


@pytest.fixture(scope="module")
def sample() -> tuple[prodex.Catalog, prodex.quality.Audit]:
    """60 products of the sample, audited."""
    catalog = prodex.flatten(product.record for product in shared_products(60))
    return catalog, prodex.audit(catalog, "online-listing", now=AS_OF, progress=False)


def parts_of(path: Path) -> dict[str, Any]:
    """Return the parts of a file by their names."""
    found = {
        name: gzip.decompress(base64.b64decode(text)) for name, text in _PART.findall(path.read_text("utf-8"))
    }
    return {name: json.loads(content) for name, content in found.items()}


def unpacked(number: int, shapes: list[list[str]], nodes: list[Any]) -> Any:
    """Return a value that was packed."""
    node = nodes[number]
    if isinstance(node, str):
        return node
    if isinstance(node, dict):
        return node["v"]
    shape, *inside = node
    made = [unpacked(number + one if one < 0 else one, shapes, nodes) for one in inside]
    return made if shape < 0 else dict(zip(shapes[shape], made, strict=True))


def cards_of(path: Path) -> list[Any]:
    """Return the cards of a file."""
    parts = parts_of(path)
    shapes, common = parts["cards"]["shapes"], parts["cards"]["nodes"]
    chunks = [parts[f"cards-{number}"] for number in range(len(parts) - 2)]
    return [unpacked(root, shapes, common + one["nodes"]) for one in chunks for root in one["roots"]]


@given(st.lists(_JSON, max_size=4), st.lists(_JSON, max_size=4))
def test_what_is_packed_is_unpacked_as_it_was(common: list[Any], own: list[Any]) -> None:
    """Any JSON, with what others have in common and without: 1, 1.0 and true stay apart."""
    before = packed_together([*common, *own[:1]])
    packer = Packer(before)
    roots = [packer.pack(one) for one in own]

    shapes = [list(one) for one in packer.shapes]
    nodes = json.loads(json.dumps(before.nodes + packer.nodes))
    assert json.dumps(own) == json.dumps([unpacked(root, shapes, nodes) for root in roots])


def test_cards_that_are_read_together_are_those_that_are_read_alone(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some products at a time, with their audit: texts, gaps, findings, what cannot be read."""
    monkeypatch.setattr("prodex.exploration.card.record._AT_A_TIME", 7)
    catalog, audit = sample
    odd = prodex.flatten(
        [*canary.records(3), {"id": 8, "brand": "bare", "assets": {"pictures": "none"}}, {"id": 9}]
    )
    for products, judged in (
        (catalog, audit),
        (catalog, None),
        (odd, prodex.audit(odd, "online-listing", progress=False)),
    ):
        alone = [read_card(products, one, judged) for one in products.products["product_id"]]

        assert [card_parts(one) for one in alone] == [card_parts(one) for one in read_cards(products, judged)]


def test_every_card_is_in_the_file(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the panel shows it, in the order of the products: also where there are several parts."""
    monkeypatch.setattr("prodex.notebook.html_file.write._SAMPLE", 5)
    monkeypatch.setattr("prodex.notebook.html_file.write.EACH", 9)
    monkeypatch.setattr("prodex.notebook.html_file.write.EACH", 9)
    catalog, audit = sample
    path = explore(catalog, audit=audit).to_html(tmp_path / "shop.html", progress=False).path

    expected = [card_parts(one) for one in read_cards(catalog, audit)]
    assert json.loads(json.dumps(expected)) == cards_of(path)
    assert catalog.products["product_id"].tolist() == parts_of(path)["data"]["ids"]


def test_a_file_has_the_products_that_the_panel_shows(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path
) -> None:
    """Those that meet the filters, with the columns and the order of the table; the figures are about them."""
    catalog, audit = sample
    explored = explore(catalog, audit=audit)
    explored.app.act("columns.add", value="unit_type")
    explored.app.act("table.sort", column="name")
    brand = str(catalog.products["brand_code"].mode()[0])
    explored.selection = Selection().toggled("brand", brand)
    path = explored.to_html(tmp_path / "shop.html", progress=False).path

    data = parts_of(path)["data"]
    assert explored.catalog.products["product_id"].tolist() == data["ids"]
    assert 0 < len(data["ids"]) < len(catalog)
    assert "unit_type" == data["columns"][-1]["key"]
    assert {"column": "name", "descending": False} == data["sort"]
    assert f"{len(data['ids'])} products audited with" in json.dumps(data["quality"])


def test_what_is_accepted_is_said_beside_the_figures_that_count_it(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path
) -> None:
    """With the score as if it passed, as a panel has it; without any there is nothing about it."""
    catalog, audit = sample
    accepted = prodex.accept(audit, reason="printed so", by="ann", to=tmp_path / "accepted.jsonl")
    said = {}
    for name, one in (("as-found", audit), ("accepted", accepted)):
        path = explore(catalog, audit=one).to_html(tmp_path / f"{name}.html", progress=False).path
        said[name] = json.dumps(parts_of(path)["data"]["quality"])

    found = re.search(r"([\d,]+) findings accepted by ann; with them ready .* score 100 %", said["accepted"])
    assert found is not None
    assert f"{len(audit.failures()):,}" == found[1]
    assert "Accepted findings" not in said["as-found"]


def test_more_products_than_a_file_has_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of the table are there; the file and the call say of how many, and how to get the others."""
    monkeypatch.setattr("prodex.notebook.html_file.write.MOST_PRODUCTS", 3)
    explored = explore(prodex.flatten([{"id": n, "brand": {"code": code}} for n, code in enumerate("EDCBA")]))
    explored.app.act("table.sort", column="brand")
    written = explored.to_html(tmp_path / "shop.html", progress=False)

    data = parts_of(written.path)["data"]
    assert {"4", "3", "2"} == set(data["ids"])
    assert "3 of 5 products" in written.notes[0]
    assert ".to_html(" in written.notes[0]
    assert written.notes[0] in json.dumps(data["head"], ensure_ascii=False).replace('\\"', '"')
    assert "3 of 5 products" in str(written)


def test_cards_without_room_are_counted(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table has all products; of the cards the first are there, and it is said how many."""
    monkeypatch.setattr("prodex.notebook.html_file.write._SAMPLE", 5)
    monkeypatch.setattr("prodex.notebook.html_file.write.EACH", 10)
    monkeypatch.setattr("prodex.notebook.html_file.write.EACH", 10)
    catalog, audit = sample
    whole = explore(catalog, audit=audit).to_html(tmp_path / "whole.html", progress=False)
    sizes = {name: len(text) for name, text in _PART.findall(whole.path.read_text("utf-8"))}
    monkeypatch.setattr("prodex.notebook.html_file.write._SHAPES", 200)
    monkeypatch.setattr(
        "prodex.notebook.html_file.write.MOST_BYTES", whole.size - sizes["cards-5"] - sizes["cards-4"]
    )
    written = explore(catalog, audit=audit).to_html(tmp_path / "shop.html", progress=False)

    data = parts_of(written.path)["data"]
    assert 60 == len(data["ids"])
    assert 0 < data["cards"]["count"] < 60
    assert len(cards_of(written.path)) == data["cards"]["count"]
    assert f"first {data['cards']['count']} of 60 products" in written.notes[-1]
    assert written.size < whole.size - sizes["cards-5"]


def test_a_file_is_no_larger_than_the_limit_whatever_cards_have_in_common(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long texts that differ: those of the first cards, by which is found what most have in common, count as well."""
    draw = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    french = {"code": "fr", "label": "fr"}
    texts = ["".join(draw.choices(letters, k=12_000)) for _ in range(120)]
    catalog = prodex.flatten(
        {"id": n, "namePublicLong": [{"data": text, "expressedIn": french}]} for n, text in enumerate(texts)
    )
    monkeypatch.setattr("prodex.notebook.html_file.write.EACH", 5)
    monkeypatch.setattr("prodex.notebook.html_file.write.MOST_BYTES", 1_450_000)
    written = explore(catalog).to_html(tmp_path / "shop.html", progress=False)

    assert written.size == written.path.stat().st_size <= 1_450_000
    assert 0 < parts_of(written.path)["data"]["cards"]["count"] < 120


def test_texts_without_room_are_not_searched_and_that_is_said(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Labels and numbers are; and what does not fit at all is refused with what to do."""
    catalog, _ = sample
    whole = explore(catalog).to_html(tmp_path / "whole.html", progress=False)
    size = len(dict(_PART.findall(whole.path.read_text("utf-8")))["data"])
    around = whole.size - sum(len(text) for _, text in _PART.findall(whole.path.read_text("utf-8")))
    monkeypatch.setattr("prodex.notebook.html_file.write._SHAPES", 0)
    monkeypatch.setattr("prodex.notebook.html_file.write.MOST_BYTES", around + size - 2_000)
    written = explore(catalog).to_html(tmp_path / "shop.html", progress=False)

    data = parts_of(written.path)["data"]
    assert data["search"]["hint"] == written.notes[0]
    assert len(data["search"]["texts"]) < len(parts_of(whole.path)["data"]["search"]["texts"])

    monkeypatch.setattr("prodex.notebook.html_file.write.MOST_BYTES", around + 1_000)
    with pytest.raises(InputError, match=r"60 products take .* MB without their cards"):
        explore(catalog).to_html(tmp_path / "none.html", progress=False)
    assert not (tmp_path / "none.html").exists()


def test_nothing_of_a_supplier_is_markup_in_the_file(tmp_path: Path) -> None:
    """All of it is compressed; of the file itself only our script, our style sheet and the title are text."""
    catalog = hostile.catalog()
    path = (
        explore(catalog, audit=prodex.audit(catalog, "online-listing", progress=False))
        .to_html(tmp_path / "shop.html", progress=False)
        .path
    )

    text = path.read_text("utf-8")
    around = _PART.sub("", text)
    assert [] == [one for one in (*STRINGS, "evil.example") if one in around]
    assert 1 == around.count("</script>")
    assert LONG in json.dumps(cards_of(path))


def test_the_policy_lets_our_script_and_style_run_and_nothing_else(tmp_path: Path) -> None:
    """By their hashes, and nothing may be fetched, framed, sent or made of markup."""
    text = (
        explore(prodex.flatten([{"id": 7}]))
        .to_html(tmp_path / "shop.html", progress=False)
        .path.read_text("utf-8")
    )

    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', text)
    rules = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    (script,), (style,) = (
        re.findall(r"<script>(.*?)</script>", text, re.DOTALL),
        re.findall(r"<style>(.*?)</style>", text, re.DOTALL),
    )
    hashed = [
        f"'sha256-{base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()}'"
        for one in (script, style)
    ]
    assert hashed == [rules.pop("script-src"), rules.pop("style-src")]
    assert {
        "default-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    } == rules


def test_the_same_products_give_the_same_bytes(
    sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path
) -> None:
    """Whoever keeps files of several days sees which differ."""
    catalog, audit = sample
    made = [explore(catalog, audit=audit).to_html(tmp_path / name, progress=False).path for name in "ab"]

    assert made[0].read_bytes() == made[1].read_bytes()


def test_a_file_is_there_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    """An existing one is replaced at the end; a folder is refused, and what cannot be written leaves nothing."""
    explored = explore(prodex.flatten([{"id": 7}]))
    (tmp_path / "shop.html").write_text("before")
    assert "<!doctype html>" in explored.to_html(tmp_path / "shop.html").path.read_text("utf-8")
    with pytest.raises(InputError, match=r"is a folder\. Name the file"):
        explored.to_html(tmp_path)
    with pytest.raises(StorageError):
        explored.to_html(tmp_path / "shop.html" / "below.html")
    assert ["shop.html"] == [one.name for one in tmp_path.iterdir()]


def test_no_products_are_a_file_too(tmp_path: Path) -> None:
    """With an empty table, and without a card."""
    data = parts_of(explore(prodex.flatten([])).to_html(tmp_path / "none.html", progress=False).path)

    assert [] == data["data"]["ids"]
    assert 0 == data["data"]["cards"]["count"]


def changed() -> prodex.compare.Difference:
    """Return a difference of thirty products: some texts changed, some pictures gone, some products new and gone."""
    records = [product.record for product in shared_products(40)]
    after = json.loads(json.dumps(records[5:]))
    for number, record in enumerate(after[:30]):
        record["serves"] = number
        if number % 3 == 0:
            record["namePublicLong"] = [
                {"expressedIn": {"code": "fra-FR"}, "data": STRINGS[number % len(STRINGS)]}
            ]
    return prodex.diff(prodex.flatten(records[:35]), prodex.flatten(after))


def test_changes_are_in_the_file_by_cause(tmp_path: Path) -> None:
    """Every changed value is, with what it is called and whose it is; products that came and went are listed."""
    difference = changed()
    written = difference.to_html(tmp_path / "changes.html", progress=False)

    parts = parts_of(written.path)
    data = parts["data"]
    listed = {tuple(one["value"]): one for one in data["choices"]}
    assert len(difference.changes) == len(listed["changed", None]["rows"])
    assert len(difference.changes) == sum(len(parts[f"values-{n}"]["roots"]) for n in range(len(parts) - 2))
    serves = difference.changes[difference.changes["attribute"] == "serves"]
    assert len(serves) == len(listed["changed", "serves"]["rows"])
    for outcome in ("added", "removed"):
        of = difference.products[difference.products["change"] == outcome]
        assert len(of) == len(listed[outcome, None]["products"]) == 5
    said = json.dumps(data["blocks"], ensure_ascii=False)
    assert [] == [
        one for one in difference.causes["says"] if json.dumps(one, ensure_ascii=False)[1:-1] not in said
    ]
    assert () == written.notes


def test_changes_of_more_products_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file and the call say of how many products the values are, and how to get those of others."""
    monkeypatch.setattr("prodex.notebook.html_file.changes.MOST_PRODUCTS", 4)
    difference = changed()
    written = difference.to_html(tmp_path / "changes.html", progress=False)

    products = difference.changes["product_id"].nunique()
    assert f"4 of {products} changed products" in written.notes[0]
    every = next(
        one for one in parts_of(written.path)["data"]["choices"] if one["value"] == ["changed", None]
    )
    assert len(every["rows"]) < every["every"] == len(difference.changes)


def test_products_that_came_and_went_without_being_listed_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and the call say of how many, also where no value has changed; what does not fit at all is refused."""
    old = prodex.flatten([{"id": n} for n in range(7)])
    new = prodex.flatten([{"id": n, "isOwnedBy": {"name": f"{n} {n}"}} for n in range(10, 19)])
    monkeypatch.setattr("prodex.notebook.html_file.changes.MOST_PRODUCTS", 4)
    written = prodex.diff(old, new).to_html(tmp_path / "changes.html", progress=False)

    said = [f"4 of {count} {what} products are listed" for count, what in ((9, "added"), (7, "removed"))]
    head = json.dumps(parts_of(written.path)["data"]["head"])
    assert [[True, True], [True, True]] == [[one in "".join(written.notes), one in head] for one in said]
    monkeypatch.setattr("prodex.notebook.html_file.changes.MOST_BYTES", 100_000)
    with pytest.raises(InputError, match="do not fit into a file"):
        prodex.diff(old, new).to_html(tmp_path / "none.html", progress=False)
    assert not (tmp_path / "none.html").exists()


def test_values_without_room_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first values are there, and it is said how many."""
    difference = changed()
    whole = difference.to_html(tmp_path / "whole.html", progress=False)
    monkeypatch.setattr("prodex.notebook.html_file.changes._EACH", 10)
    monkeypatch.setattr("prodex.notebook.html_file.changes._SAMPLE", 10)
    monkeypatch.setattr("prodex.notebook.html_file.changes._SHAPES", 1_000)
    monkeypatch.setattr("prodex.notebook.html_file.changes.MOST_BYTES", whole.size)
    written = difference.to_html(tmp_path / "changes.html", progress=False)

    data = parts_of(written.path)["data"]
    there = len(data["choices"][0]["rows"])
    assert f"first {there:,} of {len(difference.changes):,} changed values" in written.notes[-1]
    assert 0 < there < len(difference.changes)


def test_cards_have_what_they_have_in_common_once() -> None:
    """Fifty cards take less than a tenth of what they would take by themselves."""
    catalog = prodex.flatten(product.record for product in shared_products(160))
    alone = [len(gzip.compress(json.dumps(card_parts(one)).encode())) for one in read_cards(catalog)]

    cards = PackedParts("cards", map(card_parts, read_cards(catalog)), 50, 100)
    with SILENT.phase("Making cards") as phase:
        parts, packed = cards.within(1_000_000, phase)

    assert (160, 4) == (packed, len(parts))
    assert len(parts[2]) < sum(alone) / len(alone) * 50 / 2.5


def test_a_file_says_nothing_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a snapshot its name and its moment; no folder, no home and no address of the service."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "somebodys-home"))
    saved = prodex.flatten(product.record for product in shared_products(20)).save("shop")
    audit = prodex.audit(saved, "online-listing", now=AS_OF, progress=False)
    audit.save()
    files = [explore(saved, audit=audit).to_html(tmp_path / "shop.html", progress=False)]
    later = prodex.flatten(product.record for product in shared_products(25)).save("shop")
    files.append(prodex.diff(saved, later).to_html(tmp_path / "changes.html", progress=False))

    for one in files:
        said = json.dumps([parts_of(one.path), _PART.sub("", one.path.read_text("utf-8"))])
        assert "shop, 20" in said
        assert [] == [
            place
            for place in ("somebodys-home", str(tmp_path), str(Path.home()), "127.0.0.1")
            if place in said
        ]


def pressed(value: Any) -> set[str]:
    """Return what can be asked for by presses in some blocks."""
    if isinstance(value, list):
        return {name for one in value for name in pressed(one)}
    if not isinstance(value, dict):
        return set()
    own = {value["do"]} if isinstance(value.get("do"), str) and value["do"] else set()
    return own | {name for one in value.values() for name in pressed(one)}


def test_every_press_is_answered(sample: tuple[prodex.Catalog, prodex.quality.Audit], tmp_path: Path) -> None:
    """What Python has written as buttons and rows asks for nothing that the script of the file does not know."""
    catalog, audit = sample
    shop = parts_of(explore(catalog, audit=audit).to_html(tmp_path / "shop.html", progress=False).path)[
        "data"
    ]
    changes = parts_of(changed().to_html(tmp_path / "changes.html", progress=False).path)["data"]

    asked = pressed(shop["quality"]) | pressed(cards_of(tmp_path / "shop.html")) | pressed(changes["blocks"])
    assert {"checks.open", "comparison.show", "quality.check", "quality.failing"} <= asked
    assert [] == [one for one in sorted(asked) if f'"{one}":' not in file_script()]


def test_the_command_writes_products_or_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of one snapshot its products, with its newest audit; of two what changed. It serves nothing beside it."""
    monkeypatch.setenv("PRODEX_HOME", str(tmp_path / "home"))
    records = [product.record for product in shared_products(12)]
    first = prodex.flatten(records).save("shop")
    later = prodex.flatten([{**records[0], "serves": 7}, *records[2:]]).save("shop")
    prodex.audit(later, "online-listing", now=AS_OF, progress=False).save()
    assert first.folder is not None

    def run(*words: str) -> int:
        monkeypatch.setattr("sys.argv", ["prodex", "open", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        return int(ended.value.code or 0)

    shop, changes = tmp_path / "shop.html", tmp_path / "changes.html"
    assert 0 == run("shop", "--to", str(shop))
    assert 0 == run("shop", f"shop@{first.folder.name}", "--to", str(changes))
    said = capsys.readouterr().out
    assert (f"{shop} (" in said, f"{changes} (" in said) == (True, True)
    assert 11 == len(parts_of(shop)["data"]["ids"])
    assert parts_of(shop)["data"]["quality"]
    assert "changes" == parts_of(changes)["data"]["kind"]
    assert 0 != run("shop", "--to", str(shop), "--send")
    assert "--to writes a file: it serves no page" in capsys.readouterr().err
