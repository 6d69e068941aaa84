"""What a job has exported: the files that it wrote to each folder, so that it replaces no file of another program.

`<home>/jobs/<name>/exports.json` has the digest of each file of the last export to each folder. While an export is
being written its files have none: if the process is killed in that moment, they are the job's all the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import msgspec

from prodex.errors import StorageError
from prodex.files.atomic import sha256, storage, writing
from prodex.files.folders import recover
from prodex.files.untrusted import Digest, is_file, is_there, read_json
from prodex.formats.exporting import PACKAGE, exported_digests, replaced_files, tables_in
from prodex.formats.registry import FormatName
from prodex.job.job_file import ExportOptions, Job
from prodex.job.run_journal import folder_of

_FORMAT = 1

#: Files that an error names.
_SHOWN = 3

#: Of each folder the files, each with its digest; None while it is being written.
Written = Mapping[str, Mapping[str, str | None]]


@dataclass(frozen=True)
class ExportRecord:
    """The files that a job has exported.

    Attributes
    ----------
    path
        The file in which that is kept.
    """

    path: Path

    @classmethod
    def of(cls, job: Job) -> ExportRecord:
        """Return the record of a job."""
        return cls(folder_of(job.name) / "exports.json")

    @contextmanager
    def exporting(self, options: ExportOptions) -> Iterator[None]:
        """Note an export that replaces the last one of this job, and refuse one that would replace anything else.

        An export that prodex wrote and nobody has changed is taken for the job's: its record may be damaged or lost.

        Raises
        ------
        StorageError
            When there are files of another program, or the record cannot be written.
        """
        folder, form = options.folder, cast(FormatName, options.format)
        before = self._read()
        names = replaced_files(folder, form, options.tables or tables_in(form))
        with storage(folder):
            if folder.is_dir():
                recover(folder, names, folder / PACKAGE)
            known = {**exported_digests(folder), **before.get(str(folder), {})}
            found = [folder / name for name in sorted(names) if is_there(folder / name)]
            others = [path for path in found if not _is_own(path, known, exported_digests(folder))]
        if others:
            raise _refusal(others)
        # From here on they are the job's: whatever is there was, and nobody else writes them meanwhile.
        self._write({**before, str(folder): dict.fromkeys(names)})
        try:
            yield
        except BaseException:  # then the earlier export is as it was
            self._write(before)
            raise
        digests = exported_digests(folder)
        with storage(folder):
            digests[PACKAGE] = sha256(folder / PACKAGE)
        self._write({**before, str(folder): digests})

    def _read(self) -> Written:
        try:
            return read_json(self.path, _Record, newest=_FORMAT).exports
        except (OSError, ValueError):  # then only what an export says of itself is known
            return {}

    def _write(self, exports: Written) -> None:
        content = {"format": _FORMAT, "exports": {folder: dict(files) for folder, files in exports.items()}}
        with writing(self.path, private=True) as beside:
            beside.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")


class _Record(msgspec.Struct):
    """A record as JSON."""

    exports: dict[str, dict[str, Digest | None]]


def _is_own(path: Path, *known: Mapping[str, str | None]) -> bool:
    """Whether a file is one that the job, or an export of prodex, wrote, and as it was written."""
    if not is_file(path):
        return False
    expected = {files[path.name] for files in known if path.name in files}
    return None in expected or (bool(expected) and sha256(path) in expected)


def _refusal(others: list[Path]) -> StorageError:
    more = len(others) - _SHOWN
    shown = ", ".join(map(str, others[:_SHOWN])) + (f" and {more:,} more" if more > 0 else "")
    return StorageError(
        f"The export would replace {shown}, which another program wrote or has changed since this job did. Nothing was "
        "written. Move that away, or give the export a folder of its own."
    )
