"""Writes the pages that are made from other files: the reference from the package, examples from tests, and tutorials.

Sphinx runs it before each build (conf.py). What it writes is not kept in version control.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import shutil
import sys
import tomllib
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import pandas as pd
import typer.main

import prodex
from prodex import charts, errors, operations, sandbox
from prodex.cli import app
from prodex.quality.declared_fields import FIELDS
from prodex.quality.rulebook import all_rules
from prodex.tables.declaration import TABLES, data_dictionary
from prodex_sandbox.sample import shared_products
from prodex_sandbox.simulation import ACTIONS

_SOURCE = Path(__file__).parents[1] / "src"
_EXAMPLES = Path(__file__).parents[1] / "tests" / "extending"
_NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
_TUTORIALS = Path(__file__).parent / "tutorials" / "index.md"
_WIDGET = "application/vnd.jupyter.widget-view+json"

#: The public names by task.
_PAGES = tomllib.loads((Path(__file__).parent / "reference" / "names.toml").read_text("utf-8"))["pages"]
_TABLES_INTRODUCTION = """\
`prodex tables` prints this list, and `prodex tables NAME` the columns of one table with type, wire path and meaning.
`product_id` and `gtin` are in every table of products. `attribute` is the wire path of a value, such as
`productBenefits.text`, and `position` holds the list indexes along that path."""
_RULES_INTRODUCTION = """\
The sentence of each rule says what should be true. *Problem* is what lists and charts show where it is not. A word in
braces is a parameter, which a profile can set. [Auditing](../../howto/auditing.md) explains severities, weights and
scores."""
#: Products of the sample that are looked through for an example of each rule.
_SAMPLE = 3_000
_NO_EXAMPLE = "No product of the sample fails it."
_NOT_ASKED = "The sample has none of the fields that it asks for, so nobody is asked."
_PROFILES_INTRODUCTION = """\
These profiles come with prodex. `px.audit(catalog, "core")` uses one, and a profile of your own can extend it
([how](../../howto/auditing.md#a-profile-of-your-own))."""
_FAULTS_INTRODUCTION = """\
What can go wrong at chosen calls of the sandbox ([how to use them](../../howto/testing-clients.md)). Each option is
shown with its default."""
_SIMULATION_INTRODUCTION = """\
What happens on simulated days of the sandbox ([how to simulate them](../../howto/simulating.md))."""
_LAWS_INTRODUCTION = """\
`prodex.laws()` and `prodex laws` print this list. Before the first day of a law its checks are warnings of what will be
asked for; after its last day they apply to no product
([how to audit as of a day](../../howto/auditing.md#laws-and-their-days)). Fields that the specification does not list
have to be declared in a profile. Without a declaration a check is not asked: it is unknown for all products, and fails
none."""
_FIELDS_INTRODUCTION = """\
`prodex.quality.law_fields()` prints this list. *Seen as* are names that other catalogues were seen to use: suggestions,
and no default."""
_MODULES_INTRODUCTION = """\
Each module is one idea, which its first line says. What they are parts of, and which may import which, is on the page
about the [architecture](../../architecture.md)."""
#: A picture of a panel, as a notebook shows it: on a light page.
_PICTURE = re.compile(r"^!\[(.*?)\]\(images/([a-z-]+)-light\.png\)$", re.MULTILINE)
_MARKUP = re.compile(r"[<>*_{}#$]|\[|\]")


# Its public name is no module of its own, and autodoc looks for one.
sys.modules.setdefault("prodex.charts", charts)
sys.modules.setdefault("prodex.operations", operations)


def write_reference(folder: Path) -> None:
    """Write all generated pages into a folder that holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    pages = {
        **dict(_public_names()),
        "api-charts": _members("Charts", "prodex.charts", charts.__all__),
        "api-operations": _members("Operations", "prodex.operations", operations.__all__),
        "api-sandbox": _members("The sandbox in Python", "prodex.sandbox", _objects(sandbox)),
        "commands": _commands(),
        "tables": _tables(),
        "rules": _rules(),
        **dict(_rule_pages()),
        "profiles": _profiles(),
        "laws": _laws(),
        "faults": _faults(),
        "simulation": _simulation(),
        "modules": _modules(),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def write_examples(folder: Path) -> None:
    """Write a page for each example of how to add something: the text of the test that adds it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted(_EXAMPLES.glob("test_*.py")):
        first = (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]
        title, _, what = first.rstrip(".").partition(": ")
        text = f"# {_text(title)}\n\n{_text(_sentence(what))}\n\n"
        code = f"```{{literalinclude}} /../tests/extending/{path.name}\n:language: python\n```\n"
        (folder / f"{path.stem.removeprefix('test_')}.md").write_text(text + code, "utf-8")


def tutorials() -> list[Path]:
    """Return the notebooks that the page of the tutorials lists: somebody may have saved others beside them."""
    listed = re.findall(r"\(generated/([\w-]+)\.ipynb\)", _TUTORIALS.read_text("utf-8"))
    return [_NOTEBOOKS / f"{name}.ipynb" for name in sorted(listed)]


def write_tutorials(folder: Path) -> None:
    """Write each tutorial with the outputs that it keeps, as a page of the documentation."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in tutorials():
        notebook = json.loads(path.read_text("utf-8"))
        for cell in notebook["cells"]:
            if cell["cell_type"] == "markdown":
                cell["source"] = _PICTURE.sub(_picture, "".join(cell["source"]))
            # Whoever runs a tutorial in place and saves it saves views of widgets, which have no kernel here.
            for output in cell.get("outputs", ()):
                output.get("data", {}).pop(_WIDGET, None)
        title, *others = notebook["cells"]
        file = f"../../../notebooks/{path.name}"
        notebook["cells"] = [title, _markdown(f"Download {{download}}`{path.name} <{file}>`."), *others]
        # Otherwise the code would be shown without colours.
        notebook["metadata"].setdefault("language_info", {"name": "python"})["pygments_lexer"] = "python"
        notebook["metadata"].pop("widgets", None)
        (folder / path.name).write_text(json.dumps(notebook), "utf-8")


def _picture(found: re.Match[str]) -> str:
    """Return a picture that fits the page: the light one or the dark one."""
    alt, name = found.groups()
    shown = [
        f"```{{image}} ../../../notebooks/images/{name}-{theme}.png\n:alt: {alt}\n:class: only-{theme}\n```\n"
        for theme in ("light", "dark")
    ]
    return "\n".join(shown)


def _markdown(text: str) -> dict[str, object]:
    return {"cell_type": "markdown", "id": "download", "metadata": {}, "source": text}


def _public_names() -> Iterator[tuple[str, str]]:
    """Yield a page for each task, with the public names that it needs."""
    for page in _PAGES:
        text = f"# {page['title']}\n{_described('prodex', page['names'])}"
        if page["title"] == "Errors":
            text += _described("prodex.errors", _errors())
        yield f"api-{page['title'].lower().replace(' ', '-')}", text


def _objects(module: object) -> list[str]:
    """Return the public classes and functions of a module: those that have a docstring of their own."""
    names: list[str] = getattr(module, "__all__", [])
    return [name for name in names if callable(getattr(module, name))]


def _errors() -> list[str]:
    every = inspect.getmembers(errors, inspect.isclass)
    return [name for name, one in every if issubclass(one, Exception) and one.__module__ == errors.__name__]


def _members(title: str, module: str, names: Iterable[str]) -> str:
    home = import_module(module)
    # What is called comes first; what it takes and returns is looked up from there.
    ordered = sorted(names, key=lambda name: (inspect.isclass(getattr(home, name)), name))
    return f"# {title}\n{_described(module, ordered)}"


def _described(package: str, names: Iterable[str]) -> str:
    """Describe names of a package and of its modules, in the order in which they are given."""
    table = ["", "| name | what it is |", "|---|---|"]
    entries = ["", "```{eval-rst}"]
    for path in names:
        module, _, name = f"{package}.{path}".rpartition(".")
        one = getattr(import_module(module), name)
        summary = (inspect.getdoc(one) or "").partition("\n\n")[0]
        table.append(f"| {{py:obj}}`{path} <{module}.{name}>` | {_cell(summary)} |")
        entries.append(f".. currentmodule:: {module}")
        if inspect.isclass(one):
            entries += [f".. autoclass:: {name}", "   :members:"]
            entries += ["   :show-inheritance:"] if one.__bases__ != (object,) else []
        elif callable(one):
            entries += [f".. autofunction:: {name}"]
        else:
            entries += [f".. autodata:: {name}", "   :no-value:"]
        entries.append("")
    return "\n".join([*table, *entries, "```", ""])


def _commands() -> str:
    parts = ["# Commands", "", "`prodex COMMAND --help` prints the same for one command.", ""]
    for path, command in sorted(_every_command(typer.main.get_command(app), ())):
        name = " ".join(("prodex", *path))
        parts += [f"## {name}", "", _text(command.help or ""), ""]
        options = [one for one in command.params if one.name != "help"]
        if options:
            parts += ["| option | meaning |", "|---|---|"]
            parts += [
                f"| {_code(_spelled(one))} | {_cell(getattr(one, 'help', '') or '')} |" for one in options
            ]
            parts.append("")
        if command.epilog:
            parts += [_text(command.epilog), ""]
    return "\n".join(parts)


def _every_command(
    command: click.Command, path: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    within: dict[str, click.Command] | None = getattr(command, "commands", None)
    if within is None:
        yield path, command
        return
    for name, one in within.items():
        yield from _every_command(one, (*path, name))


def _spelled(parameter: click.Parameter) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    return ", ".join(names) if parameter.param_type_name == "option" else str(parameter.name).upper()


def _tables() -> str:
    parts = ["# Tables and columns", "", _TABLES_INTRODUCTION, ""]
    parts += ["| table | one row per | columns |", "|---|---|--:|"]
    parts += [
        f"| [`{one.name}`](#{one.name}) | {_cell(one.row)} | {len(one.columns)} |" for one in TABLES.values()
    ]
    for one in TABLES.values():
        parts += ["", f"({one.name})=", f"## {one.name}", "", f"One row per {_text(one.row)}.", ""]
        parts += ["| column | type | wire path | meaning |", "|---|---|---|---|"]
        for column, kind, path, meaning in data_dictionary(one.name):
            parts.append(f"| `{column}` | {kind} | {_code(path)} | {_cell(meaning)} |")
    return "\n".join([*parts, ""])


def _rules() -> str:
    """Return the list of rules, by block; each has a page of its own."""
    rules = prodex.rules()
    shipped = rules[rules["shipped"]]
    parts = ["# Rules", "", f"{len(shipped)} rules come with prodex, by block. {_RULES_INTRODUCTION}", ""]
    for block, some in shipped.groupby("block", sort=False):
        parts += [
            f"## {str(block).capitalize()}",
            "",
            "| rule | what should be true | severity |",
            "|---|---|---|",
        ]
        parts += [
            f"| [{_code(name)}](rule-{name}.md) | {_cell(_sentence(title))} | {severity} |"
            for name, title, severity in some[["rule", "title", "severity"]].itertuples(
                index=False, name=None
            )
        ]
        parts.append("")
    pages = "\n".join(f"rule-{name}" for name in shipped["rule"])
    return "\n".join([*parts, "```{toctree}", ":hidden:", "", pages, "```", ""])


def _rule_pages() -> Iterator[tuple[str, str]]:
    """Yield name and text of a page for each rule."""
    rules = prodex.rules()
    asked, seen = _asking_profiles(), _examples()
    for rule in rules[rules["shipped"]].to_dict("records"):
        name = rule["rule"]
        facts = {
            "Problem": rule["problem"],
            "What to do": rule["fix"],
            "Block": rule["block"],
            "Severity and weight": f"{rule['severity']}, {rule['weight']:g}",
            "Dimension": rule["dimension"],
            "Parameters": rule["parameters"],
            "Applies to": rule["scope"] or "all products",
            "Law": rule["law"] or "",
            "Asked for": _days(rule["in_force"], rule["until"]),
            "Source": rule["source"] or "good practice; no regulation or standard",
            "Profiles": ", ".join(asked[name]) or "none; choose it in a profile of your own",
        }
        parts = [f"(rule-{name})=", f"# {name}", "", f"**{_text(_sentence(rule['title']))}**", ""]
        parts += [_text(rule["why"]), "", "| | |", "|---|---|"]
        parts += [f"| {term} | {_cell(str(fact))} |" for term, fact in facts.items() if fact]
        parts += [
            "",
            "## Example",
            "",
            *seen.get(name, [_NOT_ASKED if all_rules()[name].declared else _NO_EXAMPLE]),
            "",
        ]
        parts += ["## What it cannot see", "", *(f"- {line}" for line in _blind(name, rule)), ""]
        parts += ["## Choose it, change it, switch it off", "", *_switches(name, asked[name]), ""]
        yield f"rule-{name}", "\n".join(parts)


@cache
def _examples() -> dict[str, list[str]]:
    """Return a product of the sample that fails each rule, in words, by rule."""
    catalog = prodex.flatten(product.record for product in shared_products(_SAMPLE))
    found: dict[str, list[str]] = {}
    by_default = {
        rule.id: {}
        for rule in all_rules().values()
        if rule.shipped and all(one.default is not inspect.Parameter.empty for one in rule.parameters)
    }
    for profile in (prodex.Profile.read({"checks": by_default}), prodex.Profile.read("online-listing")):
        audit = prodex.audit(catalog, profile, progress=False)
        rule_of = {check.id: check.rule.id for check in profile.checks}
        failures = audit.failures()
        for row in failures.drop_duplicates("check").to_dict("records"):
            found.setdefault(rule_of[row["check"]], _example(row))
    return found


def _example(row: Mapping[Hashable, Any]) -> list[str]:
    facts = {
        "Product of the sample": f"{row['name']} (GTIN {row['gtin']})",
        "Field": row["attribute"] if pd.isna(row["language"]) else f"{row['attribute']}, {row['language']}",
        "Value seen": "nothing" if pd.isna(row["value"]) else f"{row['value']:.300}",
        "Reason": row["reason"],
    }
    return ["| | |", "|---|---|", *(f"| {term} | {_cell(str(fact))} |" for term, fact in facts.items())]


def _blind(name: str, facts: Mapping[Hashable, Any]) -> Iterator[str]:
    """Yield what a rule does not know, as it is declared."""
    rule = all_rules()[name]
    if not facts["exact"]:
        yield "It can be wrong: it concludes from texts or from other products. Look before you ask for a correction."
    if rule.cannot_see:
        yield _text(rule.cannot_see)
    if rule.declared:
        fields = ", ".join(map(_code, rule.declared))
        yield f"Anything, until a profile declares {fields} in its `[attributes]`: before, it is unknown."
    if facts["scope"]:
        yield f"Other products than these: {_text(str(facts['scope']))}. For them it is not applicable."
    if rule.needs:
        needed = ", ".join(_code(one) for one in rule.needs)
        yield f"Data that were not requested: without {needed} it is unknown, and never a pass."
    if rule.whole:
        yield "Products outside of the catalogue: it compares those that are in it."
    yield "The product itself: a value that is there, and looks right, can still be wrong."


def _switches(name: str, profiles: Sequence[str]) -> Iterator[str]:
    """Yield how a profile of one's own has the rule with other settings, or has it not."""
    severity = "info" if all_rules()[name].severity != "info" else "warning"
    parent = profiles[0] if profiles else "core"
    checks = [check for check in prodex.Profile.read(parent).checks if check.rule.id == name]
    given = dict(checks[0].parameters) if checks else {}
    needed = [
        one
        for one in all_rules()[name].parameters
        if one.default is inspect.Parameter.empty or one.name in given
    ]
    lines = [
        f"{one.name} = {_toml(given.get(one.name, '...'))}"
        for one in needed
        if given.get(one.name) != one.default
    ]
    yield from [
        "```toml",
        f'extends = "{parent}"',
        "",
        f"[checks.{name}]",
        *lines,
        f'severity = "{severity}"',
        "```",
        "",
    ]
    if profiles:
        yield "Without it:"
        yield from ["", "```toml", f'extends = "{parent}"', f'without = ["{name}"]', "```"]
    else:
        yield "No profile that comes along has it."


def _toml(value: object) -> str:
    """Write a parameter as TOML, of which JSON is a part as far as these go."""
    return json.dumps(list(value) if isinstance(value, tuple) else value, ensure_ascii=False)


def _asking_profiles() -> dict[str, list[str]]:
    """Return the profiles that have a check of each rule."""
    asked = defaultdict(list)
    for name in prodex.profiles()["profile"]:
        for rule in {check.rule.id for check in prodex.Profile.read(name).checks}:
            asked[rule].append(name)
    return asked


def _profiles() -> str:
    parts = ["# Profiles", "", _PROFILES_INTRODUCTION, ""]
    for row in prodex.profiles().to_dict("records"):
        profile = prodex.Profile.read(row["profile"])
        parts += [f"## {row['profile']}", "", f"{_text(row['title'])}. {_text(row['description'])}", ""]
        parts += [f"{row['rules']} rules, {row['checks']} checks:", ""]
        parts += ["| check | what should be true | severity |", "|---|---|---|"]
        parts += [
            f"| [{_code(check.id)}](rule-{check.rule.id}.md) | {_cell(_sentence(str(check.title)))} "
            f"| {check.severity} |"
            for check in profile.checks
        ]
        parts.append("")
    return "\n".join(parts)


def _laws() -> str:
    """Return the laws behind rules: what each asks from when on, how it was checked, what has to be declared."""
    parts = ["# Laws", "", _LAWS_INTRODUCTION, ""]
    laws = dict.fromkeys(rule.law for rule in all_rules().values() if rule.shipped and rule.law is not None)
    for law in laws:
        rules = [rule for rule in all_rules().values() if rule.shipped and rule.law == law]
        read_in = f"Read in {law.read_in}, not at its source." if law.read_in else "Read at its source."
        parts += [f"## {_text(law.name)}", "", f"[{_text(law.number)}]({law.source}). {_text(read_in)}"]
        parts += [f"Checked on {law.checked:%Y-%m-%d}.", ""]
        parts += ["| article | rule | asked for | declare | what it cannot see |", "|---|---|---|---|---|"]
        for rule in rules:
            name = f"[{_code(rule.id)}](rule-{rule.id}.md): {_cell(rule.title)}"
            declared = ", ".join(map(_code, rule.declared)) or "nothing"
            days, blind = _days(rule.in_force, rule.until), _cell(rule.cannot_see)
            parts.append(f"| {_cell(rule.article)} | {name} | {days} | {declared} | {blind} |")
        parts.append("")
    parts += ["## Fields to declare", "", _FIELDS_INTRODUCTION, ""]
    parts += ["| field | what belongs there | seen as |", "|---|---|---|"]
    for field in FIELDS.values():
        seen = ", ".join(map(_code, field.suggestions)) or "no name that is common"
        parts.append(f"| {_code(field.name)} | {_cell(field.what)} | {seen} |")
    return "\n".join([*parts, ""])


def _days(first: date | None, last: date | None) -> str:
    """Say from which day until which day something is asked for; nothing where no day decides.

    >>> _days(date(2026, 8, 12), None)
    'from 2026-08-12 on'
    """
    if pd.isna(first) or first is None:
        return ""
    return (
        f"from {first:%Y-%m-%d} on"
        if last is None or pd.isna(last)
        else f"{first:%Y-%m-%d} to {last:%Y-%m-%d}"
    )


def _faults() -> str:
    parts = ["# Faults", "", _FAULTS_INTRODUCTION, "", "| fault | what happens | options |", "|---|---|---|"]
    for name, fault in sandbox.FAULTS.items():
        options = ", ".join(f"{option} = {value!r}" for option, value in fault.options.items())
        parts.append(f"| `{name}` | {_cell(fault.meaning)} | {_cell(options)} |")
    return "\n".join([*parts, ""])


def _simulation() -> str:
    parts = [
        "# Simulated days",
        "",
        _SIMULATION_INTRODUCTION,
        "",
        "| action in the journal | what happened |",
        "|---|---|",
    ]
    parts += [f"| `{name}` | {_cell(_sentence(action.meaning))} |" for name, action in ACTIONS.items()]
    parts += ["", "| incident | what happens | to the products of |", "|---|---|---|"]
    for name, incident in sandbox.INCIDENTS.items():
        concerned = "all suppliers" if incident.concerns_all else "one supplier"
        parts.append(f"| `{name}` | {_cell(incident.meaning)} | {concerned} |")
    return "\n".join([*parts, ""])


def _modules() -> str:
    """Return every module of the packages by folder, with its first line."""
    parts = ["# Modules", _MODULES_INTRODUCTION]
    by_folder: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(_SOURCE.rglob("*.py")):
        by_folder[path.parent].append(path)
    for folder in sorted(by_folder):
        first = {path.name: _first_line(path) for path in by_folder[folder]}
        parts += [f"## `{folder.relative_to(_SOURCE).as_posix()}`", _text(first.pop("__init__.py"))]
        if first:
            rows = (f"| {_code(name)} | {_cell(line)} |" for name, line in first.items())
            parts.append("\n".join(("| module | what it is |", "|---|---|", *rows)))
    return "\n\n".join(parts) + "\n"


def _first_line(path: Path) -> str:
    return (ast.get_docstring(ast.parse(path.read_text("utf-8"))) or "").partition("\n")[0]


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith(".") else ".")


def _text(text: str) -> str:
    """Return our own words as Markdown shows them: no character of them is markup, but backquotes."""
    return _escaped(" ".join(text.split()))


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")


def _code(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _escaped(text: str) -> str:
    parts = text.split("`")
    return "`".join(
        part if number % 2 else _MARKUP.sub(r"\\\g<0>", part) for number, part in enumerate(parts)
    )
