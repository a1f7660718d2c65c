"""Requests to the REST API of an engine beside an emulated cloud, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import requests

from openstack_emulator.testing import ServedCloud
from testing.harness import ThreadedWorld, serve_rest


@contextmanager
def requests_of_demo(tmp_path: Path, served: ServedCloud) -> Iterator[Any]:
    """A function that sends a request below the project, as the user demo; its attribute `settle` waits for a stack."""
    world = ThreadedWorld(tmp_path, served)
    server = serve_rest(world, tmp_path)
    token, project = served.token("demo", "demo"), world.world.context.project_id

    def send(method: str, path: str, body: Any = None) -> requests.Response:
        url = f"http://127.0.0.1:{server.port}/v1/{project}{path}"
        return requests.request(method, url, json=body, headers={"X-Auth-Token": token}, timeout=60)

    send.settle = world.settle  # type: ignore[attr-defined]
    yield send
    server.stop()
    world.stop()
