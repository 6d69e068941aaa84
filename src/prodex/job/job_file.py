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
from collections.abc import Collection, Iterator, Mapping
from datetime import tzinfo
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import msgspec

from prodex.arguments import described
from prodex.errors import InputError, SettingsError
from prodex.facts.groups import BY
from prodex.files.atomic import checked_name, home, path_here
from prodex.files.toml_structs import struct_of, unknown_name
from prodex.files.toml_text import Keys, TomlFile, TomlText
from prodex.formats.registry import FORMATS, FormatName
from prodex.languages import Translation
from prodex.locales import language_tag
from prodex.publishing.destination import may_hold_credentials, place_of
from prodex.quality.profile import Profile, shipped
from prodex.quality.rulebook import SEVERITIES, Severity
from prodex.query import ProductQuery
from prodex.service import Client, connect
from prodex.tables.declaration import TABLES
from prodex.worklists.layout import OF_OTHER_FORMATS, ONLY_WORKBOOKS
from prodex.written_dates import zone_of

#: Groups by which worklists can be made.
_GROUPINGS = tuple(dict.fromkeys((*BY, *TABLES["products"].schema.names)))

#: The endings of files that audits are made by: profiles, and requirements.
_PROFILES = (".toml", ".xlsx", ".csv")

_SANDBOX = "sandbox"
_SERVICES = (
    'service is "sandbox", or a table of variables: {base_url = "$PRODEX_SHOP_URL", client_id = "$PRODEX_SHOP_ID", '
    'client_secret = "$PRODEX_SHOP_SECRET"}. Leave it out for the service in your settings.'
)

#: Only variables of prodex: a job file of somebody else must not send other secrets of the environment anywhere.
_REFERENCE = re.compile(r"\$(PRODEX_[A-Z0-9_]+)")

#: Keys whose value would be a secret.
_SECRET_KEY = re.compile(r"secret|password|passwd|token|api_?key|credential", re.IGNORECASE)

#: One text, or several.
_Texts = str | tuple[str, ...]
_Kept = Annotated[int, msgspec.Meta(ge=1)] | None


class WorklistOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Worklists that a job writes: into a new folder below `folder`, for the groups of `by`.

    They are in `language`, and those of single owners in `languages`, by their codes or names.
    """

    folder: Path
    by: str = "owner"
    profile: str = ""
    severity: _Texts = ()
    language: str = ""
    languages: dict[str, Any] = {}


class ExportOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An export that a job writes; the one that it wrote before to its folder is replaced, and nothing else."""

    folder: Path
    format: FormatName = "parquet"
    tables: _Texts = ()
    escape_formulas: bool = False


class RecipeOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A recipe that a job does with the products that it has loaded, judged by a profile if there is one.

    What it would change is shown; it is sent only with `send`.
    """

    file: Path
    profile: str | None = None
    send: bool = False


class KeepOptions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many of the newest snapshots and audits stay; None for all."""

    snapshots: _Kept = None
    audits: _Kept = None


class Variable(str):
    """The name of a variable of the environment."""

    __slots__ = ()

    @classmethod
    def named(cls, given: str) -> Variable:
        """Return the variable that a job file names: the text of any other value is not quoted, it may be a secret."""
        if (found := _REFERENCE.fullmatch(given)) is None:
            raise ValueError(
                "give the name of a variable of the environment that begins with PRODEX_, such as "
                '"$PRODEX_SHOP_URL". A job file has neither addresses nor credentials.'
            )
        return cls(found[1])


class ServiceVariables(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The variables that name a service.

    All three or none: an address of one source is never used with a secret of another.
    """

    base_url: Variable
    client_id: Variable
    client_secret: Variable


class _Publication(msgspec.Struct, forbid_unknown_fields=True):
    uri: str


class _Plain(msgspec.Struct, frozen=True, kw_only=True):
    """What means in a job what is written in its file."""

    allow_incomplete: bool = False
    compare: bool = True
    watch: bool = True
    zone: tzinfo | None = None
    recipes: tuple[RecipeOptions, ...] = ()
    keep: KeepOptions = KeepOptions()
    fail_on: Severity | None = None
    fail_under: float = 0.0
    new_only: bool = False


class _Written(_Plain, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A job file as it is written."""

    name: str
    service: str | ServiceVariables | None = None
    query: dict[str, Any] = {}
    labels: _Texts = ()
    profile: _Texts = "core"
    language: str = "en"
    worklists: WorklistOptions | None = None
    exports: tuple[ExportOptions, ...] = ()
    publish: _Publication | None = None
    results: Path | None = None


class Job(_Plain, frozen=True, kw_only=True):
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
        The sandbox, or the variables that name a service; None for the one in the settings.
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
    labels: tuple[str, ...]
    service: str | ServiceVariables | None
    profiles: tuple[Profile, ...]
    language: str
    worklists: WorklistOptions | None
    exports: tuple[ExportOptions, ...]
    publish: str | None
    results: Path


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
    _refuse_other_worklists(read.values, read.text)
    below = partial(_below, file.resolve().parent)
    written = struct_of(
        read.text, read.values, _Written, {Path: below, tzinfo: zone_of, Variable: Variable.named}
    )
    return _job(written, file.resolve(), hashlib.sha256(read.content).hexdigest(), read.text)


def _refuse_other_worklists(values: Mapping[str, Any], place: TomlText) -> None:
    worklists = values.get("worklists")
    for key in worklists if isinstance(worklists, Mapping) else ():
        if key in OF_OTHER_FORMATS:
            raise place.error(("worklists", key), ONLY_WORKBOOKS)


def _below(folder: Path, given: str) -> Path:
    return folder / path_here(given)


def _job(written: _Written, path: Path, digest: str, place: TomlText) -> Job:
    """Return what the values of a job file mean; every error names file, line and key."""
    with place.named(("name",)):
        name = checked_name(written.name)
    with place.named(("labels",)):
        labels = tuple(map(language_tag, _several(written.labels)))
    if written.service not in {None, _SANDBOX} and isinstance(written.service, str):
        raise place.error(("service",), _SERVICES)
    if not 0 <= written.fail_under <= 1:
        raise place.error(
            ("fail_under",), f"fail_under is {written.fail_under:g}; give a share, such as 0.8."
        )
    if written.new_only and written.fail_on is None and not written.fail_under:
        raise place.error(("new_only",), "new_only says what fail_on and fail_under judge; give one of them.")
    for limit in ("fail_on", "fail_under"):
        # A limit that nothing is judged by would be kept by every catalogue.
        if getattr(written, limit) and not _several(written.profile):
            raise place.error((limit,), f"{limit} judges an audit; give a profile.")
    profiles = _profiles(_several(written.profile), path.parent, place)
    for number, recipe in enumerate(written.recipes):
        if recipe.profile is not None:
            _check_name(recipe.profile, [one.name for one in profiles], ("recipes", number, "profile"), place)
    return Job(
        **{setting: getattr(written, setting) for setting in _Plain.__struct_fields__},
        path=path,
        digest=digest,
        name=name,
        query=_query(written.query, place),
        labels=labels,
        service=written.service,
        profiles=profiles,
        language=_language(written.language, ("language",), place),
        worklists=None
        if written.worklists is None
        else _worklists(written.worklists, written, profiles, place),
        exports=_exports(written.exports, place),
        publish=None if written.publish is None else _address(written.publish.uri, path.parent, place),
        results=written.results or home() / "jobs",
    )


def _several(texts: _Texts) -> tuple[str, ...]:
    return (texts,) if isinstance(texts, str) else texts


def _query(table: Mapping[str, Any], place: TomlText) -> ProductQuery:
    for key, value in table.items():
        # One field at a time, so that an error has the line of its field.
        with place.named(("query", key)):
            ProductQuery(**{key: value})
    with place.named(("query",)):
        return ProductQuery(**table)


def _profiles(given: tuple[str, ...], folder: Path, place: TomlText) -> tuple[Profile, ...]:
    # The name of a profile that there is not is refused as such, not as a path.
    paths = [
        one if one in shipped() or Path(one).suffix not in _PROFILES else _below(folder, one) for one in given
    ]
    with place.named(("profile",)):
        read = tuple(map(Profile.read, paths))
    names = [one.name for one in read]
    if repeated := next((name for name in names if names.count(name) > 1), None):
        raise place.error(("profile",), f"{repeated!r} is named twice.")
    return read


def _worklists(
    given: WorklistOptions, written: _Written, profiles: tuple[Profile, ...], place: TomlText
) -> WorklistOptions:
    here = "worklists"
    names = [profile.name for profile in profiles]
    if not names:
        raise place.error((here,), "worklists are made of an audit; give a profile.")
    options = msgspec.structs.replace(
        given, profile=given.profile or names[0], severity=_several(given.severity)
    )
    _check_name(options.by, _GROUPINGS, (here, "by"), place)
    _check_name(options.profile, names, (here, "profile"), place)
    for severity in options.severity:
        _check_name(severity, SEVERITIES, (here, "severity"), place)
    if given.languages and given.by != "owner":
        raise place.error(
            (here, "languages"), f"languages are given by owner, and the worklists are by {given.by}."
        )
    own = (here, "language") if given.language else ("language",)
    return msgspec.structs.replace(
        options,
        language=_language(given.language or written.language, own, place),
        languages={
            owner: _language(one, (here, "languages", owner), place) for owner, one in given.languages.items()
        },
    )


def _language(given: Any, keys: Keys, place: TomlText) -> str:
    with place.named(keys):
        return Translation.of(given).language


def _exports(written: tuple[ExportOptions, ...], place: TomlText) -> tuple[ExportOptions, ...]:
    exports = tuple(msgspec.structs.replace(one, tables=_several(one.tables)) for one in written)
    for number, one in enumerate(exports):
        here: Keys = ("exports", number)
        for table in one.tables:
            _check_name(table, TABLES, (*here, "tables"), place)
        if one.escape_formulas and not FORMATS[one.format].can_escape_formulas:
            raise place.error((*here, "escape_formulas"), f"{one.format} holds no formulas; leave it out.")
        # However it is written: "out" is "x/../out", and may be a link.
        if os.path.realpath(one.folder) in (os.path.realpath(before.folder) for before in exports[:number]):
            raise place.error(
                (*here, "folder"), f"{one.folder} is used twice. Give each export a folder of its own."
            )
    return exports


def _address(uri: str, folder: Path, place: TomlText) -> str:
    """Return where to publish: an address, or a folder that begins at the one of the job file."""
    if not uri.strip():
        raise place.error(
            ("publish", "uri"), "uri is empty; give a folder, or an address such as s3://bucket/shop."
        )
    with place.named(("publish", "uri")):
        # What no publication can be at is refused before the night.
        place_of(uri)
        return uri if "://" in uri else str(_below(folder, uri))


def _check_name(given: str, known: Collection[str], keys: Keys, place: TomlText) -> None:
    if given not in known:
        raise place.error(keys, unknown_name(given, known))


def connect_service(service: str | ServiceVariables | None) -> Client:
    """Return a client of the service of a job; nothing is sent yet.

    Raises
    ------
    SettingsError
        When a variable is not set, or as for `prodex.connect`.
    """
    if not isinstance(service, ServiceVariables):
        return connect(service)
    found = {}
    for setting, variable in msgspec.structs.asdict(service).items():
        found[setting] = os.environ.get(variable, "").strip()
        if not found[setting]:
            raise SettingsError(
                f"The environment variable {variable}, which the job names as {setting}, is not set. Set it where the "
                "job is started."
            )
    return connect(**found)  # type: ignore[arg-type] # the three settings are texts


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
        if _SECRET_KEY.search(named) or _is_secret_address(value):
            raise place.error(
                keys,
                "a job file holds no secrets. Take the value out and change that secret, since others may have read "
                "it; keep the new one in the environment, in .env or in the keyring (docs: Settings).",
            )


def _is_secret_address(value: Any) -> bool:
    """Whether a value is an address with more than a place in it; containers of Azure are before an @."""
    return isinstance(value, str) and "://" in value and may_hold_credentials(value)


def _setting_leaves(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _setting_leaves(inner, (*keys, key))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _setting_leaves(inner, (*keys, number))
    else:
        yield keys, value
