"""One simulated day: products are read and written in one transaction, and what was done is noted."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, datetime
from typing import Any, Final

from prodex_sandbox.raw_json import decode, encode
from prodex_sandbox.records.merging import stored_attributes, write_product
from prodex_sandbox.records.model import SharedProduct, SharingStatus, View, overlay, views_with_owner
from prodex_sandbox.records.service_clock import Clock, date_writes, stamp
from prodex_sandbox.records.store import delete_versions, insert_product, insert_views, next_key
from prodex_sandbox.simulation.journal import INCIDENT, Changes, Note, insert_notes

_NULL: Final = b"null"


class Day:
    """A day that is being simulated.

    Parameters
    ----------
    connection
        A transaction of the store.
    day
        The simulated day.
    clock
        The clock of the service, to which `updatedAt` moves.
    manufacturers
        Ids of the organisations that own products; all others are their recipients.

    Attributes
    ----------
    now
        The time of the service at which it began.
    notes
        What was done.
    incident
        Name of the incident that is going on, or "".
    """

    def __init__(
        self, connection: sqlite3.Connection, day: date, clock: Clock, manufacturers: frozenset[int]
    ) -> None:
        self.connection = connection
        self.day = day
        self.now: datetime = clock()
        self.notes: list[Note] = []
        self.incident = ""
        self._clock = clock
        self._manufacturers = manufacturers
        self._written: set[int] = set()

    def body(self, key: int) -> bytes:
        """Return the record of a product as it is stored."""
        (body,) = self.connection.execute("SELECT body FROM records WHERE key = ?", (key,)).fetchone()
        return bytes(body)

    def write(
        self, key: int, attributes: Mapping[str, bytes | None], supplier: str, action: str, detail: str
    ) -> None:
        """Write attributes into a product, as its manufacturer does, and note it.

        Parameters
        ----------
        attributes
            Attribute -> its JSON, None to delete it. Members of `assets` are attributes: `assets.pictures`.
        """
        body = self.body(key)
        stored = stored_attributes(body)
        sent = {name: _NULL if raw is None else raw for name, raw in attributes.items()}
        self._written.update(write_product(self.connection, key, body, sent, self.now))
        changes = {
            name: (stored.get(name), raw) for name, raw in sent.items() if (stored.get(name) or _NULL) != raw
        }
        self._note(key, stored, changes, supplier, action, detail)

    def show(
        self,
        key: int,
        change: Callable[[View], View],
        supplier: str,
        action: str,
        detail: str,
        attributes: Mapping[str, bytes | None] | None = None,
    ) -> None:
        """Change how recipients see a product, and attributes of it with that.

        Parameters
        ----------
        change
            Makes of a view what it becomes.
        """
        before = self.views(key)
        after = [change(view) for view in before]
        record = decode(self.body(key))
        shown = _shown(record, before[0], after[0])
        moved = {name: encode(value) for name, value in shown.items()} | dict(attributes or {})
        self.write(key, moved, supplier, action, detail)
        for old, new in zip(before, after, strict=True):
            if (old, before[0]) != (new, after[0]):
                self._write_view(key, old, new, overlay(record | shown, after[0], new))

    def views(self, key: int) -> list[View]:
        """Return the views of a product's recipients, then those of its owner; the first one's is in the record."""
        rows = self.connection.execute(
            "SELECT organization_id, shared_from, shared_with, product_status, active_range, validation_status,"
            " target_market FROM views WHERE product_key = ? ORDER BY organization_id",
            (key,),
        ).fetchall()
        views = []
        for viewer, shared_from, shared_with, status, active, validation, market in rows:
            tags = self.connection.execute(
                "SELECT name, created_at FROM tags WHERE organization_id = ? AND product_key = ?",
                (viewer, key),
            )
            views.append(
                View(
                    viewer,
                    SharingStatus(shared_from),
                    SharingStatus(shared_with),
                    status,
                    bool(active),
                    validation,
                    market,
                    tuple(tags.fetchall()),
                )
            )
        return sorted(views, key=lambda view: view.organization_id in self._manufacturers)

    def insert(self, product: SharedProduct, supplier: str, action: str, detail: str) -> int:
        """Add a new product and return its key."""
        key = next_key(self.connection)
        record = product.record | {"updatedAt": stamp(self.now)}
        insert_product(self.connection, key, product.owner_id, encode(record), record)
        insert_views(self.connection, [(key, product.record, views_with_owner(product))])
        self._written.add(key)
        self._note(key, stored_attributes(encode(record)), {}, supplier, action, detail)
        return key

    def withdraw(self, key: int, supplier: str, action: str, detail: str) -> None:
        """Take a product back from all recipients; for its owner it becomes a draft."""
        delete_versions(self.connection, key)
        draft = SharingStatus.DRAFT
        self.show(
            key,
            lambda view: replace(
                view,
                shared_from=draft,
                shared_with=draft,
                product_status="NOT_ASSIGNED",
                active_range=False,
                tags=(),
            ),
            supplier,
            action,
            detail,
        )
        for view in self.views(key):
            if view.organization_id not in self._manufacturers:
                for table in ("views", "tags", "activations"):
                    self.connection.execute(
                        f"DELETE FROM {table} WHERE organization_id = ? AND product_key = ?",  # noqa: S608
                        (view.organization_id, key),
                    )

    def note_incident(self, supplier: str, detail: str) -> None:
        """Note what an incident did as a whole."""
        self.notes.append(Note(self.day, supplier, INCIDENT, detail, self.incident, None, "", "", {}))

    def end(self) -> None:
        """Date what was written to the second of the commit, and keep the notes."""
        dated = date_writes(self.connection, self._written, self.now, self._clock)
        before, after = (f'"updatedAt":"{stamp(moment)}"'.encode() for moment in (self.now, dated))
        # Dates inside of pictures have moved with those of their products.
        self.notes = [
            replace(
                note,
                changes={
                    name: (old, new and new.replace(before, after))
                    for name, (old, new) in note.changes.items()
                },
            )
            for note in self.notes
        ]
        insert_notes(self.connection, self.notes)

    def _note(
        self, key: int, stored: Mapping[str, bytes], changes: Changes, supplier: str, action: str, detail: str
    ) -> None:
        product_id, gtin = (decode(stored.get(name) or _NULL) for name in ("id", "gtin"))
        shown = ["" if value is None else str(value) for value in (product_id, gtin)]
        note = Note(self.day, supplier, action, detail, self.incident, key, shown[0], shown[1], changes)
        self.notes.append(note)

    def _write_view(self, key: int, old: View, new: View, members_seen: dict[str, Any]) -> None:
        self.connection.execute(
            "UPDATE views SET shared_from = ?, shared_with = ?, product_status = ?, active_range = ?,"
            " validation_status = ?, overlay = ? WHERE organization_id = ? AND product_key = ?",
            (
                int(new.shared_from),
                int(new.shared_with),
                new.product_status,
                new.active_range,
                new.validation_status,
                encode(members_seen) if members_seen else None,
                new.organization_id,
                key,
            ),
        )
        if new.tags != old.tags:
            viewer = new.organization_id
            self.connection.execute(
                "DELETE FROM tags WHERE organization_id = ? AND product_key = ?", (viewer, key)
            )
            self.connection.executemany(
                "INSERT INTO tags VALUES (?, ?, ?, ?)",
                ((viewer, key, name, created_at) for name, created_at in new.tags),
            )


def _shown(record: Mapping[str, Any], before: View, after: View) -> dict[str, Any]:
    """Return the members of the record that change with the view of its first viewer."""
    shown: dict[str, Any] = {}
    if after.shared_from != before.shared_from:
        shown["manufacturerSharingStatus"] = int(after.shared_from)
    if after.product_status != before.product_status:
        shown["targetProductStatus"] = after.product_status
    if after.validation_status != before.validation_status:
        validation = record.get("validation")
        kept = validation if isinstance(validation, dict) else {}
        shown["validation"] = {**kept, "status": after.validation_status}
    if after.tags != before.tags:
        shown["hasTags"] = [{"tag": name, "createdAt": put_on} for name, put_on in after.tags]
        shown["isTaggedBy"] = [name for name, _ in after.tags]
    return shown
