"""What Magnum's objects have in common: UUIDs, updates as JSON patches, lists that cannot be filtered."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource


def collection(members: str) -> Collection:
    """Return where objects are. Only `/detail` shows them in full."""
    path = f"/v1/{members}"
    return Collection(
        "magnum",
        path,
        members=members,
        id_field="uuid",
        list_path=f"{path}/detail",
        update="PATCH",
        owner=None,
        filters_names=False,
    )


class MagnumResource(RestResource):
    """An object of Magnum. Administrators' lists, and those of public templates, show objects of other projects."""

    def made_by(self, call: Call, body: Mapping[str, object], item: Mapping[str, object]) -> bool:
        return item.get("project_id") in (None, call.cloud.project_id) and super().made_by(call, body, item)

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return the properties that have a value; Magnum chooses what is empty."""
        return {field: value for field, value in (await super().create_body(call)).items() if value != ""}

    async def update_body(self, call: Call) -> dict[str, object]:
        """Return the changed properties. Those that were removed get their defaults, or else keep their values."""
        body = await super().update_body(call)
        defaults = {prop.wire or name: prop.default for name, prop in self.properties.items()}
        complete = {field: defaults.get(field) if value is None else value for field, value in body.items()}
        return {field: value for field, value in complete.items() if value not in (None, "")}

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        patch = [{"op": "replace", "path": f"/{field}", "value": value} for field, value in body.items()]
        answer = await call.cloud.request("PATCH", "magnum", self.member_path(call), json=patch)
        return self.collection.unwrap(answer.body)

    def differences(self, call: Call, shown: Mapping[str, object]) -> dict[str, object]:
        found = super().differences(call, shown)
        return {name: value for name, value in found.items() if call.properties.get(name) != ""}
