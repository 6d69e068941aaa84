"""What is asked of a value that somebody typed: whether a remark, an odd date or code, or odd letters are meant."""

from __future__ import annotations

import re

from prodex.languages import Message
from prodex.quality.misread_letters import misread
from prodex.worklists.answer_parsing import Vocabulary, is_standard_code, languages_in
from prodex.worklists.remarks import remark_in

#: A date of the service, with or without its time.
_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}.{0,20})?")


def question_of_remark(text: str, path: str) -> Message | None:
    """Return the question about words that are for the person who asked; None for a value.

    >>> str(question_of_remark("done", "namePublicLong"))
    "'done' reads like a remark that something is done or agreed. Is it the value of namePublicLong?"
    """
    if (says := remark_in(text)) is None:
        return None
    return Message(
        "{text} reads like {said}. Is it the value of {path}?", text=f"{text!r:.60}", said=says, path=path
    )


def question_of_language(text: str, path: str, language: str, before: str | None) -> Message | None:
    """Return the question about a text that has a language in it, as an answer has whose row names none.

    Parameters
    ----------
    text
        The text.
    path, language
        Where it is to be written.
    before
        The text that is there: what it has as well is a part of the text.

    >>> str(question_of_language("nl: Brood", "namePublicLong", "fr", "Pain"))
    "'nl: Brood' has a language before a text (nl:). Is all of it the text of namePublicLong in 'fr'?"
    >>> question_of_language("FR: farine / NL: bloem", "composition", "fr", "FR: sel / NL: zout") is None
    True
    """
    there = {tag for tag, _ in languages_in(before or "")}
    if not (marks := [mark for tag, mark in languages_in(text) if tag not in there]):
        return None
    return Message(
        "{text} has a language before a text ({marks}). Is all of it the text of {path} in {language}?",
        text=f"{text!r:.60}",
        marks=", ".join(marks[:5]),
        path=path,
        language=repr(language),
    )


def question_of_date(text: str, path: str, before: str | None) -> Message | None:
    """Return the question about what is no date, or one spelled as people do, in place of a date of the service.

    A spreadsheet shows days as its country writes them, or as the number that it counts them by.

    >>> str(question_of_date("45000", "availableFrom", "2026-03-12"))
    "'45000' is not written as the date that is there (2026-03-12). Is it the value of availableFrom?"
    >>> question_of_date("2026-03-13", "availableFrom", "2026-03-12"), question_of_date("45000", "code", "44999")
    (None, None)
    """
    if before is None or (there := _ISO.fullmatch(before)) is None:
        return None
    found = _ISO.fullmatch(text)
    if found is not None and (found[1] is None) == (there[1] is None):
        return None
    return Message(
        "{text} is not written as the date that is there ({before}). Is it the value of {path}?",
        text=f"{text!r:.60}",
        before=before,
        path=path,
    )


def question_of_misread(text: str, path: str) -> Message | None:
    """Return the question about letters that were read in another encoding; None where they were not."""
    if (meant := misread(text)) is None:
        return None
    about = {"text": f"{text!r:.60}", "path": path}
    if meant == text:
        return Message(
            "{text} reads like a text, written in UTF-8 and read in another encoding. Is it the value of {path}?",
            **about,
        )
    return Message(
        "{text} reads like {other}, written in UTF-8 and read in another encoding. Is it the value of {path}?",
        other=f"{meant!r:.60}",
        **about,
    )


def question_of_code(code: str, path: str, words: Vocabulary) -> Message | None:
    """Return the question about a code that no product and no list has; None of any other."""
    if code in words.in_use(path) or is_standard_code(path, code):
        return None
    about = {"code": f"{code!r:.60}", "path": path}
    near, says = ", ".join(words.nearest(path, code)), remark_in(code)
    match says, near:
        case None, "":
            return Message(
                "{code} is a code of {path} that no product of the catalogue and no list has. Is it meant?",
                **about,
            )
        case None, _:
            return Message(
                "{code} is a code of {path} that no product of the catalogue and no list has; the nearest: {codes}. "
                "Is it meant?",
                codes=near,
                **about,
            )
        case _, "":
            return Message(
                "{code} is a code of {path} that no product of the catalogue and no list has, and it reads like "
                "{said}. Is it meant?",
                said=says,
                **about,
            )
    return Message(
        "{code} is a code of {path} that no product of the catalogue and no list has, and it reads like {said}; the "
        "nearest: {codes}. Is it meant?",
        said=says,
        codes=near,
        **about,
    )
