"""Records as clients of the image service see them."""

from __future__ import annotations

from openstack_emulator.core.typed import to_public
from openstack_emulator.image.records import Image, Member, Namespace, Task
from openstack_emulator.image.rules.stores import DEFAULT_STORE, STORES

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


def image_view(image: Image) -> dict[str, object]:
    """The flat form: custom properties beside the attributes."""
    path, stored = f"/v2/images/{image.id}", image.to_json()
    return {
        **image.properties,
        **{field: stored[field] for field in SHOWN},
        **({"stores": ",".join(image.stores)} if image.stores else {}),
        "owner": image.project_id,
        "self": path,
        "file": f"{path}/file",
        "schema": "/v2/schemas/image",
    }


def member_view(member: Member) -> dict[str, object]:
    """A project with which an image is shared."""
    return {
        "member_id": member.project_id,
        "image_id": member.image_id,
        "status": member.status,
        "created_at": member.created_at,
        "updated_at": member.updated_at,
        "schema": "/v2/schemas/member",
    }


def task_view(task: Task) -> dict[str, object]:
    """A task, such as an import."""
    shown = {name: value for name, value in to_public(task).items() if name != "project_id"}
    return {**shown, "owner": task.project_id, "self": f"/v2/tasks/{task.id}", "schema": "/v2/schemas/task"}


def store_view(key: str) -> dict[str, str]:
    """A store; the default one says so."""
    view = {"id": key, "description": STORES[key]}
    return {**view, "default": "true"} if key == DEFAULT_STORE else view


NAMESPACES = "/v2/metadefs/namespaces"
_OWN = ("namespace", "display_name", "description", "visibility", "protected")


def namespace_view(namespace: Namespace) -> dict[str, object]:
    """A namespace as a list shows it."""
    stored = namespace.to_json()
    return {
        **{name: stored[name] for name in _OWN if stored[name] is not None},
        "owner": namespace.project_id,
        "created_at": namespace.created_at,
        "updated_at": namespace.updated_at,
        "resource_type_associations": list(namespace.resource_types.values()),
        "self": f"{NAMESPACES}/{namespace.id}",
        "schema": "/v2/schemas/metadefs/namespace",
    }


def whole_namespace(namespace: Namespace) -> dict[str, object]:
    """A namespace with all that is in it."""
    parts = {
        "properties": namespace.properties,
        "objects": [object_view(namespace, name, held) for name, held in namespace.objects.items()],
        "tags": tags_view(namespace),
    }
    return {**namespace_view(namespace), **{name: held for name, held in parts.items() if held}}


def object_view(namespace: Namespace, name: str, held: dict[str, object]) -> dict[str, object]:
    """An object of a namespace."""
    place = f"{NAMESPACES}/{namespace.id}/objects/{name}"
    return {"required": [], "properties": {}, **held, "self": place, "schema": "/v2/schemas/metadefs/object"}


def tags_view(namespace: Namespace) -> list[dict[str, str]]:
    """The tags of a namespace."""
    return [{"name": name} for name in namespace.tags]
