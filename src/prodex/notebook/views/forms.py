"""Forms are data: fields with what was typed in them, drawn by one component."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.value import Refused, Session, error_text
from prodex.notebook.views.blocks import Typed


@dataclass(frozen=True)
class FormField:
    """A field of a form.

    Attributes
    ----------
    name
        Its name in the form.
    label
        What stands in front of it.
    kind
        "text", "long" (several lines), "search", "number", "date", "folder", "choice" (one of the options), "many"
        (several of them), "tick" (yes or no).
    value
        What stands in it as long as nobody has typed.
    options
        For choice and many: each value and what is shown for it.
    hint
        A sentence below it.
    placeholder
        What stands in it while it is empty.
    do
        An action that is done at once with `value`, instead of being kept until a button is pressed.
    args
        Further arguments of that action.
    suggestions
        Values that are offered while somebody types.
    look
        A class of our style sheet.
    off
        Why nothing can be typed now.
    """

    name: str
    label: str
    kind: str = "text"
    value: Any = ""
    options: Sequence[tuple[Any, str | Typed]] = ()
    hint: str | Typed = ""
    placeholder: str = ""
    do: str = ""
    args: Mapping[str, Any] | None = None
    suggestions: Sequence[str] = ()
    look: str = ""
    off: str = ""


def form(
    session: Session,
    name: str,
    fields: Iterable[FormField | None],
    *buttons: Block | None,
    look: str = "",
    label: str = "",
    on_return: bool = False,
) -> Block:
    """Return a form with its buttons; None is left out. `on_return`: Return in a field presses the first of them."""
    given = session.typed.get(name, {})
    return {
        "kind": "form",
        "key": name,
        "label": label,
        "look": look,
        "fields": [_field_view(session, name, one, given) for one in fields if one],
        "buttons": [one for one in buttons if one],
        **({"on_return": True} if on_return else {}),
    }


def _field_view(session: Session, form: str, one: FormField, given: Mapping[str, Any]) -> Block:
    view: Block = {
        "kind": one.kind,
        "key": one.name,
        "label": one.label,
        "value": one.value if one.do else given.get(one.name, one.value),
    }
    # Values of a choice may be anything that is JSON: pages name them by their place, and send back the value.
    if one.kind == "choice" and view["value"] not in [value for value, _ in one.options]:
        # What was chosen is offered no longer: what counts instead is shown.
        view["value"] = one.value
    if one.options:
        view["options"] = [{"value": value, "label": label} for value, label in one.options]
    optional = {
        "hint": one.hint,
        "placeholder": one.placeholder,
        "do": one.do,
        "args": dict(one.args or {}),
        "suggestions": list(one.suggestions),
        "look": one.look,
        "off": one.off,
        "error": session.errors.get(f"{form}.{one.name}", ""),
    }
    return {**view, **{key: value for key, value in optional.items() if value}}


def form_values(session: Session, name: str, fields: Iterable[FormField | None]) -> dict[str, Any]:
    """Return what the fields of a form hold: what was typed, otherwise what stood there; no choice that is gone."""
    given = session.typed.get(name, {})
    values = {}
    for one in fields:
        if one is None:
            continue
        values[one.name] = value = given.get(one.name, one.value)
        offered = [option for option, _ in one.options]
        if one.kind == "choice" and value not in offered:
            values[one.name] = one.value
        elif one.kind == "many":
            values[one.name] = [chosen for chosen in value or () if chosen in offered]
    return values


@action("form.set", is_quiet=True)
def set_field(
    session: Session, form: str, field: str, value: bool | int | float | str | list[Any] | None
) -> Session:
    """Keep what was typed in a field."""
    return session.with_typed(form, **{field: value})


def at_once(
    do: str,
    part: type[object],
    name: str,
    label: str,
    options: Mapping[Any, str] | None = None,
    *,
    hint: str = "",
    then: Callable[[Session], Session] = lambda session: session,
    is_quiet: bool = False,
) -> Callable[[Session], FormField]:
    """Declare a field that is done at once: it sets a field of what a section keeps; return what makes it.

    Parameters
    ----------
    do
        The name of its action.
    part, name
        What the section keeps, and which field of it is set.
    label, hint
        What stands in front of the field, and below it.
    options
        The values that there are, and what each is called; without them it is a tick.
    then
        What else is done with the session.
    is_quiet
        Whether a sentence at the top of the section stays.
    """

    @action(do, is_quiet=is_quiet)
    def set_value(session: Session, value: bool | int | str) -> Session:
        if options and value not in options:
            raise Refused(f"There is no such choice of {label}. Give {', '.join(options.values())}.")
        return then(session.with_changed(part, **{name: value}))

    kind, offered = ("choice", [*options.items()]) if options else ("tick", [])
    return lambda session: FormField(
        do.rpartition(".")[2], label, kind, getattr(session.part(part), name), offered, hint=hint, do=do
    )


def required(values: Mapping[str, Any], form: str, field: str, sentence: str) -> str:
    """Return what was typed in a field, without the spaces around it.

    Raises
    ------
    Refused
        When nothing was; the sentence stands beside the field.
    """
    text = str(values[field] or "").strip()
    if not text:
        raise Refused(sentence, at=f"{form}.{field}")
    return text


def beside(at: str) -> Callable[[Session, BaseException], Session]:
    """Return what shows the error of some work beside a field ("report.page")."""
    return lambda session, error: session.replaced(errors={**session.errors, at: error_text(error)})
