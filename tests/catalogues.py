"""The catalogues of messages: `python -m tests.catalogues` brings them up to date with the code, and compiles them.

Each package has its own, `<package>.po`. A message that is new stands there without a translation; one that the code
has no more is removed. Whoever has translated, in an editor for such files or by hand, runs it again: programs read the
compiled files (`<package>.mo`).
`python -m tests.catalogues it` begins a fifth language.
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

from babel.messages import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from prodex.display.report.contents import GROUPINGS, OFFENDERS
from prodex.display.report.products import PICTURE_FACTS
from prodex.facts.groups import BY
from prodex.formats.workbook_sheets import _VALUES
from prodex.languages import LANGUAGES, labels
from prodex.quality import problems, required_checks
from prodex.quality.declared_fields import FIELDS
from prodex.quality.figures import MEASURES
from prodex.quality.picture_columns import FACES
from prodex.quality.rulebook import BLOCKS, SEVERITIES, all_rules
from prodex.quality.scores import CAVEAT, FORMULA
from prodex.worklists import hierarchy_answers, layout
from prodex.worklists.answer_fields import IN_PLACE_OF
from prodex.worklists.layout import SEVERAL, TO_FIX
from prodex.worklists.workbook import _SUMMARY
from prodex.written_numbers import _INEXACT, _OTHER_DIGITS

SOURCE = Path(__file__).parents[1] / "src"
#: What has catalogues of its own: prodex, and the pack of rules that comes along.
PACKAGES = ("prodex", "prodex_food")

#: Which day it is says nothing of translations.
_NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)
#: Comments that tell translators what a message is.
_RULE = "{name} of the rule {rule}"


@cache
def messages(package: str) -> dict[str | tuple[str, str], str]:
    """Return every message of a package, with a comment: what its code and pages say, its rules, its labels."""
    found: dict[str | tuple[str, str], str] = {}
    for message, comment in (
        *_of_rules(package),
        *(_of_prodex() if package == "prodex" else ()),
        *_in_code(package),
    ):
        found.setdefault(message, comment)
    # One form is no message of its own where both are one.
    return found


def _of_rules(package: str) -> Iterator[tuple[str, str]]:
    for name, rule in sorted(all_rules().items()):
        if rule.pack == package:
            said = {"problem": rule.problem, "title": rule.title, "fix": rule.fix, "reason": rule.reason}
            yield from ((text, _RULE.format(name=kind, rule=name)) for kind, text in said.items() if text)
            yield " ".join(rule.why.split()), _RULE.format(name="why it matters", rule=name)
            cited = {rule.source, "" if rule.law is None else rule.law.cited(rule.article)} - {""}
            yield from ((text, _RULE.format(name="source", rule=name)) for text in sorted(cited))


def _of_prodex() -> Iterator[tuple[str, str]]:
    named = [*labels.LABELS.values(), *labels.OTHER_LABELS, *hierarchy_answers.FIELDS.values()]
    named += [field.label for field in FIELDS.values()]
    named += [*SEVERITIES, *BLOCKS, *PICTURE_FACTS, *GROUPINGS, *(f"{one}s" for one in OFFENDERS)]
    named += [f"without {one}" for one in BY]
    yield from ((one, "what something is called, within a sentence") for one in named)
    yield from ((one, "face of a picture") for one in FACES.values())
    asked = [*problems._ASKED.values(), *problems._ASKED_BY_RULE.values()]
    yield from ((one, "what a supplier is asked for") for one in asked)
    sheets = [
        layout.TO_FIX_SHEET,
        layout.SEVERAL_SHEET,
        layout.READ_ME_SHEET,
        layout.SUMMARY_SHEET,
        layout.CODES_SHEET,
    ]
    yield from ((one, "name of a sheet: letters of ASCII, at most 31") for one in sheets)
    yield from ((one, "how to read a score") for one in (FORMULA, CAVEAT))
    columns = [
        *(one.heading for one in (*TO_FIX, *SEVERAL)),
        *layout.OF_THE_KEY.values(),
        *(heading for _, heading, _ in _SUMMARY),
    ]
    yield from ((one, "heading of a column") for one in [*columns, "Code", "Label"])
    yield layout.DELETE_WORD, "the answer that deletes"
    yield IN_PLACE_OF, "how to answer"
    inexact = (said for _, *both in _INEXACT for said in both)
    of_cells = (said for _, said, _ in _VALUES.values())
    yield from ((one, "why an answer was not taken") for one in (*inexact, *_OTHER_DIGITS, *of_cells))
    groups: dict[str, Any] = {}
    groups |= {"what a check of requirements says": required_checks.MESSAGES}
    groups |= {"what is unusual": [one.sentence for one in MEASURES.values()]}
    groups |= {
        "what is unusual, where nothing was counted": [
            one.silence for one in MEASURES.values() if one.silence
        ]
    }
    for comment, texts in groups.items():
        yield from ((one, comment) for one in texts)


def _in_code(package: str) -> Iterator[tuple[str | tuple[str, str], str]]:
    """Yield what code and pages pass to `gettext`, most often called `_`."""
    found = extract_from_dir(
        SOURCE / package,
        [("**.py", "python"), ("**.html", "jinja2")],
        keywords={
            **dict.fromkeys(("gettext", "_", "Message", "sentence", "saying")),
            **dict.fromkeys(("ngettext", "of_number"), (1, 2)),
        },
        # A template that cannot be read would lose its messages in silence.
        options_map={"**.html": {"silent": "false"}},
    )
    for _, _, message, _, _ in found:
        yield message if isinstance(message, str) else (message[0], message[1]), ""


def updated(language: str, package: str) -> Catalog:
    """Return the catalogue of a language with today's messages, and the translations that it has of them."""
    there = catalogue(language, package)
    made = Catalog(
        locale=language,
        project=package,
        header_comment=f"# Messages of {package}: {language}",
        fuzzy=False,
        creation_date=there.creation_date,
        revision_date=there.revision_date,
        last_translator="",
        language_team="",
    )
    # Where only the format of a number is another one, the translation stays.
    unformatted = {
        _unformatted(one.id if isinstance(one.id, str) else one.id[0]): one for one in there if one.id
    }
    for message, comment in messages(package).items():
        single = message if isinstance(message, str) else message[0]
        old = there.get(single) or unformatted.get(_unformatted(single))
        string = "" if old is None else _formatted(old.string, single)
        made.add(message, string, auto_comments=[comment] if comment else ())
    return made


_FORMAT = re.compile(r"{(\w+)(:[^{}]*)?}")


def _unformatted(message: str) -> str:
    return _FORMAT.sub(r"{\1}", message)


def _formatted(translation: Any, message: str) -> Any:
    """Return a translation with the formats of numbers that its message has."""
    if not isinstance(translation, str):
        return tuple(_formatted(one, message) for one in translation)
    formats = {found[1]: found[0] for found in _FORMAT.finditer(message)}
    return _FORMAT.sub(lambda found: formats.get(found[1], found[0]), translation)


def folder_of(language: str, package: str) -> Path:
    """Return where the catalogue of a package is."""
    return SOURCE / package / "languages" / language / "LC_MESSAGES"


def catalogue(language: str, package: str) -> Catalog:
    """Return the catalogue of a language as it is written."""
    file = folder_of(language, package) / f"{package}.po"
    if not file.exists():
        return Catalog(locale=language)
    with file.open("rb") as stream:
        return read_po(stream, locale=language)


def po_of(made: Catalog) -> bytes:
    """Return a catalogue as a file for translators."""
    written = io.BytesIO()
    write_po(written, made, width=100, omit_header=False, no_location=True)
    return re.sub(
        rb'"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|Last-Translator): [^\n]*\n',
        b"",
        written.getvalue(),
    )


def mo_of(made: Catalog) -> bytes:
    """Return a catalogue as programs read it."""
    written = io.BytesIO()
    # The same translations make the same file, whenever it is compiled.
    made.creation_date = made.revision_date = _NO_DATE
    write_mo(written, made)
    return written.getvalue()


def untranslated(made: Catalog) -> list[Message]:
    """Return the messages that have no translation."""
    return [
        one for one in made if one.id and not (one.string if isinstance(one.string, str) else all(one.string))
    ]


def main(languages: list[str]) -> None:
    """Bring catalogues up to date."""
    for package, language in product(PACKAGES, languages or LANGUAGES[1:]):
        made = updated(language, package)
        folder = folder_of(language, package)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{package}.po").write_bytes(po_of(made))
        (folder / f"{package}.mo").write_bytes(mo_of(catalogue(language, package)))
        print(  # noqa: T201 - it is a command
            f"{package}, {language}: {len(made)} messages, {len(untranslated(made))} without a translation"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
