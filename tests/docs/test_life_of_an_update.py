"""The page on the life of an update names the files that an update really passes through, in order, and at most 20."""

from __future__ import annotations

import asyncio
import importlib
import re
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from falcon import testing

import stoker
from openstack_emulator.services import new_cloud
from openstack_emulator.testing import ServedCloud
from stoker.api.app import make_app
from stoker.base.config import load_config
from stoker.operations import OPERATIONS
from stoker.rpc.direct import DirectClient
from stoker.rpc.dispatch import Dispatcher
from testing.harness import World

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "life-of-an-update.md"
SOURCE = Path(stoker.__file__).parent
MOST_FILES = 20
ROW = re.compile(r"^\| `(?P<file>[\w/]+\.py)` \| `(?P<name>[\w.]+)` \| .+ \|$", re.MULTILINE)


def rows() -> list[tuple[str, str]]:
    return [(row["file"], row["name"]) for row in ROW.finditer(PAGE.read_text(encoding="utf-8"))]


def named(file: str, name: str) -> Any:
    """What a row names. Raises ImportError or AttributeError."""
    found: Any = importlib.import_module(
        ".".join(["stoker", *Path(file).with_suffix("").parts]).removesuffix(".__init__")
    )
    for part in name.split("."):
        found = getattr(found, part)
    return found


def test_the_page_names_at_most_twenty_files_that_exist() -> None:
    files = [file for file, _ in rows()]
    assert 10 < len(files) == len(set(files)) <= MOST_FILES
    assert f"These are {len(files)} files" in PAGE.read_text(encoding="utf-8")
    for mentioned in re.findall(r"`([\w/]+\.py)`", PAGE.read_text(encoding="utf-8")):
        assert (SOURCE / mentioned).is_file(), mentioned


class Recorder:
    """Records which functions are called, on all threads that start meanwhile."""

    def __init__(self) -> None:
        self.called: list[CodeType] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            self.called.append(frame.f_code)

    def __enter__(self) -> Recorder:
        threading.setprofile(self)
        sys.setprofile(self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)


def template(name: str) -> dict[str, Any]:
    net = {"type": "OS::Neutron::Net", "properties": {"name": name}}
    return {"heat_template_version": "2021-04-16", "resources": {"net": net}}


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    world = await World(tmp_path / "stoker.db", served).start()
    yield world
    await world.stop()


async def test_an_update_passes_through_the_files_in_this_order(world: World, served: ServedCloud) -> None:
    made, context = await world.create("web", template("one")), world.context

    def check(application: Any) -> Any:
        def checked(environ: dict[str, Any], start_response: Any) -> Any:
            environ["HTTP_X_IDENTITY_STATUS"] = "Confirmed"
            environ["HTTP_X_USER_ID"], environ["HTTP_X_USER_NAME"] = context.user_id, "demo"
            environ["HTTP_X_PROJECT_ID"], environ["HTTP_X_PROJECT_NAME"] = context.project_id, "demo"
            environ["HTTP_X_ROLES"] = ",".join(context.roles)
            return application(environ, start_response)

        return checked

    client = DirectClient(asyncio.get_running_loop(), Dispatcher(world.engine, OPERATIONS))
    api = testing.TestClient(make_app(load_config([], []), client, check))
    answers: list[Any] = []

    def put() -> None:
        path, headers = f"/v1/{context.project_id}/stacks/web/{made['id']}", {"X-Auth-Token": context.token}
        answers.append(api.simulate_put(path, headers=headers, json={"template": template("two")}))

    with Recorder() as recorder:
        thread = threading.Thread(target=put)
        thread.start()
        while thread.is_alive():
            await world.turn()
        updated = await world.settle(made["id"])
    assert answers[0].status_code == 202
    assert (updated["action"], updated["status"]) == ("UPDATE", "COMPLETE")
    nets = served.call("GET", "/network/v2.0/networks?name=two", token=served.token("demo", "demo")).json["networks"]
    assert len(nets) == 1
    calls = iter(recorder.called)
    for file, name in rows():
        code = getattr(named(file, name), "__code__", None)  # without code it is a declaration
        assert code is None or code in calls, f"{file}: {name} is not called after what precedes it in the table"
