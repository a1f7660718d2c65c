"""Volumes and their snapshots as Nova shows Cinder's, up to microversion 2.35."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.typed import Part
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.problems import Check

VOLUME = {
    "volume_type": fields.nullable(fields.text()),
    "metadata": fields.nullable(fields.text_map()),
    "snapshot_id": fields.nullable(fields.text()),
    "size": fields.integer(1),
    "availability_zone": fields.nullable(fields.text()),
    "display_name": fields.nullable(fields.text()),
    "display_description": fields.nullable(fields.text()),
}
SNAPSHOT = {
    "volume_id": fields.text(1),
    "force": fields.boolean,
    "display_name": fields.nullable(fields.text()),
    "display_description": fields.nullable(fields.text()),
}
RENAMED = {"display_name": "name", "display_description": "description"}


@dataclass(slots=True, kw_only=True, eq=False)
class AttachedVolume(Part):
    """An attachment of a volume, as Cinder shows it."""

    volume_id: str
    server_id: str
    device: str | None


@dataclass(slots=True, kw_only=True, eq=False)
class Volume(Part):
    """A volume, as Cinder shows it."""

    id: str
    status: str
    size: int
    availability_zone: str
    created_at: str
    attachments: list[AttachedVolume]
    name: str | None
    description: str | None
    volume_type: str
    snapshot_id: str | None
    metadata: dict[str, str]


@dataclass(slots=True, kw_only=True, eq=False)
class Snapshot(Part):
    """A snapshot, as Cinder shows it."""

    id: str
    status: str
    size: int
    created_at: str
    name: str | None
    description: str | None
    volume_id: str


def _volume_view(data: Mapping[str, object]) -> dict[str, object]:
    volume = Volume.from_json(data)
    attachments = [
        {
            "id": row.volume_id,
            "volumeId": row.volume_id,
            "serverId": row.server_id,
            **({"device": row.device} if row.device else {}),
        }
        for row in volume.attachments
    ]
    return {
        "id": volume.id,
        "status": volume.status,
        "size": volume.size,
        "availabilityZone": volume.availability_zone,
        "createdAt": volume.created_at,
        "attachments": attachments or [{}],
        "displayName": volume.name,
        "displayDescription": volume.description,
        "volumeType": volume.volume_type,
        "snapshotId": volume.snapshot_id,
        "metadata": volume.metadata,
    }


def _snapshot_view(data: Mapping[str, object]) -> dict[str, object]:
    snapshot = Snapshot.from_json(data)
    return {
        "id": snapshot.id,
        "status": snapshot.status,
        "size": snapshot.size,
        "createdAt": snapshot.created_at,
        "displayName": snapshot.name,
        "displayDescription": snapshot.description,
        "volumeId": snapshot.volume_id,
    }


@dataclass(frozen=True)
class Proxies:
    """The calls about a kind of Cinder's.

    checks, required: the fields of a body that makes one, and those that it must have. view: how Nova shows one.
    """

    singular: str
    checks: Mapping[str, Check]
    required: tuple[str, ...]
    view: Callable[[Mapping[str, object]], dict[str, object]]

    @property
    def plural(self) -> str:
        return f"{self.singular}s"

    def index(self, compute: ComputeService, request: Request) -> Response:
        found = call_service(
            compute.cloud, request, "GET", f"{self._place(request)}/detail", query=request.query_string
        )
        return Response({self.plural: [self.view(row) for row in found[self.plural]]})

    def create(self, compute: ComputeService, request: Request) -> Response:
        body = request.object(self.singular)
        check_fields(body, self.checks, self.required, self.singular, strict=False)
        request_body = {RENAMED.get(name, name): value for name, value in body.items()}
        created = call_service(compute.cloud, request, "POST", self._place(request), {self.singular: request_body})[
            self.singular
        ]
        return self._shown(compute, request, created["id"])

    def show(self, compute: ComputeService, request: Request) -> Response:
        return self._shown(compute, request, request.vars["id"])

    def delete(self, compute: ComputeService, request: Request) -> Response:
        call_service(compute.cloud, request, "DELETE", f"{self._place(request)}/{request.vars['id']}")
        return Response(status=202)

    def _shown(self, compute: ComputeService, request: Request, key: str) -> Response:
        found = call_service(compute.cloud, request, "GET", f"{self._place(request)}/{key}")[self.singular]
        return Response({self.singular: self.view(found)})

    def _place(self, request: Request) -> str:
        return f"/volume/v3/{request.context.project}/{self.plural}"


VOLUMES = Proxies("volume", VOLUME, ("size",), _volume_view)
SNAPSHOTS = Proxies("snapshot", SNAPSHOT, ("volume_id",), _snapshot_view)
