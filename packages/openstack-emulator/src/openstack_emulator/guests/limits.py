"""Control groups of guests in namespaces: the kernel limits each guest to what its server's flavor gives it.

Groups are made where the system has allowed it to this process: below its own group in hierarchies of version 1 that it
may write; in the hierarchy of version 2, below its own group if that has been delegated to it, or below the root that
it sees, so that a limit of this process holds for its guests too. The rules: cgroups(7),
https://docs.kernel.org/admin-guide/cgroup-v2.html and https://systemd.io/CGROUP_DELEGATION.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import orjson

from openstack_emulator.core.guests.driver import LEAST_MEMORY, Size

log = logging.getLogger(__name__)

CONTROLLERS = {"memory": "memory", "cpu": "processors", "pids": "number of processes"}
"""The controllers whose limits are set, and what they limit."""
PRESSURE, FREEZER = "pressure", "freezer"
"""What else is used of hierarchies where they have it: how long processes waited for processors, and to stop them all.
In version 2, no controllers are needed for it."""
PERIOD = 100_000
"""Microseconds in which a guest may use its processors' time."""
MOST_TASKS = 2048
"""Processes and threads of a guest."""
MEBIBYTE = 1 << 20
PROCESSES = "stoker-processes"
"""The group into which the processes of a delegated group are moved: in version 2, a group that has groups with
controllers has no processes of its own."""
RECORD = "control-groups.json"
"""The file in the directory of guests that lists the cloud's groups while they exist."""
DELEGATED = ("user.delegate", "trusted.delegate")
"""Extended attributes by which systemd marks groups that are delegated."""
REMOVAL_SECONDS = 5.0
LEFT_SECONDS = 1.0
RETRY_SECONDS = 0.02
HINT = (
    "Start the cloud in a group of its own with `systemd-run --user --scope -p Delegate=yes stoker up` (as root "
    "without `--user`) to have them limited."
)


def _memory(size: Size) -> str:
    return str(max(LEAST_MEMORY, size.memory) * MEBIBYTE)


def _quota(size: Size) -> str:
    return str(size.processors * PERIOD)


def _shares(processors: int) -> str:
    """Return the weight of processors in version 1, in which any other process of the machine has that of one."""
    return str(min(processors * 1024, 1 << 18))


def _weight(processors: int) -> str:
    """Return the weight of processors in version 2."""
    return str(min(processors * 100, 10_000))


@dataclass(frozen=True)
class Limit:
    """A file of a group that limits something. value: its content for a size. optional: not all kernels have it."""

    controller: str
    file: str
    value: Callable[[Size], str]
    optional: bool = False


@dataclass(frozen=True)
class Statistic:
    """A number that a group shows: that after a key in a file; without a key, the content. scale: it is divided by."""

    controller: str
    file: str
    key: str = ""
    scale: float = 1.0


LIMITS = {
    1: (
        Limit("memory", "memory.limit_in_bytes", _memory),
        Limit("memory", "memory.memsw.limit_in_bytes", _memory, optional=True),
        Limit("cpu", "cpu.cfs_period_us", lambda size: str(PERIOD)),
        Limit("cpu", "cpu.cfs_quota_us", _quota),
        Limit("pids", "pids.max", lambda size: str(MOST_TASKS)),
    ),
    2: (
        Limit("memory", "memory.max", _memory),
        Limit("memory", "memory.swap.max", lambda size: "0", optional=True),
        Limit("cpu", "cpu.max", lambda size: f"{_quota(size)} {PERIOD}"),
        Limit("pids", "pids.max", lambda size: str(MOST_TASKS)),
    ),
}
WEIGHTS = {1: ("cpu.shares", _shares), 2: ("cpu.weight", _weight)}
"""The files with the weight of a group among its neighbours, and its content for a number of processors."""
USED = {1: Statistic("cpuacct", "cpuacct.usage", scale=1e9), 2: Statistic("cpu", "cpu.stat", "usage_usec", 1e6)}
"""The processor time that the processes of a group have used, in seconds."""
KILLED = {1: Statistic("memory", "memory.oom_control", "oom_kill"), 2: Statistic("memory", "memory.events", "oom_kill")}
"""How many processes the kernel has killed since the group had no memory left."""


@dataclass(frozen=True)
class ControlGroup:
    """A group below which this process may make groups. version: of its hierarchy. controllers: of groups below."""

    version: int
    directory: Path
    controllers: frozenset[str]


# -- what is allowed ---------------------------------------------------------------------------------------------


def allowed_places(process: Path = Path("/proc/self")) -> tuple[ControlGroup, ...]:
    """Return where this process may make control groups. process: its directory in /proc."""
    try:
        mounts = process.joinpath("mountinfo").read_text().splitlines()
        groups = [line.split(":", 2) for line in process.joinpath("cgroup").read_text().splitlines()]
    except OSError:  # a kernel without control groups
        return ()
    own = {name: path for _, names, path in groups for name in names.split(",")}  # version 2 has no names
    found: dict[Path, ControlGroup] = {}
    for line in mounts:
        words, _, rest = line.partition(" - ")
        root, point = words.split()[3:5]
        kind, _, options = rest.split()[:3]
        if kind == "cgroup":
            names = (CONTROLLERS.keys() | {USED[1].controller, FREEZER}) & set(options.split(",")) & own.keys()
            path = own[min(names)] if names else ""
        elif kind == "cgroup2":
            names, path = set(), own.get("", "")
        else:
            continue
        if not path or not Path(path).is_relative_to(root):
            continue
        directory = Path(point, Path(path).relative_to(root))
        place = (
            _delegated(directory, Path(point)) if kind == "cgroup2" else ControlGroup(1, directory, frozenset(names))
        )
        if place.controllers and os.access(directory, os.W_OK | os.X_OK):
            found[place.directory] = place
    return tuple(found.values())


def _more(place: Path) -> set[str]:
    """Return what the groups of version 2 below a place have without controllers."""
    return {FREEZER, *([PRESSURE] if place.joinpath("cpu.pressure").exists() else [])}


def _delegated(own: Path, root: Path) -> ControlGroup:
    """Return the place in the hierarchy of version 2. own: the group of this process. root: that the process sees."""
    place = own.parent if own.name == PROCESSES else own
    free = place == root and not (place.joinpath("cgroup.type").exists() and _processes(place))
    if not free and not any(_attribute(place, name) == b"1" for name in DELEGATED):
        return ControlGroup(2, place, frozenset())
    try:
        available = set(place.joinpath("cgroup.controllers").read_text().split())
    except OSError:
        available = set()
    return ControlGroup(2, place, frozenset((available & CONTROLLERS.keys()) | _more(place)))


def _attribute(place: Path, name: str) -> bytes:
    try:
        return os.getxattr(place, name)
    except OSError:
        return b""


def missing_limits(places: Iterable[ControlGroup]) -> str:
    """Return a sentence that names what flavors do not limit, and what helps; empty if they limit everything."""
    limited = {name for place in places for name in place.controllers}
    words = [what for name, what in CONTROLLERS.items() if name not in limited]
    if not words:
        return ""
    named = " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
    return (
        f"Flavors do not limit the {named} of guests in namespaces, since this process may not make control groups for "
        f"{'it' if len(words) == 1 else 'them'}. {HINT}"
    )


# -- groups ------------------------------------------------------------------------------------------------------


class Group:
    """The control group of a guest: one directory in each hierarchy. Raises: OSError where it cannot be made.

    weighed: called with the number of processors that the guest has, which is 0 in the end.
    """

    def __init__(self, name: str, places: Sequence[ControlGroup], weighed: Callable[[int], None]) -> None:
        self._parts = [ControlGroup(place.version, place.directory / name, place.controllers) for place in places]
        self._weighed = weighed
        self._processors = 1
        for part in self._parts:
            part.directory.mkdir(exist_ok=True)

    def limit(self, size: Size) -> None:
        """Set the limits, and the weight of the flavor's processors. Raises: OSError."""
        for part in self._parts:
            for limit in LIMITS[part.version]:
                file = part.directory / limit.file
                if limit.controller in part.controllers and not (limit.optional and not file.exists()):
                    file.write_text(limit.value(size))
            _weigh(part, size.processors)
        self._processors = size.processors
        self._weighed(size.processors)

    def add(self, process: int) -> None:
        """Move a process into the group; what it starts from now on is there too. Raises: OSError."""
        for part in self._parts:
            part.directory.joinpath("cgroup.procs").write_text(str(process))

    def processor_seconds(self) -> float | None:
        """Return the processor time that the group has used; None if no hierarchy shows it."""
        return self._read(USED)

    def withheld_seconds(self) -> float:
        """Return the time in which processors were needed that the guest was not given; 0 if the kernel does not tell.

        The kernel tells for how long any process waited, and for how long all that could have run. The latter was taken
        from the guest: had it a processor, one would have run. With several processors, waiting means that the others
        were not given either, unless they were used, which the caller knows.
        """
        for part in self._parts:
            if PRESSURE in part.controllers:
                with suppress(OSError):
                    waited = _pressure(part.directory.joinpath("cpu.pressure").read_text())
                    if "full" in waited:
                        return waited["full"] + (self._processors - 1) * waited["some"]
        return 0.0

    def freeze(self) -> bool:
        """Have the kernel stop all processes of the group; whether that is possible."""
        return self._freeze("FROZEN", "1")

    def thaw(self) -> bool:
        """Let the processes of the group continue; whether that is possible."""
        return self._freeze("THAWED", "0")

    def _freeze(self, state: str, number: str) -> bool:
        for part in self._parts:
            if FREEZER in part.controllers:
                file, content = ("freezer.state", state) if part.version == 1 else ("cgroup.freeze", number)
                with suppress(OSError):
                    part.directory.joinpath(file).write_text(content)
                    return True
        return False

    def killed(self) -> int:
        """Return how many processes were killed since the group had no memory left."""
        return int(self._read(KILLED) or 0)

    async def remove(self) -> None:
        """Kill what is left in the group, and remove it."""
        for _ in range(round(REMOVAL_SECONDS / RETRY_SECONDS)):
            if not [part for part in self._parts if not _try_remove(part.directory)]:
                break
            await asyncio.sleep(RETRY_SECONDS)
        self._weighed(0)

    def _read(self, figures: dict[int, Statistic]) -> float | None:
        for part in self._parts:
            figure = figures[part.version]
            if figure.controller not in part.controllers:
                continue
            with suppress(OSError):
                for line in part.directory.joinpath(figure.file).read_text().splitlines():
                    key, _, value = line.rpartition(" ")
                    if key == figure.key:
                        return int(value) / figure.scale
        return None


def _weigh(place: ControlGroup, processors: int) -> None:
    """Give a group the weight of processors. Raises: OSError."""
    file, value = WEIGHTS[place.version]
    if "cpu" in place.controllers:
        place.directory.joinpath(file).write_text(value(max(1, processors)))


def _pressure(text: str) -> dict[str, float]:
    """Return the seconds of the file `cpu.pressure`: `some avg10=0.00 avg60=0.00 avg300=0.00 total=12`."""
    lines = [line.split() for line in text.splitlines()]
    return {words[0]: int(words[-1].removeprefix("total=")) / 1e6 for words in lines}


def cloud_group(directory: Path) -> str:
    """Return the name of the group of the cloud whose guests are in a directory."""
    return f"stoker-{hashlib.sha256(str(directory.resolve()).encode()).hexdigest()[:12]}"


class Limits:
    """The control groups of a cloud's guests: each is below the cloud's group, in each hierarchy that allows it.

    directory: of the guests; groups of an earlier process of the cloud, which was killed, are removed.
    places: where groups may be made.
    """

    def __init__(self, directory: Path, places: Sequence[ControlGroup]) -> None:
        self._name = cloud_group(directory)
        self._record = directory / RECORD
        self._remove(LEFT_SECONDS)
        left = self._recorded_groups()
        directories = [place.directory / self._name for place in places]
        if directories:
            self._record.write_bytes(orjson.dumps(sorted({*map(str, directories), *map(str, left)})))
        self._places = [opened for place in places if (opened := self._open_group(place)) is not None]
        self._processors: Counter[str] = Counter()

    @property
    def places(self) -> tuple[ControlGroup, ...]:
        """Where the groups of guests are."""
        return tuple(self._places)

    def group(self, guest_id: str) -> Group:
        """Return the group of a guest, without limits and processes. Raises: OSError."""
        return Group(guest_id, self._places, partial(self._weigh, guest_id))

    def _weigh(self, guest_id: str, processors: int) -> None:
        """Give the guests together the weight of all their processors: their groups share that of the cloud's group."""
        self._processors[guest_id] = processors
        for place in self._places:
            try:
                _weigh(place, self._processors.total())
            except OSError as error:
                log.warning("The weight of guests cannot be set in %s: %s", place.directory, error)

    def close(self) -> None:
        """Remove the groups."""
        self._places = []
        self._remove(REMOVAL_SECONDS)

    def _open_group(self, place: ControlGroup) -> ControlGroup | None:
        directory = place.directory / self._name
        try:
            directory.mkdir(exist_ok=True)
            if place.version == 2:
                for group in (place.directory, directory):
                    _pass_on(group, place.controllers)
        except OSError as error:
            log.warning("No control groups of guests can be made in %s: %s", place.directory, error)
            with suppress(OSError):
                directory.rmdir()
            return None
        return ControlGroup(place.version, directory, place.controllers)

    def _recorded_groups(self) -> list[Path]:
        try:
            paths = [Path(path) for path in orjson.loads(self._record.read_bytes())]
        except (OSError, ValueError, TypeError):
            return []
        return [path for path in paths if path.name == self._name and path.exists()]

    def _remove(self, seconds: float) -> None:
        """Remove the recorded groups, and the record if none is left. seconds: how long their processes may take."""
        end = time.monotonic() + seconds
        for cloud in self._recorded_groups():
            while not _try_remove(cloud) and time.monotonic() < end:
                time.sleep(RETRY_SECONDS)
        if left := self._recorded_groups():
            log.warning("Control groups are left: %s", ", ".join(map(str, left)))
        else:
            self._record.unlink(missing_ok=True)


def _pass_on(group: Path, controllers: Iterable[str]) -> None:
    """Let groups below a group of version 2 have controllers. Raises: OSError."""
    control, available = group / "cgroup.subtree_control", set(controllers) & CONTROLLERS.keys()
    if available <= set(control.read_text().split()):
        return
    if _processes(group) and any(_attribute(group, name) == b"1" for name in DELEGATED):
        inner = group / PROCESSES
        inner.mkdir(exist_ok=True)
        for process in _processes(group):
            with suppress(ProcessLookupError):
                inner.joinpath("cgroup.procs").write_text(str(process))
    control.write_text(" ".join(f"+{name}" for name in sorted(available)))


def _processes(group: Path) -> list[int]:
    try:
        return [int(line) for line in group.joinpath("cgroup.procs").read_text().split()]
    except OSError:
        return []


def _subgroups(group: Path) -> list[Path]:
    try:
        return [path for path in group.iterdir() if path.is_dir()]
    except OSError:
        return []


def _try_remove(group: Path) -> bool:
    """Kill the processes of a group and of those below, which a guest may make, and remove it.

    Return whether it is gone: processes that are being killed keep it for a while.
    """
    for inner in _subgroups(group):
        _try_remove(inner)
    with suppress(OSError):  # processes that are frozen do not end
        if (freezer := group / "freezer.state").exists():
            freezer.write_text("THAWED")
    for process in _processes(group):
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    with suppress(OSError):
        group.rmdir()
    return not group.exists()
