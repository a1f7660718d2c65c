"""What requests leave in memory when they have been answered, though the garbage collector does not run by itself."""

from __future__ import annotations

import gc
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.serving.garbage import MOST_BYTES
from stoker_foundation.clock import SystemClock
from testing.harness import ThreadedWorld, serve_rest

pytestmark = pytest.mark.slow

REQUESTS = 40


@pytest.fixture
def counting() -> Iterator[None]:
    """Reference cycles are freed only where that is asked for."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    yield
    tracemalloc.stop()
    gc.enable()


def _template(value: Any) -> dict[str, Any]:
    resource = {"type": "OS::Heat::Value", "properties": {"value": value}}
    return {"heat_template_version": "2021-04-16", "resources": {"a": resource}}


@pytest.mark.parametrize(
    ("path", "template", "most"),
    [
        ("/stacks/preview", _template(["x" * 300_000, "y" * 300_000]), 2_000_000),
        ("/validate", _template({"get_attr": ["missing", "x" * 300_000]}), MOST_BYTES + 2_000_000),
        ("/stacks", _template({"list_join": ["x" * 300_000, {"not": "a list"}]}), MOST_BYTES + 2_000_000),
    ],
    ids=["too large", "invalid", "malformed"],
)
def test_refused_requests_are_freed(
    tmp_path: Path, counting: None, path: str, template: dict[str, Any], most: int
) -> None:
    with ServedCloud(new_cloud(clock=SystemClock())) as served:
        world = ThreadedWorld(tmp_path, served)
        server = serve_rest(world, tmp_path)
        token = served.token("demo", "demo")
        details = served.call("GET", "/identity/v3/auth/tokens", token=token, headers={"X-Subject-Token": token}).json
        url = f"{server.url}/v1/{details['token']['project']['id']}{path}"
        body = json.dumps({"stack_name": "a", "template": template}).encode()
        try:
            with requests.Session() as session:
                session.headers.update({"X-Auth-Token": token, "Content-Type": "application/json"})
                for turn in range(REQUESTS + 3):
                    if turn == 3:
                        before = tracemalloc.get_traced_memory()[0]
                    assert session.post(url, data=body, timeout=60).status_code == 400
                grown = tracemalloc.get_traced_memory()[0] - before
        finally:
            server.stop()
            world.stop()
    assert grown < most, f"{grown} bytes after {REQUESTS} requests of {len(body)} bytes"
