"""Accepting findings in the section on quality, without a browser: what is written, and what is shown then."""

from __future__ import annotations

import json

import pytest

import prodex
from prodex.notebook.app import App
from prodex.notebook.views.acceptance import finding_key
from prodex.quality import Audit
from prodex.selection import Selection

from .test_audit_view import block, has, press, quality, words

RECORDS = [{"id": 7, "gtin": "03036811359935"}, {"id": 8, "gtin": "03036811359936"}, {"id": 9, "gtin": "7"}]
PROFILE = {"checks": {"valid_gtin": {"severity": "blocker"}, "has_name": {"severity": "warning"}}}


@pytest.fixture
def app() -> App:
    """Show three products of a snapshot, of which two have a wrong GTIN and none has a name."""
    return quality(prodex.audit(prodex.flatten(RECORDS).save("shop"), PROFILE, progress=False))


def typed(app: App, **values: str) -> None:
    """Type into the form."""
    for name, value in values.items():
        if name == "check":
            app.act("acceptance.check", value=value)
        else:
            app.act("form.set", form="acceptance", field=name, value=value)
    app.wait()


def options(app: App, field: str) -> list[tuple[str, str]]:
    """Return what a field offers: what is sent, and what is shown."""
    found = next(one for one in block(app, "acceptance")["fields"] if one["key"] == field)
    return [(one["value"], one["label"]) for one in found["options"]]


def error(app: App, field: str) -> str:
    """Return what stands beside a field."""
    found = next(one for one in block(app, "acceptance")["fields"] if one["key"] == field)
    return str(found.get("error", ""))


def accepted(app: App) -> list[tuple[str, str]]:
    """Return product and check of what is accepted in the audit that is shown."""
    assert isinstance(app.session.audit, Audit)
    found = app.session.audit.failures(accepted=True)
    return list(found[["product_id", "check"]].itertuples(index=False, name=None))


def accept(app: App) -> None:
    press(app, "acceptance.accept")


def withdraw(app: App) -> None:
    press(app, "acceptance.withdraw")


def test_a_finding_a_check_and_all_are_accepted(app: App) -> None:
    """Each with reason and date; the figures with and without are shown."""
    assert "Nothing is accepted of these products." in words(app, "acceptance-box")
    typed(app, check="valid_gtin")
    offered = options(app, "finding")
    assert ["All findings of the products shown", "03036811359936: 03036811359936", "7: 7"] == [
        label for _, label in offered
    ]
    typed(app, finding=offered[1][0], reason="printed so", until="2099-1-5")
    accept(app)
    assert [("8", "valid_gtin")] == accepted(app)
    assert "1 finding accepted by" in words(app, "acceptance-box")
    assert "accepted.jsonl" in words(app, "outcome")
    assert "2 products, 1 accepted" in dict(options(app, "check"))["valid_gtin"]
    assert app.session.audit is not None
    assert "2099-01-05" == str(app.session.audit.failures(accepted=True)["accepted_until"].iloc[0])[:10]
    typed(app, check="has_name", reason="a test")
    accept(app)
    assert 4 == len(accepted(app))
    typed(app, check="")
    withdraw(app)
    assert [] == accepted(app)
    assert "Nothing is accepted of these products" in words(app, "acceptance-box")


def test_whoever_comes_from_a_check_accepts_its_findings_alone(app: App) -> None:
    """And may choose all checks nevertheless."""
    app.act("quality.check", check="valid_gtin")
    app.act("section.open", name="quality")
    app.wait()
    chosen = next(one for one in block(app, "acceptance")["fields"] if one["key"] == "check")
    assert "valid_gtin" == chosen["value"]
    typed(app, reason="printed so")
    accept(app)
    app.wait()
    assert {"valid_gtin"} == {check for _, check in accepted(app)}
    typed(app, check="")
    assert "" == next(one for one in block(app, "acceptance")["fields"] if one["key"] == "check")["value"]


def test_only_the_products_that_are_shown_are_meant(app: App) -> None:
    """A press on the blockers leaves the third product out."""
    press(app, "show blocker")
    app.act("section.open", name="quality")
    app.view()
    app.wait()
    typed(app, reason="looked at")
    accept(app)
    assert {"8", "9"} == {product for product, _ in accepted(app)}


def test_products_that_are_counted_still_are_not_accepted(app: App) -> None:
    """Whoever presses before the figures are those of the filters would accept what nobody has seen."""
    typed(app, reason="x")
    app._is_looked_at = False  # nobody looks, and so nothing is counted
    app.change(lambda session: session.filtered(session.conditions.toggled("grade", "E")))
    app.act("acceptance.accept", of="")
    app.wait()
    assert "being counted" in app.session.notices["quality"].sentence
    assert [] == accepted(app)


def test_what_is_wrong_stands_beside_its_field_in_words(app: App) -> None:
    """No reason, a date that could be two, half a date, and one that has passed; nothing of Python is in it."""
    for reason in ("", "  \n"):
        typed(app, reason=reason)
        accept(app)
        assert "Say why these findings are right as they are, such as: printed so on the pack." == error(
            app, "reason"
        )
    typed(app, reason="x")
    assert "" == error(app, "reason")
    for until, said in (
        ("05.01.2027", "2027-01-05 or 2027-05-01"),
        ("not a whole date", "not a whole date"),
        ("2001-01-01", "2001-01-01 is before the day of the audit"),
    ):
        typed(app, until=until)
        accept(app)
        assert said in error(app, "until")
        assert "reason=" not in words(app)
    assert [] == accepted(app)
    withdraw(app)
    assert "Nothing is accepted, so there is nothing to take back." == error(app, "check")


def test_a_catalogue_in_memory_has_no_place() -> None:
    """The sentence says what to do, and not how a function is called."""
    app = quality(prodex.audit(prodex.flatten(RECORDS), PROFILE, progress=False))
    typed(app, reason="x")
    accept(app)
    assert "The catalogue is in memory" in error(app, "check")
    assert "to=" not in error(app, "check")


@pytest.mark.slow
def test_a_finding_that_is_gone_is_refused(app: App) -> None:
    """A page that shows an older list names the finding; where it is none any more, all would be accepted else."""
    typed(app, check="valid_gtin")
    key = options(app, "finding")[1][0]
    typed(app, finding=key, reason="x")
    mended = prodex.audit(prodex.flatten([RECORDS[0], RECORDS[2]]).save("shop"), PROFILE, progress=False)
    app.change(lambda session: session.replaced(catalog=mended.catalog, audit=mended))
    app.view()
    app.wait()
    assert key not in dict(options(app, "finding"))
    accept(app)
    assert "not among those of the products that are shown now" in error(app, "finding")
    assert [] == accepted(app)
    typed(app, check="has_name")
    accept(app)
    assert [("7", "has_name"), ("9", "has_name")] == accepted(app)


@pytest.mark.slow
def test_a_view_is_compared_with_a_view_and_gives_back_what_is_accepted() -> None:
    """The figures of the night before are those of its view, and what passes in a view is listed to be withdrawn."""
    catalog = prodex.flatten(RECORDS).save("shop")
    for _ in range(2):
        audit = prodex.audit(catalog, PROFILE, progress=False).save()
    audit = prodex.accept(
        audit, audit.failures(product_id="8", check="valid_gtin"), reason="printed so", by="Ana"
    )
    app = quality(audit.with_accepted())
    assert "no change since" in words(app, "tiles")
    assert "higher, better" not in words(app, "tiles")
    assert "1 finding accepted by Ana and taken as passed; without them ready 1 (33.3 %)" in words(app)
    typed(app, check="valid_gtin")
    assert "2 products, 1 accepted" in dict(options(app, "check"))["valid_gtin"]
    marked = [key for key, label in options(app, "finding") if "(accepted: printed so)" in label]
    typed(app, finding=marked[0])
    withdraw(app)
    assert app.session.audit is not None
    assert app.session.audit.as_found is not None
    assert 5 == len(app.session.audit.failures())
    assert "Nothing is accepted of these products" in words(app, "acceptance-box")


@pytest.mark.slow
def test_a_long_list_is_not_offered_one_by_one() -> None:
    """Of more than 200 findings only all can be chosen."""
    many = [{"id": number, "gtin": f"{number:014}"} for number in range(201)]
    app = quality(prodex.audit(prodex.flatten(many).save("many"), PROFILE, progress=False))
    typed(app, check="has_name")
    assert 1 == len(options(app, "finding"))


def test_hostile_values_are_named_by_a_short_key() -> None:
    """A value of 40,000 letters, markup and marks of direction is shown cut, and sent as a digest."""
    hostile = "<b>\u202e" + "ab" * 20_000
    app = quality(
        prodex.audit(prodex.flatten([{"id": 7, "gtin": hostile}]).save("long"), PROFILE, progress=False)
    )
    typed(app, check="valid_gtin")
    (key, label) = options(app, "finding")[1]
    assert 24 == len(key)
    assert len(label) < 1_000
    typed(app, finding=key, reason="<img src=x onerror=alert(1)>")
    accept(app)
    assert [("7", "valid_gtin")] == accepted(app)
    assert len(json.dumps(app.view())) < 100_000
    assert "<img src=x" in options(app, "finding")[1][1]


def test_a_key_tells_findings_apart() -> None:
    """Cells that are joined alike are not the same finding, and what is missing is not what is called so."""
    names = ("product_id", "check", "attribute", "language", "value", "reason")
    keys = {
        finding_key(dict(zip(names, cells, strict=True)))
        for cells in (
            ("1", "c", "a", None, "x", "y"),
            ("1", "c", "a", "None", "x", "y"),
            ("1", "c", "a", None, "xy", ""),
            ("1", "c", "a", None, None, "y"),
        )
    }
    assert 4 == len(keys)


def test_nothing_is_asked_without_an_audit() -> None:
    """A page of before may still show the form."""
    app = quality(None, prodex.flatten(RECORDS))
    assert not has(app, "acceptance")
    app.act("acceptance.accept", of="")
    assert "There is no audit yet. Press Audit first." == app.session.notices["quality"].sentence


def test_the_button_says_how_many_findings_of_how_many_products(app: App) -> None:
    """Of all checks, of one, and of one finding; what is accepted already is not meant, and is what is withdrawn."""
    labels = [one["label"] for one in block(app, "acceptance")["buttons"]]
    assert ["Accept 5 findings of 3 products", "Withdraw 0 findings of 0 products"] == labels
    typed(app, check="valid_gtin", reason="printed so")
    assert "Accept 2 findings of 2 products" == block(app, "acceptance.accept")["label"]
    typed(app, finding=options(app, "finding")[1][0])
    assert "Accept 1 finding of 1 product" == block(app, "acceptance.accept")["label"]
    accept(app)
    assert words(app, "outcome").startswith("1 finding of 1 product newly accepted. The file is ")
    typed(app, check="")
    labels = [one["label"] for one in block(app, "acceptance")["buttons"]]
    assert ["Accept 4 findings of 3 products", "Withdraw 1 finding of 1 product"] == labels
    withdraw(app)
    assert words(app, "outcome").startswith("1 finding of 1 product withdrawn. The file is ")


def test_a_press_that_meant_other_findings_is_refused(app: App) -> None:
    """Another check, or as many findings of other products: nobody has seen these."""
    typed(app, reason="looked at")
    press_of_all = block(app, "acceptance.accept")["args"]
    app.act("acceptance.check", value="valid_gtin")
    app.act("acceptance.accept", **press_of_all)
    app.wait()
    assert "other findings are meant by now than the button said, 2 findings of 2 products" in error(
        app, "check"
    )
    assert [] == accepted(app)
    accept(app)
    assert {"valid_gtin"} == {check for _, check in accepted(app)}


def test_as_many_findings_of_other_products_are_others() -> None:
    """Two products with one finding each: a press for the one does not accept that of the other."""
    records = [{"id": n, "gtin": f"{n:08}", "brand": {"code": brand}} for n, brand in ((1, "A"), (2, "B"))]
    profile = {"checks": {"has_name": {}}}
    app = quality(prodex.audit(prodex.flatten(records).save("two"), profile, progress=False))
    typed(app, reason="looked at")

    def show(brand: str) -> None:
        app.change(lambda session: session.filtered(Selection.of(brand_code=brand)))
        app.view()
        app.wait()

    show("A")
    first = block(app, "acceptance.accept")
    show("B")
    assert first["label"] == block(app, "acceptance.accept")["label"]
    app.act("acceptance.accept", **first["args"])
    app.wait()
    assert [] == accepted(app)
    assert "other findings are meant" in error(app, "check")


def test_all_findings_leave_the_reasons_that_somebody_has_given(app: App) -> None:
    """Who accepts the rest of a check says nothing of what a colleague has accepted with a reason of its own."""
    typed(app, check="valid_gtin", reason="printed so")
    typed(app, finding=options(app, "finding")[1][0])
    accept(app)
    typed(app, finding="", reason="not ours")
    accept(app)
    assert app.session.audit is not None
    found = app.session.audit.failures(accepted=True, check="valid_gtin")
    assert {"8": "printed so", "9": "not ours"} == dict(
        zip(found["product_id"], found["accepted"], strict=True)
    )
