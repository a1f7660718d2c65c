"""The page on the life of an update: 20 files to read, and all files that a recorded update enters, in order.

STOKER_REWRITE_EXAMPLES=1 writes the list of all files again. It cannot be longer than `MOST_ENTERED`.
"""

from __future__ import annotations

import asyncio
import importlib
import itertools
import os
import re
import sys
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextvars import ContextVar
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
from stoker.engine.settings import EngineSettings
from stoker.operations import OPERATIONS
from stoker.rpc.dispatch import DirectClient, Dispatcher
from testing.harness import World

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "life-of-an-update.md"
SOURCE = Path(stoker.__file__).parent
MOST_ROWS = 20
MOST_ENTERED = 102
"""How many files an update may enter, all packages counted. A commit that raises it gives the reason."""
LIBRARIES = ("template/", "base/", "store/")
MOST_BESIDE_LIBRARIES = 60
"""How many of them may be outside of the packages whose functions say what they result in. Likewise."""
ROW = re.compile(r"^\| `(?P<file>[\w/]+\.py)` \| `(?P<name>[\w.]+)` \| .+ \|$", re.MULTILINE)
LIST = re.compile(r"(?<=<!-- entered -->\n```text\n).*?(?=```\n)", re.DOTALL)
_MOMENT_SECONDS = 0.002
_MOMENTS_BEFORE_A_TURN = 500


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
    assert 10 < len(files) == len(set(files)) <= MOST_ROWS
    assert f"These are {len(files)} files" in PAGE.read_text(encoding="utf-8")
    for mentioned in re.findall(r"`([\w/]+\.py)`", PAGE.read_text(encoding="utf-8")):
        assert (SOURCE / mentioned).is_file(), mentioned


class Recorder:
    """Records the functions of Stoker that are called for one request, from `begin` to `end`, by any thread.

    That is what runs in the request's context, and what the journal's thread does, which commits for all requests.
    Threads are recorded that started after `install`.
    """

    def __init__(self) -> None:
        self.called: list[CodeType] = []
        self.committing: list[CodeType] = []  # the functions that the journal's thread calls meanwhile
        self._prefix = f"{SOURCE}{os.sep}"
        self._recording = False
        self._own: ContextVar[bool] = ContextVar("own", default=False)

    def install(self) -> None:
        threading.setprofile(self)

    def remove(self) -> None:
        threading.setprofile(None)

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if not (self._recording and event == "call" and code.co_filename.startswith(self._prefix)):
            return
        if self._own.get():
            self.called.append(code)
        elif threading.current_thread().name == "store-journal":
            self.committing.append(code)

    def claim(self) -> None:
        """Have what runs in the caller's context recorded, and what that starts."""
        self._own.set(True)

    def begin(self) -> None:
        self._recording = True
        sys.setprofile(self)

    def end(self) -> None:
        self._recording = False
        sys.setprofile(None)

    def files(self) -> list[str]:
        """The files of the recorded functions, in the order in which they were entered first.

        Those of `store`, and what only the journal's thread enters, stand at the end: that thread runs beside others.
        """
        path, beside = _files(self.called), _files(self.committing)
        first = [file for file in path if not file.startswith("store/")]
        return [*first, *sorted({*path, *beside} - {*first})]


def _files(called: Sequence[CodeType]) -> list[str]:
    return list(dict.fromkeys(Path(code.co_filename).relative_to(SOURCE).as_posix() for code in called))


def template(name: str) -> dict[str, Any]:
    net = {"type": "OS::Neutron::Net", "properties": {"name": name}}
    return {"heat_template_version": "2021-04-16", "resources": {"net": net}}


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    with ServedCloud(new_cloud(pace=0.0)) as served:
        yield served


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    recorder = Recorder()
    recorder.install()
    yield recorder
    recorder.remove()


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path, recorder: Recorder) -> AsyncIterator[World]:
    """An engine that evaluates all on the event loop, also where the machine is busy."""
    settings = EngineSettings(evaluation_seconds_at_once=60.0, evaluation_seconds=60.0)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


class User:
    """Updates the stack of the user demo by the REST API, as `world` has created it."""

    def __init__(self, world: World, stack_id: str, recorder: Recorder) -> None:
        self._world, self._stack_id, self._recorder = world, stack_id, recorder
        client = DirectClient(asyncio.get_running_loop(), Dispatcher(world.engine, OPERATIONS))
        self._api = testing.TestClient(make_app(load_config([], []), client, self._check))
        self._statuses: list[int] = []

    def _check(self, application: Any) -> Any:
        context = self._world.context

        def checked(environ: dict[str, Any], start_response: Any) -> Any:
            environ["HTTP_X_IDENTITY_STATUS"] = "Confirmed"
            environ["HTTP_X_USER_ID"], environ["HTTP_X_USER_NAME"] = context.user_id, "demo"
            environ["HTTP_X_PROJECT_ID"], environ["HTTP_X_PROJECT_NAME"] = context.project_id, "demo"
            environ["HTTP_X_ROLES"] = ",".join(context.roles)
            return application(environ, start_response)

        return checked

    def _put(self, name: str) -> None:
        self._recorder.claim()
        context = self._world.context
        path, headers = f"/v1/{context.project_id}/stacks/web/{self._stack_id}", {"X-Auth-Token": context.token}
        self._statuses.append(
            self._api.simulate_put(path, headers=headers, json={"template": template(name)}).status_code
        )

    async def update(self, name: str) -> None:
        """Give the network a name, and return when the update has ended; the clock stands unless that takes long."""
        thread = threading.Thread(target=self._put, args=(name,))
        thread.start()
        for moment in itertools.count(1):
            if not thread.is_alive() and self._world.engine.runs.get(self._stack_id) is None:
                break
            await (asyncio.sleep(_MOMENT_SECONDS) if moment % _MOMENTS_BEFORE_A_TURN else self._world.turn())
        assert self._statuses.pop() == 202


async def test_update_enters_files_in_listed_order(world: World, served: ServedCloud, recorder: Recorder) -> None:
    made = await world.create("web", template("one"))
    user = User(world, made["id"], recorder)
    await user.update("two")  # so that what is computed once in a process has been computed
    recorder.begin()
    await user.update("three")
    recorder.end()
    updated = await world.settle(made["id"])
    assert (updated["action"], updated["status"]) == ("UPDATE", "COMPLETE")
    nets = served.call("GET", "/network/v2.0/networks?name=three", token=served.token("demo", "demo")).json["networks"]
    assert len(nets) == 1
    calls = iter(recorder.called)
    for file, name in rows():
        code = getattr(named(file, name), "__code__", None)  # without code it is a declaration
        assert code is None or code in calls, f"{file}: {name} is not called after what precedes it in the table"
    entered, page = recorder.files(), PAGE.read_text(encoding="utf-8")
    beside = [file for file in entered if not file.startswith(LIBRARIES)]
    assert len(entered) <= MOST_ENTERED
    assert len(beside) <= MOST_BESIDE_LIBRARIES
    numbers = f"enters {len(entered)} files, {len(beside)} of them"
    if os.environ.get("STOKER_REWRITE_EXAMPLES"):
        page = re.sub(r"enters \d+ files, \d+ of them", numbers, LIST.sub("\n".join([*entered, ""]), page))
        PAGE.write_text(page, encoding="utf-8")
    listed = LIST.search(page)
    assert listed is not None
    assert listed[0].splitlines() == entered, "STOKER_REWRITE_EXAMPLES=1 writes the page again"
    assert numbers in page
