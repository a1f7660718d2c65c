"""OS::Nova::Flavor"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.recovery import FoundBy, Recovery
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.replacing import conclusive, has_passed_on, is_recorded
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Attribute, Change, Property, Support, Type

_GIVEN_UP = "given_up"
"""In `call.data`: the flavor has been removed for its replacement."""


class Flavor(RestResource):
    """A size of servers; for administrators."""

    type_name = "OS::Nova::Flavor"
    description = "A size of servers: processors, memory and disks. By default only administrators may make one."
    collection = Collection(
        "nova", "/flavors", "flavor", "flavors", list_path="/flavors/detail", created_field=None, owner=None
    )
    support = Support(version="2014.2")
    computed = frozenset({"extra_specs"})
    recovery = Recovery(
        FoundBy.NAME,
        "Names are unique among all flavors; one of that name must be as it was asked for.",
    )

    properties = {
        "name": Property(description="Name of the flavor.", support=Support(version="7.0.0")),
        "flavorid": Property(
            description="Id of the flavor; if not given, Nova makes one up.",
            support=Support(version="7.0.0"),
            wire="id",
        ),
        "ram": Property(Type.INTEGER, "Memory in MiB.", required=True),
        "vcpus": Property(Type.INTEGER, "Number of processors.", required=True),
        "disk": Property(Type.INTEGER, "Size of the root disk in GiB; 0 is the image's.", default=0),
        "swap": Property(Type.INTEGER, "Size of the swap disk in MiB.", default=0),
        "ephemeral": Property(
            Type.INTEGER, "Size of the second disk in GiB.", default=0, wire="OS-FLV-EXT-DATA:ephemeral"
        ),
        "rxtx_factor": Property(Type.NUMBER, "Share of the network's speed.", default=1.0),
        "extra_specs": Property(
            Type.MAP, "What else hosts must offer, as keys and values.", change=Change.UPDATE, wire=NOT_SENT
        ),
        "is_public": Property(
            Type.BOOLEAN,
            "Whether every project may use the flavor.",
            default=True,
            support=Support(version="6.0.0"),
            wire="os-flavor-access:is_public",
        ),
        "tenants": Property(
            Type.LIST,
            "Projects that may use a flavor which is not public; if empty, the stack's.",
            default=[],
            items=Property(
                Type.STRING,
                "A project, by name or id.",
                reference="keystone.project",
            ),
            change=Change.UPDATE,
            support=Support(version="8.0.0"),
            wire=NOT_SENT,
            resolve="keystone.project",
        ),
    }

    attributes = {
        "is_public": Attribute(
            "Whether every project may use the flavor.",
            Type.BOOLEAN,
            path="os-flavor-access:is_public",
            support=Support(version="6.0.0"),
        ),
        "extra_specs": Attribute("What else hosts must offer.", Type.MAP, support=Support(version="7.0.0")),
    }

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        for item in await _flavors(call):
            if item["name"] == body["name"] and self.made_by(call, {**body, "swap": item["swap"]}, item):
                return str(item["id"])
        return None

    async def make_way(self, call: Call) -> Outcome:
        """Away with it when it bears a name or an id of the template's: they are unique, and cannot be changed.

        Servers do not need it any more, and the properties say all there is to know to make it again.
        """
        if call.properties.get("name") is None and call.properties.get("flavorid") is None:
            return Done()
        if _GIVEN_UP not in call.data:
            call.data[_GIVEN_UP] = True
            return Again(after=0.0)
        await call.cloud.delete("nova", self.member_path(call), ok=(404,))
        return Done()

    async def take_back(self, call: Call) -> Outcome:
        """The same flavor again, its id included, in place of the replacement."""
        return await conclusive(self._restored(call)) if _GIVEN_UP in call.data else Done()

    async def _restored(self, call: Call) -> Outcome:
        body = {**await self.create_body(call), "id": call.physical_id}
        back = False
        for item in await _flavors(call):
            if item["id"] == call.physical_id and self.made_by(call, {**body, "swap": item["swap"]}, item):
                back = True
            elif item["id"] == call.physical_id or item["name"] == body["name"]:
                if not await is_recorded(call, item["id"]):
                    return Failed(f"flavor {item['id']} has the name {item['name']} by now", "Conflict")
                await call.cloud.delete("nova", f"/flavors/{quote(item['id'], safe='')}", ok=(404,))
        if not back:
            await call.cloud.post("nova", "/flavors", self.collection.wrap(body))
        await self.add_extras(call)
        del call.data[_GIVEN_UP]
        return Done()

    async def remove(self, call: Call) -> None:
        if not await has_passed_on(call, self.type_name):
            await super().remove(call)

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """A flavor that is there is worth an update."""
        return call.physical_id is None or await self.show(call) is None

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties.get("extra_specs")) or not call.properties["is_public"]

    async def add_extras(self, call: Call) -> None:
        if call.properties.get("extra_specs"):
            await self._add_specs(call)
        if not call.properties["is_public"]:
            await self._grant(call, call.properties["tenants"] or [call.stack.project_id])

    async def change_extras(self, call: Call) -> None:
        if "extra_specs" in call.changed:
            for key in sorted(await self._specs(call)):
                path = f"{self.member_path(call)}/os-extra_specs/{quote(key, safe='')}"
                await call.cloud.delete("nova", path, ok=(404,))
            if call.properties.get("extra_specs"):
                await self._add_specs(call)
        if "tenants" in call.changed and not call.properties["is_public"]:
            await self._share(call)

    async def _specs(self, call: Call) -> dict[str, Any]:
        body = await call.cloud.get("nova", f"{self.member_path(call)}/os-extra_specs")
        specs: dict[str, Any] = body["extra_specs"]
        return specs

    async def _add_specs(self, call: Call) -> None:
        path = f"{self.member_path(call)}/os-extra_specs"
        specs = {key: str(value) for key, value in call.properties["extra_specs"].items()}
        await call.cloud.post("nova", path, {"extra_specs": specs})

    async def _share(self, call: Call) -> None:
        """Have these projects, and no others, use the flavor."""
        path = f"{self.member_path(call)}/os-flavor-access"
        listed = (await call.cloud.get("nova", path))["flavor_access"]
        allowed = {row["tenant_id"] for row in listed}
        wanted = set(call.properties["tenants"] or [])
        await self._grant(call, sorted(wanted - allowed))
        for project in sorted(allowed - wanted):
            body = {"removeTenantAccess": {"tenant": project}}
            await call.cloud.request("POST", "nova", f"{self.member_path(call)}/action", json=body, ok=(404,))

    async def _grant(self, call: Call, projects: Iterable[str]) -> None:
        for project in projects:
            body = {"addTenantAccess": {"tenant": project}}
            await call.cloud.request("POST", "nova", f"{self.member_path(call)}/action", json=body, ok=(409,))

    async def computed_attribute(self, call: Call, name: str) -> Any:
        return await self._specs(call)


async def _flavors(call: Call) -> list[dict[str, Any]]:
    """All flavors, public ones and others alike."""
    return await call.cloud.list("nova", "/flavors/detail", "flavors", {"is_public": "None"})
