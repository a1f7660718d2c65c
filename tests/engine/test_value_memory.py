"""How much memory the values of all operations take: those that rest move to a file, and steps wait for room."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from openstack_emulator.testing import ServedCloud
from stoker.engine.memory import COPIES, SealedText, TemporaryFile, ValueMemory
from stoker.engine.settings import EngineSettings
from testing.harness import World

LIMIT = 1024 * 1024
JOINED = {"list_join": ["", [{"get_attr": ["seed", "value"]}] * 10]}


def value(text: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": text}}


def template(wide: int, **more: Any) -> dict[str, Any]:
    large = {f"large{number}": value(JOINED) for number in range(wide)}
    resources = {"seed": value("0123456789" * 2_000), **large, **more}
    last = {"get_attr": [f"large{wide - 1}", "value"]}
    return {"heat_template_version": "2021-04-16", "resources": resources, "outputs": {"last": {"value": last}}}


@dataclass
class Values:
    """Values that are moved when they are asked to, unless something uses them."""

    size: int
    used: bool = False
    resting: bool = False
    unloaded: bool = False

    @property
    def resident(self) -> int:
        return 0 if self.unloaded else self.size

    def unload(self, file: TemporaryFile) -> bool:
        self.unloaded = not self.used
        return self.unloaded


@pytest.fixture
async def small(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    """An engine that keeps as few values in memory as can be configured."""
    settings = EngineSettings(evaluation_memory=LIMIT)
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    yield world
    await world.stop()


async def test_values_of_a_stack_that_exceed_the_limit_move_to_a_file_and_come_back(small: World) -> None:
    """One stack makes more values than the operations of all may keep in memory."""
    most = [0]
    rest = ValueMemory.rest

    def watched(memory: ValueMemory, values: Any) -> None:
        rest(memory, values)
        most[0] = max(most[0], memory.resting)

    small.engine.services.memory.values.rest = watched.__get__(small.engine.services.memory.values)  # type: ignore[method-assign]
    created = await small.create("a", template(20))
    assert created["status"] == "COMPLETE", created["status_reason"]
    assert 0 < most[0] < 3 * LIMIT
    updated = await small.update(
        "a", template(20, more=value({"str_replace": {"template": "x", "params": {"x": JOINED}}}))
    )
    assert updated["status"] == "COMPLETE", updated["status_reason"]
    assert small.outputs(updated)["last"] == "0123456789" * 20_000
    await small.delete("a")
    await small.until(lambda: not small.engine.runs)
    memory = small.engine.services.memory.values
    assert (memory.resting, memory.open_bytes, memory.waiting) == (0, 0, 0)
    assert memory.file.size < LIMIT  # each thread may keep the one that it read last


def test_least_recently_used_values_are_moved_first() -> None:
    memory = ValueMemory(100)
    used, oldest, newest = Values(60, used=True), Values(30), Values(30)
    for values in (used, oldest, newest):
        memory.rest(values)
    assert (used.unloaded, oldest.unloaded, newest.unloaded) == (False, True, False)
    assert memory.resting == 90
    memory.take(used)
    memory.take(newest)
    assert memory.resting == 0


async def test_only_the_project_using_the_memory_waits() -> None:
    """A project's operations hold the engine's memory for values; another project begins at once."""
    memory, log, release = ValueMemory(1000), [], asyncio.Event()

    async def step(project: str, name: str, until: asyncio.Event | None = None) -> None:
        async with memory.open(project, lambda: [Values(1000 // COPIES + 1)]):
            log.append(name)
            if until is not None:
                await until.wait()

    first = asyncio.ensure_future(step("hostile", "first", release))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(step("hostile", "second"))
    await asyncio.sleep(0)
    await step("other", "other")
    assert log == ["first", "other"]
    assert memory.waiting == 1
    release.set()
    await asyncio.gather(first, second)
    assert log == ["first", "other", "second"]
    assert (memory.open_bytes, memory.waiting) == (0, 0)


async def test_a_step_that_has_values_open_never_waits_for_memory() -> None:
    memory = ValueMemory(1000)
    async with memory.open("one", lambda: [Values(2000)]), asyncio.timeout(5), memory.turn("one") as made:
        made(5000)
        async with memory.turn("one"):
            pass
    assert memory.open_bytes == 0


async def test_a_step_that_waits_for_its_object_gives_its_memory_to_others() -> None:
    memory = ValueMemory(1000)
    values = Values(2000)
    async with memory.open("one", lambda: [values]), asyncio.timeout(5):
        async with memory.paused(lambda: [values]):
            assert values.resting
            assert memory.open_bytes == 0
            async with memory.open("one", lambda: [Values(2000)]):
                pass
        assert not values.resting


async def test_a_step_that_is_cancelled_while_it_waits_for_memory_leaves_nothing() -> None:
    memory = ValueMemory(1000)

    async def step() -> None:
        async with memory.open("one", lambda: [Values(2000)]):
            pass

    async with memory.open("one", lambda: [Values(2000)]):
        waiting = asyncio.ensure_future(step())
        await asyncio.sleep(0)
        assert memory.waiting == 1
        waiting.cancel()
        await asyncio.wait([waiting])
        assert memory.waiting == 0
    assert memory.open_bytes == 0


def test_strings_leave_the_temporary_file_with_what_holds_them() -> None:
    file = TemporaryFile()
    texts = [SealedText(str(number) * 5000) for number in range(10)]
    for text in texts:
        text.move(file)
    assert file.size == 50_000
    assert texts[3].read() == "3" * 5000
    assert texts[3].text is None
    del texts[5:], text
    assert file.size == 25_000
    again = SealedText("x" * 5000)
    again.move(file)
    assert again.read() == "x" * 5000
    file.close()


def test_without_space_for_the_file_values_stay_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk with the temporary files is full."""
    file = TemporaryFile()
    first = SealedText("x" * 5000)
    first.move(file)
    file._open().execute("PRAGMA max_page_count = 1")
    text = SealedText("y" * 500_000)
    text.move(file)
    assert text.text is not None
    assert text.read() == "y" * 500_000
    assert first.read() == "x" * 5000
    file.close()


OPEN_FILES = """
import os
from contextlib import suppress
from stoker.engine.memory import TemporaryFile
file = TemporaryFile()
assert file.put("x" * 8_000_000) is not None
for entry in os.listdir("/proc/self/fd"):
    with suppress(FileNotFoundError):
        print(os.readlink(f"/proc/self/fd/{entry}"))
"""


@pytest.mark.parametrize("variables", [("TMPDIR",), ("TMPDIR", "SQLITE_TMPDIR")])
def test_the_directory_of_the_temporary_file(tmp_path: Path, variables: tuple[str, ...]) -> None:
    """The file has no name, so other users cannot open it; the process's open files show where it was created."""
    chosen = {name: str(tmp_path / name) for name in variables}
    for directory in chosen.values():
        Path(directory).mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "SQLITE_TMPDIR"} | chosen
    run = subprocess.run(
        [sys.executable, "-c", OPEN_FILES], env=environment, capture_output=True, text=True, check=True
    )
    assert any(line.startswith(chosen[variables[-1]]) for line in run.stdout.splitlines()), run.stdout
    assert not list(Path(chosen[variables[-1]]).iterdir())
