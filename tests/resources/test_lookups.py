"""The search for the object of an interrupted creation uses filters that services have."""

from __future__ import annotations

from stoker.cloud.credentials import TokenCredential
from stoker.plugins.registry import Registry
from stoker.resources.base import RestResource
from testing.harness import World


async def test_no_type_searches_by_a_filter_that_its_service_refuses(world: World) -> None:
    """Each service that checks the parameters of a query accepts those that `RestResource.find` sends."""
    cloud = await world.pool.cloud(TokenCredential(world.served.token("admin", "admin")))
    asked = 0
    for name, kind in Registry.from_entry_points().types.items():
        if not isinstance(kind, RestResource) or type(kind).find is not RestResource.find:
            continue
        collection = kind.collection
        path = collection.list_path or collection.path
        if "{" in path:
            continue
        values = {collection.owner: cloud.project_id, kind.identity if collection.filters_names else None: "no-such"}
        if kind.identity == "address":
            values["address"] = "fa:16:3e:00:00:01"
        params = {field: value for field, value in values.items() if field is not None}
        answer = await cloud.request("GET", collection.service, path, params=params, ok=(400,))
        assert answer.status != 400, f"{name}: {answer.body}"
        asked += 1
    assert asked > 50
