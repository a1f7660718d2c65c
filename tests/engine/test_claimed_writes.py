"""A run whose operation another engine has taken over writes nothing, wherever the write comes from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update

from openstack_emulator.testing import ServedCloud
from stoker.engine.settings import EngineSettings
from stoker.store import claims, queries
from stoker.store.journal import Batch, ClaimedWriter
from stoker.store.records import SoftwareConfig, SoftwareDeployment
from stoker.store.tables import operations, software_configs, software_deployments, stacks
from testing.harness import World
from tests.store.rows import engine

SETTINGS = EngineSettings(lease_seconds=5000.0, stack_action_timeout=10_000_000)
TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "config": {"type": "OS::Heat::SoftwareConfig", "properties": {"config": "echo"}},
        "deployment": {
            "type": "OS::Heat::SoftwareDeployment",
            "properties": {
                "config": {"get_resource": "config"},
                "server": "somewhere",
                "signal_transport": "HEAT_SIGNAL",
            },
        },
    },
}
CHANGED: dict[str, Any] = {**TEMPLATE, "resources": {**TEMPLATE["resources"]}}  # type: ignore[dict-item]
CHANGED["resources"]["deployment"] = {
    **CHANGED["resources"]["deployment"],
    "properties": {**CHANGED["resources"]["deployment"]["properties"], "name": "other"},
}
REF = {"name": "web", "id": None}


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = World(tmp_path / "stoker.db", served, settings=SETTINGS)
    yield await world.start()
    await world.stop()


def lose_claim_before(world: World, monkeypatch: pytest.MonkeyPatch, selects: Callable[[Batch], bool]) -> list[str]:
    """Raise the epoch of all operations, as another engine does, just before the first such batch is written."""
    submit, lost = world.journal.submit, list[str]()

    def losing(batch: Batch, answer: Any) -> None:
        if not lost and selects(batch):
            lost.append(repr(batch.claim))
            with world.database.writing() as connection:
                claims.report(connection, replace(engine("another engine", world.clock.now()), lease=1e9))
                connection.execute(update(operations).values(epoch=operations.c.epoch + 1, owner="another engine"))
        submit(batch, answer)

    monkeypatch.setattr(world.journal, "submit", losing)
    return lost


def adds(kind: type[Any]) -> Callable[[Batch], bool]:
    return lambda batch: any(isinstance(row, kind) for row in batch.added)


def changes(kind: type[Any]) -> Callable[[Batch], bool]:
    return lambda batch: any(isinstance(row, kind) for row in batch.changed)


def calls(name: str) -> Callable[[Batch], bool]:
    return lambda batch: any(
        name in (getattr(step, "__qualname__", "") or getattr(getattr(step, "func", None), "__qualname__", ""))
        for step in batch.steps
    )


async def count(world: World, table: Any) -> int:
    return await world.database.read(
        lambda connection: connection.execute(select(func.count()).select_from(table)).scalar()
    )


@pytest.mark.parametrize(
    ("kind", "table"), [(SoftwareConfig, software_configs), (SoftwareDeployment, software_deployments)]
)
async def test_run_without_claim_creates_no_rows(
    world: World, monkeypatch: pytest.MonkeyPatch, kind: type[Any], table: Any
) -> None:
    before = await count(world, table)
    lost = lose_claim_before(world, monkeypatch, adds(kind))
    await world.call("stack_create", name="web", template=TEMPLATE)
    await world.until(lambda: bool(lost) and not world.engine.runs)
    assert lost != ["None"]
    assert await count(world, table) == before


async def test_run_without_claim_only_records_a_user_project_that_the_tree_lacks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = lose_claim_before(world, monkeypatch, calls("set_user_project"))
    made = await world.call("stack_create", name="web", template=TEMPLATE)
    query = select(stacks.c.user_project_id).where(stacks.c.id == made["id"])

    def recorded() -> str | None:
        found: str | None = world.database.read_now(lambda connection: connection.execute(query).scalar())
        return found

    await world.until(lambda: bool(lost) and not world.engine.runs and recorded() is not None)
    stack = await world.database.read(queries.stack_by_id, made["id"])
    assert stack is not None
    project = recorded()
    await world.engine.services.credentials.keep_user_project(stack, "another")
    assert recorded() == project


async def deployed(world: World) -> str:
    made = await world.call("stack_create", name="web", template=TEMPLATE)
    while not (found := await world.call("software_deployment_list")) or found[0]["status"] != "IN_PROGRESS":
        await world.turn()
    changes = {"status": "COMPLETE"}
    await world.call("software_deployment_update", deployment_id=found[0]["id"], values=changes)
    assert (await world.settle(made["id"]))["status"] == "COMPLETE"
    return str(found[0]["id"])


async def test_run_without_claim_changes_no_deployment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    identifier = await deployed(world)
    before = await world.call("software_deployment_show", deployment_id=identifier)
    lost = lose_claim_before(world, monkeypatch, changes(SoftwareDeployment))
    await world.call("stack_update", ref=REF, template=CHANGED)
    await world.until(lambda: bool(lost) and not world.engine.runs)
    assert await world.call("software_deployment_show", deployment_id=identifier) == before


async def test_run_without_claim_deletes_no_deployment(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await deployed(world)
    before = await count(world, software_deployments), await count(world, software_configs)
    lost = lose_claim_before(world, monkeypatch, calls("remove"))
    await world.call("stack_delete", ref=REF)
    await world.until(lambda: bool(lost) and not world.engine.runs)
    assert (await count(world, software_deployments), await count(world, software_configs)) == before


async def test_run_writer_adds_claim_to_every_batch(world: World) -> None:
    """Runs see no journal: that their host has none is a matter of types; this is what they have instead."""
    await world.call("stack_create", name="web", template=TEMPLATE)
    [run] = world.engine.runs.values()
    assert isinstance(run.writer, ClaimedWriter)
    batch = Batch()
    await run.writer.commit(batch)
    assert batch.claim == run.assignment.claim
