"""Who may read and change secrets and containers: roles in the project, and access control lists.

An object belongs to a project; not even administrators of other projects may use it. Its list may give single users
access, and may restrict the project's access to the creator and the project's administrators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.keymanager.http import KeyManagerComponent, object_of

WRITERS = ("member", "creator")
DECRYPTERS = (*WRITERS, "observer")
READERS = (*DECRYPTERS, "audit")
_OPEN: Mapping[str, Any] = {"project-access": True, "users": []}
_FORMS = {"project-access": fields.boolean, "users": fields.items(fields.text(1, 255))}


class Guarded(KeyManagerComponent):
    """A collection whose objects have access control lists. `kind` names one of them in messages."""

    kind: str
    rows: Collection

    def require(self, key: str) -> Record:
        """The object, or 404."""
        return self.rows.require(key)

    def readable(self, context: Context, key: str, roles: tuple[str, ...] = READERS) -> Record:
        """The object, if the caller may read it; 404 or 403."""
        record = self.require(key)
        listed = context.user_id in _list_of(record)["users"]
        if not listed and not (_is_open_to(record, context) and _has_role(context, roles)):
            raise self._refusal("retrieval")
        return record

    def writable(self, context: Context, key: str, what: str = "update") -> Record:
        """The object, if the caller may change or delete it; 404 or 403."""
        record = self.require(key)
        if not (_is_open_to(record, context) and _has_role(context, WRITERS)):
            raise self._refusal(what)
        return record

    def _refusal(self, what: str) -> Exception:
        return forbidden(f"{self.kind} {what} attempt not allowed - please review your user/project privileges")


def project_for(context: Context, roles: tuple[str, ...], what: str) -> str:
    """The caller's project, in which the caller must have one of the roles. Raises ApiError 403."""
    if not _has_role(context, roles):
        raise forbidden(f"{what} attempt not allowed - please review your user/project privileges")
    return context.project


def _has_role(context: Context, roles: tuple[str, ...]) -> bool:
    return context.is_admin or not context.roles.isdisjoint(roles)


def _list_of(record: Record) -> Mapping[str, Any]:
    return record["_acl"] or _OPEN


def _is_open_to(record: Record, context: Context) -> bool:
    """Whether the caller has access as a member of the object's project."""
    if record["project_id"] != context.project_id:
        return False
    return _list_of(record)["project-access"] or context.is_admin or record["creator_id"] == context.user_id


# -- routes -----------------------------------------------------------------------------------------------------

G = TypeVar("G", bound=Guarded)


def access_routes(kind: type[G], path: str) -> Routes:
    """The routes of the access control lists of objects at `path`, whose ID is the variable `id`."""
    return using(kind, {f"{path}/acl": {"GET": _show, "PUT": _replace, "PATCH": _change, "DELETE": _reset}})


def _show(objects: Guarded, request: Request) -> Response:
    record = objects.readable(request.context, request.vars["id"])
    return Response({"read": record["_acl"] or {"project-access": True}})


def _replace(objects: Guarded, request: Request) -> Response:
    return _written(objects, request, lambda record: _OPEN)


def _change(objects: Guarded, request: Request) -> Response:
    return _written(objects, request, _list_of)


def _reset(objects: Guarded, request: Request) -> Response:
    objects.rows.update(objects.writable(request.context, request.vars["id"]), _acl=None)
    return Response(b"null", 200, {"Content-Type": "application/json"})


def _written(objects: Guarded, request: Request, start: Callable[[Record], Mapping[str, Any]]) -> Response:
    """Set what the request gives, on top of `start(record)`."""
    record = objects.writable(request.context, request.vars["id"])
    body = object_of(request)
    if not body or set(body) != {"read"} or not isinstance(body["read"], dict):
        raise bad_request("Provided object does not match schema 'ACL': the only operation is 'read'.")
    for name, value in body["read"].items():
        if name not in _FORMS or _FORMS[name](value) is not None:
            raise bad_request("Provided object does not match schema 'ACL': 'read' has 'users' and 'project-access'.")
    now, before = objects.moment(), record["_acl"] or {}
    wanted = {**start(record), **body["read"]}
    objects.rows.update(
        record,
        _acl={
            "project-access": bool(fields.as_boolean(wanted["project-access"])),
            "users": list(dict.fromkeys(wanted["users"])),
            "created": before.get("created", now),
            "updated": now,
        },
    )
    return Response({"acl_ref": request.url})
