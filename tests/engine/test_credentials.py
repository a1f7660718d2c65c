"""The trusts by which stacks outlive their owner's token."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from openstack_emulator.identity.rules.composition import Identity
from stoker.base.errors import Forbidden, MissingCredentialError, TemplateInvalid
from stoker.store import queries
from testing.harness import World

TEMPLATE = {"heat_template_version": "2021-04-16", "resources": {"a": {"type": "OS::Heat::TestResource"}}}


async def trust_of(world: World, stack_id: str) -> str:
    stack = await world.engine.services.database.read(queries.stack_by_id, stack_id)
    assert stack is not None and stack.credential is not None
    return str(orjson.loads(stack.credential)["id"])


def trusts(world: World) -> int:
    return len(world.in_cloud(lambda: list(world.served.cloud.of(Identity).delegations.trusts.rows)))


async def test_trust_to_another_user_is_refused(world: World) -> None:
    world.context = replace(world.context, trust_id="0" * 32)
    with pytest.raises(MissingCredentialError, match="use a token of the owner"):
        await world.call("stack_create", name="foreign", template=TEMPLATE)
    assert await world.call("stack_list") == [] or "foreign" not in str(await world.call("stack_list"))


@pytest.mark.parametrize("unrestricted", [False, True])
async def test_an_application_credential_is_refused_with_the_reason(world: World, unrestricted: bool) -> None:
    token = world.served.token("demo", "demo")
    user = world.context.user_id
    path = f"/identity/v3/users/{user}/application_credentials"
    body = {"application_credential": {"name": "limited", "unrestricted": unrestricted}}
    made = world.served.call("POST", path, body, token).json
    method = {key: made["application_credential"][key] for key in ("id", "secret")}
    login = {"auth": {"identity": {"methods": ["application_credential"], "application_credential": method}}}
    issued = world.served.call("POST", "/identity/v3/auth/tokens", login).headers["x-subject-token"]
    world.context = replace(world.context, token=issued)
    with pytest.raises(Forbidden, match="from an application credential; use a password"):
        await world.call("stack_create", name="limited", template=TEMPLATE)


async def test_group_cannot_have_external_id(world: World) -> None:
    definition = {"type": "OS::Heat::TestResource"}
    group = {"type": "OS::Heat::ResourceGroup", "external_id": "x", "properties": {"resource_def": definition}}
    template = {"heat_template_version": "2021-04-16", "resources": {"group": group}}
    with pytest.raises(TemplateInvalid, match="is a nested stack and cannot"):
        await world.call("stack_create", name="external", template=template)


async def test_trust_is_deleted_with_its_last_stack(world: World) -> None:
    for name in ("one", "two"):
        await world.create(name, TEMPLATE)
    assert trusts(world) == 1
    await world.delete("one")
    assert trusts(world) == 1
    await world.delete("two")
    await world.until(lambda: trusts(world) == 0)


async def test_stack_does_not_delete_trust_of_another_stack(world: World) -> None:
    outer = await world.create("outer", TEMPLATE)
    owner = world.context
    world.context = replace(owner, trust_id=await trust_of(world, outer["id"]))
    await world.create("inner", TEMPLATE)
    await world.delete("inner")
    world.context = owner
    assert (await world.update("outer", TEMPLATE))["status"] == "COMPLETE"
    assert trusts(world) == 1


@pytest.mark.parametrize("kind", ["OS::Heat::WaitConditionHandle", "AWS::IAM::User", "OS::Heat::ScalingPolicy"])
async def test_stack_is_deleted_without_stack_domain(world: World, kind: str) -> None:
    """Its creation fails before anything exists in Keystone, and says what to configure."""
    world.pool.settings = replace(world.pool.settings, stack_domain_admin=None)
    group = {"auto_scaling_group_id": "none", "adjustment_type": "change_in_capacity", "scaling_adjustment": 1}
    properties = group if kind == "OS::Heat::ScalingPolicy" else {}
    template = {"heat_template_version": "2021-04-16", "resources": {"user": {"type": kind, "properties": properties}}}
    stack = await world.create("undomained", template)
    assert (stack["action"], stack["status"]) == ("CREATE", "FAILED")
    assert "No stack domain is configured" in stack["status_reason"]
    stack = await world.delete("undomained")
    assert (stack["action"], stack["status"]) == ("DELETE", "COMPLETE"), stack["status_reason"]
