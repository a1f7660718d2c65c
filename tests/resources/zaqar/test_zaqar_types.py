"""Queues, subscriptions and signed URLs as resources, on the emulated messaging service."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import pytest

from stoker.base.errors import CloudError
from stoker.cloud import messaging
from stoker.cloud.session import Cloud
from stoker.resources.zaqar.queue import Queue
from stoker.resources.zaqar.signed_url import SignedQueueURL
from stoker.resources.zaqar.subscription import MistralTrigger, Subscription
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, Bench


async def metadata(cloud: Cloud, name: str) -> dict[str, Any]:
    shown = (await messaging.request(cloud, "GET", f"/queues/{name}")).body
    return {key: value for key, value in shown.items() if not key.startswith("_")}


async def subscriptions(cloud: Cloud, queue: str = "orders") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await messaging.request(cloud, "GET", f"/queues/{queue}/subscriptions")).body[
        "subscriptions"
    ]
    return found


async def test_a_queue_without_metadata_needs_no_request(bench: Any, cloud: Cloud, calls: list[str]) -> None:
    queues: Bench = bench(Queue)
    queue = await queues.create({"name": "orders"})
    assert calls == []
    assert queues.reference(queue) == "orders"
    assert await queues.attribute(queue, "href") == f"{cloud.endpoint('zaqar')}/queues/orders"
    assert await queues.attribute(queue, "queue_id") == "orders"
    assert "show" not in queue.data


async def test_metadata_is_exactly_that_of_the_template(bench: Any, cloud: Cloud) -> None:
    queues: Bench = bench(Queue)
    queue = await queues.create({"name": "orders", "metadata": {"colour": "blue", "size": 1}})
    assert await metadata(cloud, "orders") == {"colour": "blue", "size": 1}
    await queues.update(queue, {"name": "orders", "metadata": {"colour": "red", "taste": "sweet"}})
    assert await metadata(cloud, "orders") == {"colour": "red", "taste": "sweet"}
    await queues.update(queue, {"name": "orders"})
    assert await metadata(cloud, "orders") == {"colour": "red", "taste": "sweet"}
    assert (await queues.attribute(queue, "show", "metadata"))["colour"] == "red"
    await queues.delete(queue)
    assert await metadata(cloud, "orders") == {}
    await queues.delete(queue)


async def test_a_subscription(bench: Any, cloud: Cloud) -> None:
    kind: Bench = bench(Subscription)
    made = await kind.create({"queue_name": "orders", "subscriber": "http://127.0.0.1:1/x", "ttl": 600})
    (shown,) = await subscriptions(cloud)
    assert (shown["id"], shown["subscriber"], shown["ttl"]) == (kind.reference(made), "http://127.0.0.1:1/x", 600)
    await kind.update(made, {"queue_name": "orders", "subscriber": "mailto:a@b", "options": {"subject": "x"}})
    (shown,) = await subscriptions(cloud)
    assert (shown["subscriber"], shown["options"], shown["ttl"]) == ("mailto:a@b", {"subject": "x"}, 220367260800)
    assert await kind.attribute(made, "show", "queue_name") == "orders"
    await kind.delete(made)
    assert await subscriptions(cloud) == []
    await kind.delete(made)


async def test_a_subscription_is_created_once_despite_crashes(bench: Any, cloud: Cloud) -> None:
    kind: Bench = bench(Subscription)
    properties = await kind.finalized({"queue_name": "orders", "subscriber": "http://127.0.0.1:1/x"})
    resource = kind.resource()
    resource.properties = properties
    await run_crashing(kind, "create", resource)
    (shown,) = await subscriptions(cloud)
    assert shown["id"] == resource.physical_id


@pytest.mark.parametrize("confirmed", [True, False])
async def test_a_subscriber_has_one_subscription(bench: Any, cloud: Cloud, confirmed: bool) -> None:
    body = {"queue_name": "orders", "subscriber": "http://127.0.0.1:1/x"}
    kind: Bench = bench(Subscription)
    first = await kind.create(body)
    path = f"/queues/orders/subscriptions/{first.physical_id}"
    await messaging.request(cloud, "PUT", f"{path}/confirm", json={"confirmed": confirmed})
    with pytest.raises(ActionFailed, match="already has a subscription to the queue orders") as failed:
        await kind.create(body, "other")
    assert failed.value.failed.kind == "Conflict"
    other = await kind.create({**body, "subscriber": "http://127.0.0.1:1/y"}, "other")
    with pytest.raises(CloudError) as refused:
        await kind.update(other, body)
    assert refused.value.lasting
    await kind.delete(other)
    assert [one["id"] for one in await subscriptions(cloud)] == [first.physical_id]


async def test_a_subscription_is_replaced_by_one_with_the_same_subscriber(bench: Any, cloud: Cloud) -> None:
    body = {"queue_name": "orders", "subscriber": "http://127.0.0.1:1/x"}
    kind: Bench = bench(Subscription)
    old = await kind.create(body)
    new = await kind.replaced(old, body)
    assert [one["id"] for one in await subscriptions(cloud)] == [new.physical_id] != [old.physical_id]
    await kind.replaced(new, {**body, "queue_name": "others"})
    assert await subscriptions(cloud) == []


async def test_a_subscription_is_found_among_several_pages(bench: Any, cloud: Cloud) -> None:
    for number in range(25):
        body = {"subscriber": f"http://listener.example.com/{number}", "ttl": 600}
        await messaging.request(cloud, "POST", "/queues/orders/subscriptions", json=body)
    kind: Bench = bench(Subscription)
    found = await kind.crash_after_create({"queue_name": "orders", "subscriber": "http://listener.example.com/last"})
    shown = await messaging.request(cloud, "GET", f"/queues/orders/subscriptions/{found.physical_id}")
    assert shown.body["subscriber"] == "http://listener.example.com/last"


@pytest.mark.parametrize(("subscriber", "problems"), [("gopher://x", 1), ("trust+https://x", 0)])
def test_subscribers_are_checked(subscriber: str, problems: int) -> None:
    assert len(list(Subscription().validate({"subscriber": subscriber}))) == problems


async def test_a_signed_url(bench: Any, cloud: Cloud) -> None:
    kind: Bench = bench(SignedQueueURL)
    url = await kind.create({"queue": "orders", "paths": ["messages", "subscriptions"], "methods": ["GET"], "ttl": 600})
    query = parse_qs(await kind.attribute(url, "query_str"))
    assert query["paths"] == ["/v2/queues/orders/messages,/v2/queues/orders/subscriptions"]
    assert query["queue_name"] == ["orders"]
    assert query["project_id"] == [cloud.project_id]
    assert query["signature"] == [await kind.attribute(url, "signature")]
    assert await kind.attribute(url, "methods") == ["GET"]
    assert await kind.attribute(kind.resource(), "query_str") is None


def test_input_of_workflow_executions(bench: Any) -> None:
    class There:
        def endpoint(self, service: str) -> str:
            return f"http://cloud/{service}/v2"

    properties = {"workflow_id": "w", "params": {"env": {"a": 1}}, "input": {"b": 2}, "ttl": 600}
    body = MistralTrigger().request_body(SimpleNamespace(cloud=There(), properties=properties))  # type: ignore[arg-type]
    assert body["subscriber"] == "trust+http://cloud/mistral/v2/executions"
    assert json.loads(body["options"]["post_data"]) == {
        "workflow_id": "w",
        "params": {"env": {"a": 1, "notification": "$zaqar_message$"}},
        "input": {"b": 2},
    }
