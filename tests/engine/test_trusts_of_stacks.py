"""What stacks live on when the owner's token is gone: shared, given up with the last stack, renewed when it is lost."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from sqlalchemy import Connection, delete

from openstack_emulator.core.faults import Fault
from stoker.base.errors import CloudError
from stoker.cloud.auth import CloudPool
from stoker.store import queries, tables, trusts
from stoker.store.journal import Batch
from testing.harness import World

EMPTY = "heat_template_version: 2021-04-16\nresources: {}\n"
NETWORK = "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n"
TRUSTS = "/identity/v3/OS-TRUST/trusts"


def in_cloud(world: World) -> list[str]:
    """Ids of the trusts that the owner has made."""
    mine = f"{TRUSTS}?trustor_user_id={world.context.user_id}"
    return [trust["id"] for trust in world.served.call("GET", mine, token=world.context.token).json["trusts"]]


def revoke(world: World) -> None:
    """Remove the owner's trusts behind Stoker's back."""
    for identifier in in_cloud(world):
        assert world.served.call("DELETE", f"{TRUSTS}/{identifier}", token=world.context.token).status == 204


async def until_none_is_left(world: World) -> None:
    """Wait until the owner's trusts are gone, from the cloud and from the record."""
    await world.until(lambda: not in_cloud(world) and not world.database.read_now(trusts.given_up))


async def test_stacks_of_one_owner_share_a_trust_that_goes_with_the_last_of_them(world: World) -> None:
    for name in ("one", "two"):
        await world.create(name, EMPTY)
    assert len(in_cloud(world)) == 1
    await world.delete("one")
    await world.engine.services.credentials.remove_given_up()
    assert len(in_cloud(world)) == 1
    await world.delete("two")
    await until_none_is_left(world)


@pytest.mark.parametrize(
    ("configured", "delegated"), [((), {"heat_stack_owner", "member", "reader"}), (("member",), {"member"})]
)
async def test_roles_that_a_trust_delegates(world: World, configured: tuple[str, ...], delegated: set[str]) -> None:
    world.pool.settings = replace(world.pool.settings, trusts_delegated_roles=configured)
    await world.create("web", EMPTY)
    (trust,) = in_cloud(world)
    shown = world.served.call("GET", f"{TRUSTS}/{trust}", token=world.context.token).json["trust"]
    assert {role["name"] for role in shown["roles"]} == delegated


@pytest.mark.parametrize("status", [503, 403])
async def test_a_trust_that_could_not_be_removed_is_removed_later(world: World, status: int) -> None:
    await world.create("web", EMPTY)
    away = Fault(on=f"DELETE {TRUSTS}/*", do="fail", status=status)
    world.in_cloud(partial(world.served.cloud.faults.add, away))
    assert (await world.delete("web"))["status"] == "COMPLETE"
    await world.until(lambda: world.in_cloud(lambda: away.hits) > 0)
    assert len(in_cloud(world)) == 1
    world.in_cloud(partial(world.served.cloud.faults.remove, away.id))
    await until_none_is_left(world)  # at a heartbeat


async def test_concurrent_new_stack_gets_a_valid_trust(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new stack has chosen the trust of the old one, and is about to be recorded when that one has gone."""
    await world.create("old", EMPTY)
    submit_new = world.engine.submissions.submit_new

    async def late(*arguments: Any, **more: Any) -> None:
        monkeypatch.undo()
        await world.delete("old")
        await until_none_is_left(world)
        await submit_new(*arguments, **more)

    monkeypatch.setattr(world.engine.submissions, "submit_new", late)
    assert (await world.create("new", NETWORK))["status"] == "COMPLETE"
    assert len(in_cloud(world)) == 1


async def test_trust_under_deletion_is_not_shared(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, while the trust's row still says that it is to be removed."""
    await world.create("old", EMPTY)
    submit_new, delete_trust = world.engine.submissions.submit_new, CloudPool.delete_trust
    go_on = asyncio.Event()

    async def slow(*arguments: Any) -> None:
        await go_on.wait()
        await delete_trust(*arguments)

    async def late(*arguments: Any, **more: Any) -> None:
        monkeypatch.setattr(world.engine.submissions, "submit_new", submit_new)
        await world.delete("old")
        await submit_new(*arguments, **more)

    monkeypatch.setattr(CloudPool, "delete_trust", slow)
    monkeypatch.setattr(world.engine.submissions, "submit_new", late)
    assert (await world.create("new", NETWORK))["status"] == "COMPLETE"
    assert len(in_cloud(world)) == 2
    go_on.set()
    await world.until(lambda: len(in_cloud(world)) == 1)
    assert (await world.delete("new"))["status"] == "COMPLETE"


@pytest.mark.parametrize("request_", ["update", "delete", "check"])
async def test_missing_trust_is_recreated_by_next_caller(world: World, request_: str) -> None:
    member = "heat_template_version: 2021-04-16\nresources: {net: {type: OS::Neutron::Net}}\n"
    template = "heat_template_version: 2021-04-16\nresources: {member: {type: member.yaml}}\n"
    made = await world.create("web", template, files={"member.yaml": member})
    revoke(world)
    with pytest.raises(CloudError):  # the credential of the engine is invalid now
        await (await world.engine.services.credentials.cloud_of(await stack(world, made["id"]))).get(
            "neutron", "/v2.0/networks"
        )
    if request_ == "update":
        changed = {"member.yaml": member.replace("}\n", ", other: {type: OS::Neutron::Net}}\n")}
        shown = await world.update("web", template, files=changed)
    elif request_ == "delete":
        shown = await world.delete("web")
    else:
        await world.call("stack_action", ref={"name": "web", "id": None}, action="check")
        shown = await world.settle(made["id"])
    assert (shown["action"], shown["status"]) == (request_.upper(), "COMPLETE")
    if request_ != "delete":
        assert len(in_cloud(world)) == 1
        recorded = await stack(world, made["id"])
        children = await world.database.read(queries.child_stacks, [recorded.id])
        assert {child.credential for child in children} == {recorded.credential}
        assert (await world.delete("web"))["status"] == "COMPLETE"
    await until_none_is_left(world)


async def test_unreadable_output_reports_missing_trust(world: World) -> None:
    made = await world.create(
        "web",
        "heat_template_version: 2021-04-16\n"
        "resources: {address: {type: OS::Neutron::FloatingIP, properties: {floating_network: public}}}\n"
        "outputs: {port: {value: {get_attr: [address, port_id]}}, id: {value: {get_resource: address}}}\n",
    )

    async def outputs() -> dict[str, Any]:
        shown = (await world.call("stack_show", ref={"name": "web", "id": None}))["outputs"]
        return {one["output_key"]: one.get("output_error") or one["output_value"] for one in shown}

    sound = await outputs()
    assert sound["port"] is None, "not associated"
    revoke(world)
    lost = await outputs()
    assert lost["id"] == sound["id"]
    assert "The attribute port_id of address cannot be read: Keystone does not honor the trust" in lost["port"]
    assert "Check or update the stack as its owner" in lost["port"]
    await world.call("stack_action", ref={"name": "web", "id": None}, action="check")
    await world.settle(made["id"])
    assert await outputs() == sound
    world.in_cloud(partial(world.served.cloud.faults.add, Fault(on="GET /network/*", do="fail", status=503)))
    assert "The attribute port_id of address cannot be read: neutron: " in (await outputs())["port"]


async def stack(world: World, identifier: str) -> Any:
    return await world.database.read(queries.stack_by_id, identifier)


async def test_an_unused_trust_is_reused_by_the_next_stack(world: World) -> None:
    """A process that dies between the trust and the stack leaves a row by which it is found."""
    await world.engine.services.credentials._keep(world.context)
    [made] = in_cloud(world)
    await world.create("web", EMPTY)
    assert in_cloud(world) == [made]


async def test_given_credential_is_not_deleted(world: World) -> None:
    """A trust that was not made here stays when the last stack that lived on it is gone."""
    await world.create("web", EMPTY)
    [theirs] = in_cloud(world)
    world.context = replace(world.context, trust_id=theirs)
    await world.create("other", NETWORK)
    await world.journal.commit(Batch().then(forget_trusts))
    for name in ("web", "other"):
        assert (await world.delete(name))["status"] == "COMPLETE"
        await world.engine.services.credentials.remove_given_up()
    assert in_cloud(world) == [theirs]


def forget_trusts(connection: Connection) -> None:
    """Have Stoker forget that it has made the trust itself."""
    connection.execute(delete(tables.trusts))
