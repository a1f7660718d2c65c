"""The form of a state file, and how files of earlier releases are brought up to it.

The form is a number in the file (SQLite's `user_version`); 0 is what release 0.1.0 writes. `STEPS` is append-only: the
step at place n turns form n into form n + 1, and one that was released never changes. A service whose records get a
field that its code relies on adds a step, as `filled("nova", "servers", {"locked_reason": None})`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

Step = Callable[[sqlite3.Connection], None]


class StateUnusable(Exception):
    """The state file cannot be used by this release; the message says why and what to do."""


def filled(service: str, collection: str, defaults: Mapping[str, Any]) -> Step:
    """A step that gives the records of a collection the fields that they lack, with these values."""

    def fill(database: sqlite3.Connection) -> None:
        where = (service, collection)
        found = database.execute("SELECT id, data FROM record WHERE service = ? AND collection = ?", where).fetchall()
        lacking = [(key, data) for key, text in found if not defaults.keys() <= (data := orjson.loads(text)).keys()]
        database.executemany(
            "UPDATE record SET data = ? WHERE service = ? AND collection = ? AND id = ?",
            [(orjson.dumps({**defaults, **data}), *where, key) for key, data in lacking],
        )

    return fill


def numbered(_: sqlite3.Connection) -> None:
    """Form 1 has the records of form 0: from here on files bear their number."""


def trusts_of_subscriptions(database: sqlite3.Connection) -> None:
    """The trust of a Zaqar subscription is no option, which users can set."""
    where = ("zaqar", "subscriptions")
    found = database.execute("SELECT id, data FROM record WHERE service = ? AND collection = ?", where).fetchall()
    for key, text in found:
        data = orjson.loads(text)
        if data["subscriber"].startswith("trust+") and "_trust_id" not in data:
            data["_trust_id"] = data["options"].pop("trust_id", "")
            changed = (orjson.dumps(data), *where, key)
            database.execute("UPDATE record SET data = ? WHERE service = ? AND collection = ? AND id = ?", changed)


def origins_of_volumes(database: sqlite3.Connection) -> None:
    """Volumes and snapshots of Cinder have all of their fields; the properties of a volume are complete or missing."""
    filled("cinder", "volumes", {"_content": None})(database)
    filled("cinder", "snapshots", {"_previous": None})(database)
    database.execute(
        "UPDATE record SET data = json_set(data, '$.volume_properties', NULL) "
        "WHERE service = 'cinder' AND collection = 'backups' AND json_extract(data, '$.volume_properties') = '{}'"
    )


def whole_shares(database: sqlite3.Connection) -> None:
    """Shares of Manila and what belongs to them have all of their fields."""
    whole = {"is_soft_deleted": False, "scheduled_to_be_deleted_at": None, "_request_id": None}
    filled("manila", "shares", whole)(database)
    filled("manila", "snapshots", {"metadata": {}})(database)
    filled("manila", "subnets", {"metadata": {}})(database)


def whole_messages(database: sqlite3.Connection) -> None:
    """Messages and subscriptions of Zaqar, and its own records, have all of their fields."""
    filled("zaqar", "messages", {"visible": 0.0, "claim_count": 0, "claim": None})(database)
    filled("zaqar", "subscriptions", {"confirmed": True, "_trust_id": ""})(database)
    filled("zaqar", "own", {"number": 0, "key": ""})(database)


def whole_orders(database: sqlite3.Connection) -> None:
    """Orders of Barbican have all of their fields."""
    filled("barbican", "orders", {"error_status_code": None, "error_reason": None})(database)


STEPS: Sequence[Step] = (
    numbered,
    filled("nova", "servers", {"_image_name": ""}),
    trusts_of_subscriptions,
    origins_of_volumes,
    whole_shares,
    whole_messages,
    whole_orders,
)


def upgrade(database: sqlite3.Connection, path: Path, steps: Sequence[Step] = STEPS) -> None:
    """Bring a file up to this release's form, as one transaction. Raises StateUnusable for one of a later release."""
    [form] = database.execute("PRAGMA user_version").fetchone()
    if form > len(steps):
        raise StateUnusable(
            f"The state file {path} has form {form}; this release knows forms up to {len(steps)}. "
            "Use the release that wrote it, or another file."
        )
    if form == len(steps):
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        for step in steps[form:]:
            step(database)
        database.execute(f"PRAGMA user_version = {len(steps)}")
