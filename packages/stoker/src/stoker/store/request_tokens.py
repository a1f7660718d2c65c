"""Idempotent requests: the token that a client sent, and the answer that it got."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, and_, delete, insert, select, update

from stoker.store.records import Record
from stoker.store.tables import request_tokens


@dataclass(slots=True)
class RequestToken(Record):
    """A request by its token. `digest` identifies its content; `answer` is sealed, None until there is one."""

    project_id: str
    token: str
    digest: str
    answer: str | None
    created_at: float


def find(connection: Connection, project_id: str, token: str) -> RequestToken | None:
    """Return the request with this token."""
    row = connection.execute(select(request_tokens).where(_is(project_id, token))).one_or_none()
    return RequestToken.of(row) if row else None


def claim(connection: Connection, request: RequestToken, *, oldest: float, unanswered: float) -> None:
    """Record that a request is being carried out. Raises IntegrityError when its token is in use.

    Tokens from before `oldest` are deleted, and so is this one if it is from before `unanswered` and has no answer.
    """
    connection.execute(delete(request_tokens).where(request_tokens.c.created_at < oldest))
    abandoned = and_(request_tokens.c.answer.is_(None), request_tokens.c.created_at < unanswered)
    connection.execute(delete(request_tokens).where(and_(_is(request.project_id, request.token), abandoned)))
    connection.execute(insert(request_tokens).values(**request.values()))


def settle(connection: Connection, project_id: str, token: str, answer: str) -> None:
    """Record the answer."""
    connection.execute(update(request_tokens).where(_is(project_id, token)).values(answer=answer))


def release(connection: Connection, project_id: str, token: str) -> None:
    """Delete a request that had no effect, so that it can be retried."""
    connection.execute(delete(request_tokens).where(_is(project_id, token)))


def _is(project_id: str, token: str) -> ColumnElement[bool]:
    return and_(request_tokens.c.project_id == project_id, request_tokens.c.token == token)
