"""Which users of this machine the users of guests are."""

from __future__ import annotations

import os
import pwd
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

ALL = "0 0 4294967295"
"""The ID map of a process whose root user is the machine's."""
COUNT = 65536
SUBORDINATE = {"uid": "/etc/subuid", "gid": "/etc/subgid"}
BASE = 1 << 30
"""The first of the IDs of guests' users if root runs the cloud: in the range that systemd reserves for containers
(https://systemd.io/UIDS-GIDS)."""


@dataclass(frozen=True)
class IdMaps:
    """The lines of the maps (first ID in the guest, first ID of this machine, number of IDs).

    helpers: newuidmap and newgidmap must write the maps. base: the ID of the guests' root user.
    deny: groups cannot be changed in the namespace, which the kernel demands of a user who maps only the own ID.
    """

    uid: tuple[str, ...]
    gid: tuple[str, ...]
    helpers: bool
    base: int
    deny: bool = False

    @property
    def only_root(self) -> bool:
        """Whether guests have no other user than root."""
        return len(self.uid) == 1 and self.uid[0].endswith(" 1")

    def to_data(self) -> dict[str, Any]:
        """Return the `ids` of the program `launch`."""
        return {"uid": self.uid, "gid": self.gid, "helpers": self.helpers, "deny": self.deny}

    def outer(self) -> IdMaps:
        """Return the maps of a namespace in which those of guests are made.

        The kernel demands that the user who makes a namespace has an ID in the namespace in which it is made.
        """
        if self.base == os.getuid():
            return self
        uid, gid = (*self.uid, f"{COUNT} {os.getuid()} 1"), (*self.gid, f"{COUNT} {os.getgid()} 1")
        return replace(self, uid=uid, gid=gid)

    def inner(self) -> IdMaps:
        """Return the maps of a guest's namespace in that one: the same IDs."""
        return replace(self, uid=_same(self.uid), gid=_same(self.gid), helpers=False, deny=False)


def _same(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return the lines that map the IDs of a map to themselves."""
    found = [line.split() for line in lines]
    return tuple(f"{first} {first} {count}" for first, _, count in found)


def id_maps() -> IdMaps:
    """Return the maps for guests of this process's user.

    The machine's root user: no guest may have an ID of a user of the machine. Another user: the user is the root user
    of the guests, and subordinate IDs (`/etc/subuid`, `/etc/subgid`) are their other users, if there are any.
    """
    user, group = os.getuid(), os.getgid()
    if user == 0 and " ".join(Path("/proc/self/uid_map").read_text().split()) == ALL:
        line = f"0 {BASE} {COUNT}"
        return IdMaps((line,), (line,), False, BASE)
    users, groups = _subordinate(SUBORDINATE["uid"], user), _subordinate(SUBORDINATE["gid"], user)
    if users and groups and shutil.which("newuidmap") and shutil.which("newgidmap"):
        return IdMaps((f"0 {user} 1", f"1 {users}"), (f"0 {group} 1", f"1 {groups}"), True, user)
    return IdMaps((f"0 {user} 1",), (f"0 {group} 1",), False, user, deny=True)


def _subordinate(path: str, user: int) -> str | None:
    """Return the first ID and the number of the user's subordinate IDs."""
    try:
        names = {str(user), pwd.getpwuid(user).pw_name}
    except KeyError:
        names = {str(user)}
    try:
        lines = [line.strip().split(":") for line in Path(path).read_text().splitlines()]
    except OSError:
        return None
    ranges = [(int(line[2]), line[1]) for line in lines if len(line) == 3 and line[0] in names and line[2].isdigit()]
    if not ranges:
        return None
    count, first = max(ranges)
    return f"{first} {min(count, COUNT - 1)}"
