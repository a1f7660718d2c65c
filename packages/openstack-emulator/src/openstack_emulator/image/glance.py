"""The image service: its table of routes."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import READERS, Routes, Service
from openstack_emulator.core.http import Phrases
from openstack_emulator.image import data_routes, image_routes, info_routes, member_routes, schemas, stores
from openstack_emulator.image.errors import REFUSAL
from openstack_emulator.image.metadefs import METADEF_ROUTES
from openstack_emulator.image.records import ImageRecords

ROUTES: Routes = {
    "/images": {"GET": image_routes.index, "POST": image_routes.create},
    "/images/{image_id}": {
        "GET": image_routes.show,
        "PATCH": image_routes.update,
        "DELETE": image_routes.delete,
    },
    "/images/{image_id}/file": {"GET": data_routes.download, "PUT": data_routes.upload},
    "/images/{image_id}/stage": {"PUT": data_routes.stage},
    "/images/{image_id}/import": {"POST": data_routes.begin_import},
    "/images/{image_id}/tasks": {"GET": data_routes.image_tasks},
    "/images/{image_id}/actions/deactivate": {"POST": image_routes.deactivate},
    "/images/{image_id}/actions/reactivate": {"POST": image_routes.reactivate},
    "/images/{image_id}/tags/{tag}": {"PUT": image_routes.add_tag, "DELETE": image_routes.remove_tag},
    "/images/{image_id}/members": {"GET": member_routes.index, "POST": member_routes.create},
    "/images/{image_id}/members/{member_id}": {
        "GET": member_routes.show,
        "PUT": member_routes.update,
        "DELETE": member_routes.delete,
    },
    "/schemas/{name}": {"GET": schemas.show},
    "/tasks": {"GET": data_routes.index_tasks, "POST": data_routes.create_task},
    "/tasks/{task_id}": {"GET": data_routes.show_task},
    "/info/import": {"GET": info_routes.import_info},
    "/info/stores": {"GET": stores.info},
    "/info/stores/detail": {"GET": stores.detail},
    "/stores/{store}/{image_id}": {"DELETE": stores.delete_from},
    "/info/usage": {"GET": info_routes.usage},
    **METADEF_ROUTES,
}

POLICY_RULES = {
    "POST /images": "add_image",
    "PATCH /images/{image_id}": "modify_image",
    "DELETE /images/{image_id}": "delete_image",
    "PUT /images/{image_id}/file": "upload_image",
    "PUT /images/{image_id}/stage": "modify_image",
    "POST /images/{image_id}/import": "modify_image",
    "POST /images/{image_id}/actions/deactivate": "deactivate",
    "POST /images/{image_id}/actions/reactivate": "reactivate",
    "PUT /images/{image_id}/tags/{tag}": "modify_image",
    "DELETE /images/{image_id}/tags/{tag}": "modify_image",
    "POST /images/{image_id}/members": "add_member",
    "PUT /images/{image_id}/members/{member_id}": "modify_member",
    "DELETE /images/{image_id}/members/{member_id}": "delete_member",
    "POST /tasks": "add_task",
    "DELETE /stores/{store}/{image_id}": "delete_image_location",
    "GET /images": "get_images",
    "GET /tasks": "get_tasks",
    "GET /info/stores/detail": "stores_info_detail",
}
"""Route → name of the policy rule, as errors have it."""

IMAGE = Service(
    name="glance",
    mount="/image",
    records=ImageRecords,
    endpoints={"image": "/image"},
    prefixes=("/v2",),
    routes=ROUTES,
    root={"/": {"GET": info_routes.choices}, "/versions": {"GET": info_routes.versions}},
    public=frozenset({"GET /", "GET /versions"}),
    identified_after_token=True,
    error_body=error_bodies.glance,
    token_error_body=error_bodies.glance,
    exact_paths=True,
    phrases=Phrases(not_json="Malformed JSON in request body."),
    rules=POLICY_RULES,
    refusal=REFUSAL,
    readers=READERS,
    writers=frozenset({"member"}),
)
