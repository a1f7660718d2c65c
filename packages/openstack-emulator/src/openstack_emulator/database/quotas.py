"""How many instances and backups, how much memory and storage a project may have; -1 means unlimited."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import Limits
from openstack_emulator.core.store import Collection

INITIAL = {"instances": 10, "ram": -1, "volumes": 40, "backups": 50}
"""`ram` is in MiB, `volumes` in GiB."""


class Quotas(Limits):
    """The limits of projects; the arguments are the collections that are counted."""

    def __init__(self, records: Records, instances: Collection, backups: Collection) -> None:
        super().__init__(records)
        self._instances, self._backups = instances, backups

    def initial(self) -> Mapping[str, int]:
        return INITIAL

    def used_by(self, project_id: str) -> dict[str, int]:
        """What a project uses of each limit."""
        instances = self._instances.select(project_id=project_id)
        return {
            "instances": len(instances),
            "ram": sum(row["_ram"] for row in instances),
            "volumes": sum(row["volume_size"] for row in instances),
            "backups": len(self._backups.select(project_id=project_id)),
        }

    def admit(self, project_id: str, **wanted: int) -> None:
        """Raise ApiError 413 when a project that uses more of these would exceed a limit."""
        if over := self.exceeded(project_id, wanted, self.used_by(project_id)):
            raise ApiError(413, f"Quota exceeded for resources: {list(over)}.")


def _view(quotas: Quotas, project_id: str) -> list[dict[str, Any]]:
    limits, used = quotas.limits_of(project_id), quotas.used_by(project_id)
    return [{"resource": name, "limit": limit, "in_use": used[name], "reserved": 0} for name, limit in limits.items()]


def show(quotas: Quotas, request: Request) -> Response:
    if request.vars["id"] != request.context.project_id:
        request.context.require()
    return Response({"quotas": _view(quotas, request.vars["id"])})


def update(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    changes = {}
    for name, value in request.object("quotas").items():
        number = fields.as_integer(value)
        if name not in INITIAL:
            raise not_found(f"Unknown quota resources {name}.")
        if number is None or number < -1:
            raise bad_request(f"Validation error: quotas['{name}'] is not a limit of {', '.join(INITIAL)} from -1 up.")
        changes[name] = number
    quotas.set_limits(request.vars["id"], changes)
    return Response({"quotas": changes})


def limits(quotas: Quotas, request: Request) -> Response:
    found = quotas.limits_of(request.context.project)
    return Response({"limits": [{"verb": "ABSOLUTE", **{f"max_{name}": limit for name, limit in found.items()}}]})


QUOTA_ROUTES = using(Quotas, {"/limits": {"GET": limits}, "/mgmt/quotas/{id}": {"GET": show, "PUT": update}})
