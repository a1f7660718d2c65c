"""OS::Magnum::Cluster"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import InProgress, Outcome
from stoker.plugins.resource import Call, Waiter
from stoker.resources.declare import between, custom
from stoker.resources.magnum import allowances
from stoker.resources.magnum.base import MagnumResource, collection
from stoker.schema.live import same
from stoker.schema.property import Attribute, Change, Property, Support, Type

COMPLETE = ("CREATE", "UPDATE", "RESUME", "RESTORE", "SNAPSHOT", "CHECK", "ADOPT")
UNTIL_SEEN = 60.0
"""Seconds after a request within which Magnum, which carries requests out later, may not show their effect yet."""

MOST_UNSHOWN = 20
"""How often in all Magnum may be unable to show a cluster that it is deleting."""


class Cluster(MagnumResource):
    """A cluster of nodes for containers.

    Magnum accepts requests before it carries them out, so that the status after a request may still be that before it:
    the end of a change is recognized by the new values, or by another time of the last change (`updated_at`).
    """

    type_name = "OS::Magnum::Cluster"
    description = "A cluster of nodes that run containers, made from a cluster template."
    content = "what runs in the cluster, with its data"
    consumes = allowances.CLUSTER
    collection = collection("clusters")
    support = Support(version="9.0.0")
    physical_name_limit = 242
    plain_names = True
    waits = Waiter(
        done=frozenset(f"{action}_COMPLETE" for action in COMPLETE),
        pending=frozenset({"CREATE_IN_PROGRESS", "UPDATE_IN_PROGRESS"}),
        failed=frozenset({"CREATE_FAILED", "UPDATE_FAILED", "ROLLBACK_COMPLETE", "ROLLBACK_FAILED"}),
    )
    deleting = Waiter(done=frozenset(), failed=frozenset({"DELETE_FAILED"}), tolerant=True)

    properties = {
        "name": Property(description="Name of the cluster."),
        "cluster_template": Property(
            description="The cluster template, by name or ID.",
            required=True,
            wire="cluster_template_id",
            reference="magnum.cluster_template",
        ),
        "keypair": Property(
            description="SSH key pair of the nodes, by default that of the template.",
            constraints=custom("nova.keypair"),
        ),
        "node_count": Property(
            Type.INTEGER, "Number of nodes.", default=1, constraints=between(1), change=Change.UPDATE
        ),
        "master_count": Property(
            Type.INTEGER,
            "Number of masters. Magnum may refuse to change it.",
            default=1,
            constraints=between(1),
            change=Change.UPDATE,
        ),
        "discovery_url": Property(
            description="URL by which the nodes discover each other. Magnum may refuse to change it.",
            change=Change.UPDATE,
        ),
        "create_timeout": Property(
            Type.INTEGER,
            "Time limit of the creation in minutes, 0 for none. Magnum may refuse to change it.",
            default=60,
            constraints=between(0),
            change=Change.UPDATE,
        ),
    }
    attributes = {
        "name": Attribute("Name of the cluster.", Type.STRING),
        "cluster_template_id": Attribute("ID of the cluster template.", Type.STRING),
        "api_address": Attribute("URL of the engine's API.", Type.STRING),
        "coe_version": Attribute("Version of the engine.", Type.STRING),
        "container_version": Attribute("Version of the containers' runtime.", Type.STRING),
        "create_timeout": Attribute("Time limit of the creation in minutes.", Type.INTEGER),
        "discovery_url": Attribute("URL by which the nodes discover each other.", Type.STRING),
        "keypair": Attribute("SSH key pair of the nodes.", Type.STRING),
        "master_addresses": Attribute("IP addresses of the masters.", Type.LIST),
        "master_count": Attribute("Number of masters.", Type.INTEGER),
        "node_addresses": Attribute("IP addresses of the nodes.", Type.LIST),
        "node_count": Attribute("Number of nodes.", Type.INTEGER),
        "stack_id": Attribute("ID of the stack that Magnum manages for the cluster.", Type.STRING),
        "status": Attribute("Status of the cluster.", Type.STRING),
        "status_reason": Attribute("Reason for the status.", Type.STRING),
    }

    async def begin(self, call: Call) -> dict[str, Any]:
        return {**await super().begin(call), "status": "CREATE_IN_PROGRESS"}

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        if shown is None and call.action == "CREATE" and call.elapsed < UNTIL_SEEN and self.waits is not None:
            return InProgress(after=self.waits.pause(call.elapsed))
        return super().status_outcome(call, shown)

    def watched(self, call: Call, shown: Mapping[str, object], waiter: Waiter) -> Outcome:
        if not _has_begun(call, shown):
            return InProgress(after=waiter.pause(call.elapsed))
        return super().watched(call, shown, waiter)

    async def update(self, call: Call) -> Outcome:
        shown = await self.show(call)
        if shown is None or call.progress.get("sent"):
            return self.status_outcome(call, shown)
        if str(shown.get("status")).endswith("_IN_PROGRESS"):
            return InProgress(after=5.0)
        body = await self.update_body(call)
        missing = {field: value for field, value in body.items() if not same(value, shown.get(field))}
        if not missing:
            return self.status_outcome(call, shown)
        await self.send_update(call, missing)
        call.progress.update(sent=True, before=shown.get("updated_at"), wanted=missing)
        return InProgress(after=0.25)

    async def remove(self, call: Call) -> None:
        shown = await self.show(call)
        if shown is None:
            raise CloudError("magnum", 404, f"Cluster {call.physical_id} could not be found.")
        call.progress["before"] = shown.get("updated_at")
        await super().remove(call)

    async def delete(self, call: Call) -> Outcome:
        """Delete the cluster. At the end, Magnum cannot show it: without its node groups, it has an invalid number of
        masters, for which the status is 400.
        """
        try:
            return await super().delete(call)
        except CloudError as error:
            unshown = call.progress.get("unshown", 0) + 1
            if error.status != 400 or not call.progress.get("sent") or unshown > MOST_UNSHOWN:
                raise
            call.progress["unshown"] = unshown
            return InProgress(after=self.deleting.pause(call.elapsed))

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Replace a cluster whose creation failed, or that does not exist; update any other."""
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown.get("status") == "CREATE_FAILED"


def _has_begun(call: Call, shown: Mapping[str, object]) -> bool:
    """Return whether the status that Magnum shows is later than the request for the change."""
    if "before" not in call.progress or call.elapsed > UNTIL_SEEN:
        return True
    if str(shown.get("status")).endswith("_IN_PROGRESS") or shown.get("updated_at") != call.progress["before"]:
        return True
    requested = call.progress.get("wanted", {})
    return bool(requested) and all(same(value, shown.get(field)) for field, value in requested.items())
