"""OS::Manila::ShareType"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from stoker.plugins.resource import Call
from stoker.resources.base import Collection
from stoker.resources.unique_names import UniquelyNamed
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import LISTED, same
from stoker.schema.property import Change, Property, Support, Type

_RENAMES = "2.50"
"""The first microversion in which share types can be renamed, which is needed only for a replacement."""
_BOOLEAN_SPECS = ("driver_handles_share_servers", "snapshot_support")


class ShareType(UniquelyNamed):
    """A kind of shares; for administrators."""

    type_name = "OS::Manila::ShareType"
    description = "A share type, which determines the storage back end. By default only administrators may create one."
    for_administrators = True
    collection = Collection("manila", "/types", "share_type", "share_types", created_field=None, owner=None)
    # Private types, too; other users than administrators see those that they may use anyway.
    of_all_projects = {"is_public": "all"}
    support = Support(version="5.0.0")

    properties = {
        "name": Property(description="Name of the share type.", required=True),
        "driver_handles_share_servers": Property(
            Type.BOOLEAN,
            "Whether the driver creates share servers, for which shares need a share network.",
            required=True,
            wire=NOT_SENT,
            live=LISTED,
        ),
        "extra_specs": Property(
            Type.MAP, "Further extra specs, as keys and values.", change=Change.UPDATE, wire=NOT_SENT, live=LISTED
        ),
        "is_public": Property(
            Type.BOOLEAN,
            "Whether every project may use the type.",
            default=True,
            wire="share_type_access:is_public",
        ),
        "snapshot_support": Property(
            Type.BOOLEAN,
            "Whether shares of the type can have snapshots.",
            default=True,
            support=Support(version="6.0.0"),
            wire=NOT_SENT,
            live=LISTED,
        ),
    }

    async def create_body(self, call: Call) -> dict[str, object]:
        return {**await super().create_body(call), "extra_specs": _required_specs(call)}

    async def rename(self, call: Call, identifier: str, name: str) -> None:
        body = self.collection.wrap({"name": name})
        path = f"/types/{identifier}"
        await call.cloud.request("PUT", "manila", path, json=body, microversion=_RENAMES, ok=(404,))

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties.get("extra_specs"))

    async def add_extras(self, call: Call) -> None:
        if call.properties.get("extra_specs"):
            await self._add_specs(call)

    async def change_extras(self, call: Call) -> None:
        before, after = (call.previous or {}).get("extra_specs") or {}, call.properties.get("extra_specs") or {}
        for key in sorted(before.keys() - after.keys()):
            await call.cloud.delete("manila", f"{self._specs_path(call)}/{quote(key, safe='')}", ok=(404,))
        if after and after != before:
            await self._add_specs(call)

    def differences(self, call: Call, shown: Mapping[str, Any]) -> dict[str, object]:
        found, specs = super().differences(call, shown), shown["extra_specs"]
        for name, value in _required_specs(call).items():
            if not same(value, specs.get(name)):
                found[name] = specs.get(name)
        call.report.compared.update(("extra_specs", *_BOOLEAN_SPECS))
        declared = call.properties.get("extra_specs") or {}
        held = {key: value for key, value in specs.items() if key in declared or key not in _BOOLEAN_SPECS}
        if not same(declared, held) or (call.gives("extra_specs") and held.keys() - declared.keys()):
            found["extra_specs"] = held
        return found

    async def _add_specs(self, call: Call) -> None:
        specs = {key: str(value) for key, value in call.properties["extra_specs"].items()}
        await call.cloud.post("manila", self._specs_path(call), {"extra_specs": specs})

    def _specs_path(self, call: Call) -> str:
        return f"{self.member_path(call)}/extra_specs"


def _required_specs(call: Call) -> dict[str, bool]:
    """Return the extra specs that are properties of their own."""
    given = call.properties.get("extra_specs") or {}
    return {
        name: call.properties[name]
        for name in _BOOLEAN_SPECS
        if call.properties[name] is not None and name not in given
    }
