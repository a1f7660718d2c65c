"""A disk that is full while an operation runs: the operation pauses, and ends well once there is space again."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from stoker.store import journal
from testing.harness import World
from tests.limited_disk import LimitedDisk

TEMPLATE = {
    "heat_template_version": "2021-04-16",
    "resources": {
        "below": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 3, "resource_def": {"type": "OS::Heat::RandomString"}},
        }
    }
    | {
        f"value{number}": {"type": "OS::Heat::Value", "properties": {"value": f"{number}" * 3000}}
        for number in range(30)
    },
}


async def test_an_operation_waits_for_space(world: World, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    monkeypatch.setattr(journal, "RETRY_SECONDS", 0.01)
    disk = LimitedDisk(world.database.engine)
    created = await world.call("stack_create", name="web", template=TEMPLATE)
    disk.full = True
    await world.until(lambda: "The database cannot be written" in caplog.text)
    with pytest.raises(OperationalError, match="full"):
        await world.call("stack_create", name="other", template=TEMPLATE)
    shown = await world.call("stack_show", ref={"name": "web", "id": None})
    assert (shown["action"], shown["status"]) == ("CREATE", "IN_PROGRESS")
    disk.full = False
    shown = await world.settle(created["id"])
    assert (shown["action"], shown["status"]) == ("CREATE", "COMPLETE"), shown["status_reason"]
    assert len(await world.resources("web")) == 31
