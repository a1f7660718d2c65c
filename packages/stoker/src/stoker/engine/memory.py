"""The memory that values of resources take, and its return to the operating system.

A step has values open while it evaluates and records them. `ValueMemory.open` lets it begin only while there is room
for the values of the steps of all operations together. Between steps the values rest: they stay in memory as long as
all resting values together are below a limit. Beyond it, those that rested longest move to a temporary file, sealed as
in the database, and are read again when they are needed.

The data of a run are freed with it, but the process does not shrink then: reference cycles in libraries wait for the
garbage collector, which collects old objects rarely (see `processes.memory`), and the C library keeps freed memory.
`FreedMemory` triggers both when enough operations have finished, or large templates were evaluated, preferably while
nothing runs and no large template is evaluated.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import logging
import sqlite3
import threading
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

LOG = logging.getLogger(__name__)

Opened = TypeVar("Opened")

SMALL = 1024
"""Sealed strings of fewer characters stay in memory: their place in the file would take as much."""

COPIES = 4
"""How many times its size a value takes while a step works on it: as data, as JSON, sealed, and on its way to disk."""


class TemporaryFile:
    """Strings in a file that the operating system deletes with the process. Several threads may use it.

    It is a temporary database of SQLite, which reuses the space of deleted strings. SQLite chooses the directory
    (`SQLITE_TMPDIR`, `TMPDIR`, /var/tmp). Its journal, in memory, undoes a write for which there is no space.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._dropped: deque[tuple[int, int]] = deque()
        self._failed = False
        self._strings = self._characters = 0

    @property
    def size(self) -> int:
        """Characters of the strings in the file."""
        return self._characters - sum(size for _, size in tuple(self._dropped))

    def put(self, text: str) -> SpilledString | None:
        """Store a string. None when the file cannot be written, for example because the disk is full."""
        with self._lock:
            try:
                self._remove_dropped()
                key = self._open().execute("INSERT INTO sealed (body) VALUES (?)", (text,)).lastrowid
            except sqlite3.Error as error:
                if not self._failed:
                    LOG.warning("Values stay in memory, since no temporary file can be written: %s", error)
                self._failed = True
                return None
            self._failed = False
            self._strings += 1
            self._characters += len(text)
        assert key is not None
        return SpilledString(self, key, len(text))

    def read(self, key: int) -> str:
        """Return a string that is in the file."""
        with self._lock:
            return str(self._open().execute("SELECT body FROM sealed WHERE key = ?", (key,)).fetchone()[0])

    def drop(self, key: int, size: int) -> None:
        """Delete a string with the next `put`. It may be called by the garbage collector, in the middle of anything."""
        self._dropped.append((key, size))

    def close(self) -> None:
        """Delete the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = sqlite3.connect("", check_same_thread=False, isolation_level=None)
            for pragma in ("journal_mode=MEMORY", "synchronous=OFF", "temp_store=FILE", "cache_size=-1024"):
                self._connection.execute(f"PRAGMA {pragma}")
            self._connection.execute("CREATE TABLE sealed (key INTEGER PRIMARY KEY, body TEXT NOT NULL)")
        return self._connection

    def _remove_dropped(self) -> None:
        dropped = [self._dropped.popleft() for _ in range(len(self._dropped))]
        if not dropped:
            return
        self._strings -= len(dropped)
        self._characters -= sum(size for _, size in dropped)
        if not self._strings and self._connection is not None:
            self._connection.close()  # nothing is left in it: give the space of the file back
            self._connection = None
            return
        self._open().executemany("DELETE FROM sealed WHERE key = ?", [(key,) for key, _ in dropped])


class SpilledString:
    """A string in a temporary file, which is deleted from there together with this object."""

    __slots__ = ("_file", "_key", "_size")

    def __init__(self, file: TemporaryFile, key: int, size: int) -> None:
        self._file, self._key, self._size = file, key, size

    def read(self) -> str:
        """Return the string."""
        return self._file.read(self._key)

    def __del__(self) -> None:
        self._file.drop(self._key, self._size)


class SealedText:
    """A sealed string that does not change: in memory, or in a temporary file."""

    __slots__ = ("_spilled", "size", "text")

    def __init__(self, text: str) -> None:
        self.text: str | None = text
        self.size = len(text)
        self._spilled: SpilledString | None = None

    def read(self) -> str:
        """Return the string."""
        text = self.text
        if text is not None:
            return text
        assert self._spilled is not None
        return self._spilled.read()

    def move(self, file: TemporaryFile) -> None:
        """Move a string that is not small to the file."""
        if self.text is None or self.size < SMALL:
            return
        self._spilled = self._spilled or file.put(self.text)
        if self._spilled is not None:
            self.text = None


class IdleValues(Protocol):
    """The values of one resource; `resting` is set while nothing works on them."""

    resting: bool

    @property
    def size(self) -> int:
        """Bytes of its sealed values, wherever they are."""

    @property
    def resident(self) -> int:
        """Bytes of memory that its values take."""

    def unload(self, file: TemporaryFile) -> bool:
        """Move its values out of memory. False when something uses them."""


@dataclass(slots=True)
class _Use:
    """What one step has open."""

    project: str
    size: int = 0


_use: ContextVar[_Use | None] = ContextVar("use", default=None)


class ValueLoader:
    """Loads sealed values from the database into memory; those that exceed the limit into the temporary file."""

    def __init__(self, memory: ValueMemory) -> None:
        self._memory = memory
        self._resident = 0

    def sealed(self, text: str | None) -> SealedText | None:
        """Return a sealed string; None for none."""
        if not text:
            return None
        sealed = SealedText(text)
        if self._memory.resting + self._resident + sealed.size > self._memory.limit:
            sealed.move(self._memory.file)
        else:
            self._resident += sealed.size
        return sealed


class ValueMemory:
    """Accounts for the values of one engine's resources. Used on one event loop, but for `loader` and `is_on_thread`.

    Steps may have `limit` bytes open together, and as much may rest. A step that has nothing open waits only while the
    limit is exceeded and its project has more than its share: the limit divided among the projects that have values
    open. A step that has something open never waits, so those that others wait for always end.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.file = TemporaryFile()
        self.resting = 0
        self.open_bytes = 0
        self.waiting = 0
        self._thread = threading.get_ident()
        self._resting: OrderedDict[int, tuple[IdleValues, int]] = OrderedDict()
        self._projects: dict[str, int] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._room: set[asyncio.Future[None]] = set()
        self._last = threading.local()

    # -- idle values -----------------------------------------------------------------------------------------

    def rest(self, values: IdleValues) -> None:
        """Keep values that nothing works on; those that rested longest make room for them."""
        self.take(values)
        self._thread = threading.get_ident()
        in_use: list[tuple[IdleValues, int]] = []
        taken = values.resident
        self.resting += taken
        while self.resting > self.limit and self._resting:
            _, (oldest, resident) = self._resting.popitem(last=False)
            if oldest.unload(self.file):
                self.resting -= resident
            else:
                in_use.append((oldest, resident))
        for each, resident in in_use:
            self._resting[id(each)] = each, resident
        self._resting[id(values)] = values, taken
        values.resting = True

    def take(self, values: IdleValues) -> None:
        """Let values stay in memory until they rest again."""
        _, resident = self._resting.pop(id(values), (values, 0))
        self.resting -= resident
        values.resting = False

    def loader(self) -> ValueLoader:
        """Return the loader for the values of one stack, which are read from the database on a thread."""
        return ValueLoader(self)

    def is_on_thread(self) -> bool:
        """Whether the caller is on another thread than operations, where values are only read."""
        return threading.get_ident() != self._thread

    def opened_on_thread(self, sealed: SealedText, opened: Callable[[], Opened]) -> Opened:
        """Return `opened()`, or what it returned when it was last called on this thread for the same string."""
        last: tuple[SealedText, Any] | None = getattr(self._last, "opened", None)
        if last is None or last[0] is not sealed:
            last = self._last.opened = (sealed, opened())
        value: Opened = last[1]
        return value

    # -- values in use ---------------------------------------------------------------------------------------

    def open(self, project: str, values: Callable[[], Sequence[IdleValues]]) -> AbstractAsyncContextManager[None]:
        """Let a step work on values, when there is room; they rest when it has ended.

        `values` returns those that it may use, and at its end those that it may have used.
        """
        return _Opened(self, project, values)

    async def begin(self, use: _Use, values: Callable[[], Sequence[IdleValues]]) -> None:
        """Count the values of a step, when there is room."""
        if self.full(use.project) and any(each.size for each in values()):
            await self._until_room(use)
        self._begin(use, values())

    @asynccontextmanager
    async def paused(self, values: Callable[[], Sequence[IdleValues]]) -> AsyncIterator[None]:
        """Let the values of the running step rest while it waits."""
        use = _use.get()
        if use is None:
            yield
            return
        self.end(use, values())
        try:
            yield
        except BaseException:
            self._begin(use, values())  # the step is about to end
            raise
        await self._until_room(use)
        self._begin(use, values())

    def _begin(self, use: _Use, values: Sequence[IdleValues]) -> None:
        for each in values:
            self.take(each)
        self._add(use, COPIES * sum(each.size for each in values))

    def end(self, use: _Use, values: Sequence[IdleValues]) -> None:
        """Let the values of a step rest."""
        self._add(use, -use.size)
        for each in values:
            self.rest(each)

    @asynccontextmanager
    async def turn(self, project: str) -> AsyncIterator[Callable[[int], None]]:
        """Wait until the running step may make large values; the function that is yielded takes their size.

        The steps of one project do so one after another, so that the limit is exceeded by one value of each project.
        """
        use = _use.get()
        if use is None or use.size:
            yield lambda size: self._add(use, COPIES * size) if use is not None else None
            return
        async with self._turns.setdefault(project, asyncio.Lock()):
            await self._until_room(use)
            yield lambda size: self._add(use, COPIES * size)

    def full(self, project: str) -> bool:
        """Whether a step of the project that has nothing open must wait."""
        if self.open_bytes <= self.limit:
            return False
        return self._projects.get(project, 0) > self.limit // max(len(self._projects), 1)

    async def _until_room(self, use: _Use) -> None:
        if use.size or not self.full(use.project):
            return
        LOG.info(
            "A step of project %s waits for memory: values of %d MB are in use ([evaluation] memory)",
            use.project,
            self.open_bytes >> 20,
        )
        self.waiting += 1
        try:
            while self.full(use.project):
                room: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._room.add(room)
                try:
                    await room
                finally:
                    self._room.discard(room)
        finally:
            self.waiting -= 1

    def _add(self, use: _Use, size: int) -> None:
        if not size:
            return
        use.size += size
        self.open_bytes += size
        self._projects[use.project] = self._projects.get(use.project, 0) + size
        if not self._projects[use.project]:
            del self._projects[use.project]
        if size < 0:
            for room in self._room:
                if not room.done():
                    room.set_result(None)

    def close(self) -> None:
        """Delete the temporary file."""
        self.file.close()


class _Opened:
    """The values of one step. Each step has one, so it is not a generator, which would take several times as long."""

    __slots__ = ("_memory", "_token", "_use", "_values")

    def __init__(self, memory: ValueMemory, project: str, values: Callable[[], Sequence[IdleValues]]) -> None:
        self._memory = memory
        self._values = values
        self._use = _Use(project)

    async def __aenter__(self) -> None:
        self._token = _use.set(self._use)
        try:
            await self._memory.begin(self._use, self._values)
        except BaseException:
            self._close()
            raise

    async def __aexit__(self, *error: object) -> None:
        self._close()

    def _close(self) -> None:
        self._memory.end(self._use, self._values())
        _use.reset(self._token)


MANY = 500
"""Total number of resources of finished operations after which memory is returned if nothing runs."""

TOO_MANY = 20_000
"""The same while operations run, since a collection blocks the event loop for some tens of milliseconds."""


class FreedMemory:
    """Counts the resources of finished operations, and large evaluations, since memory was last returned."""

    def __init__(self) -> None:
        self.resources = 0
        self._evaluations = 0
        self._evaluations_seen = 0

    def ended(self, resources: int) -> None:
        """Record the end of a run with this number of resources."""
        self.resources += resources

    def evaluated(self) -> None:
        """Record the end of a large evaluation."""
        self._evaluations += 1

    def is_due(self, *, idle: bool) -> bool:
        """Return whether enough has ended since memory was last returned; `idle` means that no operation runs.

        Where a large template was evaluated since the last call, requests are probably in progress: they would wait for
        the collection, which would visit what they still need.
        """
        quiet = idle and self._evaluations == self._evaluations_seen
        self._evaluations_seen = self._evaluations
        enough = self.resources >= MANY or self._evaluations > 0
        return self.resources >= TOO_MANY or (quiet and enough)

    def release(self) -> None:
        """Return memory, and count from the beginning."""
        self.resources = self._evaluations = self._evaluations_seen = 0
        gc.collect()
        trim()


def trim() -> None:
    """Return freed memory to the operating system."""
    _trim(0)


def _trimmer() -> Callable[[int], object]:
    """Return `malloc_trim` of the GNU C library; other C libraries return memory by themselves."""
    with suppress(OSError, AttributeError):
        trim: Callable[[int], object] = ctypes.CDLL(None).malloc_trim
        return trim
    return lambda _: None


_trim = _trimmer()


class Memory:
    """The memory of one engine: `values` that its steps use, and what is `freed` when its operations have ended."""

    def __init__(self, limit: int) -> None:
        self.values = ValueMemory(limit)
        self.freed = FreedMemory()
