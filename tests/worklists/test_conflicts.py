"""Answers that somebody has to decide, that change nothing, or that are sent: none is settled in silence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import prodex
from prodex.errors import InputError
from tests.quality.workbooks import questions

from .bakery import RECORDS, Answer, stored, text

FIRST, SECOND, THIRD = (one["gtin"] for one in RECORDS)
PROFILE = {"checks": {"names_not_in_capitals": {}, "texts_without_placeholders": {}}}


def row(
    new: str, gtin: str = FIRST, field: str = "namePublicLong", language: str = "fr", **keys: Any
) -> dict[str, Any]:
    """Return a row of answers."""
    return {"GTIN": gtin, "Field": field, "Language": language, "New value": new, **keys}


def test_two_answers_to_one_place_both_need_confirmation(tmp_path: Path, catalog: prodex.Catalog) -> None:
    """In two files, each names the other; the same said twice is one answer."""
    for name, new in (("ben", "Pain de seigle"), ("eva", "Pain bis"), ("ida", "Pain bis")):
        line = f"GTIN;Field;Language;New value\n{FIRST};namePublicLong;fr;{new}\n{THIRD};description;fr;Bon pain\n"
        (tmp_path / f"{name}.csv").write_text(line, "utf-8")
    fix = prodex.read_worklist(tmp_path, catalog, profile=PROFILE)
    assert fix.counts == {"conflict": 3, "accepted": 1, "unchanged": 2}
    assert "6 answers: 1 can be sent, 2 change nothing, 3 in conflict" in str(fix)
    assert "ben.csv D2 says 'Pain de seigle'" in fix.conflicts["reason"][1]
    assert "eva.csv D2 says 'Pain bis'" in fix.conflicts["reason"][0]
    assert fix.preview()["after"].tolist() == ["Bon pain"]


def test_what_waits_is_gone_or_has_changed_is_a_conflict(answer: Answer) -> None:
    """Each says why, and nothing of it is sent."""
    fix = answer(
        row("Nom", SECOND),
        row("Nom", "00000000000017"),
        row("Nom", FIRST, **{"Value seen": "VIEUX NOM", "Last changed": "2026-10-01T06:00:00"}),
        row("Nom", THIRD, **{"Value seen": "VIEUX NOM"}),
    )
    assert fix.counts == {"conflict": 4}
    for reason, words in zip(
        fix.conflicts["reason"], ("waits", "is gone", "was changed", "was changed"), strict=True
    ):
        assert words in reason
    with pytest.raises(InputError, match="No answer is accepted"):
        fix.apply(prodex.connect("sandbox"))


def test_the_value_that_was_seen_may_be_escaped(tmp_path: Path) -> None:
    """A CSV has an apostrophe before a text that a spreadsheet would run; the product has none, and did not change."""
    record = RECORDS[2] | {"description": [text("fra-FR", "-")], "updatedAt": "2026-11-10T06:00:00"}
    catalog = prodex.flatten([record])
    profile = {
        "checks": {"names_are_words": {}, "text_says_enough": {"attribute": "description", "characters": 20}}
    }
    rows = prodex.audit(catalog, profile).worklist_rows().assign(updated_at="2026-11-01T06:00:00", value="'-")
    rows["new_value"] = "Un pain de campagne aux graines de lin, cuit au four à bois chaque matin."
    rows.to_csv(tmp_path / "answers.csv", index=False)
    fix = prodex.read_worklist(tmp_path / "answers.csv", catalog, profile=profile)
    assert "conflict" not in fix.counts
    assert 1 == len(fix.preview())


def test_what_is_there_already_changes_nothing(answer: Answer) -> None:
    """Also as a code with another label, or a quantity in the same unit."""
    fix = answer(
        row("PAIN DE CAMPAGNE AUX GRAINES", **{"Value seen": "old"}),
        row("Acme", field="brand", language=""),
        row("500 g", field="netContent", language=""),
        row("true", field="isConsumerUnit", language=""),
    )
    assert fix.counts == {"unchanged": 4}
    assert "1 answer: 1 changes nothing" in str(answer(row("500 g", field="netContent", language="")))


def test_a_row_that_was_mixed_up_is_refused(answer: Answer) -> None:
    """Whoever sorts one column alone has the id of one product beside the GTIN of another."""
    fix = answer(row("Nom", FIRST, Product="3"), row("Nom", FIRST, Product="1"))
    assert "mixed up" in fix.refused["reason"][0]
    assert len(fix.accepted) == 1


def test_an_answer_that_does_not_satisfy_its_rule_is_refused(answer: Answer) -> None:
    """With the words of the rule; another answer of the same product is sent."""
    fix = answer(
        row("PAIN BIS AUX GRAINES DE LIN", Check="names_not_in_capitals"),
        row("Boerenbrood met zaden", language="nl"),
        row("test", THIRD, Check="texts_without_placeholders"),
        profile=PROFILE,
    )
    assert [one.partition(":")[0] for one in fix.refused["reason"]] == [
        "the check names_not_in_capitals would still fail",
        "the check texts_without_placeholders would still fail",
    ]
    assert fix.preview()["after"].tolist() == ["Boerenbrood met zaden"]


def test_the_effect_is_what_the_audit_then_says(answer: Answer) -> None:
    """Fixed by the accepted answers, and by nothing else."""
    fix = answer(row("Pain de campagne", Check="names_not_in_capitals"), profile=PROFILE)
    assert fix.effect().changes("fixed")[["gtin", "check"]].values.tolist() == [
        [FIRST, "names_not_in_capitals"]
    ]


def test_several_texts_of_one_language_need_their_position(answer: Answer) -> None:
    """With it the one is corrected and the other stays."""
    asked = row("Un bon pain", field="description")
    fix = answer(asked)
    assert "2 texts of description" in fix.refused["reason"][0]
    fix = answer({**asked, "Language code": "fra-FR", "Position": "1"})
    (written,) = fix._judged.changes.records
    assert [one["data"] for one in written["description"]] == ["Un pain", "Un bon pain"]


@pytest.mark.slow
def test_only_what_was_accepted_is_sent_and_nothing_else_moves(
    answer: Answer, mill: prodex.service.Client
) -> None:
    """Whatever was answered beside it, and whatever stands beside it."""
    catalog = prodex.load_products(mill, name="mill", progress=False)
    before = stored(mill, FIRST)
    fix = answer(row("Pain bis"), row("x" * 201, language="nl"), row("?", THIRD), catalog=catalog)
    tracking = fix.apply(mill, progress=False).wait(progress=False)
    assert tracking.status == "SUCCESS"
    after = stored(mill, FIRST)
    assert {name for name in before if before[name] != after[name]} <= {"namePublicLong", "updatedAt"}
    assert [one["data"] for one in after["namePublicLong"]] == ["Pain bis", "Boerenbrood"]
    assert tracking.tracking_ids == fix.apply(mill, progress=False).tracking_ids


@pytest.mark.slow
def test_what_changed_at_the_service_meanwhile_is_not_undone(
    answer: Answer, mill: prodex.service.Client
) -> None:
    """The place that somebody else has corrected becomes a conflict; a change beside it is kept."""
    catalog = prodex.load_products(mill, name="mill", progress=False)
    rows = (row("Pain bis"), row("Boerenbrood met zaden", language="nl"))
    fix = answer(
        *(
            {**one, "Value seen": seen}
            for one, seen in zip(rows, ("PAIN DE CAMPAGNE AUX GRAINES", "Boerenbrood"), strict=True)
        ),
        catalog=catalog,
    )
    theirs = [text("fra-FR", "Pain de la ferme"), text("nld-NL", "Boerenbrood"), text("eng-GB", "Farm bread")]
    prodex.upsert(mill, [{"gtin": FIRST, "namePublicLong": theirs}], progress=False).wait(progress=False)

    fix.apply(mill, progress=False).wait(progress=False)
    assert fix.conflicts["answer"].tolist() == ["Pain bis"]
    assert "'Pain de la ferme' in place of 'PAIN DE CAMPAGNE AUX GRAINES'" in fix.conflicts["reason"][0]
    names = [one["data"] for one in stored(mill, FIRST)["namePublicLong"]]
    assert names == ["Pain de la ferme", "Boerenbrood met zaden", "Farm bread"]


@pytest.mark.slow
def test_what_the_service_refuses_comes_back_with_its_words(
    answer: Answer, mill: prodex.service.Client, tmp_path: Path
) -> None:
    """As a refused answer, and in the worklist for its owner."""
    catalog = prodex.load_products(mill, name="mill", progress=False)
    fix = answer(row("Pain bis"), row("NO-SUCH-KIND", THIRD, field="kind.code", language=""), catalog=catalog)
    assert len(fix.confirm().accepted) == 2
    fix.apply(mill, progress=False).wait(progress=False)
    assert fix.refused["answer"].tolist() == ["NO-SUCH-KIND"]
    assert "the service says ERROR" in fix.refused["reason"][0]
    index = fix.worklist(tmp_path / "again")
    assert index["findings"].tolist() == [1]
    again = questions(tmp_path / "again" / index["file"][0])
    assert "“NO-SUCH-KIND” was not taken: the service says ERROR" in again["reason"][0]
    assert str(tmp_path) not in again.to_csv()


def test_the_answers_of_an_owner_can_be_asked_for_alone(catalog: prodex.Catalog, tmp_path: Path) -> None:
    """One worklist, for one supplier."""
    others = [{**RECORDS[2], "id": 9, "gtin": "00000000000017", "owner": {"id": 5, "name": "Other"}}]
    audit = prodex.audit(
        prodex.flatten([*RECORDS, *others]),
        {"checks": {"required_text": {"attribute": "description", "language": "nl"}}},
    )
    index = audit.worklists(tmp_path / "one", owner="Other")
    assert (index["label"].tolist(), index["findings"].tolist()) == (["Other"], [1])


def test_answers_never_run(answer: Answer) -> None:
    """What somebody typed is shown letter by letter."""
    evil = '<img src=x onerror=alert(1)> $a^2$ =cmd|"/c calc"!A0'
    fix = answer(row(evil), row("\x1b[2J?", THIRD))
    assert "<img" not in fix._repr_html_()
    assert "\x1b" not in repr(fix)
    assert json.dumps(evil)[1:-1] in json.dumps(fix.preview()["after"][0])
