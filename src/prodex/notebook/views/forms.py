"""Forms are data: fields with what was typed in them, drawn by one component."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prodex.notebook.session.actions import Block, action
from prodex.notebook.session.session import Refused, Session, error_text
from prodex.notebook.views.blocks import Typed, switch


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
    if (setting := _SETTINGS.get((form, field))) is not None:
        setting.check(value)
    return session.with_typed(form, **{field: value})


class Setting:
    """A field that counts as soon as it is chosen, and whose choices are always the same.

    Parameters
    ----------
    form
        The form that it is in.
    field
        The field: a choice or a tick.

    Examples
    --------
    >>> import prodex
    >>> orders = [("name", "by name"), ("size", "by size")]
    >>> order = Setting("shops", FormField("order", "Order", "choice", "name", orders))
    >>> session = Session(prodex.flatten([]))
    >>> order.of(session), order.of(set_field(session, "shops", "order", "size"))
    ('name', 'size')
    """

    def __init__(self, form: str, field: FormField) -> None:
        self.form: str = form
        self.field: FormField = field
        _SETTINGS[form, field.name] = self

    def of(self, session: Session) -> Any:
        """Return what is chosen."""
        return session.typed.get(self.form, {}).get(self.field.name, self.field.value)

    def switch(self, session: Session, *, key: str) -> Block:
        """Return it as buttons of which one is chosen."""
        options = {str(value): str(label) for value, label in self.field.options}
        args = {"form": self.form, "field": self.field.name}
        made = switch(self.field.label, self.of(session), options, "form.set", key=key, argument="value")
        return {**made, "args": args}

    def check(self, value: object) -> None:
        """Refuse what nobody can choose: a page of another version may send it."""
        offered = dict(self.field.options) if self.field.options else {True: "yes", False: "no"}
        if type(value) not in {*map(type, offered)} or value not in offered:
            labels = ", ".join(map(str, offered.values()))
            raise Refused(f"Nothing was done: {self.field.label} has no such choice. Give {labels}.")


_SETTINGS: dict[tuple[str, str], Setting] = {}


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
