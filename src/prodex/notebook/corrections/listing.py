"""What the panel of corrections shows: a row for each, how many can be sent, what they fix, and what has arrived."""

from __future__ import annotations

import json
from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.display.fix import state_in_words, states_in_words
from prodex.locales import language_label
from prodex.messages import counted
from prodex.notebook.arrival import arrival_html, fixed_and_new, lines_of
from prodex.notebook.corrections.draft import SentCorrections
from prodex.notebook.corrections.proof import Proof
from prodex.notebook.live import shown
from prodex.notebook.panel import list_html, text_html
from prodex.quality.problems import attribute_title
from prodex.untrusted_text import label, words
from prodex.worklists.fix import Fix
from prodex.worklists.text_corrections import TextCorrection

#: Rows, and bytes of a text in them: a browser has to show them all.
_ROWS, _MOST = 500, 20_000
#: Lines of what is fixed, and of what has not arrived.
_LINES = 20

#: States of corrections that are not states of an answer.
_OTHER_STATES = {"checking": "checking …", "unknown": "sent, not confirmed"}

_NOTHING = (
    "<p class='muted'>No corrections. Open the card of a product, and press ✎ beside a text: what you type is "
    "collected here, and sent only from here. Worklists that came back are sent from Quality.</p>"
)
_NO_RULES = (
    "<p class='muted'>Without an audit only what the service would refuse is found. Run one to see what is "
    "fixed.</p>"
)


@dataclass(frozen=True)
class CorrectionRow:
    """A row of the list: its key, the correction, and what the script shows."""

    key: str
    correction: TextCorrection
    view: dict[str, Any]


def correction_rows(
    corrections: Sequence[TextCorrection],
    unconfirmed: Sequence[SentCorrections],
    fix: Fix | None,
    known: MutableMapping[str, dict[str, Any]],
) -> list[CorrectionRow]:
    """Return a row for each correction.

    Parameters
    ----------
    corrections, unconfirmed
        Those that were not sent, and those that may have been.
    fix
        Has judged those that were not sent, in their order; None while they are judged.
    known
        Name and GTIN of products by id, as they were found before: what was sent is not judged again. What is found
        now is added.
    """
    said = [known.get(one.product_id, {}) for one in corrections]
    if fix is not None:
        said = [{str(name): value for name, value in one.items()} for one in fix.answers.to_dict("records")]
        for one, answer in zip(corrections, said, strict=True):
            known[one.product_id] = {name: answer[name] for name in ("name", "gtin")}
    rows = [
        _row(number, one, answer) for number, (one, answer) in enumerate(zip(corrections, said, strict=True))
    ]
    for sent in unconfirmed:
        at = sent.at.replace("T", " ").removesuffix("Z")
        answer = {
            "state": "unknown",
            "reason": f"Sent to {sent.to} at {at} UTC; it is not known to have arrived.",
        }
        rows += [
            _row(len(rows) + number, one, known.get(one.product_id, {}) | answer)
            for number, one in enumerate(sent.corrections)
        ]
    return rows[:_ROWS]


def _row(number: int, one: TextCorrection, answer: dict[str, Any]) -> CorrectionRow:
    state = answer.get("state", "checking")
    key = json.dumps([number, *one.place])
    product = label(answer.get("name") or f"product {one.product_id}").text
    language = language_label(one.language_code or str(one.language))
    view = {
        "key": key,
        "product": product,
        "gtin": answer.get("gtin") or "",
        "attribute": attribute_title(one.attribute),
        "language": language,
        "lang": (one.language_code or str(one.language))[:2],
        "label": f"{attribute_title(one.attribute)}, {language}, {product}",
        "was": None if one.before is None else shown(words(one.before, _MOST)),
        "now": None if one.text is None else shown(words(one.text, _MOST)),
        "state": state.replace(" ", "-"),
        "title": _OTHER_STATES.get(state) or state_in_words(state),
        "reason": words(answer.get("reason") or "").text,
        "isSent": state == "unknown",
        "isAsked": state == "asked back",
    }
    return CorrectionRow(key, one, view)


def summary_html(
    corrections: Sequence[TextCorrection],
    unconfirmed: Sequence[SentCorrections],
    fix: Fix | None,
    is_kept: bool,
    *,
    is_sending: bool = False,
) -> str:
    """Return how many corrections there are, what becomes of them, and what they fix.

    Parameters
    ----------
    corrections, unconfirmed, fix
        As for `correction_rows`.
    is_kept
        Whether they are kept on disk.
    is_sending
        Whether the unconfirmed ones are being sent at the moment.
    """
    if not corrections and not unconfirmed:
        return _NOTHING
    parts = []
    if corrections:
        products = counted(len({one.product_id for one in corrections}), "product")
        states = "checking …" if fix is None else states_in_words(fix)
        parts.append(
            f"<b>{counted(len(corrections), 'correction')}</b> of {products}, not sent yet: {states}."
        )
    if sent := sum(len(one.corrections) for one in unconfirmed):
        state = ("is" if sent == 1 else "are") + " being sent" if is_sending else "may have been sent"
        parts.append(f"<b>{counted(sent, 'correction')}</b> {state}.")
    shown_all = len(corrections) + sent
    if shown_all > _ROWS:
        parts.append(f"{_ROWS} of them are listed.")
    if not is_kept:
        parts.append(
            "This catalogue is not saved, so they are lost with the kernel: catalog.save(name) keeps them."
        )
    effect = "" if fix is None else effect_html(fix)
    return f"<p role='status'>{' '.join(parts)}</p>{effect}"


def effect_html(fix: Fix) -> str:
    """Return what the accepted corrections would fix, and what would newly fail."""
    if not fix.counts["accepted"]:
        return ""
    if not fix.profile.checks:
        return _NO_RULES
    effect = fix.effect()
    sentence = f"By the checks of {fix.profile.title or fix.profile.name}: {fixed_and_new(effect)}."
    return f"<p>{text_html(sentence)}</p>{list_html(lines_of(effect, 'newly failing'))}"


def proof_html(proof: Proof, host: str) -> str:
    """Return what has arrived, what was fixed by it, and what has not arrived, and why that is thought."""
    said = arrival_html(len(proof.arrived) + len(proof.missing), proof.missing, proof.arrival, host)
    texts = [
        (attribute_title(one.attribute), "deleted" if one.text is None else label(one.text).text)
        for one in proof.arrived
    ]
    items = "".join(f"<li>{text_html(name)}: {text_html(text)}</li>" for name, text in texts[:_ROWS])
    listed = (
        f"<details><summary>{counted(len(texts), 'text')} that arrived</summary><ul>{items}</ul></details>"
    )
    return said + listed if texts else said
