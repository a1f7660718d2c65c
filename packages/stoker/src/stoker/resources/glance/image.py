"""OS::Glance::Image: the older type, as Heat documented it since 2014.2. Later releases of Heat ignore it."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.outcome import Outcome, Replace
from stoker.plugins.resource import Call
from stoker.resources.declare import one_of
from stoker.resources.glance.web_image import WebImage
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED
from stoker.schema.property import Property, Support, Type

_PLACEHOLDER = "is_placeholder"
"""The key of `Call.data` by which Heat, and earlier versions of Stoker, mark a resource without an image."""

_SHARED = (
    "name", "id", "min_disk", "min_ram", "location", "tags", "extra_properties",
    "architecture", "kernel_id", "os_distro", "os_version", "owner", "ramdisk_id",
)  # fmt: skip
"""Properties shared with OS::Glance::WebImage."""


class Image(WebImage):
    """An image that Glance downloads from a web server, with the properties of older releases.

    Older versions of Glance copied the data from `location` (`copy_from`); this type uses the import method
    web-download instead, like OS::Glance::WebImage.
    """

    type_name = "OS::Glance::Image"
    description = "An image that Glance downloads from a web server; use OS::Glance::WebImage instead."
    support = Support("HIDDEN", "22.0.0", previous=Support("DEPRECATED", "8.0.0", previous=Support(version="2014.2")))

    properties = {
        **{name: WebImage.properties[name] for name in _SHARED},
        "is_public": Property(
            Type.BOOLEAN,
            "Whether every project may use the image, instead of its owner only.",
            default=False,
            wire=NOT_SENT,
            live=LISTED,
        ),
        "protected": Property(Type.BOOLEAN, "Whether the image is protected from deletion.", default=False),
        "disk_format": Property(
            description="Disk format of the image.",
            required=True,
            constraints=one_of("ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"),
        ),
        "container_format": Property(
            description="Container format of the image.",
            required=True,
            constraints=one_of("ami", "ari", "aki", "bare", "ova", "ovf", "docker"),
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        visibility = "public" if call.properties["is_public"] else "private"
        return {**await super().create_body(call), "visibility": visibility}

    async def update(self, call: Call) -> Outcome:
        if _PLACEHOLDER in call.data:
            return Replace("it has no image")
        return await super().update(call)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        call.report.compared.add("is_public")
        found, public = super().differences(call, shown), shown.get("visibility") == "public"
        return found if public == call.properties["is_public"] else {**found, "is_public": public}
