"""Trusts that stacks live on: made for an owner, shared by the owner's stacks, given up with the last of them.

A trust's row decides what becomes of it. A stack that begins to live on it and the end of the last one that does both
lock the row, so that no stack begins on a trust that goes. One that is given up is removed from the cloud afterwards,
however often that is tried, and then forgotten. A trust that was made and that no stack came to live on is not lost:
its owner's next stack takes it.
"""

from __future__ import annotations

from collections.abc import Sequence

import orjson
from sqlalchemy import Connection, and_, delete, insert, select, update

from stoker.base.errors import Conflict
from stoker.store import statements
from stoker.store.tables import stacks, trusts

_USABLE = (
    statements.where(trusts, "user_id", "project_id", "roles")
    .where(trusts.c.given_up.is_(False))
    .order_by(trusts.c.credential)
)
_LOCKED = statements.where(trusts, "credential").with_for_update()


class GivenUp(Conflict):
    """The credential is about to be removed: another one is needed."""


def record(connection: Connection, credential: str, owner: tuple[str, str, Sequence[str]]) -> None:
    """Keep a trust that has just been made; `credential` is the text by which stacks refer to it, `owner` a user in a
    project with roles.
    """
    user_id, project_id, roles = owner
    values = {"credential": credential, "user_id": user_id, "project_id": project_id, "roles": _text(roles)}
    connection.execute(insert(trusts).values(given_up=False, **values))


def usable(connection: Connection, user_id: str, project_id: str, roles: Sequence[str]) -> str | None:
    """A trust of the user in the project, with exactly these roles; None when there is none."""
    owner = {"user_id": user_id, "project_id": project_id, "roles": _text(roles)}
    row = connection.execute(_USABLE, owner).first()
    return row.credential if row is not None else None


def hold(connection: Connection, credential: str) -> None:
    """Let a stack that is recorded in this transaction live on a trust. Raises GivenUp when that goes, or is gone."""
    if _locked(connection, credential) is not False:
        raise GivenUp("The credential has been given up meanwhile.")


def move(connection: Connection, root_id: str, former: str | None, credential: str) -> None:
    """Let a whole tree of stacks live on another credential."""
    connection.execute(update(stacks).where(stacks.c.root_id == root_id).values(credential=credential))
    give_up_unused(connection, former)


def inherit(connection: Connection, stack_id: str, parent_id: str) -> None:
    """Let a nested stack live on what the one above it lives on by now."""
    above = connection.execute(select(stacks.c.credential).where(stacks.c.id == parent_id)).scalar()
    connection.execute(update(stacks).where(stacks.c.id == stack_id).values(credential=above))


def give_up_unused(connection: Connection, credential: str | None) -> None:
    """Have a trust removed if no living stack is left that lives on it."""
    if credential is None or _locked(connection, credential) is None:
        return
    living = and_(stacks.c.credential == credential, stacks.c.deleted_at.is_(None))
    if connection.execute(select(stacks.c.id).where(living).limit(1)).first() is None:
        give_up(connection, credential)


def give_up(connection: Connection, credential: str) -> None:
    """Have a trust removed, and let no further stack live on it."""
    connection.execute(update(trusts).where(trusts.c.credential == credential).values(given_up=True))


def given_up(connection: Connection) -> list[str]:
    """Credentials that are still to be removed from the cloud."""
    return list(connection.execute(select(trusts.c.credential).where(trusts.c.given_up.is_(True))).scalars())


def forget(connection: Connection, credential: str) -> None:
    """Strike out a trust that is gone."""
    connection.execute(delete(trusts).where(and_(trusts.c.credential == credential, trusts.c.given_up.is_(True))))


def _locked(connection: Connection, credential: str) -> bool | None:
    """Whether a trust is given up, as it stays until the transaction ends; None for one that is not recorded."""
    row = connection.execute(_LOCKED, {"credential": credential}).first()
    return row.given_up if row is not None else None


def _text(roles: Sequence[str]) -> str:
    return orjson.dumps(sorted(roles)).decode()
