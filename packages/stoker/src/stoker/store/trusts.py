"""Trusts of stacks: created for an owner, shared by the owner's stacks, and removed with the last of them.

A trust's row determines its state. Both a stack that starts to use a trust and the end of the last stack that uses it
lock the row, so that no stack starts to use a trust that is being removed. A trust that was given up is then removed
from the cloud, with retries, and its row is deleted. A trust that was created but never used is not lost: its owner's
next stack uses it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import orjson
from sqlalchemy import Connection, and_, delete, insert, select, update

from stoker.base.errors import Conflict
from stoker.store import statements
from stoker.store.bulk import update_rows
from stoker.store.records import Stack
from stoker.store.tables import stacks, trusts

_USABLE = (
    statements.where(trusts, "user_id", "project_id", "roles")
    .where(trusts.c.given_up.is_(False))
    .order_by(trusts.c.credential)
)
_LOCKED = statements.where(trusts, "credential").with_for_update()
_GIVEN_UP = select(trusts.c.credential).where(trusts.c.given_up.is_(True))
_CREDENTIALS = statements.where_among(stacks, "id").with_only_columns(stacks.c.id, stacks.c.credential)


class CredentialRemoved(Conflict):
    """The credential is about to be removed; another one is needed."""


def record(connection: Connection, credential: str, owner: tuple[str, str, Sequence[str]]) -> None:
    """Record a trust that has just been created.

    `credential` is the string by which stacks refer to it; `owner` is its user ID, project ID and roles.
    """
    user_id, project_id, roles = owner
    values = {"credential": credential, "user_id": user_id, "project_id": project_id, "roles": _text(roles)}
    connection.execute(insert(trusts).values(given_up=False, **values))


def record_once(connection: Connection, credential: str, owner: tuple[str, str, Sequence[str]]) -> None:
    """Record a trust that another program has created, like `record`; nothing changes if it is recorded already."""
    if _locked(connection, credential) is None:
        record(connection, credential, owner)


def usable(connection: Connection, user_id: str, project_id: str, roles: Sequence[str]) -> str | None:
    """Return a trust of the user in the project, with exactly these roles; None when there is none."""
    owner = {"user_id": user_id, "project_id": project_id, "roles": _text(roles)}
    row = connection.execute(_USABLE, owner).first()
    return row.credential if row is not None else None


def lock(connection: Connection, credentials: Iterable[str]) -> None:
    """Lock trusts for stacks recorded in this transaction.

    Raises CredentialRemoved when one was, or is being, removed.
    """
    if any(_locked(connection, credential) is not False for credential in sorted(set(credentials))):
        raise CredentialRemoved("The credential was removed concurrently; retry with a new one.")


def move(connection: Connection, root_id: str, former: str | None, credential: str) -> None:
    """Change the credential of a whole tree of stacks, and mark the former one for removal if it is unused."""
    connection.execute(update(stacks).where(stacks.c.root_id == root_id).values(credential=credential))
    release_unused(connection, former)


def inherit(connection: Connection, nested: Sequence[Stack]) -> None:
    """Set the credentials of nested stacks that were just recorded to the current ones of the stacks above them (a
    joint statement of the journal).
    """
    parents, above = (
        sorted({stack.parent_id for stack in nested if stack.parent_id is not None}),
        dict[str, str | None](),
    )
    for page in statements.pages(parents):
        rows = connection.execute(_CREDENTIALS, {"values": page})
        above.update((row.id, row.credential) for row in rows)
    changed = [stack for stack in nested if above.get(stack.parent_id or "") != stack.credential]
    if changed:
        cells = [(stack.id, above.get(stack.parent_id or "")) for stack in changed]
        update_rows(connection, stacks, ("id",), ("credential",), cells)


def release_unused(connection: Connection, credential: str | None) -> None:
    """Mark a trust for removal if no existing stack uses it."""
    if credential is None or _locked(connection, credential) is None:
        return
    living = and_(stacks.c.credential == credential, stacks.c.deleted_at.is_(None))
    if connection.execute(select(stacks.c.id).where(living).limit(1)).first() is None:
        release(connection, credential)


def release(connection: Connection, credential: str) -> None:
    """Mark a trust for removal, so that no further stack can use it."""
    connection.execute(update(trusts).where(trusts.c.credential == credential).values(given_up=True))


def given_up(connection: Connection) -> list[str]:
    """Return the credentials that still have to be removed from the cloud."""
    return list(connection.execute(_GIVEN_UP).scalars())


def forget(connection: Connection, credential: str) -> None:
    """Delete the record of a trust that has been removed."""
    connection.execute(delete(trusts).where(and_(trusts.c.credential == credential, trusts.c.given_up.is_(True))))


def _locked(connection: Connection, credential: str) -> bool | None:
    """Return whether a trust is marked for removal, locked until the transaction ends; None if it is not recorded."""
    row = connection.execute(_LOCKED, {"credential": credential}).first()
    return row.given_up if row is not None else None


def _text(roles: Sequence[str]) -> str:
    return orjson.dumps(sorted(roles)).decode()
