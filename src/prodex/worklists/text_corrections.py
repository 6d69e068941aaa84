"""Corrections of single texts that are typed beside the product, rather than into a worklist: the same `Fix`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from prodex.arguments import described
from prodex.catalog import Catalog
from prodex.errors import InputError
from prodex.locales import tag_of
from prodex.quality.profile import Profile
from prodex.worklists.fix import Fix, MadeBy, make_fix
from prodex.worklists.layout import DELETE_WORD, is_deletion
from prodex.worklists.returned_files import Answer, Returned, trimmed

#: The profile without a check: what the service would refuse is still found.
NO_RULES = Profile("no rules")


@dataclass(frozen=True)
class TextCorrection:
    """One text of one product as it should be: another one in its place, an additional one, or none.

    Attributes
    ----------
    product_id
        The product.
    attribute
        Wire path of the text, such as `namePublicLong`.
    language
        Its language: code or name. With a country ("fr-BE") it means that one only; alone, the only text in it.
    text
        The new text, without outer spaces; None deletes the text.
    before
        The text that was there when it was corrected; None if there was none. If it is another one by then, the
        correction is a conflict.
    position
        Which text is meant where the attribute has several, as in `catalog.texts`.
    language_code
        The code of its language as sent ("fra-FR"), as in `catalog.texts`; it may replace `language`.
    updated_at
        When the product had last been changed (ISO 8601), as far as it is known.

    Raises
    ------
    InputError
        When a value is of another kind, there is no new text in it, or half of a character, which nothing can send.

    Examples
    --------
    >>> TextCorrection("7", "namePublicLong", "fr", " Pain complet ", before="Pain").text
    'Pain complet'
    """

    product_id: str
    attribute: str
    language: str | None
    text: str | None
    before: str | None = None
    position: str | None = None
    language_code: str | None = None
    updated_at: str | None = None

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            may_be_none = name not in {"product_id", "attribute"}
            if not (isinstance(value, str) or (value is None and may_be_none)):
                raise InputError(f"{name} of a correction is {described(value)}. Give text.")
            if value is not None:
                _refuse_half_characters(name, value)
        if self.language is None and self.language_code is None:
            raise InputError(f"The correction of {self.attribute} has no language. Give one, such as 'fr'.")
        if self.text is not None:
            text = trimmed(self.text)
            if not text:
                raise InputError("The new text is empty. Write one, or delete the text: text=None.")
            # As it is sent and compared; what deletes a text in a worklist deletes it here, too.
            object.__setattr__(self, "text", None if is_deletion(text) else text)

    @property
    def place(self) -> tuple[str, str, str, str | None]:
        """The text that is meant: product, attribute, language and position. One place has one correction."""
        return (
            self.product_id,
            self.attribute,
            tag_of(self.language_code or str(self.language)),
            self.position,
        )


def _refuse_half_characters(name: str, value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        code = ord(value[error.start])
        raise InputError(
            f"{name}: character {error.start + 1} is half of a character (U+{code:04X}), which cannot be sent. Type it "
            "again."
        ) from None


def _answer_of_correction(correction: TextCorrection, number: int) -> Answer:
    """Return a correction as an answer of a worklist."""
    keys = {
        "product_id": correction.product_id,
        "attribute": correction.attribute,
        "language": correction.language,
        "language_code": correction.language_code,
        "position": correction.position,
        "value": correction.before or "",
        "updated_at": correction.updated_at,
    }
    text = DELETE_WORD if correction.text is None else correction.text
    return Answer.typed(number, text, keys)


def make_fix_of_texts(
    corrections: Iterable[TextCorrection],
    catalog: Catalog,
    profile: Profile,
    now: datetime,
    made_by: MadeBy,
) -> Fix:
    """Judge corrections of texts as the answers of a worklist are judged; see `correct_from`."""
    answers = [_answer_of_correction(one, number) for number, one in enumerate(corrections, 1)]
    return make_fix(Returned(answers), catalog, profile, now, made_by=made_by)


def profile_given(given: str | Path | Mapping[str, Any] | Profile | None) -> Profile:
    """Return the profile that judges corrections; where none is given, the one without a check."""
    if given is None:
        return NO_RULES
    return given if isinstance(given, Profile) else Profile.read(given)
