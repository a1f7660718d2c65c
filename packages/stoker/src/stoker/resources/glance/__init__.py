"""Glance: images."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Glance::Image": "image:Image",
        "OS::Glance::WebImage": "web_image:WebImage",
    },
)
