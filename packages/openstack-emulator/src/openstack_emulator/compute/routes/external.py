"""What other services report to Nova: external events, and assisted snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.states import RUNNING, SHUT_DOWN
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields, invalid

EVENTS: dict[str, Version] = {
    "network-changed": (2, 1),
    "network-vif-plugged": (2, 1),
    "network-vif-unplugged": (2, 1),
    "network-vif-deleted": (2, 1),
    "volume-extended": (2, 51),
    "power-update": (2, 76),
    "accelerator-request-bound": (2, 82),
    "volume-reimaged": (2, 93),
}
"""Names of events and the microversions that brought them."""
EVENT_STATUSES = ("failed", "completed", "in-progress")
POWER_CHANGES = {"POWER_ON": ("active", RUNNING), "POWER_OFF": ("stopped", SHUT_DOWN)}
"""The state and the power state of a server, by the tag of `power-update`."""
TAG_REQUIRED = frozenset({"volume-extended", "power-update", "accelerator-request-bound", "volume-reimaged"})


def accept_events(compute: ComputeService, request: Request) -> Response:
    """Accept events about servers: 200 if all are accepted, 207 if some are. Raises ApiError 404 if none is, 400, 403.

    A change of power, which bare metal reports, changes a server; a larger volume makes its disk larger. In the answer,
    the `code` of an event is 200, 400 without a tag that it needs, 404 for an unknown server, 422 for one that has no
    host.
    """
    request.context.require("service")
    rows = (request.json if isinstance(request.json, dict) else {}).get("events")
    if not isinstance(rows, list) or not rows:
        raise invalid("events", rows, "a list of events with one member at least is needed")
    events = [_event(request, row) for row in rows]
    codes = [_accept_event(compute, event) for event in events]
    if 200 not in codes:
        raise not_found("No instances found for any event")
    answers = [_answer(row, code) for row, code in zip(rows, codes, strict=True)]
    return Response({"events": answers}, 200 if set(codes) == {200} else 207)


def _answer(event: Mapping[str, object], code: int) -> dict[str, object]:
    answer = {"status": "completed", **event, "code": code}
    return answer if code == 200 else {**answer, "status": "failed"}


@dataclass(frozen=True)
class ExternalEvent:
    """Something that happened to a server elsewhere. tag: the ID of what it concerns, or the change of power."""

    name: str
    server_id: str
    tag: str


def _event(request: Request, row: Any) -> ExternalEvent:
    """A checked event of a request. Raises ApiError 400."""
    names = [name for name, version in EVENTS.items() if request.version >= version]
    checks = {
        "name": fields.one_of(*names),
        "server_uuid": fields.identifier,
        "status": fields.one_of(*EVENT_STATUSES),
        "tag": fields.text(),
    }
    check_fields(row, checks, ("name", "server_uuid"), "events")
    event = ExternalEvent(row["name"], row["server_uuid"], row.get("tag") or "")
    if event.name == "power-update" and event.tag and event.tag not in POWER_CHANGES:
        raise bad_request(f"The tag of power-update must be one of {', '.join(POWER_CHANGES)}.")
    return event


def _accept_event(compute: ComputeService, event: ExternalEvent) -> int:
    """Do what an event asks for; return its code in the answer."""
    server = compute.servers.rows.get(event.server_id)
    if server is None:
        return 404
    if event.name in TAG_REQUIRED and not event.tag:
        return 400
    if server.host is None:
        return 422
    if event.name == "power-update" and server.vm_state in ("active", "stopped"):
        state, power = POWER_CHANGES[event.tag]
        compute.servers.touch(server, vm_state=state, power_state=power)
    if event.name == "volume-extended":
        compute.attachments.block_devices.volume_extended(server.id, event.tag)
    return 200


def begin_snapshot(compute: ComputeService, request: Request) -> Response:
    """A snapshot that Cinder leaves to Nova: of a volume that a server has, in a file beside it."""
    request.context.require("service")
    body = request.object("snapshot")
    check_fields(
        body, {"volume_id": fields.text(1), "create_info": fields.anything}, ("volume_id", "create_info"), "snapshot"
    )
    checks = {
        "snapshot_id": fields.text(1),
        "type": fields.one_of("qcow2"),
        "new_file": fields.text(1),
        "id": fields.text(1),
    }
    info, volume_id = body["create_info"], body["volume_id"]
    check_fields(info, checks, ("snapshot_id", "type", "new_file"), "create_info")
    _require_attached(compute, volume_id)
    return Response({"snapshot": {"id": info.get("id"), "volumeId": volume_id}})


def end_snapshot(compute: ComputeService, request: Request) -> Response:
    request.context.require("service")
    try:
        info = orjson.loads(request.query.get("delete_info") or "")
    except orjson.JSONDecodeError as error:
        raise bad_request(f"delete_info must be a JSON object: {error}.") from None
    check_fields(info, {"volume_id": fields.text(1)}, ("volume_id",), "delete_info", strict=False)
    _require_attached(compute, info["volume_id"])
    return Response(status=204)


def _require_attached(compute: ComputeService, volume_id: str) -> None:
    if compute.attachments.block_devices.rows.first(volume_id=volume_id) is None:
        raise bad_request(f"Volume {volume_id} is not attached to any server.")
