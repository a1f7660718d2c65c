"""Stores: where the data of images is. Here that is a single place; which stores an image is in is recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.image.errors import unauthorized
from openstack_emulator.image.records import DEFAULT_STORE, STORES, ImageRecords


def info(images: ImageRecords, request: Request) -> Response:
    return Response({"stores": [_view(key) for key in STORES]})


def detail(images: ImageRecords, request: Request) -> Response:
    """What operators know of the stores."""
    if not request.context.is_admin:
        raise unauthorized("stores_info_detail")
    more = {"type": "file", "weight": 0, "properties": {}}
    return Response({"stores": [{**_view(key), **more} for key in STORES]})


def _view(key: str) -> Record:
    view = {"id": key, "description": STORES[key]}
    return {**view, "default": "true"} if key == DEFAULT_STORE else view


def required(keys: Iterable[Any]) -> list[str]:
    """The stores of these ids, in the order of the stores; 400 for one that does not exist."""
    wanted = list(keys)
    for key in wanted:
        if key not in STORES:
            raise bad_request(f"Store for identifier {key} not found")
    return [key for key in STORES if key in wanted]


def of_upload(request: Request) -> list[str]:
    """The store that the header of an upload names, else the default one."""
    return required([request.headers.get("x-image-meta-store") or DEFAULT_STORE])


def of_import(body: Mapping[str, Any], image: Record, copied: bool) -> list[str]:
    """The stores that the body of an import names.

    copied: whether the image is copied from a store that has it; 400 when a store that is named has it too.
    """
    there = image["stores"] if copied else []
    if body.get("all_stores") is True:
        if body.get("stores"):
            raise bad_request("The all_stores parameter can't be used with the stores parameter")
        return [key for key in STORES if key not in there]
    wanted = required(body.get("stores") or [DEFAULT_STORE])
    for key in wanted:
        if key in there:
            raise bad_request(f"Image is already present at store '{key}'")
    return wanted


def delete_from(images: ImageRecords, request: Request) -> Response:
    """Take an active image out of one of its stores; 403 when it is the last one."""
    image = images.owned_image(request.context, request.vars["image_id"], "delete_image_location")
    store = request.vars["store"]
    if store not in STORES or store not in image["stores"]:
        raise not_found(f"Image {image['id']} is not stored on store {store}.")
    if image["status"] != "active":
        raise forbidden("It's not allowed to remove locations of an image that is not active.")
    if len(image["stores"]) == 1:
        raise forbidden("Cannot delete image data from the only store containing it.")
    images.images.update(image, stores=[key for key in image["stores"] if key != store])
    return Response(status=204)
