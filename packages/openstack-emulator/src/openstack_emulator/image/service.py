"""The image service."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import READERS, Service
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.image.routes.table import ROOT, ROUTES
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.errors import REFUSAL

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
    records=ImageService,
    endpoints={"image": "/image"},
    prefixes=("/v2",),
    routes=ROUTES,
    root=ROOT,
    public=frozenset({"GET /", "GET /versions"}),
    identified_after_token=True,
    error_body=error_bodies.glance,
    token_error_body=error_bodies.glance,
    exact_paths=True,
    body_messages=BodyMessages(not_json="Malformed JSON in request body."),
    rules=POLICY_RULES,
    refusal=REFUSAL,
    readers=READERS,
    writers=frozenset({"member"}),
)
