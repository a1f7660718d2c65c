"""Glance: images."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.glance.image import Image
from stoker.resources.glance.web_image import WebImage

TYPES: tuple[type[ResourceType], ...] = (
    Image,
    WebImage,
)
