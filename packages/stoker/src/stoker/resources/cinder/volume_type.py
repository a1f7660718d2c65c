"""OS::Cinder::VolumeType"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from stoker.plugins.resource import Call
from stoker.resources.base import Collection
from stoker.resources.live_values import NotShown
from stoker.resources.unique_names import UniquelyNamed
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED, LISTED
from stoker.schema.property import Change, Property, Support, Type


async def _extra_specs(kind: VolumeType, call: Call, shown: Mapping[str, object]) -> object:
    if "extra_specs" not in shown:
        raise NotShown("the service shows extra specs to administrators only")
    return shown["extra_specs"]


async def _projects(kind: VolumeType, call: Call, shown: Mapping[str, object]) -> object:
    if shown.get("os-volume-type-access:is_public"):
        return []
    listed = await call.cloud.get("cinder", f"{kind.member_path(call)}/os-volume-type-access")
    return [row["project_id"] for row in listed["volume_type_access"]]


class VolumeType(UniquelyNamed):
    """A volume type; for administrators."""

    type_name = "OS::Cinder::VolumeType"
    description = "A volume type, which determines the storage back end. By default only administrators may create one."
    for_administrators = True
    collection = Collection("cinder", "/types", "volume_type", "volume_types", created_field=None, owner=None)
    of_all_projects = {"is_public": "None"}
    support = Support(version="2015.1")
    extension = "os-types-manage"
    readers = {"metadata": _extra_specs, "projects": _projects}

    properties = {
        "name": Property(description="Name of the type.", required=True, change=Change.UPDATE),
        "metadata": Property(
            Type.MAP, "Extra specs of the type, as keys and values.", change=Change.UPDATE, wire=NOT_SENT, live=LISTED
        ),
        "is_public": Property(
            Type.BOOLEAN,
            "Whether every project may use the type.",
            default=True,
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
            wire="os-volume-type-access:is_public",
        ),
        "description": Property(
            description="Description of the type.", change=Change.UPDATE, support=Support(version="5.0.0")
        ),
        "projects": Property(
            Type.LIST,
            "Projects that may use a type that is not public.",
            default=[],
            items=Property(
                Type.STRING,
                "A project, by name or ID.",
                reference="keystone.project",
            ),
            change=Change.UPDATE,
            support=Support(version="5.0.0"),
            wire=NOT_SENT,
            live=FETCHED,
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("is_public") is True and properties.get("projects"):
            yield "projects can only be given when is_public is false"

    async def rename(self, call: Call, identifier: str, name: str) -> None:
        body = self.collection.wrap({"name": name, "description": None})  # null keeps the description
        await call.cloud.request("PUT", "cinder", f"/types/{identifier}", json=body, ok=(404,))

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties.get("metadata") or call.properties["projects"])

    async def add_extras(self, call: Call) -> None:
        if call.properties.get("metadata"):
            await self._add_specs(call)
        await self._grant(call, call.properties["projects"] or [])

    async def update_body(self, call: Call) -> dict[str, object]:
        """Return the body with both fields; Cinder keeps the current value for null."""
        body = await super().update_body(call)
        return {"name": None, "description": None, **body} if body else body

    async def change_extras(self, call: Call) -> None:
        if "metadata" in call.changed:
            path = f"{self.member_path(call)}/extra_specs"
            for key in sorted((await call.cloud.get("cinder", path))["extra_specs"]):
                await call.cloud.delete("cinder", f"{path}/{quote(key, safe='')}", ok=(404,))
            if call.properties.get("metadata"):
                await self._add_specs(call)
        if not call.properties["is_public"] and call.changed.keys() & {"projects", "is_public"}:
            await self._share(call)

    async def _add_specs(self, call: Call) -> None:
        specs = {key: str(value) for key, value in call.properties["metadata"].items()}
        await call.cloud.post("cinder", f"{self.member_path(call)}/extra_specs", {"extra_specs": specs})

    async def _share(self, call: Call) -> None:
        """Grant access to the declared projects, and revoke it from all others."""
        listed = await call.cloud.get("cinder", f"{self.member_path(call)}/os-volume-type-access")
        allowed = {row["project_id"] for row in listed["volume_type_access"]}
        declared = set(call.properties["projects"] or [])
        await self._grant(call, sorted(declared - allowed))
        for project in sorted(allowed - declared):
            body = {"removeProjectAccess": {"project": project}}
            await call.cloud.request("POST", "cinder", f"{self.member_path(call)}/action", json=body, ok=(404,))

    async def _grant(self, call: Call, projects: Iterable[str]) -> None:
        for project in projects:
            body = {"addProjectAccess": {"project": project}}
            await call.cloud.request("POST", "cinder", f"{self.member_path(call)}/action", json=body, ok=(409,))
