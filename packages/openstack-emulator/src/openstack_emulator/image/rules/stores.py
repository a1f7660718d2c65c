"""Stores: where the data of images is. Here that is a single place; which stores an image is in is recorded."""

from __future__ import annotations

from collections.abc import Iterable

from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.image.records import Image

STORES = {"cheap": "Cheap storage", "fast": "Fast storage"}
"""Ids and descriptions of the stores."""
DEFAULT_STORE = "fast"


def known(keys: Iterable[object]) -> list[str]:
    """The stores of these ids, in the order of the stores; 400 for one that does not exist."""
    store_ids = list(keys)
    for key in store_ids:
        if not isinstance(key, str) or key not in STORES:
            raise bad_request(f"Store for identifier {key} not found")
    return [key for key in STORES if key in store_ids]


def without(image: Image, store: str) -> list[str]:
    """The stores of an active image but one; 403 when that is the last one, 404 when the image is not in it."""
    if store not in STORES or store not in image.stores:
        raise not_found(f"Image {image.id} is not stored on store {store}.")
    if image.status != "active":
        raise forbidden("It's not allowed to remove locations of an image that is not active.")
    if len(image.stores) == 1:
        raise forbidden("Cannot delete image data from the only store containing it.")
    return [key for key in image.stores if key != store]
