"""Images, members and tasks as clients see them."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.store import Record

SHOWN = (
    "name",
    "disk_format",
    "container_format",
    "visibility",
    "size",
    "virtual_size",
    "status",
    "checksum",
    "protected",
    "min_ram",
    "min_disk",
    "os_hidden",
    "os_hash_algo",
    "os_hash_value",
    "id",
    "created_at",
    "updated_at",
    "tags",
)


def image_view(image: Record) -> dict[str, Any]:
    """The flat form: custom properties beside the attributes."""
    path = f"/v2/images/{image['id']}"
    return {
        **image["properties"],
        **{field: image[field] for field in SHOWN},
        **({"stores": ",".join(image["stores"])} if image["stores"] else {}),
        "owner": image["project_id"],
        "self": path,
        "file": f"{path}/file",
        "schema": "/v2/schemas/image",
    }


def member_view(member: Record) -> dict[str, Any]:
    shown = {field: member[field] for field in ("image_id", "status", "created_at", "updated_at")}
    return {"member_id": member["project_id"], **shown, "schema": "/v2/schemas/member"}


def task_view(task: Record) -> dict[str, Any]:
    shown = {key: value for key, value in task.items() if key != "project_id" and not key.startswith("_")}
    return {**shown, "owner": task["project_id"], "self": f"/v2/tasks/{task['id']}", "schema": "/v2/schemas/task"}
