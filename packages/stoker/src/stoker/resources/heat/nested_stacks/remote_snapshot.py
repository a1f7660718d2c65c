"""Snapshots of remote stacks: the copy of content that a snapshot stores for OS::Heat::Stack."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.base.redaction import REDACTED
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call, ContentCopy, Snapshot, Waiter
from stoker.resources.heat.nested_stacks.remote_cloud import remote_cloud

_TAKEN = Waiter.until("COMPLETE", pending=("IN_PROGRESS",), failed=("FAILED",), every=10.0)
_DELETED = Waiter.until("GONE", pending=("IN_PROGRESS", "COMPLETE"), failed=("FAILED",), every=10.0)


class RemoteSnapshot(ContentCopy):
    """The snapshot that the remote orchestration service takes of its stack."""

    type_name = "OS::Heat::Stack"
    service = "heat"
    noted_as = "snapshot_id"
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The snapshot has the physical name, among the remote stack's snapshots.",
    )

    def of(self, resource: Snapshot) -> Mapping[str, object]:
        name = resource.data.get("stack_name", resource.physical_name)
        return {"context": resource.properties.get("context"), "stack": resource.physical_id, "stack_name": name}

    def restored(self, properties: Mapping[str, Any], copy: Snapshot) -> Mapping[str, object]:
        """Return the snapshot's template and parameters; redacted values are taken from the stack's own properties.

        Heat reads them when it restores, and records the snapshot's ID only.
        """
        if "template" not in copy.data:
            return dict(properties)
        saved = copy.data["parameters"]
        shown = {name: value for name, value in saved.items() if value != REDACTED}
        parameters = {**(properties.get("parameters") or {}), **shown}
        return {**properties, "template": copy.data["template"], "parameters": parameters}

    async def find(self, call: Call) -> str | None:
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        listed = await cloud.list("heat", _path(call), "snapshots")
        return next((str(item["id"]) for item in listed if item.get("name") == call.physical_name), None)

    async def create(self, call: Call) -> Outcome:
        cloud = await remote_cloud(call.cloud, call.properties["context"])
        if call.physical_id is None:
            made = await cloud.post("heat", _path(call), {"name": call.physical_name})
            return InProgress(after=_TAKEN.pause(0.0), physical_id=str(made["id"]))
        answer = await cloud.request("GET", "heat", f"{_path(call)}/{call.physical_id}", ok=(404,))
        if answer.status == 404:
            return Failed(f"snapshot {call.physical_id} was deleted before it was complete", "NotFound")
        shown = answer.body["snapshot"]
        outcome = _TAKEN.outcome(shown["status"], shown.get("status_reason"), call.elapsed)
        if isinstance(outcome, Done):
            call.data["template"] = json.dumps(shown["data"]["template"])
            call.data["parameters"] = shown["data"]["environment"].get("parameters") or {}
        return outcome

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is None:
            return Done()
        cloud, path = await remote_cloud(call.cloud, call.properties["context"]), f"{_path(call)}/{call.physical_id}"
        if not call.progress.get("sent"):
            await cloud.delete("heat", path, ok=(404,))
            call.progress["sent"] = True
        answer = await cloud.request("GET", "heat", path, ok=(404,))
        if answer.status == 404:
            return Done()
        return _DELETED.outcome(answer.body["snapshot"]["status"], elapsed=call.elapsed)


def _path(call: Call) -> str:
    properties = call.properties
    return f"/stacks/{quote(properties['stack_name'], safe='')}/{properties['stack']}/snapshots"
