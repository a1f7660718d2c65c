"""Odd values of every property of every resource type: refused with a reason, or used, but never an internal error."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import Bug, StokerError, TemplateInvalid
from stoker.cloud.credentials import TokenCredential
from stoker.plugins.registry import Registry
from stoker_foundation.clock import ManualClock, SystemClock
from testing.harness import RARE_HEARTBEATS, World
from tests.resources.odd_values import STRINGS, Case, cases

MOST = int(os.environ.get("STOKER_ODD_VALUES", "12"))
"""How many of a type's odd values are tried; the same ones in each run. There are up to a thousand."""

TYPES = sorted(Registry.from_entry_points({}).types)
PARTS = 20
"""Worlds among which the types are divided."""

LONGEST_WAIT = 2000.0
"""Seconds of an operation; some values have it wait until its own end."""


class AcceleratedWorld(World):
    """A world in which waiting takes little time: the clock moves on while a request or an operation waits for it."""

    async def call(self, method: str, **arguments: Any) -> Any:
        """Run an operation of the engine; what it waits for, such as a retry of a request to the cloud, passes soon."""
        answer = asyncio.ensure_future(super().call(method, **arguments))
        while not answer.done():
            await asyncio.wait([answer], timeout=0.05)
            if not answer.done():
                await self.turn()
        return answer.result()

    async def create_and_delete(self, name: str, template: Mapping[str, Any], **arguments: Any) -> None:
        """Create and delete a stack, whatever comes of it; give each of them up when only long waits are left."""
        stack = await self.call("stack_create", name=name, template=template, **arguments)
        await self._ended(stack["id"])
        await self.call("stack_delete", ref={"name": name, "id": None})
        await self._ended(stack["id"])

    async def _ended(self, stack_id: str) -> None:
        ends = self.clock.now() + LONGEST_WAIT
        while self.engine.runs.get(stack_id) is not None and self.clock.now() < ends:
            await self.turn()

    def move(self, clock: ManualClock) -> None:
        clock.advance(2.0)


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[AcceleratedWorld]:
    """As the administrator, who may use all types."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.001)) as served:
        clock = ManualClock(SystemClock().now())
        settings = replace(RARE_HEARTBEATS, max_resources_per_stack=-1, action_retry_limit=0)
        found = AcceleratedWorld(tmp_path / "stoker.db", served, clock=clock, settings=settings)
        await found.start()
        token = served.token("admin", "demo")
        cloud = await found.pool.cloud(TokenCredential(token))
        found.context = replace(found.context, user_id=cloud.user_id or "", roles=tuple(cloud.role_names), token=token)
        yield found
        stopping = asyncio.ensure_future(found.stop())
        while not stopping.done():  # calls in progress may be waiting for the clock
            await found.turn()
        await stopping


Resources = Mapping[str, Mapping[str, Any]]


def template(resources: Resources) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


async def accepted(world: AcceleratedWorld, resources: Resources) -> Resources:
    """The resources that a validation accepts, each for itself."""
    if not resources:
        return {}
    try:
        await world.call("stack_preview", name="odd", template=template(resources))
    except Bug as bug:
        raise AssertionError(f"{bug.message}: {list(resources)}") from bug
    except TemplateInvalid as error:
        wrong = {item.path[1] for item in error.diagnostics if len(item.path) > 1}
        rest = {name: body for name, body in resources.items() if name not in wrong}
        return await accepted(world, rest) if len(rest) < len(resources) else {}
    except Exception as error:
        if len(resources) == 1:
            if isinstance(error, StokerError):
                return {}
            raise AssertionError(f"{resources}: {error!r}") from error
        items = list(resources.items())
        half = len(items) // 2
        return {**await accepted(world, dict(items[:half])), **await accepted(world, dict(items[half:]))}
    return resources


def stack_name(kind: str) -> str:
    """Return a name that no other type's stack has, which may be left."""
    return kind.replace("::", "-")


def named(kind: str, found: Sequence[Case]) -> dict[str, dict[str, Any]]:
    return {f"r{number}": {"type": kind, "properties": case.properties} for number, case in enumerate(found)}


def sample(kind: str, found: Sequence[Case]) -> Sequence[Case]:
    return random.Random(kind).sample(found, MOST) if len(found) > MOST else found


@pytest.mark.parametrize("part", range(PARTS))
async def test_odd_values(world: AcceleratedWorld, part: int, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    for kind in TYPES[part::PARTS]:
        resource_type = world.engine.services.types.registry.types.get(kind)
        assert resource_type is not None
        resources = named(kind, sample(kind, list(cases(resource_type))))
        fit = await accepted(world, resources)
        if fit:
            await world.create_and_delete(stack_name(kind), template(fit), timeout_mins=24 * 60)
        assert not caplog.records, kind


IDENTIFIERS = (*STRINGS, 0, -1, 1.5, True, [], {}, ["a"], {"a": "b"})


@pytest.mark.parametrize("shared", range(4))
async def test_odd_external_ids(world: AcceleratedWorld, shared: int, caplog: pytest.LogCaptureFixture) -> None:
    """Each type as an existing object with an odd ID; without the properties that it requires, as Heat permits.

    All attributes of those that are accepted are read.
    """
    caplog.set_level(logging.ERROR)
    for kind in TYPES[shared::4]:
        body = {f"r{number}": {"type": kind, "external_id": value} for number, value in enumerate(IDENTIFIERS)}
        fit = await accepted(world, body)
        if fit:
            resource_type = world.engine.services.types.registry.types.get(kind)
            assert resource_type is not None
            read = [[name, attribute] for name in list(fit)[:2] for attribute in ("show", *resource_type.attributes)]
            outputs = {f"o{number}": {"value": {"get_attr": path}} for number, path in enumerate(read)}
            await world.create_and_delete(stack_name(kind), {**template(fit), "outputs": outputs})
        assert not caplog.records, kind
