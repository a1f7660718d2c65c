"""Objects that a service returns to several creations: each belongs to one resource only."""

from __future__ import annotations

from typing import Any

from testing.harness import World

REF = {"name": "web", "id": None}


def template(*names: str) -> dict[str, Any]:
    properties = {"queue_name": "orders", "subscriber": "http://127.0.0.1:1/x"}
    resources = {name: {"type": "OS::Zaqar::Subscription", "properties": properties} for name in names}
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def test_two_resources_do_not_share_a_subscription(world: World) -> None:
    token = world.served.token("demo", "demo")
    headers = {"Client-ID": "5f0a9d3e-6d0b-5c8c-9a53-0f6d1b7c2e41"}

    def subscriptions() -> list[Any]:
        found = world.served.call("GET", "/messaging/v2/queues/orders/subscriptions", token=token, headers=headers)
        return [one["id"] for one in found.json["subscriptions"]]

    world.served.call("PUT", "/messaging/v2/queues/orders", {}, token, headers)
    stack = await world.create("web", template("one", "two"))
    assert stack["status"] == "FAILED"
    assert "already has a subscription to the queue orders" in stack["status_reason"]
    found = {name: one["physical_id"] for name, one in (await world.resources("web")).items() if one["physical_id"]}
    [(kept, physical_id)] = found.items()
    assert subscriptions() == [physical_id]
    stack = await world.update("web", template(kept))
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    assert subscriptions() == [physical_id]
    assert (await world.delete("web"))["status"] == "COMPLETE"
    assert subscriptions() == []
