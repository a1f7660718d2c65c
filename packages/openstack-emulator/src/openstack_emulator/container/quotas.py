"""How many containers, and how much for them, a project may have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.container.description import described
from openstack_emulator.container.http import QUOTA
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import using
from openstack_emulator.core.error_bodies import POLICY
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Collection

DEFAULTS: Mapping[str, int] = {"containers": 40, "cpu": 20, "memory": 51200, "disk": 100}
_FORMS = dict.fromkeys(DEFAULTS, fields.integer(-1))


class Quotas(Limits):
    """The limits of projects; -1 means unlimited. Memory is in mebibytes, disks are in gibibytes."""

    def __init__(self, records: Records, containers: Collection) -> None:
        super().__init__(records)
        self._containers = containers

    def initial(self) -> Mapping[str, int]:
        return DEFAULTS

    def used(self, project_id: str) -> dict[str, float]:
        """Return what the containers of a project have."""
        rows = self._containers.select(project_id=project_id)
        sums = {name: sum(float(row[name] or 0) for row in rows) for name in ("cpu", "memory", "disk")}
        return {"containers": len(rows), **sums}

    def admit(self, project_id: str, wanted: Mapping[str, float]) -> None:
        """Raise ApiError 403 if a project would have more than it may."""
        if over := self.exceeded(project_id, wanted, self.used(project_id)):
            raise forbidden(f"Quota exceeded for resources: {list(over)}", QUOTA)


def _project(request: Request) -> str:
    project: str = request.vars["project_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow quota:get to be performed.", POLICY)
    return project


def show(quotas: Quotas, request: Request) -> Response:
    project = _project(request)
    limits: dict[str, Any] = quotas.limits_of(project)
    if request.query.boolean("usages"):
        used = quotas.used(project)
        limits = {name: {"limit": limit, "in_use": used[name]} for name, limit in limits.items()}
    return Response(limits)


def show_defaults(quotas: Quotas, request: Request) -> Response:
    _project(request)
    return Response(quotas.default_limits())


def change(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    given = described(request, _FORMS)
    limits = {name: fields.as_integer(value) or 0 for name, value in given.items()}
    quotas.set_limits(request.vars["project_id"], limits)
    return Response(quotas.limits_of(request.vars["project_id"]))


def reset(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    quotas.reset_limits(request.vars["project_id"])
    return Response(b"null", headers={"Content-Type": "application/json"})


QUOTA_ROUTES = using(
    Quotas,
    {
        "/quotas/{project_id}": {"GET": show, "PUT": change, "DELETE": reset},
        "/quotas/{project_id}/defaults": {"GET": show_defaults},
    },
)
