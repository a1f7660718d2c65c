"""No secret of a stack, and no token that was used for it, stands in the database in clear."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest
from sqlalchemy import select

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.store import tables
from stoker.store.sealing import Sealer
from stoker_foundation.clock import SystemClock
from testing.harness import KEY, World

TEMPLATE = """
heat_template_version: 2021-04-16
parameters:
  password: {type: string, hidden: true}
resources:
  value: {type: OS::Heat::TestResource, properties: {value: {get_param: password}}}
  word: {type: OS::Heat::RandomString}
  told: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: TOKEN_SIGNAL}}
  named: {type: OS::Heat::WaitConditionHandle, properties: {signal_transport: HEAT_SIGNAL}}
  user: {type: AWS::IAM::User}
  key: {type: AWS::IAM::AccessKey, properties: {UserName: {get_resource: user}}}
  pair: {type: OS::Nova::KeyPair, properties: {name: pair, save_private_key: true}}
  group: {type: OS::Heat::ResourceGroup, properties: {count: 1, resource_def: {type: member.yaml}}}
outputs:
  private: {value: {get_attr: [pair, private_key]}}
  secret: {value: {get_attr: [key, SecretAccessKey]}}
  word: {value: {get_attr: [word, value]}}
"""
MEMBER = "heat_template_version: 2021-04-16\nresources: {told: {type: OS::Heat::WaitConditionHandle}}\n"
ORCHESTRATION = {"orchestration": "http://stoker/v1/%(tenant_id)s", "cloudformation": "http://stoker-cfn/v1"}
REF = {"name": "web", "id": None}


@pytest.fixture
def served(issued: list[str]) -> Iterator[ServedCloud]:
    """A cloud in whose catalog Stoker is."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02, extra_endpoints=ORCHESTRATION)) as served:
        yield served


@pytest.fixture
def issued(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every token that the emulated cloud gives out."""
    given: list[str] = []
    make = secrets.token_urlsafe

    def noted(size: int | None = None) -> str:
        given.append(make(size))
        return given[-1]

    monkeypatch.setattr(secrets, "token_urlsafe", noted)
    yield given


def remembered(world: World) -> list[str]:
    """What types remember of their resources and say is secret."""
    rows = world.database.read_now(lambda connection: connection.execute(select(tables.resources)).all())
    found = []
    for row in rows:
        kind = world.engine.services.types.registry.types.get(row.type)
        data = Sealer([KEY]).open(row.state).get("data", {}) if row.state else {}
        found += [str(data[key]) for key in (kind.redacted_data if kind else ()) if data.get(key)]
    return found


async def test_no_table_contains_secrets(issued: list[str], world: World) -> None:
    given = {"parameters": {"password": "s3cr3t-w0rd"}, "files": {"member.yaml": MEMBER}}
    stack = await world.create("web", TEMPLATE, **given)
    assert stack["status"] == "COMPLETE", stack["status_reason"]
    await world.call("snapshot_create", ref=REF, name="kept")
    await world.settle(stack["id"])
    stack = await world.update("web", TEMPLATE.replace("count: 1", "count: 2"), **given)
    outputs = world.outputs(stack)
    hidden = remembered(world)
    secrets = {"s3cr3t-w0rd", outputs["private"], outputs["secret"], outputs["word"], *hidden, *issued}
    assert len(hidden) > 8 and len(issued) > 2 and None not in secrets
    kept = [
        (f"{table.name}.{column.name}", str(value))
        for table in tables.metadata.sorted_tables
        for row in world.database.read_now(lambda connection, table=table: connection.execute(select(table)).all())
        for column, value in zip(table.columns, row, strict=True)
    ]
    assert ("stacks.name", "web") in kept
    assert {place for place, value in kept if any(secret in value for secret in secrets)} == set()
