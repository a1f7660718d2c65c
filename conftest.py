"""Fixtures of several suites: an emulated cloud, a world on it, and servers that a run starts once, when first used.

Examples that Hypothesis makes have no time limit each: the machine may be busy with other tests.
"""

from __future__ import annotations

import gc
import os
import re
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import settings

from stoker_foundation.program import importing

with importing():
    from openstack_emulator.services import new_cloud
    from openstack_emulator.testing import ServedCloud
    from stoker.processes.memory import reduce_garbage_collection
    from stoker_foundation.clock import SystemClock
    from testing.compiled_statements import share_compiled_statements
    from testing.harness import World
    from testing.servers import MariaDB, PostgreSQL, RabbitMQ, Server, ServerMissing

settings.register_profile("stoker", deadline=None)
settings.load_profile("stoker")

# A shell has commands in the background ignore Ctrl-C, and so does whatever they start: programs under test must not.
signal.signal(signal.SIGINT, signal.default_int_handler)


ServerKind = TypeVar("ServerKind", bound=Server)


_GROUP = re.compile(r"@[\w.-]+$")
"""What pytest-xdist appends to the names of tests of a group."""


_LONGEST_ID = 120
"""Characters of a value in the name of a test."""


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Note failed tests without their groups: `--last-failed` does not find them otherwise, and may run all tests."""
    cache = getattr(session.config, "cache", None)  # absent without its plug-in
    if cache is not None and not hasattr(session.config, "workerinput"):
        failed = cache.get("cache/lastfailed", {})
        cache.set("cache/lastfailed", {_GROUP.sub("", name): True for name in failed})


@pytest.fixture
def served() -> Iterator[ServedCloud]:
    """An emulated cloud that keeps the machine's time, and takes 2 % of a real cloud's time for its work."""
    with ServedCloud(new_cloud(clock=SystemClock(), pace=0.02)) as served:
        yield served


@pytest.fixture
async def world(served: ServedCloud, tmp_path: Path) -> AsyncIterator[World]:
    """An engine with a manual clock and default settings."""
    world = await World(tmp_path / "stoker.db", served).start()
    yield world
    await world.stop()


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """For `-n auto`, one worker more than processors; twice as many if slow tests run, which wait half of their time.

    In a whole run on two processors, three workers left a quarter of them idle.
    """
    if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    processors = len(os.sched_getaffinity(0))
    return processors + 1 if config.option.markexpr else 2 * processors


def pytest_make_parametrize_id(config: pytest.Config, val: object, argname: str) -> str | None:
    """Name a test by the beginning of a long value: workers send the names of all tests, and each with its results."""
    if isinstance(val, str | bytes) and len(val) > _LONGEST_ID:
        beginning = val[:_LONGEST_ID] if isinstance(val, str) else val[:_LONGEST_ID].decode("ascii", "replace")
        return f"{beginning}...{len(val)}"
    return None


def pytest_configure() -> None:
    share_compiled_statements()
    reduce_garbage_collection()


_SLOW = re.compile(r"^pytestmark = .*\bpytest\.mark\.(slow|guests)\b", re.MULTILINE)
"""The mark of a module of which all tests are slow."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import modules of which all tests would be deselected: a quarter of what collecting tests takes."""
    slow = config.option.markexpr == "not slow" and collection_path.suffix == ".py"
    return True if slow and _SLOW.search(collection_path.read_text()) else None


_SLOW_WEIGHT = 20
"""How many other tests a slow one takes as long as, roughly."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests of a module that share what it makes once in one process: pytest-xdist deals tests out singly.

    Guests are processes, so that tests with guests are slow ones.
    Groups that take long begin first, single quick tests last: workers then end at nearly the same time.
    """
    for item in items:
        if item.get_closest_marker("guests") and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.slow)
        if not item.get_closest_marker("xdist_group") and _shares(item):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    if getattr(config.option, "loadgroup", False):
        weights = Counter[str]()
        for item in items:
            weights[_group(item)] += _SLOW_WEIGHT if item.get_closest_marker("slow") else 1
        items.sort(key=lambda item: -weights[_group(item)])


def _group(item: pytest.Item) -> str:
    """What a worker runs together."""
    mark = item.get_closest_marker("xdist_group")
    return str(mark.args[0]) if mark else item.nodeid


def _shares(item: pytest.Item) -> bool:
    """Whether a test uses a fixture of its module that is made once."""
    fixtures: Mapping[str, Sequence[Any]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    return any(
        found[-1].scope == "module" for name, found in fixtures.items() if name != modules_out_of_collection.__name__
    )


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Exempt modules and collected tests from garbage collection, which would look at them again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="module", autouse=True)
def modules_out_of_collection() -> None:
    """Exempt what tests have imported so far, too: engines collect garbage often where a clock is set forward."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Fail with libraries that do not keep the tests of a group in one process: they share servers and installations.

    pytest-xdist appends `@group` to the names of such tests.
    """
    grouping = getattr(item.config.option, "loadgroup", False)
    if grouping and item.get_closest_marker("xdist_group") and "@" not in item.nodeid:
        pytest.fail("pytest-xdist does not group tests with this pytest: install the versions of pyproject.toml")


def _running(kind: Callable[[], ServerKind]) -> Iterator[ServerKind]:
    try:
        server = kind()
    except ServerMissing as error:
        pytest.skip(str(error))
    try:
        server.prepare()
        server.start()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[PostgreSQL]:
    yield from _running(PostgreSQL)


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDB]:
    yield from _running(MariaDB)


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    yield from _running(RabbitMQ)
