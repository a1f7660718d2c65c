"""Access control lists of secrets and containers over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.keymanager.routes.bodies import key_of, object_of
from openstack_emulator.keymanager.rules.composition import KeyManager
from openstack_emulator.keymanager.rules.guarded import G, GuardedObjects

_FORMS = {"project-access": fields.boolean, "users": fields.items(fields.text(1, 255))}


@dataclass(frozen=True)
class AccessLists(Generic[G]):
    """The handlers of the access control lists of one kind of objects."""

    objects: Callable[[KeyManager], GuardedObjects[G]]

    def show(self, manager: KeyManager, request: Request) -> Response:
        record = self.objects(manager).readable(request.context, key_of(request))
        return Response({"read": {"project-access": True} if record.acl is None else record.acl.to_json()})

    def replace(self, manager: KeyManager, request: Request) -> Response:
        record = self._writable(manager, request)
        return self._written(manager, request, record, True, [])

    def change(self, manager: KeyManager, request: Request) -> Response:
        record = self._writable(manager, request)
        if record.acl is None:
            return self._written(manager, request, record, True, [])
        return self._written(manager, request, record, record.acl.project_access, record.acl.users)

    def reset(self, manager: KeyManager, request: Request) -> Response:
        self.objects(manager).reset_access(self._writable(manager, request))
        return Response(b"null", 200, {"Content-Type": "application/json"})

    def _writable(self, manager: KeyManager, request: Request) -> G:
        return self.objects(manager).writable(request.context, key_of(request))

    def _written(
        self, manager: KeyManager, request: Request, record: G, project_access: bool, users: list[str]
    ) -> Response:
        """Set what the request gives, and these values for what it does not."""
        access_list = _list_in(request)
        access = access_list.get("project-access", project_access)
        self.objects(manager).set_access(record, bool(as_boolean(access)), access_list.get("users", users))
        return Response({"acl_ref": request.url})


def _list_in(request: Request) -> dict[str, Any]:
    """What a request says about reading. Raises ApiError 400."""
    body = object_of(request)
    read = body.get("read")
    if body.keys() != {"read"} or not isinstance(read, dict):
        raise bad_request("Provided object does not match schema 'ACL': the only operation is 'read'.")
    for name, value in read.items():
        if name not in _FORMS or _FORMS[name](value) is not None:
            raise bad_request("Provided object does not match schema 'ACL': 'read' has 'users' and 'project-access'.")
    return read
