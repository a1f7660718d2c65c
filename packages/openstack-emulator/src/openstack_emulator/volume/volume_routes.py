"""Volumes, their metadata and transfers over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import visible
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import equal, holds, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.metadata import Metadata
from openstack_emulator.core.store import Record
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.transfers import Transfers
from openstack_emulator.volume.views import VolumeViews, brief, created_volume, transfer_detail, volume_detail
from openstack_emulator.volume.volumes import Volumes

IDENTIFIER = fields.one_schema_of(fields.nullable(fields.identifier))
FREE_TEXT = fields.nullable(fields.text())
METADATA = fields.text_map(key_form=r".{1,255}")
NO_ITEM = "Volume {id} has no metadata with key {key}."
READERS = frozenset({"reader", "member", "manager", "service"})
OTHER_KEY = "Request body and URI mismatch"
SOURCES = ("snapshot_id", "source_volid", "backup_id")
UNREADABLE = "The server could not comply with the request since it is either malformed or otherwise incorrect."
UPDATABLE = {
    "name": FREE_TEXT,
    "description": FREE_TEXT,
    "display_name": FREE_TEXT,
    "display_description": FREE_TEXT,
    "metadata": fields.nullable(METADATA),
}
CREATABLE = {
    **UPDATABLE,
    "size": fields.nullable(fields.integer(1)),
    "availability_zone": FREE_TEXT,
    "volume_type": FREE_TEXT,
    "snapshot_id": IDENTIFIER,
    "source_volid": IDENTIFIER,
    "imageRef": FREE_TEXT,
    "image_id": FREE_TEXT,
    "backup_id": IDENTIFIER,
    "consistencygroup_id": IDENTIFIER,
    "multiattach": fields.nullable(fields.boolean),
    "group_id": IDENTIFIER,
}
FILTERS = {
    "name": equal("name"),
    "display_name": equal("name"),
    "status": equal("status"),
    "availability_zone": equal("availability_zone"),
    "bootable": equal("bootable"),
    "metadata": holds("metadata"),
    "id": equal("id"),
    "volume_type_id": equal("volume_type_id"),
    "source_volid": equal("source_volid"),
    "snapshot_id": equal("snapshot_id"),
    "group_id": equal("group_id"),
    "migration_status": equal("migration_status"),
}


def found(volumes: Volumes, request: Request) -> Record:
    """The volume the path names."""
    return volumes.find(request.context, request.vars["volume_id"])


def create(views: VolumeViews, request: Request) -> Response:
    wanted = request.object("volume")
    fields.check_fields(wanted, CREATABLE, where="volume", strict=request.version >= (3, 53))
    if wanted.get("consistencygroup_id"):
        raise not_found(f"ConsistencyGroup {wanted['consistencygroup_id']} could not be found.")
    if wanted.get("multiattach") is not None and fields.as_boolean(wanted["multiattach"]):
        raise bad_request("multiattach parameter has been removed. The default behavior is to use multiattach types.")
    if wanted.get("backup_id") and request.version < (3, 47):
        wanted = {key: value for key, value in wanted.items() if key != "backup_id"}
    if wanted.get("group_id") and request.version < (3, 13):
        wanted = {key: value for key, value in wanted.items() if key != "group_id"}
    if wanted.get("image_id"):
        wanted = {**wanted, "imageRef": wanted["image_id"]}
    hints = request.json.get("OS-SCH-HNT:scheduler_hints")
    if hints is not None:
        fields.check_fields(hints, {}, where="OS-SCH-HNT:scheduler_hints", strict=False)
    if wanted.get("size") is None and not any(
        wanted.get(name) for name in ("snapshot_id", "source_volid", "backup_id")
    ):
        raise bad_request(UNREADABLE)
    volume = views.volumes.create(request.context, {**wanted, "request_id": request.id})
    return Response({"volume": created_volume(views, request, volume)}, 202)


def index(volumes: Volumes, request: Request) -> Response:
    rows = project_rows(volumes.rows, request)
    return listing(request, "volumes", rows, FILTERS, lambda row: brief(request, "volumes", row))


def detail(views: VolumeViews, request: Request) -> Response:
    rows = project_rows(views.volumes.rows, request)
    return listing(request, "volumes", rows, FILTERS, lambda row: volume_detail(views, request, row))


def summary(volumes: Volumes, request: Request) -> Response:
    rows = project_rows(volumes.rows, request)
    totals: dict[str, Any] = {"total_count": len(rows), "total_size": sum(row["size"] for row in rows)}
    if request.version >= (3, 36):
        metadata: dict[str, list[str]] = {}
        for row in rows:
            for key, value in row["metadata"].items():
                values = metadata.setdefault(key, [])
                if value not in values:
                    values.append(value)
        totals["metadata"] = metadata
    return Response({"volume-summary": totals})


def show(views: VolumeViews, request: Request) -> Response:
    """A volume. For a caller who has no role that lets them read, there is none."""
    volume, context = found(views.volumes, request), request.context
    if not (context.is_admin or context.roles & READERS):
        raise views.volumes.rows.missing(volume["id"])
    return Response({"volume": volume_detail(views, request, volume)})


def update(views: VolumeViews, request: Request) -> Response:
    volume = found(views.volumes, request)
    wanted = request.object("volume")
    fields.check_fields(wanted, UPDATABLE, where="volume", strict=request.version >= (3, 53))
    if not wanted and request.version >= (3, 53):
        raise bad_request(
            "Invalid input for field/attribute volume. Value: {}. {} is not valid under any of the given schemas"
        )
    changes = {key.removeprefix("display_"): value for key, value in wanted.items() if key in UPDATABLE}
    if changes.get("metadata", {}) is None:
        del changes["metadata"]
    return Response({"volume": created_volume(views, request, views.volumes.update(volume, changes))})


def delete(volumes: Volumes, request: Request) -> Response:
    volume = found(volumes, request)
    force = request.version >= (3, 23) and bool(request.query.boolean("force"))
    if force:
        request.context.require()
    volumes.delete(volume, bool(request.query.boolean("cascade")), force)
    return Response(status=202)


def _metadata(volumes: Volumes, request: Request) -> dict[str, str]:
    metadata: dict[str, str] = found(volumes, request)["metadata"]
    return metadata


def _set_metadata(volumes: Volumes, request: Request, metadata: dict[str, str]) -> None:
    volumes.set_metadata(found(volumes, request), metadata)


VOLUME_METADATA = Metadata(Volumes, _metadata, _set_metadata, METADATA, NO_ITEM, OTHER_KEY, 200)


def show_encryption(volumes: Volumes, request: Request) -> Response:
    volume = found(volumes, request)
    encryption = (
        (volumes.types.rows.require(volume["volume_type_id"])["_encryption"] or {}) if volume["encrypted"] else {}
    )
    wanted = ("provider", "cipher", "key_size", "control_location")
    return Response({"encryption_key_id": None, **{key: encryption[key] for key in wanted if key in encryption}})


def _transfer(transfers: Transfers, request: Request) -> Record:
    return visible(transfers.rows, request.context, request.vars["transfer_id"])


def create_transfer(transfers: Transfers, request: Request) -> Response:
    wanted = request.object("transfer")
    checks = {"volume_id": fields.identifier, "name": FREE_TEXT, "no_snapshots": fields.boolean}
    fields.check_fields(wanted, checks, ("volume_id",), "transfer")
    volume = transfers.volumes.find(request.context, wanted["volume_id"])
    keep = bool(fields.as_boolean(wanted.get("no_snapshots", False)))
    transfer = transfers.create(request.context, volume, wanted.get("name"), keep)
    view = {**transfer_detail(request, transfer), "auth_key": transfer["_auth_key"]}
    return Response({"transfer": view}, 202)


def list_transfers(transfers: Transfers, request: Request) -> Response:
    rows = project_rows(transfers.rows, request)
    keys = ("id", "name", "volume_id", "links")
    return listing(
        request, "transfers", rows, {}, lambda row: {key: transfer_detail(request, row)[key] for key in keys}
    )


def list_transfers_detail(transfers: Transfers, request: Request) -> Response:
    rows = project_rows(transfers.rows, request)
    return listing(request, "transfers", rows, {}, lambda row: transfer_detail(request, row))


def show_transfer(transfers: Transfers, request: Request) -> Response:
    return Response({"transfer": transfer_detail(request, _transfer(transfers, request))})


def delete_transfer(transfers: Transfers, request: Request) -> Response:
    transfers.delete(_transfer(transfers, request))
    return Response(status=202)


def accept_transfer(transfers: Transfers, request: Request) -> Response:
    wanted = request.object("accept")
    transfer = transfers.accept(request.context, request.vars["transfer_id"], wanted.get("auth_key"))
    keys = ("id", "name", "volume_id", "links")
    return Response({"transfer": {key: transfer_detail(request, transfer)[key] for key in keys}}, 202)
