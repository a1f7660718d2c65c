"""Stores over HTTP."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.image.routes.images import owned
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.errors import unauthorized
from openstack_emulator.image.rules.stores import DEFAULT_STORE, STORES, known, without
from openstack_emulator.image.views import store_view


def info(service: ImageService, request: Request) -> Response:
    return Response({"stores": [store_view(key) for key in STORES]})


def detail(service: ImageService, request: Request) -> Response:
    """What operators know of the stores."""
    if not request.context.is_admin:
        raise unauthorized("stores_info_detail")
    more = {"type": "file", "weight": 0, "properties": {}}
    return Response({"stores": [{**store_view(key), **more} for key in STORES]})


def stores_for_upload(request: Request) -> list[str]:
    """The store that the header of an upload names, else the default one."""
    return known([request.headers.get("x-image-meta-store") or DEFAULT_STORE])


def stores_for_import(body: Mapping[str, object], present: Collection[str]) -> list[str]:
    """The stores that the body of an import names; 400 when one of them already has the image."""
    if body.get("all_stores") is True:
        if body.get("stores"):
            raise bad_request("The all_stores parameter can't be used with the stores parameter")
        return [key for key in STORES if key not in present]
    named = body.get("stores") or [DEFAULT_STORE]
    if not isinstance(named, list):
        raise bad_request("The stores parameter must be a list of identifiers of stores.")
    store_ids = known(named)
    for key in store_ids:
        if key in present:
            raise bad_request(f"Image is already present at store '{key}'")
    return store_ids


def delete_from(service: ImageService, request: Request) -> Response:
    """Take an active image out of one of its stores."""
    image = owned(service, request, "delete_image_location")
    image.stores = without(image, request.vars["store"])
    service.images.rows.save(image)
    return Response(status=204)
