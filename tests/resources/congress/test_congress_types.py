"""Policies and rules as resources, on the emulated policy service."""

from __future__ import annotations

from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType
from stoker.resources.congress.policy import Policy
from stoker.resources.congress.policy_rule import PolicyRule
from tests.resources.crash_support import run_crashing
from tests.resources.resource_harness import ActionFailed, BadProperties, Bench

DOWN = 'down(id) :- neutronv2:networks(id=id,  status="DOWN")'


@pytest.fixture
def made(admin: Cloud, clock: Any, served: ServedCloud) -> Any:
    return lambda kind: Bench(kind, admin, clock, served.advance)


async def rules_of(cloud: Cloud, policy: Any) -> list[Any]:
    return await cloud.list("congress", f"/policies/{policy}/rules", "results")


async def test_policy_lifecycle(made: Any, admin: Cloud, bench: Any) -> None:
    policies: Bench = made(Policy)
    named = await policies.create({"name": "nets", "description": "d", "kind": "database"})
    found = await policies.attributes(named, [("kind",), ("abbreviation",), ("description",)])
    assert list(found.values()) == ["database", "nets", "d"]
    unnamed = await policies.create({})
    name = await policies.attribute(unnamed, "name")
    assert name.startswith("web_thing_")
    for method in ("check", "adopt"):
        await policies.run(method, unnamed)
    with pytest.raises(CloudError, match="already exists") as refused:
        await policies.create({"name": "nets"})
    assert refused.value.conflict
    with pytest.raises(CloudError, match="admin"):
        await bench(Policy).create({"name": "other"})
    await policies.delete(named)
    await policies.delete(named)
    with pytest.raises(ActionFailed, match="does not exist"):
        await policies.run("check", named)
    again = policies.resource()
    again.properties = await policies.finalized({})
    await run_crashing(policies, "create", again)
    assert len(await admin.list("congress", "/policies", "results")) == 4


async def test_rule_lifecycle(made: Any, admin: Cloud) -> None:
    policy = await made(Policy).create({"name": "nets"})
    rules: Bench = made(PolicyRule)
    down = await rules.create({"policy": "nets", "rule": DOWN, "comment": "c"})
    assert down.properties["policy"] == policy.physical_id
    assert await rules.attribute(down, "rule") == 'down(id) :- neutronv2:networks(id=id, status="DOWN")'
    assert await admin.get("congress", "/policies/nets/tables/down/rows") == {"results": []}
    for method in ("check", "adopt"):
        await rules.run(method, down)
    with pytest.raises(CloudError, match="Rule already exists") as refused:
        await rules.create({"policy": "nets", "rule": DOWN})
    assert refused.value.conflict
    with pytest.raises(CloudError, match="Syntax error"):
        await rules.create({"policy": "nets", "rule": "p("})
    await rules.delete(down)
    await rules.delete(down)
    again = rules.resource()
    again.properties = await rules.finalized({"policy": "nets", "rule": DOWN})
    await run_crashing(rules, "create", again)
    assert [one["id"] for one in await rules_of(admin, "nets")] == [again.physical_id]


async def test_an_equal_rule_is_deleted_before_its_replacement_is_created(made: Any, admin: Cloud) -> None:
    await made(Policy).create({"name": "nets"})
    rules: Bench = made(PolicyRule)
    old = await rules.create({"policy": "nets", "rule": DOWN})
    new = await rules.replaced(old, {"policy": "nets", "rule": DOWN.replace(" ", ""), "comment": "c"})
    [live] = await rules_of(admin, "nets")
    assert (live["id"], live["comment"]) == (new.physical_id, "c")
    assert not rules.excludes(new.properties, await rules.finalized({"policy": "nets", "rule": "p(1)"}))


@pytest.mark.parametrize(
    ("kind", "properties", "message"),
    [
        (Policy, {"name": "a-b"}, "does not match"),
        (Policy, {"kind": "other"}, "other"),
        (Policy, {"abbreviation": "longer"}, "length"),
        (PolicyRule, {"policy": "nets", "rule": ""}, "length"),
    ],
)
async def test_invalid_properties_are_refused_before_any_request(
    made: Any, kind: type[ResourceType], properties: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadProperties, match=message):
        await made(kind).finalized(properties)
