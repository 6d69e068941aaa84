"""How to add a pack of rules: the two files of the page about it, installed into an environment of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "extending" / "index.md").read_text("utf-8")
_PROJECT, _PROFILE = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
_MODULE = next(one for one in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "prodex.packs" in one)

AUDITED = """
import sys, warnings
import prodex
catalog = prodex.flatten([{"id": 7, "isConsumerUnit": True, "description": [
    {"expressedIn": {"code": "eng-GB"}, "data": "GREAT RICE FOR EVERY DAY OF YOUR LIFE"}]}])
"""


class Environment:
    """An environment that has all that this one has, and packs beside.

    Parameters
    ----------
    folder
        Where it is made.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
        (self._packages / "this.pth").write_text(
            f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n", "utf-8"
        )

    @property
    def _packages(self) -> Path:
        (found,) = (self._folder / "env").glob("lib/python*/site-packages")
        return found

    def install(self, project: str = _PROJECT, module: str = _MODULE, name: str = "shop_rules") -> None:
        """Install a pack of one module, as the page says."""
        place = self._folder / name
        place.mkdir()
        (place / "pyproject.toml").write_text(project.replace("shop_rules", name), "utf-8")
        (place / f"{name}.py").write_text(module, "utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
        subprocess.run([*command, "--target", self._packages, place], check=True, capture_output=True)

    def put(self, entries: str, files: dict[str, str | bytes]) -> None:
        """Put a pack of several files there, as an installer leaves it."""
        told = {
            "own-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: own\nVersion: 1\n",
            "own-1.dist-info/entry_points.txt": f"[prodex.rules]\n{entries}\n",
        }
        for name, content in (told | files).items():
            path = self._packages / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def run(self, code: str, before: str = "") -> str:
        """Return what a script prints that runs in it; what comes before runs before prodex is imported."""
        done = subprocess.run(
            [self._folder / "env" / "bin" / "python", "-c", before + AUDITED + code],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PRODEX_HOME": str(self._folder / "home")},
            cwd=self._folder,
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout + done.stderr


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """Make an environment without packs of others."""
    return Environment(tmp_path)


def test_a_pack_is_found_as_soon_as_it_is_installed(environment: Environment) -> None:
    """Its rule is listed with its pack, asked by name, and judged, here and in other processes."""
    environment.install()
    said = environment.run(
        """
from concurrent.futures import ProcessPoolExecutor
if __name__ == "__main__":
    print(prodex.rules().set_index("rule").loc["no_text_shouts", ["pack", "block"]].tolist())
    with ProcessPoolExecutor(1) as workers:
        for executor in (None, workers):
            audit = prodex.audit(catalog, {"checks": {"no_text_shouts": {}}}, executor=executor, progress=False)
            print(audit.failures()[["product_id", "reason"]].values.tolist())
"""
    )
    assert "['shop_rules', 'texts']\n" + 2 * "[['7', 'capitals only']]\n" == said


def test_a_profile_says_what_to_install(environment: Environment) -> None:
    """Without the pack its check is unknown, never a pass; a name that no pack can have is an error."""
    said = environment.run(
        """
profile = {"packs": ["shop_rules"], "checks": {"no_text_shouts": {}}}
audit = prodex.audit(catalog, profile, progress=False)
print(audit.summary["unknown"], audit.crashes[0].message)
try:
    prodex.audit(catalog, {"checks": {"no_text_shouts": {}}})
except prodex.errors.InputError as error:
    print(error)
"""
    )
    assert "1 the pack of rules shop_rules is not installed; run: pip install" in said
    assert "there is no rule 'no_text_shouts'" in said


def test_two_packs_with_one_rule_are_refused(environment: Environment) -> None:
    """Nobody can say which of them a profile means."""
    environment.install()
    environment.install(_PROJECT.replace("shop-rules", "other-rules"), name="other_rules")
    said = environment.run(
        """
try:
    prodex.audit(catalog, "core")
except prodex.errors.InputError as error:
    print(error)
"""
    )
    assert "Two packs of rules have a rule 'no_text_shouts': other_rules and shop_rules" in said


def test_a_pack_that_cannot_be_imported_is_named(environment: Environment) -> None:
    """What it has defined until then is no pack, all other rules judge, and its checks are unknown."""
    environment.install(module=_MODULE + "\nimport a_module_that_nobody_has\n")
    said = environment.run(
        """
warnings.simplefilter("always")
print("no_text_shouts" in set(prodex.rules()["rule"]), len(prodex.audit(catalog, "online-listing", progress=False)))
audit = prodex.audit(catalog, {"packs": ["shop_rules"], "checks": {"no_text_shouts": {}}}, progress=False)
print(audit.crashes[0].message)
"""
    )
    assert "False 1\n" in said
    assert "The pack of rules shop_rules cannot be imported (ModuleNotFoundError: " in said
    assert (
        "the pack of rules shop_rules cannot be imported (ModuleNotFoundError: No module named 'a_module"
        in said
    )


def test_a_pack_that_ends_the_program_ends_nothing(environment: Environment) -> None:
    """An audit ended without a word, and with the code of a success."""
    environment.install(module=_MODULE + "\nimport sys\nsys.exit(0)\n")
    said = environment.run(
        'warnings.simplefilter("always")\nprint(len(prodex.audit(catalog, progress=False)))'
    )
    assert said.startswith("1\n")
    assert "The pack of rules shop_rules cannot be imported (SystemExit: 0)" in said


def test_each_module_of_a_pack_that_tells_of_itself_is_imported(environment: Environment) -> None:
    """Of two only the first was, and the rules of the other were unknown."""
    modules = {"own/rules.py": _MODULE, "own/more.py": _MODULE.replace("no_text_shouts", "no_text_whispers")}
    environment.put("a = own.rules\nb = own.more", {"own/__init__.py": "", **modules})
    said = environment.run(
        'print(prodex.rules().set_index("rule").loc[["no_text_shouts", "no_text_whispers"], "pack"].tolist())'
    )
    assert "['own', 'own']\n" == said


def test_a_profile_of_a_pack_that_cannot_be_read_concerns_itself_only(environment: Environment) -> None:
    """It is named, whatever is wrong with it; all others are listed and judge. A byte order mark is no harm."""
    profiles: dict[str, str | bytes] = {
        "own/profiles/latin.toml": "title = 'Prüfung'\n[checks.no_text_shouts]\n".encode("latin-1"),
        "own/profiles/torn.toml": "title = 'Own",
        "own/profiles/odd.toml": "[checks.no_text_shuots]\n",
        "own/profiles/good.toml": b"\xef\xbb\xbf[checks.no_text_shouts]\n",
    }
    environment.put("own = own", {"own/__init__.py": _MODULE, **profiles})
    said = environment.run(
        """
warnings.simplefilter("always")
print(prodex.profiles()["profile"].tolist()[-2:])
for name in ("core", "good", "latin", "torn", "odd"):
    try:
        print(name, len(prodex.audit(catalog, name, progress=False)))
    except prodex.ProdexError as error:
        print(name, error)
"""
    )
    assert "['good', 'food-eu']\ncore 1\ngood 1\n" in said
    assert "latin The profile latin of an installed pack is not UTF-8 text. Save it as UTF-8." in said
    assert "torn The profile torn of an installed pack is not TOML" in said
    assert "odd profile odd, line 1, checks.no_text_shuots: there is no rule" in said
    assert 3 == said.count("A profile is left out. ")


def test_a_rule_of_ones_own_takes_the_place_of_one_of_a_pack_on_purpose_only(
    environment: Environment,
) -> None:
    """Also before anybody has asked for the rules of packs."""
    environment.install()
    said = environment.run(
        """
def no_text_shouts(products):
    return prodex.packs.Verdict([False] * len(products))
try:
    prodex.packs.rule(title="mine")(no_text_shouts)
except prodex.errors.InputError as error:
    print(error)
prodex.packs.rule(title="mine", replace=True)(no_text_shouts)
print(len(prodex.audit(catalog, {"checks": {"no_text_shouts": {}}}, progress=False).failures()))
"""
    )
    assert "'no_text_shouts' is one of the rules of shop_rules." in said
    assert said.endswith("0\n")


#: Nothing tells of packs: prodex as it is without that of food.
_NO_PACKS = """
import importlib.metadata
whole = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **asked: [] if asked.get("group") == "prodex.rules" else whole(**asked)
"""


def test_without_the_pack_of_food_its_checks_are_unknown(environment: Environment) -> None:
    """The other checks of a profile judge, and the audit says what to install."""
    said = environment.run(
        """
audit = prodex.audit(catalog, "online-listing", progress=False)
crashed = {one.check for one in audit.crashes}
print("has_composition" in crashed, "valid_gtin" in crashed, audit.crashes[0].message)
print("food-eu" in set(prodex.profiles()["profile"]))
print(audit)
""",
        before=_NO_PACKS,
    )
    assert "True False the pack of rules prodex_food is not installed; run: pip install" in said
    assert "\nFalse\n" in said
    assert "prodex_food is not installed" in said.partition("\nFalse\n")[2]
