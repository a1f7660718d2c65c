"""Tasks on files that belong to the users of guests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

from openstack_emulator.guests.launch.identities import become_root, enter
from openstack_emulator.guests.launch.linux import NEW_MOUNTS


def in_users_namespace(task: dict[str, Any]) -> None:
    """Become the root user of a namespace in which the files of guests have the IDs that guests see."""
    enter(task["ids"], NEW_MOUNTS)
    become_root()


def delete(task: dict[str, Any]) -> int:
    """Delete directories whose files may belong to users of guests."""
    in_users_namespace(task)
    for name in task["names"]:
        shutil.rmtree(name, ignore_errors=True)
    return 0


def copy(task: dict[str, Any]) -> int:
    """Replace a directory by a copy of another one, or by an empty one if that does not exist (names).

    A guest may still write to the former one: it cannot be emptied before the copy takes its place, perhaps not even
    then. What is left of it has the third name.
    """
    in_users_namespace(task)
    source, target, former = task["names"]
    draft = f"{target}.part"
    shutil.rmtree(draft, ignore_errors=True)
    Path(draft).mkdir(mode=0o755)
    if Path(source).exists():
        subprocess.run(["cp", "-a", "--sparse=always", f"{source}/.", draft], check=True)  # noqa: S603, S607
    if Path(target).exists():
        Path(target).rename(former)
    Path(draft).rename(target)
    shutil.rmtree(former, ignore_errors=True)
    return 0


def unpack(task: dict[str, Any]) -> int:
    """Unpack the tar file on the standard input into `root`; without device files, which only real root may make.

    An image contains absolute links and programs with special modes, which the filters of tarfile refuse or change.
    Instead, `root` becomes the root directory: no name and no link in the archive leads to a file of this machine.
    """
    only_root = task["ids"]["uid"][0].endswith(" 1") and len(task["ids"]["uid"]) == 1
    in_users_namespace(task)
    os.umask(0)
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|*") as archive:  # imports what decompresses, while it can
        archive.extraction_filter = lambda member, path: member  # without effect in releases before filters
        os.chroot("root")
        os.chdir("/")
        for member in archive:
            if only_root:
                member.uid = member.gid = 0
            if not member.isdev():
                archive.extract(member, "/", numeric_owner=True)
    return 0


def run(task: dict[str, Any]) -> int:
    """Run a command (command)."""
    in_users_namespace(task)
    return subprocess.run(task["command"], check=False).returncode  # noqa: S603  the driver's own
