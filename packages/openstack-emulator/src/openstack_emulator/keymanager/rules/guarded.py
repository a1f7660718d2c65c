"""Who may read and change secrets and containers: roles in the project, and access control lists.

An object belongs to a project; not even administrators of other projects may use it. Its list may give single users
access, and may restrict the project's access to the creator and the project's administrators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Table
from openstack_emulator.keymanager.records import AccessList, GuardedRecord
from openstack_emulator.keymanager.rules.times import KeyManagerRules

WRITERS = ("member", "creator")
DECRYPTERS = (*WRITERS, "observer")
READERS = (*DECRYPTERS, "audit")
G = TypeVar("G", bound=GuardedRecord)


class GuardedObjects(KeyManagerRules, Generic[G]):
    """Objects that have access control lists. kind: what one of them is called in messages. rows: their table."""

    def __init__(self, records: Records, kind: str, rows: Table[G]) -> None:
        super().__init__(records)
        self.kind = kind
        self.rows = rows

    def require(self, key: str) -> G:
        """The object, or 404."""
        return self.rows.require(key)

    def readable(self, context: Context, key: str, roles: tuple[str, ...] = READERS) -> G:
        """The object, if the caller may read it; 404 or 403."""
        record = self.require(key)
        listed = record.acl is not None and context.user_id in record.acl.users
        if not listed and not (_is_open_to(record, context) and _has_role(context, roles)):
            raise self._refusal("retrieval")
        return record

    def writable(self, context: Context, key: str, what: str = "update") -> G:
        """The object, if the caller may change or delete it; 404 or 403."""
        record = self.require(key)
        if not (_is_open_to(record, context) and _has_role(context, WRITERS)):
            raise self._refusal(what)
        return record

    def set_access(self, record: G, project_access: bool, users: Sequence[str]) -> None:
        """Set who may read an object."""
        now = self.moment()
        created = now if record.acl is None else record.acl.created
        known = list(dict.fromkeys(users))
        record.acl = AccessList(project_access=project_access, users=known, created=created, updated=now)
        self.rows.save(record)

    def reset_access(self, record: G) -> None:
        """Let everybody in the project read an object, and nobody else."""
        record.acl = None
        self.rows.save(record)

    def _refusal(self, what: str) -> Exception:
        return forbidden(f"{self.kind} {what} attempt not allowed - please review your user/project privileges")


def project_for(context: Context, roles: tuple[str, ...], what: str) -> str:
    """The caller's project, in which the caller must have one of the roles. Raises ApiError 403."""
    if not _has_role(context, roles):
        raise forbidden(f"{what} attempt not allowed - please review your user/project privileges")
    return context.project


def _has_role(context: Context, roles: tuple[str, ...]) -> bool:
    return context.is_admin or not context.roles.isdisjoint(roles)


def _is_open_to(record: GuardedRecord, context: Context) -> bool:
    """Whether the caller has access as a member of the object's project."""
    if record.project_id != context.project_id:
        return False
    restricted = record.acl is not None and not record.acl.project_access
    return not restricted or context.is_admin or record.creator_id == context.user_id
