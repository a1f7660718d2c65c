"""Base of Octavia's resource types: statuses, and waiting for a load balancer that cannot be changed yet."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Failed, InProgress, Outcome
from stoker.plugins.resource import Call, Snapshot, Waiter
from stoker.resources.base import Collection, RestResource
from stoker.resources.wire import to_wire
from stoker.schema.property import Change, Property, Type

BUILT = Waiter.until("ACTIVE")
GONE = Waiter.until("DELETED")
MOST_CONFLICTS = 3
"""Conflicts in a row with a load balancer that is not pending, after which a conflict has another cause."""
CONTAINERS = {"loadbalancer": "loadbalancers", "listener": "listeners", "pool": "pools", "l7policy": "l7policies"}
"""Properties that name what an object belongs to, and the collections of those objects."""

ADMIN_STATE_UP = Property(Type.BOOLEAN, "Whether it is enabled.", default=True, change=Change.UPDATE)
NAME = Property(description="Its name.", change=Change.UPDATE)
TENANT_ID = Property(description="The project that owns the object, by default the stack's own; for administrators.")


def collection(path: str, member: str, **rest: Any) -> Collection:
    """Declare a collection of objects with a provisioning status."""
    members = path.rpartition("/")[2]
    return Collection("octavia", f"/lbaas/{path}", member, members, status_field="provisioning_status", **rest)


class OctaviaResource(RestResource):
    """A load balancer or a part of one.

    While anything of a load balancer is pending, Octavia refuses every change of it with 409. The change is repeated
    until the load balancer is not pending. Octavia's errors have no codes, so a conflict with another cause is
    recognized by the load balancer's status: it is ACTIVE or ERROR, and the conflict recurs.

    `relations` maps fields of the body that refer to other objects to the lists in which Octavia shows them.
    """

    waits = BUILT
    deleting = GONE
    relations: ClassVar[Mapping[str, str]] = {}
    roles = ("load-balancer_member", "load-balancer_admin", "admin")
    roles_asked_at = "/lbaas/quotas/{project}"

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_id

    async def create(self, call: Call) -> Outcome:
        return await self._when_mutable(call, super().create(call))

    async def update(self, call: Call) -> Outcome:
        return await self._when_mutable(call, super().update(call))

    async def delete(self, call: Call) -> Outcome:
        return await self._when_mutable(call, super().delete(call))

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, Any]) -> bool:
        related = all(
            {"id": body[field]} in item.get(shown, ()) for field, shown in self.relations.items() if body.get(field)
        )
        return related and super().made_by(call, body, item)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        """Compare also the fields that Octavia shows as lists of the objects to which this one is related."""
        related: dict[str, object] = {}
        declared = to_wire(self.properties, call.properties)
        for field, name in self.relations.items():
            ids = [entry["id"] for entry in shown.get(name) or ()]
            related[field] = declared.get(field) if declared.get(field) in ids else next(iter(ids), None)
        return super().differences(call, {**shown, **related})

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Replace an object that is in error or does not exist; update any other."""
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown.get("provisioning_status") == "ERROR"

    def container(self, call: Call) -> tuple[str, str] | None:
        """Return the collection and ID of what the object belongs to; of the load balancer for itself."""
        named = ((path, call.properties.get(name)) for name, path in CONTAINERS.items())
        return next(((path, str(value)) for path, value in named if value), None)

    async def _when_mutable(self, call: Call, step: Awaitable[Outcome]) -> Outcome:
        """Return a step's outcome; one that meets a pending load balancer is to be repeated."""
        try:
            outcome = await step
        except CloudError as error:
            if not error.conflict:
                raise
            return await self._after_conflict(call, error)
        call.progress.pop("conflicts", None)
        return outcome

    async def _after_conflict(self, call: Call, error: CloudError) -> Outcome:
        place = self.container(call)
        status = None if place is None else await _balancer_status(call, *place)
        if status is not None and status.startswith("PENDING_"):
            call.progress.pop("conflicts", None)
            return InProgress(after=BUILT.pause(call.elapsed))
        conflicts = call.progress["conflicts"] = call.progress.get("conflicts", 0) + 1
        if status != "ACTIVE" or conflicts >= MOST_CONFLICTS:
            return Failed(error.message, error.kind)
        return InProgress(after=BUILT.pause(call.elapsed))


async def _balancer_status(call: Call, path: str, identifier: str) -> str | None:
    """Return the provisioning status of the load balancer that contains an object; None when there is none."""
    while True:
        answer = await call.cloud.request("GET", "octavia", f"/lbaas/{path}/{quote(identifier, safe='')}", ok=(404,))
        if answer.status == 404:
            return None
        (shown,) = answer.body.values()
        if path == "loadbalancers":
            return str(shown["provisioning_status"])
        if path == "l7policies":
            path, identifier = "listeners", shown["listener_id"]
        else:
            path, identifier = "loadbalancers", shown["loadbalancers"][0]["id"]
