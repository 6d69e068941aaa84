"""Job files: what `prodex run` does, as TOML.

::

    name = "shop"
    profile = "online-listing"

    [query]
    target_market = "France"
    tags_in = ["exportable"]

    [[recipes]]
    file = "brand-spelling.toml"

    [worklists]
    folder = "worklists"

    [[exports]]
    format = "parquet"
    folder = "out"

    [publish]
    uri = "s3://bucket/shop"

    [keep]
    snapshots = 14

Only `name` is needed. Relative paths begin at the folder of the job file, since cron starts programs elsewhere.

A job file is kept in version control and shared with colleagues, so it holds no secret and no address: an address of
somebody else would receive the user's secret. The service is the one in the settings, "sandbox", or named by variables
of the environment.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from prodex.arguments import described, whole_number
from prodex.errors import InputError, SettingsError
from prodex.facts.groups import BY
from prodex.files.atomic import checked_name, home
from prodex.files.toml_text import Keys, TomlFile, TomlText
from prodex.formats.registry import FORMATS
from prodex.languages import Translation
from prodex.locales import language_tag
from prodex.messages import hint
from prodex.quality.profile import Profile, shipped
from prodex.quality.rulebook import SEVERITIES
from prodex.query import ProductQuery
from prodex.service import Client, connect
from prodex.tables.declaration import TABLES
from prodex.worklists.layout import OF_OTHER_FORMATS, ONLY_WORKBOOKS
from prodex.written_dates import zone_of

#: Groups by which worklists can be made.
_GROUPINGS = tuple(dict.fromkeys((*BY, *TABLES["products"].schema.names)))


@dataclass(frozen=True)
class WorklistOptions:
    """Worklists that a job writes: into a new folder below `folder`, for the groups of `by`.

    They are in `language`, and those of single owners in `languages`, by their codes or names.
    """

    folder: Path
    by: str = "owner"
    profile: str = ""
    severity: tuple[str, ...] = ()
    language: str = "en"
    languages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class ExportOptions:
    """An export that a job writes; the one that it wrote before to its folder is replaced, and nothing else."""

    format: str
    folder: Path
    tables: tuple[str, ...] = ()
    escape_formulas: bool = False


@dataclass(frozen=True)
class RecipeOptions:
    """A recipe that a job does with the products that it has loaded, judged by a profile if there is one.

    What it would change is shown; it is sent only with `send`.
    """

    file: Path
    profile: str | None = None
    send: bool = False


@dataclass(frozen=True)
class KeepOptions:
    """How many of the newest snapshots and audits stay; None for all."""

    snapshots: int | None = None
    audits: int | None = None


@dataclass(frozen=True)
class Job:
    """What is done each time.

    Attributes
    ----------
    path
        The job file.
    digest
        Of its content: a run that was killed only continues by the same file.
    name
        Name of the snapshots, and of the job.
    query, labels, allow_incomplete
        What is loaded; see `prodex.load_products`.
    service
        Which service; None for the one in the settings.
    profiles
        Profiles of the audits.
    compare, watch
        Whether to compare with the last run, and to look for unusual figures.
    zone
        The time zone whose days are meant; None for that of this machine.
    language
        The language in which the result says what is unusual, whether an audit is worse and which limit is broken, and
        of worklists unless they have their own.
    recipes
        What is corrected, and whether that is sent.
    worklists, exports, publish, keep
        What is written, where, and what is removed.
    fail_on, fail_under
        The run fails if a check of this severity or a worse one fails, or the score is below this share.
    new_only
        Only findings that nobody has accepted count for that.
    results
        Folder of results: one Markdown file for each run, and the log.
    """

    path: Path
    digest: str
    name: str
    query: ProductQuery
    results: Path
    labels: tuple[str, ...] = ()
    allow_incomplete: bool = False
    service: ServiceSettings | None = None
    profiles: tuple[Profile, ...] = ()
    compare: bool = True
    watch: bool = True
    zone: tzinfo | None = None
    language: str = "en"
    recipes: tuple[RecipeOptions, ...] = ()
    worklists: WorklistOptions | None = None
    exports: tuple[ExportOptions, ...] = ()
    publish: str | None = None
    keep: KeepOptions = KeepOptions()
    fail_on: str | None = None
    fail_under: float = 0.0
    new_only: bool = False


def read_job(path: str | Path) -> Job:
    """Read a job file.

    Raises
    ------
    InputError
        When it cannot be read, has an unknown key, a value that cannot be, or a secret; the message names file, line,
        key and the nearest known one.
    """
    if not isinstance(path, str | Path):
        raise InputError(f"path is {described(path)}. Give the path of a job file: run_job('shop.toml').")
    file = Path(path)
    read = TomlFile.read(file, f"The job file {file}")
    # Before anything else: no message about another value may quote a secret.
    refuse_secrets(read.values, read.text)
    digest = hashlib.sha256(read.content).hexdigest()
    return _Reader(file.resolve(), read.text).job(read.values, digest)


_KEYS = (
    *("name", "service", "query", "labels", "allow_incomplete", "profile", "compare", "watch"),
    *("zone", "language", "recipes", "worklists", "exports", "publish", "keep", "results"),
    *("fail_on", "fail_under", "new_only"),
)


@dataclass(frozen=True)
class _Reader:
    """Reads the values of one job file; every error names file, line and key."""

    path: Path
    place: TomlText

    def job(self, values: Mapping[str, Any], digest: str) -> Job:
        self._known(values, _KEYS, ())
        if "name" not in values:
            raise InputError(
                f"{self.place.shown}: there is no name. Write the name of the snapshots: name = 'shop'"
            )
        with self._named(("name",)):
            name = checked_name(values["name"])
        labels = self._texts(values, "labels")
        with self._named(("labels",)):
            labels = tuple(map(language_tag, labels))
        exports = self._exports(values.get("exports", []))
        profiles = self._profiles(values)
        return Job(
            path=self.path,
            digest=digest,
            name=name,
            query=self._query(values.get("query", {})),
            results=self._path(values, "results") if "results" in values else home() / "jobs",
            labels=labels,
            allow_incomplete=self._flag(values, "allow_incomplete", False),
            service=service_settings(values.get("service"), self.place),
            profiles=profiles,
            compare=self._flag(values, "compare", True),
            watch=self._flag(values, "watch", True),
            zone=self._zone(values),
            language=self._language(values, "language", ()) if "language" in values else "en",
            recipes=self._recipes(values.get("recipes", []), profiles),
            worklists=self._worklists(values, profiles),
            exports=exports,
            publish=self._publish(values),
            keep=self._keep(values),
            **self._limits(values),
        )

    def _limits(self, values: Mapping[str, Any]) -> dict[str, Any]:
        severity = None
        if "fail_on" in values:
            severity = self._choice(values, "fail_on", SEVERITIES, "", ())
        least = values.get("fail_under", 0.0)
        is_number = isinstance(least, int | float) and not isinstance(least, bool)
        if not is_number or not 0 <= least <= 1:
            raise self.place.error(
                ("fail_under",), f"fail_under is {described(least)}; give a share, such as 0.8."
            )
        new_only = self._flag(values, "new_only", False)
        if new_only and severity is None and not least:
            raise self.place.error(
                ("new_only",), "new_only says what fail_on and fail_under judge; give one of them."
            )
        return {"fail_on": severity, "fail_under": float(least), "new_only": new_only}

    def _query(self, given: Any) -> ProductQuery:
        table = self._table(given, "query", "{target_market = 250}")
        for key, value in table.items():
            # One field at a time, so that an error has the line of its field.
            with self._named(("query", key)):
                ProductQuery(**{key: value})
        with self._named(("query",)):
            return ProductQuery(**table)

    def _zone(self, values: Mapping[str, Any]) -> tzinfo | None:
        if "zone" not in values:
            return None
        with self._named(("zone",)):
            return zone_of(self._text(values, "zone"))

    def _profiles(self, values: Mapping[str, Any]) -> tuple[Profile, ...]:
        given = self._texts(values, "profile") if "profile" in values else ("core",)
        with self._named(("profile",)):
            read = tuple(
                Profile.read(one if one in shipped() else self._below(one, *_PROFILES)) for one in given
            )
        names = [one.name for one in read]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise self.place.error(("profile",), f"{repeated!r} is named twice.")
        return read

    def _worklists(self, values: Mapping[str, Any], profiles: tuple[Profile, ...]) -> WorklistOptions | None:
        if "worklists" not in values:
            return None
        here = "worklists"
        table = self._table(values[here], here, "{folder = 'worklists'}")
        if other := next((key for key in table if key in OF_OTHER_FORMATS), None):
            raise self.place.error((here, other), ONLY_WORKBOOKS)
        self._known(table, ("folder", "by", "profile", "severity", "language", "languages"), (here,))
        names = [profile.name for profile in profiles]
        if not names:
            raise self.place.error((here,), "worklists are made of an audit; give a profile.")
        by = self._choice(table, "by", _GROUPINGS, "owner", (here,))
        severities = self._texts(table, "severity", (here,))
        for one in severities:
            self._one_of(one, SEVERITIES, (here, "severity"))
        profile = self._choice(table, "profile", names, names[0], (here,))
        named, above = (table, (here,)) if "language" in table else (values, ())
        language = self._language(named, "language", above) if "language" in named else "en"
        own = self._table(table.get("languages", {}), "languages", "{ACME = 'fr'}")
        if own and by != "owner":
            raise self.place.error(
                (here, "languages"), f"languages are given by owner, and the worklists are by {by}."
            )
        languages = tuple((owner, self._language(own, owner, (here, "languages"))) for owner in own)
        folder = self._path(table, "folder", (here,))
        return WorklistOptions(folder, by, profile, severities, language, languages)

    def _language(self, table: Mapping[str, Any], key: str, above: Keys) -> str:
        with self._named((*above, key)):
            return Translation.of(self._text(table, key, above)).language

    def _recipes(self, given: Any, profiles: tuple[Profile, ...]) -> tuple[RecipeOptions, ...]:
        if not isinstance(given, list):
            raise self.place.error(
                ("recipes",), "recipes are tables; write [[recipes]] and file = 'spelling.toml' below."
            )
        made = []
        for number, entry in enumerate(given):
            here: Keys = ("recipes", number)
            table = self._table(entry, "recipes", "{file = 'spelling.toml'}")
            self._known(table, ("file", "profile", "send"), here)
            profile = None
            if "profile" in table:
                profile = self._choice(table, "profile", [one.name for one in profiles], "", here)
            file = self._path(table, "file", here)
            made.append(RecipeOptions(file, profile, self._flag(table, "send", False, here)))
        return tuple(made)

    def _exports(self, given: Any) -> tuple[ExportOptions, ...]:
        if not isinstance(given, list):
            raise self.place.error(
                ("exports",), "exports are tables; write [[exports]] and format and folder below."
            )
        made: list[ExportOptions] = []
        for number, entry in enumerate(given):
            here: Keys = ("exports", number)
            table = self._table(entry, "exports", "{format = 'csv', folder = 'out'}")
            self._known(table, ("format", "folder", "tables", "escape_formulas"), here)
            tables = self._texts(table, "tables", here)
            for one in tables:
                self._one_of(one, TABLES, (*here, "tables"))
            name = self._choice(table, "format", FORMATS, "parquet", here)
            escape = self._flag(table, "escape_formulas", False, here)
            if escape and not FORMATS[name].can_escape_formulas:  # type: ignore[index]
                raise self.place.error((*here, "escape_formulas"), f"{name} holds no formulas; leave it out.")
            folder = self._path(table, "folder", here)
            if folder in (one.folder for one in made):
                raise self.place.error(
                    (*here, "folder"), f"{folder} is used twice. Give each export a folder of its own."
                )
            made.append(ExportOptions(name, folder, tables, escape))
        return tuple(made)

    def _publish(self, values: Mapping[str, Any]) -> str | None:
        if "publish" not in values:
            return None
        table = self._table(values["publish"], "publish", "{uri = 's3://bucket/shop'}")
        self._known(table, ("uri",), ("publish",))
        uri = self._text(table, "uri", ("publish",))
        return uri if "://" in uri else str(self._below(uri))

    def _keep(self, values: Mapping[str, Any]) -> KeepOptions:
        table = self._table(values.get("keep", {}), "keep", "{snapshots = 14}")
        self._known(table, ("snapshots", "audits"), ("keep",))
        for key, value in table.items():
            if whole_number(value, 1) is None:
                raise self.place.error(
                    ("keep", key), f"{key} is {value!r:.40}. Give how many of the newest stay, at least 1."
                )
        return KeepOptions(**table)

    def _known(self, table: Mapping[str, Any], known: tuple[str, ...], here: Keys) -> None:
        for key in table:
            if key not in known:
                near = hint(key, known, f"Give one of {', '.join(known)}.")
                raise self.place.error((*here, key), f"there is no key {key!r}{near}")

    def _table(self, given: Any, key: str, example: str) -> dict[str, Any]:
        if not isinstance(given, Mapping):
            raise self.place.error((key,), f"{key} is {described(given)}; give a table: {key} = {example}")
        return dict(given)

    def _flag(self, table: Mapping[str, Any], key: str, default: bool, here: Keys = ()) -> bool:
        given = table.get(key, default)
        if not isinstance(given, bool):
            raise self.place.error((*here, key), f"{key} is {described(given)}; give true or false.")
        return given

    def _text(self, table: Mapping[str, Any], key: str, here: Keys = ()) -> str:
        if key not in table:
            raise self.place.error(here or (key,), f"there is no {key}, which is needed.")
        given = table[key]
        if not isinstance(given, str) or not given.strip():
            raise self.place.error((*here, key), f"{key} is {described(given)}; give a text.")
        return given

    def _texts(self, table: Mapping[str, Any], key: str, here: Keys = ()) -> tuple[str, ...]:
        given = table.get(key, [])
        several = [given] if isinstance(given, str) else given
        if not isinstance(several, list) or not all(isinstance(one, str) for one in several):
            raise self.place.error((*here, key), f"{key} is {described(given)}; give a list of texts.")
        return tuple(several)

    def _choice(self, table: Mapping[str, Any], key: str, known: Any, default: str, here: Keys) -> str:
        given = self._text(table, key, here) if key in table else default
        self._one_of(given, known, (*here, key))
        return given

    def _one_of(self, given: str, known: Any, keys: Keys) -> None:
        if given not in known:
            near = hint(given, known, f"Give one of {', '.join(known)}.")
            raise self.place.error(keys, f"there is no {given!r}{near}")

    def _path(self, table: Mapping[str, Any], key: str, here: Keys = ()) -> Path:
        return self._below(self._text(table, key, here))

    def _below(self, given: str, *endings: str) -> Path:
        path = Path(given).expanduser()
        # The name of a profile that there is not is refused as such, not as a path.
        return path if endings and path.suffix not in endings else self.path.parent / path

    def _named(self, keys: Keys) -> Any:
        return self.place.named(keys)


#: The endings of files that audits are made by: profiles, and requirements.
_PROFILES = (".toml", ".xlsx", ".csv")
_SANDBOX = "sandbox"
_SETTINGS = ("base_url", "client_id", "client_secret")

#: Only variables of prodex: a job file of somebody else must not send other secrets of the environment anywhere.
_REFERENCE = re.compile(r"\$(PRODEX_[A-Z0-9_]+)")

#: Keys whose value would be a secret.
_SECRET_KEY = re.compile(r"secret|password|passwd|token|api_?key|credential", re.IGNORECASE)
_SECRET_IN_ADDRESS = re.compile(r"^[a-z0-9+]+://[^/?#]*@", re.IGNORECASE)


@dataclass(frozen=True)
class ServiceSettings:
    """The service of a job.

    Attributes
    ----------
    sandbox
        Whether it is the sandbox.
    variables
        Otherwise, for each setting the variable of the environment that has it.
    """

    sandbox: bool = False
    variables: tuple[tuple[str, str], ...] = ()


def connected(settings: ServiceSettings | None) -> Client:
    """Return a client of the service of a job; nothing is sent yet.

    Raises
    ------
    SettingsError
        When a variable is not set, or as for `prodex.connect`.
    """
    if settings is None:
        return connect()
    if settings.sandbox:
        return connect(_SANDBOX)
    found = {}
    for setting, variable in settings.variables:
        found[setting] = os.environ.get(variable, "").strip()
        if not found[setting]:
            raise SettingsError(
                f"The environment variable {variable}, which the job names as {setting}, is not set. Set it where the "
                "job is started."
            )
    return connect(**found)  # type: ignore[arg-type] # the three settings are texts


def service_settings(given: Any, place: TomlText) -> ServiceSettings | None:
    """Return which service a job file names.

    Raises
    ------
    InputError
        When it names an address or credentials instead of variables.
    """
    if given is None:
        return None
    if isinstance(given, str):
        if given != _SANDBOX:
            raise place.error(
                ("service",),
                'service is "sandbox", or a table of variables: {base_url = "$PRODEX_SHOP_URL", client_id = '
                '"$PRODEX_SHOP_ID", client_secret = "$PRODEX_SHOP_SECRET"}. Leave it out for the service in your '
                "settings.",
            )
        return ServiceSettings(sandbox=True)
    if not isinstance(given, Mapping):
        raise place.error(("service",), f'service is {described(given)}; give "sandbox", or leave it out.')
    variables = []
    for key, value in given.items():
        if key not in _SETTINGS:
            near = hint(key, _SETTINGS, f"Give one of {', '.join(_SETTINGS)}.")
            raise place.error(("service", key), f"there is no key {key!r}{near}")
        found = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            # The value is not quoted: it may be what it should not be.
            raise place.error(
                ("service", key),
                f"{key} must name a variable of the environment that begins with PRODEX_, such as "
                f'"$PRODEX_SHOP_{key.upper()}". A job file has neither addresses nor credentials.',
            )
        variables.append((key, found[1]))
    # All three or none: an address of one source is never used with a secret of another.
    if missing := [key for key in _SETTINGS if key not in given]:
        raise place.error(("service",), f"{missing[0]} is missing; give all of {', '.join(_SETTINGS)}.")
    return ServiceSettings(variables=tuple(variables))


def refuse_secrets(values: Mapping[str, Any], place: TomlText) -> None:
    """Refuse a job file with a secret in it; the message does not show it.

    Raises
    ------
    InputError
        When a key asks for a secret, or an address has credentials in it.
    """
    for keys, value in _setting_leaves(values, ()):
        if isinstance(value, str) and _REFERENCE.fullmatch(value):
            continue
        named = next((key for key in reversed(keys) if isinstance(key, str)), "")
        if _SECRET_KEY.search(named) or (isinstance(value, str) and _SECRET_IN_ADDRESS.search(value)):
            raise place.error(
                keys,
                "a job file holds no secrets. Take the value out and change that secret, since others may have read "
                "it; keep the new one in the environment, in .env or in the keyring (docs: Settings).",
            )


def _setting_leaves(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _setting_leaves(inner, (*keys, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _setting_leaves(inner, (*keys, number))
    else:
        yield keys, value
