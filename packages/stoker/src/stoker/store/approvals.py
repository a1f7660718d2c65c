"""Approvals of changes: what changes of a stack need, the requests, and their reviews.

A change that needs approval is refused, and recorded as a request with the digest of its plan. The transaction that
records the operation uses the request up, so that it allows one operation, and none is lost or doubled by a crash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import orjson
from sqlalchemy import Connection, Select, and_, delete, insert, select, update

from stoker.store.approval_tables import change_approvals, change_requests
from stoker.store.survey_records import ChangeRequest
from stoker.store.tables import operations, stacks

_KEPT = 500
"""How many requests of a project are listed."""


@dataclass(frozen=True, slots=True, order=True)
class Requirement:
    """That `number` people with a role approve a plan, who are not its author; None is any role that may approve."""

    role: str | None
    number: int

    def __str__(self) -> str:
        people = "1 other person" if self.number == 1 else f"{self.number} other people"
        return f"{people} with the role {self.role}" if self.role is not None else people


BY_POLICY = Requirement(None, 1)
"""What a policy on plans requires if it asks for an approval."""


class ApprovalDecision(StrEnum):
    """What somebody says about a request."""

    APPROVED = "APPROVED"
    REJECTED = "REJECTED"


@dataclass(frozen=True, slots=True)
class Approval:
    """The review of a request by one person; `roles` are those that the person had then."""

    request_id: str
    user_id: str
    user_name: str | None
    verdict: ApprovalDecision
    roles: Sequence[str]
    comment: str
    created_at: float


# -- requests ------------------------------------------------------------------------------------------------------


def pending_key(project_id: str, stack_id: str | None, stack_name: str, digest: str) -> str:
    """Return what identifies a plan of a stack while a request about it is open."""
    subject = [project_id, stack_id or "", "" if stack_id else stack_name, digest]
    return hashlib.sha256(orjson.dumps(subject)).hexdigest()


def by_id(connection: Connection, project_id: str, identifier: str) -> ChangeRequest | None:
    """Return a request of a project."""
    row = connection.execute(_with_id(project_id, identifier)).one_or_none()
    return ChangeRequest.of(row) if row else None


def _with_id(project_id: str, identifier: str) -> Select[object]:
    c = change_requests.c
    return select(change_requests).where(and_(c.id == identifier, c.project_id == project_id))


def open_request(connection: Connection, pending: str, now: float) -> ChangeRequest | None:
    """Return the open request with this key; None if there is none, or if it has expired."""
    c = change_requests.c
    where = and_(c.pending == pending, c.expires_at > now)
    row = connection.execute(select(change_requests).where(where)).one_or_none()
    return ChangeRequest.of(row) if row else None


def locked(connection: Connection, project_id: str, identifier: str) -> ChangeRequest | None:
    """As `by_id`; nobody else says anything about the request before the transaction ends."""
    row = connection.execute(_with_id(project_id, identifier).with_for_update()).one_or_none()
    return ChangeRequest.of(row) if row else None


def break_glass(connection: Connection, identifier: str, emergency: str) -> None:
    """Let a request allow its change without approvals (a journal step)."""
    where = change_requests.c.id == identifier
    connection.execute(update(change_requests).where(where).values(emergency=emergency))


def of_project(connection: Connection, project_id: str, digest: str | None = None) -> list[ChangeRequest]:
    """Return the requests of a project, newest first; with a digest, those of that plan."""
    c = change_requests.c
    query = select(change_requests).where(c.project_id == project_id).order_by(c.created_at.desc(), c.id)
    if digest is not None:
        query = query.where(c.digest == digest)
    return ChangeRequest.all_of(connection.execute(query.limit(_KEPT)))


def existing_names(connection: Connection, project_id: str, names: Collection[str]) -> set[str]:
    """Return the names among these that stacks of a project have."""
    c = stacks.c
    where = and_(c.project_id == project_id, c.name.in_(names), c.deleted_at.is_(None), c.parent_id.is_(None))
    return set(connection.execute(select(c.name).where(where)).scalars())


def of_operation(connection: Connection, operation_id: str) -> ChangeRequest | None:
    """Return the request that an operation has used."""
    c = change_requests.c
    row = connection.execute(select(change_requests).where(c.operation == operation_id).limit(1)).one_or_none()
    return ChangeRequest.of(row) if row else None


def add(connection: Connection, request: ChangeRequest) -> None:
    """Record a request (a journal step). Raises IntegrityError if there is an open one about the same plan."""
    connection.execute(insert(change_requests).values(**request.values()))


def close_expired(connection: Connection, pending: str, now: float) -> None:
    """Let a new request take the place of one that has expired (a journal step)."""
    c = change_requests.c
    connection.execute(
        update(change_requests).where(and_(c.pending == pending, c.expires_at <= now)).values(pending=None)
    )


def use(connection: Connection, request_id: str, operation_id: str, now: float) -> bool:
    """Note the operation that a request allows; return False if it allows none (a journal step)."""
    c = change_requests.c
    free = and_(c.id == request_id, c.operation.is_(None), c.pending.is_not(None), c.expires_at > now)
    values = {"operation": operation_id, "pending": None}
    return connection.execute(update(change_requests).where(free).values(**values)).rowcount == 1


def hand_over(connection: Connection, request_id: str, before: str, operation_id: str) -> bool:
    """Note that an operation continues the one that a request has allowed (a journal step)."""
    c = change_requests.c
    of_it = and_(c.id == request_id, c.operation == before)
    return connection.execute(update(change_requests).where(of_it).values(operation=operation_id)).rowcount == 1


def forget_older(connection: Connection, oldest: float) -> None:
    """Delete requests of before a time (a journal step)."""
    connection.execute(delete(change_requests).where(change_requests.c.created_at < oldest))


# -- approvals -----------------------------------------------------------------------------------------------------


def record_approval(connection: Connection, approval: Approval) -> None:
    """Record the review of a request by a person, in place of an earlier one (a journal step)."""
    c = change_approvals.c
    mine = and_(c.request_id == approval.request_id, c.user_id == approval.user_id)
    connection.execute(delete(change_approvals).where(mine))
    values = {
        "request_id": approval.request_id,
        "user_id": approval.user_id,
        "user_name": approval.user_name,
        "verdict": approval.verdict.value,
        "roles": orjson.dumps(list(approval.roles)).decode(),
        "comment": approval.comment,
        "created_at": approval.created_at,
    }
    connection.execute(insert(change_approvals).values(**values))


def approvals_of(connection: Connection, request_ids: Collection[str]) -> dict[str, list[Approval]]:
    """Return the reviews of requests, oldest first, by request."""
    found: dict[str, list[Approval]] = {}
    c = change_approvals.c
    query = select(change_approvals).where(c.request_id.in_(request_ids)).order_by(c.created_at, c.user_id)
    for row in connection.execute(query):
        values = {**row._mapping, "verdict": ApprovalDecision(row.verdict), "roles": tuple(orjson.loads(row.roles))}
        found.setdefault(row.request_id, []).append(Approval(**values))
    return found


def lacking(
    requirements: Iterable[Requirement], author: str | None, approvals: Sequence[Approval]
) -> list[Requirement]:
    """Return what approvals leave to be required. One that was rejected has all of it left; its author never counts."""
    rejected = any(approval.verdict is ApprovalDecision.REJECTED for approval in approvals)
    counted = [] if rejected else [approval for approval in approvals if approval.user_id != author]
    left = []
    for requirement in requirements:
        having = sum(requirement.role is None or requirement.role in approval.roles for approval in counted)
        if having < requirement.number:
            left.append(Requirement(requirement.role, requirement.number - having))
    return left


def granted(
    connection: Connection,
    project_id: str,
    stack_id: str | None,
    stack_name: str,
    digest: str,
    requirement: Requirement,
    now: float,
) -> bool:
    """Return whether the plan with this digest of a stack has the approvals that a requirement asks for.

    `stack_id` is the root of the tree, None for a stack that does not exist yet.
    """
    request = open_request(connection, pending_key(project_id, stack_id, stack_name, digest), now)
    return request is not None and _fulfils(connection, request, requirement)


def granted_to_operation(connection: Connection, operation_id: str, requirement: Requirement) -> bool:
    """Return whether the plan that an operation carries out had the approvals that a requirement asks for.

    The operation of a nested stack has those of the operation around it.
    """
    parent: str | None = operation_id
    while parent is not None:
        operation_id = parent
        query = select(operations.c.parent_operation).where(operations.c.id == operation_id)
        parent = connection.execute(query).scalar_one_or_none()
    request = of_operation(connection, operation_id)
    return request is not None and _fulfils(connection, request, requirement)


def _fulfils(connection: Connection, request: ChangeRequest, requirement: Requirement) -> bool:
    if request.emergency is not None:
        return True
    approvals = approvals_of(connection, [request.id]).get(request.id, [])
    return not lacking([requirement], request.user_id, approvals)
