"""OS::Glance::WebImage"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import between, matching, one_of
from stoker.resources.steps import in_turn
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Change, Property, Support, Type

_UUID = matching("^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$")
_PATCH = "application/openstack-images-v2.1-json-patch"
_PATCHED = ("architecture", "kernel_id", "os_distro", "os_version", "owner", "protected", "ramdisk_id", "visibility")
"""Properties that are changed by a patch, under their own names."""

_MACHINE_IMAGES = ("ami", "ari", "aki")


def _detail(description: str, **rest: Any) -> Property:
    return Property(description=description, change=Change.UPDATE, **rest)


class WebImage(RestResource):
    """An image that Glance fetches from a web server."""

    type_name = "OS::Glance::WebImage"
    description = "An image that Glance fetches from a web server."
    support = Support(version="12.0.0")
    collection = Collection("glance", "/v2/images", members="images", owner=None)
    identity = None
    recovery = Recovery(
        FoundBy.LIKENESS,
        "Its id or name, if the template gives one, is looked for in the project's list: the image must have "
        "been made since the action began, be as it was asked for, and belong to no other resource.",
    )

    properties = {
        "name": Property(description="Name of the image."),
        "id": Property(description="Id of the image; if not given, Glance makes one up."),
        "visibility": _detail(
            "Who may use the image.", default="private", constraints=one_of("public", "private", "community", "shared")
        ),
        "protected": Property(
            Type.BOOLEAN, "Whether the image cannot be deleted.", default=False, change=Change.UPDATE
        ),
        "min_disk": Property(
            Type.INTEGER, "Size of the disk that it needs, in GiB.", default=0, constraints=between(0)
        ),
        "min_ram": Property(
            Type.INTEGER, "Size of the memory that it needs, in MiB.", default=0, constraints=between(0)
        ),
        "disk_format": Property(
            description="Format of the disk.",
            required=True,
            constraints=one_of("ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"),
        ),
        "container_format": Property(
            description="Format of what is around the disk.",
            required=True,
            constraints=one_of("ami", "ari", "aki", "bare", "ovf", "ova", "docker"),
        ),
        "location": Property(description="Address that the image is fetched from.", required=True, wire=NOT_SENT),
        "tags": Property(Type.LIST, "Tags of the image.", change=Change.UPDATE),
        "architecture": _detail("The processor that it is for."),
        "kernel_id": _detail("Id of the image of its kernel.", constraints=_UUID),
        "os_distro": _detail("The distribution of its operating system."),
        "os_version": _detail("The version of its operating system."),
        "owner": _detail("The project that owns it."),
        "ramdisk_id": _detail("Id of the image of its initial memory disk.", constraints=_UUID),
        "active": Property(
            Type.BOOLEAN,
            "Whether the image may be used.",
            default=True,
            change=Change.UPDATE,
            support=Support(version="16.0.0"),
            wire=NOT_SENT,
        ),
        "members": Property(
            Type.LIST,
            "Projects that a shared image is shared with.",
            items=Property(Type.STRING, "Id of a project."),
            change=Change.UPDATE,
            support=Support(version="16.0.0"),
            wire=NOT_SENT,
        ),
        "extra_properties": Property(
            Type.MAP,
            "Further properties of the image, as keys and values.",
            default={},
            change=Change.UPDATE,
            support=Support(version="17.0.0"),
            wire=NOT_SENT,
        ),
    }

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        container, disk = properties.get("container_format"), properties.get("disk_format")
        if container in _MACHINE_IMAGES and container != disk:
            yield f"container_format {container} needs the same disk_format"
        if properties.get("members") and properties.get("visibility") in ("public", "private", "community"):
            yield "members can only be given when visibility is shared"

    # -- making -----------------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, Any]:
        """Properties of its own go along, so that there is never an image without them."""
        extra = {key: _text(value) for key, value in (call.properties.get("extra_properties") or {}).items()}
        return {**extra, **await super().create_body(call)}

    async def find(self, call: Call) -> str | None:
        given = call.properties.get("id")
        if given is not None:
            answer = await call.cloud.request("GET", "glance", f"/v2/images/{quote(given, safe='')}", ok=(404,))
            mine = answer.status != 404 and self.made_by(call, await self.create_body(call), answer.body)
            return str(given) if mine else None
        return await super().find(call)

    async def create(self, call: Call) -> Outcome:
        if call.physical_id is None:
            made = await self.begin(call)
            return Again(after=0.0, physical_id=str(made["id"]))
        return await in_turn(call, (self._fetch, self._share, self._settle))

    async def _fetch(self, call: Call) -> Outcome:
        """Have Glance fetch the image; a fetch that an interrupted entry began is let be."""
        source = {"method": {"name": "web-download", "uri": call.properties["location"]}}
        await call.cloud.request("POST", "glance", f"{self.member_path(call)}/import", json=source, ok=(409,))
        return Done()

    async def _share(self, call: Call) -> Outcome:
        for project in call.properties.get("members") or []:
            await _add_member(call, self.member_path(call), project)
        return Done()

    async def _settle(self, call: Call) -> Outcome:
        """Wait until the image is there, then take it out of use if it shall not be used."""
        shown = await self.show(call)
        if shown is None:
            return Failed("glance has lost the image", "NotFound")
        usable = bool(call.properties.get("active", True))
        if shown["status"] == "active" and not usable:
            await call.cloud.post("glance", f"{self.member_path(call)}/actions/deactivate")
            return Done()
        if shown["status"] == "queued" and shown.get("os_glance_failed_import"):
            return Failed(f"glance could not fetch the image from {call.properties['location']}", in_error=True)
        return _SETTLED[usable].judge(shown["status"], elapsed=call.elapsed)

    # -- changing ---------------------------------------------------------------------------------------------

    async def update(self, call: Call) -> Outcome:
        if "active" in call.changed and not call.properties["active"]:
            await call.cloud.post("glance", f"{self.member_path(call)}/actions/deactivate")
        if "tags" in call.changed:
            await self._change_tags(call)
        if patch := await self._patch(call):
            headers = {"Content-Type": _PATCH}
            await call.cloud.request("PATCH", "glance", self.member_path(call), json=patch, headers=headers)
        if "members" in call.changed:
            await self._change_members(call)
        if "active" in call.changed and call.properties["active"]:
            await call.cloud.post("glance", f"{self.member_path(call)}/actions/reactivate")
        return Done()

    async def _patch(self, call: Call) -> list[dict[str, Any]]:
        """What turns the image's own properties from the old ones into the new ones."""
        after = {name: call.properties[name] for name in _PATCHED if call.changed.get(name) is not None}
        gone = {name for name in _PATCHED if name in call.changed and call.changed[name] is None}
        if "extra_properties" in call.changed:
            extra = call.properties.get("extra_properties") or {}
            gone |= ((call.previous or {}).get("extra_properties") or {}).keys() - extra.keys()
            after |= {key: _text(value) for key, value in extra.items()}
        if not after and not gone:
            return []
        shown = await self.show(call) if gone else {}
        removed = sorted(gone & (shown or {}).keys())
        return [{"op": "add", "path": _pointer(name), "value": after[name]} for name in sorted(after)] + [
            {"op": "remove", "path": _pointer(name)} for name in removed
        ]

    async def _change_tags(self, call: Call) -> None:
        before, after = set((call.previous or {}).get("tags") or []), set(call.properties.get("tags") or [])
        for tag in sorted(after - before):
            await call.cloud.put("glance", f"{self.member_path(call)}/tags/{quote(tag, safe='')}")
        for tag in sorted(before - after):
            await call.cloud.delete("glance", f"{self.member_path(call)}/tags/{quote(tag, safe='')}", ok=(404,))

    async def _change_members(self, call: Call) -> None:
        before, after = set((call.previous or {}).get("members") or []), set(call.properties.get("members") or [])
        for project in sorted(after - before):
            await _add_member(call, self.member_path(call), project)
        for project in sorted(before - after):
            await call.cloud.delete("glance", f"{self.member_path(call)}/members/{project}", ok=(404,))

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        shown = await self.show(call) if call.physical_id is not None else None
        return shown is None or shown["status"] in ("deleted", "killed")


_SETTLED = {
    True: Waiter.until("active", failed=("killed", "deleted")),
    False: Waiter.until("deactivated", failed=("killed", "deleted")),
}
"""What an image that may be used, and one that may not, is waited for."""


async def _add_member(call: Call, path: str, project: str) -> None:
    await call.cloud.request("POST", "glance", f"{path}/members", json={"member": project}, ok=(409,))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


def _pointer(name: str) -> str:
    """A JSON pointer to a top-level field."""
    return "/" + name.replace("~", "~0").replace("/", "~1")
